// What the owners let the face see: read-only looks and the few requests that HTTP may make.
// http/ depends on these interfaces alone; the actors beside this file implement them, and tests of
// the face may stand in for them. Nothing here may be kept across turns unless it says so.

import type { FeedState, Level, MarketPrice } from '../engine/events.ts'
import type { AccountId, KeyId, VenueKey, VenueNames } from '../engine/ids.ts'
import type { MarketRef, MarketStatus } from '../engine/market.ts'
import type { TimeMs, UsdMicros } from '../engine/units.ts'
import type {
  EventSummary,
  ListingDetails,
  MarketSummary,
  StoredTrade,
  TradePosition,
} from '../storage/storage.ts'

/** A book as of now, best first; the arrays are the caller's to keep. */
export interface BookView {
  readonly bids: readonly Level[]
  readonly asks: readonly Level[]
  /** Of the `orderbook` channel; the first update a new subscriber sees is seq + 1. */
  readonly seq: number
  readonly offset: number
  /** No snapshot yet, or a gap since. */
  readonly isStale: boolean
  /** The venue's time of the newest change; null before the first snapshot. */
  readonly venueTimeMs: TimeMs | null
  readonly receivedAtMs: TimeMs | null
  readonly checksum: number
}

/** One market, seen through its actor. Looking wakes a sleeping market; looking is cheap. */
export interface MarketView {
  readonly ref: MarketRef
  readonly summary: MarketSummary
  /** 24-hour and total volume: the venue's figures, moved on by our trades since. */
  readonly volume24h: UsdMicros
  readonly volumeTotal: UsdMicros | null
  price(): MarketPrice
  /** The newest price at or before a time, from our own ticks; null when none is kept. */
  priceAt(atMs: TimeMs): { readonly price: MarketPrice['price']; readonly timeMs: TimeMs } | null
  book(): BookView
  trades(query: {
    fromMs: TimeMs
    toMs: TimeMs
    after: TradePosition | null
    order: 'asc' | 'desc'
    limit: number
    side: 'buy' | 'sell' | null
  }): { readonly rows: readonly StoredTrade[]; readonly hasMore: boolean }
  /** Counters of the `trades` and `prices` channels of this market. */
  seq(channel: StreamChannel): number
  details(): ListingDetails
}

export type StreamChannel = 'orderbook' | 'trades' | 'prices' | 'lifecycle'

/** Filters of a market list; null or empty means any. Text is matched without regard to case. */
export interface MarketFilter {
  readonly venue: VenueKey | null
  readonly status: MarketStatus | null
  /** Full-text terms; null: no search. */
  readonly search: string | null
  readonly tags: readonly string[]
  readonly category: string | null
  readonly eventSlug: string | null
  readonly volume24hMin: UsdMicros | null
  readonly createdFromMs: TimeMs | null
  readonly createdToMs: TimeMs | null
}

export type MarketOrder = 'volume' | 'created_at' | 'close_time' | 'relevance'

/** A page of a ranking that was cut at one moment and stays the same while a client pages. */
export interface MarketPage {
  readonly markets: readonly MarketView[]
  readonly total: number
  /** Where the next page begins; null on the last page. Opaque outside the catalogue. */
  readonly next: { readonly pin: number; readonly offset: number } | null
}

export interface CatalogView {
  readonly names: VenueNames
  /** True once both catalogues are loaded. */
  readonly isLoaded: boolean
  /** By unified id, case-insensitive. */
  find(id: string): MarketView | null
  /** By slug of the market, case-insensitive; the one with more volume when both venues have it. */
  findBySlug(slug: string): MarketView | null
  event(venue: VenueKey, nativeId: string): EventSummary | null
  /** Every market of a venue, or of both; order unspecified. */
  markets(venue: VenueKey | null): Iterable<MarketView>
  /**
   * One page. `pin` is that of a previous page (null: cut a new one). Returns 'expired' when the pin
   * is no longer kept.
   */
  list(query: {
    filter: MarketFilter
    sortBy: MarketOrder
    order: 'asc' | 'desc'
    pin: number | null
    offset: number
    limit: number
  }): MarketPage | 'expired'
  counts(): Readonly<Record<VenueKey, Readonly<Record<MarketStatus, number>>>>
}

/** Who is asking, and what their plan allows. */
export interface Caller {
  readonly accountId: AccountId
  readonly email: string
  readonly tier: 'free' | 'pro' | 'enterprise'
  readonly createdAtMs: TimeMs
  readonly requestsPerMinute: number
  readonly socketsMax: number
  /** The key that was used; null for a login token. */
  readonly keyId: KeyId | null
}

/** A request's place in its fixed 60 s window. */
export interface Quota {
  readonly isAllowed: boolean
  readonly limit: number
  readonly remaining: number
  /** Unix seconds at which the window ends. */
  readonly resetSeconds: number
}

export interface KeyView {
  readonly id: KeyId
  readonly label: string
  readonly prefix: string
  readonly createdAtMs: TimeMs
  readonly lastUsedAtMs: TimeMs | null
}

/** Accounts, keys and quotas. Calls that return promises reject with EngineError only. */
export interface AccountsView {
  /** Null for a malformed, unknown or revoked key; synchronous, no disk. */
  callerOfKey(key: string): Caller | null
  /** Null for any token that is not ours, expired, or of an unknown account. */
  callerOfToken(token: string): Promise<Caller | null>
  takeAccountRequest(account: AccountId): Quota
  takeAddressRequest(address: string): Quota
  /** The address's quota without taking from it (for answers that are not counted). */
  peekAddress(address: string): Quota
  /** Reserves a socket synchronously; null when the account has as many as it may. */
  openSocket(caller: Caller): { release(): void } | null
  /** Calls back when a key is revoked, before the revocation is answered. */
  onRevoked(listener: (key: KeyId) => void): void
  /** BAD_REQUEST for a known e-mail, RATE_LIMITED when throttled or the password queue is full. */
  signUp(request: { email: string; password: string; address: string }): Promise<Session>
  /** UNAUTHORIZED in equal time and words for known and unknown e-mails. */
  logIn(request: { email: string; password: string; address: string }): Promise<Session>
  keys(account: AccountId): readonly KeyView[]
  /** The whole key is in the answer this once. BAD_REQUEST beyond 20 keys. */
  createKey(account: AccountId, label: string): Promise<{ view: KeyView; key: string }>
  /** False when the account has no such key. Resolves after the flush, its sockets closed. */
  revokeKey(account: AccountId, key: KeyId): Promise<boolean>
}

export interface Session {
  readonly caller: Caller
  readonly accessToken: string
  readonly expiresInSeconds: number
}

/** One venue's feed, for /health and status messages. */
export interface VenueView {
  readonly venue: VenueKey
  readonly platform: string
  readonly state: FeedState
  readonly lagMs: number | null
  readonly connectionsOpen: number
  readonly connectionsWanted: number
}

/** Everything the face needs of the engine. */
export interface EngineView {
  readonly version: string
  readonly epoch: string
  readonly catalog: CatalogView
  readonly accounts: AccountsView
  venues(): readonly VenueView[]
  isStorageHealthy(): boolean
  uptimeSeconds(): number
}
