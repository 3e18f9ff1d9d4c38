import { Accounts } from '../../actors/accounts/accounts.ts'
import { Arbitrage } from '../../actors/arbitrage/arbitrage.ts'
import { Catalog, type KnownMarket } from '../../actors/catalog/catalog.ts'
import { MarketSearch } from '../../actors/catalog/search.ts'
import type { Feeder } from '../../actors/cluster/feeder.ts'
import { startHousekeeping } from '../../actors/housekeeping.ts'
import type { IgnoredReason, MarketParts } from '../../actors/market/parts.ts'
import { MatchOverrides } from '../../actors/matches/match-overrides.ts'
import { Matcher } from '../../actors/matches/matcher.ts'
import { Matches } from '../../actors/matches/matches.ts'
import { isComparable } from '../../actors/matches/views.ts'
import { PastPrices } from '../../actors/past-prices/past-prices.ts'
import { Sports } from '../../actors/sports/sports.ts'
import { System } from '../../actors/system.ts'
import { TapeRecorder } from '../../actors/tape/tape-recorder.ts'
import { TradeLog } from '../../actors/trade-log.ts'
import type { BookCheckLimits } from '../../actors/venue/book-checks.ts'
import { DelayWatch } from '../../actors/venue/delay-watch.ts'
import { EventRoutes, type OpenVenue } from '../../actors/venue/event-routes.ts'
import { type Learn, TeamReader } from '../../actors/venue/team-reader.ts'
import { VenueActor } from '../../actors/venue/venue.ts'
import type {
  ClusterView,
  EngineView,
  MarketView,
  StatsView,
  VenueView,
} from '../../actors/views.ts'
import { Wallets } from '../../actors/wallets/wallets.ts'
import { Webhooks } from '../../actors/webhooks/webhooks.ts'
import { WhaleLog } from '../../actors/whales/whale-log.ts'
import { Whales } from '../../actors/whales/whales.ts'
import { createServer, type Server } from '../../http/server.ts'
import { EventBodies } from '../../http/webhooks/bodies.ts'
import type {
  AccountTable,
  MatchTable,
  Storage,
  WebhookTable,
} from '../../storage/contract/storage.ts'
import type { BookFigures, EngineFigures } from '../../storage/records/log-items.ts'
import { tapeItemNames } from '../../storage/records/tape-items.ts'
import { type Clock, pause, type StopTimer } from '../clock.ts'
import type { Config } from '../config.ts'
import type { DataSource } from '../data-source.ts'
import type { VenueEvent, WalletFillEvent } from '../events.ts'
import { nativeMarketId, type VenueKey } from '../ids.ts'
import { bookAgeMsMax, bookRoundMs, outstandingWritesMax } from '../limits.ts'
import { type MatchPort, openMatchThread } from '../matching/match-thread.ts'
import { openPasswordPool, type PasswordPool } from '../passwords/passwords.ts'
import type { Log } from '../process/log.ts'
import type { Count, Metrics } from '../process/metrics.ts'
import { Publisher } from '../publisher.ts'
import type { Random } from '../random.ts'
import { openSearch } from '../search/search.ts'
import { openTapeThread, type TapePort } from '../tape/tape-thread.ts'
import type { TapeSettings } from '../tape/writer.ts'
import type { TapeSelection } from '../tape-selection.ts'
import { runInSlices } from '../time-slices.ts'
import type { VenueFacts, VenueTable } from '../venue-table.ts'
import type { Venue, VenueParts } from '../venues/venue.ts'
import { venueTable } from '../venues/venues.ts'
import { openWalletThread } from '../wallets/wallet-thread.ts'
import { openCaller } from '../webhooks/caller.ts'
import type { Caller } from '../webhooks/post.ts'
import { SecretBox } from '../webhooks/secret-box.ts'
import { webhookShareOf } from '../webhooks/webhook-share.ts'
import { COVER_ALL, type CoverageChoice } from './coverage.ts'
import { Exports } from './export/exports.ts'
import { McpCalls } from './mcp/mcp-calls.ts'
import { Replays } from './replay/replays.ts'

