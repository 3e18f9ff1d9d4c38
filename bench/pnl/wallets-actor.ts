// The wallets actor over the disk, with requests for one large wallet: cold (not in memory) and warm. A stub venue
// responds at once, so that only the engine is timed.

import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { Wallets } from '../../actors/wallets/wallets.ts'
import { type Clock, systemClock } from '../../engine/clock.ts'
import { nativeMarketId, type WalletAddress } from '../../engine/ids.ts'
import type { MarketListing } from '../../engine/market/market.ts'
import { silentLog } from '../../engine/process/log.ts'
import { Metrics } from '../../engine/process/metrics.ts'
import { DAY_MS, priceMicros, type TimeMs, timeMs } from '../../engine/units.ts'
import type {
  HistoryCoverage,
  VenuePosition,
  VenueWallets,
  WalletEvent,
  WalletMarket,
} from '../../engine/wallet.ts'
import { PnlState } from '../../engine/wallets/pnl-state.ts'
import type { WalletPort } from '../../engine/wallets/wallet-thread.ts'
import type { Storage } from '../../storage/contract/storage.ts'
import { FakeMarket } from '../../test/support/fakes/market.ts'
import { listing, NAMES, recordingPublisher } from '../../test/support/worlds/builders.ts'
import { addressOf } from '../../test/support/worlds/stored-wallets.ts'
import {
  type BenchSetting,
  check,
  figureRow,
  newTimes,
  type Row,
  record,
  timesRow,
  withLmdb,
} from '../harness.ts'
import { LoopLoad, timeBeside } from '../loop-delay.ts'
import type { WalletLoad } from './load.ts'

const LARGE = addressOf(1)
const SMALL = addressOf(2)
/** Page size of the real venue, and its settlement delay. */
const PAGE_EVENTS = 500
const SETTLED_MS = 60_000
/** Longer than position values are cached. */
const REST_MS = 1_100

/** Cases of cold opening, and the pause after each request. */
const COLD_OPENS = [
  ['while one wallet a second is opened cold', 1_000],
  ['while one after the other is opened cold', 0],
] as const

/** Rows of cold and warm responses, and of the loop delay while wallets are opened cold. */
export async function timeWalletsActor(
  load: WalletLoad,
  thread: WalletPort,
  setting: BenchSetting,
): Promise<Row[]> {
  return withLmdb(async (storage) => {
    const world = new WalletsActorWorld(load, thread, storage)
    const rows = [figureRow('read from the venue at once, to disk', await world.fill())]
    rows.push(...(await timeCold(world, setting)))
    rows.push(...(await timeWarm(world, setting)))
    // Each request has its own event-loop tick.
    for (const [what, restMs] of COLD_OPENS) {
      const beside = new LoopLoad(storage, setting)
      const opening = {
        run: async (signal: AbortSignal) => {
          // Centred in each pause, so that a run of three seconds sees three requests at one a second, not four.
          await pause(setting.isSmall ? 0 : restMs / 2)
          for (; !signal.aborted; await pause(setting.isSmall ? 10 : restMs)) {
            await world.coldAnswer()
          }
        },
      }
      rows.push(...(await timeBeside(what, opening, beside, setting)))
      check(beside.checked() > 0, 'frames went through')
    }
    await world.stop()
    return rows
  })
}

async function timeCold(
  world: WalletsActorWorld,
  { isSmall, say: logLine }: BenchSetting,
): Promise<Row[]> {
  const [evicted, restarted, anew] = [newTimes(), newTimes(), newTimes()]
  const rounds = isSmall ? 2 : 24
  logLine('the owner, cold')
  for (let round = 0; round < rounds; round += 1) record(evicted, await world.coldAnswer())
  for (let round = 0; round < rounds; round += 1) {
    await world.restart()
    record(restarted, await world.answer())
  }
  check(world.taskCount === 0, 'a stored tally is not made again')
  for (let round = 0; round < rounds / 3; round += 1) {
    await world.forgetAccount()
    record(anew, await world.answer())
  }
  check(world.taskCount > 0, 'a tally that is lost is made by the thread')
  return [
    timesRow('cold: opened and answered, pushed out of memory before', evicted),
    timesRow('cold: the same, of a process that was just started', restarted),
    timesRow('cold: the same, its tally lost and made of all blocks', anew),
  ]
}

