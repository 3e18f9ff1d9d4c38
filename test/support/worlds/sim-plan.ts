import { DAY_MS, PRICE_ONE, type TimeMs, timeMs } from '../../../engine/units.ts'
import type { PlannedEvent, PlannedMarket } from '../../../engine/venues/simulator/calendar.ts'
import type { SimEvent, SimListing, SimVenue } from '../../../engine/venues/simulator/model.ts'
import type { Plan } from '../../../engine/venues/simulator/world/world.ts'

export const NOON = timeMs(Date.UTC(2026, 10, 20, 12))

export interface MarketSketch {
  readonly venue?: SimVenue
  readonly prior?: number
  readonly moverKey?: string
  readonly isInverted?: boolean
  readonly listing?: Partial<SimListing>
}

/** The market is open for ten days around noon. */
export function planMarket(index: number, sketch: MarketSketch = {}): PlannedMarket {
  const venue = sketch.venue ?? (index % 2 === 0 ? 'a' : 'b')
  const nativeId = venue === 'a' ? `0x${String(index).padStart(64, '0')}` : `KXTEST-${index}`
  return {
    listing: listingWith({ venue, index, nativeId, aroundMs: NOON, ...sketch.listing }),
    lifeMs: 10 * DAY_MS,
    prior: sketch.prior ?? 0.1 + 0.8 * ((index * 0.37) % 1),
    moverKey: sketch.moverKey ?? `mover ${index}`,
    isInverted: sketch.isInverted ?? false,
  }
}

export function planEvent(market: PlannedMarket): PlannedEvent {
  const { venue, index: number, nativeId, question: title, createdMs, closeMs } = market.listing
  const texts = { nativeId: `event ${nativeId}`, title, createdMs, endMs: closeMs }
  return { event: eventWith({ venue, number, ...texts }), markets: [market] }
}

/** A calendar of exactly these markets. Markets in `later` are listed at their `createdMs`. */
export function planOf(
  markets: readonly PlannedMarket[],
  later: readonly PlannedMarket[] = [],
): Plan {
  return {
    eventsAt: () => markets.map(planEvent),
    createdBetween: (fromMs: TimeMs, toMs: TimeMs) =>
      later
        .filter(({ listing }) => listing.createdMs > fromMs && listing.createdMs <= toMs)
        .map(planEvent),
    eventNumbered: (venue, number) =>
      [...markets, ...later]
        .map(planEvent)
        .find(({ event }) => event.venue === venue && event.number === number) ?? null,
    teams: () => [],
  }
}

/** `count` markets with different activity, alternately at venue a and venue b. */
export function planMany(count: number): PlannedMarket[] {
  const markets: PlannedMarket[] = []
  for (let index = 0; index < count; index += 1) {
    markets.push(planMarket(index, { listing: { activity: 4 / (1 + (index % 10)) } }))
  }
  return markets
}

/** The fields without a default, and the time on which the default times are based. */
type ListingFields = Partial<SimListing> &
  Pick<SimListing, 'venue' | 'index' | 'nativeId'> & { readonly aroundMs: TimeMs }

/** A listing that was created five days ago and closes in five days. */
export function listingWith({ aroundMs, ...fields }: ListingFields): SimListing {
  const { venue, index, nativeId } = fields
  const at = (days: number): TimeMs => timeMs(aroundMs + days * DAY_MS)
  return {
    number: 1_000 + index,
    isV2: false,
    chanceKey: nativeId,
    uuid: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
    slug: `test-${index}`,
    tokens:
      venue === 'a'
        ? [`1${String(2 * index).padStart(76, '0')}`, `1${String(2 * index + 1).padStart(76, '0')}`]
        : [`${nativeId}:yes`, `${nativeId}:no`],
    outcomes: ['Yes', 'No'],
    question: `Will test ${index} pass?`,
    shortTitle: '',
    noShortTitle: '',
    rules: '',
    rulesSecondary: '',
    strike: null,
    sportsMarketType: null,
    line: null,
    createdMs: at(-5.1),
    openMs: at(-5),
    closeMs: at(5),
    determineMs: at(5.01),
    resolveMs: at(5.05),
    payout: PRICE_ONE,
    questionKey: `question ${index}`,
    pair: null,
    activity: 1,
    ...fields,
  }
}

export function eventWith(
  fields: Partial<SimEvent> & Pick<SimEvent, 'venue' | 'number' | 'nativeId'>,
): SimEvent {
  return {
    series: 'TEST',
    seriesTitle: 'Tests',
    title: `Title of ${fields.nativeId}`,
    subtitle: '',
    description: '',
    category: 'Politics',
    tags: [],
    topic: 'politics',
    isMutuallyExclusive: false,
    createdMs: timeMs(NOON - 5 * DAY_MS),
    endMs: timeMs(NOON + 5 * DAY_MS),
    game: null,
    markets: [],
    ...fields,
  }
}
