import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  socketBufferBytesLow,
  socketBufferBytesSoft,
  streamSliceMs,
} from '../../../../engine/limits.ts'
import { silentLog } from '../../../../engine/process/log.ts'
import { timeMs } from '../../../../engine/units.ts'
import type { Socket } from '../../../../http/ws/fan-out/batches.ts'
import { Hub } from '../../../../http/ws/hub.ts'
import { Session } from '../../../../http/ws/session/session.ts'
import { FakeEngine, type FakeMarket } from '../../../support/fakes/engine.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'
import { bid, level } from '../../../support/worlds/builders.ts'

type Message = Readonly<Record<string, unknown>>

/** The buffer fills with the first message of type `fullAt`. */
class FakeSocket implements Socket {
  readonly messages: Message[] = []
  readonly topics = new Set<string>()
  buffered = 0
  fullAt = ''

  send(message: unknown): number {
    const read: Message = JSON.parse(String(message))
    this.messages.push(read)
    if (read.type === this.fullAt) this.buffered = socketBufferBytesLow + 1
    return 1
  }
  subscribe(topic: unknown): boolean {
    this.topics.add(String(topic))
    return true
  }
  unsubscribe(topic: unknown): boolean {
    return this.topics.delete(String(topic))
  }
  getBufferedAmount(): number {
    return this.buffered
  }
  cork(action: () => void): ReturnType<Socket['cork']> {
    action()
    return Object.create(null)
  }
  end(): void {}
  close(): void {}
}

/** The hub has three markets and one connection without subscriptions. */
function open() {
  const clock = new ManualClock()
  const engine = new FakeEngine(clock)
  engine.accounts.make('ann')
  const markets = ['m0', 'm1', 'm2'].map((name) => engine.add(name))
  for (const market of markets) market.replace([level(0.4, 1)], [])
  const sockets: FakeSocket[] = []
  const subscribed = (topic: string) => sockets.filter(({ topics }) => topics.has(topic))
  const topics = {
    numSubscribers: (topic: string) => subscribed(topic).length,
    publish(topic: string, message: unknown) {
      for (const socket of subscribed(topic)) socket.send(message)
      return true
    },
  }
  const { publisher, metrics } = engine
  const hub = new Hub({ engine, publisher, clock, log: silentLog, metrics, topics })
  publisher.watch(hub)
  const join = () => {
    const caller = engine.accounts.callerOfKey('ann-key') ?? assert.fail()
    const socket = new FakeSocket()
    const session = new Session({ id: 'c', caller, encoder: hub.encoder('j'), ws: socket, hub })
    sockets.push(socket)
    hub.add(session)
    session.open()
    const subscribe = (channel: string, more: object = {}) => {
      const command = { action: 'subscribe', id: 1, channel, market_ids: ['*'], ...more }
      session.receive(Buffer.from(JSON.stringify(command)), false)
    }
    return { session, socket, subscribe }
  }
  join()
  const [m0, m1, m2] = markets
  assert.ok(m0 !== undefined && m1 !== undefined && m2 !== undefined)
  return { clock, engine, hub, join, markets: [m0, m1, m2] as const }
}

/** The connection's wildcard subscription to books has sent only the first market's snapshot. */
function fillHalf() {
  const world = open()
  const one = world.join()
  one.socket.fullAt = 'snapshot'
  one.subscribe('orderbook')
  assert.equal(one.socket.messages.at(-1)?.type, 'snapshot')
  assert.equal(one.session.hasWork, true)
  const bookMessages = () =>
    one.socket.messages
      .filter(({ channel, market_id }) => channel === 'orderbook' && market_id !== undefined)
      .map(({ type, market_id }) => `${type} ${market_id}`)
  const drain = () => {
    one.socket.fullAt = ''
    one.socket.buffered = 0
    world.hub.sweep()
  }
  return { ...world, ...one, bookMessages, drain }
}

const idOf = ({ ref }: FakeMarket): string => ref.id

test('sends changes of books whose snapshots were sent while a wildcard subscription loads, even after a heartbeat', () => {
  const { hub, markets, bookMessages, drain } = fillHalf()
  const [m0, m1, m2] = markets
  m0.change(bid(0.4, 2))
  hub.beat()
  m0.change(bid(0.4, 3))
  m1.change(bid(0.4, 2))
  drain()
  m2.change(bid(0.4, 2))
  assert.deepEqual(bookMessages(), [
    `snapshot ${idOf(m0)}`,
    `update ${idOf(m0)}`,
    `update ${idOf(m0)}`,
    `snapshot ${idOf(m1)}`,
    `snapshot ${idOf(m2)}`,
    `update ${idOf(m2)}`,
  ])
  hub.stop()
})

test('sends changed depths when a wildcard that is still loading is the only subscription', () => {
  const { clock, hub, join, markets } = open()
  const { socket, subscribe } = join()
  const [m0] = markets
  socket.fullAt = 'depth'
  subscribe('depth')
  m0.change(bid(0.4, 2))
  m0.change(bid(0.4, 3))
  clock.advance(250)
  const depths = socket.messages.filter(({ type }) => type === 'depth')
  assert.deepEqual(
    depths.map(({ market_id, seq }) => [market_id, seq]),
    [-2, -1, 0].map((earlier) => [idOf(m0), m0.seq('orderbook') + earlier]),
  )
  hub.stop()
})

