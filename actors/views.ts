// What the owners let the face see: read-only looks and the few requests that HTTP may make. http/ depends on these
// interfaces alone; the owners beside this file implement them, and tests of the face replace them by fakes. What a
// method returns may not be kept across turns unless it says so.

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

export type { BookLevels, BookView, MarketView, PricePoint, StreamChannel } from './market/views.ts'
export type { SliceQuery, WalletsView }

/** Filters of a market list; null or empty means any. Text is equal without regard to case. */
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
  /** A finer status than the unified one; unopened markets are listed only where it admits them. */
  readonly phase: MarketPhase | null
  /**
   * Only these; null: any. For look-ups by slug, token, ticker, event or series. `key` stands for
   * what was looked up: pins are bound to it and not to the markets, which may become more.
   */
  readonly among: { readonly key: string; readonly markets: readonly MarketNumber[] } | null
}

/**
 * `unopened`, `open`, `closed`, `settled` partition the markets; `ended` is closed or settled, unopened ones left
 * out; `any` admits all.
 */
export type MarketPhase = 'unopened' | 'open' | 'closed' | 'settled' | 'ended' | 'any'

export type MarketOrder = 'volume' | 'created_at' | 'close_time'

/** A page of a list: `pin` is that of a previous page, null cuts a new ranking. */
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

/** A page of a ranking that was cut at one moment and stays the same while a client pages. */
export interface MarketPage {
  readonly markets: readonly MarketView[]
  readonly total: number
  /** Where the next page begins; null on the last page. Opaque outside the catalogue. */
  readonly next: { readonly pin: number; readonly offset: number } | null
}

/** An event with the markets under it, as of now. */
export interface EventView {
  readonly summary: EventSummary
  readonly platform: string
  readonly status: MarketStatus
  readonly marketCount: number
  readonly volume24h: UsdMicros
  readonly volumeTotal: UsdMicros
  description(): string | null
  /** The `limit` children with most 24-hour volume, in that order. */
  markets(limit: number): readonly MarketView[]
}

/** Filters of the event list; null or empty means any. */
export interface EventFilter {
  readonly venue: VenueKey | null
  readonly status: MarketStatus | null
  /** Words that must all stand in the title. */
  readonly search: string | null
  readonly tags: readonly string[]
  readonly category: string | null
  readonly volume24hMin: UsdMicros | null
  readonly volumeTotalMin: UsdMicros | null
}

/** A page of events, sorted by 24-hour volume, pinned like a page of markets. */
export interface EventPage {
  readonly events: readonly EventView[]
  readonly total: number
  readonly next: { readonly pin: number; readonly offset: number } | null
}

/** Called when a market becomes known, changes or is forgotten. Called within the turn; must not throw. */
export interface CatalogWatcher {
  /** A market is known now, or its listing changed. */
  onListed(market: MarketView): void
  onRemoved(market: MarketView): void
  /** The market's volumes or other figures moved, and nothing else of its listing. */
  onMoved?(market: MarketView): void
  /** Anything of what is known of its listing changed, volumes and prices too; before `onListed`, where that is called. */
  onChanged?(market: MarketView): void
  /** An event's title, times or other summary changed; these are its markets, as they were. */
  onEvent?(markets: readonly MarketView[]): void
}

export interface CatalogView {
  readonly names: VenueTable
  /** True once both catalogues are loaded. */
  readonly isLoaded: boolean
  /** By unified id, case-insensitive. */
  find(id: string): MarketView | null
  /** By slug of the market, case-insensitive; the one with more volume when both venues have it. */
  findBySlug(slug: string): MarketView | null
  /** By an outcome's id, such as a token. */
  findByOutcome(venue: VenueKey, outcome: string): MarketView | null
  /** Every market of a venue with this slug, case-insensitive. */
  allBySlug(venue: VenueKey, slug: string): readonly MarketView[]
  event(venue: VenueKey, nativeId: string): EventSummary | null
  /** Markets of one event, by the venue's id of it, in any case. */
  marketsOfEvent(venue: VenueKey, nativeId: string): readonly MarketView[]
  /** Markets of every event of a series, in any case. */
  marketsOfSeries(venue: VenueKey, series: string): readonly MarketView[]
  /** By slug, case-insensitive; the one with more volume when both venues have it. */
  eventBySlug(slug: string): EventView | null
  listEvents(query: PageQuery & { readonly filter: EventFilter }): EventPage | 'expired'
  /** A slice of a whole venue's trades; positions carry the venue's own ordinals. */
  venueTrades(venue: VenueKey, query: SliceQuery): readonly VenueTrade[]
  oldestVenueTradeMs(venue: VenueKey): TimeMs | null
  /** By our number; null when it was forgotten. */
  byNumber(number: MarketNumber): MarketView | null
  /** Every market of a venue, or of both; order unspecified. */
  markets(venue: VenueKey | null): Iterable<MarketView>
  /** One page; 'expired' when the pin is no longer kept. */
  list(query: ListQuery): MarketPage | 'expired'
  /**
   * One page of the markets whose text has every word of `text`; later, where a thread looks for
   * them. Rejects with EngineError UNAVAILABLE when too many searches wait.
   */
  search(
    query: SearchQuery,
    requester?: Requester,
  ): MarketPage | 'expired' | Promise<MarketPage | 'expired'>
  eventCount(): number
  /** Since when anything is recorded at all. */
  readonly recordsSinceMs: TimeMs
  /** Of every venue of the table. */
  counts(): Readonly<Partial<Record<VenueKey, Readonly<Record<MarketStatus, number>>>>>
}

