// Differences between venues as data, for all code outside a venue's folder, and the table of venues with their public
// names.

import {
  type HandleForm,
  type MarketId,
  marketId,
  type NativeMarketId,
  type VenueKey,
} from './ids.ts'
import type { MarketListing } from './market/market.ts'
import type { SubjectReader } from './subject.ts'
import type { UsdMicros } from './units.ts'

/** The fields of a market's row that trades change, in the venue's unit. Null: the row does not contain the value. */
export interface RowFigures
  extends Pick<MarketListing, 'lastPrice' | 'previousPrice' | 'volumeTotal' | 'openInterest'> {
  readonly volume24h: UsdMicros | null
}

/** `usd_traded`: US dollars paid. `usd_notional`: contracts, each of which pays at most one dollar. */
export const VOLUME_UNITS = ['usd_traded', 'usd_notional'] as const
export type VolumeUnit = (typeof VOLUME_UNITS)[number]

/** All differences between venues that code outside a venue's folder uses. */
export interface VenueFacts {
  readonly key: VenueKey
  /** Name of the wire protocol: the folder under engine/venues/ and the argument of `npm run record`. */
  readonly protocol: string
  /** Public name in ids, paths and `platform`, unless the configuration overrides it. */
  readonly name: string
  readonly handles: HandleForm
  /** The venue's field names for a market's id and for its event's id. `event` is null if the slug is the id. */
  readonly idFields: { readonly market: string; readonly event: string | null }
  /** The canonical form of a market's id. Ids of another kind are returned unchanged. */
  readonly idOf: (text: string) => NativeMarketId
  /** A market id for examples in the documentation. Null: the examples use another venue. */
  readonly exampleMarket: string | null
  readonly subjects: SubjectReader
  readonly volumeUnit: VolumeUnit
  /**
   * Whether the venue's trades contain wallets. At most one venue has such trades, and all wallets of the service are
   * wallets of that venue.
   */
  readonly hasWallets: boolean
}

/** The venues in the order of their letters. Names match `[a-z][a-z0-9_-]{0,31}`. */
export class VenueTable {
  readonly all: readonly VenueFacts[]
  readonly first: VenueFacts
  readonly keys: readonly VenueKey[]
  readonly platforms: readonly string[]
  readonly #byKey: ReadonlyMap<VenueKey, VenueFacts>
  readonly #byName: ReadonlyMap<string, VenueKey>
  readonly #prefixes: readonly (Pick<VenueFacts, 'idOf'> & { venue: VenueKey; prefix: string })[]

  /** Throws an Error if there is no venue, if letters do not ascend, if names repeat, or if two venues have wallets. */
  constructor(venues: readonly VenueFacts[]) {
    const [first] = venues
    if (first === undefined) throw new Error('at least one venue is required')
    this.all = venues
    this.first = first
    this.keys = venues.map(({ key }) => key)
    this.platforms = venues.map(({ name }) => name)
    this.#byKey = new Map(venues.map((facts) => [facts.key, facts]))
    this.#byName = new Map(venues.map(({ key, name }) => [name, key]))
    this.#prefixes = venues.map(({ key, name, idOf }) => ({ venue: key, prefix: `${name}_`, idOf }))
    if (this.keys.join() !== [...this.#byKey.keys()].sort().join()) {
      throw new Error('the letters of venues must ascend without repeats')
    }
    if (this.#byName.size < venues.length) throw new Error('two venues have the same name')
    if (venues.filter(({ hasWallets }) => hasWallets).length > 1) {
      throw new Error('only one venue may have wallets')
    }
  }

  /** Throws an Error if the letter is not in the table. */
  of(venue: VenueKey): VenueFacts {
    const facts = this.#byKey.get(venue)
    if (facts === undefined) throw new Error(`no venue has the letter ${venue}`)
    return facts
  }

  /** The venue whose trades contain wallets. Null: none. */
  get walletVenue(): VenueFacts | null {
    return this.all.find(({ hasWallets }) => hasWallets) ?? null
  }

  /** Like `walletVenue`, for callers that have a wallet. Throws an Error if no venue's trades contain wallets. */
  get ofWallets(): VenueFacts {
    const venue = this.walletVenue
    if (venue === null) throw new Error("no venue's trades name wallets")
    return venue
  }

  get exampleId(): string {
    const venue = this.all.find(({ exampleMarket }) => exampleMarket !== null)
    return `${venue?.name ?? ''}_${venue?.exampleMarket ?? ''}`
  }

  has(venue: VenueKey): boolean {
    return this.#byKey.has(venue)
  }

  /** The `platform` value of a venue. For a venue that is no longer in the table, a name derived from its letter. */
  platform(venue: VenueKey): string {
    return this.#byKey.get(venue)?.name ?? `venue_${venue}`
  }

  /** Null if no venue has this `platform` value. */
  venue(platform: string): VenueKey | null {
    return this.#byName.get(platform) ?? null
  }

  marketId(venue: VenueKey, native: NativeMarketId): MarketId {
    return marketId(this.platform(venue), native)
  }

  /**
   * Splits a public id after the configured venue name. Case-insensitive. Null if no name matches. The longest matching
   * name is used. `native` is in the canonical form.
   */
  split(id: string): { venue: VenueKey; native: NativeMarketId } | null {
    const lower = id.toLowerCase()
    let best: { venue: VenueKey; native: NativeMarketId } | null = null
    let bestLength = -1
    for (const { venue, prefix, idOf } of this.#prefixes) {
      if (prefix.length > bestLength && lower.startsWith(prefix)) {
        best = { venue, native: idOf(id.slice(prefix.length)) }
        bestLength = prefix.length
      }
    }
    return best
  }
}
