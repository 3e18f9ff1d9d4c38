// Read interfaces of the actors and stores for the API server, and the few requests that HTTP may make. http/ depends
// only on these interfaces; its tests replace them by fakes. Returned values are valid only in the current tick unless
// stated otherwise.

import type { KeyScope } from '../engine/accounts/account.ts'
import type { MemberStatus } from '../engine/cluster/members.ts'
import type { FeedStatus } from '../engine/events.ts'
import type { Requester } from '../engine/fair-queue.ts'
import type { AccountId, KeyId, VenueKey } from '../engine/ids.ts'
import type {
  MarketNumber,
  MarketRef,
  MarketStatus,
  ResolutionStatus,
} from '../engine/market/market.ts'
import type { Sport } from '../engine/sports/leagues.ts'
import type { TimeMs, UsdMicros } from '../engine/units.ts'
import type { VenueTable } from '../engine/venue-table.ts'
import type { DriftEntry } from '../engine/venues/drift/drift.ts'
import type {
  EventSummary,
  OffsetQuery,
  Run,
  SliceQuery,
  StoredTrade,
  TradeLoss,
  TradeOfMarket,
  VenueTrade,
  WhaleRow,
} from '../storage/contract/storage.ts'
import type { ArbitrageView } from './arbitrage/views.ts'
import type { MarketView, PricePoint } from './market/views.ts'
import type { MatchListView } from './matches/views.ts'
import type { WalletsView } from './wallets/views.ts'
import type { WebhooksView } from './webhooks/views.ts'

export type { BookLevels, BookView, MarketView, PricePoint } from './market/views.ts'
export type { SliceQuery, WalletsView }

/** Filters of a market list; null or empty means any. Text is case-insensitive. */
export interface MarketFilter {
  readonly venue: VenueKey | null
  readonly status: MarketStatus | null
  readonly resolution: ResolutionStatus | null
  readonly tags: readonly string[]
  readonly category: string | null
  readonly eventSlug: string | null
  readonly volume24hMin: UsdMicros | null
  readonly createdFromMs: TimeMs | null
  readonly createdToMs: TimeMs | null
  readonly volumeTotalMin: UsdMicros | null
  /** Finer than the unified status. Unopened markets are listed only if it includes them. */
  readonly phase: MarketPhase | null
  /**
   * Only these markets; null: any. For lookups by slug, token, ticker, event or series. `key` identifies the lookup.
   * Pins are bound to it and not to the markets, whose number may grow.
   */
  readonly among: { readonly key: string; readonly markets: readonly MarketNumber[] } | null
}

/**
 * `unopened`, `open`, `closed` and `settled` partition the markets. `ended` is closed or settled, without unopened
 * ones; `any` includes all.
 */
export type MarketPhase = 'unopened' | 'open' | 'closed' | 'settled' | 'ended' | 'any'

export type MarketOrder = 'volume' | 'created_at' | 'close_time'

/** One page of a list. `pin` is that of a previous page; null selects a new ranking. */
export interface PageQuery {
  readonly pin: number | null
  readonly offset: number
  readonly limit: number
}

export interface ListQuery extends PageQuery {
  readonly filter: MarketFilter
  readonly sortBy: MarketOrder
  readonly order: 'asc' | 'desc'
}

export interface SearchQuery extends PageQuery {
  readonly text: string
  readonly filter: MarketFilter
  readonly sortBy: MarketOrder | 'relevance'
  readonly order: 'asc' | 'desc'
}

/** One page of a ranking, which stays the same while a client pages. */
export interface MarketPage {
  readonly markets: readonly MarketView[]
  readonly total: number
  /** Start of the next page; null on the last page. Opaque outside the catalogue. */
  readonly next: { readonly pin: number; readonly offset: number } | null
}

/** An event with its current markets. */
export interface EventView {
  readonly summary: EventSummary
  readonly platform: string
  readonly status: MarketStatus
  readonly marketCount: number
  readonly volume24h: UsdMicros
  readonly volumeTotal: UsdMicros
  description(): string | null
  /** The `limit` markets with the highest 24-hour volume, descending. */
  markets(limit: number): readonly MarketView[]
}

/** Filters of the event list; null or empty means any. */
export interface EventFilter {
  readonly venue: VenueKey | null
  readonly status: MarketStatus | null
  /** Words that must all occur in the title. */
  readonly search: string | null
  readonly tags: readonly string[]
  readonly category: string | null
  readonly volume24hMin: UsdMicros | null
  readonly volumeTotalMin: UsdMicros | null
}