async function timeWarm(
  world: WalletsActorWorld,
  { isSmall, say: logLine }: BenchSetting,
): Promise<Row[]> {
  const [again, later, filled] = [newTimes(), newTimes(), newTimes()]
  logLine('the owner, warm')
  for (let round = 0; round < (isSmall ? 20 : 1_000); round += 1) {
    record(again, await world.answer())
    await nextTurn()
  }
  for (let round = 0; round < (isSmall ? 1 : 9); round += 1) {
    await pause(isSmall ? 1 : REST_MS)
    record(later, await world.answer())
  }
  for (let round = 0; round < (isSmall ? 1 : 9); round += 1) {
    await pause(isSmall ? 1 : REST_MS)
    world.liveFill(round)
    record(filled, await world.answer())
  }
  return [
    timesRow('warm: answered again', again),
    timesRow('warm: answered after a second of rest, valued anew', later),
    timesRow('warm: the same after a live fill', filled),
  ]
}

/** The actor, its stub venue, and a catalogue of the markets that still trade. */
class WalletsActorWorld {
  readonly #load: WalletLoad
  readonly #storage: Storage
  readonly #port: WalletPort
  readonly #clock: Clock
  readonly #nowMs: TimeMs
  readonly #venue: StubVenue
  readonly #open: ReadonlyMap<string, FakeMarket>
  #wallets: Wallets
  taskCount = 0

