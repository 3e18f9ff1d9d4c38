// The bars of the present candles of markets at a gateway, for the channel `candles`: asked of the engine for a few neighbouring
// markets at once, when somebody first follows one of them, and kept up to date by the trades of the log. Both sides. What the
// engine does not answer is not there: a bar is shown whole or not at all. Once the engine has read trades of a market's past,
// which no update carries, its bars are asked for anew.

import { Packr } from 'msgpackr'
import { type Clock, pause } from '../../engine/clock.ts'
import { isCount } from '../../engine/cluster/batch.ts'
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
import {
  priceMicros,
  TIME_END,
  TIME_ZERO,
  type TimeMs,
  timeMs,
  usdMicros,
} from '../../engine/units.ts'
import type { BarQuery } from '../../storage/contract/storage.ts'
import { FieldReader } from '../../storage/records/records.ts'
import type { MarketView } from '../views.ts'

/** Markets of one question, whose bars the engine reads from its disk within some milliseconds. */
const PAGE_MARKETS = 64
/** While no engine leads. */
const TRIES_MAX = 10
const RETRY_MS = 1_000

const SIZES: readonly BarSize[] = ['minute', 'hour']
/** The longest candle that is made of bars of a size. */
const WIDEST_MS = { minute: widestOf('minute'), hour: widestOf('hour') }
/** Bars of a size: those of the present candle, of the one before it, and of the newest one where that is older. */
const BARS_MAX = {
  minute: (3 * WIDEST_MS.minute) / BAR_MS.minute,
  hour: (3 * WIDEST_MS.hour) / BAR_MS.hour,
}

function widestOf(size: BarSize): number {
  return Math.max(...Object.values(CANDLE_MS).filter((lengthMs) => barSizeOf(lengthMs) === size))
}

const packr = new Packr({ useRecords: false, variableMapSize: true })

/** The bars of a size from a time on, ascending. */
interface RecentBars {
  readonly fromMs: TimeMs
  readonly bars: readonly Bar[]
}

/** The engine's side: the bars of a page of markets. The answer throws for bytes that are no page. */
export function answerBars(parts: {
  readonly clock: Pick<Clock, 'nowMs'>
  readonly catalog: { byNumber(number: MarketNumber): Pick<MarketView, 'bars' | 'seq'> | null }
}) {
  return async (body: Uint8Array): Promise<Uint8Array> => {
    const first: unknown = packr.unpack(body)
    if (!isCount(first)) throw new Error('no page of markets')
    const rows: unknown[] = []
    for (let number = first; number < first + PAGE_MARKETS; number += 1) {
      const market = parts.catalog.byNumber(number)
      if (market === null) continue
      const sizes = SIZES.flatMap((size) => {
        const { fromMs, bars } = recentOf(market, size, parts.clock.nowMs())
        return [fromMs, bars.flatMap(fieldsOf)]
      })
      rows.push([number, market.seq('trades'), ...sizes])
    }
    return packr.pack(rows)
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
  // Only bars of the future can be so many.
  return { fromMs: bars.length < limit ? fromMs : (bars[0]?.startMs ?? fromMs), bars }
}

/** What is kept of a market; null: the engine did not say. */
interface CachedBars {
  /** Of the newest trade that the bars contain. */
  seq: number
  readonly sizes: Record<BarSize, RecentBars>
}

/** A gateway's side. Bounded by the markets. */
export class MirrorBars {
  readonly #clock: Clock
  readonly #request: (body: Uint8Array) => Promise<Uint8Array>
  readonly #cached = new Map<MarketNumber, CachedBars | null>()
  /** By the page's number: when it will be here, and the trades since it was asked for. */
  readonly #pending = new Map<number, { arrival: Promise<void>; trades: TradeUpdate[] }>()
  /** Of which the engine has read more than was told. */
  readonly #outdated = new Set<MarketNumber>()
  /** The page that is asked for anew, and the trades since. */
  #renewing: { readonly page: number; readonly trades: TradeUpdate[] } | null = null

  /** `ask`: the engine's answer of {@link answerBars}. */
  constructor(parts: {
    readonly clock: Clock
    readonly request: (body: Uint8Array) => Promise<Uint8Array>
  }) {
    this.#clock = parts.clock
    this.#request = parts.request
  }

  /** When the bars of a market have come or will not; asks for them. Null: they are here. */
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

  /** Bars that are here, of those asked for. */
  range(market: MarketNumber, { size, fromMs, toMs, order, limit }: BarQuery): readonly Bar[] {
    const bars = this.#cached.get(market)?.sizes[size].bars ?? []
    const found = bars.filter(({ startMs }) => startMs >= fromMs && startMs <= toMs)
    return (order === 'asc' ? found : found.reverse()).slice(0, limit)
  }

  /** A trade of the log, in its place. */
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

  /** The engine has read trades of these markets that no update carries: what is kept of them is shown until all is here. */
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
        // What is not whole is not shown; who comes later asks anew.
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
    // Who comes later asks anew.
    this.#clock.after(RETRY_MS, () => {
      if (this.#cached.get(wanted) === null) this.#cached.delete(wanted)
    })
  }

  /** The engine's answer; null: there is none. */
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

/** Adds a trade that is not among the bars. */
function add(cached: CachedBars, { trade, seq }: Pick<TradeUpdate, 'trade' | 'seq'>): void {
  if (seq <= cached.seq) return
  cached.seq = seq
  if (trade.isBlock) return
  for (const size of SIZES) cached.sizes[size] = extended(cached.sizes[size], size, trade)
}

function extended(recent: RecentBars, size: BarSize, trade: Trade): RecentBars {
  const bar = barOf(size, trade)
  // Of a bar before these not all is known.
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

// The answer's bytes

function fieldsOf(bar: Bar): readonly number[] {
  const { startMs, open, openMs, openOrdinal, high, low, close, closeMs, closeOrdinal } = bar
  const prices = [startMs, open, openMs, openOrdinal, high, low, close, closeMs, closeOrdinal]
  return [...prices, bar.usd, bar.count, bar.size, bar.weighted]
}
const BAR_FIELDS = 13

/** Throws for an answer that is none. */
function rowsIn(bytes: Uint8Array): ReadonlyMap<MarketNumber, CachedBars> {
  const rows = new Map<MarketNumber, CachedBars>()
  for (const row of new FieldReader([packr.unpack(bytes)]).lists()) {
    const fields = new FieldReader(row)
    const [number, seq] = [fields.number(), fields.number()]
    rows.set(number, { seq, sizes: { minute: readRecent(fields), hour: readRecent(fields) } })
  }
  return rows
}

function readRecent(fields: FieldReader): RecentBars {
  const fromMs = timeMs(fields.number())
  const numbers = fields.numbers()
  const bars: Bar[] = []
  for (let index = 0; index < numbers.length; index += BAR_FIELDS) {
    bars.push(readBar(new FieldReader(numbers.slice(index, index + BAR_FIELDS))))
  }
  return { fromMs, bars }
}

function readBar(fields: FieldReader): Bar {
  const [price, time] = [() => priceMicros(fields.number()), () => timeMs(fields.number())]
  return {
    startMs: time(),
    open: price(),
    openMs: time(),
    openOrdinal: fields.number(),
    high: price(),
    low: price(),
    close: price(),
    closeMs: time(),
    closeOrdinal: fields.number(),
    usd: usdMicros(fields.number()),
    count: fields.number(),
    size: fields.number(),
    weighted: fields.number(),
  }
}
