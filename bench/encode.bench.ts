// Cost of encoding a stream update, against JSON.stringify of the same object. The updates are those of real market
// actors for the simulated world's frames. Timed: the encoder's text; JSON.stringify of the finished object; both in
// MessagePack; and the hub's whole `onUpdate` with one subscriber to everything and with none, over topics that only
// count.
// Excluded: creating the object for JSON.stringify (which favours it), and the socket.

import { Packr } from 'msgpackr'
import { Catalog } from '../actors/catalog/catalog.ts'
import { Matches } from '../actors/matches/matches.ts'
import { Sports } from '../actors/sports/sports.ts'
import { System } from '../actors/system.ts'
import { EventRoutes } from '../actors/venue/event-routes.ts'
import type { EngineView } from '../actors/views.ts'
import { WhaleLog } from '../actors/whales/whale-log.ts'
import type { BookUpdate, PriceUpdate, TradeEvent, TradeUpdate } from '../engine/events.ts'
import { nativeMarketId, outcomeId } from '../engine/ids.ts'
import { silentLog } from '../engine/process/log.ts'
import { Metrics } from '../engine/process/metrics.ts'
import { Publisher } from '../engine/publisher.ts'
import type { SimTrade } from '../engine/venues/simulator/model.ts'
import { bookUpdate } from '../http/ws/channels/orderbook.ts'
import { priceMessage } from '../http/ws/channels/prices.ts'
import { tradeMessage } from '../http/ws/channels/trades.ts'
import type { Encoder, Frame } from '../http/ws/encode/encoder.ts'
import { JsonEncoder } from '../http/ws/encode/json.ts'
import { MsgpackEncoder } from '../http/ws/encode/msgpack.ts'
import type { Socket, Topics } from '../http/ws/fan-out/library.ts'
import { Hub } from '../http/ws/hub.ts'
import { Session } from '../http/ws/session/session.ts'
import { FakeArbitrage } from '../test/support/fakes/arbitrage.ts'
import { FakeAccounts, FakeTradeLog } from '../test/support/fakes/engine.ts'
import { ManualClock } from '../test/support/fakes/manual-clock.ts'
import { FakeWallets } from '../test/support/fakes/wallets.ts'
import { FakeWebhooks } from '../test/support/fakes/webhooks.ts'
import { openMemoryStorage } from '../test/support/reference/memory.ts'
import { marketParts, NAMES } from '../test/support/worlds/builders.ts'
import {
  type Bench,
  check,
  hashOf,
  newTimes,
  type Row,
  ratioRow,
  timeInRotation,
  timesRow,
} from './harness.ts'
import { listingOf, type SimLoad, simLoad } from './sim-load.ts'
import { RECEIVED_AT, venuePath } from './venue-path.ts'

const SEED = 3
const BATCH = 50
const EPOCH = 'bench'

export const bench: Bench = {
  name: 'encode',
  question: 'What does encoding one update cost, against JSON.stringify of the same object?',
  excludes: 'making the object for JSON.stringify, sockets',
  async run({ isSmall }) {
    const load = simLoad({
      seed: SEED,
      marketsPerVenue: isSmall ? 20 : 100,
      frameCount: isSmall ? 3_000 : 60_000,
    })
    const { updates, catalog } = publish(load)
    const written = { epoch: EPOCH, catalog, nowMs: () => RECEIVED_AT }
    const encoders = { json: new JsonEncoder(written), binary: new MsgpackEncoder(written) }
    const rows: Row[] = []
    const texts: string[] = []
    for (const kind of ['book', 'trade', 'price'] as const) {
      const some = updates.filter((update) => update.kind === kind)
      check(some.length > 0, `the load has no ${kind} update`)
      rows.push(...compare(kind, some, encoders, texts))
    }
    rows.push(...timeHub(updates, catalog))
    const checked = `${texts.length} texts equal JSON.stringify of what they say`
    return { rows, state: { hash: hashOf(texts), checked, isRepeatable: true } }
  },
}

type DataUpdate = BookUpdate | TradeUpdate | PriceUpdate

