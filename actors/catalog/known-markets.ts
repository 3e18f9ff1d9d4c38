// The markets that the catalogue knows, each as its actor and its cell, found by our number, the venue's id, an outcome or
// a slug. Who removes a market, or changes its keys, says by which it was found, so that nothing is left
// behind.

import { ByVenue } from '../../engine/by-venue.ts'
import type { OutcomeId, VenueKey } from '../../engine/ids.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import type { MarketSummary } from '../../storage/contract/storage.ts'
import type { MarketActor } from '../market/market.ts'
import type { MarketMessage } from '../market/parts.ts'
import type { MarketView } from '../market/views.ts'
import type { Cell } from '../system.ts'

/** A market with its owner, whether that stamps updates or follows those of another process. */
export interface OwnedMarket<Owner extends MarketView = MarketView> {
  readonly actor: Owner
}

/** A market's actor, as the cell through which messages are sent to it. */
export type KnownMarket = Cell<MarketMessage, MarketActor>

/** The keys of a market that may change. */
type Keys = Pick<MarketSummary, 'outcomes' | 'slug'>

/** Bounded by the catalogue, which removes what it forgets. */
export class KnownMarkets<Known extends OwnedMarket> {
  readonly #byNumber = new Map<MarketNumber, Known>()
  readonly #byNative = new ByVenue(() => new Map<string, Known>())
  readonly #byOutcome = new ByVenue(() => new Map<OutcomeId, Known>())
  readonly #bySlug = new Map<string, Known[]>()

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

  add(known: Known): void {
    const { ref, summary } = known.actor
    this.#byNumber.set(ref.number, known)
    this.#byNative.of(ref.venue).set(ref.nativeId.toLowerCase(), known)
    this.#addKeys(known, summary)
  }

  /** The market, which was found by the keys of `before`, is found by these from now on. */
  rekey(number: MarketNumber, before: Keys, now: Keys): void {
    const known = this.#byNumber.get(number)
    if (known === undefined) return
    this.#removeKeys(known, before)
    this.#addKeys(known, now)
  }

  /** `keys`: by which the market was found. */
  remove(number: MarketNumber, keys: Keys): void {
    const known = this.#byNumber.get(number)
    if (known === undefined) return
    const { venue, nativeId } = known.actor.ref
    this.#byNumber.delete(number)
    deleteIf(this.#byNative.of(venue), nativeId.toLowerCase(), known)
    this.#removeKeys(known, keys)
  }

  #addKeys(known: Known, { outcomes, slug }: Keys): void {
    const { venue } = known.actor.ref
    for (const { id } of outcomes) this.#byOutcome.of(venue).set(id, known)
    const sharing = this.#bySlug.get(slug.toLowerCase())
    if (sharing === undefined) this.#bySlug.set(slug.toLowerCase(), [known])
    else sharing.push(known)
  }

  #removeKeys(known: Known, { outcomes, slug }: Keys): void {
    const { venue } = known.actor.ref
    for (const { id } of outcomes) deleteIf(this.#byOutcome.of(venue), id, known)
    const sharing = this.#bySlug.get(slug.toLowerCase())
    const others = sharing?.filter((other) => other !== known) ?? []
    if (others.length > 0) this.#bySlug.set(slug.toLowerCase(), others)
    else this.#bySlug.delete(slug.toLowerCase())
  }
}

/** Leaves a key that another market has taken over. */
function deleteIf<Key, Market>(markets: Map<Key, Market>, key: Key, market: Market): void {
  if (markets.get(key) === market) markets.delete(key)
}