export type ServerSettings = Pick<
  Config,
  | 'host'
  | 'port'
  | 'venueNames'
  | 'corsOrigins'
  | 'trustedProxies'
  | 'isMetricsPublic'
  | 'jwtSecretPrevious'
  | 'webhookPolicy'
> &
  Partial<Pick<Config, 'metricsHosts'>> & {
    readonly jwtSecret: string
    /** If true, builds the specification documents at the start instead of at their first request. */
    readonly buildsDocuments?: boolean
  }

/** Defaults: chat messages link to localhost, webhook URLs need no test delivery, no local account exists, sign-up is open. */
type EngineSettings = ServerSettings &
  Pick<Config, 'retentionDays' | 'dataBytesMax'> &
  Partial<
    Pick<
      Config,
      | 'publicUrl'
      | 'mustVerifyWebhooks'
      | 'opensLocalAccount'
      | 'bookLimits'
      | 'isSignUpOpen'
      | 'signUpsPerHour'
    >
  > & {
    readonly secretsKey: string
    /** Default: `live`. */
    readonly data?: DataSource
    /** Chooses the coverage policy of each venue. Default: all markets. */
    readonly coverageOf?: (venue: Venue) => CoverageChoice
  }

interface EngineParts {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: Metrics
  readonly storage: Storage
  /** Default: engine/venues/venues.ts. */
  readonly table?: readonly VenueFacts[]
  readonly venues: (parts: VenueParts) => readonly Venue[]
  /** Default: a matcher that compares texts only, in a thread. */
  readonly matching?: MatchPort | null
  /** Identifies this run. Must never be reused. */
  readonly epoch: string
  readonly version: string
  /** Runs the loading of the stored catalogue. Default: runs it in the heap settings of the process. */
  readonly loadWith?: (load: () => Promise<number>) => Promise<number>
  readonly cluster?: ClusterParts
  /** Default: nothing is recorded. */
  readonly tape?: TapeOptions | null
}

/** Where and what the tape records. */
export interface TapeOptions extends Pick<TapeSettings, 'folder' | 'daysMax' | 'bytesMax'> {
  readonly selection: TapeSelection
  /** Default: a thread. */
  readonly port?: TapePort
}

export interface ClusterParts {
  /** Tables that replace the storage's tables of the same names. */
  readonly accounts: AccountTable
  readonly webhooks: WebhookTable
  readonly view?: () => ClusterView
  /** Passes events on. If another engine may have taken the lease, the gate first checks the lease. */
  readonly gate?: (take: (event: VenueEvent) => void) => (event: VenueEvent) => void
  /** Called once. The feeder receives all updates and all changes of listings and pairs. */
  readonly feeder: (components: {
    readonly publisher: Publisher
    readonly catalog: Catalog
    readonly venues: () => readonly VenueView[]
    readonly figures: () => EngineFigures
  }) => Feeder
}

export interface Engine
  extends Pick<
    Components,
    | 'view'
    | 'catalog'
    | 'accounts'
    | 'overrides'
    | 'wallets'
    | 'matches'
    | 'arbitrage'
    | 'publisher'
    | 'venues'
  > {
  /** Port of the server. Valid after `start`. */
  readonly port: number
  /** Resolves when the server listens: when all catalogues are loaded, or after 10 s. */
  start(): Promise<void>
  /** Stops all components in reverse order, flushes data, and closes the storage. */
  stop(): Promise<void>
}

const LISTEN_AFTER_MS = 10_000
const VENUES_POLL_MS = 25
const BOOK_LIMITS: BookCheckLimits = { ageMsMax: bookAgeMsMax, roundMs: bookRoundMs }

