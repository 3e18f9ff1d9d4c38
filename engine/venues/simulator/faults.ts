// Faults that a test or user enables. A seeded random stream decides when each fault occurs. world/book-faults.ts
// implements tick_size, one_sided and empty_book. The servers implement all other faults.

import type { Random } from '../../random.ts'
import { Changes } from './changes.ts'
import type { SimChange, SimFault } from './model.ts'

/** Probability of each fault at each opportunity while it is enabled. */
export const FAULT_CHANCES: Readonly<Record<SimFault, number>> = {
  /** Per stream message: a book change is lost. At Kalshi, the lost change still uses a sequence number. */
  lost_delta: 1 / 5_000,
  /** Per connection and second: data stops for 20 s while the socket stays open. */
  silence: 1 / 300,
  /** Per connection and second: the socket is closed. */
  disconnect: 1 / 180,
  /** Per stream message: the message is sent twice. */
  duplicate: 1 / 2_000,
  /** Per stream message: two messages of the same second are swapped. */
  reorder: 1 / 2_000,
  /** Per REST request: 429 without Retry-After. */
  rate_limit: 1 / 200,
  /** Per REST request: 429 with Retry-After: 1. */
  rate_limit_retry_after: 1 / 200,
  /** Per REST request: 502 with an HTML body. */
  html: 1 / 200,
  /** Per market and minute: the tick changes. No book is sent until the next trade or subscription. */
  tick_size: 1 / 600,
  one_sided: 1 / 300,
  /** Per market and minute: the quotes of both sides are withdrawn for ten seconds. */
  empty_book: 1 / 600,
  /** Per cacheable first page: a cache of the venue serves the page until the page expires. */
  stale_cache: 1 / 10,
  /** Per second: one shard of Kalshi's exchange stops trading for three minutes. */
  halt: 1 / 600,
  /** Per request of Data API v1: 410 instead of 404. */
  v1_retired: 1,
  /** Per second: the activity stream sends nothing for two minutes while its sockets stay open. */
  rtds_silent: 1 / 600,
  /** Per change of a book: updates of this book stop for two minutes. Its trades and all other books continue. */
  mute: 1 / 20_000,
  /** Per second: no book is sent for a minute, including over new sockets. Heartbeats and trades continue. */
  freeze: 1 / 900,
  ghost_books: 1 / 100,
  /** Per page of a wallet's activity: the page includes rows of combinations, which no other path returns. */
  combos: 1,
}

const MUTE_MS = 120_000
const FREEZE_MS = 60_000

export class Faults {
  readonly #active: ReadonlySet<string>
  readonly #random: Random
  readonly #mutedUntilMs = new Map<string, number>()
  #frozenSecond = -1
  #frozenUntilMs = 0
  readonly changes: Changes

  constructor(
    active: readonly (SimFault | SimChange)[],
    random: Random,
    changes: Changes = new Changes(),
  ) {
    this.#active = new Set(active)
    this.#random = random
    this.changes = changes
  }

  isMuted(market: string, nowMs: number): boolean {
    const untilMs = this.#mutedUntilMs.get(market)
    if (untilMs !== undefined && nowMs < untilMs) return true
    this.#mutedUntilMs.delete(market)
    if (!this.strikes('mute')) return false
    this.#mutedUntilMs.set(market, nowMs + MUTE_MS)
    return true
  }

  /** Decided once a second. */
  isFrozen(nowMs: number): boolean {
    const second = Math.floor(nowMs / 1_000)
    if (second !== this.#frozenSecond) {
      this.#frozenSecond = second
      if (nowMs >= this.#frozenUntilMs && this.strikes('freeze')) {
        this.#frozenUntilMs = nowMs + FREEZE_MS
      }
    }
    return nowMs < this.#frozenUntilMs
  }

  strikes(fault: SimFault): boolean {
    return this.#active.has(fault) && this.#random.next() < FAULT_CHANCES[fault]
  }
}
