// The calendar of the invented world: which events exist at any time, a pure function of the seed,
// the number of markets and the wall clock. A slot's cycle n is announced the moment its cycle
// n − copies drops out, so that the number of markets never changes.
// Not for: motion (world.ts) nor wire forms (the servers). Upholds SIMCAL1 to SIMCAL8.

import { VENUE_KEYS, type VenueKey } from '../../ids.ts'
import { type TimeMs, timeMs } from '../../units.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from './eastern.ts'
import { chainIds, uuidOf } from './identity.ts'
import type { SimEvent, SimListing, SimPairKind, SimTeam } from './model.ts'
import { chanceOf } from './path.ts'
import type { EventDraft, MarketDraft, View } from './questions.ts'
import { planSlots, type Slot } from './slots.ts'
import { allTeams } from './teams.ts'

/** One market of the calendar, with what world.ts needs to move it. */
export interface PlannedMarket {
  /**
   * `index` is dense and unique among the markets that exist at one moment: a market takes over the
   * index of the one that dropped out when it was announced. `number` is never reused.
   */
  readonly listing: SimListing
  /** Chance of the first outcome at opening, 0..1 exclusive. */
  readonly prior: number
  /** Markets with the same key are moved by the same noise (strikes of a grid, both venues' listings). */
  readonly moverKey: string
  /** The first outcome is the complement of the question's Yes. */
  readonly isInverted: boolean
}

/** An event and its markets. */
export interface PlannedEvent {
  readonly event: Omit<SimEvent, 'markets'>
  readonly markets: readonly PlannedMarket[]
}

const RETENTION_MS = 2 * DAY_MS
/** createdBetween looks this far ahead at once, so that most calls are a binary search. */
const HORIZON_MS = 10 * MINUTE_MS
/** Cycles are counted from 1970; a little more keeps numbers positive near it. */
const CYCLES_BEFORE = 1000

interface Announcement {
  readonly createdMs: number
  readonly slot: Slot
  readonly venue: VenueKey
  readonly cycle: number
}

/** All events of both venues, by time. */
export class Calendar {
  readonly #seed: number
  readonly #slots: readonly Slot[]
  readonly #marketCounts: Record<VenueKey, number>
  readonly #eventCount: number
  #announcements: readonly Announcement[] = []
  #indexedFromMs = 0
  #indexedToMs = 0

  /** `marketsPerVenue` from 20 to 100,000. */
  constructor(options: { seed: number; marketsPerVenue: number }) {
    this.#seed = options.seed
    this.#slots = planSlots(options)
    const last = this.#slots[this.#slots.length - 1]
    this.#marketCounts = { a: last?.marketsEnd.a ?? 0, b: last?.marketsEnd.b ?? 0 }
    this.#eventCount = this.#slots.length * EVENTS_PER_CYCLE
  }

  /** Events of both venues: announced and not resolved for more than two days, in creation order. */
  eventsAt(atMs: TimeMs): readonly PlannedEvent[] {
    const events: PlannedEvent[] = []
    for (const slot of this.#slots) {
      const firsts = { a: presentFrom(slot, 'a', atMs), b: presentFrom(slot, 'b', atMs) }
      const from = Math.min(firsts.a, firsts.b)
      const to = Math.max(firsts.a, firsts.b) + slot.variant.copies
      for (let cycle = from; cycle < to; cycle += 1) {
        const isPresent = (venue: VenueKey): boolean =>
          cycle >= firsts[venue] && cycle < firsts[venue] + slot.variant.copies
        this.#build(slot, cycle, isPresent, events)
      }
    }
    return inOrder(events)
  }