export function createEngine(settings: EngineSettings, parts: EngineParts): Engine {
  const components = createComponents(settings, parts)
  const { catalog, publisher, view } = components
  const timers: StopTimer[] = []
  const loading = catalog.loading()
  let isStopped = false
  const mcp = new McpCalls()
  let server: Server | null = null
  const openServer = async () => {
    const { clock, log, metrics } = parts
    server = await createServer({ ...settings, engine: view, publisher, clock, log, metrics, mcp })
    mcp.listen(settings.host, server.port)
    registerServer(components, server)
    components.arbitrage.closeLastRun()
  }
  return {
    ...components,
    get port() {
      return server?.port ?? settings.port
    },
    async start() {
      // In time slices, so that the thread of the search indexes the first markets meanwhile.
      const load = () => runInSlices(parts.clock, loading)
      const marketCount = await (parts.loadWith?.(load) ?? load())
      if (isStopped) return
      if (marketCount > 0)
        parts.log.info({ markets: marketCount }, 'catalogue of the last run loaded')
      await components.tape?.start()
      components.whales.start()
      components.wallets.start()
      // Must start before the first catalogue page arrives. Otherwise the page would add expired markets again.
      const { retentionDays, dataBytesMax: sizeBytesMax } = settings
      timers.push(...startHousekeeping({ ...parts, ...components, retentionDays, sizeBytesMax }))
      components.webhooks.start()
      components.matcher.start()
      components.arbitrage.start()
      catalog.isLoaded = catalog.hasEveryVenue
      // Gateways can serve without venue connections, so a cluster's server opens early.
      if (parts.cluster !== undefined && catalog.isLoaded) await openServer()
      const isCrawled = startVenues(components)
      await Promise.race([isCrawled, isReadyToListen(components, parts)])
      if (server === null) await openServer()
    },
    async stop() {
      isStopped = true
      loading.return(0)
      await server?.drain()
      for (const stopTimer of timers) stopTimer()
      await stopComponents(components, parts)
      await components.tape?.stop()
      await components.replays.stop()
      await components.exports.stop()
      await mcp.stop()
      await server?.stop()
      await parts.storage.close()
    },
  }
}

interface Components {
  readonly system: System
  readonly delays: DelayWatch
  readonly publisher: Publisher
  readonly tradeLog: TradeLog
  readonly catalog: Catalog
  readonly passwords: PasswordPool
  readonly accounts: Accounts
  readonly search: MarketSearch
  readonly sports: Sports
  readonly teams: TeamReader
  readonly pastPrices: PastPrices
  readonly whales: Whales
  readonly wallets: Wallets
  readonly webhooks: Webhooks
  readonly caller: Caller
  readonly matches: Matches
  readonly matcher: Matcher
  readonly overrides: MatchOverrides
  readonly arbitrage: Arbitrage
  readonly venues: OpenVenues
  /** Null: the engine is not part of a cluster. */
  readonly feeder: Feeder | null
  /** Null: nothing is recorded. */
  readonly tape: TapeRecorder | null
  readonly replays: Replays
  readonly exports: Exports
  readonly view: EngineView
}

type OpenVenues = Map<VenueKey, OpenVenue>

const dataOf = ({ data = 'live' }: EngineSettings): DataSource => data

