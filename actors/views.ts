// Read interfaces of the actors and stores for the API server, and the few requests that HTTP may make. http/ depends
// only on these interfaces. Returned values are valid only in the current event-loop tick unless stated otherwise.

import type { KeyScope } from '../engine/accounts/account.ts'
import type { MemberStatus } from '../engine/cluster/members.ts'
import type { CoverageReason, HoldReason } from '../engine/coverage-policy.ts'
import type { DataSource } from '../engine/data-source.ts'
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
import type { ExportFormat, ExportTableName } from '../engine/tape/export-names.ts'
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
import type { BookFigures } from '../storage/records/log-items.ts'
import type { ArbitrageView } from './arbitrage/views.ts'
import type { MarketView, PricePoint } from './market/views.ts'
import type { MatchListView } from './matches/views.ts'
import type { WalletsView } from './wallets/views.ts'
import type { WebhooksView } from './webhooks/views.ts'

export type { BookLevels, BookView, MarketView, PricePoint } from './market/views.ts'
export type { SliceQuery, WalletsView }

/** Null or an empty list accepts any value. Texts are case-insensitive. */
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
  /** Finer than `status`. Unopened markets are listed only if the phase includes them. */
  readonly phase: MarketPhase | null
  /**
   * Null accepts any market. `key` identifies the lookup and is part of the pin, because the set of markets may grow
   * while a client pages.
   */
  readonly among: { readonly key: string; readonly markets: readonly MarketNumber[] } | null
}

/**
 * Each market is either `unopened`, `open`, `closed` or `settled`. `ended` includes closed and settled ones. `any`
 * includes all.
 */
export type MarketPhase = 'unopened' | 'open' | 'closed' | 'settled' | 'ended' | 'any'

export type MarketOrder = 'volume' | 'created_at' | 'close_time'

/** `pin`: pin of the previous page, or null to select a new ranking. */
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

/** One page of a ranking. The ranking stays the same while a client pages through it. */
export interface MarketPage {
  readonly markets: readonly MarketView[]
  readonly total: number
  /** Pin and offset of the next page. Null on the last page. */
  readonly next: { readonly pin: number; readonly offset: number } | null
}

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

/** Null or an empty list accepts any value. */
export interface EventFilter {
  readonly venue: VenueKey | null
  readonly status: MarketStatus | null
  /** Each of these words must occur in the title. */
  readonly search: string | null
  readonly tags: readonly string[]
  readonly category: string | null
  readonly volume24hMin: UsdMicros | null
  readonly volumeTotalMin: UsdMicros | null
}

/** One page of events, sorted by 24-hour volume. Pinned like a page of markets. */
export interface EventPage {
  readonly events: readonly EventView[]
  readonly total: number
  readonly next: { readonly pin: number; readonly offset: number } | null
}

/** Called synchronously when the catalogue changes. Must not throw. */
export interface CatalogWatcher {
  onListed(market: MarketView): void
  onRemoved(market: MarketView): void
  onMoved?(market: MarketView): void
  /** Called when any part of a listing changed, including volumes and prices. Called before `onListed`. */
  onChanged?(market: MarketView): void
  /** Called when the summary of an event changed. `markets` are its current markets. */
  onEvent?(markets: readonly MarketView[]): void
}

export interface CatalogView {
  readonly names: VenueTable
  readonly isLoaded: boolean
  /** Finds a market by its unified id, case-insensitive. */
  find(id: string): MarketView | null
  /** Case-insensitive. If several venues have the slug, returns the market with more volume. */
  findBySlug(slug: string): MarketView | null
  findByOutcome(venue: VenueKey, outcome: string): MarketView | null
  /** All markets of a venue with this slug, case-insensitive. */
  allBySlug(venue: VenueKey, slug: string): readonly MarketView[]
  event(venue: VenueKey, nativeId: string): EventSummary | null
  /** `nativeId`: the venue's event id, case-insensitive. */
  marketsOfEvent(venue: VenueKey, nativeId: string): readonly MarketView[]
  /** Markets of all events of a series. The name of the series is case-insensitive. */
  marketsOfSeries(venue: VenueKey, series: string): readonly MarketView[]
  /** Case-insensitive. If several venues have the slug, returns the event with more volume. */
  eventBySlug(slug: string): EventView | null
  listEvents(query: PageQuery & { readonly filter: EventFilter }): EventPage | 'expired'
  /** The trades of a venue that match the query, over all its markets. Positions have the venue's own ordinals. */
  venueTrades(venue: VenueKey, query: SliceQuery): readonly VenueTrade[]
  oldestVenueTradeMs(venue: VenueKey): TimeMs | null
  /** Finds a market by its internal number. Null if the market was removed. */
  byNumber(number: MarketNumber): MarketView | null
  /** In no particular order. Null: markets of all venues. */
  markets(venue: VenueKey | null): Iterable<MarketView>
  list(query: ListQuery): MarketPage | 'expired'
  /**
   * The markets whose text contains every word of `text`. Returns a promise if a worker thread must run the search.
   * Rejects with EngineError UNAVAILABLE if too many searches wait.
   */
  search(
    query: SearchQuery,
    requester?: Requester,
  ): MarketPage | 'expired' | Promise<MarketPage | 'expired'>
  eventCount(): number
  readonly recordsSinceMs: TimeMs
  counts(): Readonly<Partial<Record<VenueKey, Readonly<Record<MarketStatus, number>>>>>
}

