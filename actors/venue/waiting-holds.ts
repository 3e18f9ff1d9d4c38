// Holds of markets for which no place was free, of one venue. Free places are given to the owners in turn.

import type { HoldReason } from '../../engine/coverage-policy.ts'
import { waitingHoldsMax, waitingHoldsOfOwnerMax } from '../../engine/limits.ts'
import type { MarketNumber } from '../../engine/market/market.ts'

export interface WaitingHold {
  readonly market: MarketNumber
  readonly owner: string
  readonly reason: HoldReason
  /** Number of releases that end the hold. */
  readonly count: number
}

type HoldKey = Pick<WaitingHold, 'market' | 'owner' | 'reason'>

export class WaitingHolds {
  /** The owner whose turn is next comes first, and the oldest hold of each owner. */
  readonly #byOwner = new Map<string, Map<string, WaitingHold>>()
  #count = 0

  get count(): number {
    return this.#count
  }

  /** Returns false if too many holds wait. */
  add(hold: WaitingHold): boolean {
    const { owner } = hold
    const holds = this.#byOwner.get(owner) ?? new Map<string, WaitingHold>()
    const key = keyOf(hold)
    const existing = holds.get(key)
    if (existing === undefined) {
      if (this.#count >= waitingHoldsMax || holds.size >= waitingHoldsOfOwnerMax) return false
      this.#count += 1
    }
    holds.set(key, { ...hold, count: hold.count + (existing?.count ?? 0) })
    this.#byOwner.set(owner, holds)
    return true
  }

  /** Returns false if no such hold waits. */
  release(hold: HoldKey): boolean {
    const key = keyOf(hold)
    const existing = this.#byOwner.get(hold.owner)?.get(key)
    if (existing === undefined) return false
    if (existing.count > 1) {
      this.#byOwner.get(hold.owner)?.set(key, { ...existing, count: existing.count - 1 })
    } else this.#remove(existing)
    return true
  }

  /** Removes the oldest hold of the owner whose turn it is. Null if none waits. */
  next(): WaitingHold | null {
    for (const [owner, holds] of this.#byOwner) {
      const [hold] = holds.values()
      if (hold === undefined) return null
      this.#byOwner.delete(owner)
      this.#byOwner.set(owner, holds)
      this.#remove(hold)
      return hold
    }
    return null
  }

  #remove(hold: WaitingHold): void {
    const holds = this.#byOwner.get(hold.owner)
    if (holds?.delete(keyOf(hold)) !== true) return
    this.#count -= 1
    if (holds.size === 0) this.#byOwner.delete(hold.owner)
  }
}

const keyOf = ({ market, reason }: HoldKey): string => `${market} ${reason}`
