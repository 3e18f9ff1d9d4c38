// The wallets actor with a fake venue. The venue reports an event `lateMs` after it occurs, and can be made to fail.

import type { WalletView } from '../../../actors/wallets/views.ts'
import { Wallets, type WalletsParts } from '../../../actors/wallets/wallets.ts'
import type { TradesSource } from '../../../engine/events.ts'
import { FetchError } from '../../../engine/fetch.ts'
import {
  type NativeMarketId,
  nativeMarketId,
  outcomeId,
  type WalletAddress,
} from '../../../engine/ids.ts'
import type { MarketListing } from '../../../engine/market/market.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import {
  HOUR_MS,
  priceMicros,
  roundUsd,
  sizeMicros,
  type TimeMs,
  timeMs,
  USD_ZERO,
  usdMicros,
} from '../../../engine/units.ts'
import type {
  HistoryCoverage,
  VenuePosition,
  VenueWallets,
  WalletEvent,
  WalletProfile,
} from '../../../engine/wallet.ts'
import { runWalletTask } from '../../../engine/wallets/wallet-task.ts'
import type { WalletPort } from '../../../engine/wallets/wallet-thread.ts'
import type { Storage } from '../../../storage/contract/storage.ts'
import { ManualClock } from '../fakes/manual-clock.ts'
import { FakeMarket } from '../fakes/market.ts'
import { openMemoryStorage } from '../reference/memory.ts'
import { NAMES, recordingPublisher } from './builders.ts'
import { addressOf } from './stored-wallets.ts'

export const SECOND_MS = 1_000

/** Runs tasks in this thread. */
export const walletsInline = (): WalletPort => ({
  run: async (task) => runWalletTask(task),
  close: async () => undefined,
})

/** Age in milliseconds after which the venue’s data about a wallet is final. */
const SETTLED_MS = 60_000

class InventedWallets implements VenueWallets {
  readonly #clock: ManualClock
  readonly profiles = new Map<WalletAddress, WalletProfile>()
  /** Events of each wallet, in order of time. */
  readonly events = new Map<WalletAddress, WalletEvent[]>()
  /** Positions by the venue's own count. null: requests for them fail. */
  held: readonly VenuePosition[] | null = null
  readonly followed = new Set<WalletAddress>()
  /** The venue does not report rows that are younger than this. */
  lateMs = 0
  isDown = false
  /** A sync fails after this many events. */
  failsAfter = Number.POSITIVE_INFINITY
  withholds = false
  /** If true, the last minute of each sync is not final. */
  isUnsure = false
  /** Syncs and profile requests wait for this promise. */
  gate: Promise<void> = Promise.resolve()
  /** Syncs and profile requests of one wallet also wait for its promise. */
  readonly gates = new Map<WalletAddress, Promise<void>>()
  profileGate: Promise<void> = Promise.resolve()
  /** Called when the venue's positions are requested. */
  onPositions: () => void = () => undefined
  pageEvents = 100
  readonly readFrom: number[] = []
  profileCount = 0
  /** The group of each market. */
  readonly groups = new Map<NativeMarketId, readonly NativeMarketId[]>()
  /** Markets whose group was requested, in order of the requests. */
  readonly groupRequests: NativeMarketId[] = []
  returnsGroups = true

  constructor(clock: ManualClock) {
    this.#clock = clock
  }

  async profile(address: WalletAddress): Promise<WalletProfile | null> {
    this.profileCount += 1
    await this.gate
    await this.profileGate
    if (this.isDown) throw new FetchError('network', 'the venue is down')
    return this.profiles.get(address) ?? null
  }

