// Bars of the current candles at a gateway, for the `candles` channel. At the first subscription the gateway requests
// the bars of a page of markets from the engine. Later trades of the log are added. This file contains both sides.

import { Packr } from 'msgpackr'
import { type Clock, pause } from '../../engine/clock.ts'
import {
  flat,
  isCount,
  list,
  NEWEST,
  nested,
  number,
  price,
  record,
  time,
  usd,
} from '../../engine/codec.ts'
import type { Trade, TradeUpdate } from '../../engine/events.ts'
import {
  BAR_MS,
  type Bar,
  type BarSize,
  barOf,
  barSizeOf,
  barStart,
  CANDLE_MS,
  joined,
} from '../../engine/market/candle.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import { TIME_END, TIME_ZERO, type TimeMs, timeMs } from '../../engine/units.ts'
import type { BarQuery } from '../../storage/contract/storage.ts'
import type { MarketView } from '../views.ts'

const PAGE_MARKETS = 64
const TRIES_MAX = 10
const RETRY_MS = 1_000

const SIZES: readonly BarSize[] = ['minute', 'hour']
const WIDEST_MS = { minute: widestOf('minute'), hour: widestOf('hour') }
/**
 * Maximum bars per size: those of three candles (the current one, the previous one, and the newest one if it is older).
 */
const BARS_MAX = {
  minute: (3 * WIDEST_MS.minute) / BAR_MS.minute,
  hour: (3 * WIDEST_MS.hour) / BAR_MS.hour,
}

function widestOf(size: BarSize): number {
  return Math.max(...Object.values(CANDLE_MS).filter((lengthMs) => barSizeOf(lengthMs) === size))
}

const packr = new Packr({ useRecords: false, variableMapSize: true })

interface RecentBars {
  readonly fromMs: TimeMs
  readonly bars: readonly Bar[]
}

/** Answers with the bars of a page of markets. Throws for an invalid request. */
export function answerBars(parts: {
  readonly clock: Pick<Clock, 'nowMs'>
  readonly catalog: { byNumber(number: MarketNumber): Pick<MarketView, 'bars' | 'seq'> | null }
}) {
  return async (body: Uint8Array): Promise<Uint8Array> => {
    const first: unknown = packr.unpack(body)
    if (!isCount(first)) throw new Error('the request states no page of markets')
    const rows: MarketRow[] = []
    const nowMs = parts.clock.nowMs()
    for (let wanted = first; wanted < first + PAGE_MARKETS; wanted += 1) {
      const market = parts.catalog.byNumber(wanted)
      if (market === null) continue
      const [minute, hour] = [recentOf(market, 'minute', nowMs), recentOf(market, 'hour', nowMs)]
      rows.push({ number: wanted, seq: market.seq('trades'), sizes: { minute, hour } })
    }
    return packr.pack(rowList.encode(rows))
  }
}

function recentOf(market: Pick<MarketView, 'bars'>, size: BarSize, nowMs: TimeMs): RecentBars {
  const widestMs = WIDEST_MS[size]
  const all = { size, fromMs: TIME_ZERO, toMs: TIME_END } as const
  const newest = market.bars({ ...all, order: 'desc', limit: 1 })[0]
  const beforeMs = barStart(nowMs, widestMs) - widestMs
  if (newest === undefined) return { fromMs: timeMs(beforeMs), bars: [] }
  const fromMs = timeMs(Math.min(beforeMs, barStart(newest.startMs, widestMs)))
  const limit = BARS_MAX[size]
  const bars = market.bars({ ...all, fromMs, order: 'desc', limit }).toReversed()
  return { fromMs: bars.length < limit ? fromMs : (bars[0]?.startMs ?? fromMs), bars }
}

interface CachedBars {
  /** Sequence number of the newest trade that the bars contain. */
  seq: number
  readonly sizes: Record<BarSize, RecentBars>
}

export class MirrorBars {
  readonly #clock: Clock
  readonly #request: (body: Uint8Array) => Promise<Uint8Array>
  readonly #cached = new Map<MarketNumber, CachedBars | null>()
  readonly #pending = new Map<number, { arrival: Promise<void>; trades: TradeUpdate[] }>()
  readonly #outdated = new Set<MarketNumber>()
  #renewing: { readonly page: number; readonly trades: TradeUpdate[] } | null = null

  constructor(parts: {
    readonly clock: Clock
    readonly request: (body: Uint8Array) => Promise<Uint8Array>
  }) {
    this.#clock = parts.clock
    this.#request = parts.request
  }

