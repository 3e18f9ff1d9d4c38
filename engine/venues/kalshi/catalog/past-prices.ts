import type { Clock } from '../../../clock.ts'
import { getIfFound, type JsonReader } from '../../../fetch.ts'
import { isRecord } from '../../../json-record.ts'
import { SPREAD_MAX } from '../../../market/price.ts'
import {
  midPrice,
  PRICE_ONE,
  type PriceMicros,
  parsePrice,
  parseTime,
  type TimeMs,
  timeMs,
} from '../../../units.ts'
import { listIn } from '../../answer-checks.ts'
import { type PastPoint, pointsFrom } from '../../past-points.ts'
import type { PastMarket, VenuePastPrices } from '../../venue.ts'
import type { VenueCounters } from '../../venue-counters.ts'
import { decimalOf, dollarsOfCents, type Rejected, rejected } from '../parse.ts'

interface PastPricesParts {
  readonly http: JsonReader
  readonly clock: Clock
  readonly counters: VenueCounters
}

type Fields = { readonly [name: string]: unknown }

/** `price` is the closing price, `previous` the last trade price before the candle. Null if absent. */
interface Candle {
  readonly kind: 'candle'
  readonly endMs: TimeMs
  readonly price: PriceMicros | null
  readonly previous: PriceMicros | null
}

const DAY_S = 86_400
const SECONDS_MAX = 4_102_444_800
/** Maximum age of the cached archive cutoff. The venue moves the cutoff by days. */
const CUTOFF_AGE_MAX_MS = 3_600_000

export class KalshiPastPrices implements VenuePastPrices {
  readonly #parts: PastPricesParts
  #cutoff: { readonly atMs: TimeMs | null; readonly readAtMs: number } | null = null

  constructor(parts: PastPricesParts) {
    this.#parts = parts
  }

  /** See VenuePastPrices.read. Sends one request, or up to three if the market may be archived. */
  async read(
    market: PastMarket,
    range: { fromMs: TimeMs; toMs: TimeMs },
    signal: AbortSignal,
  ): Promise<readonly PastPoint[]> {
    const startS = Math.ceil(range.fromMs / 1_000)
    const endS = Math.floor(range.toMs / 1_000)
    if (endS < startS) return []
    const period = endS - startS <= DAY_S ? 1 : 60
    const query = { start_ts: startS, end_ts: endS, period_interval: period }
    const ticker = encodeURIComponent(market.nativeId)
    const live = `/series/${encodeURIComponent(seriesOf(market))}/markets/${ticker}/candlesticks`
    let rows = await this.#rows(live, { ...query, include_latest_before_start: true }, signal)
    if (rows.length === 0 && (await this.#mayBeArchived(range.fromMs, signal))) {
      rows = await this.#rows(`/historical/markets/${ticker}/candlesticks`, query, signal)
    }
    return this.#points(rows, { ...range, periodMs: period * 60_000 })
  }

  #points(
    rows: readonly unknown[],
    range: { fromMs: TimeMs; toMs: TimeMs; periodMs: number },
  ): readonly PastPoint[] {
    const candles: Candle[] = []
    for (const row of rows) {
      const candle = readCandle(row)
      if (candle.kind === 'rejected') {
        this.#parts.counters.rejected(candle.reason, JSON.stringify(row) ?? '')
      } else if (candle.endMs > range.toMs) this.#parts.counters.ignored('candle_outside')
      else candles.push(candle)
    }
    candles.sort((one, other) => one.endMs - other.endMs)
    const points: PastPoint[] = []
    const first = candles[0]
    // The last trade price before the first candle is the price at that candle's start.
    if (first !== undefined && first.previous !== null) {
      points.push({ timeMs: timeMs(first.endMs - range.periodMs), price: first.previous })
    }
    for (const { endMs, price } of candles) {
      if (price !== null) points.push({ timeMs: endMs, price })
    }
    return pointsFrom(range.fromMs, points)
  }

  /** Empty if the venue responds with 404. */
  async #rows(
    path: string,
    query: Readonly<Record<string, number | boolean>>,
    signal: AbortSignal,
  ): Promise<readonly unknown[]> {
    const answer = await getIfFound(this.#parts.http, path, query, signal)
    return answer === undefined ? [] : listIn(answer, 'candlesticks', 'prices')
  }

  /** Whether the archive may have data of a range. The archive contains the markets that settled before the cutoff. */
  async #mayBeArchived(fromMs: TimeMs, signal: AbortSignal): Promise<boolean> {
    const nowMs = this.#parts.clock.monotonicMs()
    if (this.#cutoff === null || nowMs - this.#cutoff.readAtMs > CUTOFF_AGE_MAX_MS) {
      const answer = await this.#parts.http.getJson('/historical/cutoff', {}, { signal })
      const text = isRecord(answer) ? answer.market_settled_ts : undefined
      const atMs = typeof text === 'string' ? parseTime(text) : null
      if (atMs === null) this.#parts.counters.trouble('historical_cutoff')
      this.#cutoff = { atMs, readAtMs: nowMs }
    }
    return this.#cutoff.atMs !== null && fromMs < this.#cutoff.atMs
  }
}

function seriesOf(market: PastMarket): string {
  return market.series ?? (market.event ?? market.nativeId).split('-', 1)[0] ?? market.nativeId
}

/**
 * The price of a candle by the rules of the live price: the last trade, else the midpoint of a tight book, else the
 * previous trade.
 */
function readCandle(row: unknown): Candle | Rejected {
  if (!isRecord(row)) return rejected('candle_not_an_object')
  const endS = row.end_period_ts
  if (typeof endS !== 'number' || !Number.isInteger(endS) || endS <= 0 || endS > SECONDS_MAX) {
    return rejected('candle_time')
  }
  const close = tradedIn(row.price, 'close')
  const previous = tradedIn(row.price, 'previous')
  const bid = priceIn(row.yes_bid, 'close')
  const askPrice = priceIn(row.yes_ask, 'close')
  if (close === 'unreadable' || previous === 'unreadable') return rejected('candle_price')
  if (bid === 'unreadable' || askPrice === 'unreadable') return rejected('candle_quote')
  const price = close ?? middleOf(bid, askPrice) ?? previous
  return { kind: 'candle', endMs: timeMs(endS * 1_000), price, previous }
}

/** The venue writes an empty side as a bid of 0 or an ask of 1. */
function middleOf(bid: PriceMicros | null, askPrice: PriceMicros | null): PriceMicros | null {
  if (bid === null || askPrice === null || bid === 0 || askPrice === PRICE_ONE) return null
  return askPrice >= bid && askPrice - bid <= SPREAD_MAX ? midPrice(bid, askPrice) : null
}

/** A candle without a trade may contain 0 or 1, at which nothing trades. */
function tradedIn(group: unknown, name: string): PriceMicros | null | 'unreadable' {
  const price = priceIn(group, name)
  return price === 0 || price === PRICE_ONE ? null : price
}

/** Reads dollars from `close_dollars` or the archive's text `close`, or whole cents from old rows. */
function priceIn(group: unknown, name: string): PriceMicros | null | 'unreadable' {
  if (!isRecord(group)) return null
  const text = dollarsIn(group, name)
  if (text === null) return null
  return parsePrice(text) ?? 'unreadable'
}

function dollarsIn(group: Fields, name: string): string | null {
  const dollars = group[`${name}_dollars`]
  if (dollars !== undefined && dollars !== null) return decimalOf(dollars) ?? ''
  const value = group[name]
  if (value === undefined || value === null) return null
  return (typeof value === 'string' ? decimalOf(value) : dollarsOfCents(value)) ?? ''
}
