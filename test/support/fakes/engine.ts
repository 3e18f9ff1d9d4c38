// An engine for API server tests with a real Publisher. Tests change its state by methods.

import { Matches } from '../../../actors/matches/matches.ts'
import type {
  ClusterView,
  EngineView,
  ExportsView,
  GameView,
  MarketView,
  PastPricesView,
  ReplaysView,
  SportsView,
  StatsView,
  TapeView,
  VenueView,
} from '../../../actors/views.ts'
import { WhaleLog } from '../../../actors/whales/whale-log.ts'
import type { Clock } from '../../../engine/clock.ts'
import type { DataSource } from '../../../engine/data-source.ts'
import type { VenueKey } from '../../../engine/ids.ts'
import { bookAgeMsMax } from '../../../engine/limits.ts'
import type { EventListing, MarketListing } from '../../../engine/market/market.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { Publisher } from '../../../engine/publisher.ts'
import type { VenueTable } from '../../../engine/venue-table.ts'
import type { Server } from '../../../http/server.ts'
import type { WhaleTable } from '../../../storage/contract/storage.ts'
import { openMemoryStorage } from '../reference/memory.ts'
import { eventListing, listing, NAMES } from '../worlds/builders.ts'
import { FakeAccounts } from './accounts.ts'
import { FakeArbitrage } from './arbitrage.ts'
import { FakeCatalog } from './catalog.ts'
import type { FakeEvent } from './events.ts'
import { FakeMarket } from './market.ts'
import { FakeTradeLog } from './trade-log.ts'
import { FakeWallets } from './wallets.ts'
import { FakeWebhooks } from './webhooks.ts'

export { FakeAccounts } from './accounts.ts'
export { FakeCatalog } from './catalog.ts'
export { FakeEvent } from './events.ts'
export { bookChecksum, FakeMarket } from './market.ts'
export { FakeTradeLog } from './trade-log.ts'

class FakeSports implements SportsView {
  /** By sport and date, then by game key. */
  readonly #games = new Map<string, Map<string, GameView>>()
  date = '2026-11-20'

  games(...[sport, date]: Parameters<SportsView['games']>) {
    const games = this.#games.get(`${sport} ${date}`) ?? new Map<string, GameView>()
    return new Map([...games].sort(([one], [other]) => (one < other ? -1 : 1)))
  }

  today(): string {
    return this.date
  }

  put(
    at: { sport: string; date: string; game: string; startMs?: number },
    ...markets: readonly MarketView[]
  ): void {
    const key = `${at.sport} ${at.date}`
    const games = this.#games.get(key) ?? new Map<string, GameView>()
    const existing = games.get(at.game)
    const startMs = at.startMs ?? existing?.startMs ?? null
    games.set(at.game, { startMs, markets: [...(existing?.markets ?? []), ...markets] })
    this.#games.set(key, games)
  }
}

export class FakeEngine implements EngineView {
  readonly version = '0.0.0-test'
  data: DataSource = 'live'
  readonly epoch = 'k3f9c2'
  readonly clock: Clock
  readonly metrics = new Metrics()
  readonly publisher: Publisher
  readonly catalog: FakeCatalog
  readonly accounts: FakeAccounts
  readonly sports = new FakeSports()
  readonly matches = new Matches()
  readonly arbitrage = new FakeArbitrage()
  readonly webhooks: FakeWebhooks
  readonly wallets = new FakeWallets()
  readonly tradeLog: FakeTradeLog
  /** Whales of the current run only. Published whales stay in the hub's memory. */
  readonly whaleLog: WhaleLog
  readonly whaleRows: WhaleTable
  /** Returns the ticks of the market. Tests replace it to simulate more, late or failing prices of a venue. */
  pastPrices: PastPricesView = {
    at: (market, atMs) => market.priceAt(atMs),
    range: async () => [],
  }
  venueViews: VenueView[]
  cluster?: () => ClusterView
  /** Undefined: nothing is recorded. */
  tape: TapeView | undefined = undefined
  exports: ExportsView | undefined = undefined
  replays: ReplaysView | undefined = undefined
  isHealthy = true
  databaseBytes = 4_096
  bookFigures: StatsView['books'] = {}

  constructor(clock: Clock, names: VenueTable = NAMES) {
    this.clock = clock
    this.catalog = new FakeCatalog(names)
    this.venueViews = (['a', 'b'] as const).map((venue) => ({
      venue,
      platform: names.platform(venue),
      state: 'live',
      lagMs: 5,
      delayMs: 2,
      completeToMs: null,
      connectionsOpen: 1,
      connectionsWanted: 1,
      tradesSource: null,
      reason: null,
      staleBooks: 0,
      drift: [],
    }))
    this.publisher = new Publisher({ epoch: this.epoch, log: silentLog, metrics: this.metrics })
    this.tradeLog = new FakeTradeLog(this.publisher, () => [...this.catalog.byId.values()])
    const { present } = this.tradeLog
    const { runs, whales } = openMemoryStorage()
    const storage = { runs: { ...runs, all: () => [present] }, whales }
    this.whaleLog = new WhaleLog({ run: present, storage })
    this.whaleRows = whales
    this.accounts = new FakeAccounts(clock)
    this.webhooks = new FakeWebhooks(clock)
  }

  /** Registers the stream of an API server, as the real engine does. */
  register({ hub }: Pick<Server, 'hub'>): void {
    this.publisher.watch(hub)
    this.accounts.watch(hub.accountWatcher)
  }

  /** The market belongs to venue a unless the listing names a venue. */
  add(name: string, set: Partial<MarketListing> = {}): FakeMarket {
    const number = this.catalog.byId.size + 1
    const market = new FakeMarket(this, listing(name, set), number, (of, trade) =>
      this.catalog.noteTrade(of, trade),
    )
    this.catalog.byId.set(market.ref.id.toLowerCase(), market)
    return market
  }

  /** The event's id is `event-<name>`. A market of that name belongs to it by default. */
  addEvent(name: string, set: Partial<EventListing> = {}): FakeEvent {
    return this.catalog.addEvent(eventListing(name, set))
  }

  stats(): StatsView {
    const markets = [...this.catalog.markets(null)]
    const coverage = (venue: VenueKey) => {
      const times = markets
        .filter(({ ref }) => ref.venue === venue)
        .flatMap(({ stored }) => stored.map(({ timeMs }) => timeMs))
        .sort((one, two) => one - two)
      const [oldestMs, newestMs] = [times[0], times.at(-1)]
      return oldestMs === undefined || newestMs === undefined ? null : { oldestMs, newestMs }
    }
    return {
      trades: markets.reduce((sum, { stored }) => sum + stored.length, 0),
      snapshots: markets.reduce((sum, { storedBooks }) => sum + storedBooks.length, 0),
      databaseBytes: this.databaseBytes,
      coverage: { a: coverage('a'), b: coverage('b') },
      books: this.bookFigures,
    }
  }

  venues(): readonly VenueView[] {
    return this.venueViews
  }

  isStorageHealthy(): boolean {
    return this.isHealthy
  }

  delayMs(): number {
    return 2
  }

  readonly bookAgeMsMax = bookAgeMsMax
  /** Tests replace it to simulate a book that is read over REST. */
  confirmBook: EngineView['confirmBook'] = () => null
  /** null: nothing is covered on demand. */
  coverage: EngineView['coverage'] = () => null

  uptimeSeconds(): number {
    return this.clock.monotonicMs() / 1000
  }
}
