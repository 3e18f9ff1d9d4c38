// Calendar of the simulated world. Its events at any time follow from the seed, the number of markets and the wall
// clock, so a restart continues the same world.

import { LRUCache } from 'lru-cache'
import { HOUR_MS, MINUTE_MS, type TimeMs } from '../../units.ts'
import { SIM_VENUES, type SimTeam, type SimVenue } from './model.ts'
import {
  byCreation,
  cycleNumbers,
  type EventOutline,
  type Numbering,
  outlineCycle,
  type PlannedEvent,
  planCycle,
  slotOfNumber,
} from './questions/planning.ts'
import { isLarge } from './questions/question.ts'
import { createdOf, presentFrom } from './questions/slot-times.ts'
import { planSlots, type Slot } from './questions/slots.ts'
import { allTeams } from './questions/teams.ts'

export type { EventOutline, PlannedEvent, PlannedMarket } from './questions/planning.ts'

const HORIZON_MS = 10 * MINUTE_MS
const HORIZON_LARGE_MS = 6 * HOUR_MS

/** 10,000 markets with their texts use about 30 MB. */
const CACHED_MARKETS_MAX = 10_000

export const V2_SHARE = 0.5

/**
 * The methods return the outlines of the events that the methods `eventsAt`, `createdBetween` and `eventNumbered` plan.
 */
interface Outlines {
  at(atMs: TimeMs): readonly EventOutline[]
  between(fromMs: TimeMs, toMs: TimeMs): readonly EventOutline[]
  numbered(venue: SimVenue, number: number): EventOutline | null
}

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
  /** Plans of a large world, by the first event number of their cycles. */
  readonly #plans = new LRUCache<number, PlannedEvent[]>({
    maxSize: CACHED_MARKETS_MAX,
    sizeCalculation: (events) => events.reduce((sum, { markets }) => sum + markets.length, 0),
  })

  /**
   * `marketsPerVenue`: 20 to 250,000. Each venue always has exactly this many. `v2Share`: share of venue a's markets
   * under protocol v2. The share changes only ids.
   */
  constructor(options: { seed: number; marketsPerVenue: number; v2Share?: number }) {
    this.#slots = planSlots(options)
    const last = this.#slots[this.#slots.length - 1]
    this.#numbering = {
      seed: options.seed,
      isLarge: isLarge(options),
      slotCount: this.#slots.length,
      marketCounts: { a: last?.marketsEnd.a ?? 0, b: last?.marketsEnd.b ?? 0 },
      v2Share: options.v2Share ?? V2_SHARE,
    }
  }

  get #isLarge(): boolean {
    return this.#numbering.isLarge
  }

  get outlines(): Outlines | null {
    if (!this.#isLarge) return null
    return {
      at: (atMs) => this.#outlinesAt(atMs),
      between: (fromMs, toMs) => this.#outlinesBetween(fromMs, toMs),
      numbered: (venue, number) => this.#outlineNumbered(venue, number),
    }
  }

  #outlinesAt(atMs: TimeMs): readonly EventOutline[] {
    const outlines: EventOutline[] = []
    const numbering = this.#numbering
    for (const slot of this.#slots) {
      for (const venue of slot.venues) {
        const first = presentFrom(slot, venue, atMs)
        for (let cycle = first; cycle < first + slot.variant.copies; cycle += 1) {
          outlineCycle({ numbering, slot, cycle }, venue, outlines)
        }
      }
    }
    return outlines.sort(byCreation)
  }

  #outlineNumbered(venue: SimVenue, number: number): EventOutline | null {
    const numbering = this.#numbering
    const { ordinal, cycle } = slotOfNumber(numbering, number)
    const slot = this.#slots[ordinal]
    const outlines: EventOutline[] = []
    if (slot?.venues.includes(venue) === true) {
      outlineCycle({ numbering, slot, cycle }, venue, outlines)
    }
    return outlines.find((outline) => outline.number === number) ?? null
  }

  #outlinesBetween(fromMs: TimeMs, toMs: TimeMs): readonly EventOutline[] {
    const outlines: EventOutline[] = []
    const numbering = this.#numbering
    for (const { slot, venue, cycle } of this.#announced(fromMs, toMs)) {
      outlineCycle({ numbering, slot, cycle }, venue, outlines)
    }
    return outlines.sort(byCreation)
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
    return events.sort((left, right) => byCreation(left.event, right.event))
  }

  createdBetween(fromMs: TimeMs, toMs: TimeMs): readonly PlannedEvent[] {
    const events: PlannedEvent[] = []
    for (const { slot, venue, cycle } of this.#announced(fromMs, toMs)) {
      planCycle(this.#numbering, slot, cycle, (wanted) => wanted === venue, events)
    }
    return events.sort((left, right) => byCreation(left.event, right.event))
  }

  *#announced(fromMs: TimeMs, toMs: TimeMs): Generator<Announcement> {
    if (fromMs < this.#indexedFromMs || toMs > this.#indexedToMs) this.#index(fromMs, toMs)
    for (let at = this.#firstAfter(fromMs); at < this.#announcements.length; at += 1) {
      const next = this.#announcements[at]
      if (next === undefined || next.createdMs > toMs) return
      yield next
    }
  }

  /** The event may be past, present or future. Null: no event has this number. */
  eventNumbered(venue: SimVenue, number: number): PlannedEvent | null {
    const { ordinal, cycle } = slotOfNumber(this.#numbering, number)
    const slot = this.#slots[ordinal]
    if (slot === undefined) return null
    const events = this.#isLarge ? this.#cachedPlans(number, slot, cycle) : []
    if (!this.#isLarge) planCycle(this.#numbering, slot, cycle, (each) => each === venue, events)
    return events.find(({ event }) => event.venue === venue && event.number === number) ?? null
  }

  #cachedPlans(number: number, slot: Slot, cycle: number): PlannedEvent[] {
    const [key = number] = cycleNumbers(number)
    const cached = this.#plans.get(key)
    if (cached !== undefined) return cached
    const events: PlannedEvent[] = []
    planCycle(this.#numbering, slot, cycle, () => true, events)
    this.#plans.set(key, events)
    return events
  }

  teams(): readonly { league: string; team: SimTeam }[] {
    return allTeams()
  }

  #index(fromMs: number, toMs: number): void {
    const horizonMs = this.#isLarge ? HORIZON_LARGE_MS : HORIZON_MS
    const endMs = Math.max(toMs, fromMs + horizonMs)
    const found: Announcement[] = []
    for (const slot of this.#slots) {
      for (const venue of SIM_VENUES) {
        if (!slot.venues.includes(venue)) continue
        // The last cycle that exists at `fromMs` is announced already.
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
