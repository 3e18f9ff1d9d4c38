// Index of all venues' markets and events. Finds a market's likely partners in under a millisecond: markets that share
// its rare keys, and markets of the events that match its event.

import { ByVenue } from '../../by-venue.ts'
import { isBefore, type VenueKey } from '../../ids.ts'
import type { MatchEvent, MatchMarket } from '../../subject.ts'
import type { PairScorer } from '../compare/pair-scorer.ts'
import { keysOfEvent, keysOfMarket } from './blocking-keys.ts'
import { CANDIDATES_MAX, Candidates } from './candidates.ts'

/** Number of events that are scored for an event, the most likely first. Up to the maximum while none is certain. */
const EVENTS_SCORED_MIN = 10
const EVENTS_SCORED_MAX = 24
/** Maximum matched events whose markets are compared, and minimum score of such an event. */
const EVENTS_JOINED_MAX = 3
const EVENT_SCORE_MIN = 40
/** The markets of a larger event find their partners only by keys. */
const EVENT_MARKETS_MAX = 24
/**
 * Score from which two events are considered one. At most OTHER_EVENT_MARKETS_MAX markets of other events are then
 * compared.
 */
const EVENT_SCORE_CERTAIN = 80
const OTHER_EVENT_MARKETS_MAX = 8

interface Filed {
  readonly market: MatchMarket
  readonly event: FiledEvent | null
}

interface FiledEvent {
  readonly number: number
  readonly venue: VenueKey
  readonly key: string
  /** The event's own listing. Null if only markets of the event are known. */
  listing: MatchEvent | null
  readonly markets: Set<number>
  /** The listing with its markets. Null if it must be rebuilt. */
  subject: MatchEvent | null
  /** The matched events, valid if `joinedAt` is the current generation. */
  joined: readonly EventPair[]
  joinedAt: number
}

interface EventPair {
  readonly a: MatchEvent
  readonly b: MatchEvent
  readonly pairScore: ReturnType<PairScorer<unknown>['scoreEvents']>
}

export class MarketIndex<Parsed> {
  readonly #scorer: PairScorer<Parsed>
  /** Venues whose subjects are indexed for lookups. A one-way match needs one venue. Null: all. */
  readonly #searchedVenues: ReadonlySet<VenueKey> | null
  readonly #markets = new Map<number, Filed>()
  readonly #marketKeys = new ByVenue(() => new Candidates())
  readonly #events = new ByVenue(() => new Map<string, FiledEvent>())
  readonly #eventsByNumber = new Map<number, FiledEvent>()
  readonly #eventKeys = new ByVenue(() => new Candidates())
  readonly #unfiled = new Set<FiledEvent>()
  #eventCount = 0
  /** Number of changes of events. Matched events of an earlier generation are looked up again. */
  #generation = 0

  constructor(scorer: PairScorer<Parsed>, searchedVenues: readonly VenueKey[] | null = null) {
    this.#scorer = scorer
    this.#searchedVenues = searchedVenues === null ? null : new Set(searchedVenues)
  }

  market(number: number): MatchMarket | null {
    return this.#markets.get(number)?.market ?? null
  }

  /** Indexes a market, replacing an earlier one with the same number. */
  put(number: number, market: MatchMarket): void {
    this.remove(number)
    const { venue, eventKey } = market
    const event = eventKey === null ? null : this.#eventOf(venue, eventKey)
    this.#markets.set(number, { market, event })
    if (this.#isSearched(venue)) this.#marketKeys.of(venue).put(number, keysOfMarket(market))
    if (event === null) return
    event.markets.add(number)
    this.#change(event)
  }

  /** Adds an event's own listing. Its markets are added separately, before or after it. */
  putEvent(listing: MatchEvent): void {
    const event = this.#eventOf(listing.venue, listing.key)
    event.listing = listing
    this.#change(event)
  }

  remove(number: number): void {
    const filed = this.#markets.get(number)
    if (filed === undefined) return
    this.#markets.delete(number)
    this.#marketKeys.of(filed.market.venue).remove(number)
    const { event } = filed
    if (event === null) return
    event.markets.delete(number)
    this.#change(event)
  }

  /** Markets of other venues that may be about the same question, at most a hundred per venue. */
  partnersOf(number: number): ReadonlySet<number> {
    const filed = this.#markets.get(number)
    if (filed === undefined) return new Set()
    const { market, event } = filed
    const joined = event === null ? [] : this.#joinedOf(event)
    const found = new Set<number>()
    const certain = new Set<VenueKey>()
    for (const { a, b, pairScore } of joined) {
      const partner = a.venue === market.venue ? b : a
      // The best matches come first. A certain match excludes all later ones.
      if (certain.has(partner.venue) && !isCertain({ pairScore })) continue
      const markets = this.#events.of(partner.venue).get(partner.key)?.markets
      if (markets === undefined || markets.size > EVENT_MARKETS_MAX) continue
      for (const number of markets) found.add(number)
      if (isCertain({ pairScore })) certain.add(partner.venue)
    }
    const keys = keysOfMarket(market)
    for (const [venue, candidates] of this.#marketKeys.entries()) {
      if (venue === market.venue) continue
      const limit = certain.has(venue) ? OTHER_EVENT_MARKETS_MAX : CANDIDATES_MAX
      for (const candidate of candidates.find(keys, limit)) found.add(candidate)
    }
    return found
  }

  #isSearched(venue: VenueKey): boolean {
    return this.#searchedVenues === null || this.#searchedVenues.has(venue)
  }