  /** Events announced in (fromMs, toMs], in creation order. */
  createdBetween(fromMs: TimeMs, toMs: TimeMs): readonly PlannedEvent[] {
    if (fromMs < this.#indexedFromMs || toMs > this.#indexedToMs) this.#index(fromMs, toMs)
    const events: PlannedEvent[] = []
    for (let at = this.#firstAfter(fromMs); at < this.#announcements.length; at += 1) {
      const next = this.#announcements[at]
      if (next === undefined || next.createdMs > toMs) break
      this.#build(next.slot, next.cycle, (venue) => venue === next.venue, events)
    }
    return inOrder(events)
  }

  /** Every league's teams and players. */
  teams(): readonly { league: string; team: SimTeam }[] {
    return allTeams()
  }

  #index(fromMs: number, toMs: number): void {
    const endMs = Math.max(toMs, fromMs + HORIZON_MS)
    const found: Announcement[] = []
    for (const slot of this.#slots) {
      for (const venue of VENUE_KEYS) {
        if (slot.variant.counts[venue] === 0 || !slot.venues.includes(venue)) continue
        // The cycle announced next is the one that follows those present.
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

  /** Adds the cycle's events at the wanted venues; both are drafted, since pairs name each other. */
  #build(
    slot: Slot,
    cycle: number,
    isWanted: (venue: VenueKey) => boolean,
    into: PlannedEvent[],
  ): void {
    const wanted = VENUE_KEYS.filter((venue) => slot.venues.includes(venue) && isWanted(venue))
    if (wanted.length === 0) return
    const drafts = new Map<VenueKey, readonly EventDraft[]>()
    for (const venue of slot.venues) {
      drafts.set(venue, slot.variant.ask(viewOf({ seed: this.#seed, slot, venue, cycle })))
    }
    const natives = new Map<VenueKey, ReadonlyMap<string, string>>()
    for (const [venue, events] of drafts) {
      natives.set(venue, nativesOf({ seed: this.#seed, slot, venue, cycle }, events))
    }
    for (const venue of wanted) {
      const others = natives.get(venue === 'a' ? 'b' : 'a') ?? null
      this.#plan({ slot, venue, cycle, drafts: drafts.get(venue) ?? [], others }, into)
    }
  }

  #plan(
    cycleOf: {
      slot: Slot
      venue: VenueKey
      cycle: number
      drafts: readonly EventDraft[]
      others: ReadonlyMap<string, string> | null
    },
    into: PlannedEvent[],
  ): void {
    const { slot, venue, cycle, drafts, others } = cycleOf
    const { variant } = slot
    const times = timesOf(slot, venue, cycle)
    const ring = ((cycle % variant.copies) + variant.copies) % variant.copies
    let position = 0
    drafts.forEach((draft, eventIndex) => {
      const markets = draft.markets.map((market) => {
        const at = position
        position += 1
        return this.#planMarket({ slot, venue, cycle, draft, market, times, others, at, ring })
      })
      into.push({
        event: {
          venue,
          number:
            (cycle + CYCLES_BEFORE) * this.#eventCount +
            slot.ordinal * EVENTS_PER_CYCLE +
            eventIndex,
          nativeId: draft.nativeId,
          series: draft.series,
          seriesTitle: draft.seriesTitle,
          title: draft.title,
          subtitle: draft.subtitle,
          description: draft.description,
          category: draft.category,
          tags: draft.tags,
          topic: slot.family.topic,
          isMutuallyExclusive: draft.isMutuallyExclusive,
          createdMs: times.createdMs,
          endMs: times.closeMs,
          game: draft.game,
        },
        markets,
      })
    })
  }

  #planMarket(entry: {
    slot: Slot
    venue: VenueKey
    cycle: number
    draft: EventDraft
    market: MarketDraft
    times: Times
    others: ReadonlyMap<string, string> | null
    /** Which market of the cycle. */
    at: number
    /** Which of the copies. */
    ring: number
  }): PlannedMarket {
    const { slot, venue, cycle, market, times, others } = entry
    const key = marketKey({ seed: this.#seed, slot, venue, cycle }, entry.draft, market)
    const chain = venue === 'a' ? chainIds(key) : null
    const nativeId = chain?.conditionId ?? market.slug
    const other = market.isPairable ? (others?.get(market.questionKey) ?? null) : null
    const count = slot.variant.counts[venue]
    const cycleKey = `${slot.variant.key}:${cycle}`
    return {
      listing: {
        venue,
        index: slot.marketsStart[venue] + entry.ring * count + entry.at,
        number:
          (cycle + CYCLES_BEFORE) * this.#marketCounts[venue] +
          slot.marketsStart[venue] +
          entry.at,
        nativeId,
        uuid: uuidOf(key),
        slug: venue === 'a' ? market.slug : market.slug.toLowerCase(),
        tokens: chain?.tokens ?? [`${nativeId}:yes`, `${nativeId}:no`],
        outcomes: market.outcomes,
        question: market.question,
        shortTitle: market.shortTitle,
        noShortTitle: market.noShortTitle,
        rules: market.rules,
        rulesSecondary: market.rulesSecondary,
        strike: market.strike,
        sportsMarketType: market.sportsMarketType,
        line: market.line,
        ...times,
        payout: market.payout,
        questionKey: `${cycleKey}:${market.questionKey}`,
        pair: other === null ? null : { otherNativeId: other, kind: slot.trap },
        activity: activityOf(slot, market, cycleKey),
      },
      prior: market.chance,
      moverKey: `${cycleKey}:${market.moverKey}`,
      isInverted: market.isInverted,
    }
  }
}

/** No variant drafts more events a cycle at one venue. */
const EVENTS_PER_CYCLE = 4

interface CycleOf {
  readonly seed: number
  readonly slot: Slot
  readonly venue: VenueKey
  readonly cycle: number
}

type Times = Pick<SimListing, 'createdMs' | 'openMs' | 'closeMs' | 'determineMs' | 'resolveMs'>

function viewOf(of: CycleOf): View {
  const { seed, slot, venue, cycle } = of
  const { variant } = slot
  const trap: SimPairKind = venue === 'b' ? slot.trap : 'same'
  const key = `${variant.key}:${cycle}`
  return {
    seed,
    venue,
    trap,
    cycle,
    key,
    resultKey: trap === 'other_date' ? `${key}:later` : key,
    closeMs: timeMs(closeOf(slot, venue, cycle)),
    plainCloseMs: timeMs(variant.schedule.closeMs(cycle)),
  }
}

function marketKey(of: CycleOf, draft: EventDraft, market: MarketDraft): string {
  return `${of.seed}|${of.slot.variant.key}|${of.cycle}|${of.venue}|${draft.nativeId}|${market.slug}`
}

function nativesOf(of: CycleOf, drafts: readonly EventDraft[]): ReadonlyMap<string, string> {
  const natives = new Map<string, string>()
  for (const draft of drafts) {
    for (const market of draft.markets) {
      if (!market.isPairable) continue
      const native =
        of.venue === 'a' ? chainIds(marketKey(of, draft, market)).conditionId : market.slug
      natives.set(market.questionKey, native)
    }
  }
  return natives
}

function timesOf(slot: Slot, venue: VenueKey, cycle: number): Times {
  const createdMs = createdOf(slot, venue, cycle)
  const closeMs = closeOf(slot, venue, cycle)
  const lifeMs = closeMs - createdMs
  const lead = 0.02 + 0.2 * chanceOf(slot.variant.key, cycle, venue, 'lead') ** 2
  const { determineMs, resolveMs } = resultTimes(slot, venue, cycle, closeMs)
  return {
    createdMs: timeMs(createdMs),
    openMs: timeMs(createdMs + Math.min(lifeMs * lead, 20 * HOUR_MS)),
    closeMs: timeMs(closeMs),
    determineMs: timeMs(determineMs),
    resolveMs: timeMs(resolveMs),
  }
}

function closeOf(slot: Slot, venue: VenueKey, cycle: number): number {
  const isShifted = venue === 'b' && slot.trap === 'other_date'
  return slot.variant.schedule.closeMs(cycle) + (isShifted ? slot.variant.otherDateMs : 0)
}

/** Minutes to the result, minutes to an hour more to the end; cycles of a slot keep their order. */
function resultTimes(
  slot: Slot,
  venue: VenueKey,
  cycle: number,
  closeMs: number,
): { determineMs: number; resolveMs: number } {
  const jitterMs = Math.min(slot.variant.schedule.periodMs / 8, 20 * MINUTE_MS)
  const first = chanceOf(slot.variant.key, venue, cycle, 'determine')
  const second = chanceOf(slot.variant.key, venue, cycle, 'resolve')
  const determineMs = closeMs + slot.determineMs[venue] + first * Math.min(jitterMs, 5 * MINUTE_MS)
  return { determineMs, resolveMs: determineMs + slot.resolveMs[venue] + second * jitterMs }
}

/** When the cycle drops out of the world. */
function endOf(slot: Slot, venue: VenueKey, cycle: number): number {
  const { resolveMs } = resultTimes(slot, venue, cycle, closeOf(slot, venue, cycle))
  return Math.floor(resolveMs) + RETENTION_MS
}

function createdOf(slot: Slot, venue: VenueKey, cycle: number): number {
  return endOf(slot, venue, cycle - slot.variant.copies) + 1
}

/** The earliest cycle that has not dropped out; it and the next copies − 1 are those that exist. */
function presentFrom(slot: Slot, venue: VenueKey, atMs: number): number {
  let cycle = slot.variant.schedule.cycleNear(atMs - RETENTION_MS)
  while (endOf(slot, venue, cycle) >= atMs) cycle -= 1
  while (endOf(slot, venue, cycle) < atMs) cycle += 1
  return cycle
}

/** Pareto-like: the mean is about 1, a hundredth of the markets has a third of the activity. */
function activityOf(slot: Slot, market: MarketDraft, cycleKey: string): number {
  const shared = Math.max(1e-4, chanceOf(cycleKey, 'activity'))
  const own = 0.6 + 0.8 * chanceOf(cycleKey, market.slug, 'activity')
  return 0.25 * shared ** -0.75 * own * market.weight * slot.variant.interest
}

function inOrder(events: PlannedEvent[]): PlannedEvent[] {
  return events.sort(
    (left, right) =>
      left.event.createdMs - right.event.createdMs ||
      (left.event.venue < right.event.venue ? -1 : left.event.venue > right.event.venue ? 1 : 0) ||
      left.event.number - right.event.number,
  )
}
