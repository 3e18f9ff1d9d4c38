// The books of one venue that wait for a fresh snapshot, which is requested until it arrives. Books that went stale
// because this process was slow wait separately. They are requested a few at a time when there is capacity: all their
// snapshots at once would cause the next delay.

import { lateBooksPerCheckMax, lateBooksShare, staleRetryMs } from '../../engine/limits.ts'
import type { KnownMarket } from '../catalog/catalog.ts'

/** Maximum books requested per call, the longest waiting first. */
const BATCH = 500

export class StaleBooks {
  /** Monotonic time of the last request of each book. */
  readonly #requestedAtMs = new Map<KnownMarket, number>()
  /** Late books that have not been requested. */
  readonly #deferred = new Set<KnownMarket>()
  /** All books that went stale by delay. */
  readonly #late = new Set<KnownMarket>()

  get count(): number {
    return this.#requestedAtMs.size + this.#deferred.size
  }

  /** Number of books that went stale by delay and are not fresh again. */
  get lateCount(): number {
    return this.#late.size
  }

  /** Records that the book is requested now, whether or not it was deferred. */
  add(market: KnownMarket, nowMs: number): void {
    this.#deferred.delete(market)
    if (!this.#requestedAtMs.has(market)) this.#requestedAtMs.set(market, nowMs)
  }

  /** The book went stale by delay: it is requested when there is capacity. */
  defer(market: KnownMarket): void {
    this.#requestedAtMs.delete(market)
    this.#deferred.add(market)
    this.#late.add(market)
  }

  remove(market: KnownMarket): void {
    this.#requestedAtMs.delete(market)
    this.#deferred.delete(market)
    this.#late.delete(market)
  }

  /** Takes the books whose last request is over `staleRetryMs` ago, and records a new request. */
  takeDue(nowMs: number): KnownMarket[] {
    const due: KnownMarket[] = []
    for (const [market, requestedAtMs] of this.#requestedAtMs) {
      if (due.length === BATCH) break
      if (nowMs - requestedAtMs >= staleRetryMs) due.push(market)
    }
    for (const market of due) {
      this.#requestedAtMs.delete(market)
      this.#requestedAtMs.set(market, nowMs)
    }
    return due
  }

  /** Takes some deferred books, the longest waiting first, and records a request. */
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
