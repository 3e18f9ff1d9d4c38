// The cached groups of fills in order of creation: the newest are open for more fills, the older ones are closed and
// cached for late fills.
//
//   evicted │ closed, cached │ open
//           oldest           next to close

import { whaleGroupsMax, whaleRetentionMs, whaleSpreadMs } from '../../engine/limits.ts'
import type { MarketNumber, MarketRef } from '../../engine/market/market.ts'
import type { FillSum } from '../../engine/whale.ts'
import type { StoredWhale } from '../../storage/contract/storage.ts'

/** Number of evicted entries at the front of the queue that are cut off at once. */
const CUT_AT = 1_024

/**
 * Maximum lead of a venue's clock. A fill with a later time is looked up in the table of trades. Otherwise its time
 * would make every later fill look evicted.
 */
const CLOCKS_APART_MS = 60_000

/** Fills of one whale. */
export interface WhaleGroup {
  readonly market: MarketRef
  readonly key: string
  sum: FillSum
  /** Monotonic time at which the group closes. */
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

  /** `groupsMax`: more groups are evicted, see `evictOldest`. */
  constructor(groupsMax = whaleGroupsMax) {
    this.#groupsMax = groupsMax
  }

  get count(): number {
    return this.#queue.length - this.#oldest
  }

  get(market: MarketNumber, key: string): WhaleGroup | null {
    return this.#byMarket.get(market)?.get(key) ?? null
  }

  /** Whether a fill of this venue time may belong to an evicted group. */
  mayBeEvicted(timeMs: number, nowMs: number): boolean {
    return timeMs <= this.#evictedToMs + whaleSpreadMs || timeMs > nowMs + CLOCKS_APART_MS
  }

  /** Groups with fills up to this venue time may exist without being cached. */
  noteEvicted(timeMs: number, nowMs: number): void {
    const boundedMs = Math.min(timeMs, nowMs + CLOCKS_APART_MS)
    if (boundedMs > this.#evictedToMs) this.#evictedToMs = boundedMs
  }

  /** Adds a new, open group. */
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

  /**
   * Evicts and returns the oldest group, which may still be open, if there are too many or it has expired; else null.
   */
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

  /** When the next open group closes; null if none is open. */
  get nextDueMs(): number | null {
    return this.#skipClosed()?.dueAtMs ?? null
  }

  /** Closes and returns the next due group; null if none is due. */
  takeDue(monotonicMs: number): WhaleGroup | null {
    const group = this.#skipClosed()
    if (group === null || group.dueAtMs > monotonicMs) return null
    this.#nextToClose += 1
    group.isOpen = false
    return group
  }

  /** Drops the groups of a permanently removed market. */
  removeMarket(market: MarketNumber): void {
    for (const group of this.#byMarket.get(market)?.values() ?? []) group.isOpen = false
    this.#byMarket.delete(market)
  }

  /** Drops all groups; returns the open ones. */
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
