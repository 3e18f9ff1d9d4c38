// The wiring: every part named once, in the order in which a message meets them. One of the few files
// that look outward from engine/ (with main.ts and commands/); nothing else introduces rooms to each
// other.

import { AccountsActor } from '../actors/accounts/accounts.ts'
import { Catalog } from '../actors/catalog/catalog.ts'
import { MarketSearch } from '../actors/catalog/search.ts'
import type { IgnoredReason, MarketParts } from '../actors/market/parts.ts'
import { Matcher } from '../actors/matches/matcher.ts'
import { Matches } from '../actors/matches/matches.ts'
import { MatchVerdicts } from '../actors/matches/verdicts.ts'
import { PastPrices } from '../actors/past-prices/past-prices.ts'
import { Sports } from '../actors/sports/sports.ts'
import { System } from '../actors/system.ts'
import { TradeLog } from '../actors/trade-log.ts'
import { startUpkeep } from '../actors/upkeep.ts'
import { DelayWatch } from '../actors/venue/delay-watch.ts'
import { Router, type VenueSeat } from '../actors/venue/router.ts'
import { type Learn, TeamReader } from '../actors/venue/team-reader.ts'
import { VenueActor } from '../actors/venue/venue.ts'
import type { EngineView, MarketView, StatsView } from '../actors/views.ts'
import { Wallets } from '../actors/wallets/wallets.ts'
import { Webhooks } from '../actors/webhooks/webhooks.ts'
import { WhaleLog } from '../actors/whales/log.ts'
import { Whales } from '../actors/whales/whales.ts'
import { createServer, type Server } from '../http/server.ts'
import { EventBodies } from '../http/webhooks/bodies.ts'
import type { Storage } from '../storage/contract/storage.ts'
import { type Clock, pause, type StopTimer } from './clock.ts'
import { nativeMarketId, type VenueKey, VenueNames } from './ids.ts'
import { outstandingWritesMax } from './limits.ts'
import { openMatchThread } from './matching/thread.ts'
import { openPasswordPool, type PasswordPool } from './passwords/passwords.ts'
import type { Log } from './process/log.ts'
import type { Count, Metrics } from './process/metrics.ts'
import { Publisher } from './publisher.ts'
import type { Random } from './random.ts'
import { openSearchThread } from './search/search.ts'
import type { Venue, VenueParts } from './venues/venue.ts'
import { openWalletThread } from './wallets/thread.ts'
import { openCaller } from './webhooks/caller.ts'
import type { Caller, CallPolicy } from './webhooks/post.ts'
import { SecretBox } from './webhooks/secret-box.ts'

/** The values of the configuration that the engine itself needs. */
export interface EngineSettings {
  readonly host: string
  readonly port: number
  readonly venueNames: { readonly a: string; readonly b: string }
  readonly corsOrigins: readonly string[]
  readonly trustedProxies: readonly string[]
  readonly isMetricsPublic: boolean
  readonly retentionDays: number
  readonly dataBytesMax: number
  readonly jwtSecret: string
  /** Its tokens stay good until they expire; null: there is none. */
  readonly jwtSecretPrevious: string | null
  /** Encrypts the secrets of webhooks. */
  readonly secretsKey: string
  readonly webhookPolicy: CallPolicy
}

/** Everything that touches the world, so that a test can bring its own. */
export interface EngineParts {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: Metrics
  readonly storage: Storage
  /** Opens both venues; they are started by the engine. */
  readonly venues: (parts: VenueParts) => readonly Venue[]
  /** Names this run; never used twice. */
  readonly epoch: string
  readonly version: string
}

export interface Engine {
  readonly view: EngineView
  readonly catalog: Catalog
  readonly accounts: AccountsActor
  /** What people said of pairs of markets. */
  readonly verdicts: MatchVerdicts
  readonly wallets: Wallets
  readonly publisher: Publisher
  /** The port really listened on; only after `start`. */
  readonly port: number
  /** Resolves once the face listens: both catalogues loaded (read or kept), or 10 s gone. */
  start(): Promise<void>
  /** Drains, flushes and closes everything in reverse order; the storage too. */
  stop(): Promise<void>
}

