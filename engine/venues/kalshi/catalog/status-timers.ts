// Kalshi says nothing when a market opens at its open_time or closes at its close_time, so we keep
// the time ourselves: one list of what is due, one timer for its head. Each change is emitted at once
// and confirmed a little later by asking for the listing again.

import type { Clock, StopTimer } from '../../../clock.ts'
import type { VenueEvent } from '../../../events.ts'
import { nativeMarketId } from '../../../ids.ts'
import type { MarketStatus } from '../../../market/market.ts'
import type { TimeMs } from '../../../units.ts'

/** REST shows a change a moment after it happened; asking earlier would undo what we emitted. */
const CONFIRM_AFTER_MS = 3_000
/** A change older than this when the market is first watched is only confirmed, not emitted. */
const EMITTED_LATE_MS_MAX = 60_000
/** The head is looked at again at least so often: the calendar may jump. */
const SLEEP_MS_MAX = 30_000

type Action = 'open' | 'close' | 'seen'

interface Due {
  readonly atMs: number
  readonly ticker: string
  readonly action: Action
}

interface Times {
  status: MarketStatus
  openAtMs: TimeMs | null
  closeAtMs: TimeMs | null
}

/** The timers of one venue. Bounded by the markets watched: what is outdated is swept away. */
export class StatusTimers {
  readonly #clock: Clock
  readonly #emit: (event: VenueEvent) => void
  readonly #times = new Map<string, Times>()
  /** Markets whose confirmation is due already: one is enough. */
  readonly #awaited = new Set<string>()
  /** A binary heap, earliest first; an entry that no longer agrees with #times is skipped. */
  #heap: Due[] = []
  #stopTimer: StopTimer | null = null
  #wakeAtMs = Number.POSITIVE_INFINITY

  constructor(parts: { clock: Clock; emit: (event: VenueEvent) => void }) {
    this.#clock = parts.clock
    this.#emit = parts.emit
  }

  /** How many markets are timed. */
  get marketCount(): number {
    return this.#times.size
  }

  /** Learns or corrects a market's times; the same times again change nothing. */
  set(ticker: string, times: Readonly<Times>): void {
    const existing = this.#times.get(ticker)
    if (
      existing !== undefined &&
      existing.openAtMs === times.openAtMs &&
      existing.closeAtMs === times.closeAtMs &&
      existing.status === times.status
    ) {
      return
    }
    const isRetimed =
      existing?.openAtMs !== times.openAtMs || existing.closeAtMs !== times.closeAtMs
    this.#times.set(ticker, { ...times })
    // Only new times make timers: a status that REST still shows as it was must not fire twice.
    if (!isRetimed || times.status === 'resolved') return
    const nowMs = this.#clock.nowMs()
    if (times.status === 'closed') this.#plan(ticker, 'open', times.openAtMs, nowMs, false)
    this.#plan(ticker, 'close', times.closeAtMs, nowMs, times.status === 'open')
  }

  /** As `set`, for a market that is timed already; others are ignored. */
  correct(ticker: string, times: Readonly<Partial<Times>>): void {
    const existing = this.#times.get(ticker)
    if (existing !== undefined) this.set(ticker, { ...existing, ...times })
  }

  /** Null: the market is not timed. */
  statusOf(ticker: string): MarketStatus | null {
    return this.#times.get(ticker)?.status ?? null
  }

  /** The venue sent a status itself. */
  noteStatus(ticker: string, status: MarketStatus): void {
    const times = this.#times.get(ticker)
    if (times !== undefined) times.status = status
  }