export interface Caller {
  readonly accountId: AccountId
  readonly email: string
  readonly tier: 'free' | 'pro' | 'enterprise'
  readonly createdAtMs: TimeMs
  readonly requestsPerMinute: number
  readonly socketsMax: number
  /** Null if the credential is a login token. */
  readonly keyId: KeyId | null
  /** Null if the credential is a key. */
  readonly token: TokenView | null
  /** Scopes of the key. A login token has all scopes. */
  readonly scopes: readonly KeyScope[]
}

export interface TokenView {
  readonly id: string
  /** The account's token generation at the time of issue. Tokens of older generations are invalid. */
  readonly generation: number
  readonly expiresAtMs: TimeMs
}

/** A request quota per fixed window of 60 s, after a request was counted. */
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

/** Returned promises reject only with EngineError. */
export interface AccountsView {
  /** Null if the key is malformed, unknown or revoked. Reads no disk. */
  callerOfKey(key: string): Caller | null
  /** Null if the token is invalid or expired, or its account is unknown. Reads no disk. */
  callerOfToken(token: string): Caller | null
  /** Whether the credential is still valid. A request body may arrive long after the headers with the credential. */
  isValid(caller: Caller): boolean
  takeAccountRequest(account: AccountId): Quota
  /**
   * Counts a request with which a login token manages the account. This quota is separate, so that keys cannot use it
   * up.
   */
  takeManagementRequest(account: AccountId): Quota
  /**
   * Counts a request of the account's dashboards. This quota is separate, so that other keys and tokens cannot use it
   * up.
   */
  takeDashboardRequest(account: AccountId): Quota
  takeAddressRequest(address: string): Quota
  /** Counts the bytes of a document, script or page. */
  takeAddressFile(address: string, byteCount: number): Quota
  peekAddress(address: string): Quota
  /** Remaining attempts of the address to sign up or log in. `signUp` and `logIn` count them. */
  peekSignIn(address: string): Quota
  /** Opens a stream for the account, synchronously. Null if the account has the maximum number of streams. */
  openSocket(caller: Caller): { release(): void } | null
  /**
   * Rejects with BAD_REQUEST for a known e-mail, and with RATE_LIMITED after too many attempts or if the password queue
   * is full.
   */
  signUp(request: { email: string; password: string; address: string }): Promise<Session>
  /** Rejects with UNAUTHORIZED. Message and duration are the same for known and unknown e-mails. */
  logIn(request: { email: string; password: string; address: string }): Promise<Session>
  /**
   * Opens a session of the local account without a password. The caller must have verified that the request comes from
   * this machine. Null if the account does not exist or is disabled. Rejects with RATE_LIMITED after too many attempts.
   */
  openLocalSession(address: string): Promise<Session | null>
  /** False for the local account, which has no password. */
  hasPassword(account: AccountId): boolean
  keys(account: AccountId): readonly KeyView[]
  /** Ids of the markets that the account watches, oldest first. */
  watchlist(account: AccountId): readonly string[]
  /** Resolves with the new watchlist. Rejects with BAD_REQUEST if the watchlist has 100 markets. */
  watchMarket(account: AccountId, market: string): Promise<readonly string[]>
  /** Resolves with false if the watchlist does not have the market. */
  unwatchMarket(account: AccountId, market: string): Promise<boolean>
  /** Invalidates the caller's token and closes its streams. Does nothing for a key. */
  logOut(caller: Caller): Promise<void>
  /** Invalidates all tokens of the caller's account and closes their streams. Keys stay valid. */
  logOutEverywhere(caller: Caller): Promise<void>
  /**
   * Replaces the password, invalidates all tokens of the account and resolves with a new session. Rejects with
   * UNAUTHORIZED for a wrong password and with RATE_LIMITED after too many attempts. `caller` must have a token.
   */
  changePassword(caller: Caller, change: { current: string; next: string }): Promise<Session>
  /** Deletes the account and its data permanently. Rejects like `changePassword`. */
  deleteAccount(caller: Caller, password: string): Promise<void>
  /**
   * Only the result contains the full key. Rejects with BAD_REQUEST if the account has 20 keys. Default scope: `read`.
   */
  createKey(
    account: AccountId,
    label: string,
    scopes?: readonly KeyScope[],
  ): Promise<{ view: KeyView; key: string }>
  /**
   * Revokes a key and closes its streams. Resolves when the change is on disk, with false if the account has no such
   * key.
   */
  revokeKey(account: AccountId, key: KeyId): Promise<boolean>
}

