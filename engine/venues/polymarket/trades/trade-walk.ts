// Reads the trades of a time range. `/v2/trades` has no time filter without a wallet, so the list is read backwards
// from the newest trade or from a cached cursor. Cursors are stable positions. A first page may be a copy that is five
// minutes old. `provenToMs` is the time before which missing trades certainly do not exist. Trades below 0.01 contracts
// are never listed.

import type { Clock } from '../../../clock.ts'
import type { NativeMarketId } from '../../../ids.ts'
import { runInSlices, type SlicedWork } from '../../../time-slices.ts'
import { type TimeMs, timeMs } from '../../../units.ts'
import {
  pagesOf,
  SuspectAnswerError,
  type SuspectAnswers,
  type SuspectReason,
} from '../../answer-checks.ts'
import type { DriftNotes } from '../../drift/drift.ts'
import type { TradesRead } from '../../venue.ts'
import { DATA_ROWS_MAX, type DataApi } from '../data-api.ts'
import { readDataTrade } from '../messages.ts'
import { readTrade, type TradeReason, type TradeRow } from './trade-ledger.ts'

interface WalkParts {
  readonly data: Pick<DataApi, 'page'>
  readonly clock: Clock
  readonly suspectAnswers: SuspectAnswers
  readonly drift: DriftNotes
  readonly onRejected: (reason: TradeReason | 'bad_trade' | 'combo_trade', row: unknown) => void
  readonly onCut: (pages: number) => void
}

export interface WalkRange {
  /** Null: all markets. */
  readonly market: NativeMarketId | null
  readonly fromMs: TimeMs
  readonly toMs: TimeMs
  /** Number of earlier attempts. Each attempt uses another page size, so that its URL has no cached copy. */
  readonly attempt?: number
  readonly rowsMax?: number
  /** Default true. If false, the result includes makers' rows, one per order. */
  readonly isTakerOnly?: boolean
}

export interface WalkResult extends TradesRead {
  /** The response contains every trade before this time. */
  readonly provenToMs: TimeMs
}

const PATH = '/v2/trades'
/** The venue's cache returns the same first page for this time. */
const EDGE_MS = 300_000
/** Maximum delay with which the venue lists a trade. */
const LISTED_LATE_MS = 30_000
/** The venue always has trades. A first page without a trade of this last period is a cached copy. */
const FRESH_MS = 15_000
/** Trades of this period before a page's newest row may be missing, because the rows of a block may be listed later. */
const BLOCK_MS = 5_000
/** Maximum pages: 30 hours at 20 trades a second. Trades on further pages are omitted. */
const PAGES_MAX = 2_160
/** Maximum cached cursors of lists of the whole venue, newest first. */
const POSITIONS_MAX = 4_096
const SIZES = 50

/** The rows after the cursor are from this second or earlier. */
interface WalkPosition {
  readonly second: number
  readonly cursor: string
}

interface WalkState {
  readonly rows: TradeRow[]
  oldest: number
  newest: number
  isReached: boolean
  pages: number
}

export class TradeWalk {
  readonly #parts: WalkParts
  /** Newest first. A cursor is only valid with the filters of its list, so makers' lists have separate cursors. */
  readonly #positions: WalkPosition[] = []
  readonly #positionsWithMakers: WalkPosition[] = []

  constructor(parts: WalkParts) {
    this.#parts = parts
  }

  /** Passes the rows of a range to `onRows`, oldest first. Rejects with FetchError or SuspectAnswerError. */
  async read(
    range: WalkRange,
    onRows: (rows: readonly TradeRow[]) => void | Promise<void>,
    signal: AbortSignal,
  ): Promise<WalkResult> {
    const requestedAtMs = this.#parts.clock.nowMs()
    const from = Math.floor(range.fromMs / 1_000)
    const to = Math.floor(range.toMs / 1_000)
    const position = range.market === null ? this.#positionBefore(range, to) : null
    let walked = await this.#walk(range, position, signal)
    const isOld = range.market === null && position === null && this.#isOld(walked, to)
    if (isOld || isSuspect(range, walked)) walked = await this.#walkAgain(range, walked, signal)
    const { rows, oldest, newest } = walked
    const isCut = isCutOff(walked)
    if (isCut) this.#parts.onCut(walked.pages)
    const complete = isCut ? rows.filter(({ timeMs: at }) => at > oldest * 1_000) : rows
    // The venue's order is reversed, so that the earlier of two fills in one second is first.
    await onRows(complete.reverse().sort((one, other) => one.timeMs - other.timeMs))
    const seenMs = Math.max(newest, position?.second ?? 0) * 1_000 - BLOCK_MS
    return {
      completeFromMs: isCut ? timeMs(Math.max(from, oldest + 1) * 1_000) : range.fromMs,
      suspectReason: isSuspect(range, walked) ? suspectReasonOf(walked) : null,
      newestMs: newest === Number.NEGATIVE_INFINITY ? null : timeMs(newest * 1_000),
      provenToMs: timeMs(Math.max(seenMs, requestedAtMs - EDGE_MS - LISTED_LATE_MS)),
    }
  }

