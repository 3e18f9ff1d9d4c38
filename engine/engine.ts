// The wiring: every part named once, in the order in which a message meets them. One of the few files
// that look outward from engine/ (with main.ts and commands/); nothing else introduces rooms to each
// other.

import { AccountsActor } from '../actors/accounts.ts'
import { Catalog } from '../actors/catalog.ts'
import type { MarketActor } from '../actors/market.ts'
import type { IgnoredReason, MarketParts } from '../actors/market-parts.ts'
import { MarketSearch } from '../actors/market-search.ts'
import { Matches } from '../actors/matches.ts'
import { PastPrices } from '../actors/past-prices.ts'
import { Router, type VenueSeat } from '../actors/router.ts'
import { Sports } from '../actors/sports.ts'
import { System } from '../actors/system.ts'
import { TeamReader } from '../actors/team-reader.ts'
import { TradeLog } from '../actors/trade-log.ts'
import { VenueActor } from '../actors/venue.ts'
import type { EngineView, StatsView } from '../actors/views.ts'
import { WhaleLog } from '../actors/whale-log.ts'
import { Whales } from '../actors/whales.ts'
import { createServer, type Server } from '../http/server.ts'
import type { Storage } from '../storage/storage.ts'
import { type Clock, pause, type StopTimer } from './clock.ts'
import { type VenueKey, VenueNames } from './ids.ts'
import { outstandingWritesMax } from './limits.ts'
import type { Log } from './log.ts'
import type { Count, Metrics } from './metrics.ts'
import { openPasswordPool, type PasswordPool } from './passwords/passwords.ts'
import { Publisher } from './publisher.ts'
import type { Random } from './random.ts'
import { openSearchThread } from './search/search.ts'
import type { Venue, VenueParts } from './venues/venue.ts'