export interface Session {
  readonly caller: Caller
  readonly accessToken: string
  readonly expiresInSeconds: number
}

/** In any state but `recording`, updates are missing on the tape. */
export const TAPE_STATES = ['recording', 'slow_disk', 'disk_full', 'disk_error', 'closed'] as const

/** State of the record of all published updates. */
export interface TapeStatus {
  readonly state: (typeof TAPE_STATES)[number]
  readonly bytes: number
  /** Number of hours, counted by venue. */
  readonly hours: number
  /** Begin of the oldest hour. Null: the tape is empty. */
  readonly oldestMs: TimeMs | null
  /** Publish time of the newest row. Null: this run has not written any. */
  readonly newestMs: TimeMs | null
  /** Rows that this run could not write. */
  readonly lostRows: number
}

export interface TapeView {
  status(): TapeStatus
}

export const REPLAY_CHANNELS = ['orderbook', 'trades', 'prices', 'whales', 'lifecycle'] as const
export type ReplayChannel = (typeof REPLAY_CHANNELS)[number]
export const REPLAY_FORMATS = ['ndjson', 'msgpack'] as const
export type ReplayFormat = (typeof REPLAY_FORMATS)[number]

/** Markets of one channel. Both conditions apply. */
export interface ReplaySelection {
  readonly channel: ReplayChannel
  /** Public names of venues. Null: all. */
  readonly platforms: readonly string[] | null
  /** Public ids. Null: all markets. */
  readonly markets: readonly string[] | null
}

/** Selects messages that were published in [fromUs, toUs), in microseconds since 1970. */
export interface ReplayQuery {
  readonly fromUs: number
  readonly toUs: number
  /** A message is selected by any of these. The states of venues are always included. */
  readonly selections: readonly ReplaySelection[]
  readonly format: ReplayFormat
  /**
   * Messages at `fromUs`: the state of each market (`send`), the same after a `resync` (`resync`), or nothing, because
   * the client has the states (`omit`).
   */
  readonly states: 'send' | 'resync' | 'omit'
  /** Whether chunks are separate messages with their times. Otherwise they are parts of an HTTP body. */
  readonly isTimed: boolean
  readonly isGzip: boolean
  /** Skips messages of the first selection's channel up to this offset. Null: none. */
  readonly fromOffset: number | null
}

/** A running replay or export. It must be closed. */
export interface OpenReplay<Chunk = BodyChunk> {
  /**
   * The next bytes, which may be none. Must not be called again before it resolves, or after the last chunk. Rejects
   * with EngineError.
   */
  next(): Promise<Chunk>
  /** Calling it again does nothing. */
  close(): void
}

export interface BodyChunk {
  readonly bytes: Uint8Array
  readonly isLast: boolean
}

export interface ReplayChunk extends BodyChunk {
  /** For each message its time in microseconds and the end of its bytes. Empty unless `isTimed`. */
  readonly marks: Float64Array
  /** A reader of the same selections that starts here continues this one. */
  readonly endUs: number
  /** The engine run of the newest record. Null: there was none. */
  readonly epoch: string | null
}