/** Updates that the market actors publish for the load. */
function publish(load: SimLoad): { updates: DataUpdate[]; catalog: Catalog } {
  const metrics = new Metrics()
  const clock = new ManualClock(RECEIVED_AT)
  const publisher = new Publisher({ epoch: EPOCH, log: silentLog, metrics })
  const updates: DataUpdate[] = []
  publisher.watch({
    name: 'bench',
    onUpdate(update) {
      if (update.kind === 'book' || update.kind === 'trade' || update.kind === 'price') {
        updates.push(update)
      }
    },
  })
  const storage = openMemoryStorage()
  const system = new System({ clock, log: silentLog, metrics, mustHold: () => false })
  const { parts: market } = marketParts({ publisher, storage })
  // No search runs here.
  const index = { put() {}, remove() {}, find: async () => new Uint32Array() }
  const catalog = new Catalog({ names: NAMES, clock, system, storage, index, market })
  catalog.take({ markets: load.markets.map(listingOf), events: [] })
  const routes = new EventRoutes({ catalog, metrics, onWalletFill: () => undefined })
  for (const venue of ['a', 'b'] as const) {
    const take = venuePath(venue, load, (event) => routes.route(event))
    for (const frame of [...load.snapshots, ...load.frames]) {
      if (frame.venue === venue) take(frame.text)
    }
  }
  // Venue a's trades come over a separate stream.
  for (const trade of load.trades) {
    if (trade.market.listing.venue === 'a') routes.route(tradeEvent(trade))
  }
  return { updates, catalog }
}

function tradeEvent(trade: SimTrade): TradeEvent {
  const { nativeId, tokens } = trade.market.listing
  return {
    kind: 'trade',
    venue: 'a',
    venueTimeMs: trade.atMs,
    receivedAtMs: RECEIVED_AT,
    outcome: outcomeId(tokens[trade.outcomeIndex]),
    market: nativeMarketId(nativeId),
    nativeId: trade.id,
    price: trade.price,
    size: trade.size,
    side: trade.side,
    maker: trade.makers[0]?.wallet.address ?? null,
    taker: trade.taker.address,
    txHash: trade.txHash,
    isBlock: false,
    source: 'stream',
  }
}

interface Encoders {
  readonly json: Encoder
  readonly binary: Encoder
}

function encode(encoder: Encoder, update: DataUpdate): Frame {
  if (update.kind === 'book') return bookUpdate(encoder, update)
  return update.kind === 'trade' ? tradeMessage(encoder, update) : priceMessage(encoder, update)
}

function compare(
  kind: string,
  updates: readonly DataUpdate[],
  { json, binary }: Encoders,
  texts: string[],
): Row[] {
  const objects: unknown[] = []
  for (const update of updates) {
    const text = String(encode(json, update))
    const object: unknown = JSON.parse(text)
    check(JSON.stringify(object) === text, `a ${kind} text is not what JSON.stringify writes`)
    objects.push(object)
    texts.push(text)
  }
  const packr = new Packr({ useRecords: false, variableMapSize: true, useFloat32: 0 })
  const race = (form: string, encoder: Encoder, plain: (object: unknown) => Frame, by: string) => {
    const times = [newTimes(), newTimes()] as const
    let byteCount = 0
    const ours = (from: number, count: number) => {
      for (let index = from; index < from + count; index += 1) {
        const update = updates[index]
        if (update !== undefined) byteCount += read(encode(encoder, update))
      }
    }
    const theirs = (from: number, count: number) => {
      for (let index = from; index < from + count; index += 1) {
        byteCount -= read(plain(objects[index]))
      }
    }
    const ticks = [
      { times: times[0], batch: ours },
      { times: times[1], batch: theirs },
    ]
    timeInRotation(ticks, { operationCount: updates.length, batchCount: BATCH })
    check(byteCount === 0, `${kind}: both wrote the same number of bytes`)
    return [
      timesRow(`${kind}: ${form}encoder`, times[0]),
      timesRow(`${kind}: ${by}`, times[1]),
      ratioRow(`${kind}: ${by} / encoder`, times[1], times[0]),
    ]
  }
  return [
    ...race('', json, (object) => JSON.stringify(object), 'JSON.stringify'),
    ...race('MessagePack ', binary, (object) => packr.pack(object), 'msgpackr'),
  ]
}

