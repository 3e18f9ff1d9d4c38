// The engine's catalogue at a gateway: rows of markets and events from the log. Both shards of a venue deliver each
// row, possibly out of order. The row with the higher version is newer.

import type { Clock } from '../../engine/clock.ts'
import type { VenueKey } from '../../engine/ids.ts'
import type { MarketNumber, MarketRef } from '../../engine/market/market.ts'
import type { Publisher } from '../../engine/publisher.ts'
import type { TimeMs } from '../../engine/units.ts'
import type { VenueTable } from '../../engine/venue-table.ts'
import type { EventTable } from '../../storage/contract/storage.ts'
import type { LogItem } from '../../storage/records/log-items.ts'
import { CatalogLookup } from '../catalog/catalog-lookup.ts'
import type { SearchIndex } from '../catalog/lists.ts'
import type { MarketEntry } from '../catalog/market-registry.ts'
import type { MirrorDescriptions } from './descriptions.ts'
import { MirrorMarket, type MirrorParts } from './market.ts'

type Item<Kind extends LogItem['kind']> = Extract<LogItem, { readonly kind: Kind }>

const NO_TABLE: EventTable = {
  put: () => undefined,
  remove: () => undefined,
  details: () => null,
  all: () => [],
  count: () => 0,
}

export class MirrorCatalog extends CatalogLookup<MarketEntry<MirrorMarket>> {
  readonly recordsSinceMs: TimeMs
  readonly #publisher: Publisher
  readonly #market: MirrorParts
  readonly #versions = new Map<MarketNumber | string, number>()
  readonly descriptions: MirrorDescriptions

  constructor(parts: {
    names: VenueTable
    clock: Clock
    index: SearchIndex
    publisher: Publisher
    market: Omit<MirrorParts, 'description' | 'volumeUnit'>
    recordsSinceMs: TimeMs
    descriptions: MirrorDescriptions
  }) {
    super({ ...parts, table: NO_TABLE })
    this.recordsSinceMs = parts.recordsSinceMs
    this.descriptions = parts.descriptions
    this.#publisher = parts.publisher
    this.#market = {
      ...parts.market,
      description: ({ number }) => this.descriptions.of(number),
      volumeUnit: (venue) => this.names.of(venue).volumeUnit,
    }
  }

  /** Null: not listed yet, or removed. */
  mirrorOf(number: MarketNumber): MirrorMarket | null {
    return this.registry.get(number)?.actor ?? null
  }

  refOf(number: MarketNumber): MarketRef | null {
    return this.mirrorOf(number)?.ref ?? null
  }

  bookCount(venue: VenueKey): number {
    let count = 0
    for (const { actor } of this.registry.all()) {
      if (actor.ref.venue === venue && actor.hasFreshBook) count += 1
    }
    return count
  }

  /** True also for a market that was removed since. */
  hasSeen(number: MarketNumber): boolean {
    return this.#versions.has(number)
  }

  takeListed({ version, market: number, summary, quoted }: Item<'listed'>): void {
    if (!this.#isNewer(number, version) || !this.names.has(summary.venue)) return
    const existing = this.mirrorOf(number)
    if (existing !== null) {
      existing.list(summary, quoted)
      return this.note(existing)
    }
    const { venue, nativeId } = summary
    const [id, platform] = [this.names.marketId(venue, nativeId), this.names.platform(venue)]
    const ref = { id, number, venue, platform, nativeId }
    this.register({ actor: new MirrorMarket(ref, { summary, quoted }, this.#market) })
  }

  takeRemoved({ version, market }: Item<'forgotten'>): void {
    if (!this.#isNewer(market, version)) return
    this.descriptions.remove(market)
    const existing = this.mirrorOf(market)
    if (existing !== null) this.unregister(existing, this.#publisher)
  }

  takeEventRow({ version, event }: Item<'event'>): void {
    if (!this.#isNewer(`${event.venue}${event.nativeId}`, version)) return
    this.takeEvent({ ...event, description: null, native: {} })
  }

  takeQuoted({ market: number, quoted }: Item<'quoted'>): void {
    const existing = this.mirrorOf(number)
    if (existing === null) return
    existing.quote(quoted)
    this.note(existing)
  }

  moved(market: MirrorMarket): void {
    this.note(market)
  }

  #isNewer(key: MarketNumber | string, version: number): boolean {
    if (version <= (this.#versions.get(key) ?? -1)) return false
    this.#versions.set(key, version)
    return true
  }

  venueTrades(): readonly never[] {
    return []
  }

  oldestVenueTradeMs(_venue: VenueKey): null {
    return null
  }
}