const LISTEN_AFTER_MS = 10_000
const VENUES_LOOK_MS = 25

/** Builds everything and introduces the rooms to each other; nothing runs before `start`. */
export function createEngine(settings: EngineSettings, parts: EngineParts): Engine {
  const owners = openOwners(settings, parts)
  const { catalog, accounts, publisher, view } = owners
  const timers: StopTimer[] = []
  let server: Server | null = null
  return {
    view,
    catalog,
    accounts,
    verdicts: owners.verdicts,
    wallets: owners.wallets,
    publisher,
    get port() {
      return server?.port ?? settings.port
    },
    async start() {
      const known = catalog.load()
      if (known > 0) parts.log.info({ markets: known }, 'catalogue of the last run loaded')
      owners.whales.start()
      owners.wallets.start()
      // Before the first page of a catalogue, so that it brings back nothing that is forgotten.
      const { retentionDays, dataBytesMax: sizeBytesMax } = settings
      timers.push(...startUpkeep({ ...parts, catalog, accounts, retentionDays, sizeBytesMax }))
      owners.webhooks.start()
      owners.matcher.start()
      catalog.isLoaded = catalog.hasEveryVenue
      const isCrawled = startVenues(owners, parts)
      // A catalogue kept from the last run need not wait for its crawl.
      const isEnough = catalog.isLoaded
        ? venuesUp(owners, parts)
        : pause(parts.clock, LISTEN_AFTER_MS)
      await Promise.race([isCrawled, isEnough])
      const { clock, log, metrics } = parts
      server = await createServer({ ...settings, engine: view, publisher, clock, log, metrics })
    },
    async stop() {
      await server?.drain()
      for (const stopTimer of timers) stopTimer()
      await stopOwners(owners, parts)
      await server?.stop()
      await parts.storage.close()
    },
  }
}

/** Everyone who owns state, and what leads to them. */
interface Owners {
  readonly names: VenueNames
  readonly system: System
  readonly delays: DelayWatch
  readonly publisher: Publisher
  readonly catalog: Catalog
  readonly router: Router
  readonly passwords: PasswordPool
  readonly accounts: AccountsActor
  readonly search: MarketSearch
  readonly teams: TeamReader
  readonly pastPrices: PastPrices
  readonly whales: Whales
  readonly wallets: Wallets
  readonly webhooks: Webhooks
  readonly caller: Caller
  readonly matcher: Matcher
  readonly verdicts: MatchVerdicts
  readonly seats: Map<VenueKey, VenueSeat>
  readonly view: EngineView
}

