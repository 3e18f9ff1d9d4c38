// The markets that the catalogue knows, each as its actor and its cell, found by our number, the venue's id, an outcome or
// a slug. A market's keys are remembered with it, so that a market that changes them, or is removed, leaves nothing
// behind. Not for: what is known of a market (actors/market/market.ts), or which markets there are
// (actors/catalog/catalog.ts). Upholds CAT1, CAT8.

import { ByVenue } from '../../engine/by-venue.ts'
import type { OutcomeId, VenueKey } from '../../engine/ids.ts'
import type { MarketNumber, OutcomeListing } from '../../engine/market/market.ts'
import type { MarketSummary } from '../../storage/contract/storage.ts'
import type { MarketActor } from '../market/market.ts'
import type { MarketMessage } from '../market/parts.ts'
import type { MarketView } from '../market/views.ts'
import type { Cell } from '../system.ts'

/** A market with its owner, whether that stamps updates or follows those of another process. */
export interface OwnedMarket<Owner extends MarketView = MarketView> {
  readonly actor: Owner
}

/** A market's actor, and the cell through which messages are sent to it. */
export interface KnownMarket extends OwnedMarket<MarketActor> {
  readonly cell: Cell<MarketMessage>
}

/** The keys that may change. */
interface Keys {
  outcomes: readonly OutcomeListing[]
  /** Lower case. */
  slug: string
}

/** Bounded by the catalogue, which removes what it forgets. */
export class KnownMarkets<Known extends OwnedMarket> {
  readonly #byNumber = new Map<MarketNumber, Known & Keys>()
  readonly #byNative = new ByVenue(() => new Map<string, Known & Keys>())
  readonly #byOutcome = new ByVenue(() => new Map<OutcomeId, Known & Keys>())
  readonly #bySlug = new Map<string, (Known & Keys)[]>()

  get count(): number {
    return this.#byNumber.size
  }

  has(venue: VenueKey): boolean {
    return this.#byNative.of(venue).size > 0
  }

  /** In order of arrival; markets may be removed during the walk. */
  all(): Iterable<Known> {
    return this.#byNumber.values()
  }

  get(number: MarketNumber): Known | null {
    return this.#byNumber.get(number) ?? null
  }

  /** By the venue's own id, in any case. */
  ofNative(venue: VenueKey, nativeId: string): Known | null {
    return this.#byNative.of(venue).get(nativeId.toLowerCase()) ?? null
  }

  ofOutcome(venue: VenueKey, outcome: OutcomeId): Known | null {
    return this.#byOutcome.of(venue).get(outcome) ?? null
  }

  /** Markets of several venues may share a slug. */
  ofSlug(slug: string): readonly Known[] {
    return this.#bySlug.get(slug.toLowerCase()) ?? []
  }

  add(known: Known): Known {
    const { outcomes, slug } = known.actor.summary
    const market: Known & Keys = { ...known, outcomes, slug: slug.toLowerCase() }
    const { number, venue, nativeId } = known.actor.ref
    this.#byNumber.set(number, market)
    this.#byNative.of(venue).set(nativeId.toLowerCase(), market)
    this.#addKeys(market)
    return market
  }

  /** The market is found by these keys from now on. */
  rekey(number: MarketNumber, { outcomes, slug }: MarketSummary): void {
    const market = this.#byNumber.get(number)
    if (market === undefined) return
    this.#removeKeys(market)
    market.outcomes = outcomes
    market.slug = slug.toLowerCase()
    this.#addKeys(market)
  }

  remove(number: MarketNumber): void {
    const market = this.#byNumber.get(number)
    if (market === undefined) return
    const { venue, nativeId } = market.actor.ref
    this.#byNumber.delete(number)
    deleteIf(this.#byNative.of(venue), nativeId.toLowerCase(), market)
    this.#removeKeys(market)
  }

  #addKeys(market: Known & Keys): void {
    const { venue } = market.actor.ref
    for (const { id } of market.outcomes) this.#byOutcome.of(venue).set(id, market)
    const sharing = this.#bySlug.get(market.slug)
    if (sharing === undefined) this.#bySlug.set(market.slug, [market])
    else sharing.push(market)
  }

  #removeKeys(market: Known & Keys): void {
    const { venue } = market.actor.ref
    for (const { id } of market.outcomes) deleteIf(this.#byOutcome.of(venue), id, market)
    const sharing = this.#bySlug.get(market.slug)
    const others = sharing?.filter((other) => other !== market) ?? []
    if (others.length > 0) this.#bySlug.set(market.slug, others)
    else this.#bySlug.delete(market.slug)
  }
}

/** Leaves a key that another market has taken over. */
function deleteIf<Key, Market>(markets: Map<Key, Market>, key: Key, market: Market): void {
  if (markets.get(key) === market) markets.delete(key)
}
