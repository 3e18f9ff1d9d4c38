// The groups of fills that the whales' actor remembers, in the order in which they were opened: the newest are open for
// more fills, the older ones are closed and kept for fills that come late.
//
//   forgotten │ closed, remembered │ open │
//             oldest             next to close

import { whaleGroupsMax, whaleRetentionMs, whaleSpreadMs } from '../../engine/limits.ts'
import type { MarketNumber, MarketRef } from '../../engine/market/market.ts'
import type { FillSum } from '../../engine/whale.ts'
import type { StoredWhale } from '../../storage/contract/storage.ts'

/** Forgotten entries at the front of the queue that are cut off at once. */
const CUT_AT = 1_024

/**
 * A venue's clock is at most so far ahead of ours. A later time is nonsense: that fill is looked up in the table of
 * trades, and must not make every later fill look forgotten.
 */
const CLOCKS_APART_MS = 60_000

/** Fills of one whale. */
export interface WhaleGroup {
  readonly market: MarketRef
  readonly key: string
  sum: FillSum
  /** When the group closes, on the monotonic clock. */
  readonly dueAtMs: number
  isOpen: boolean
  /** Stored fills may be missing from the sum: look them up before using it. */
  isPartial: boolean
  /** Fill messages up to this number are in the sum. */
  countedTo: number
  row: StoredWhale | null
}

export class WhaleGroups {
  readonly #groupsMax: number
  readonly #byMarket = new Map<MarketNumber, Map<string, WhaleGroup>>()
  #queue: WhaleGroup[] = []
  #oldest = 0
  #nextToClose = 0
  #evictedToMs = Number.NEGATIVE_INFINITY

  /** More groups are too many, see `forgetOldest`. */
  constructor(groupsMax = whaleGroupsMax) {
    this.#groupsMax = groupsMax
  }

  get count(): number {
    return this.#queue.length - this.#oldest
  }

  get(market: MarketNumber, key: string): WhaleGroup | null {
    return this.#byMarket.get(market)?.get(key) ?? null
  }

  /** Whether a fill of this venue time may belong to a forgotten group. */
  mayBeEvicted(timeMs: number, nowMs: number): boolean {
    return timeMs <= this.#evictedToMs + whaleSpreadMs || timeMs > nowMs + CLOCKS_APART_MS
  }

  /** Groups with fills up to this venue time may exist without being remembered. */
  noteEvicted(timeMs: number, nowMs: number): void {
    const boundedMs = Math.min(timeMs, nowMs + CLOCKS_APART_MS)
    if (boundedMs > this.#evictedToMs) this.#evictedToMs = boundedMs
  }

  /** Takes a new, open group. */
  add(group: WhaleGroup): void {
    const { market, key } = group
    let ofMarket = this.#byMarket.get(market.number)
    if (ofMarket === undefined) {
      ofMarket = new Map()
      this.#byMarket.set(market.number, ofMarket)
    }
    ofMarket.set(key, group)
    this.#queue.push(group)
  }

  /** Forgets and returns the oldest group, which may still be open, if there are too many or its time is over; else null. */
  evictOldest(monotonicMs: number): WhaleGroup | null {
    const group = this.#queue[this.#oldest]
    if (group === undefined) return null
    const isOver = group.dueAtMs + whaleRetentionMs < monotonicMs
    if (!isOver && this.count <= this.#groupsMax) return null
    this.#oldest += 1
    this.#nextToClose = Math.max(this.#nextToClose, this.#oldest)
    if (this.#oldest >= CUT_AT) {
      this.#queue = this.#queue.slice(this.#oldest)
      this.#nextToClose -= this.#oldest
      this.#oldest = 0
    }
    const ofMarket = this.#byMarket.get(group.market.number)
    if (ofMarket?.get(group.key) === group) {
      ofMarket.delete(group.key)
      if (ofMarket.size === 0) this.#byMarket.delete(group.market.number)
    }
    return group
  }

  /** When the next open group closes; null when none is open. */
  get nextDueMs(): number | null {
    return this.#skipClosed()?.dueAtMs ?? null
  }

  /** Closes and returns the next due group; null when none is due. */
  takeDue(monotonicMs: number): WhaleGroup | null {
    const group = this.#skipClosed()
    if (group === null || group.dueAtMs > monotonicMs) return null
    this.#nextToClose += 1
    group.isOpen = false
    return group
  }

  /** Drops the groups of a market that is gone for good. */
  removeMarket(market: MarketNumber): void {
    for (const group of this.#byMarket.get(market)?.values() ?? []) group.isOpen = false
    this.#byMarket.delete(market)
  }

  /** Forgets all groups; returns the open ones. */
  clear(): readonly WhaleGroup[] {
    const open = this.#queue.slice(this.#nextToClose).filter((group) => group.isOpen)
    this.#byMarket.clear()
    this.#queue = []
    this.#oldest = 0
    this.#nextToClose = 0
    return open
  }

  #skipClosed(): WhaleGroup | null {
    for (;;) {
      const group = this.#queue[this.#nextToClose]
      if (group === undefined) return null
      if (group.isOpen) return group
      this.#nextToClose += 1
    }
  }
}