function openOwners(settings: EngineSettings, parts: EngineParts): Owners {
  const { clock, log, metrics, storage } = parts
  const names = new VenueNames(settings.venueNames)
  const run = storage.runs.begin(parts.epoch, clock.nowMs())
  const publisher = new Publisher({ epoch: run.epoch, log, metrics })
  const tradeLog = new TradeLog({ run, publisher, storage })
  const mustHold = () => storage.outstandingWrites() > outstandingWritesMax
  const seats = new Map<VenueKey, VenueSeat>()
  const system = new System({ clock, log, metrics, mustHold })
  const delays = new DelayWatch({ clock, log, metrics, system })
  const whales: Whales = new Whales({
    ...{ system, publisher, storage, clock, metrics, run: run.number },
    market: (number) => catalog.byNumber(number),
    onRow(ref, whale) {
      webhooks.onWhaleRow(ref, whale)
      wallets.noteWhale(whale)
    },
  })
  const market: Omit<MarketParts, 'changed'> = {
    publisher,
    storage,
    run: run.number,
    nowMs: () => clock.nowMs(),
    retentionDays: settings.retentionDays,
    requestResync({ ref }, reason) {
      const seat = catalog.seatOfNative(ref.venue, ref.nativeId)
      if (seat !== null) seats.get(ref.venue)?.actor.requestResync(seat, reason)
    },
    delayOf: (venue) => seats.get(venue)?.actor.delay ?? null,
    announceLoss: ({ ref }, atMs) => seats.get(ref.venue)?.actor.recoverTrades(atMs),
    noteHistory: (ref, trade) => whales.noteHistory(ref, trade),
    ignored: ignoredCounter(metrics),
  }
  const search: MarketSearch = new MarketSearch({
    ...{ port: openSearchThread(), clock, log },
    texts: () => catalog.texts(),
  })
  const catalog: Catalog = new Catalog({ names, clock, system, storage, index: search, market })
  const sports = new Sports({ catalog, clock })
  const learn: Learn = (listings) => sports.learnTeams(listings)
  const teams = new TeamReader({ clock, log, metrics, learn })
  const { matches, matcher, verdicts } = openMatching(parts, { catalog, publisher })
  catalog.watch(sports)
  // First, while the pair of a market that goes is still there to be told of.
  catalog.watch(matcher)
  catalog.watch(matches)
  const pastPrices = openPastPrices(parts, { catalog, seats })
  const wallets = openWallets(parts, { catalog, publisher })
  const router = new Router({ catalog, metrics, onWalletFill: (fill) => wallets.noteFill(fill) })
  const { passwords, accounts } = openAccounts(settings, parts)
  const { caller, webhooks } = openWebhooks(settings, parts, { catalog, matches, accounts })
  publisher.watch(webhooks.watcher)
  const startedAtMs = clock.monotonicMs()
  const view: EngineView = {
    version: parts.version,
    epoch: run.epoch,
    ...{ catalog, accounts, webhooks, wallets, sports, matches, pastPrices, tradeLog },
    whaleLog: new WhaleLog({ run, storage }),
    stats: () => statsOf(storage),
    venues: () => [...seats.values()].map((seat) => seat.actor),
    isStorageHealthy: () => storage.isHealthy(),
    delayMs: () => Math.round(delays.delayMs),
    uptimeSeconds: () => Math.floor((clock.monotonicMs() - startedAtMs) / 1_000),
  }
  const owners = { names, system, delays, publisher, catalog, router, passwords, accounts }
  const heard = { whales, wallets, webhooks, caller, matcher, verdicts }
  return { ...owners, seats, view, search, teams, pastPrices, ...heard }
}

/** What venues remember of prices. */
function openPastPrices(
  { clock, log, metrics, storage }: EngineParts,
  { catalog, seats }: Pick<Owners, 'catalog' | 'seats'>,
): PastPrices {
  return new PastPrices({
    ...{ clock, log, metrics, storage, events: catalog },
    historyOf: (venue) => seats.get(venue)?.actor.history ?? null,
    liveSinceMs: (venue) => seats.get(venue)?.actor.liveSinceMs ?? null,
  })
}

function openAccounts(
  { jwtSecret, jwtSecretPrevious }: EngineSettings,
  { clock, storage }: EngineParts,
): Pick<Owners, 'passwords' | 'accounts'> {
  const passwords = openPasswordPool(clock)
  const secrets = { jwtSecret, jwtSecretPrevious }
  const accounts = new AccountsActor({ storage: storage.accounts, clock, passwords, ...secrets })
  return { passwords, accounts }
}

/** Which markets ask the same on both venues: who finds them, who shows them, and what people said. */
function openMatching(
  { clock, log, storage }: EngineParts,
  { catalog, publisher }: Pick<Owners, 'catalog' | 'publisher'>,
): { matches: Matches; matcher: Matcher; verdicts: MatchVerdicts } {
  const nowMs = () => clock.nowMs()
  const summaryOf = ({ ref, summary }: MarketView) =>
    summary.event === null ? null : catalog.event(ref.venue, summary.event)
  const matches = new Matches({ clock, eventTitle: (market) => summaryOf(market)?.title ?? null })
  const verdicts = new MatchVerdicts({
    ...{ table: storage.matchVerdicts, nowMs },
    find: (venue, nativeId) => catalog.seatOfNative(venue, nativeMarketId(nativeId))?.actor ?? null,
  })
  const matcher = new Matcher({
    ...{ clock, log, publisher, verdicts, matches, nowMs, table: storage.matches },
    port: openMatchThread(),
    market: (number) => catalog.byNumber(number),
    markets: () => catalog.markets(null),
    eventOf(market) {
      const summary = summaryOf(market)
      if (summary === null) return null
      const details = storage.events.details(summary.venue, summary.nativeId)
      return details === null ? null : { ...summary, ...details }
    },
  })
  return { matches, matcher, verdicts }
}

