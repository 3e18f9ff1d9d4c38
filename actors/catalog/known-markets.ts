// Every known market's actor with the door to its mailbox, found by our number, the venue's id, an
// outcome or a slug. The keys under which a seat is found are remembered with it, so that a market
// that changed them, and one that goes, leave nothing behind.
// Not for: what is known of a market (actors/market/market.ts), or which it is (actors/catalog/catalog.ts).
// Upholds CAT1, CAT8.

import type { OutcomeId, VenueKey } from '../../engine/ids.ts'
import type { MarketNumber, OutcomeListing } from '../../engine/market/market.ts'
import type { MarketSummary } from '../../storage/contract/storage.ts'
import type { MarketActor } from '../market/market.ts'
import type { MarketMessage } from '../market/parts.ts'
import type { Cell } from '../system.ts'

/** A market's actor, the door to its mailbox. */
export interface MarketSeat {
  readonly actor: MarketActor
  readonly cell: Cell<MarketMessage>
}

/** With the keys that may change while the market lives. */
interface KeyedSeat extends MarketSeat {
  outcomes: readonly OutcomeListing[]
  /** Lower case. */
  slug: string
}

/** Bounded by the catalogue, which removes what it forgets. */
export class MarketSeats {
  readonly #byNumber = new Map<MarketNumber, KeyedSeat>()
  readonly #byNative = { a: new Map<string, KeyedSeat>(), b: new Map<string, KeyedSeat>() }
  readonly #byOutcome = { a: new Map<OutcomeId, KeyedSeat>(), b: new Map<OutcomeId, KeyedSeat>() }
  readonly #bySlug = new Map<string, KeyedSeat[]>()

  get count(): number {
    return this.#byNumber.size
  }

  has(venue: VenueKey): boolean {
    return this.#byNative[venue].size > 0
  }

  /** Whether markets of both venues are known. */
  get hasEveryVenue(): boolean {
    return this.#byNative.a.size > 0 && this.#byNative.b.size > 0
  }

  /** In the order in which they came; seats may be removed while this is walked through. */
  all(): Iterable<MarketSeat> {
    return this.#byNumber.values()
  }

  get(number: MarketNumber): MarketSeat | null {
    return this.#byNumber.get(number) ?? null
  }

  /** By the venue's own id, in any case. */
  ofNative(venue: VenueKey, nativeId: string): MarketSeat | null {
    return this.#byNative[venue].get(nativeId.toLowerCase()) ?? null
  }

  ofOutcome(venue: VenueKey, outcome: OutcomeId): MarketSeat | null {
    return this.#byOutcome[venue].get(outcome) ?? null
  }

  /** Markets of both venues may share a slug. */
  ofSlug(slug: string): readonly MarketSeat[] {
    return this.#bySlug.get(slug.toLowerCase()) ?? []
  }

  add({ actor, cell }: MarketSeat): MarketSeat {
    const { outcomes, slug } = actor.summary
    const seat: KeyedSeat = { actor, cell, outcomes, slug: slug.toLowerCase() }
    const { number, venue, nativeId } = actor.ref
    this.#byNumber.set(number, seat)
    this.#byNative[venue].set(nativeId.toLowerCase(), seat)
    this.#addKeys(seat)
    return seat
  }

  /** The market was read again: from now on it is found by these keys. */
  rekey(number: MarketNumber, { outcomes, slug }: MarketSummary): void {
    const seat = this.#byNumber.get(number)
    if (seat === undefined) return
    this.#removeKeys(seat)
    seat.outcomes = outcomes
    seat.slug = slug.toLowerCase()
    this.#addKeys(seat)
  }

  remove(number: MarketNumber): void {
    const seat = this.#byNumber.get(number)
    if (seat === undefined) return
    const { venue, nativeId } = seat.actor.ref
    this.#byNumber.delete(number)
    deleteIf(this.#byNative[venue], nativeId.toLowerCase(), seat)
    this.#removeKeys(seat)
  }

  #addKeys(seat: KeyedSeat): void {
    const { venue } = seat.actor.ref
    for (const { id } of seat.outcomes) this.#byOutcome[venue].set(id, seat)
    const sharing = this.#bySlug.get(seat.slug)
    if (sharing === undefined) this.#bySlug.set(seat.slug, [seat])
    else sharing.push(seat)
  }

  #removeKeys(seat: KeyedSeat): void {
    const { venue } = seat.actor.ref
    for (const { id } of seat.outcomes) deleteIf(this.#byOutcome[venue], id, seat)
    const sharing = this.#bySlug.get(seat.slug)
    const others = sharing?.filter((other) => other !== seat) ?? []
    if (others.length > 0) this.#bySlug.set(seat.slug, others)
    else this.#bySlug.delete(seat.slug)
  }
}

/** A key that another market has taken over stays with that one. */
function deleteIf<Key>(seats: Map<Key, KeyedSeat>, key: Key, seat: KeyedSeat): void {
  if (seats.get(key) === seat) seats.delete(key)
}