  async history(
    requested: {
      readonly address: WalletAddress
      readonly fromMs: TimeMs
      readonly lastMs?: TimeMs | null
    },
    onEvents: (events: readonly WalletEvent[]) => void | Promise<void>,
    signal: AbortSignal,
  ): Promise<HistoryCoverage> {
    this.readFrom.push(requested.fromMs)
    await this.gate
    await this.gates.get(requested.address)
    signal.throwIfAborted()
    if (this.isDown) throw new FetchError('network', 'the venue is down')
    const nowMs = this.#clock.nowMs()
    const all = this.listed(requested.address)
    const lastMs = requested.lastMs ?? null
    if (lastMs !== null && !all.some((event) => event.timeMs === lastMs)) {
      const settledToMs = timeMs(requested.fromMs)
      return { settledToMs, isComplete: true, isTailComplete: false, isLastListed: false }
    }
    const published = all.filter((event) => event.timeMs >= requested.fromMs)
    let count = 0
    for (const page of pagesOf(published, this.pageEvents)) {
      if (count >= this.failsAfter) throw new FetchError('network', 'the venue broke off')
      await onEvents(page)
      signal.throwIfAborted()
      count += page.length
    }
    const settledToMs = timeMs(Math.floor((nowMs - SETTLED_MS) / 1_000) * 1_000)
    return {
      settledToMs,
      isComplete: !this.withholds,
      isTailComplete: !this.isUnsure,
      isLastListed: true,
    }
  }

  /** Events of a wallet that the venue reports at the current time. */
  listed(address: WalletAddress): readonly WalletEvent[] {
    const untilMs = this.#clock.nowMs() - this.lateMs
    return (this.events.get(address) ?? []).filter((event) => event.timeMs <= untilMs)
  }

  async positions(): Promise<readonly VenuePosition[]> {
    this.onPositions()
    if (this.held === null) throw new FetchError('status', 'no positions today')
    return this.held
  }

  async group(market: NativeMarketId): Promise<readonly NativeMarketId[] | null> {
    this.groupRequests.push(market)
    if (!this.returnsGroups) throw new FetchError('status', 'no groups today')
    return this.groups.get(market) ?? null
  }

  follow(address: WalletAddress): void {
    this.followed.add(address)
  }

  unfollow(address: WalletAddress): void {
    this.followed.delete(address)
  }
}

/** Pages that have at least this many events and end with a complete second. */
function* pagesOf(events: readonly WalletEvent[], count: number): Iterable<WalletEvent[]> {
  let page: WalletEvent[] = []
  for (const event of events) {
    if (page.length >= count && page.at(-1)?.timeMs !== event.timeMs) {
      yield page
      page = []
    }
    page.push(event)
  }
  if (page.length > 0) yield page
}

export class WalletWorld {
  readonly clock: ManualClock
  readonly storage: Storage
  readonly venue: InventedWallets
  readonly markets = new Map<NativeMarketId, FakeMarket>()
  /** Markets that were requested from the venue, because the catalogue does not have them. */
  readonly fetched: NativeMarketId[] = []
  readonly fetchable = new Map<NativeMarketId, MarketListing>()
  tradesSource: TradesSource = 'activity'
  readonly #set: Partial<WalletsParts>
  wallets: Wallets

  constructor(
    set: Omit<Partial<WalletsParts>, 'storage'> & {
      readonly startMs?: number
      readonly storage?: Storage
    } = {},
  ) {
    const { startMs, storage, ...parts } = set
    this.clock = new ManualClock(startMs)
    this.storage = storage ?? openMemoryStorage()
    this.venue = new InventedWallets(this.clock)
    this.#set = parts
    this.wallets = this.#open()
  }

