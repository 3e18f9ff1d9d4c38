// Which markets a filter admits by their state, and the key under which a ranking is shared and pinned. Pure. Upholds CAT4, CAT13, RANK4.

import { VENUE_KEYS, type VenueKey } from '../../engine/ids.ts'
import { MARKET_STATUSES, type MarketStatus } from '../../engine/market/market.ts'
import type { EventFilter, MarketFilter, MarketOrder, MarketPhase } from '../views.ts'

/** One byte: the status in two bits, whether it is unopened, and above these the venue's place in the alphabet. */
export type MarketState = number

const UNOPENED = 4
const VENUE_SHIFT = 3
const STATES = VENUE_KEYS.length << VENUE_SHIFT

export function marketState(market: {
  readonly venue: VenueKey
  readonly status: MarketStatus
  readonly isUnopened: boolean
}): MarketState {
  const unopened = market.isUnopened ? UNOPENED : 0
  const venue = VENUE_KEYS.indexOf(market.venue) << VENUE_SHIFT
  return MARKET_STATUSES.indexOf(market.status) + unopened + venue
}

/** Throws an Error for a byte that is no market's. */
export function venueOf(state: MarketState): VenueKey {
  const venue = VENUE_KEYS[state >> VENUE_SHIFT]
  if (venue === undefined) throw new Error(`${state} is the state of no market`)
  return venue
}

export function statusOf(state: MarketState): MarketStatus {
  return MARKET_STATUSES[state & 3] ?? 'closed'
}

/** The status with which the market counts in its event: an unopened one counts as closed. */
export function statusInEvent(state: MarketState): MarketStatus {
  return (state & UNOPENED) === 0 ? statusOf(state) : 'closed'
}

/** By state: 1 where venue, status and phase of the filter admit it. */
export function admittedStates(filter: MarketFilter): Uint8Array {
  const admitted = new Uint8Array(STATES)
  for (let state = 0; state < STATES; state += 1) {
    const isVenue = filter.venue === null || filter.venue === venueOf(state)
    const isStatus = filter.status === null || filter.status === statusOf(state)
    if (isVenue && isStatus && isInPhase(state, filter)) admitted[state] = 1
  }
  return admitted
}

/** Unopened markets are listed only where status or phase ask for them. */
function isInPhase(state: MarketState, { phase, status }: MarketFilter): boolean {
  const isUnopened = (state & UNOPENED) !== 0
  if (phase === null) return !isUnopened || status === 'closed'
  if (phase === 'any') return true
  if (isUnopened) return phase === 'unopened'
  return PHASES[statusOf(state)].includes(phase)
}

const PHASES: Readonly<Record<MarketStatus, readonly MarketPhase[]>> = {
  open: ['open'],
  closed: ['closed', 'ended'],
  resolved: ['settled', 'ended'],
}

/** One text for the filter and order of a list: rankings are shared by it, and pins are bound to it. */
export function marketKey(query: {
  readonly filter: MarketFilter
  readonly sortBy: MarketOrder | 'relevance'
  readonly order: 'asc' | 'desc'
  readonly text?: string
}): string {
  const { filter } = query
  return JSON.stringify([
    'markets',
    query.text ?? null,
    query.sortBy,
    query.order,
    filter.venue,
    filter.status,
    filter.phase,
    filter.tags,
    filter.category,
    filter.eventSlug,
    filter.volume24hMin,
    filter.volumeTotalMin,
    filter.createdFromMs,
    filter.createdToMs,
    filter.among?.key ?? null,
  ])
}

/** The same for a list of events. */
export function eventKey(filter: EventFilter): string {
  return JSON.stringify([
    'events',
    filter.search,
    filter.venue,
    filter.status,
    filter.tags,
    filter.category,
    filter.volume24hMin,
  ])
}
