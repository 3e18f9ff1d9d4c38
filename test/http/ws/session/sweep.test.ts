import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  bufferSweepMs,
  socketBufferBytesSoft,
  socketBuffersTotalBytesMax,
} from '../../../../engine/limits.ts'
import { silentLog } from '../../../../engine/process/log.ts'
import type { Socket } from '../../../../http/ws/fan-out/batches.ts'
import { Hub } from '../../../../http/ws/hub.ts'
import { Session } from '../../../../http/ws/session/session.ts'
import { FakeEngine } from '../../../support/fakes/engine.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'
import { bid, level } from '../../../support/worlds/builders.ts'

/** A socket whose peer reads nothing, so that all published bytes stay in its buffer. */
interface Stuck {
  readonly session: Session
  looks: number
  buffered: number
  /** Close code; 1006: closed without a close frame; null: open. */
  closeCode: number | null
  sentCount: number
}

function open(subscriberCount = 1) {
  const clock = new ManualClock()
  const engine = new FakeEngine(clock)
  engine.accounts.make('ann')
  const market = engine.add('one')
  const stuck: Stuck[] = []
  const { publisher, metrics } = engine
  const topics = {
    numSubscribers: () => 0,
    publish(topic: string, message: string | ArrayBuffer | ArrayBufferView) {
      if (topic !== 'j:orderbook:*') return false
      for (const one of stuck) one.buffered += typeof message === 'string' ? message.length : 0
      return true
    },
  }
  const hub = new Hub({ engine, publisher, clock, log: silentLog, metrics, topics })
  publisher.watch(hub)
  for (let count = 1; count < subscriberCount; count += 1) {
    hub.fanOut.addSubscriber('j', 'orderbook', '*')
  }
  const join = (): Stuck => {
    const caller = engine.accounts.callerOfKey('ann-key') ?? assert.fail()
    const ws: Socket = {
      send() {
        one.sentCount += 1
        return 1
      },
      subscribe: () => true,
      unsubscribe: () => true,
      getBufferedAmount() {
        one.looks += 1
        return one.buffered
      },
      end(code) {
        assert.equal(one.closeCode, null)
        one.closeCode = code ?? 0
        hub.remove(session)
      },
      close() {
        assert.equal(one.closeCode, null)
        one.closeCode = 1006
        hub.remove(session)
      },
      cork: () => assert.fail('nothing is commanded'),
    }
    const session = new Session({ id: 'c', caller, encoder: hub.encoder('j'), ws, hub })
    const one: Stuck = { session, looks: 0, buffered: 0, closeCode: null, sentCount: 0 }
    stuck.push(one)
    hub.add(session)
    session.open()
    session.subscribe('orderbook', '*')
    return one
  }
  market.replace([level(0.4, 1)], [])
  let size = 0
  const change = () => {
    size += 1
    market.change(bid(0.4, size))
  }
  return { hub, clock, stuck, join, change }
}

/** The number of buffer checks of each socket in one sweep. */
function looksOf({ hub, stuck }: ReturnType<typeof open>): number[] {
  const before = stuck.map(({ looks: checks }) => checks)
  hub.sweep()
  return stuck.map(({ looks: checks }, index) => checks - (before[index] ?? 0))
}

test('sweeps only connections with newly sent data, but all connections when published bytes may have filled a buffer', () => {
  const world = open()
  const one = world.join()
  world.join()
  assert.deepEqual(looksOf(world), [1, 1], 'both were greeted')
  assert.deepEqual(looksOf(world), [0, 0])
  one.session.send('x')
  assert.deepEqual(looksOf(world), [1, 0])
  while (one.buffered < socketBufferBytesSoft) {
    assert.deepEqual(looksOf(world), [0, 0])
    for (let count = 0; count < 50; count += 1) world.change()
  }
  for (const stuck of world.stuck) stuck.buffered = 0
  assert.deepEqual(looksOf(world), [1, 1])
  assert.deepEqual(looksOf(world), [0, 0])
  // A buffer that was three quarters full may be full after another quarter.
  one.buffered = socketBufferBytesSoft * 0.75
  one.session.send('x')
  assert.deepEqual(looksOf(world), [1, 0])
  while (one.buffered < socketBufferBytesSoft) {
    assert.deepEqual(looksOf(world), [0, 0])
    for (let count = 0; count < 50; count += 1) world.change()
  }
  assert.deepEqual(looksOf(world), [1, 1])
  assert.equal(one.session.isLive, false)
  world.hub.stop()
})