function createComponents(settings: EngineSettings, parts: EngineParts): Components {
  const { clock, log, metrics, storage } = parts
  const names = venueTable(settings.venueNames, parts.table)
  const { bookLimits = BOOK_LIMITS } = settings
  const run = storage.runs.begin(parts.epoch, clock.nowMs())
  const publisher = new Publisher({ epoch: run.epoch, log, metrics })
  const tradeLog = new TradeLog({ run, publisher, storage })
  const mustHold = () => storage.outstandingWrites() > outstandingWritesMax
  const system = new System({ clock, log, metrics, mustHold })
  const delays = new DelayWatch({ clock, log, metrics, system })
  // Filled by `openVenues`, because venues and the markets of the catalogue need each other.
  const venues: OpenVenues = new Map()
  const stats = () => statsOf(storage, names, venues)
  const search = new MarketSearch({ port: openSearch(), clock, log })
  const market = marketParts(settings, parts, { publisher, venues, run: run.number })
  const catalog = new Catalog({ names, clock, system, storage, index: search, market })
  search.rebuildFrom(() => catalog.texts())
  const sports = new Sports({ catalog, clock })
  const feeder =
    parts.cluster?.feeder({
      ...{ publisher, catalog },
      venues: () => [...venues.values()].map(({ actor }) => actor),
      figures: () => ({ ...stats(), wallets: wallets.count, data: dataOf(settings) }),
    }) ?? null
  const matchTable = feeder?.tap(storage.matches) ?? storage.matches
  const { matches, matcher, overrides } = openMatching(parts, { catalog, publisher, matchTable })
  const learn: Learn = async (listings) => {
    feeder?.learnTeams(listings)
    await sports.learnTeams(listings)
    await matcher.learnTeams(
      listings.map((team) => ({ team, handles: names.of(team.venue).handles })),
    )
  }
  const teams = new TeamReader({ clock, log, metrics, learn })
  const arbitrage = new Arbitrage({
    ...{ clock, publisher, metrics, catalog, matches, table: storage.opportunities },
    bookAgeMsMax: bookLimits.ageMsMax,
    confirm: (ref) => venues.get(ref.venue)?.actor.requestBookCheck(ref),
  })
  const pastPrices = openPastPrices(parts, { catalog, venues })
  const wallets = openWallets(parts, { catalog })
  const passwords = openPasswordPool(clock)
  const accountTable = parts.cluster?.accounts ?? storage.accounts
  const accounts = new Accounts({ ...settings, storage: accountTable, clock, passwords })
  const coverage = (venue: VenueKey) => venues.get(venue)?.actor.coverage ?? null
  const webhookParts = { catalog, matches, accounts, coverage }
  const { caller, webhooks } = openWebhooks(settings, parts, webhookParts)
  const whales = new Whales({
    ...{ system, publisher, storage, clock, metrics, run: run.number },
    market: (number) => catalog.byNumber(number),
  })
  const onWalletFill = (fill: WalletFillEvent) => wallets.noteFill(fill)
  const routes = new EventRoutes({ catalog, metrics, onWalletFill })
  const routing = { names, catalog, publisher, system, delays, routes, venues }
  openVenues(parts, { ...settings, ...routing, matches, arbitrage, bookLimits })
  const tape = openTape(parts, { catalog, publisher, names })
  const { replays, exports } = tapeReaders(parts.tape?.folder ?? '')
  const view: EngineView = {
    ...{ version: parts.version, data: dataOf(settings), epoch: run.epoch, coverage, stats },
    ...{ catalog, accounts, webhooks, wallets, sports, matches, arbitrage, pastPrices, tradeLog },
    whaleLog: new WhaleLog({ run, storage }),
    isStorageHealthy: () => storage.isHealthy(),
    venues: () => [...venues.values()].map((open) => open.actor),
    delayMs: () => Math.round(delays.delayMs),
    bookAgeMsMax: bookLimits.ageMsMax,
    confirmBook: ({ ref }) => venues.get(ref.venue)?.actor.confirmBook(ref) ?? null,
    uptimeSeconds: uptimeOf(clock),
    ...(parts.cluster?.view === undefined ? {} : { cluster: parts.cluster.view }),
    ...(tape === null ? {} : { tape, replays, exports }),
  }
  const first = { system, delays, publisher, tradeLog, catalog, search, sports, teams, pastPrices }
  const ends = { tape, replays, exports, view }
  const later = { passwords, accounts, wallets, webhooks, caller, whales, venues, ...ends }
  const components = { ...first, ...later, matches, matcher, overrides, arbitrage, feeder }
  registerWatchers(components)
  return components
}

const tapeReaders = (folder: string) => ({
  replays: new Replays(folder),
  exports: new Exports(folder),
})

