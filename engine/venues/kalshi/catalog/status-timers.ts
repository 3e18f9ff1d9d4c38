// Timers for openings and closings, which Kalshi does not announce. Another read of the listing confirms each change.

import type { Clock, StopTimer } from '../../../clock.ts'
import { DueList } from '../../../due-list.ts'
import type { VenueEvent } from '../../../events.ts'
import { nativeMarketId } from '../../../ids.ts'
import type { MarketStatus } from '../../../market/market.ts'
import type { TimeMs } from '../../../units.ts'

/** Delay of the confirming read. REST shows a change with a delay, and an earlier read would revert the emitted change. */
const CONFIRM_AFTER_MS = 3_000
/** Maximum age of a change that is emitted when a market is first watched. Older changes are only confirmed. */
const EMITTED_LATE_MS_MAX = 60_000
/** Maximum time between two checks of the next timer, because the wall clock may be changed. */
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

/** Outdated entries are removed, so the number of watched markets bounds the memory. */
export class StatusTimers {
  readonly #clock: Clock
  readonly #emit: (event: VenueEvent) => void
  readonly #times = new Map<string, Times>()
  readonly #awaited = new Set<string>()
  /** Entries whose time differs from `#times` are outdated and skipped. */
  #due = new DueList<Due>()
  #stopTimer: StopTimer | null = null
  #wakeAtMs = Number.POSITIVE_INFINITY

  constructor(parts: { clock: Clock; emit: (event: VenueEvent) => void }) {
    this.#clock = parts.clock
    this.#emit = parts.emit
  }

  /** Sets a market's times. Has no effect on its timers if the times are unchanged. */
  set(ticker: string, times: Readonly<Times>): void {
    const existing = this.#times.get(ticker)
    const isRetimed =
      existing?.openAtMs !== times.openAtMs || existing.closeAtMs !== times.closeAtMs
    this.#times.set(ticker, { ...times })
    // Creates timers only for changed times. Otherwise an outdated status in REST could trigger a timer twice.
    if (!isRetimed || times.status === 'resolved') return
    const nowMs = this.#clock.nowMs()
    if (times.status === 'closed') this.#plan(ticker, 'open', times.openAtMs, nowMs, false)
    this.#plan(ticker, 'close', times.closeAtMs, nowMs, times.status === 'open')
  }

  /** Changes some of a market's times. Has no effect if `set` was never called for it. */
  correct(ticker: string, times: Readonly<Partial<Times>>): void {
    const existing = this.#times.get(ticker)
    if (existing !== undefined) this.set(ticker, { ...existing, ...times })
  }

  statusOf(ticker: string): MarketStatus | null {
    return this.#times.get(ticker)?.status ?? null
  }

  noteStatus(ticker: string, status: MarketStatus): void {
    const times = this.#times.get(ticker)
    if (times !== undefined) times.status = status
  }

  /** Schedules another read of the market's listing in 3 s. Repeated calls are merged. */
  confirmSoon(ticker: string): void {
    if (this.#awaited.has(ticker)) return
    this.#awaited.add(ticker)
    this.#push({ atMs: this.#clock.nowMs() + CONFIRM_AFTER_MS, ticker, action: 'seen' })
  }

  /** Calls `confirmSoon` for all markets of an event. Their tickers start with the event's ticker. */
  confirmEventSoon(event: string): void {
    for (const ticker of this.#times.keys()) {
      if (ticker.startsWith(`${event}-`)) this.confirmSoon(ticker)
    }
  }

  /** Emits the open markets of a halted shard as closed. When the shard trades again, all its listings are read. */
  noteHalt(tickers: readonly string[], isTrading: boolean): void {
    const nowMs = this.#clock.nowMs()
    for (const ticker of tickers) {
      const status = this.statusOf(ticker)
      if (status === null || status === 'resolved') continue
      if (isTrading) this.confirmSoon(ticker)
      else if (status === 'open') this.#emitStatus(ticker, 'closed', nowMs)
    }
  }

  remove(ticker: string): void {
    this.#times.delete(ticker)
    const { count } = this.#due
    if (count > 64 && count > 4 * this.#times.size) this.#due.filter((due) => this.#isValid(due))
  }

  stop(): void {
    this.#stopTimer?.()
    this.#stopTimer = null
    this.#due = new DueList()
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
    for (let due = this.#due.takeDue(nowMs); due !== null; due = this.#due.takeDue(nowMs)) {
      if (this.#isValid(due)) this.#fire(due, nowMs)
    }
    this.#sleep()
  }

  #fire({ ticker, action }: Due, nowMs: TimeMs): void {
    if (action === 'seen') {
      this.#awaited.delete(ticker)
      const stamps = { venue: 'b', venueTimeMs: nowMs, receivedAtMs: nowMs } as const
      this.#emit({ kind: 'marketSeen', ...stamps, market: nativeMarketId(ticker) })
      return
    }
    const [from, to] =
      action === 'open' ? (['closed', 'open'] as const) : (['open', 'closed'] as const)
    if (this.statusOf(ticker) === from) this.#emitStatus(ticker, to, nowMs)
    this.confirmSoon(ticker)
  }

  #emitStatus(ticker: string, status: MarketStatus, nowMs: TimeMs): void {
    this.noteStatus(ticker, status)
    const stamps = { venue: 'b', venueTimeMs: nowMs, receivedAtMs: nowMs } as const
    const market = nativeMarketId(ticker)
    this.#emit({ kind: 'marketStatus', ...stamps, market, status, settlementPrice: null })
  }

  #sleep(): void {
    const { nextMs } = this.#due
    if (nextMs === undefined || nextMs >= this.#wakeAtMs) return
    this.#stopTimer?.()
    const delayMs = Math.min(SLEEP_MS_MAX, Math.max(0, nextMs - this.#clock.nowMs()))
    this.#wakeAtMs = nextMs
    this.#stopTimer = this.#clock.after(delayMs, () => this.#run())
  }

  #push(due: Due): void {
    this.#due.add(due.atMs, due)
    this.#sleep()
  }
}