  /** Asks for the market's listing again in a few seconds; several wishes become one. */
  confirmSoon(ticker: string): void {
    if (this.#awaited.has(ticker)) return
    this.#awaited.add(ticker)
    this.#push({ atMs: this.#clock.nowMs() + CONFIRM_AFTER_MS, ticker, action: 'seen' })
  }

  /** The same for every timed market of an event, whose ticker theirs begin with. */
  confirmEventSoon(event: string): void {
    for (const ticker of this.#times.keys()) {
      if (ticker.startsWith(`${event}-`)) this.confirmSoon(ticker)
    }
  }

  remove(ticker: string): void {
    this.#times.delete(ticker)
    if (this.#heap.length > 64 && this.#heap.length > 4 * this.#times.size) this.#sweep()
  }

  stop(): void {
    this.#stopTimer?.()
    this.#stopTimer = null
    this.#heap = []
    this.#times.clear()
    this.#awaited.clear()
  }

  #plan(
    ticker: string,
    action: 'open' | 'close',
    atMs: TimeMs | null,
    nowMs: TimeMs,
    isEmittedLate: boolean,
  ): void {
    if (atMs === null) return
    if (atMs > nowMs || (isEmittedLate && atMs > nowMs - EMITTED_LATE_MS_MAX)) {
      this.#push({ atMs, ticker, action })
    } else if (isEmittedLate) this.confirmSoon(ticker)
  }

  #isValid(due: Due): boolean {
    if (due.action === 'seen') return this.#awaited.has(due.ticker)
    const times = this.#times.get(due.ticker)
    if (times === undefined) return false
    return due.atMs === (due.action === 'open' ? times.openAtMs : times.closeAtMs)
  }

  #run(): void {
    this.#stopTimer = null
    this.#wakeAtMs = Number.POSITIVE_INFINITY
    const nowMs = this.#clock.nowMs()
    let head = this.#heap[0]
    while (head !== undefined && head.atMs <= nowMs) {
      this.#pop()
      if (this.#isValid(head)) this.#fire(head, nowMs)
      head = this.#heap[0]
    }
    this.#sleep()
  }

  #fire(due: Due, nowMs: TimeMs): void {
    const market = nativeMarketId(due.ticker)
    const stamps = { venue: 'b', venueTimeMs: nowMs, receivedAtMs: nowMs, market } as const
    if (due.action === 'seen') {
      this.#awaited.delete(due.ticker)
      this.#emit({ kind: 'marketSeen', ...stamps })
      return
    }
    const times = this.#times.get(due.ticker)
    const from = due.action === 'open' ? 'closed' : 'open'
    if (times !== undefined && times.status === from) {
      times.status = due.action === 'open' ? 'open' : 'closed'
      const { status } = times
      this.#emit({ kind: 'marketStatus', ...stamps, status, settlementPrice: null })
    }
    this.confirmSoon(due.ticker)
  }

  #sleep(): void {
    const head = this.#heap[0]
    if (head === undefined || head.atMs >= this.#wakeAtMs) return
    this.#stopTimer?.()
    const delayMs = Math.min(SLEEP_MS_MAX, Math.max(0, head.atMs - this.#clock.nowMs()))
    this.#wakeAtMs = head.atMs
    this.#stopTimer = this.#clock.after(delayMs, () => this.#run())
  }

  #sweep(): void {
    const valid = this.#heap.filter((due) => this.#isValid(due))
    this.#heap = []
    for (const due of valid) this.#sift(due)
  }

  #push(due: Due): void {
    this.#sift(due)
    this.#sleep()
  }

  #sift(due: Due): void {
    const heap = this.#heap
    let position = heap.length
    heap.push(due)
    while (position > 0) {
      const parentPosition = (position - 1) >> 1
      const parent = heap[parentPosition]
      if (parent === undefined || parent.atMs <= due.atMs) break
      heap[position] = parent
      position = parentPosition
    }
    heap[position] = due
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let position = 0
    for (;;) {
      let childPosition = 2 * position + 1
      let child = heap[childPosition]
      if (child === undefined) break
      const right = heap[childPosition + 1]
      if (right !== undefined && right.atMs < child.atMs) {
        child = right
        childPosition += 1
      }
      if (child.atMs >= last.atMs) break
      heap[position] = child
      position = childPosition
    }
    heap[position] = last
  }
}
