// What a venue is to everything outside its folder, and the table of venues with the names that users see. A difference
// between venues is a fact here, asked for by what it is.

import {
  type HandleForm,
  type MarketId,
  marketId,
  type NativeMarketId,
  type VenueKey,
} from './ids.ts'
import type { JsonRecord, MarketListing } from './market/market.ts'
import type { SubjectReader } from './subject.ts'
import type { UsdMicros } from './units.ts'

/** What trading moves in a market's row, in the venue's own unit; null: the row does not say. */
export interface RowFigures
  extends Pick<MarketListing, 'lastPrice' | 'previousPrice' | 'volumeTotal' | 'openInterest'> {
  readonly volume24h: UsdMicros | null
}

/**
 * `usd_traded`: US dollars paid. `usd_notional`: contracts, of which each pays one dollar at most.
 */
export const VOLUME_UNITS = ['usd_traded', 'usd_notional'] as const
export type VolumeUnit = (typeof VOLUME_UNITS)[number]

/** What differs between venues, as far as anything outside a venue's folder asks for it. */
export interface VenueFacts {
  readonly key: VenueKey
  /** The wire protocol: its folder under engine/venues/, and the word of `npm run record`. */
  readonly protocol: string
  /** What users see in ids, paths and `platform`, unless the configuration names the venue otherwise. */
  readonly name: string
  readonly handles: HandleForm
  /** The venue's own words for the id of a market, and of its event where that is not the slug. */
  readonly idFields: { readonly market: string; readonly event: string | null }
  /** The one form of a market's id, however a request writes it; an id of another kind is left as it is. */
  readonly idOf: (text: string) => NativeMarketId
  /** An id of a market that documents give as an example; null: they take another venue's. */
  readonly exampleMarket: string | null
  /** How the venue's rows become subjects of matching. */
  readonly subjects: SubjectReader
  /** What the venue's volumes count: see {@link VolumeUnit}. */
  readonly volumeUnit: VolumeUnit
  /** The trading figures that a market's native row states; null: records of every version have them. */
  readonly figuresIn: ((native: JsonRecord) => RowFigures) | null
  /** Whether the venue's trades name wallets: the wallets of the service are those of this venue. */
  readonly hasWallets: boolean
}

/** The venues in the order of their letters; names are `[a-z][a-z0-9_-]{0,31}`. */
export class VenueTable {
  readonly all: readonly VenueFacts[]
  /** The venue that documents take for their examples. */
  readonly first: VenueFacts
  readonly keys: readonly VenueKey[]
  /** The names of all venues, in the order of the table. */
  readonly platforms: readonly string[]
  readonly #byKey: ReadonlyMap<VenueKey, VenueFacts>
  readonly #byName: ReadonlyMap<string, VenueKey>
  readonly #prefixes: readonly (Pick<VenueFacts, 'idOf'> & { venue: VenueKey; prefix: string })[]

  /** Throws an Error when there is no venue, when letters do not ascend, when names repeat, or when two venues have wallets. */
  constructor(venues: readonly VenueFacts[]) {
    const [first] = venues
    if (first === undefined) throw new Error('there is a venue at least')
    this.all = venues
    this.first = first
    this.keys = venues.map(({ key }) => key)
    this.platforms = venues.map(({ name }) => name)
    this.#byKey = new Map(venues.map((facts) => [facts.key, facts]))
    this.#byName = new Map(venues.map(({ key, name }) => [name, key]))
    this.#prefixes = venues.map(({ key, name, idOf }) => ({ venue: key, prefix: `${name}_`, idOf }))
    if (this.keys.join() !== [...this.#byKey.keys()].sort().join()) {
      throw new Error('the letters of venues ascend, each taken once')
    }
    if (this.#byName.size < venues.length) throw new Error('no two venues have one name')
    if (venues.filter(({ hasWallets }) => hasWallets).length > 1) {
      throw new Error('wallets are those of one venue')
    }
  }

  /** Throws an Error for a letter that is not in the table. */
  of(venue: VenueKey): VenueFacts {
    const facts = this.#byKey.get(venue)
    if (facts === undefined) throw new Error(`no venue has the letter ${venue}`)
    return facts
  }

  /** The venue whose traders are known; null: there is none. */
  get walletVenue(): VenueFacts | null {
    return this.all.find(({ hasWallets }) => hasWallets) ?? null
  }

  /** The same, for callers that hold a wallet. Throws an Error where no venue's trades name wallets. */
  get ofWallets(): VenueFacts {
    const venue = this.walletVenue
    if (venue === null) throw new Error("no venue's trades name wallets")
    return venue
  }

  /** A market id that documents give as an example. */
  get exampleId(): string {
    const venue = this.all.find(({ exampleMarket }) => exampleMarket !== null)
    return `${venue?.name ?? ''}_${venue?.exampleMarket ?? ''}`
  }

  has(venue: VenueKey): boolean {
    return this.#byKey.has(venue)
  }

  /** The `platform` value of a venue; of one that has left the table, a name made of its letter. */
  platform(venue: VenueKey): string {
    return this.#byKey.get(venue)?.name ?? `venue_${venue}`
  }

  /** The venue of a `platform` value; null for an unknown one. */
  venue(platform: string): VenueKey | null {
    return this.#byName.get(platform) ?? null
  }

  /** The unified id of a market. */
  marketId(venue: VenueKey, native: NativeMarketId): MarketId {
    return marketId(this.platform(venue), native)
  }

  /**
   * Splits a unified id at the configured prefix, never at the first underscore; case-insensitive.
   * Null when it begins with no prefix. When one name begins with another, the longer wins.
   * `native` is in the venue's one form.
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
