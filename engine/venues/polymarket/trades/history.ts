// The Data API's trades of a time range, complete and oldest first. The venue answers newest first
// and only so many rows, so the range is read in windows of whole seconds, each small enough to come
// as one page: one page is one moment's truth, and equal rows of a transaction (which share their
// second) can be counted in it. A window of the whole venue is believed when its page reaches back
// behind it, or when one without a beginning does: an empty page proves nothing.
// Not for: the stream (trades.ts). Upholds POLYHIST1 to POLYHIST4, ANSWER2.

import type { HttpClient } from '../../../fetch.ts'
import type { NativeMarketId } from '../../../ids.ts'
import { type TimeMs, timeMs } from '../../../units.ts'
import { AnswerDoubt, asList, type DoubtReason, type Doubts, reachesBack } from '../../answers.ts'
import type { TradesRead } from '../../venue.ts'
import { isTrade } from '../messages.ts'
import { readTrade, type TradeReason, type TradeRow } from './trades.ts'

export interface HistoryParts {
  readonly data: HttpClient
  readonly onRejected: (reason: TradeReason | 'bad_trade') => void
  readonly doubts: Doubts
  /** A single second held more rows than the venue gives out. */
  readonly onOverflow: (second: number) => void
}

export interface HistoryRange {
  /** Null: all markets. */
  readonly market: NativeMarketId | null
  readonly fromMs: TimeMs
  readonly toMs: TimeMs
}

/** Rows asked for at once: 700 KB, which does not hold the event loop for long. */
const PAGE_ROWS = 1_000
/** The most the venue gives in one page, for a second that has more than PAGE_ROWS. */
const PAGE_ROWS_MAX = 10_000
/** A venue that caps pages lower answers with a round number of rows: such a page counts as full. */
const ROUND_ROWS = 100
/** The venue refuses offsets from here on. */
const OFFSET_MAX = 3_000
const EDGE_SPAN_S = 9
const NEWEST = { takerOnly: true, limit: 1 }
/** Before the first window, for a trade that shows that it is whole. */
const LEAD_S = 5
/** So many rows more than a window's page are asked for without a beginning. */
const WALK_ROWS = 50
const WALK_GROWTH = 8
/** The first window over all markets; a single market's first window is the whole range. */
const WINDOW_FIRST_S = 60

/** Reads trades in windows; one instance serves any number of calls at once. */
export class TradeHistory {
  readonly #parts: HistoryParts

  constructor(parts: HistoryParts) {
    this.#parts = parts
  }

  /**
   * Hands over the range's rows window by window, oldest first; each window holds whole seconds.
   * Resolves to what may be missing all the same; rejects with FetchError or AnswerDoubt.
   */
  async read(
    range: HistoryRange,
    onRows: (rows: readonly TradeRow[]) => void,
    signal: AbortSignal,
  ): Promise<TradesRead> {
    const { market } = range
    const lastSecond = Math.floor(range.toMs / 1_000)
    let second = Math.floor(range.fromMs / 1_000)
    let completeFromMs = range.fromMs
    let doubt: DoubtReason | null = null
    let newestS = Number.NEGATIVE_INFINITY
    // The newest trade before the window: its page must have it.
    let anchor = second - LEAD_S
    let spanS = market === null ? WINDOW_FIRST_S : lastSecond - second + 1
    while (second <= lastSecond) {
      const end = Math.min(lastSecond, second + spanS - 1)
      const start = market === null ? anchor : second
      let rows = await this.#page(market, { start, end, limit: PAGE_ROWS }, signal)
      if (isPageFull(rows.length, PAGE_ROWS)) {
        if (end > second) {
          spanS = smallerSpan(rows, { start: second, end })
          continue
        }
        const whole = await this.#wholeSecond(market, second, signal)
        if (whole === null) {
          this.#parts.onOverflow(second)
          completeFromMs = timeMs((end + 1) * 1_000)
          second = end + 1
          continue
        }
        rows = whole
      } else if (market === null && !isWhole(rows, second)) {
        const walked = await this.#walk(end, { second, count: rows.length }, signal)
        const reason = rows.length === 0 ? 'empty' : 'shorter'
        newestS = Math.max(newestS, newestSecond(walked, end))
        const hasMore = countIn(walked, second, end) > countIn(rows, second, end)
        if (!isWhole(walked, second)) doubt ??= reason
        else if (hasMore) this.#noteShort(reason, second)
        if (hasMore) rows = walked
      }
      onRows(this.#rowsOf(rows, { start: second, end }))
      if (rows.length < PAGE_ROWS / 4) spanS = Math.min(spanS * 2, lastSecond - second + 1)
      newestS = Math.max(newestS, newestSecond(rows, end))
      anchor = Math.max(anchor, newestSecond(rows, end))
      second = end + 1
    }
    const newestMs = newestS === Number.NEGATIVE_INFINITY ? null : timeMs(newestS * 1_000)
    return { completeFromMs, doubt, newestMs }
  }

  /** The newest rows up to a second's end, so many that they reach back behind another if any do. */
  async #walk(
    end: number,
    { second, count }: { readonly second: number; readonly count: number },
    signal: AbortSignal,
  ): Promise<readonly unknown[]> {
    for (let limit = count + WALK_ROWS; ; limit *= WALK_GROWTH) {
      const asked = Math.min(limit, PAGE_ROWS_MAX)
      const rows = await this.#page(null, { start: null, end, limit: asked }, signal)
      if (isWhole(rows, second) || rows.length < asked || asked === PAGE_ROWS_MAX) return rows
    }
  }