test('sends all snapshots a second time when the client lagged while a wildcard subscription was loading', () => {
  const { hub, markets, socket, session, bookMessages, drain } = fillHalf()
  const [m0, m1, m2] = markets
  socket.buffered = 2 * socketBufferBytesSoft
  hub.sweep()
  assert.equal(session.isLive, false)
  m0.change(bid(0.4, 2))
  hub.beat()
  assert.equal(socket.messages.at(-1)?.catching_up, true)
  socket.messages.length = 0
  drain()
  assert.equal(session.isLive, true)
  for (const market of markets) market.change(bid(0.4, 5))
  assert.deepEqual(bookMessages(), [
    `resync ${idOf(m0)}`,
    ...[m0, m1, m2].map((market) => `snapshot ${idOf(market)}`),
    ...[m0, m1, m2].map((market) => `update ${idOf(market)}`),
  ])
  for (let count = 0; count < 2; count += 1) {
    socket.messages.length = 0
    hub.beat()
    const [beat, ...more] = socket.messages
    assert.equal(beat?.type, 'heartbeat')
    assert.ok('offsets' in beat && more.length === 0)
  }
  hub.stop()
})

test('encodes nothing for a connection that closed while its wildcard subscription was loading', () => {
  const { hub, engine, markets, session, socket } = fillHalf()
  const encodedCount = () =>
    [...engine.metrics.counts('stream_messages_encoded_total').values()]
      .map(({ value }) => value)
      .reduce((sum, value) => sum + value, 0)
  socket.topics.clear()
  hub.remove(session)
  const before = [encodedCount(), socket.messages.length]
  for (const market of markets) {
    market.change(bid(0.4, 5))
    market.replace([level(0.3, 1)], [])
  }
  assert.deepEqual([encodedCount(), socket.messages.length], before)
  hub.stop()
})

test('removes a topic when its last subscriber unsubscribes, lags or disconnects', () => {
  const { hub, join, markets } = open()
  const topicNames = ['orderbook', 'trades', 'depth:10:250', 'arbitrage:5:0.01']
  const activeCount = () => topicNames.filter((variant) => hub.fanOut.isActive(variant)).length
  const market_ids = markets.map(idOf)
  const subscribeAll = ({ subscribe }: ReturnType<typeof join>) => {
    for (const channel of ['orderbook', 'trades', 'depth']) subscribe(channel, { market_ids })
    subscribe('arbitrage', { market_ids, min_profit_usd: 5, min_edge: 0.01 })
  }
  const [one, other] = [join(), join()]
  for (let count = 0; count < 2; count += 1) {
    subscribeAll(one)
    subscribeAll(other)
    assert.equal(activeCount(), 4)
    for (const channel of ['orderbook', 'trades', 'depth', 'arbitrage']) {
      one.subscribe(channel, { action: 'unsubscribe', market_ids })
    }
    assert.equal(activeCount(), 4)
    other.socket.buffered = 2 * socketBufferBytesSoft
    hub.sweep()
    assert.equal(activeCount(), 0)
    other.socket.buffered = 0
    hub.sweep()
    assert.equal(activeCount(), 4)
  }
  hub.remove(other.session)
  assert.equal(activeCount(), 0)
  hub.stop()
})

test('sends the snapshots of 100 markets over several event-loop ticks of about 2 ms', async () => {
  const { clock, hub, join, markets } = open()
  const nowMs = clock.monotonicMs()
  let reads = 0
  clock.monotonicMs = () => nowMs + (reads++ * streamSliceMs) / 20
  const { socket, session } = join()
  const market_ids = Array.from({ length: 100 }, () => idOf(markets[0]))
  const snapshotCount = () => socket.messages.filter(({ type }) => type === 'snapshot').length
  let before = 0
  session.receive(Buffer.from(JSON.stringify({ action: 'snapshot', id: 1, market_ids })), false)
  while (before < 100) {
    const count = snapshotCount()
    assert.ok(count > before && count - before <= 40, `${count - before} snapshots in a tick`)
    before = count
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.equal(socket.messages.at(-1)?.type, 'synced')
  hub.stop()
})

test('reports a gap to a connection to which missed trades are being replayed', () => {
  const { hub, engine, join, markets } = open()
  for (const market of markets) market.trade()
  const { socket, session, subscribe } = join()
  socket.fullAt = 'trade'
  const { publisher } = engine
  subscribe('trades', { since: { epoch: publisher.epoch, offset: 0 } })
  assert.equal(session.isReplaying, true)
  const times = { fromMs: timeMs(1_000), toMs: timeMs(2_000) }
  const of = { kind: 'gap', channel: 'trades', venue: 'a', platform: 'venue_a' } as const
  publisher.publish({ ...of, ...times, market: markets[0].ref, count: 3 })
  publisher.publish({ ...of, ...times, market: null, count: null })
  const gaps = socket.messages.filter(({ type }) => type === 'gap')
  assert.deepEqual(
    gaps.map(({ market_id = null, platform = null, count = null }) => [market_id, platform, count]),
    [
      [idOf(markets[0]), null, 3],
      [null, 'venue_a', null],
    ],
  )
  socket.fullAt = ''
  socket.buffered = 0
  hub.sweep()
  assert.deepEqual(
    socket.messages.filter(({ type }) => type === 'trade').map(({ offset }) => offset),
    [1, 2, 3],
  )
  hub.stop()
})