/** One page of events, sorted by 24-hour volume, pinned like a page of markets. */
export interface EventPage {
  readonly events: readonly EventView[]
  readonly total: number
  readonly next: { readonly pin: number; readonly offset: number } | null
}

/** Called synchronously when a market is added, changed or removed. Must not throw. */
export interface CatalogWatcher {
  /** A market was added or its listing changed. */
  onListed(market: MarketView): void
  onRemoved(market: MarketView): void
  /** Only the market's volumes or other figures changed. */
  onMoved?(market: MarketView): void
  /** Any part of its listing changed, including volumes and prices. Called before `onListed`. */
  onChanged?(market: MarketView): void
  /** An event's title, times or other summary changed. `markets` are its current markets. */
  onEvent?(markets: readonly MarketView[]): void
}

export interface CatalogView {
  readonly names: VenueTable
  /** True once all catalogues are loaded. */
  readonly isLoaded: boolean
  /** By unified id, case-insensitive. */
  find(id: string): MarketView | null
  /** By the market's slug, case-insensitive; the one with more volume if several venues have it. */
  findBySlug(slug: string): MarketView | null
  /** By an outcome's id, such as a token. */
  findByOutcome(venue: VenueKey, outcome: string): MarketView | null
  /** Every market of a venue with this slug, case-insensitive. */
  allBySlug(venue: VenueKey, slug: string): readonly MarketView[]
  event(venue: VenueKey, nativeId: string): EventSummary | null
  /** Markets of an event by the venue's id, case-insensitive. */
  marketsOfEvent(venue: VenueKey, nativeId: string): readonly MarketView[]
  /** Markets of all events of a series, case-insensitive. */
  marketsOfSeries(venue: VenueKey, series: string): readonly MarketView[]
  /** By slug, case-insensitive; the one with more volume if several venues have it. */
  eventBySlug(slug: string): EventView | null
  listEvents(query: PageQuery & { readonly filter: EventFilter }): EventPage | 'expired'
  /** A slice of a whole venue's trades; positions have the venue's own ordinals. */
  venueTrades(venue: VenueKey, query: SliceQuery): readonly VenueTrade[]
  oldestVenueTradeMs(venue: VenueKey): TimeMs | null
  /** By our number; null if it was removed. */
  byNumber(number: MarketNumber): MarketView | null
  /** All markets of a venue, or of all venues (null), in no particular order. */
  markets(venue: VenueKey | null): Iterable<MarketView>
  /** One page; 'expired' if the pin has expired. */
  list(query: ListQuery): MarketPage | 'expired'
  /**
   * One page of the markets whose text contains every word of `text`. A promise when a thread runs the search. Rejects
   * with EngineError UNAVAILABLE if too many searches wait.
   */
  search(
    query: SearchQuery,
    requester?: Requester,
  ): MarketPage | 'expired' | Promise<MarketPage | 'expired'>
  eventCount(): number
  /** Start of the first recorded run. */
  readonly recordsSinceMs: TimeMs
  /** By venue of the table. */
  counts(): Readonly<Partial<Record<VenueKey, Readonly<Record<MarketStatus, number>>>>>
}

/** Account and credential of a request, with its limits. */
export interface Caller {
  readonly accountId: AccountId
  readonly email: string
  readonly tier: 'free' | 'pro' | 'enterprise'
  readonly createdAtMs: TimeMs
  readonly requestsPerMinute: number
  readonly socketsMax: number
  /** Null for a login token. */
  readonly keyId: KeyId | null
  /** Null for a key. */
  readonly token: TokenView | null
  /** Scopes of the credential; a login token has all. */
  readonly scopes: readonly KeyScope[]
}

export interface TokenView {
  readonly id: string
  /** The account's token generation when it was issued. */
  readonly generation: number
  readonly expiresAtMs: TimeMs
}

/** State of a fixed 60 s window after a request. */
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
  readonly scopes: readonly KeyScope[]
  readonly prefix: string
  readonly createdAtMs: TimeMs
  readonly lastUsedAtMs: TimeMs | null
}