  /** A page lacked trades of its window that a page without a beginning has: those were taken. */
  #noteShort(reason: DoubtReason, second: number): void {
    this.#parts.doubts.note(new AnswerDoubt('trades', reason, `trades from second ${second} on`))
  }

  /**
   * A second that fills a page, by the largest page and then by offsets: its rows no longer move,
   * so that pages fit together. Null when it holds more than the venue gives out.
   */
  async #wholeSecond(
    market: NativeMarketId | null,
    second: number,
    signal: AbortSignal,
  ): Promise<readonly unknown[] | null> {
    const rows: unknown[] = []
    while (rows.length < OFFSET_MAX) {
      const window = { start: second, end: second, limit: PAGE_ROWS_MAX, offset: rows.length }
      const page = await this.#page(market, window, signal)
      for (const row of page) rows.push(row)
      if (!isPageFull(page.length, PAGE_ROWS_MAX)) return rows
    }
    return null
  }

  /** Venue time of the newest trade that the Data API knows; null when it names none. */
  async newestMs(signal: AbortSignal): Promise<TimeMs | null> {
    const answer = asList(await this.#parts.data.getJson('/trades', NEWEST, { signal }), 'trades')
    const [row] = answer
    const trade = isTrade(row) ? readTrade(row) : null
    return trade === null || typeof trade === 'string' ? null : trade.timeMs
  }

  async #page(
    market: NativeMarketId | null,
    window: { start: number | null; end: number; limit: number; offset?: number },
    signal: AbortSignal,
  ): Promise<readonly unknown[]> {
    // Whether the bounds are inclusive is not documented: a second more on each side costs little
    // in a long window, and rows outside are left out below.
    const { start, end } = window
    const edge = start !== null && end - start >= EDGE_SPAN_S ? 1 : 0
    const query = {
      takerOnly: true,
      limit: window.limit,
      offset: window.offset ?? 0,
      ...(start === null ? {} : { start: start - edge }),
      end: end + edge,
      ...(market === null ? {} : { market }),
    }
    return asList(await this.#parts.data.getJson('/trades', query, { signal }), 'trades')
  }

  /** Oldest first; within a second the reverse of the venue's newest first. */
  #rowsOf(
    page: readonly unknown[],
    { start, end }: { start: number; end: number },
  ): readonly TradeRow[] {
    const rows: TradeRow[] = []
    for (let position = page.length - 1; position >= 0; position -= 1) {
      const wire = page[position]
      const row = isTrade(wire) ? readTrade(wire) : 'bad_trade'
      if (typeof row === 'string') this.#parts.onRejected(row)
      else if (row.timeMs >= start * 1_000 && row.timeMs < (end + 1) * 1_000) rows.push(row)
    }
    return rows.sort((one, other) => one.timeMs - other.timeMs)
  }
}

function isPageFull(rowCount: number, limit: number): boolean {
  return rowCount >= limit || (rowCount > 0 && rowCount % ROUND_ROWS === 0)
}

/** The seconds of the rows that tell theirs. */
function* secondsOf(rows: readonly unknown[]): Iterable<number> {
  for (const row of rows) if (isTrade(row)) yield Number(row.timestamp)
}

/** Whether a page, newest first, reaches back behind a second: nothing of it and later is missing. */
function isWhole(rows: readonly unknown[], second: number): boolean {
  return reachesBack(secondsOf(rows), second)
}

function countIn(rows: readonly unknown[], start: number, end: number): number {
  let count = 0
  for (const at of secondsOf(rows)) if (at >= start && at <= end) count += 1
  return count
}

function newestSecond(rows: readonly unknown[], end: number): number {
  let newest = Number.NEGATIVE_INFINITY
  for (const at of secondsOf(rows)) if (at <= end && at > newest) newest = at
  return newest
}

/** A span that this page's density would fit into, at most half of the one that did not. */
function smallerSpan(
  page: readonly unknown[],
  { start, end }: { start: number; end: number },
): number {
  const last = page[page.length - 1]
  const oldest = isTrade(last) ? Number(last.timestamp) : start
  const coveredS = Math.max(1, end - Math.max(start, oldest) + 1)
  return Math.max(1, Math.min(Math.floor(coveredS * 0.8), Math.floor((end - start + 1) / 2)))
}