/** The account and credential of a request, and what its plan allows. */
export interface Caller {
  readonly accountId: AccountId
  readonly email: string
  readonly tier: 'free' | 'pro' | 'enterprise'
  readonly createdAtMs: TimeMs
  readonly requestsPerMinute: number
  readonly socketsMax: number
  /** The key that was used; null for a login token. */
  readonly keyId: KeyId | null
  /** The login token that was used; null for a key. */
  readonly token: TokenView | null
  /** What the credential may do; a login token may do everything. */
  readonly scopes: readonly KeyScope[]
}

/** A valid login token. */
export interface TokenView {
  readonly id: string
  /** Of the account's tokens when it was issued. */
  readonly generation: number
  readonly expiresAtMs: TimeMs
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
  readonly scopes: readonly KeyScope[]
  readonly prefix: string
  readonly createdAtMs: TimeMs
  readonly lastUsedAtMs: TimeMs | null
}

/** Accounts, keys and quotas. Calls that return promises reject with EngineError only. */
export interface AccountsView {
  /** Null for a malformed, unknown or revoked key; synchronous, no disk. */
  callerOfKey(key: string): Caller | null
  /** Null for any token that is not ours, expired, or of an unknown account; synchronous, no disk. */
  callerOfToken(token: string): Caller | null
  /** Whether the credential is still valid: a body may come long after the head that named it. */
  isValid(caller: Caller): boolean
  takeAccountRequest(account: AccountId): Quota
  /** Requests by which a login token manages the account: counted apart, so that no key can use them up. */
  takeManagementRequest(account: AccountId): Quota
  /** Requests of the account's dashboards, which neither keys nor other tokens can use up. */
  takeDashboardRequest(account: AccountId): Quota
  takeAddressRequest(address: string): Quota
  /** Takes the bytes of a document, script or page; the quota is in bytes. */
  takeAddressFile(address: string, byteCount: number): Quota
  /** The address's quota without taking from it (for answers that are not counted). */
  peekAddress(address: string): Quota
  /** The address's attempts to sign up and in; `signUp` and `logIn` take from them. */
  peekSignIn(address: string): Quota
  /** Reserves a socket synchronously; null when the account has as many as it may. */
  openSocket(caller: Caller): { release(): void } | null
  /** BAD_REQUEST for a known e-mail, RATE_LIMITED when throttled or the password queue is full. */
  signUp(request: { email: string; password: string; address: string }): Promise<Session>
  /** UNAUTHORIZED in equal time and words for known and unknown e-mails. */
  logIn(request: { email: string; password: string; address: string }): Promise<Session>
  /**
   * A session of the local account, without a password; the caller has made sure that this machine asks. Null: there is no
   * such account, or it is disabled. RATE_LIMITED when throttled.
   */
  openLocalSession(address: string): Promise<Session | null>
  /** False for the local account, to which no password leads. */
  hasPassword(account: AccountId): boolean
  keys(account: AccountId): readonly KeyView[]
  /**
   * Ends the caller's token, on disk until it would have expired, and closes its streams. Does nothing for a key.
   */
  logOut(caller: Caller): Promise<void>
  /** Ends every token of the caller's account, and their streams; keys stay. */
  logOutEverywhere(caller: Caller): Promise<void>
  /**
   * Replaces the password and ends every token of the account; resolves with a new one. UNAUTHORIZED for
   * a wrong password, RATE_LIMITED after too many. `caller` has a token.
   */
  changePassword(caller: Caller, change: { current: string; next: string }): Promise<Session>
  /** Removes the account with all that it has, for good; rejects as `changePassword` does. */
  deleteAccount(caller: Caller, password: string): Promise<void>
  /** The answer is the only one with the whole key. BAD_REQUEST beyond 20 keys. Scopes: `read` unless given. */
  createKey(
    account: AccountId,
    label: string,
    scopes?: readonly KeyScope[],
  ): Promise<{ view: KeyView; key: string }>
  /** False when the account has no such key. Resolves after the flush, its sockets closed. */
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
  /** What the venue sends or answers that the code does not know, in order of first sight; bounded. */
  readonly drift: readonly DriftEntry[]
}

/** A game as its venues list it. */
export interface GameView {
  readonly markets: readonly MarketView[]
  /** When it begins, as the first venue that says it; Unix milliseconds, null: none does. */
  readonly startMs: number | null
}

/** By the game's key. */
export type GamesView = ReadonlyMap<string, GameView>

