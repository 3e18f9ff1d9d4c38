// The cached groups of fills in order of creation. New groups are open for more fills. Older groups are closed and
// cached for late fills.
//
//   evicted │ closed, cached │ open
//           oldest           next to close

import { whaleGroupsMax, whaleRetentionMs, whaleSpreadMs } from '../../engine/limits.ts'
import type { MarketNumber, MarketRef } from '../../engine/market/market.ts'
import type { FillSum } from '../../engine/whale.ts'
import type { StoredWhale } from '../../storage/contract/storage.ts'

const CUT_AT = 1_024

/**
 * Maximum time by which a venue's clock may be ahead. Without the limit, a single fill in the far future would make
 * every later fill look like a fill of an evicted group.
 */
const CLOCKS_APART_MS = 60_000

export interface WhaleGroup {
  readonly market: MarketRef
  readonly key: string
  sum: FillSum
  readonly dueAtMs: number
  isOpen: boolean
  /** Whether stored fills may be missing from the sum. They must be added before the sum is used. */
  isPartial: boolean
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

  constructor(groupsMax = whaleGroupsMax) {
    this.#groupsMax = groupsMax
  }

  get count(): number {
    return this.#queue.length - this.#oldest
  }

  get(market: MarketNumber, key: string): WhaleGroup | null {
    return this.#byMarket.get(market)?.get(key) ?? null
  }

  mayBeEvicted(timeMs: number, nowMs: number): boolean {
    return timeMs <= this.#evictedToMs + whaleSpreadMs || timeMs > nowMs + CLOCKS_APART_MS
  }

  noteEvicted(timeMs: number, nowMs: number): void {
    const boundedMs = Math.min(timeMs, nowMs + CLOCKS_APART_MS)
    if (boundedMs > this.#evictedToMs) this.#evictedToMs = boundedMs
  }

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
   * Evicts and returns the oldest group if it has expired or too many are cached, else null. The group may still be
   * open.
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

  get nextDueMs(): number | null {
    return this.#skipClosed()?.dueAtMs ?? null
  }

  /** Closes and returns the next due group, or null. */
  takeDue(monotonicMs: number): WhaleGroup | null {
    const group = this.#skipClosed()
    if (group === null || group.dueAtMs > monotonicMs) return null
    this.#nextToClose += 1
    group.isOpen = false
    return group
  }

  removeMarket(market: MarketNumber): void {
    for (const group of this.#byMarket.get(market)?.values() ?? []) group.isOpen = false
    this.#byMarket.delete(market)
  }

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