  /** Null: the bars are cached. Otherwise resolves when they have arrived or the request has failed. */
  arrival(market: MarketNumber): Promise<void> | null {
    if (this.#cached.has(market)) return null
    const page = pageOf(market)
    const pending = this.#pending.get(page)
    if (pending !== undefined) return pending.arrival
    const trades: TradeUpdate[] = []
    const arrival = this.#fetch(page, market, trades)
    this.#pending.set(page, { arrival, trades })
    return arrival
  }

  range(market: MarketNumber, { size, fromMs, toMs, order, limit }: BarQuery): readonly Bar[] {
    const bars = this.#cached.get(market)?.sizes[size].bars ?? []
    const found = bars.filter(({ startMs }) => startMs >= fromMs && startMs <= toMs)
    return (order === 'asc' ? found : found.reverse()).slice(0, limit)
  }

  /** Trades must be added in order. */
  note(update: TradeUpdate): void {
    const { number } = update.market
    const cached = this.#cached.get(number)
    const page = pageOf(number)
    if (this.#renewing?.page === page) this.#renewing.trades.push(update)
    if (cached === undefined) this.#pending.get(page)?.trades.push(update)
    else if (cached !== null) add(cached, update)
  }

  remove(market: MarketNumber): void {
    this.#cached.delete(market)
  }

  /**
   * Requests the bars of these markets again, because the engine loaded past trades that the log does not contain.
   * Readers get the cached bars until the answer arrives.
   */
  renew(markets: readonly MarketNumber[]): void {
    for (const number of markets) {
      const isRequested = this.#cached.has(number) || this.#pending.has(pageOf(number))
      if (isRequested) this.#outdated.add(number)
    }
    if (this.#renewing === null) void this.#renewAll()
  }

  async #renewAll(): Promise<void> {
    for (const first of this.#outdated) {
      const page = pageOf(first)
      const trades: TradeUpdate[] = []
      this.#renewing = { page, trades }
      await this.#pending.get(page)?.arrival
      const numbers = [...this.#outdated].filter((number) => pageOf(number) === page)
      for (const number of numbers) this.#outdated.delete(number)
      const rows = await this.#rows(page)
      for (const number of numbers) {
        const row = rows?.get(number)
        if (row === undefined) this.#cached.delete(number)
        else if (this.#cached.get(number)) this.#cached.set(number, row)
      }
      this.#renewing = null
      for (const update of trades) this.note(update)
    }
  }

  async #fetch(page: number, wanted: MarketNumber, trades: readonly TradeUpdate[]): Promise<void> {
    const rows = await this.#rows(page)
    this.#pending.delete(page)
    for (const [number, row] of rows ?? [])
      if (!this.#cached.has(number)) this.#cached.set(number, row)
    for (const update of trades) this.note(update)
    if (this.#cached.has(wanted)) return
    this.#cached.set(wanted, null)
    this.#clock.after(RETRY_MS, () => {
      if (this.#cached.get(wanted) === null) this.#cached.delete(wanted)
    })
  }

  async #rows(page: number): Promise<ReadonlyMap<MarketNumber, CachedBars> | null> {
    const body = packr.pack(page * PAGE_MARKETS)
    for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
      try {
        return rowsIn(await this.#request(body))
      } catch {
        await pause(this.#clock, RETRY_MS)
      }
    }
    return null
  }
}

const pageOf = (market: MarketNumber): number => Math.floor(market / PAGE_MARKETS)

function add(cached: CachedBars, { trade, seq }: Pick<TradeUpdate, 'trade' | 'seq'>): void {
  if (seq <= cached.seq) return
  cached.seq = seq
  if (trade.isBlock) return
  for (const size of SIZES) cached.sizes[size] = extended(cached.sizes[size], size, trade)
}

function extended(recent: RecentBars, size: BarSize, trade: Trade): RecentBars {
  const bar = barOf(size, trade)
  // A bar before `fromMs` would be incomplete.
  if (bar.startMs < recent.fromMs) return recent
  const at = recent.bars.findLastIndex(({ startMs }) => startMs <= bar.startMs)
  const previous = recent.bars[at]
  const bars =
    previous?.startMs === bar.startMs
      ? recent.bars.with(at, joined(previous, bar))
      : recent.bars.toSpliced(at + 1, 0, bar)
  if (bars.length <= BARS_MAX[size]) return { fromMs: recent.fromMs, bars }
  const [, next] = bars
  return { fromMs: next?.startMs ?? recent.fromMs, bars: bars.slice(1) }
}

const barField = record<Bar>({
  startMs: time,
  open: price,
  openMs: time,
  openOrdinal: number,
  high: price,
  low: price,
  close: price,
  closeMs: time,
  closeOrdinal: number,
  usd,
  count: number,
  size: number,
  weighted: number,
})
const recentField = record<RecentBars>({ fromMs: time, bars: flat(barField) })

interface MarketRow extends CachedBars {
  readonly number: MarketNumber
}
const rowList = list(
  nested(
    record<MarketRow>({
      number,
      seq: number,
      sizes: record<CachedBars['sizes']>({ minute: recentField, hour: recentField }),
    }),
  ),
)

function rowsIn(bytes: Uint8Array): ReadonlyMap<MarketNumber, CachedBars> {
  const rows = rowList.decode(packr.unpack(bytes), NEWEST)
  return new Map(rows.map(({ number: market, ...row }) => [market, row]))
}
