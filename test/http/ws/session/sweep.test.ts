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

/** The peer reads nothing, so all published bytes stay in the socket's buffer. */
interface Stuck {
  readonly session: Session
  buffered: number
  /** 1006: closed without a close frame. null: open. */
  closeCode: number | null
  sentCount: number
}

function open() {
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
  const join = (): Stuck => {
    const caller = engine.accounts.callerOfKey('ann-key') ?? assert.fail()
    const ws: Socket = {
      send() {
        one.sentCount += 1
        return 1
      },
      subscribe: () => true,
      unsubscribe: () => true,
      getBufferedAmount: () => one.buffered,
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
      cork: () => assert.fail('no command is sent'),
    }
    const session = new Session({ id: 'c', caller, encoder: hub.encoder('j'), ws, hub })
    const one: Stuck = { session, buffered: 0, closeCode: null, sentCount: 0 }
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
  return { hub, clock, join, change }
}

test('stops publishing to a connection at the first buffer check after unread bytes exceed the soft limit', () => {
  const world = open()
  const one = world.join()
  one.buffered = socketBufferBytesSoft
  world.hub.sweep()
  assert.equal(one.session.isLive, true)
  world.change()
  world.hub.sweep()
  assert.equal(one.session.isLive, false)
  world.hub.stop()
})

test('sends nothing but a close frame to a client that has read nothing for 10 s, and disconnects the client within 50 s more', () => {
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
    'the reader receives no further message',
  )
  for (const one of [takes, never])
    assert.equal(one.closeCode, null, 'a close frame must not wait behind unsent data')
  takes.buffered = 1
  clock.advance(1_000)
  assert.equal(takes.closeCode, null)
  takes.buffered = 0
  clock.advance(100)
  assert.equal(takes.closeCode, 4008)
  assert.ok(
    late.sentCount > (sentCounts[1] ?? 0),
    'a reader that makes progress receives heartbeats',
  )
  clock.advance(43_900)
  assert.equal(never.closeCode, null)
  clock.advance(300)
  assert.equal(never.closeCode, 1006)
  assert.equal(late.closeCode, null)
  assert.deepEqual([...hub.sessions], [late.session])
})

test('excludes the unsent bytes of a disconnected connection from the total limit', () => {
  const world = open()
  const { clock, hub } = world
  const never = world.join()
  never.buffered = socketBuffersTotalBytesMax * 0.5
  // The connection lags at the first check, is marked as a slow reader 10 s later, and is closed 50 s after that.
  clock.advance(60_200)
  assert.equal(never.closeCode, null)
  const other = world.join()
  other.buffered = socketBuffersTotalBytesMax * 0.6
  clock.advance(bufferSweepMs)
  assert.deepEqual([never.closeCode, other.closeCode], [1006, null])
  hub.stop()
})
