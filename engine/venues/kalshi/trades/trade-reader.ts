// Reads pages of `/markets/trades`, newest first. Query times are whole seconds, so rows are filtered to the
// millisecond. The response for a range of all markets is complete if it contains a trade from before the range.
// Otherwise the range is read again without a start time.

import type { Clock } from '../../../clock.ts'
import type { TradeEvent } from '../../../events.ts'
import type { JsonReader, Query } from '../../../fetch.ts'
import { isRecord } from '../../../json-record.ts'
import { forEachSliced, runInSlices, type SlicedWork } from '../../../time-slices.ts'
import { type TimeMs, timeMs, toSeconds } from '../../../units.ts'
import { listIn, reachesBack, SuspectAnswerError, type SuspectReason } from '../../answer-checks.ts'
import type { FrameTap } from '../../socket-feed.ts'
import type { TradesRange, TradesRead } from '../../venue.ts'
import type { VenueCounters } from '../../venue-counters.ts'
import { pagesIn, parseTradeRow } from '../catalog/rest-rows.ts'
import type { Combos } from '../combos.ts'
import { noteBlock } from '../drift-checks.ts'
import { mapTrade } from '../map.ts'

const PATH = '/markets/trades'
const PAGE_ROWS = 1_000
/** Extra time before a range. A trade within this time proves that the response for the range is complete. */
const LEAD_MS = 5_000
/** Page size of a read without a start time. It is small because the range has few rows. */
const WALK_ROWS = 200
/** Maximum pages per range. The oldest part of a longer range is reported as lost. */
const PAGES_MAX = 200
/**
 * The venue keeps about three months in the live tables, so ranges that start within 30 days need no check of the
 * cutoff.
 */
const ALWAYS_LIVE_MS = 30 * 86_400_000

interface TradeRange {
  readonly ticker: string | null
  readonly fromMs: TimeMs
  readonly toMs: TimeMs
  readonly source: TradeEvent['source']
}

interface TradeAnswer extends TradesRead {
  readonly trades: readonly TradeEvent[]
}

/** State of a read: distinct trades, newest first, and the time of the oldest row, used or not. */
class Walk {
  readonly trades = new Map<string, TradeEvent>()
  readonly range: TradeRange
  oldestMs = Number.POSITIVE_INFINITY
  newestMs: TimeMs | null = null

  constructor(range: TradeRange) {
    this.range = range
  }

  get isComplete(): boolean {
    return reachesBack([this.oldestMs], this.range.fromMs)
  }
}

interface ReaderParts {
  readonly http: JsonReader
  readonly counters: VenueCounters
  readonly combos: Pick<Combos, 'has'>
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>
  /** Receives the pages of live trades, so that a recording contains the trades that the stream missed. */
  readonly tap?: FrameTap | undefined
}

export class TradeReader {
  readonly #parts: ReaderParts

  constructor(parts: ReaderParts) {
    this.#parts = parts
  }

  /** Emits the trades of a range, oldest first, until `signal` aborts. See VenueFeed.fetchTrades. */
  async emitRange(
    { market, ...range }: TradesRange,
    emit: (trade: TradeEvent) => void,
    signal: AbortSignal,
  ): Promise<TradesRead> {
    const { trades, ...read } = await this.fetchRange({ ...range, ticker: market }, signal)
    const emitOne = (trade: TradeEvent) => {
      if (!signal.aborted) emit(trade)
    }
    await runInSlices(this.#parts.clock, forEachSliced(trades, emitOne))
    return read
  }

  /** Rejects with FetchError or SuspectAnswerError if the range cannot be read. */
  async fetchRange(range: TradeRange, signal?: AbortSignal): Promise<TradeAnswer> {
    const walk = new Walk(range)
    const isOfVenue = range.ticker === null
    const leadMs = isOfVenue ? LEAD_MS : 0
    const since = { limit: PAGE_ROWS, min_ts: toSeconds(timeMs(range.fromMs - leadMs)) }
    let ending = await this.#readPages(walk, since, signal)
    if (isOfVenue && ending === 'end' && !walk.isComplete) {
      const { size } = walk.trades
      const reason = size === 0 ? 'empty' : 'shorter'
      ending = await this.#readPages(walk, { limit: WALK_ROWS }, signal)
      if (ending === 'end' && !walk.isComplete) ending = reason
      else if (walk.trades.size > size) {
        this.#parts.counters.suspectAnswers.note(
          new SuspectAnswerError('trades', reason, `since ${range.fromMs}`),
        )
      }
    }
    const isCut = ending === 'cut'
    const suspectReason = ending === 'cut' || ending === 'end' ? null : ending
    // Rows come newest first. The reversal and the stable sort keep their order within a millisecond.
    const trades = [...walk.trades.values()].reverse()
    trades.sort((one, other) => one.venueTimeMs - other.venueTimeMs)
    const oldestMs = trades[0]?.venueTimeMs ?? range.toMs
    const completeFromMs = isCut ? oldestMs : await this.#liveFromMs(range, signal)
    const { newestMs } = walk
    return {
      trades,
      completeFromMs: timeMs(Math.min(completeFromMs, range.toMs)),
      suspectReason,
      newestMs,
    }
  }