/** A share of the limits of running replays. It must be released. */
export interface ReplaySlot {
  /** At most two readers of a slot may be open at once. */
  read(query: ReplayQuery): OpenReplay<ReplayChunk>
  /** Closes the readers. Calling it again does nothing. */
  release(): void
}

export interface ReplaysView {
  /** Throws EngineError RATE_LIMITED or UNAVAILABLE if too many replays run. `owner`: an account. */
  reserve(owner: string): ReplaySlot
}

/** One table of one hour of one venue. */
export interface ExportRequest {
  /** Public name of the venue. */
  readonly platform: string
  readonly table: ExportTableName
  /** UTC date, as 2026-11-26. */
  readonly date: string
  /** UTC hour, 0..23. */
  readonly hour: number
  readonly format: ExportFormat
  /** Whether an hour that is not final is exported too. */
  readonly isPartial: boolean
}

/** Selects hours, newest first. */
export interface HoursQuery {
  /** Null: all. */
  readonly platform: string | null
  readonly date: string | null
  readonly limit: number
}

/** Exported files of the tape. */
export interface ExportsView {
  /**
   * JSON of the final hours with their manifests, newest first. Rejects with EngineError RATE_LIMITED or UNAVAILABLE if
   * too many lists wait. `owner`: an account.
   */
  list(query: HoursQuery, owner: string): Promise<string>
  /** The caller must close the file. Rejects with EngineError if there is no such file or too many are open. */
  open(request: ExportRequest, owner: string): Promise<OpenReplay>
}

export interface VenueView extends FeedStatus {
  readonly connectionsOpen: number
  readonly connectionsWanted: number
  /** Unknown messages and answers of the venue, in order of first occurrence. Their number is limited. */
  readonly drift: readonly DriftEntry[]
}

/** The demand of users for live books of a venue. A gateway forwards the demand to the engine. */
export interface BookDemand {
  /**
   * Covers a market for ten minutes from now. `owner`: an account id, or the address of an anonymous caller. Returns
   * false if the market is not open or a limit of demanded markets is reached.
   */
  request(market: MarketNumber, owner: string): boolean
  /**
   * Covers a market until `release` was called as often as `hold`. If a limit of demanded markets is reached, or another
   * owner needs the place, the hold waits until a place is free. Returns false if the market is unknown or resolved or
   * too many holds wait. `release` must then not be called.
   */
  hold(market: MarketNumber, owner: string, reason: HoldReason): boolean
  /** Ends a hold. The market stays covered for another minute, in case a client connects again. */
  release(market: MarketNumber, owner: string, reason: HoldReason): void
  /**
   * Waits for the first snapshot of a book that was just covered on demand, at most `waitMs`. Resolves at once for any
   * other book, and if 1,000 callers in total or 50 of one owner wait.
   */
  live(market: MarketNumber, waitMs: number, owner: string): Promise<void>
}

export interface CoverageCounts {
  readonly open: number
  readonly wanted: number
  readonly covered: number
  readonly live: number
  /** Wanted markets by reason. A market with several reasons is counted for each of them. */
  readonly byReason: Readonly<Record<CoverageReason, number>>
}

export interface GameView {
  readonly markets: readonly MarketView[]
  /** Unix milliseconds, from the first venue that states a start time. Null if none does. */
  readonly startMs: number | null
}

export type GamesView = ReadonlyMap<string, GameView>

export interface SportsView {
  /**
   * Games of a US Eastern date (YYYY-MM-DD), sorted by key. A golf tournament is listed on each day of play. Returns a
   * promise if many games must be grouped first. Rejects with EngineError UNAVAILABLE if too many callers wait.
   */
  games(sport: Sport, date: string): GamesView | Promise<GamesView>
  today(): string
}

export interface MatchesView {
  /** Only a match of high confidence whose first outcomes have the same meaning. Otherwise null. */
  matchedMarketOf(market: MarketRef): MarketView | null
  /** Increases when the matched market of any market changes. */
  readonly version: number
  readonly count: number
}

/** Prices at any past time. Prices that this process did not record are requested from the venue once and cached. */
export interface PastPricesView {
  /**
   * The newest price at or before a time: the recorded price if the feed was live then, otherwise the venue's. Null if
   * neither exists. Rejects with UNAVAILABLE if the venue does not answer, and with RATE_LIMITED if the requester has
   * used up its venue requests.
   */
  at(
    market: MarketView,
    atMs: TimeMs,
    requester?: Requester,
  ): PricePoint | null | Promise<PricePoint | null>
  /**
   * The venue's prices of a range, ascending. May include a few prices before and after the range. Rejects like `at`.
   */
  range(
    market: MarketView,
    range: PriceRange,
    requester?: Requester,
  ): Promise<readonly PricePoint[]>
}