  #open(): Wallets {
    const wallets = new Wallets({
      ...{ storage: this.storage, port: walletsInline(), clock: this.clock, log: silentLog },
      ...{ metrics: new Metrics(), venue: 'a' },
      view: (id) => this.markets.get(id) ?? null,
      market: (number) =>
        [...this.markets.values()].find(({ ref }) => ref.number === number) ?? null,
      marketsOfEvent: (event) =>
        [...this.markets.values()].filter((market) => market.summary.event === event),
      ...this.#set,
    })
    wallets.start()
    const fetchMarkets = async (ids: readonly NativeMarketId[]) => {
      this.fetched.push(...ids)
      return { markets: ids.flatMap((id) => this.fetchable.get(id) ?? []), events: [] }
    }
    const never = async () => undefined
    const catalog = { crawl: never, refresh: never, fetchMarkets }
    const feed = { health: () => ({ tradesSource: this.tradesSource }) }
    wallets.attach({ wallets: this.venue, catalog, feed })
    return wallets
  }

  /** Simulates a restart with the stored data. */
  async restart(): Promise<void> {
    await this.wallets.stop()
    this.wallets = this.#open()
  }

  list(listing: MarketListing): FakeMarket {
    const { clock } = this
    const world = { clock, publisher: recordingPublisher().publisher, catalog: { names: NAMES } }
    const market = new FakeMarket(world, listing, this.markets.size + 1)
    this.markets.set(listing.nativeId, market)
    this.wallets.onListed(market)
    return market
  }

  /** Adds a wallet with these events to the venue. */
  wallet(number: number, events: readonly WalletEvent[] = []): WalletAddress {
    const proxy = addressOf(number)
    const name = `wallet ${number}`
    const profile = { proxy, eoa: null, handle: name, pseudonym: null, image: null }
    this.venue.profiles.set(proxy, profile)
    this.venue.events.set(proxy, [...events])
    return proxy
  }

  open(address: WalletAddress, signal = new AbortController().signal) {
    return this.wallets.open(address, signal)
  }

  /** Waits until all work of the request has ended, such as syncs and comparisons. */
  async openSettled(address: WalletAddress): Promise<WalletView> {
    await this.open(address)
    await settled(60)
    return assertComplete(await this.open(address))
  }

  /** Delivers a fill as the venue's stream does. */
  stream(wallet: WalletAddress, fill: WalletEvent): void {
    const atMs = this.clock.nowMs()
    const times = { venueTimeMs: fill.timeMs, receivedAtMs: atMs }
    this.wallets.noteFill({ kind: 'walletFill', venue: 'a', ...times, wallet, fill })
  }
}

/** A fill in market `m`. By default it is of the first outcome. */
export function fillAt(
  atMs: number,
  set: Partial<WalletEvent> & { readonly name?: string; readonly outcome?: 'yes' | 'no' } = {},
): WalletEvent {
  const { name = 'm', outcome = 'yes', ...changes } = set
  const size = changes.size ?? sizeMicros(10_000_000)
  const price = changes.price ?? priceMicros(400_000)
  return {
    ...{ kind: 'buy', timeMs: timeMs(Math.floor(atMs / 1_000) * 1_000), txHash: `0x${atMs}` },
    ...{ market: nativeMarketId(name), token: outcomeId(`${name}-${outcome}`), size, price },
    usd: roundUsd((size * price) / 1e12) ?? USD_ZERO,
    ...{ fee: usdMicros(0), role: 'taker', converted: [] },
    ...changes,
  }
}

/** Fills of the last hours, one per hour. */
export function hourlyFills(world: WalletWorld, count: number): WalletEvent[] {
  const nowMs = world.clock.nowMs()
  return Array.from({ length: count }, (_, index) => fillAt(nowMs - (count - index) * HOUR_MS))
}

/** Asserts that the wallet exists and returns its view. */
export function assertComplete(view: WalletView | null): WalletView {
  if (view === null) throw new TypeError('no such wallet')
  return view
}

export const tradesOf = (view: WalletView | null): number => assertComplete(view).totals.trades

/** A promise that a test resolves. */
export function gate(): { readonly closed: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined
  const closed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { closed, open }
}

/** Lets all work complete that does not wait for the clock. */
export async function settled(ticks = 20): Promise<void> {
  for (let tick = 0; tick < ticks; tick += 1) await new Promise((resolve) => setImmediate(resolve))
}