/** Accounts, keys and quotas. Returned promises reject only with EngineError. */
export interface AccountsView {
  /** Null for a malformed, unknown or revoked key. Synchronous, reads no disk. */
  callerOfKey(key: string): Caller | null
  /** Null for a foreign or expired token, or an unknown account. Synchronous, reads no disk. */
  callerOfToken(token: string): Caller | null
  /** Whether the credential is still valid: a body may arrive long after the head that named it. */
  isValid(caller: Caller): boolean
  takeAccountRequest(account: AccountId): Quota
  /** Requests with which a login token manages the account. A separate quota, so that keys cannot use it up. */
  takeManagementRequest(account: AccountId): Quota
  /** Requests of the account's dashboards. A separate quota, which neither keys nor other tokens use up. */
  takeDashboardRequest(account: AccountId): Quota
  takeAddressRequest(address: string): Quota
  /** Counts the bytes of a document, script or page; the quota is in bytes. */
  takeAddressFile(address: string, byteCount: number): Quota
  /** Returns the address's quota without a change, for answers that do not count. */
  peekAddress(address: string): Quota
  /** The address's remaining attempts to sign up and log in; `signUp` and `logIn` use them. */
  peekSignIn(address: string): Quota
  /** Reserves a stream slot synchronously; null if the account has its maximum. */
  openSocket(caller: Caller): { release(): void } | null
  /** BAD_REQUEST for a known e-mail; RATE_LIMITED if throttled or the password queue is full. */
  signUp(request: { email: string; password: string; address: string }): Promise<Session>
  /** UNAUTHORIZED with the same time and message for known and unknown e-mails. */
  logIn(request: { email: string; password: string; address: string }): Promise<Session>
  /**
   * A session of the local account without a password. The caller must have verified that the request comes from this
   * machine. Null: no such account, or it is disabled. RATE_LIMITED if throttled.
   */
  openLocalSession(address: string): Promise<Session | null>
  /** False for the local account, which has no password. */
  hasPassword(account: AccountId): boolean
  keys(account: AccountId): readonly KeyView[]
  /**
   * Ends the caller's token and closes its streams. The token stays on disk until it would have expired. Does nothing
   * for a key.
   */
  logOut(caller: Caller): Promise<void>
  /** Ends all tokens of the caller's account and their streams; keys stay valid. */
  logOutEverywhere(caller: Caller): Promise<void>
  /**
   * Replaces the password and ends all tokens of the account; resolves with a new one. UNAUTHORIZED for a wrong
   * password, RATE_LIMITED after too many. `caller` must have a token.
   */
  changePassword(caller: Caller, change: { current: string; next: string }): Promise<Session>
  /** Deletes the account and its data permanently. Rejects like `changePassword`. */
  deleteAccount(caller: Caller, password: string): Promise<void>
  /** Only this result contains the full key. BAD_REQUEST beyond 20 keys. Default scope: `read`. */
  createKey(
    account: AccountId,
    label: string,
    scopes?: readonly KeyScope[],
  ): Promise<{ view: KeyView; key: string }>
  /** False if the account has no such key. Resolves after the flush, with its streams closed. */
  revokeKey(account: AccountId, key: KeyId): Promise<boolean>
}

export interface Session {
  readonly caller: Caller
  readonly accessToken: string
  readonly expiresInSeconds: number
}

/** One venue's feed, for /health and status messages. */
export interface VenueView extends FeedStatus {
  readonly connectionsOpen: number
  readonly connectionsWanted: number
  /** Unknown messages and answers of the venue, in order of first occurrence; bounded. */
  readonly drift: readonly DriftEntry[]
}

export interface GameView {
  readonly markets: readonly MarketView[]
  /** Start time as stated by the first venue that states one, Unix milliseconds; null: none does. */
  readonly startMs: number | null
}

/** By the game's key. */
export type GamesView = ReadonlyMap<string, GameView>

/** The grouped games of all venues. */
export interface SportsView {
  /**
   * Games of a US Eastern date (YYYY-MM-DD) by game key, in order of key. Golf is listed on each day played. A promise
   * if many games must be grouped first. It rejects with EngineError UNAVAILABLE if too many callers wait for that.
   */
  games(sport: Sport, date: string): GamesView | Promise<GamesView>
  /** Today's US Eastern date. */
  today(): string
}

/** Matched markets of two venues. */
export interface MatchesView {
  /** The identical market of high confidence whose first outcome has the same meaning; else null. */
  matchedMarketOf(market: MarketRef): MarketView | null
  /** Increases when the matched market of any market changes. */
  readonly version: number
  /** Number of pairs of matched markets. */
  readonly count: number
}

/** Prices before our own ticks. Each is requested from the venue once and cached. */
export interface PastPricesView {
  /**
   * The newest price at or before a time: from our ticks while the feed was live, else from the venue; null if neither
   * has one. Rejects with UNAVAILABLE if the venue does not answer, and with RATE_LIMITED if the requester has used up
   * its venue requests.
   */
  at(
    market: MarketView,
    atMs: TimeMs,
    requester?: Requester,
  ): PricePoint | null | Promise<PricePoint | null>
  /**
   * The venue's prices of a range, ascending; may include a few more on either side. Rejects with UNAVAILABLE and
   * RATE_LIMITED like `at`.
   */
  range(
    market: MarketView,
    range: PriceRange,
    requester?: Requester,
  ): Promise<readonly PricePoint[]>
}

