// Timers for market openings and closings, which Kalshi does not announce. A list contains the due times, with one
// timer for its head. Each change is emitted at its time and confirmed shortly after by another read of the listing.

import type { Clock, StopTimer } from '../../../clock.ts'
import type { VenueEvent } from '../../../events.ts'
import { nativeMarketId } from '../../../ids.ts'
import type { MarketStatus } from '../../../market/market.ts'
import type { TimeMs } from '../../../units.ts'

/** REST shows a change with a delay. An earlier read would revert the emitted change. */
const CONFIRM_AFTER_MS = 3_000
/** A change that is older than this when the market is first watched is confirmed but not emitted. */
const EMITTED_LATE_MS_MAX = 60_000
/** The head is checked at least this often, because the wall clock may jump. */
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

/** The timers of one venue. Memory is bounded by the watched markets, because outdated entries are removed. */
export class StatusTimers {
  readonly #clock: Clock
  readonly #emit: (event: VenueEvent) => void
  readonly #times = new Map<string, Times>()
  /** Markets whose confirmation is already queued. */
  readonly #awaited = new Set<string>()
  /** A binary heap, earliest first. Entries that differ from #times are skipped. */
  #heap: Due[] = []
  #stopTimer: StopTimer | null = null
  #wakeAtMs = Number.POSITIVE_INFINITY

  constructor(parts: { clock: Clock; emit: (event: VenueEvent) => void }) {
    this.#clock = parts.clock
    this.#emit = parts.emit
  }

  /** Number of markets with times. */
  get marketCount(): number {
    return this.#times.size
  }

  /** Sets a market's times. Equal times have no effect. */
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
    // Only changed times create timers. An outdated status in REST must not trigger a timer twice.
    if (!isRetimed || times.status === 'resolved') return
    const nowMs = this.#clock.nowMs()
    if (times.status === 'closed') this.#plan(ticker, 'open', times.openAtMs, nowMs, false)
    this.#plan(ticker, 'close', times.closeAtMs, nowMs, times.status === 'open')
  }

  /** Like `set`, but ignores markets without times. */
  correct(ticker: string, times: Readonly<Partial<Times>>): void {
    const existing = this.#times.get(ticker)
    if (existing !== undefined) this.set(ticker, { ...existing, ...times })
  }

  /** null if the market has no times. */
  statusOf(ticker: string): MarketStatus | null {
    return this.#times.get(ticker)?.status ?? null
  }

  /** Records a status that the venue sent. */
  noteStatus(ticker: string, status: MarketStatus): void {
    const times = this.#times.get(ticker)
    if (times !== undefined) times.status = status
  }

  /** Schedules another read of the market's listing in a few seconds. Repeated calls are merged. */
  confirmSoon(ticker: string): void {
    if (this.#awaited.has(ticker)) return
    this.#awaited.add(ticker)
    this.#push({ atMs: this.#clock.nowMs() + CONFIRM_AFTER_MS, ticker, action: 'seen' })
  }

  /** Calls `confirmSoon` for all timed markets of an event. Their tickers start with the event's. */
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