/** Steps of less than an hour return one price per minute. */
export interface PriceRange {
  readonly fromMs: TimeMs
  readonly toMs: TimeMs
  readonly stepMs: number
}

export interface StatsView {
  readonly trades: number
  readonly snapshots: number
  readonly databaseBytes: number
  readonly coverage: Readonly<
    Partial<Record<VenueKey, { readonly oldestMs: TimeMs; readonly newestMs: TimeMs } | null>>
  >
  /** Empty on a gateway that has not received the engine's figures. */
  readonly books: Readonly<Partial<Record<VenueKey, BookFigures>>>
}

export interface ClusterView {
  readonly role: 'engine' | 'gateway'
  /** Name by which API answers identify this process. */
  readonly name: string
  /** Whether the cluster log is reachable. */
  readonly link: 'up' | 'down'
  /** Number of log batches that this process has not read yet. On an engine: batches that the log has not confirmed. */
  readonly lagBatches: number
  /** Delay from the engine's receipt of the newest update to its application in this process. */
  readonly lagMs: number
  /** Whether the engine sent a message recently. On an engine: whether it leads. */
  readonly isConnected: boolean
  readonly leader: MemberStatus | null
  /** All recently active processes of the cluster, including this one. */
  readonly members: readonly MemberStatus[]
}

export interface EngineView {
  readonly version: string
  readonly data: DataSource
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
  delayMs(): number
  /** A book without a change or confirmation for this time (ms) may be stale. */
  readonly bookAgeMsMax: number
  /**
   * Reads a market's book over REST. Resolves when the result arrived or after two seconds. Null if the book cannot be
   * read.
   */
  confirmBook(market: MarketView): Promise<void> | null
  /** Null if the venue is unknown. */
  coverage(venue: VenueKey): BookDemand | null
  uptimeSeconds(): number
  /** Undefined outside a cluster. */
  cluster?(): ClusterView
  /** Undefined if nothing is recorded. */
  readonly tape?: TapeView | undefined
  /** Undefined without a tape. */
  readonly replays?: ReplaysView | undefined
  /** Undefined without a tape. */
  readonly exports?: ExportsView | undefined
}

export type RunView = Run
type TradeLossView = TradeLoss
export type WhaleRowView = WhaleRow

/** Published trades by run and offset, for streams that resume. */
export interface TradeLogView {
  readonly present: RunView
  /** The stored runs, oldest first. The current run is last. Reads the disk. */
  runs(): readonly RunView[]
  /**
   * At most `limit` trades that a run published after an offset, in order. Expired trades are missing. A trade of the
   * current run is available at once.
   */
  range(query: OffsetQuery): readonly TradeOfMarket[]
  /**
   * Same as `range`, but reads only the trades of wanted markets. `trade` is null for all other markets, and undefined
   * if the trade can no longer be read.
   */
  rangeOf(query: OffsetQuery & { readonly isWanted: (market: MarketNumber) => boolean }): readonly {
    readonly offset: number
    readonly market: MarketNumber
    readonly trade: StoredTrade | null | undefined
  }[]
  /** Announced losses of trades with an offset of at least `offset`, in order. */
  losses(query: { run: number; offset: number }): readonly TradeLossView[]
  /**
   * Resolves when the trades after an offset have arrived or cannot arrive. Null or undefined if they are available.
   */
  arrival?(position: { run: number; offset: number }): Promise<void> | null
}

/** Whale rows. Streams that resume read published rows by run and offset. Paging requests read all rows by time. */
export interface WhaleLogView {
  readonly present: RunView
  /** The stored runs, oldest first. The current run is last. `endOffset` counts whales instead of trades. */
  runs(): readonly RunView[]
  /** At most `limit` whales that a run published after an offset, in order. */
  range(query: OffsetQuery): readonly WhaleRow[]
  /** Whale rows of at least 1,000 dollars, published or not. The caller filters them. */
  history(query: SliceQuery): readonly WhaleRow[]
  historyOfMarket(query: SliceQuery & { readonly market: MarketNumber }): readonly WhaleRow[]
  /** Null if no whale is recorded. */
  oldestMs(): TimeMs | null
}