function uptimeOf(clock: Clock): () => number {
  const startedAtMs = clock.monotonicMs()
  return () => Math.floor((clock.monotonicMs() - startedAtMs) / 1_000)
}

/** Watchers are called in the order of registration. `registerServer` registers the server's watchers last. */
function registerWatchers(components: Omit<Components, 'view'>): void {
  const { publisher, catalog, accounts, whales, overrides, delays } = components
  const { tradeLog, wallets, webhooks, sports, matcher, matches } = components
  const venues = [...components.venues.values()].map(({ actor }) => actor)
  publisher.watch(tradeLog)
  publisher.watch(whales)
  publisher.watch(wallets.watcher)
  publisher.watch(webhooks.watcher)
  publisher.watch(components.arbitrage)
  for (const venue of venues) publisher.watch(venue)
  const { feeder, tape } = components
  if (feeder !== null) publisher.watch(feeder)
  if (tape !== null) publisher.watch(tape)
  // Watchers of whale rows that the stream does not contain.
  whales.watch(webhooks)
  whales.watch(wallets)
  // The matcher comes first, because it ends the pairs of a removed market.
  catalog.watch(sports)
  catalog.watch(matcher)
  catalog.watch(matches)
  catalog.watch(wallets)
  if (feeder !== null) catalog.watch(feeder)
  if (tape !== null) catalog.watch(tape)
  // Watchers of deleted accounts, revoked keys and ended sessions.
  accounts.watch(webhooks)
  overrides.setListener(matcher)
  // Watchers of the engine's delay, which is measured ten times a second.
  for (const venue of venues) delays.watch(venue)
}

/** The server must be the last watcher. */
function registerServer({ publisher, accounts }: Components, { hub }: Server): void {
  publisher.watch(hub)
  accounts.watch(hub.accountWatcher)
}

function marketParts(
  { retentionDays }: EngineSettings,
  { clock, metrics, storage }: EngineParts,
  { publisher, venues, run }: Pick<Components, 'publisher' | 'venues'> & { run: number },
): Omit<MarketParts, 'changed' | 'volumeUnit'> {
  return {
    ...{ publisher, storage, run, retentionDays },
    nowMs: () => clock.nowMs(),
    venue: (key) => venues.get(key)?.actor ?? null,
    ignored: ignoredCounter(metrics),
  }
}

function openVenues(
  parts: EngineParts,
  components: Pick<
    Components,
    'catalog' | 'publisher' | 'system' | 'delays' | 'venues' | 'matches' | 'arbitrage'
  > & {
    readonly names: VenueTable
    readonly routes: EventRoutes
    readonly bookLimits: BookCheckLimits
  } & Pick<EngineSettings, 'coverageOf'>,
): void {
  const { clock, random, log, metrics, storage } = parts
  const { catalog, publisher, system, delays, venues, names, routes } = components
  const { bookLimits, coverageOf = () => COVER_ALL } = components
  const route = (event: VenueEvent) => routes.route(event)
  const emit = parts.cluster?.gate?.(route) ?? route
  const isHandled = () => system.waiting === 0
  for (const venue of parts.venues({ clock, random, log, metrics, emit })) {
    const platform = names.platform(venue.key)
    const shared = { catalog, publisher, storage, clock, log, metrics, delays, isHandled }
    const first = () => firstMarkets(venue.key, components)
    const actor = new VenueActor({
      ...{ ...shared, venue, platform, bookLimits, priorityMarkets: first },
      coverage: coverageOf(venue),
    })
    const open = { venue, actor, actorRef: system.spawn(actor) }
    venues.set(venue.key, open)
    routes.add(open)
  }
}

function* firstMarkets(
  venue: VenueKey,
  { catalog, matches, arbitrage }: Pick<Components, 'catalog' | 'matches' | 'arbitrage'>,
): Iterable<KnownMarket> {
  for (const match of matches.all()) {
    if (!isComparable(match.pairScore)) continue
    const { ref } = match.a.ref.venue === venue ? match.a : match.b
    const market = catalog.entryOfNative(ref.venue, ref.nativeId)
    if (market !== null) yield market
  }
  for (const { legs } of arbitrage.open()) {
    for (const { market: ref } of legs) {
      const market = ref.venue === venue ? catalog.entryOfNative(venue, ref.nativeId) : null
      if (market !== null) yield market
    }
  }
}

