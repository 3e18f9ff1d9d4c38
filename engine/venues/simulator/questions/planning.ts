import { type TimeMs, timeMs } from '../../../units.ts'
import {
  SIM_VENUES,
  type SimEvent,
  type SimListing,
  type SimPairKind,
  type SimVenue,
} from '../model.ts'
import { largeWorldActivity } from './activity.ts'
import { type ChainIds, chainIds, conditionIdOf, positionIds, uuidOf } from './identity.ts'
import { chanceOf } from './path.ts'
import { type EventDraft, lifeOf, type MarketDraft, type View } from './question.ts'
import { closeOf, type SlotTimes, timesOf } from './slot-times.ts'
import type { Slot } from './slots.ts'

export interface PlannedMarket {
  /**
   * `index` is unique among the markets that exist at one moment, without gaps. A new market gets the index of the
   * market that it replaces. `number` is never reused.
   */
  readonly listing: SimListing
  /** Probability of the first outcome at the opening, between 0 and 1, exclusive. */
  readonly prior: number
  /** Approximate lifetime of such a question. It is equal at both venues, even if their opening times differ. */
  readonly lifeMs: number
  /**
   * Markets with one key share the same noise, for example different strikes, or both venues' listings of one question.
   */
  readonly moverKey: string
  /** True if the first outcome is the opposite of the question's Yes (trap opposite_side, or a game's second team). */
  readonly isInverted: boolean
}

export interface PlannedEvent {
  readonly event: Omit<SimEvent, 'markets'>
  readonly markets: readonly PlannedMarket[]
}

/** Facts of an event that are known before its texts, chances and results are drawn. */
export interface EventOutline {
  readonly venue: SimVenue
  readonly number: number
  readonly slot: Slot
  readonly eventIndex: number
  readonly createdMs: TimeMs
  readonly times: SlotTimes
  readonly marketCount: number
  /** Index and number of the event's first market. Those of its other markets follow. */
  readonly marketIndex: number
  readonly marketNumber: number
}

export interface Numbering {
  readonly seed: number
  /**
   * True: activities do not depend on texts, and ids of venue a contain the event's number. Events can then be listed
   * before they are planned.
   */
  readonly isLarge: boolean
  readonly slotCount: number
  readonly marketCounts: Readonly<Record<SimVenue, number>>
  readonly v2Share: number
}

const EVENTS_PER_CYCLE = 4
/** Added to cycle numbers, which count from 1970, so that they are positive. */
const CYCLES_BEFORE = 1000

/**
 * Appends the cycle's events at the requested venues. Also drafts the other venue's events of a pair, because each
 * listing refers to the other one.
 */
export function planCycle(
  numbering: Numbering,
  slot: Slot,
  cycle: number,
  isWanted: (venue: SimVenue) => boolean,
  into: PlannedEvent[],
): void {
  const wanted = slot.venues.filter(isWanted)
  if (wanted.length === 0) return
  const drafts = { a: drafted('a'), b: drafted('b') }
  const natives = {
    a: slot.venues.length === 2 ? nativesOf('a') : null,
    b: slot.venues.length === 2 ? nativesOf('b') : null,
  }
  for (const venue of wanted) {
    const others = natives[venue === 'a' ? 'b' : 'a']
    planEvents({ numbering, slot, venue, cycle, others }, drafts[venue], into)
  }

  function drafted(venue: SimVenue): readonly EventDraft[] {
    if (!slot.venues.includes(venue)) return []
    return slot.variant.draftEvents(viewOf(numbering.seed, slot, venue, cycle))
  }

  function nativesOf(venue: SimVenue): ReadonlyMap<string, string> {
    const found = new Map<string, string>()
    for (const [eventIndex, draft] of drafts[venue].entries()) {
      for (const market of draft.markets) {
        if (!market.isPairable) continue
        const id =
          venue === 'a'
            ? idsOf({ numbering, slot, cycle }, { draft, market, eventIndex }).conditionId
            : null
        found.set(market.questionKey, id ?? market.slug)
      }
    }
    return found
  }
}

/** Inverse of the numbering of events. */
export function slotOfNumber(
  { slotCount }: Numbering,
  number: number,
): { readonly ordinal: number; readonly cycle: number } {
  const eventCount = slotCount * EVENTS_PER_CYCLE
  return {
    ordinal: Math.floor((number % eventCount) / EVENTS_PER_CYCLE),
    cycle: Math.floor(number / eventCount) - CYCLES_BEFORE,
  }
}

/** The numbers that the events of one cycle have, at both venues. */
export function cycleNumbers(number: number): readonly number[] {
  const first = number - (number % EVENTS_PER_CYCLE)
  return Array.from({ length: EVENTS_PER_CYCLE }, (_, index) => first + index)
}

export function outlineCycle(
  { numbering, slot, cycle }: Cycle,
  venue: SimVenue,
  into: EventOutline[],
): void {
  const times = timesOf(slot, venue, cycle)
  let position = 0
  slot.variant.eventSizes[venue].forEach((marketCount, eventIndex) => {
    into.push({
      venue,
      number: eventNumber({ numbering, slot, cycle }, eventIndex),
      slot,
      eventIndex,
      createdMs: times.createdMs,
      times,
      marketCount,
      marketIndex: firstIndex(slot, venue, cycle) + position,
      marketNumber: firstNumber({ numbering, slot, cycle }, venue) + position,
    })
    position += marketCount
  })
}

interface Cycle {
  readonly numbering: Numbering
  readonly slot: Slot
  readonly cycle: number
}

function eventNumber({ numbering, slot, cycle }: Cycle, eventIndex: number): number {
  const eventCount = numbering.slotCount * EVENTS_PER_CYCLE
  return (cycle + CYCLES_BEFORE) * eventCount + slot.ordinal * EVENTS_PER_CYCLE + eventIndex
}