  async #walkAgain(range: WalkRange, first: WalkState, signal: AbortSignal): Promise<WalkState> {
    const again = await this.#walk({ ...range, attempt: (range.attempt ?? 0) + 1 }, null, signal)
    if (again.newest < first.newest) return first
    const isBetter = !isSuspect(range, again) || again.rows.length > first.rows.length
    if (isSuspect(range, first) && isBetter) {
      const detail = `trades from ${range.fromMs} on`
      this.#parts.suspectAnswers.note(
        new SuspectAnswerError('trades', suspectReasonOf(first), detail),
      )
    }
    return again
  }

  #isOld({ newest }: WalkState, to: number): boolean {
    const nowS = this.#parts.clock.nowMs() / 1_000
    return newest < Math.min(to, nowS) - FRESH_MS / 1_000
  }

  async #walk(
    range: WalkRange,
    position: WalkPosition | null,
    signal: AbortSignal,
  ): Promise<WalkState> {
    const from = Math.floor(range.fromMs / 1_000)
    const to = Math.floor(range.toMs / 1_000)
    const gathered: WalkState = {
      rows: [],
      oldest: Number.POSITIVE_INFINITY,
      newest: Number.NEGATIVE_INFINITY,
      isReached: false,
      pages: 0,
    }
    const { market, attempt = 0, rowsMax = DATA_ROWS_MAX, isTakerOnly = true } = range
    const query = {
      taker_only: isTakerOnly,
      limit: rowsMax - (attempt % SIZES),
      ...(market === null ? {} : { condition: market }),
    }
    let next: string | null = null
    const fetchPage = async (cursor = position?.cursor) => {
      const request = { path: PATH, query, kind: 'trades' } as const
      const page = await this.#parts.data.page(request, cursor, { signal })
      next = page.next
      return page
    }
    const list = { kind: 'trades', name: PATH, pagesMax: PAGES_MAX + 1 } as const
    try {
      for await (const rows of pagesOf(fetchPage, list)) {
        gathered.pages += 1
        // Pages have up to 1,000 rows, so they are converted in time slices.
        await runInSlices(this.#parts.clock, this.#take(rows, { from, to }, gathered))
        if (gathered.isReached || gathered.pages === PAGES_MAX) break
        if (market === null) this.#store(range, { second: gathered.oldest, cursor: next })
      }
    } catch (error) {
      // The cursor may have caused the failure, so the next read starts at the newest trade.
      const isBehindCursor = position !== null || gathered.pages > 0
      if (market === null && isBehindCursor) this.#positionsOf(range).length = 0
      if (error instanceof SuspectAnswerError && error.reason !== 'shape') {
        this.#parts.drift.note('data.pages', `${PATH} ${error.reason}`, error.message)
      }
      throw error
    }
    return gathered
  }

  *#take(
    page: readonly unknown[],
    { from, to }: { readonly from: number; readonly to: number },
    gathered: WalkState,
  ): SlicedWork<void> {
    const before = gathered.oldest
    for (const value of page) {
      yield
      const wire = readDataTrade(value)
      const row = typeof wire === 'string' ? wire : readTrade(wire)
      if (typeof row === 'string') {
        this.#parts.onRejected(row, value)
        continue
      }
      const second = Math.floor(row.timeMs / 1_000)
      // The page is suspect if it starts after the end of the previous page.
      if (second > before) {
        throw new SuspectAnswerError('trades', 'cursor', 'a page of trades went back')
      }
      gathered.oldest = Math.min(gathered.oldest, second)
      gathered.newest = Math.max(gathered.newest, second)
      if (second < from) gathered.isReached = true
      else if (second <= to) gathered.rows.push(row)
    }
  }

  /** The cached cursor nearest to a second whose list still contains the whole second. */
  #positionBefore(range: WalkRange, second: number): WalkPosition | null {
    return this.#positionsOf(range).findLast((position) => position.second > second) ?? null
  }

  #positionsOf({ isTakerOnly = true }: WalkRange): WalkPosition[] {
    return isTakerOnly ? this.#positions : this.#positionsWithMakers
  }

  #store(
    range: WalkRange,
    { second, cursor }: { readonly second: number; readonly cursor: string | null },
  ): void {
    if (cursor === null || !Number.isFinite(second)) return
    const positions = this.#positionsOf(range)
    const position = { second, cursor }
    const at = positions.findIndex((other) => other.second <= second)
    if (at < 0) positions.push(position)
    else if (positions[at]?.second === second) return
    else positions.splice(at, 0, position)
    if (positions.length > POSITIONS_MAX) positions.pop()
  }
}

const isCutOff = ({ isReached, pages }: WalkState): boolean => !isReached && pages >= PAGES_MAX

/** Whether a list of the whole venue ended before the range's start. The list of a single market may end there. */
function isSuspect({ market }: WalkRange, walked: WalkState): boolean {
  return market === null && !walked.isReached && !isCutOff(walked)
}

function suspectReasonOf({ rows }: WalkState): SuspectReason {
  return rows.length === 0 ? 'empty' : 'shorter'
}
