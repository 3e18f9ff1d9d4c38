// Reads a wallet's activity, oldest first, in whole seconds. The rows of a second are yielded when a later second was
// received. The end is accepted if a second pass returns the last second unchanged. A pass with inconsistent responses
// is repeated from its last position. Missing, repeated or reordered rows mark the sync as incomplete.

import { type Clock, pause } from '../../../clock.ts'
import { FetchError } from '../../../fetch.ts'
import type { WalletAddress } from '../../../ids.ts'
import { MINUTE_MS, type TimeMs, timeMs, toSeconds } from '../../../units.ts'
import type { HistoryCoverage, WalletEvent } from '../../../wallet.ts'
import { type CursorPage, pagesOf, SuspectAnswerError } from '../../answer-checks.ts'
import type { VenueCounters } from '../../venue-counters.ts'
import { DATA_ROWS_MAX, type DataApi, type DataRequest } from '../data-api.ts'
import {
  type FoundEvent,
  isKnownKind,
  orderedEvents,
  readActivity,
  readTimedRow,
  type TimedRow,
} from './activity-rows.ts'
import { hasDone } from './profile.ts'
import { readRoles } from './roles.ts'

interface WalletHistoryParts {
  readonly clock: Clock
  readonly data: DataApi
  readonly counters: VenueCounters
}

interface WalletHistoryRequest {
  readonly address: WalletAddress
  /** Must be a whole second. */
  readonly fromMs: TimeMs
  /** Time of the newest event that is already known. Null if there is none. */
  readonly lastMs?: TimeMs | null
}

type OnWalletEvents = (events: readonly WalletEvent[]) => void | Promise<void>

const PATH = '/v2/activity'
/** Delay after which a second counts as settled. The Data API lists rows some seconds late. */
const INDEXED_AFTER_MS = MINUTE_MS
const TRIES = 3
const TRY_AGAIN_MS = 500
/** Maximum pages: ten million rows if the pages are full. */
const PAGES_MAX = 10_000
const TRADES_AGE_S = 300

/** See VenueWallets.history. Rejects with FetchError. */
export function readWalletHistory(
  parts: WalletHistoryParts,
  request: WalletHistoryRequest,
  onEvents: OnWalletEvents,
  signal: AbortSignal,
): Promise<HistoryCoverage> {
  return new HistoryReader(parts, request, onEvents, signal).run()
}

class HistoryReader {
  readonly #parts: WalletHistoryParts
  readonly #request: WalletHistoryRequest
  readonly #onEvents: OnWalletEvents
  readonly #signal: AbortSignal
  readonly #fromS: number
  readonly #endS: number
  readonly #settledS: number
  /** All rows before this second were yielded or are in `#ready`. */
  #nextS: number
  /** Rows of complete seconds. They are collected before their roles are requested, because each lookup is a request. */
  #ready: TimedRow[] = []
  /**
   * `#guard`: the rows of the last complete second. `#border`: the received rows of the second after it. A later pass
   * must contain both.
   */
  #guard: readonly TimedRow[] = []
  #border: readonly TimedRow[] = []
  #pageCount = 0
  #unreadableCount = 0
  #isComplete = true
  #isTailComplete = true
  /** Second of the newest known event. Null after the event was received. A response without this event is not accepted. */
  #lastS: number | null
  #isLastListed = true
  #hasRows = false

  constructor(
    parts: WalletHistoryParts,
    request: WalletHistoryRequest,
    onEvents: OnWalletEvents,
    signal: AbortSignal,
  ) {
    this.#parts = parts
    this.#request = request
    this.#onEvents = onEvents
    this.#signal = signal
    this.#fromS = toSeconds(request.fromMs)
    const lastMs = request.lastMs ?? null
    this.#lastS = lastMs === null ? null : toSeconds(lastMs)
    // The start of the read counts, because the first pages of a long read are older than its end.
    this.#settledS = Math.floor((parts.clock.nowMs() - INDEXED_AFTER_MS) / 1_000)
    this.#endS = toSeconds(parts.clock.nowMs())
    // The venue interprets a start of 0 as three years ago.
    this.#nextS = Math.max(1, Math.min(this.#fromS, this.#lastS ?? this.#fromS))
  }