/** A range of prices. Steps of less than an hour return one price per minute. */
export interface PriceRange {
  readonly fromMs: TimeMs
  readonly toMs: TimeMs
  readonly stepMs: number
}

/** Figures of the database. */
export interface StatsView {
  readonly trades: number
  readonly snapshots: number
  readonly databaseBytes: number
  /** Times of the oldest and newest trade, per venue. */
  readonly coverage: Readonly<
    Partial<Record<VenueKey, { readonly oldestMs: TimeMs; readonly newestMs: TimeMs } | null>>
  >
}

/** Cluster state of this process. */
export interface ClusterView {
  readonly role: 'engine' | 'gateway'
  /** Name of this process in answers. */
  readonly name: string
  /** Whether the log is reachable. */
  readonly link: 'up' | 'down'
  /** Known number of unread batches of the log; on an engine, batches that the log has not confirmed. */
  readonly lagBatches: number
  /** Time from the engine's receipt of the newest update to its application here. */
  readonly lagMs: number
  /** Whether the engine has sent anything recently; on an engine, whether it leads. */
  readonly isConnected: boolean
  /** Last known holder of the lease, and how long it has been silent. */
  readonly leader: MemberStatus | null
  /** All recently seen processes of the cluster, including this one. */
  readonly members: readonly MemberStatus[]
}

/** Everything that the API server needs of the engine. */
export interface EngineView {
  readonly version: string
  readonly epoch: string
  readonly catalog: CatalogView
  readonly accounts: AccountsView
  readonly sports: SportsView
  readonly matches: MatchesView & MatchListView
  readonly arbitrage: ArbitrageView
  readonly pastPrices: PastPricesView
  readonly tradeLog: TradeLogView
  readonly whaleLog: WhaleLogView
  readonly webhooks: WebhooksView
  readonly wallets: WalletsView
  stats(): StatsView
  venues(): readonly VenueView[]
  isStorageHealthy(): boolean
  /** Longest wait of a message in this process in the last two seconds, in milliseconds. */
  delayMs(): number
  /** A book that was neither changed nor confirmed for longer may be stale; milliseconds. */
  readonly bookAgeMsMax: number
  /**
   * Reads a market's book over REST. Resolves when the read has arrived, or after two seconds; null: it cannot be read.
   */
  confirmBook(market: MarketView): Promise<void> | null
  uptimeSeconds(): number
  /** Absent outside a cluster. */
  cluster?(): ClusterView
}

export type RunView = Run
type TradeLossView = TradeLoss
export type WhaleRowView = WhaleRow

/** Published trades by run and offset, for streams that resume. */
export interface TradeLogView {
  /** The current run. */
  readonly present: RunView
  /** The stored runs, oldest first, the current one last. Reads the disk. */
  runs(): readonly RunView[]
  /**
   * At most `limit` trades that a run published after an offset, in order. A missing offset has expired. A trade of the
   * current run is available in the tick that published it.
   */
  range(query: OffsetQuery): readonly TradeOfMarket[]
  /**
   * The same for some markets. `trade` is null for other markets, whose trades are not read, and undefined for a trade
   * that can no longer be read.
   */
  rangeOf(query: OffsetQuery & { readonly isWanted: (market: MarketNumber) => boolean }): readonly {
    readonly offset: number
    readonly market: MarketNumber
    readonly trade: StoredTrade | null | undefined
  }[]
  /** Trades that a run announced as permanently lost, at or after an offset, in order. */
  losses(query: { run: number; offset: number }): readonly TradeLossView[]
  /** Resolves when the trades after an offset have arrived or will not arrive. Null or absent: they are available. */
  arrival?(position: { run: number; offset: number }): Promise<void> | null
}

/** The whale rows: published ones by run and offset for streams that resume, and all by time for paging. */
export interface WhaleLogView {
  /** The current run. */
  readonly present: RunView
  /** The stored runs, oldest first, the current one last; `endOffset` is that of their whales. */
  runs(): readonly RunView[]
  /** At most `limit` whales that a run published after an offset, in order. */
  range(query: OffsetQuery): readonly WhaleRow[]
  /** A slice of all whale rows from 1,000 dollars on, published or not; the caller filters. */
  history(query: SliceQuery): readonly WhaleRow[]
  historyOfMarket(query: SliceQuery & { readonly market: MarketNumber }): readonly WhaleRow[]
  /** Start of our records; null if there are none. */
  oldestMs(): TimeMs | null
}