/** Reads every byte of a message: V8 joins a concatenation only when it is read. */
function read(frame: Frame): number {
  return Buffer.byteLength(frame)
}

function timeHub(updates: readonly DataUpdate[], catalog: Catalog): Row[] {
  const rows: Row[] = []
  for (const subscriberCount of [0, 1]) {
    const topics = new CountingTopics(subscriberCount)
    const hub = openHub(topics, catalog)
    if (subscriberCount > 0) listenToAll(hub)
    const times = newTimes()
    const batch = (from: number, count: number) => {
      for (let index = from; index < from + count; index += 1) {
        const update = updates[index]
        if (update !== undefined) hub.onUpdate(update)
      }
    }
    timeInRotation([{ times, batch }], { operationCount: updates.length, batchCount: BATCH })
    hub.stop()
    check(topics.count === subscriberCount * updates.length, 'each update was published once')
    const who = subscriberCount === 0 ? 'nobody subscribed' : 'subscribers to everything'
    rows.push(timesRow(`hub.onUpdate, ${who}`, times))
  }
  return rows
}

/** Replaces the sockets; subscriptions are to everything, as JSON. */
class CountingTopics implements Topics {
  readonly #subscriberCount: number
  count = 0
  byteCount = 0

  constructor(subscriberCount: number) {
    this.#subscriberCount = subscriberCount
  }

  numSubscribers(topic: string): number {
    return topic.startsWith('j:') && topic.endsWith('*') ? this.#subscriberCount : 0
  }

  publish(_topic: string, message: string | ArrayBuffer | ArrayBufferView): boolean {
    this.count += 1
    this.byteCount += typeof message === 'string' ? read(message) : message.byteLength
    return true
  }
}

const QUIET_SOCKET: Omit<Socket, 'cork'> = {
  send: () => 1,
  subscribe: () => true,
  unsubscribe: () => true,
  getBufferedAmount: () => 0,
  end: () => undefined,
  close: () => undefined,
}

/** Adds a connection, without which the hub skips every message. */
function listenToAll(hub: Hub): void {
  const accounts = new FakeAccounts(hub.clock)
  accounts.make('bench')
  const caller = accounts.callerOfKey('bench-key')
  if (caller === null) throw new Error('the account that was just made is gone')
  const ws: Socket = {
    ...QUIET_SOCKET,
    cork() {
      throw new Error('no command is carried out here')
    },
  }
  const session = new Session({ id: 'c_bench', caller, encoder: hub.encoder('j'), ws, hub })
  hub.add(session)
  for (const variant of ['orderbook', 'trades', 'prices:0'] as const)
    session.subscribe(variant, '*')
}

function openHub(topics: Topics, catalog: Catalog): Hub {
  const clock = new ManualClock(RECEIVED_AT)
  const metrics = new Metrics()
  const publisher = new Publisher({ epoch: EPOCH, log: silentLog, metrics })
  const tradeLog = new FakeTradeLog(publisher, () => [])
  const engine: EngineView = {
    version: 'bench',
    epoch: EPOCH,
    catalog,
    accounts: new FakeAccounts(clock),
    sports: new Sports({ catalog, clock }),
    matches: new Matches(),
    arbitrage: new FakeArbitrage(),
    pastPrices: { at: () => null, range: async () => [] },
    webhooks: new FakeWebhooks(clock),
    wallets: new FakeWallets(),
    tradeLog,
    whaleLog: new WhaleLog({ run: tradeLog.present, storage: openMemoryStorage() }),
    stats: () => ({ trades: 0, snapshots: 0, databaseBytes: 0, coverage: { a: null, b: null } }),
    venues: () => [],
    isStorageHealthy: () => true,
    delayMs: () => 0,
    bookAgeMsMax: 60_000,
    confirmBook: () => null,
    uptimeSeconds: () => 0,
  }
  return new Hub({ engine, publisher, clock, log: silentLog, metrics, topics })
}