  async run(): Promise<HistoryCoverage> {
    let settledS = this.#settledS
    if (!(await this.#readToEnd())) {
      this.#parts.counters.trouble('wallet_history_stuck', { second: this.#nextS })
      this.#isTailComplete = false
      settledS = Math.min(settledS, this.#nextS)
    }
    await this.#handOver()
    // An unreadable row may belong to any second.
    if (this.#unreadableCount > 0) this.#isComplete = false
    if (!this.#hasRows && this.#fromS === 0 && (await this.#hasPast())) {
      this.#parts.counters.trouble('wallet_history_empty', { wallet: this.#request.address })
      this.#isTailComplete = false
      settledS = 0
    }
    const settledToMs = timeMs(Math.max(0, settledS) * 1_000)
    return {
      ...{ settledToMs, isComplete: this.#isComplete },
      ...{ isTailComplete: this.#isTailComplete, isLastListed: this.#isLastListed },
    }
  }

  /** Repeats passes until a pass returns nothing new. Returns false if the passes are inconsistent or too many. */
  async #readToEnd(): Promise<boolean> {
    let failed = 0
    let walked = 0
    while (this.#pageCount < PAGES_MAX) {
      const fromS = this.#nextS
      // The start varies, because caches would return the previous response for the same URL.
      const guardS = this.#guard[0]?.second ?? this.#nextS
      const startS = Math.max(1, guardS - (walked % 2) - failed)
      walked += 1
      const became = await this.#walk(startS)
      if (became === 'nothing new' && walked > 1) {
        this.#ready.push(...this.#border)
        return true
      }
      if (became !== 'unfit') failed = 0
      else if (this.#nextS > fromS) failed = 1
      else failed += 1
      if (failed >= TRIES) return false
      if (failed > 0) await pause(this.#parts.clock, TRY_AGAIN_MS * failed, this.#signal)
    }
    return false
  }

  /** A single pass over the list. Returns 'unfit' if the responses contradict the request or each other. */
  async #walk(startS: number): Promise<'more' | 'nothing new' | 'unfit'> {
    const border = this.#border
    const due = [...this.#guard, ...border]
    let pending: TimedRow[] = []
    const shown: TimedRow[] = []
    let isAhead = false
    try {
      for await (const rows of this.#pagesFrom(startS)) {
        if (!isAhead) shown.push(...rows)
        for (const row of rows) if (row.second >= this.#nextS) pending.push(row)
        const lastS = pending.at(-1)?.second ?? this.#nextS
        if (lastS === this.#nextS) continue
        if (!isAhead && !holds(shown, due)) return this.#unfit('known rows are missing')
        isAhead = true
        this.#border = []
        const complete = pending.filter(({ second }) => second < lastS)
        const completeS = complete.at(-1)?.second
        if (completeS !== undefined)
          this.#guard = complete.filter(({ second }) => second === completeS)
        pending = pending.filter(({ second }) => second === lastS)
        this.#nextS = lastS
        this.#ready.push(...complete)
        if (this.#ready.length >= DATA_ROWS_MAX) await this.#handOver()
      }
    } catch (error) {
      if (!(error instanceof SuspectAnswerError)) throw error
      this.#parts.counters.suspectAnswers.note(error)
      // The next pass must contain the rows of the incomplete second again.
      if (isAhead || holds(shown, due)) this.#border = pending
      return 'unfit'
    }
    if (!isAhead && !holds(shown, due)) return this.#unfit('known rows are missing')
    this.#border = pending
    return isAhead || pending.length > border.length ? 'more' : 'nothing new'
  }

  /** Yields the rows of each page, in order. Throws SuspectAnswerError if a page is inconsistent. */
  async *#pagesFrom(startS: number): AsyncGenerator<readonly TimedRow[]> {
    const query = {
      user: this.#request.address,
      limit: DATA_ROWS_MAX,
      start: startS,
      end: this.#endS,
    }
    // Without `type` the venue returns all kinds except tips, including future kinds.
    const sorted = { ...query, sort_by: 'TIMESTAMP', sort_direction: 'ASC' }
    const request: DataRequest = { path: PATH, query: sorted, kind: 'wallet' }
    let lastS = startS
    let before = ''
    let isFirst = true
    const pages = pagesOf((cursor) => this.#page(request, cursor), {
      ...{ kind: 'wallet', name: PATH, pagesMax: PAGES_MAX - this.#pageCount },
    })
    for await (const wires of pages) {
      const rows = this.#timedRows(wires)
      const print = rows.map(keyOf).join()
      for (const { second } of rows) {
        if (second < lastS) throw this.#suspectAnswer('seconds fall')
        lastS = second
      }
      if (print !== '' && print === before) throw this.#suspectAnswer('a page was repeated')
      before = print
      if (isFirst && !this.#provesLast(rows))
        throw this.#suspectAnswer('the last known event is missing')
      isFirst = false
      yield rows
    }
  }

  async #page(request: DataRequest, cursor: string | undefined): Promise<CursorPage> {
    this.#pageCount += 1
    try {
      const page = await this.#parts.data.page(request, cursor, { signal: this.#signal })
      if (page.rows.length === 0 && page.next !== null)
        throw this.#suspectAnswer('an empty page precedes other pages')
      return page
    } catch (error) {
      // The venue rejects expired cursors. The next pass starts without a cursor.
      const isRefused = error instanceof FetchError && error.status === 400 && cursor !== undefined
      if (!isRefused) throw error
      this.#parts.counters.drift.note('data.pages', `${PATH} cursor refused`, error.message)
      throw this.#suspectAnswer('a cursor was refused')
    }
  }

  #timedRows(wires: readonly unknown[]): readonly TimedRow[] {
    const rows: TimedRow[] = []
    for (const wire of wires) {
      const row = readTimedRow(wire, this.#request.address)
      if (row !== null) rows.push(row)
      else {
        this.#unreadableCount += 1
        this.#parts.counters.rejected('bad_wallet_row', JSON.stringify(wire) ?? '')
      }
    }
    return rows
  }

  #unfit(reason: string): 'unfit' {
    this.#parts.counters.suspectAnswers.note(this.#suspectAnswer(reason))
    return 'unfit'
  }

  #suspectAnswer(detail: string): SuspectAnswerError {
    return new SuspectAnswerError('wallet', 'shorter', `${detail}, second ${this.#nextS}`)
  }

  #provesLast(rows: readonly TimedRow[]): boolean {
    const isSeen = this.#lastS === null || rows.some(({ second }) => second === this.#lastS)
    if (isSeen) this.#lastS = null
    this.#isLastListed = isSeen
    return isSeen
  }

  /** Records that rows may be missing. Rows of a settled second stay missing. Any other second is read again. */
  #miss(second: number): void {
    if (second < this.#settledS) this.#isComplete = false
    else this.#isTailComplete = false
  }

  /** Whether an empty history is wrong. True if the wallet has activity, or if no valid response shows that it has none. */
  async #hasPast(): Promise<boolean> {
    try {
      return await this.#hasDoneOrHeld()
    } catch (error) {
      if (error instanceof SuspectAnswerError) return true
      throw error
    }
  }

  async #hasDoneOrHeld(): Promise<boolean> {
    const { data } = this.#parts
    const user = this.#request.address
    if (await hasDone(data, user, this.#signal)) return true
    const query = { user, filter_amount: 0, limit: 1 }
    const request: DataRequest = { path: '/v2/positions', query, kind: 'wallet' }
    const { rows } = await data.page(request, undefined, { signal: this.#signal })
    return rows.length > 0
  }

  async #handOver(): Promise<void> {
    const { counters } = this.#parts
    const rows = this.#ready
    this.#ready = []
    const found: FoundEvent[] = []
    if (rows.length > 0) this.#hasRows = true
    for (const row of rows) {
      if (row.second < this.#fromS) continue
      const read = readActivity(row)
      if (!isKnownKind(row.wire)) counters.drift.note('activity.type', row.wire.type, row.wire)
      if (read.kind === 'event') found.push(read)
      else if (read.kind === 'ignored') counters.ignored(read.reason)
      else {
        this.#miss(row.second)
        counters.rejected(read.reason, JSON.stringify(row.wire))
        counters.drift.note('activity.row', read.reason, row.wire)
      }
    }
    if (found.length === 0) return
    await this.#onEvents(await this.#withRoles(orderedEvents(found)))
  }

  async #withRoles(found: readonly FoundEvent[]): Promise<readonly WalletEvent[]> {
    const fills = found.flatMap(({ event, key }) => (key === null ? [] : [{ event, key }]))
    const [first, last] = [fills[0], fills.at(-1)]
    if (first === undefined || last === undefined) return found.map(({ event }) => event)
    const lastS = toSeconds(last.event.timeMs)
    const request = {
      address: this.#request.address,
      startS: toSeconds(first.event.timeMs),
      // A cached copy may be older than the latest fills. A later end makes another URL, which has no cached copy.
      endS: lastS > this.#endS - 2 * TRADES_AGE_S ? Math.max(lastS, this.#endS) : lastS,
      keys: new Set(fills.map(({ key }) => key)),
    }
    const roleOf = await readRoles(this.#parts, request, this.#signal)
    return found.map(({ event, key }) => (key === null ? event : { ...event, role: roleOf(key) }))
  }
}

/** Whether `rows` contains all rows of `due`, each as often as `due` does. */
function holds(rows: readonly TimedRow[], due: readonly TimedRow[]): boolean {
  if (due.length === 0) return true
  const counts = new Map<string, number>()
  for (const row of rows) counts.set(keyOf(row), (counts.get(keyOf(row)) ?? 0) + 1)
  return due.every((row) => {
    const left = (counts.get(keyOf(row)) ?? 0) - 1
    counts.set(keyOf(row), left)
    return left >= 0
  })
}

/** Identifies a row of the wallet. Rows with equal values in all used fields have the same key. */
function keyOf({ second, wire }: TimedRow): string {
  const { transaction_hash, type, condition_id, token_id, side, size, usdc_size, price } = wire
  return `${second} ${transaction_hash} ${type} ${condition_id} ${token_id} ${side} ${size} ${usdc_size} ${price};`
}