/** Who has which webhook, and the one way to receivers. */
function openWebhooks(
  settings: EngineSettings,
  parts: EngineParts,
  { catalog, matches, accounts }: Pick<Owners, 'catalog' | 'accounts'> & { matches: Matches },
): { caller: Caller; webhooks: Webhooks } {
  const { clock, log, metrics, random, storage } = parts
  const caller = openCaller({ policy: settings.webhookPolicy, clock, metrics, log })
  const webhooks = new Webhooks({
    ...{ storage, clock, log, metrics, caller, random },
    box: new SecretBox(settings.secretsKey),
    bodies: new EventBodies({ catalog, matches, clock }),
    market: (number) => catalog.byNumber(number)?.summary ?? null,
    isAccountActive: (account) => accounts.directory.isActive(account),
  })
  accounts.watch(webhooks)
  return { caller, webhooks }
}

/** Who asked for which wallet, and what these come to. */
function openWallets(
  { clock, log, metrics, storage }: EngineParts,
  { catalog, publisher }: Pick<Owners, 'catalog' | 'publisher'>,
): Wallets {
  const wallets = new Wallets({
    ...{ storage, clock, log, metrics, port: openWalletThread() },
    view: (id) => catalog.seatOfNative('a', id)?.actor ?? null,
    market: (number) => catalog.byNumber(number),
    marketsOfEvent: (event) => catalog.marketsOfEvent('a', event),
  })
  catalog.watch(wallets)
  publisher.watch(wallets.watcher)
  return wallets
}

/** Opens both feeds and reads both catalogues; resolves when these are whole. */
async function startVenues(owners: Owners, parts: EngineParts): Promise<void> {
  const { clock, random, log, metrics, storage } = parts
  const { catalog, publisher, router, names, system, delays, seats } = owners
  const venues = parts.venues({ clock, random, log, metrics, emit: (event) => router.route(event) })
  const crawls = venues.map((venue) => {
    owners.teams.start(venue)
    owners.wallets.attach(venue)
    const platform = names.platform(venue.key)
    const shared = { catalog, publisher, storage, clock, log, metrics, delays }
    const isHandled = () => system.waiting === 0
    const actor = new VenueActor({ ...shared, venue, platform, isHandled })
    const seat = { actor, cell: system.spawn(actor) }
    seats.set(venue.key, seat)
    router.seat(seat)
    publisher.watch(actor)
    delays.watch(actor)
    return new Promise<void>((resolve) => actor.start(resolve))
  })
  delays.start()
  await Promise.all(crawls)
  catalog.isLoaded = true
}

/** In reverse: first what brings events, then who handles them, then a last checkpoint of each. */
async function stopOwners(owners: Owners, parts: EngineParts): Promise<void> {
  owners.pastPrices.stop()
  owners.delays.stop()
  await Promise.all([owners.teams.stop(), owners.wallets.stop()])
  await Promise.all([...owners.seats.values()].map((seat) => seat.actor.stop()))
  owners.whales.stop()
  owners.system.stop()
  owners.webhooks.stop()
  owners.caller.stop()
  const nowMs = parts.clock.nowMs()
  for (const { actor } of owners.catalog.seats()) actor.checkpoint(nowMs)
  await owners.accounts.saveUse()
  await Promise.all([owners.passwords.close(), owners.search.close(), owners.matcher.close()])
}

/** Resolves when each venue has a connection, or after the limit. */
async function venuesUp({ view }: Owners, { clock }: EngineParts): Promise<void> {
  const endsAtMs = clock.monotonicMs() + LISTEN_AFTER_MS
  while (clock.monotonicMs() < endsAtMs && view.venues().some(({ state }) => state === 'down')) {
    await pause(clock, VENUES_LOOK_MS)
  }
}

function statsOf(storage: Storage): StatsView {
  const { trades, snapshots } = storage
  return {
    trades: trades.count(),
    snapshots: snapshots.count(),
    databaseBytes: storage.sizeBytes(),
    coverage: { a: trades.extentOfVenue('a'), b: trades.extentOfVenue('b') },
  }
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