/** The games of both venues, grouped. */
export interface SportsView {
  /**
   * Games of a US Eastern date (YYYY-MM-DD) by game key, in order of key; golf on each day played. A promise when many
   * games must be grouped anew; it rejects with EngineError UNAVAILABLE when too many callers wait for that.
   */
  games(sport: Sport, date: string): GamesView | Promise<GamesView>
  /** Today's US Eastern date. */
  today(): string
}

/** Which markets of the two venues ask the same question. */
export interface MatchesView {
  /** The market that asks the same with high confidence and whose first outcome means the same; else null. */
  matchedMarketOf(market: MarketRef): MarketView | null
  /** Grows when the twin of any market changes. */
  readonly version: number
  /** How many pairs of twins are known. */
  readonly count: number
}

/** Prices before our own ticks: the venue is asked once, and its answer kept. */
export interface PastPricesView {
  /**
   * The newest price at or before a time: from our ticks where we watched, else from the venue; null when neither knows
   * one. Rejects with UNAVAILABLE when the venue does not answer, and with RATE_LIMITED when the requester has used up
   * what it may have asked of venues.
   */
  at(
    market: MarketView,
    atMs: TimeMs,
    requester?: Requester,
  ): PricePoint | null | Promise<PricePoint | null>
  /**
   * Prices of a stretch as the venue remembers them, ascending; a few more on either side may be among them. Rejects with
   * UNAVAILABLE and RATE_LIMITED as `at` does.
   */
  range(
    market: MarketView,
    range: PriceRange,
    requester?: Requester,
  ): Promise<readonly PricePoint[]>
}

/** A stretch of prices; steps of less than an hour come by the minute. */
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

/** Where this process stands in a cluster. */
export interface ClusterView {
  readonly role: 'engine' | 'gateway'
  /** As it is named in answers. */
  readonly name: string
  /** Whether the log can be reached. */
  readonly link: 'up' | 'down'
  /** Batches of the log that are not read yet, as far as is known; of an engine those that are not safe in the log yet. */
  readonly lagBatches: number
  /** From the engine's receipt of the newest update to its place here. */
  readonly lagMs: number
  /** Whether anything came from the engine of late; of an engine whether it leads. */
  readonly isConnected: boolean
  /** Who holds the lease, as far as is known, and since when nothing was heard of it. */
  readonly leader: MemberStatus | null
  /** Every process of the cluster that was heard of late, this one too. */
  readonly members: readonly MemberStatus[]
}

/** Everything the face needs of the engine. */
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
  /** The longest that a message waited within this process during the last two seconds, in milliseconds. */
  delayMs(): number
  /** A book that was neither changed nor confirmed for longer may be out of date; milliseconds. */
  readonly bookAgeMsMax: number
  /** Reads a market's book over REST; resolves when it has come, or after two seconds. Null: it cannot be read. */
  confirmBook(market: MarketView): Promise<void> | null
  uptimeSeconds(): number
  /** Absent in a process that is no part of a cluster. */
  cluster?(): ClusterView
}

export type RunView = Run
type TradeLossView = TradeLoss
export type WhaleRowView = WhaleRow

/** Published trades by run and offset: what a stream resumes from. */
export interface TradeLogView {
  /** The run that is going on. */
  readonly present: RunView
  /** The kept runs, oldest first, the present one last. Reads the disk. */
  runs(): readonly RunView[]
  /**
   * At most `limit` trades that a run published behind an offset, in order. A missing offset has expired; a trade of the
   * present run is there in the turn that published it.
   */
  range(query: OffsetQuery): readonly TradeOfMarket[]
  /**
   * The same for some markets: `trade` is null for the others, whose trades are not read, and undefined for a trade that
   * can no longer be read.
   */
  rangeOf(query: OffsetQuery & { readonly isWanted: (market: MarketNumber) => boolean }): readonly {
    readonly offset: number
    readonly market: MarketNumber
    readonly trade: StoredTrade | null | undefined
  }[]
  /** Trades that a run announced as lost for good, at or behind an offset, in order. */
  losses(query: { run: number; offset: number }): readonly TradeLossView[]
  /** Resolves when what stands behind an offset has come or will not; null, and without this: it is here. */
  arrival?(position: { run: number; offset: number }): Promise<void> | null
}

/** The whale rows: published ones by run and offset, for streams that resume, and all by time, for paging. */
export interface WhaleLogView {
  /** The run that is going on. */
  readonly present: RunView
  /** The kept runs, oldest first, the present one last; `endOffset` is that of their whales. */
  runs(): readonly RunView[]
  /** At most `limit` whales that a run published behind an offset, in order. */
  range(query: OffsetQuery): readonly WhaleRow[]
  /** A slice of all whale rows, published or not, from 1,000 dollars on; the caller filters. */
  history(query: SliceQuery): readonly WhaleRow[]
  historyOfMarket(query: SliceQuery & { readonly market: MarketNumber }): readonly WhaleRow[]
  /** Where our records begin; null when there are none. */
  oldestMs(): TimeMs | null
}
