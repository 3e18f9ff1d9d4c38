// The stale books of one venue. A snapshot of each is requested until it arrives. Books that became stale because this
// process was slow ("late" books) are requested a few at a time, because all their snapshots at once would cause the
// next delay.

import {
  firstBookMsMax,
  lateBooksPerCheckMax,
  lateBooksShare,
  staleRetryMs,
} from '../../engine/limits.ts'
import type { KnownMarket } from '../catalog/catalog.ts'

const BATCH = 500

export class StaleBooks {
  readonly #dueAtMs = new Map<KnownMarket, number>()
  readonly #deferred = new Set<KnownMarket>()
  readonly #late = new Set<KnownMarket>()

  get count(): number {
    return this.#dueAtMs.size + this.#deferred.size
  }

  get lateCount(): number {
    return this.#late.size
  }

  add(market: KnownMarket, nowMs: number): void {
    this.#deferred.delete(market)
    const dueAtMs = nowMs + staleRetryMs
    if ((this.#dueAtMs.get(market) ?? Number.POSITIVE_INFINITY) > dueAtMs) {
      this.#dueAtMs.set(market, dueAtMs)
    }
  }

  addFirst(market: KnownMarket, nowMs: number): void {
    if (!this.#dueAtMs.has(market)) this.#dueAtMs.set(market, nowMs + firstBookMsMax)
  }

  defer(market: KnownMarket): void {
    this.#dueAtMs.delete(market)
    this.#deferred.add(market)
    this.#late.add(market)
  }

  remove(market: KnownMarket): void {
    this.#dueAtMs.delete(market)
    this.#deferred.delete(market)
    this.#late.delete(market)
  }

  takeDue(nowMs: number): KnownMarket[] {
    const due: KnownMarket[] = []
    for (const [market, dueAtMs] of this.#dueAtMs) {
      if (due.length === BATCH) break
      if (nowMs >= dueAtMs) due.push(market)
    }
    for (const market of due) {
      this.#dueAtMs.delete(market)
      this.#dueAtMs.set(market, nowMs + staleRetryMs)
    }
    return due
  }

  /** Returns the deferred books that have waited longest, and records a request for each. */
  takeDeferred(nowMs: number): KnownMarket[] {
    const count = Math.max(lateBooksPerCheckMax, Math.ceil(this.#deferred.size * lateBooksShare))
    const some = first(this.#deferred, count)
    for (const market of some) this.add(market, nowMs)
    return some
  }
}

function first<Item>(items: Iterable<Item>, count: number): Item[] {
  const some: Item[] = []
  for (const item of items) {
    if (some.length === count) break
    some.push(item)
  }
  return some
}
