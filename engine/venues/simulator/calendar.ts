// Calendar of the simulated world. Its events at any time follow from the seed, the number of markets and the wall
// clock, so a restart continues the same world.

import { MINUTE_MS, type TimeMs } from '../../units.ts'
import { SIM_VENUES, type SimTeam, type SimVenue } from './model.ts'
import {
  inCreationOrder,
  type Numbering,
  type PlannedEvent,
  planCycle,
  slotOfNumber,
} from './questions/planning.ts'
import { createdOf, presentFrom } from './questions/slot-times.ts'
import { planSlots, type Slot } from './questions/slots.ts'
import { allTeams } from './questions/teams.ts'

export type { PlannedEvent, PlannedMarket } from './questions/planning.ts'

/** createdBetween plans this many milliseconds ahead at once, so that most calls only search the plan. */
const HORIZON_MS = 10 * MINUTE_MS

/** Default share of protocol v2 among venue a's markets. */
export const V2_SHARE = 0.5

interface Announcement {
  readonly createdMs: number
  readonly slot: Slot
  readonly venue: SimVenue
  readonly cycle: number
}

export class Calendar {
  readonly #slots: readonly Slot[]
  readonly #numbering: Numbering
  /** Announcements in (#indexedFromMs, #indexedToMs], in order of time. Any call may replace this cache. */
  #announcements: readonly Announcement[] = []
  #indexedFromMs = 0
  #indexedToMs = 0

  /**
   * `marketsPerVenue`: 20 to 100,000; each venue has exactly this many at any moment. `v2Share`: share of venue a's
   * markets under protocol v2. It changes only their ids.
   */
  constructor(options: { seed: number; marketsPerVenue: number; v2Share?: number }) {
    this.#slots = planSlots(options)
    const last = this.#slots[this.#slots.length - 1]
    this.#numbering = {
      seed: options.seed,
      slotCount: this.#slots.length,
      marketCounts: { a: last?.marketsEnd.a ?? 0, b: last?.marketsEnd.b ?? 0 },
      v2Share: options.v2Share ?? V2_SHARE,
    }
  }

  /** Events of both venues that are announced now, without those resolved more than two days ago. In creation order. */
  eventsAt(atMs: TimeMs): readonly PlannedEvent[] {
    const events: PlannedEvent[] = []
    for (const slot of this.#slots) {
      const { copies } = slot.variant
      const first = { a: presentFrom(slot, 'a', atMs), b: presentFrom(slot, 'b', atMs) }
      const from = Math.min(...slot.venues.map((venue) => first[venue]))
      const to = Math.max(...slot.venues.map((venue) => first[venue])) + copies
      for (let cycle = from; cycle < to; cycle += 1) {
        const isPresent = (venue: SimVenue): boolean =>
          cycle >= first[venue] && cycle < first[venue] + copies
        planCycle(this.#numbering, slot, cycle, isPresent, events)
      }
    }
    return inCreationOrder(events)
  }

  /** Events announced in (fromMs, toMs], in creation order. */
  createdBetween(fromMs: TimeMs, toMs: TimeMs): readonly PlannedEvent[] {
    if (fromMs < this.#indexedFromMs || toMs > this.#indexedToMs) this.#index(fromMs, toMs)
    const events: PlannedEvent[] = []
    for (let at = this.#firstAfter(fromMs); at < this.#announcements.length; at += 1) {
      const next = this.#announcements[at]
      if (next === undefined || next.createdMs > toMs) break
      planCycle(this.#numbering, next.slot, next.cycle, (venue) => venue === next.venue, events)
    }
    return inCreationOrder(events)
  }

  /** The venue's event with this number, whether past, present or future. Null: no event has this number. */
  eventNumbered(venue: SimVenue, number: number): PlannedEvent | null {
    const { ordinal, cycle } = slotOfNumber(this.#numbering, number)
    const slot = this.#slots[ordinal]
    if (slot === undefined) return null
    const events: PlannedEvent[] = []
    planCycle(this.#numbering, slot, cycle, (wanted) => wanted === venue, events)
    return events.find(({ event }) => event.number === number) ?? null
  }

  teams(): readonly { league: string; team: SimTeam }[] {
    return allTeams()
  }

  #index(fromMs: number, toMs: number): void {
    const endMs = Math.max(toMs, fromMs + HORIZON_MS)
    const found: Announcement[] = []
    for (const slot of this.#slots) {
      for (const venue of SIM_VENUES) {
        if (!slot.venues.includes(venue)) continue
        // The cycle to announce next is the one after the last cycle that exists at that time.
        let cycle = presentFrom(slot, venue, fromMs) + slot.variant.copies
        for (;;) {
          const createdMs = createdOf(slot, venue, cycle)
          if (createdMs > endMs) break
          found.push({ createdMs, slot, venue, cycle })
          cycle += 1
        }
      }
    }
    this.#announcements = found.sort((left, right) => left.createdMs - right.createdMs)
    this.#indexedFromMs = fromMs
    this.#indexedToMs = endMs
  }

  #firstAfter(fromMs: number): number {
    let low = 0
    let high = this.#announcements.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#announcements[middle]?.createdMs ?? 0) > fromMs) high = middle
      else low = middle + 1
    }
    return low
  }
}
