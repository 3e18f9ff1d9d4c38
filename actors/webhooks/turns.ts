// Whose turn it is among the webhooks that have something to send: those that succeed and those that
// fail alternate, and within each each webhook has its turn, so that one with many events waits behind
// every other after each of them. Not for: what it sends (actors/webhooks/queue.ts). Upholds DELIVER8.

import type { DeliveryQueue } from './queue.ts'

/** Bounded by the webhooks. */
export class DeliveryTurns {
  readonly #healthy = new Set<DeliveryQueue>()
  readonly #failing = new Set<DeliveryQueue>()
  #isFailingNext = false

  /** Behind those that wait; nothing changes for one that waits already. */
  add(queue: DeliveryQueue): void {
    const [own, other] = queue.isFailing
      ? [this.#failing, this.#healthy]
      : [this.#healthy, this.#failing]
    other.delete(queue)
    own.add(queue)
  }

  /** It fails now, or does not any more: when it waits, it waits among the others. */
  refile(queue: DeliveryQueue): void {
    if (this.#healthy.has(queue) || this.#failing.has(queue)) this.add(queue)
  }

  remove(queue: DeliveryQueue): void {
    this.#healthy.delete(queue)
    this.#failing.delete(queue)
  }

  /** Takes out the one whose turn it is; failing ones only when they may have it. */
  take(mayFailing: boolean): DeliveryQueue | null {
    const failing = mayFailing ? first(this.#failing) : null
    const healthy = first(this.#healthy)
    const taken = this.#isFailingNext ? (failing ?? healthy) : (healthy ?? failing)
    if (taken === null) return null
    this.#isFailingNext = taken === healthy
    this.remove(taken)
    return taken
  }
}

function first<Item>(items: ReadonlySet<Item>): Item | null {
  for (const item of items) return item
  return null
}