function firstIndex(slot: Slot, venue: SimVenue, cycle: number): number {
  const { copies, counts } = slot.variant
  const ring = ((cycle % copies) + copies) % copies
  return slot.marketsStart[venue] + ring * counts[venue]
}

function firstNumber({ numbering, slot, cycle }: Cycle, venue: SimVenue): number {
  return (cycle + CYCLES_BEFORE) * numbering.marketCounts[venue] + slot.marketsStart[venue]
}

interface VenueCycle extends Cycle {
  readonly venue: SimVenue
  /** The other venue's native ids by question. Null if the slot is not paired. */
  readonly others: ReadonlyMap<string, string> | null
}

function planEvents(
  venueCycle: VenueCycle,
  drafts: readonly EventDraft[],
  into: PlannedEvent[],
): void {
  const { slot, venue, cycle } = venueCycle
  const times = timesOf(slot, venue, cycle)
  let position = 0
  drafts.forEach((draft, eventIndex) => {
    const markets = draft.markets.map((market, index) =>
      planMarket(venueCycle, { draft, market, eventIndex }, times, position + index),
    )
    position += markets.length
    const { markets: _, ...texts } = draft
    into.push({
      event: {
        venue,
        number: eventNumber(venueCycle, eventIndex),
        ...texts,
        topic: slot.family.topic,
        createdMs: times.createdMs,
        endMs: times.closeMs,
      },
      markets,
    })
  })
}

interface Drafted {
  readonly draft: EventDraft
  readonly market: MarketDraft
  readonly eventIndex: number
}

function planMarket(
  venueCycle: VenueCycle,
  drafted: Drafted,
  times: SlotTimes,
  position: number,
): PlannedMarket {
  const { numbering, slot, venue, cycle, others } = venueCycle
  const { market, eventIndex } = drafted
  const key = marketKey(numbering.seed, slot, cycle, market)
  const number = firstNumber(venueCycle, venue) + position
  const chain = venue === 'a' ? idsOf(venueCycle, drafted) : null
  const nativeId = chain?.conditionId ?? market.slug
  const other = market.isPairable ? (others?.get(market.questionKey) ?? null) : null
  const cycleKey = `${slot.variant.key}:${cycle}`
  return {
    listing: {
      venue,
      index: firstIndex(slot, venue, cycle) + position,
      number,
      nativeId,
      isV2: chain?.isV2 ?? false,
      chanceKey: numbering.isLarge
        ? largeWorldKey(venue, number)
        : venue === 'a'
          ? conditionIdOf(key)
          : nativeId,
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
      activity: numbering.isLarge
        ? largeWorldActivity(numbering.seed, {
            ...{ venue, number },
            eventNumber: eventNumber(venueCycle, eventIndex),
          })
        : activityOf(slot, market, cycleKey),
    },
    prior: market.chance,
    lifeMs: lifeOf(slot.variant),
    moverKey: `${cycleKey}:${market.moverKey}`,
    isInverted: market.isInverted,
  }
}

function viewOf(seed: number, slot: Slot, venue: SimVenue, cycle: number): View {
  const trap: SimPairKind = venue === 'b' ? slot.trap : 'same'
  const key = `${slot.variant.key}:${cycle}`
  return {
    seed,
    venue,
    trap,
    cycle,
    key,
    resultKey: trap === 'other_date' ? `${key}:later` : key,
    closeMs: timeMs(closeOf(slot, venue, cycle)),
    plainCloseMs: timeMs(slot.variant.schedule.closeMs(cycle)),
  }
}

/**
 * The key from which a market's ids are hashed. It contains the slug or ticker, which differs within a cycle and by
 * venue.
 */
function marketKey(seed: number, slot: Slot, cycle: number, market: MarketDraft): string {
  return `${seed}|${slot.variant.key}|${cycle}|${market.slug}`
}

function idsOf(
  { numbering, slot, cycle }: Cycle,
  { draft, market, eventIndex }: Drafted,
): ChainIds & { readonly isV2: boolean } {
  const key = marketKey(numbering.seed, slot, cycle, market)
  const number = numbering.isLarge ? eventNumber({ numbering, slot, cycle }, eventIndex) : null
  if (chanceOf('protocol', key) >= numbering.v2Share)
    return { ...chainIds(key, number), isV2: false }
  if (!draft.isMutuallyExclusive)
    return { ...positionIds({ baseKey: key, eventNumber: number, group: null }), isV2: true }
  const group = { size: draft.markets.length, index: draft.markets.indexOf(market) }
  const baseKey = `${numbering.seed}|${slot.variant.key}|${cycle}|${draft.nativeId}`
  return { ...positionIds({ baseKey, eventNumber: number, group }), isV2: true }
}

/** `chanceKey` of a market of a large world. */
export const largeWorldKey = (venue: SimVenue, number: number): string => `${venue}${number}`

/** Pareto distribution with a mean of about 1. One percent of the markets have about a third of the activity. */
function activityOf(slot: Slot, market: MarketDraft, cycleKey: string): number {
  const shared = Math.max(1e-4, chanceOf(cycleKey, 'activity'))
  const own = 0.6 + 0.8 * chanceOf(cycleKey, market.slug, 'activity')
  return 0.25 * shared ** -0.75 * own * market.weight * slot.variant.interest
}

type Created = Pick<SimEvent, 'venue' | 'number' | 'createdMs'>

/** Creation order: by time, then venue, then number. */
export function byCreation(left: Created, right: Created): number {
  return (
    left.createdMs - right.createdMs ||
    SIM_VENUES.indexOf(left.venue) - SIM_VENUES.indexOf(right.venue) ||
    left.number - right.number
  )
}