  /** Null if the market is unknown. */
  parsedMarket(number: number): Parsed | null {
    const market = this.market(number)
    return market === null ? null : this.#scorer.readMarket(market)
  }

  /** Every event of a venue. */
  *events(venue: VenueKey): Iterable<{ readonly key: string }> {
    yield* this.#events.of(venue).values()
  }

  /** Events of other venues that may match an event, best first. */
  eventPairs(venue: VenueKey, key: string): readonly EventPair[] {
    const event = this.#events.of(venue).get(key)
    return event === undefined ? [] : this.#joinedOf(event)
  }

  #eventOf(venue: VenueKey, key: string): FiledEvent {
    const existing = this.#events.of(venue).get(key)
    if (existing !== undefined) return existing
    this.#eventCount += 1
    const event: FiledEvent = {
      ...{ number: this.#eventCount, venue, key, listing: null, markets: new Set<number>() },
      ...{ subject: null, joined: [], joinedAt: -1 },
    }
    this.#events.of(venue).set(key, event)
    this.#eventsByNumber.set(event.number, event)
    return event
  }

  #change(event: FiledEvent): void {
    event.subject = null
    this.#generation += 1
    if (event.markets.size > 0 || event.listing !== null) {
      this.#unfiled.add(event)
      return
    }
    this.#unfiled.delete(event)
    this.#events.of(event.venue).delete(event.key)
    this.#eventsByNumber.delete(event.number)
    this.#eventKeys.of(event.venue).remove(event.number)
  }

  /** Indexes new events at the first lookup, because all their markets are added by then. */
  #file(): void {
    for (const event of this.#unfiled) {
      if (!this.#isSearched(event.venue)) continue
      this.#eventKeys.of(event.venue).put(event.number, keysOfEvent(this.#subjectOf(event)))
    }
    this.#unfiled.clear()
  }

  #joinedOf(event: FiledEvent): readonly EventPair[] {
    if (event.joinedAt === this.#generation) return event.joined
    this.#file()
    const subject = this.#subjectOf(event)
    const parsed = this.#scorer.readEvent(subject)
    const joined: EventPair[] = []
    for (const [venue, candidates] of this.#eventKeys.entries()) {
      if (venue === event.venue) continue
      const isFirst = isBefore(event.venue, venue)
      const ofVenue: EventPair[] = []
      const found = candidates.find(keysOfEvent(subject), EVENTS_SCORED_MAX)
      for (const [at, number] of found.entries()) {
        if (at >= EVENTS_SCORED_MIN && ofVenue.some(isCertain)) break
        const other = this.#eventsByNumber.get(number)
        if (other === undefined) continue
        const partner = this.#subjectOf(other)
        const theirs = this.#scorer.readEvent(partner)
        const [one, two] = isFirst ? [parsed, theirs] : [theirs, parsed]
        const pairScore = this.#scorer.scoreEvents(one, two, EVENT_SCORE_MIN)
        if (pairScore.score < EVENT_SCORE_MIN) continue
        const [a, b] = isFirst ? [subject, partner] : [partner, subject]
        ofVenue.push({ a, b, pairScore })
      }
      joined.push(...ofVenue.sort(byScore).slice(0, EVENTS_JOINED_MAX))
    }
    joined.sort(byScore)
    event.joined = joined
    event.joinedAt = this.#generation
    return joined
  }

  #subjectOf(event: FiledEvent): MatchEvent {
    event.subject ??= this.#assembled(event)
    return event.subject
  }

  #assembled({ listing, markets, venue, key }: FiledEvent): MatchEvent {
    const children = [...markets].flatMap((number) => this.market(number) ?? [])
    if (listing !== null) return children.length === 0 ? listing : { ...listing, markets: children }
    return eventOfMarkets(venue, key, children)
  }
}

const isCertain = ({ pairScore }: Pick<EventPair, 'pairScore'>): boolean =>
  pairScore.score >= EVENT_SCORE_CERTAIN
const byScore = (one: EventPair, other: EventPair): number =>
  other.pairScore.score - one.pairScore.score

function eventOfMarkets(venue: VenueKey, key: string, markets: readonly MatchMarket[]): MatchEvent {
  const [first] = markets
  const closes = markets.flatMap(({ closeMs }) => (closeMs === null ? [] : [closeMs]))
  return {
    venue,
    handles: first?.handles ?? 'slug',
    key,
    title: first?.eventTitle || (first?.title ?? ''),
    subtitle: first?.eventSubtitle ?? '',
    rules: first?.rules ?? '',
    handle: key,
    series: first?.series ?? null,
    category: first?.category ?? null,
    tags: first?.tags ?? [],
    startMs: first?.startMs ?? null,
    closeMs: closes.length === 0 ? null : Math.max(...closes),
    isExclusive: null,
    markets,
  }
}
