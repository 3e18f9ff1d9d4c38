import { ByVenue } from '../../engine/by-venue.ts'
import type { OutcomeId, VenueKey } from '../../engine/ids.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import type { MarketSummary } from '../../storage/contract/storage.ts'
import type { MarketActor } from '../market/market.ts'
import type { MarketMessage } from '../market/parts.ts'
import type { MarketView } from '../market/views.ts'
import type { ActorRef } from '../system.ts'

/** `actor`: the market's actor, or a mirror of an actor in the engine process. */
export interface MarketEntry<View extends MarketView = MarketView> {
  readonly actor: View
}

export type MarketActorRef = ActorRef<MarketMessage, MarketActor>

type Keys = Pick<MarketSummary, 'outcomes' | 'slug'>

export class MarketRegistry<Entry extends MarketEntry> {
  readonly #byNumber = new Map<MarketNumber, Entry>()
  readonly #byNative = new ByVenue(() => new Map<string, Entry>())
  readonly #byOutcome = new ByVenue(() => new Map<OutcomeId, Entry>())
  /** One entry instead of a list, because few markets share a slug. */
  readonly #bySlug = new Map<string, Entry | Entry[]>()

  get count(): number {
    return this.#byNumber.size
  }

  has(venue: VenueKey): boolean {
    return this.#byNative.of(venue).size > 0
  }

  /** In insertion order. Markets may be removed during the iteration. */
  all(): Iterable<Entry> {
    return this.#byNumber.values()
  }

  get(number: MarketNumber): Entry | null {
    return this.#byNumber.get(number) ?? null
  }

  ofNative(venue: VenueKey, nativeId: string): Entry | null {
    return this.#byNative.of(venue).get(nativeId.toLowerCase()) ?? null
  }

  ofOutcome(venue: VenueKey, outcome: OutcomeId): Entry | null {
    return this.#byOutcome.of(venue).get(outcome) ?? null
  }

  ofSlug(slug: string): readonly Entry[] {
    return this.#sharing(slug.toLowerCase())
  }

  add(entry: Entry): void {
    const { ref, summary } = entry.actor
    this.#byNumber.set(ref.number, entry)
    this.#byNative.of(ref.venue).set(ref.nativeId.toLowerCase(), entry)
    this.#addKeys(entry, summary)
  }

  /** Callers pass the old keys, so that no index entry is left behind. */
  rekey(number: MarketNumber, before: Keys, now: Keys): void {
    const entry = this.#byNumber.get(number)
    if (entry === undefined) return
    this.#removeKeys(entry, before)
    this.#addKeys(entry, now)
  }

  remove(number: MarketNumber, keys: Keys): void {
    const entry = this.#byNumber.get(number)
    if (entry === undefined) return
    const { venue, nativeId } = entry.actor.ref
    this.#byNumber.delete(number)
    deleteIf(this.#byNative.of(venue), nativeId.toLowerCase(), entry)
    this.#removeKeys(entry, keys)
  }

  #sharing(slug: string): readonly Entry[] {
    const found = this.#bySlug.get(slug)
    if (found === undefined) return []
    return 'actor' in found ? [found] : found
  }

  #addKeys(entry: Entry, { outcomes, slug }: Keys): void {
    const byOutcome = this.#byOutcome.of(entry.actor.ref.venue)
    for (const { id } of outcomes) byOutcome.set(id, entry)
    const key = slug.toLowerCase()
    const sharing = this.#bySlug.get(key)
    if (sharing === undefined) this.#bySlug.set(key, entry)
    else if ('actor' in sharing) this.#bySlug.set(key, [sharing, entry])
    else sharing.push(entry)
  }

  #removeKeys(entry: Entry, { outcomes, slug }: Keys): void {
    const { venue } = entry.actor.ref
    for (const { id } of outcomes) deleteIf(this.#byOutcome.of(venue), id, entry)
    const key = slug.toLowerCase()
    const others = this.#sharing(key).filter((other) => other !== entry)
    if (others.length > 0) this.#bySlug.set(key, others)
    else this.#bySlug.delete(key)
  }
}

function deleteIf<Key, Market>(markets: Map<Key, Market>, key: Key, market: Market): void {
  if (markets.get(key) === market) markets.delete(key)
}