function openMatching(
  { clock, log, storage, matching }: EngineParts,
  {
    catalog,
    publisher,
    matchTable,
  }: Pick<Components, 'catalog' | 'publisher'> & { readonly matchTable: MatchTable },
): { matches: Matches; matcher: Matcher; overrides: MatchOverrides } {
  const nowMs = () => clock.nowMs()
  const summaryOf = ({ ref, summary }: MarketView) =>
    summary.event === null ? null : catalog.event(ref.venue, summary.event)
  const matches = new Matches({ clock, eventTitle: (market) => summaryOf(market)?.title ?? null })
  const overrides = new MatchOverrides({
    ...{ table: storage.matchOverrides, nowMs },
    find: (venue, nativeId) =>
      catalog.entryOfNative(venue, nativeMarketId(nativeId))?.actor ?? null,
  })
  const matcher = new Matcher({
    ...{ clock, log, publisher, overrides, matches, nowMs, table: matchTable },
    port: matching ?? openMatchThread(),
    market: (number) => catalog.byNumber(number),
    markets: () => catalog.markets(null),
    readerOf: ({ ref }) => catalog.names.of(ref.venue).subjects,
    eventOf(market) {
      const summary = summaryOf(market)
      if (summary === null) return null
      const details = storage.events.details(summary.venue, summary.nativeId)
      return details === null ? null : { ...summary, ...details }
    },
  })
  return { matches, matcher, overrides }
}

function openPastPrices(
  { clock, log, metrics, storage }: EngineParts,
  { catalog, venues }: Pick<Components, 'catalog' | 'venues'>,
): PastPrices {
  return new PastPrices({
    ...{ clock, log, metrics, storage, events: catalog },
    pastPricesOf: (venue) => venues.get(venue)?.actor.pastPrices ?? null,
    liveSinceMs: ({ venue, number }) => venues.get(venue)?.actor.liveSinceOf(number) ?? null,
  })
}

/** Null: nothing is recorded. */
function openTape(
  { clock, log, metrics, tape = null }: EngineParts,
  {
    catalog,
    publisher,
    names,
  }: Pick<Components, 'catalog' | 'publisher'> & { readonly names: VenueTable },
): TapeRecorder | null {
  if (tape === null) return null
  const { port = openTapeThread(), selection, ...limits } = tape
  const venues = names.keys.map((venue) => ({ venue, platform: names.platform(venue) }))
  const settings = { ...limits, venues, epoch: publisher.epoch, itemNames: tapeItemNames }
  const shared = { clock, log, metrics, catalog, publisher }
  return new TapeRecorder({ ...shared, port, selection, venues: names.keys, settings })
}

function openWebhooks(
  settings: EngineSettings,
  parts: EngineParts,
  {
    catalog,
    matches,
    accounts,
    coverage,
  }: Pick<Components, 'catalog' | 'accounts' | 'matches'> & Pick<EngineView, 'coverage'>,
): { caller: Caller; webhooks: Webhooks } {
  const { clock, log, metrics, random, storage, cluster } = parts
  const { publicUrl = `http://localhost:${settings.port}` } = settings
  const caller = openCaller({ policy: settings.webhookPolicy, clock, metrics, log })
  const webhooks = new Webhooks({
    ...{ clock, log, metrics, caller, random },
    storage: {
      webhooks: cluster?.webhooks ?? storage.webhooks,
      outbox: storage.outbox,
      committed: () => storage.committed(),
    },
    box: new SecretBox(settings.secretsKey),
    bodies: new EventBodies({ catalog, matches, clock, publicUrl }),
    market: (number) => catalog.byNumber(number)?.summary ?? null,
    books: { catalog, coverage },
    isAccountActive: (account) => accounts.directory.isActive(account),
    mustVerify: settings.mustVerifyWebhooks ?? false,
    shareOf: (account) => webhookShareOf(accounts.directory.find(account) ?? { tier: 'free' }),
  })
  return { caller, webhooks }
}

