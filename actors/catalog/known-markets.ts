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
import type { Cell } from '../system.ts'

/** A market's actor, and the cell through which messages are sent to it. */
export interface KnownMarket {
  readonly actor: MarketActor
  readonly cell: Cell<MarketMessage>
}

/** With the keys that may change. */
interface KeyedMarket extends KnownMarket {
  outcomes: readonly OutcomeListing[]
  /** Lower case. */
  slug: string
}

/** Bounded by the catalogue, which removes what it forgets. */
export class KnownMarkets {
  readonly #byNumber = new Map<MarketNumber, KeyedMarket>()
  readonly #byNative = new ByVenue(() => new Map<string, KeyedMarket>())
  readonly #byOutcome = new ByVenue(() => new Map<OutcomeId, KeyedMarket>())
  readonly #bySlug = new Map<string, KeyedMarket[]>()

  get count(): number {
    return this.#byNumber.size
  }

  has(venue: VenueKey): boolean {
    return this.#byNative.of(venue).size > 0
  }

  /** In order of arrival; markets may be removed during the walk. */
  all(): Iterable<KnownMarket> {
    return this.#byNumber.values()
  }

  get(number: MarketNumber): KnownMarket | null {
    return this.#byNumber.get(number) ?? null
  }

  /** By the venue's own id, in any case. */
  ofNative(venue: VenueKey, nativeId: string): KnownMarket | null {
    return this.#byNative.of(venue).get(nativeId.toLowerCase()) ?? null
  }

  ofOutcome(venue: VenueKey, outcome: OutcomeId): KnownMarket | null {
    return this.#byOutcome.of(venue).get(outcome) ?? null
  }

  /** Markets of several venues may share a slug. */
  ofSlug(slug: string): readonly KnownMarket[] {
    return this.#bySlug.get(slug.toLowerCase()) ?? []
  }

  add({ actor, cell }: KnownMarket): KnownMarket {
    const { outcomes, slug } = actor.summary
    const market: KeyedMarket = { actor, cell, outcomes, slug: slug.toLowerCase() }
    const { number, venue, nativeId } = actor.ref
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

  #addKeys(market: KeyedMarket): void {
    const { venue } = market.actor.ref
    for (const { id } of market.outcomes) this.#byOutcome.of(venue).set(id, market)
    const sharing = this.#bySlug.get(market.slug)
    if (sharing === undefined) this.#bySlug.set(market.slug, [market])
    else sharing.push(market)
  }

  #removeKeys(market: KeyedMarket): void {
    const { venue } = market.actor.ref
    for (const { id } of market.outcomes) deleteIf(this.#byOutcome.of(venue), id, market)
    const sharing = this.#bySlug.get(market.slug)
    const others = sharing?.filter((other) => other !== market) ?? []
    if (others.length > 0) this.#bySlug.set(market.slug, others)
    else this.#bySlug.delete(market.slug)
  }
}

/** Leaves a key that another market has taken over. */
function deleteIf<Key>(markets: Map<Key, KeyedMarket>, key: Key, market: KeyedMarket): void {
  if (markets.get(key) === market) markets.delete(key)
}