test('sweeps all connections when the total published bytes are large, however few per connection', () => {
  const world = open(4_000_000)
  world.join()
  looksOf(world)
  world.change()
  assert.deepEqual(looksOf(world), [1])
  assert.deepEqual(looksOf(world), [0])
  world.hub.stop()
})

test('marks a connection as lagging within an eighth above the soft limit, then checks it in every sweep', () => {
  const world = open()
  const one = world.join()
  while (one.session.isLive) {
    world.change()
    world.hub.sweep()
    assert.ok(one.buffered < socketBufferBytesSoft * 1.126, `${one.buffered} bytes`)
  }
  assert.ok(one.buffered > socketBufferBytesSoft)
  for (let sweep = 0; sweep < 3; sweep += 1) assert.deepEqual(looksOf(world), [1])
  world.hub.stop()
})

test('sends a stalled reader only its close frame after 10 s without progress and disconnects it within 50 s more', () => {
  const world = open()
  const { clock, hub } = world
  const [takes, never, late] = [world.join(), world.join(), world.join()]
  const unsent = 2 * socketBufferBytesSoft
  for (const one of [takes, never, late]) one.buffered = unsent
  clock.advance(10_000)
  // Any progress restarts the 10 s.
  late.buffered -= 1
  clock.advance(5_000)
  const sentCounts = [takes, never].map(({ sentCount }) => sentCount)
  takes.session.receive(Buffer.from('{"action":"ping"}'), false)
  hub.beat()
  assert.deepEqual(
    [takes, never].map(({ sentCount }) => sentCount),
    sentCounts,
    'nothing more is sent',
  )
  for (const one of [takes, never]) assert.equal(one.closeCode, null, 'no frame behind unsent data')
  takes.buffered = 1
  clock.advance(1_000)
  assert.equal(takes.closeCode, null)
  takes.buffered = 0
  clock.advance(100)
  assert.equal(takes.closeCode, 4008)
  assert.ok(late.sentCount > (sentCounts[1] ?? 0), 'who makes progress hears heartbeats')
  clock.advance(43_900)
  assert.equal(never.closeCode, null)
  clock.advance(200)
  assert.equal(never.closeCode, 1006)
  assert.equal(late.closeCode, null)
  assert.deepEqual([...hub.sessions], [late.session])
})

test('sweeps a reader only once when a full sweep closes its connection', (t) => {
  const world = open()
  const { clock, hub } = world
  const [one, other] = [world.join(), world.join()]
  one.buffered = 2 * socketBufferBytesSoft
  clock.advance(10_100)
  // Publishes enough to make the next sweep check all connections.
  other.session.subscribe('orderbook', '*')
  for (let count = 0; count < 5_000; count += 1) world.change()
  assert.ok(other.buffered > socketBufferBytesSoft)
  one.buffered = 0
  other.buffered = 0
  const sweeps = t.mock.method(one.session, 'sweep')
  hub.sweep()
  assert.deepEqual([one.closeCode, sweeps.mock.callCount()], [4008, 1])
  clock.advance(10_000)
  assert.equal(sweeps.mock.callCount(), 1)
  hub.stop()
})

test('excludes the unsent bytes of a disconnected connection from the total limit', () => {
  const world = open()
  const { clock, hub } = world
  const never = world.join()
  never.buffered = socketBuffersTotalBytesMax * 0.5
  // The connection lags at the first sweep, is marked as a slow reader 10 s later, and is closed 50 s after that.
  clock.advance(60_050)
  assert.equal(never.closeCode, null)
  // Publishes enough to make the next sweep check all connections.
  const other = world.join()
  for (let count = 0; count < 5_000; count += 1) world.change()
  assert.ok(other.buffered > socketBufferBytesSoft)
  other.buffered = socketBuffersTotalBytesMax * 0.6
  clock.advance(bufferSweepMs)
  assert.deepEqual([never.closeCode, other.closeCode], [1006, null])
  hub.stop()
})
