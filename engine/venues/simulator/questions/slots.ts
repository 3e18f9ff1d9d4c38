// Selects the recurring questions of a world. Both venues list a third of them. A quarter of these are traps.

import { MINUTE_MS } from '../../../units.ts'
import { SIM_VENUES, type SimPairKind, type SimVenue } from '../model.ts'
import { FAMILIES } from './families.ts'
import { chanceOf } from './path.ts'
import type { Family, Variant, WorldSize } from './question.ts'

export interface Slot {
  readonly ordinal: number
  readonly family: Family
  readonly variant: Variant
  readonly venues: readonly SimVenue[]
  /** `same` if the question is no trap or only one venue lists it. */
  readonly trap: SimPairKind
  /** Range of the market indices of its copies at each venue. The end is exclusive. */
  readonly marketsStart: Readonly<Record<SimVenue, number>>
  readonly marketsEnd: Readonly<Record<SimVenue, number>>
  /** Minimum time from the close to the result, and from the result to the resolution. */
  readonly determineMs: Readonly<Record<SimVenue, number>>
  readonly resolveMs: Readonly<Record<SimVenue, number>>
}

const PAIRED_SHARE = 1 / 3
const TRAP_SHARE = 1 / 4

/** The slots of a world in a fixed order. Each venue has exactly `marketsPerVenue` markets. */
export function planSlots(size: WorldSize): readonly Slot[] {
  const plan = new SlotPlan(size)
  const carry = { a: 0, b: 0 }
  FAMILIES.forEach((family, index) => {
    const isLast = index === FAMILIES.length - 1
    for (const venue of SIM_VENUES) {
      carry[venue] = isLast
        ? size.marketsPerVenue - plan.used(venue)
        : carry[venue] + family.share * size.marketsPerVenue
    }
    plan.fill(family, carry)
  })
  return plan.slots
}

class SlotPlan {
  readonly slots: Slot[] = []
  readonly #size: WorldSize
  readonly #used: Record<SimVenue, number> = { a: 0, b: 0 }
  #questionCount = 0
  #pairedCount = 0
  #trapCount = 0
  readonly #trapCounts = new Map<SimPairKind, number>()

  constructor(size: WorldSize) {
    this.#size = size
  }

  used(venue: SimVenue): number {
    return this.#used[venue]
  }

  fill(family: Family, budget: Record<SimVenue, number>): void {
    let refusals = 0
    for (let ordinal = 0; refusals < 4; ordinal += 1) {
      const variant = family.variant(ordinal, this.#size)
      if (variant === null) return
      const venues = this.#venuesOf(variant, budget)
      if (venues.length === 0) {
        refusals += 1
        continue
      }
      for (const venue of venues) budget[venue] -= variant.counts[venue] * variant.copies
      this.#add(family, variant, venues)
    }
  }

  /**
   * Both venues if too few questions are paired and both venues have capacity. Otherwise the venue with more capacity,
   * if it is sufficient.
   */
  #venuesOf(variant: Variant, budget: Record<SimVenue, number>): readonly SimVenue[] {
    const fits = SIM_VENUES.filter(
      (venue) =>
        variant.counts[venue] > 0 && variant.counts[venue] * variant.copies <= budget[venue] + 1e-6,
    )
    const { a, b, shared } = variant.questions
    const all = this.#questionCount + (a + b - shared) * variant.copies
    const isWanting = this.#pairedCount + (shared * variant.copies) / 2 <= all * PAIRED_SHARE
    if (fits.length === 2 && isWanting) return fits
    if (fits.length < 2) return fits
    return budget.a >= budget.b ? ['a'] : ['b']
  }

  #add(family: Family, variant: Variant, venues: readonly SimVenue[]): void {
    const isPaired = venues.length === 2
    const shared = isPaired ? variant.questions.shared * variant.copies : 0
    const trap = isPaired ? this.#trapOf(variant, shared) : 'same'
    for (const venue of venues) this.#questionCount += variant.questions[venue] * variant.copies
    this.#questionCount -= shared
    this.#pairedCount += shared
    if (trap !== 'same') {
      this.#trapCount += shared
      this.#trapCounts.set(trap, (this.#trapCounts.get(trap) ?? 0) + shared)
    }
    const marketsStart = { ...this.#used }
    for (const venue of venues) this.#used[venue] += variant.counts[venue] * variant.copies
    const delay = (venue: SimVenue, purpose: string): number =>
      chanceOf(variant.key, venue, purpose)
    this.slots.push({
      ordinal: this.slots.length,
      family,
      variant,
      venues,
      trap,
      marketsStart,
      marketsEnd: { ...this.#used },
      determineMs: {
        a: (2 + 8 * delay('a', 'determine')) * MINUTE_MS,
        b: (1 + 4 * delay('b', 'determine')) * MINUTE_MS,
      },
      resolveMs: {
        a: (8 + 30 * delay('a', 'resolve')) * MINUTE_MS,
        b: (3 + 20 * delay('b', 'resolve')) * MINUTE_MS,
      },
    })
  }

  #trapOf(variant: Variant, questions: number): SimPairKind {
    if (this.#trapCount + questions / 2 > (this.#pairedCount + questions) * TRAP_SHARE)
      return 'same'
    let best: SimPairKind = 'same'
    let least = Number.POSITIVE_INFINITY
    for (const trap of variant.traps) {
      const count = this.#trapCounts.get(trap) ?? 0
      if (count < least) {
        least = count
        best = trap
      }
    }
    return best
  }
}