  constructor(load: WalletLoad, thread: WalletPort, storage: Storage) {
    this.#load = load
    this.#storage = storage
    this.#port = {
      run: (task) => {
        this.taskCount += 1
        return thread.run(task)
      },
      close: async () => undefined,
    }
    // At the end of the history, with the last fill not yet settled.
    this.#nowMs = timeMs((load.events.at(-1)?.timeMs ?? 0) + SETTLED_MS / 2)
    this.#clock = { ...systemClock, nowMs: () => this.#nowMs }
    this.#venue = new StubVenue(load, this.#nowMs)
    const { publisher } = recordingPublisher()
    const world = { clock: this.#clock, publisher, catalog: { names: NAMES } }
    const trading = load.markets.filter(({ payout }) => payout === null)
    this.#open = new Map(
      trading.map((facts, at) => [facts.nativeId, new FakeMarket(world, listed(facts), at + 1)]),
    )
    this.#wallets = this.#opened()
  }

  #opened(): Wallets {
    const wallets = new Wallets({
      ...{ storage: this.#storage, port: this.#port, clock: this.#clock, log: silentLog },
      ...{ metrics: new Metrics(), venue: 'a' },
      view: (id) => this.#open.get(id) ?? null,
      market: () => null,
      marketsOfEvent: () => [],
      // Each opened wallet evicts the previous one.
      warmBytesMax: 1,
    })
    wallets.start()
    const never = async () => undefined
    const fetchMarkets: VenueCatalog['fetchMarkets'] = async (ids) => ({
      markets: ids.flatMap((id) => this.#listing(id)),
      events: [],
    })
    wallets.attach({
      wallets: this.#venue,
      catalog: { crawl: never, refresh: never, fetchMarkets },
      feed: { health: () => ({ tradesSource: 'activity' }) },
    })
    return wallets
  }

  #listing(id: string): MarketListing[] {
    const facts = this.#load.find(nativeMarketId(id))
    return facts === null ? [] : [listed(facts)]
  }

  /** Syncs both wallets for the first time; returns the duration as text. */
  async fill(): Promise<string> {
    const startedMs = systemClock.monotonicMs()
    await this.#view(SMALL)
    let isComplete = false
    for (; !isComplete; await pause(20)) {
      const view = await this.#view(LARGE).catch(() => null)
      isComplete = view?.isComplete === true
    }
    const tookMs = systemClock.monotonicMs() - startedMs
    this.taskCount = 0
    await this.#storage.committed()
    return `${this.#load.events.length} events in ${(tookMs / 1_000).toFixed(1)} s`
  }

  /** Evicts the large wallet from memory, then times its response. */
  async coldAnswer(): Promise<number> {
    await this.#view(SMALL)
    return this.answer()
  }

  async restart(): Promise<void> {
    await this.stop()
    this.#wallets = this.#opened()
  }

  /** Deletes the stored P&L state, as after damage. */
  async forgetAccount(): Promise<void> {
    await this.#view(SMALL)
    const { wallets } = this.#storage
    const row = wallets.get(LARGE)
    if (row !== null) wallets.put({ ...row, pnlEvents: 0 })
    await this.#storage.committed()
  }

  /** Response time of the large wallet with figures and a year of days. */
  async answer(): Promise<number> {
    const startedMs = systemClock.monotonicMs()
    const view = await this.#view(LARGE)
    const fromMs = timeMs(this.#nowMs - 365 * DAY_MS)
    const { series } = view.pnl({ fromMs, toMs: this.#nowMs, granularity: 'day' })
    const tookMs = systemClock.monotonicMs() - startedMs
    check(view.isComplete && series.length > 0, 'the wallet is answered whole')
    check(view.totals.trades >= this.#load.fillCount, 'every fill is in the totals')
    return tookMs
  }

  /** The stream delivers a fill, which the next sync also contains. */
  liveFill(round: number): void {
    const last = this.#load.events.at(-1)
    if (last === undefined || this.#load.fillCount === 0) return
    const fill: WalletEvent = { ...last, kind: 'buy', txHash: `0x${round}`, timeMs: this.#nowMs }
    this.#venue.fills.push(fill)
    const times = { venueTimeMs: fill.timeMs, receivedAtMs: this.#nowMs }
    this.#wallets.noteFill({ kind: 'walletFill', venue: 'a', ...times, wallet: LARGE, fill })
  }

  async #view(address: WalletAddress) {
    const view = await this.#wallets.open(address, new AbortController().signal)
    if (view === null) throw new TypeError('the wallet is known')
    return view
  }

  async stop(): Promise<void> {
    await this.#wallets.stop()
    await this.#storage.committed()
  }
}

type VenueCatalog = Parameters<Wallets['attach']>[0]['catalog']

/** Responds at once, with the real venue's page sizes. */
class StubVenue implements VenueWallets {
  readonly #load: WalletLoad
  readonly #nowMs: TimeMs
  /** Fills of the large wallet since the load was created. */
  readonly fills: WalletEvent[] = []
  readonly #held = new Map<WalletAddress, readonly VenuePosition[]>()

  constructor(load: WalletLoad, nowMs: TimeMs) {
    this.#load = load
    this.#nowMs = nowMs
  }

  async profile(proxy: WalletAddress) {
    return { proxy, eoa: null, handle: null, pseudonym: null, image: null }
  }

  async history(
    requested: { readonly address: WalletAddress; readonly fromMs: TimeMs },
    onEvents: (events: readonly WalletEvent[]) => void | Promise<void>,
  ): Promise<HistoryCoverage> {
    const all = this.#eventsOf(requested.address)
    // Searched from the end, where it usually is.
    const before = all.findLastIndex((event) => event.timeMs < requested.fromMs)
    for (let from = before + 1; from < all.length; ) {
      let to = Math.min(from + PAGE_EVENTS, all.length)
      // All events of a second come in one page.
      while (to < all.length && all[to]?.timeMs === all[to - 1]?.timeMs) to += 1
      // A network response arrives in a later event-loop tick.
      await nextTurn()
      await onEvents(all.slice(from, to))
      from = to
    }
    await nextTurn()
    return {
      settledToMs: timeMs(this.#nowMs - SETTLED_MS),
      isComplete: true,
      isTailComplete: true,
      isLastListed: true,
    }
  }

  /** Positions that a naive computation over the same events gives. */
  async positions(address: WalletAddress): Promise<readonly VenuePosition[]> {
    await nextTurn()
    const held = this.#held.get(address) ?? heldOf(this.#eventsOf(address), this.#load)
    this.#held.set(address, held)
    return held
  }

  #eventsOf(address: WalletAddress): readonly WalletEvent[] {
    const { events } = this.#load
    if (address !== LARGE) return events.slice(0, 10)
    return this.fills.length === 0 ? events : [...events, ...this.fills]
  }

  async group() {
    return null
  }

  follow(): void {}

  unfollow(): void {}
}

function heldOf(events: readonly WalletEvent[], { find }: WalletLoad): VenuePosition[] {
  const pnlState = PnlState.empty()
  for (const event of events) pnlState.apply(event, find)
  return Array.from({ length: pnlState.positionCount }, (_, index) => {
    const { token, market, balance, bought, realized } = pnlState.position(index)
    const price = priceMicros(0)
    const isClosed = balance === 0
    return { token, market, size: balance, bought, realized, price, isClosed }
  })
}

/** A market as the venue's catalogue lists it. */
function listed({ nativeId, tokens, payout, resolvedAtMs }: WalletMarket): MarketListing {
  const closed = payout !== null
  const closedTime = resolvedAtMs === null ? null : new Date(resolvedAtMs).toISOString()
  return listing(nativeId, {
    outcomes: tokens.map((id, index) => ({ label: index === 0 ? 'Yes' : 'No', id })),
    status: closed ? 'resolved' : 'open',
    settlementPrice: payout,
    native: { closed, closedTime },
  })
}