/** The values of the configuration that the engine itself needs. */
export interface EngineSettings {
  readonly host: string
  readonly port: number
  readonly venueNames: { readonly a: string; readonly b: string }
  readonly corsOrigins: readonly string[]
  readonly isMetricsPublic: boolean
  readonly retentionDays: number
  readonly dataBytesMax: number
  readonly jwtSecret: string
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
const TICK_EVERY_MS = 100
const TICK_MS_MAX = 4
/** Each market is looked at once in this long, a slice at a time. */
const TICK_ROUND_MS = 5_000
const PRUNE_EVERY_MS = 60_000
const PRUNE_ROWS = 500
/** Markets that are history are looked for this often, and forgotten a few at a time. */
const FORGET_EVERY_MS = 5_000
const FORGET_COUNT = 100
const SAVE_USE_EVERY_MS = 300_000

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
    publisher,
    get port() {
      return server?.port ?? settings.port
    },
    async start() {
      const known = catalog.load()
      if (known > 0) parts.log.info({ markets: known }, 'catalogue of the last run loaded')
      owners.whales.start()
      // Before the first page of a catalogue, so that it brings back nothing that is forgotten.
      timers.push(...startUpkeep(settings, parts, owners))
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
  readonly publisher: Publisher
  readonly catalog: Catalog
  readonly router: Router
  readonly passwords: PasswordPool
  readonly accounts: AccountsActor
  readonly search: MarketSearch
  readonly teams: TeamReader
  readonly pastPrices: PastPrices
  readonly whales: Whales
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
  const system = new System({ clock, log, metrics, mustHold })
  const seats = new Map<VenueKey, VenueSeat>()
  const whales: Whales = new Whales({
    ...{ system, publisher, storage, clock, metrics, run: run.number },
    market: (number) => catalog.byNumber(number),
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
  const teams = new TeamReader({ clock, log, learn: (listings) => sports.learnTeams(listings) })
  const matches = new Matches()
  catalog.watch(sports)
  catalog.watch(matches)
  const pastPrices = new PastPrices({
    ...{ clock, log, metrics, storage, events: catalog },
    historyOf: (venue) => seats.get(venue)?.actor.history ?? null,
    liveSinceMs: (venue) => seats.get(venue)?.actor.liveSinceMs ?? null,
  })
  const router = new Router({ catalog, metrics })
  const passwords = openPasswordPool()
  const { jwtSecret } = settings
  const accounts = new AccountsActor({ storage: storage.accounts, clock, passwords, jwtSecret })
  const startedAtMs = clock.monotonicMs()
  const view: EngineView = {
    version: parts.version,
    epoch: run.epoch,
    catalog,
    accounts,
    sports,
    matches,
    pastPrices,
    tradeLog,
    whaleLog: new WhaleLog({ run, storage }),
    stats: () => statsOf(storage),
    venues: () => [...seats.values()].map((seat) => seat.actor),
    isStorageHealthy: () => storage.isHealthy(),
    uptimeSeconds: () => Math.floor((clock.monotonicMs() - startedAtMs) / 1_000),
  }
  const owners = { names, system, publisher, catalog, router, passwords, accounts }
  return { ...owners, search, teams, pastPrices, whales, seats, view }
}

/** Opens both feeds and reads both catalogues; resolves when these are whole. */
async function startVenues(owners: Owners, parts: EngineParts): Promise<void> {
  const { clock, random, log, metrics, storage } = parts
  const { catalog, publisher, router, names, system, seats } = owners
  const venues = parts.venues({ clock, random, log, metrics, emit: (event) => router.route(event) })
  const crawls = venues.map((venue) => {
    owners.teams.start(venue)
    const platform = names.platform(venue.key)
    const shared = { catalog, publisher, storage, clock, log, metrics }
    const actor = new VenueActor({ ...shared, venue, platform })
    const seat = { actor, cell: system.spawn(actor) }
    seats.set(venue.key, seat)
    router.seat(seat)
    publisher.watch(actor)
    return new Promise<void>((resolve) => actor.start(resolve))
  })
  await Promise.all(crawls)
  catalog.isLoaded = true
}

/** In reverse: first what brings events, then who handles them, then a last checkpoint of each. */
async function stopOwners(owners: Owners, parts: EngineParts): Promise<void> {
  owners.pastPrices.stop()
  await owners.teams.stop()
  await Promise.all([...owners.seats.values()].map((seat) => seat.actor.stop()))
  owners.whales.stop()
  owners.system.stop()
  const nowMs = parts.clock.nowMs()
  for (const { actor } of owners.catalog.seats()) actor.checkpoint(nowMs)
  await owners.accounts.saveUse()
  await Promise.all([owners.passwords.close(), owners.search.close()])
}

/** Resolves when each venue has a connection, or after the limit. */
async function venuesUp({ view }: Owners, { clock }: EngineParts): Promise<void> {
  const endsAtMs = clock.monotonicMs() + LISTEN_AFTER_MS
  while (clock.monotonicMs() < endsAtMs && view.venues().some(({ state }) => state === 'down')) {
    await pause(clock, VENUES_LOOK_MS)
  }
}

/** Checkpoints, sleep and retention, a small slice at a time, so that no slice is felt. */
function startUpkeep(
  settings: EngineSettings,
  parts: EngineParts,
  { catalog, accounts }: Owners,
): readonly StopTimer[] {
  const { clock, storage, log } = parts
  const tick = ticker(clock, catalog)
  const { retentionDays, dataBytesMax: sizeBytesMax } = settings
  const prune = () =>
    storage.prune({ nowMs: clock.nowMs(), retentionDays, sizeBytesMax, rowsMax: PRUNE_ROWS })
  const forget = () => catalog.forget(clock.nowMs(), retentionDays, FORGET_COUNT) === FORGET_COUNT
  const onError = (error: unknown) => log.error({ err: error }, 'retention failed')
  const saveUse = () => {
    accounts.saveUse().catch((error) => log.error({ err: error }, 'use of keys not saved'))
  }
  return [
    clock.every(TICK_EVERY_MS, tick),
    inSlices({ clock, everyMs: PRUNE_EVERY_MS, work: prune, onError }),
    inSlices({ clock, everyMs: FORGET_EVERY_MS, work: forget, onError, isStartedNow: true }),
    clock.every(SAVE_USE_EVERY_MS, saveUse),
  ]
}

/**
 * Looks at each market once a round, a slice at a time: as many as the round asks for, but no longer
 * than a few milliseconds, since after a start all of them have a checkpoint to write.
 */
function ticker(clock: Clock, catalog: Catalog): () => void {
  let round: Iterator<{ readonly actor: MarketActor }> | null = null
  return () => {
    const nowMs = clock.nowMs()
    const endsAtMs = clock.monotonicMs() + TICK_MS_MAX
    const count = Math.ceil((catalog.marketCount * TICK_EVERY_MS) / TICK_ROUND_MS)
    round ??= catalog.seats()[Symbol.iterator]()
    for (let seen = 0; seen < count; seen += 1) {
      const next = round.next()
      if (next.done === true) {
        round = null
        return
      }
      next.value.actor.tick(nowMs)
      if (clock.monotonicMs() > endsAtMs) return
    }
  }
}

/** Does work every so often, and soon again for as long as it says that there is more. */
function inSlices(parts: {
  clock: Clock
  everyMs: number
  work: () => boolean
  onError: (error: unknown) => void
  isStartedNow?: boolean
}): StopTimer {
  const { clock, everyMs, work, onError } = parts
  let stopNext: StopTimer = () => undefined
  const run = () => {
    stopNext()
    try {
      if (work()) stopNext = clock.after(TICK_EVERY_MS, run)
    } catch (error) {
      onError(error)
    }
  }
  if (parts.isStartedNow === true) run()
  const stopEvery = clock.every(everyMs, run)
  return () => {
    stopEvery()
    stopNext()
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
