// Draws a random market with a probability proportional to its activity, in O(log n). It is a Fenwick tree over slots
// with integer weights.

import type { Random } from '../../../random.ts'

export class ActivityTree<Member> {
  /** sums[i] is the sum of the weights of the slots from i − lowbit(i) to i − 1. */
  #sums = new Float64Array(1025)
  #weights = new Float64Array(1024)
  readonly #members: (Member | null)[] = []
  readonly #free: number[] = []
  #total = 0

  /** Upper bound, exclusive, of the arguments of `memberAt`. */
  get slotCount(): number {
    return this.#members.length
  }

  memberAt(slot: number): Member | null {
    return this.#members[slot] ?? null
  }

  /** Returns the slot. `activity` is relative, at least one thousandth. */
  add(member: Member, activity: number): number {
    const slot = this.#free.pop() ?? this.#members.length
    if (slot >= this.#weights.length) this.#grow()
    this.#members[slot] = member
    this.#change(slot, Math.max(1, Math.round(activity * 1000)))
    return slot
  }

  remove(slot: number): void {
    if (this.memberAt(slot) === null) return
    this.#members[slot] = null
    this.#change(slot, 0)
    this.#free.push(slot)
  }

  /** Null: the tree is empty. */
  draw(random: Random): Member | null {
    if (this.#total === 0) return null
    let rest = Math.floor(random.next() * this.#total)
    let position = 0
    for (let step = this.#weights.length; step > 0; step >>= 1) {
      const next = position + step
      const sum = this.#sums[next]
      if (sum !== undefined && sum <= rest) {
        position = next
        rest -= sum
      }
    }
    return this.memberAt(position)
  }

  #change(slot: number, weight: number): void {
    const difference = weight - (this.#weights[slot] ?? 0)
    this.#weights[slot] = weight
    this.#total += difference
    for (let node = slot + 1; node < this.#sums.length; node += node & -node) {
      this.#sums[node] = (this.#sums[node] ?? 0) + difference
    }
  }

  #grow(): void {
    const weights = this.#weights
    this.#weights = new Float64Array(weights.length * 2)
    this.#sums = new Float64Array(weights.length * 2 + 1)
    this.#total = 0
    for (let slot = 0; slot < weights.length; slot += 1) this.#change(slot, weights[slot] ?? 0)
  }
}
