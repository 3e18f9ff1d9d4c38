// A world moved by hand and a client that signs, for tests of the simulated venue b. Everything has
// plain defaults: what a test sets is what matters to it. Not for the moving world (world.ts).

import { constants, generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { BookSide, Level, LevelChange, TradeSide } from '../../engine/events.ts'
import type { VenueKey } from '../../engine/ids.ts'
import { silentLog } from '../../engine/log.ts'
import { seededRandom } from '../../engine/random.ts'
import {
  type PriceMicros,
  priceMicros,
  SIZE_ZERO,
  type SizeMicros,
  sizeMicros,
  type TimeMs,
  timeMs,
  usdMicros,
} from '../../engine/units.ts'
import { Faults } from '../../engine/venues/simulator/faults.ts'
import { startKalshiServer } from '../../engine/venues/simulator/kalshi-server.ts'
import type {
  SimEvent,
  SimFault,
  SimListing,
  SimMarket,
  SimStatus,
  SimTrade,
  World,
  WorldChange,
} from '../../engine/venues/simulator/model.ts'
import type { ManualClock } from './manual-clock.ts'

const DAY_MS = 86_400_000
export const cents = (value: number): PriceMicros => priceMicros(Math.round(value * 10_000))
export const contracts = (value: number): SizeMicros => sizeMicros(Math.round(value * 100) * 10_000)

/** A book kept as two maps. */
class StubBook {
  readonly sides = {
    bid: new Map<PriceMicros, SizeMicros>(),
    ask: new Map<PriceMicros, SizeMicros>(),
  }

  get bids(): readonly Level[] {
    return [...this.sides.bid]
      .map(([price, size]) => ({ price, size }))
      .sort((left, right) => right.price - left.price)
  }
  get asks(): readonly Level[] {
    return [...this.sides.ask]
      .map(([price, size]) => ({ price, size }))
      .sort((left, right) => left.price - right.price)
  }
  get bestBid(): PriceMicros | null {
    return this.bids[0]?.price ?? null
  }
  get bestAsk(): PriceMicros | null {
    return this.asks[0]?.price ?? null
  }
  sizeAt(side: BookSide, price: PriceMicros): SizeMicros {
    return this.sides[side].get(price) ?? SIZE_ZERO
  }
}

export class StubMarket implements SimMarket {
  readonly listing: SimListing
  readonly event: SimEvent
  readonly book = new StubBook()
  readonly trades: SimTrade[] = []
  status: SimStatus = 'open'
  tickMicros = cents(1)
  lastTrade: SimTrade | null = null
  readonly volumeTotal = usdMicros(5_000_000_000)
  readonly volume24h = usdMicros(1_000_000_000)
  readonly volumeTotalContracts = contracts(12_345.5)
  readonly volume24hContracts = contracts(345.25)
  readonly openInterest = contracts(4_000)
  readonly updatedMs: TimeMs

  constructor(listing: SimListing, event: SimEvent) {
    this.listing = listing
    this.event = event
    this.updatedMs = listing.openMs
  }

  /** Wanders a little, so that candles differ. */
  fairPrice(atMs: TimeMs): PriceMicros {
    return cents(50 + Math.round(20 * Math.sin(atMs / 7_200_000)))
  }
}

/** A world that does only what a test tells it to. */
export class StubWorld implements World {
  readonly seed = 1
  readonly startedMs: TimeMs
  readonly #clock: ManualClock
  readonly #events: SimEvent[] = []
  readonly #markets: StubMarket[] = []
  readonly #trades: SimTrade[] = []
  readonly #listeners = new Set<(change: WorldChange) => void>()

  constructor(clock: ManualClock) {
    this.#clock = clock
    this.startedMs = clock.nowMs()
  }

  nowMs(): TimeMs {
    return this.#clock.nowMs()
  }
  events(venue: VenueKey): readonly SimEvent[] {
    return venue === 'b' ? this.#events : []
  }
  markets(venue: VenueKey): readonly SimMarket[] {
    return venue === 'b' ? this.#markets : []
  }
  market(_venue: VenueKey, nativeId: string): StubMarket | null {
    return this.#markets.find((market) => market.listing.nativeId === nativeId) ?? null
  }
  marketOfToken(): null {
    return null
  }
  event(_venue: VenueKey, nativeId: string): SimEvent | null {
    return this.#events.find((event) => event.nativeId === nativeId) ?? null
  }
  trades(): readonly SimTrade[] {
    return this.#trades
  }
  teams(): ReturnType<World['teams']> {
    const teams = new Map<string, ReturnType<World['teams']>[number]>()
    for (const { game } of this.#events) {
      if (game === null) continue
      for (const team of [game.away, game.home]) {
        teams.set(`${game.league}/${team.kalshiCode}`, { league: game.league, team })
      }
    }
    return [...teams.values()]
  }
  onChange(listener: (change: WorldChange) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
  step(): void {}

  /** How many listen. */
  get listenerCount(): number {
    return this.#listeners.size
  }

  /** Adds an event. */
  addEvent(nativeId: string, fields: Partial<SimEvent> = {}): SimEvent {
    const nowMs = this.nowMs()
    const event: SimEvent = {
      venue: 'b',
      number: this.#events.length,
      nativeId,
      series: nativeId.split('-')[0] ?? nativeId,
      seriesTitle: 'Test series',
      title: `Title of ${nativeId}`,
      subtitle: 'Before 2027',
      description: '',
      category: 'Politics',
      tags: ['US Elections'],
      topic: 'politics',
      isMutuallyExclusive: true,
      createdMs: timeMs(nowMs - 5 * DAY_MS),
      endMs: timeMs(nowMs + 5 * DAY_MS),
      game: null,
      markets: [],
      ...fields,
    }
    this.#events.push(event)
    return event
  }

  /** Adds a market to an event, silently. */
  addMarket(event: SimEvent, suffix: string, fields: Partial<SimListing> = {}): StubMarket {
    const market = new StubMarket(
      {
        ...listingOf(`${event.nativeId}-${suffix}`, this.#markets.length, this.nowMs()),
        ...fields,
      },
      event,
    )
    event.markets.push(market)
    this.#markets.push(market)
    return market
  }

  /** Sets levels of a book: [side, cents, contracts], and tells of it. */
  setLevels(market: StubMarket, levels: readonly (readonly [BookSide, number, number])[]): void {
    const { changes, previousSizes } = apply(market, levels)
    this.tell({ kind: 'levels', market, changes, previousSizes, atMs: this.nowMs() })
  }

  /** Prints a trade and takes what it took from the book. */
  print(
    market: StubMarket,
    fields: { outcomeIndex?: 0 | 1; side?: TradeSide; cents?: number; contracts?: number },
    levels: readonly (readonly [BookSide, number, number])[] = [],
  ): SimTrade {
    const wallet = { address: '0x1', name: '', pseudonym: '' }
    const number = String(this.#trades.length).padStart(12, '0')
    const trade: SimTrade = {
      id: `00000000-0000-4000-8000-${number}`,
      txHash: '0x2',
      market,
      outcomeIndex: fields.outcomeIndex ?? 0,
      side: fields.side ?? 'buy',
      price: cents(fields.cents ?? 50),
      size: contracts(fields.contracts ?? 10),
      atMs: this.nowMs(),
      taker: wallet,
      makers: [],
    }
    market.trades.push(trade)
    market.lastTrade = trade
    this.#trades.push(trade)
    const { changes, previousSizes } = apply(market, levels)
    this.tell({ kind: 'trade', market, trade, changes, previousSizes, atMs: trade.atMs })
    return trade
  }

  /** Moves a market on and tells of it. */
  move(
    market: StubMarket,
    kind: 'created' | 'opened' | 'closed' | 'determined' | 'resolved',
  ): void {
    if (kind !== 'created') market.status = kind === 'opened' ? 'open' : kind
    this.tell({ kind, market, atMs: this.nowMs() })
  }

  tell(change: WorldChange): void {
    for (const listener of this.#listeners) listener(change)
  }
}

const pair = generateKeyPairSync('rsa', { modulusLength: 2048 })
export const KEY_ID = 'test-key'
const PUBLIC_PEM = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString()

/** The three headers of a request signed with the test key; any field can be made wrong. */
export function signedHeaders(fields: {
  method?: string
  path: string
  keyId?: string
  timestamp?: string
  salt?: number
}): Record<string, string> {
  const timestamp = fields.timestamp ?? '1790010000000'
  const text = Buffer.from(`${timestamp}${fields.method ?? 'GET'}${fields.path}`)
  const signature = sign('sha256', text, {
    key: pair.privateKey,
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: fields.salt ?? 32,
  })
  return {
    'KALSHI-ACCESS-KEY': fields.keyId ?? KEY_ID,
    'KALSHI-ACCESS-TIMESTAMP': timestamp,
    'KALSHI-ACCESS-SIGNATURE': signature.toString('base64'),
  }
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Record<string, unknown>
}

/** A venue on a free port, over any world. */
export async function startStub(options: { world: World; clock: ManualClock; faults?: Faults }) {
  const server = await startKalshiServer({
    world: options.world,
    faults: options.faults ?? noFaults(),
    clock: options.clock,
    random: seededRandom('kalshi stub'),
    log: silentLog,
    host: '127.0.0.1',
    port: 0,
    keys: new Map([[KEY_ID, PUBLIC_PEM]]),
  })
  const base = `http://127.0.0.1:${server.port}`
  return {
    port: server.port,
    stop: () => server.stop(),
    /** GET under /trade-api/v2. */
    async get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
      // Each answer is awaited before the next second of the token bucket would matter.
      options.clock.advance(50)
      const response = await fetch(`${base}/trade-api/v2${path}`, { headers })
      const text = await response.text()
      const isJson = response.headers.get('content-type')?.includes('json') === true
      return {
        status: response.status,
        headers: response.headers,
        text,
        body: isJson ? record(JSON.parse(text)) : {},
      }
    },
    connect: () => StreamClient.open(server.port),
  }
}

/** No fault ever strikes. */
export const noFaults = (): Faults => new Faults([], seededRandom('none'))

/** Every opportunity of these faults strikes while `isOn`. */
export class ScriptedFaults extends Faults {
  readonly #faults: ReadonlySet<SimFault>
  isOn = false

  constructor(...faults: readonly SimFault[]) {
    super([], seededRandom('scripted'))
    this.#faults = new Set(faults)
  }

  override strikes(fault: SimFault): boolean {
    return this.isOn && this.#faults.has(fault)
  }
}

export type Message = Record<string, unknown>

/** A client of the stream that keeps what it was sent. */
export class StreamClient {
  readonly socket: WebSocket
  readonly #inbox: Message[] = []
  #wake: (() => void) | null = null
  #nextId = 1

  private constructor(socket: WebSocket) {
    this.socket = socket
    socket.on('message', (data) => {
      this.#inbox.push(record(JSON.parse(String(data))))
      this.#wake?.()
    })
  }

  static async open(port: number): Promise<StreamClient> {
    const path = '/trade-api/ws/v2'
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, {
      headers: signedHeaders({ path }),
    })
    const client = new StreamClient(socket)
    await once(socket, 'open')
    return client
  }

  /** Sends a command and returns its id. */
  send(cmd: string, params?: Record<string, unknown>): number {
    const id = this.#nextId
    this.#nextId += 1
    this.socket.send(JSON.stringify({ id, cmd, ...(params === undefined ? {} : { params }) }))
    return id
  }

  /** The next `count` messages, waiting for them. */
  async take(count: number): Promise<Message[]> {
    while (this.#inbox.length < count) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return this.#inbox.splice(0, count)
  }

  /** The next message. */
  async next(): Promise<Message> {
    const [message] = await this.take(1)
    return message ?? {}
  }

  /** Everything sent so far: a round trip of `list_subscriptions` marks the end. */
  async drain(): Promise<Message[]> {
    const id = this.send('list_subscriptions')
    for (;;) {
      const end = this.#inbox.findIndex((message) => message.id === id)
      if (end >= 0) return this.#inbox.splice(0, end + 1).slice(0, -1)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}

/** An object, or an empty one: what a test then misses, it misses by name. */
export function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : {}
}

/** A list of objects. */
export function records(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(record) : []
}

function apply(
  market: StubMarket,
  levels: readonly (readonly [BookSide, number, number])[],
): { changes: LevelChange[]; previousSizes: SizeMicros[] } {
  const changes: LevelChange[] = []
  const previousSizes: SizeMicros[] = []
  for (const [side, priceCents, count] of levels) {
    const price = cents(priceCents)
    const size = contracts(count)
    previousSizes.push(market.book.sizeAt(side, price))
    changes.push({ side, price, size })
    if (size === 0) market.book.sides[side].delete(price)
    else market.book.sides[side].set(price, size)
  }
  return { changes, previousSizes }
}

function listingOf(nativeId: string, index: number, nowMs: TimeMs): SimListing {
  const at = (days: number): TimeMs => timeMs(nowMs + days * DAY_MS)
  return {
    venue: 'b',
    index,
    number: index,
    nativeId,
    uuid: `00000000-0000-4000-9000-${String(index).padStart(12, '0')}`,
    slug: nativeId.toLowerCase(),
    tokens: [`${nativeId}:yes`, `${nativeId}:no`],
    outcomes: ['Yes', 'No'],
    question: `Will ${nativeId} happen?`,
    shortTitle: 'It happens',
    noShortTitle: 'It does not',
    rules: 'If it happens, then the market resolves to Yes.',
    rulesSecondary: '',
    strike: null,
    sportsMarketType: null,
    line: null,
    createdMs: at(-5),
    openMs: at(-4),
    closeMs: at(3),
    determineMs: at(3.5),
    resolveMs: at(4),
    payout: priceMicros(1_000_000),
    questionKey: nativeId,
    pair: null,
    activity: 1,
  }
}
