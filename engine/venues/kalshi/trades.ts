// Kalshi's trades over REST: pages of `/markets/trades`, newest first, for back-fills, histories and
// the mode without a key. Times in queries are whole seconds, so pages are asked for a little wider
// and cut to the millisecond here. Upholds KTRADES1 to KTRADES3.

import type { TradeEvent } from '../../events.ts'
import type { HttpClient, Query } from '../../fetch.ts'
import { isRecord } from '../../json-record.ts'
import { type TimeMs, timeMs, toSeconds } from '../../units.ts'
import type { FrameTap } from '../feed.ts'
import { isCombo, mapTrade } from './map.ts'
import { cursorOf, parseTradeRow, rowsOf } from './rows.ts'
import type { Tally } from './stream.ts'

const PAGE_ROWS = 1_000
/** Pages of one answer: above it the oldest part of the range is given up and said to be lost. */
const PAGES_MAX = 200
/** The venue keeps about three months in the live tables; below this age nobody need ask. */
const SURELY_LIVE_MS = 30 * 86_400_000

export interface TradeRange {
  readonly ticker: string | null
  readonly fromMs: TimeMs
  readonly toMs: TimeMs
  readonly source: TradeEvent['source']
}

/** All trades of a range, oldest first. `completeFromMs` > fromMs: older ones could not be had. */
export interface TradeAnswer {
  readonly trades: readonly TradeEvent[]
  readonly completeFromMs: TimeMs
}

export class TradeReader {
  readonly #http: HttpClient
  readonly #tally: Tally
  readonly #nowMs: () => TimeMs
  readonly #tap: FrameTap | undefined

  constructor(parts: {
    http: HttpClient
    tally: Tally
    nowMs: () => TimeMs
    /** Sees the pages of live trades, so that a recording has what the stream missed. */
    tap?: FrameTap | undefined
  }) {
    this.#http = parts.http
    this.#tally = parts.tally
    this.#nowMs = parts.nowMs
    this.#tap = parts.tap
  }

  /** Rejects with FetchError when the venue does not answer. */
  async fetchRange(range: TradeRange, signal?: AbortSignal): Promise<TradeAnswer> {
    const trades: TradeEvent[] = []
    const cursors = new Set<string>()
    let cursor: string | null = null
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const query: Query = {
        limit: PAGE_ROWS,
        min_ts: toSeconds(range.fromMs),
        max_ts: toSeconds(range.toMs) + 1,
        ticker: range.ticker ?? undefined,
        cursor: cursor ?? undefined,
      }
      const options = signal === undefined ? {} : { signal }
      const answer = await this.#http.getJson('/markets/trades', query, options)
      this.#readPage(answer, range, trades)
      if (this.#tap !== undefined && range.source !== 'history') {
        const frame = { connection: 0, receivedAtMs: this.#nowMs(), text: JSON.stringify(answer) }
        this.#tap(frame, 'b', 'rest_trades')
      }
      cursor = cursorOf(answer)
      if (cursor === null) break
      if (cursors.has(cursor)) {
        this.#tally.trouble('cursor_repeated', { path: '/markets/trades' })
        break
      }
      cursors.add(cursor)
    }
    // Rows come newest first; turned round, the stable sort keeps the order within a millisecond.
    trades.reverse()
    trades.sort((one, other) => one.venueTimeMs - other.venueTimeMs)
    // Unread pages, or a cursor that went in circles: what is older than the last row is unknown.
    const oldestMs = trades[0]?.venueTimeMs ?? range.toMs
    const completeFromMs = cursor === null ? await this.#liveFromMs(range, signal) : oldestMs
    return { trades, completeFromMs: timeMs(Math.min(completeFromMs, range.toMs)) }
  }

  /** The venue time of the newest trade anywhere; null when there is none. */
  async fetchNewestMs(): Promise<TimeMs | null> {
    const answer = await this.#http.getJson('/markets/trades', { limit: 20 })
    let newestMs: TimeMs | null = null
    for (const row of rowsOf(answer, 'trades')) {
      const trade = parseTradeRow(row)
      if (trade.kind !== 'trade' || isCombo(trade.ticker)) continue
      newestMs = timeMs(Math.max(trade.timeMs, newestMs ?? 0))
    }
    return newestMs
  }

  #readPage(answer: unknown, range: TradeRange, trades: TradeEvent[]): void {
    const receivedAtMs = this.#nowMs()
    for (const row of rowsOf(answer, 'trades')) {
      const message = parseTradeRow(row)
      if (message.kind === 'rejected') {
        this.#tally.rejected(message.reason, JSON.stringify(row) ?? '')
        continue
      }
      if (isCombo(message.ticker)) continue
      if (message.timeMs < range.fromMs || message.timeMs > range.toMs) continue
      const trade = mapTrade(message, receivedAtMs, range.source)
      if (trade.kind === 'trade') trades.push(trade)
      else this.#tally.refused(trade, JSON.stringify(row) ?? '')
    }
  }

  /** Where the live tables begin, asked only for ranges that may reach below. */
  async #liveFromMs(range: TradeRange, signal?: AbortSignal): Promise<TimeMs> {
    if (range.fromMs > this.#nowMs() - SURELY_LIVE_MS) return range.fromMs
    try {
      const options = signal === undefined ? {} : { signal }
      const answer = await this.#http.getJson('/historical/cutoff', {}, options)
      const text = isRecord(answer) ? answer.trades_created_ts : undefined
      const cutoffMs = typeof text === 'string' ? Date.parse(text) : Number.NaN
      return Number.isNaN(cutoffMs) ? range.fromMs : timeMs(Math.max(range.fromMs, cutoffMs))
    } catch {
      this.#tally.trouble('historical_cutoff')
      return range.fromMs
    }
  }
}