function openWallets(
  { clock, log, metrics, storage }: EngineParts,
  { catalog }: Pick<Components, 'catalog'>,
): Wallets {
  const venue = catalog.names.walletVenue?.key ?? null
  return new Wallets({
    ...{ storage, clock, log, metrics, port: openWalletThread() },
    venue,
    view: (id) => (venue === null ? null : (catalog.entryOfNative(venue, id)?.actor ?? null)),
    market: (number) => catalog.byNumber(number),
    marketsOfEvent: (event) => (venue === null ? [] : catalog.marketsOfEvent(venue, event)),
  })
}

async function startVenues({ catalog, delays, teams, venues, wallets }: Components): Promise<void> {
  const crawls = [...venues.values()].map(({ actor, venue }) => {
    teams.start(venue)
    wallets.attach(venue)
    return new Promise<void>((resolve) => actor.start(resolve))
  })
  delays.start()
  await Promise.all(crawls)
  catalog.isLoaded = true
}

/** Stops event sources, then their consumers, then writes the last state of each component. */
async function stopComponents(components: Components, parts: EngineParts): Promise<void> {
  components.pastPrices.stop()
  components.delays.stop()
  // Stopped before the feeds, so that opportunities end with the reason `stopped` instead of `stale`.
  components.arbitrage.stop()
  await Promise.all([components.teams.stop(), components.wallets.stop()])
  await Promise.all([...components.venues.values()].map(({ actor }) => actor.stop()))
  components.whales.stop()
  components.system.stop()
  components.webhooks.stop()
  components.caller.stop()
  const nowMs = parts.clock.nowMs()
  for (const { actor } of components.catalog.entries()) actor.checkpoint(nowMs)
  await components.accounts.saveUse()
  await Promise.all([
    components.passwords.close(),
    components.search.close(),
    components.matcher.close(),
  ])
}

async function isReadyToListen(components: Components, parts: EngineParts): Promise<void> {
  // A catalogue that an earlier run loaded can be served before its crawl ends.
  if (!components.catalog.isLoaded) await pause(parts.clock, LISTEN_AFTER_MS)
  else if (parts.cluster === undefined) await venuesUp(components, parts)
}

async function venuesUp({ view }: Components, { clock }: EngineParts): Promise<void> {
  const endsAtMs = clock.monotonicMs() + LISTEN_AFTER_MS
  while (clock.monotonicMs() < endsAtMs && view.venues().some(({ state }) => state === 'down')) {
    await pause(clock, VENUES_POLL_MS)
  }
}

function statsOf(storage: Storage, { keys }: VenueTable, venues: OpenVenues): StatsView {
  const { trades, snapshots } = storage
  return {
    trades: trades.count(),
    snapshots: snapshots.count(),
    databaseBytes: storage.sizeBytes(),
    coverage: Object.fromEntries(keys.map((venue) => [venue, trades.extentOfVenue(venue)])),
    books: Object.fromEntries([...venues].map(([venue, { actor }]) => [venue, booksOf(actor)])),
  }
}

function booksOf({ coverage: { policy, counts } }: Pick<VenueActor, 'coverage'>): BookFigures {
  const { covered, open } = counts
  return { covered, open, policy }
}

function ignoredCounter(metrics: Metrics): (reason: IgnoredReason) => void {
  const counts = new Map<IgnoredReason, Count>()
  return (reason) => {
    let count = counts.get(reason)
    if (count === undefined) {
      count = metrics.count('events_ignored_total', 'Events that changed nothing.', { reason })
      counts.set(reason, count)
    }
    count.inc()
  }
}