  /**
   * Returns why the range is incomplete. 'cut': the range has too many pages, and trades before the oldest row are
   * lost. A SuspectReason: the last page is suspect.
   */
  async #readPages(
    walk: Walk,
    query: Query,
    signal?: AbortSignal,
  ): Promise<'end' | 'cut' | SuspectReason> {
    const { range } = walk
    const tap = (answer: unknown) => {
      if (range.source === 'history') return
      const text = JSON.stringify(answer)
      this.#parts.tap?.(
        { connection: 0, receivedAtMs: this.#parts.clock.nowMs(), text },
        'b',
        'rest_trades',
      )
    }
    const list = { path: PATH, name: 'trades', kind: 'trades', pagesMax: PAGES_MAX + 1 } as const
    const filter = { max_ts: toSeconds(range.toMs) + 1, ticker: range.ticker ?? undefined }
    const live = this.#parts.tap === undefined ? list : { ...list, tap }
    const pages = pagesIn(this.#parts.http, live, { ...query, ...filter }, signal)
    let pageCount = 0
    try {
      for await (const rows of pages) {
        await runInSlices(this.#parts.clock, this.#readPage(rows, walk))
        pageCount += 1
        if (walk.isComplete) return 'end'
        if (pageCount === PAGES_MAX) return 'cut'
      }
      return 'end'
    } catch (error) {
      // If a later page is suspect, the rows of the earlier pages are still used.
      if (error instanceof SuspectAnswerError && pageCount > 0) return error.reason
      throw error
    }
  }

  /** Venue time of the newest trade of any market. Null if there is none. */
  async fetchNewestMs(): Promise<TimeMs | null> {
    const answer = await this.#parts.http.getJson(PATH, { limit: 20 })
    let newestMs: TimeMs | null = null
    for (const row of listIn(answer, 'trades', 'trades')) {
      const trade = parseTradeRow(row)
      if (trade.kind !== 'trade' || this.#parts.combos.has(trade.ticker)) continue
      newestMs = timeMs(Math.max(trade.timeMs, newestMs ?? 0))
    }
    return newestMs
  }

  *#readPage(rows: readonly unknown[], walk: Walk): SlicedWork<void> {
    const { range, trades } = walk
    const receivedAtMs = this.#parts.clock.nowMs()
    for (const row of rows) {
      yield
      const message = parseTradeRow(row)
      if (message.kind === 'rejected') {
        this.#parts.counters.rejected(message.reason, JSON.stringify(row) ?? '')
        continue
      }
      walk.oldestMs = Math.min(walk.oldestMs, message.timeMs)
      walk.newestMs = timeMs(Math.max(walk.newestMs ?? message.timeMs, message.timeMs))
      if (this.#parts.combos.has(message.ticker)) continue
      if (message.timeMs < range.fromMs || message.timeMs > range.toMs) continue
      const trade = mapTrade(message, receivedAtMs, range.source)
      if (trade.kind === 'trade') {
        noteBlock(message, this.#parts.counters.drift)
        trades.set(trade.nativeId, trade)
      } else this.#parts.counters.refused(trade, JSON.stringify(row) ?? '')
    }
  }

  async #liveFromMs(range: TradeRange, signal?: AbortSignal): Promise<TimeMs> {
    if (range.fromMs > this.#parts.clock.nowMs() - ALWAYS_LIVE_MS) return range.fromMs
    try {
      const options = signal === undefined ? {} : { signal }
      const answer = await this.#parts.http.getJson('/historical/cutoff', {}, options)
      const text = isRecord(answer) ? answer.trades_created_ts : undefined
      const cutoffMs = typeof text === 'string' ? Date.parse(text) : Number.NaN
      return Number.isNaN(cutoffMs) ? range.fromMs : timeMs(Math.max(range.fromMs, cutoffMs))
    } catch {
      this.#parts.counters.trouble('historical_cutoff')
      return range.fromMs
    }
  }
}
