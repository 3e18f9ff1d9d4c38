import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { pause, systemClock } from '../../../../engine/clock.ts'
import { type Random, seededRandom } from '../../../../engine/random.ts'
import type { Session } from '../../../../http/ws/session/session.ts'
import { RawReader } from '../../../support/clients/raw-reader.ts'
import { RebuiltBooks, StreamClient } from '../../../support/clients/stream-client.ts'
import type { FakeMarket } from '../../../support/fakes/engine.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'
import { type ApiServer, openApiServer } from '../../../support/rigs/api-server.ts'
import { bid } from '../../../support/worlds/builders.ts'
import {
  addMarkets,
  received,
  settled,
  simulateActivity,
} from '../../../support/worlds/market-activity.ts'

const clock = new ManualClock()
let server: ApiServer
let markets: readonly FakeMarket[] = []
before(async () => {
  server = await openApiServer({ clock })
  markets = addMarkets(server.engine, 40, 4)
})
after(() => server.stop())

const tick = () => new Promise((resolve) => setImmediate(resolve))
const settle = (client: StreamClient) => settled(clock, client)
const stir = (random: Random) => simulateActivity(markets, random)

describe('slow stream clients', () => {
  const newest = () => [...server.server.hub.sessions].at(-1) ?? assert.fail('a session')

  /**
   * Publishes until the buffer of a paused client exceeds the soft limit. The quick reader reads each round before the
   * next, because it could lag too on a busy machine.
   */
  async function flood(random: Random, slow: Session, quick: StreamClient | null = null) {
    const deep = Array.from({ length: 60 }, (_, index) => bid(0.01 + index / 100, 123.456789))
    for (let round = 0; round < 5_000 && slow.isLive; round += 1) {
      for (let index = 0; index < 20; index += 1) random.pick(markets).change(...deep)
      for (let index = 0; index < 5; index += 1) stir(random)
      await (quick === null ? tick() : quick.ask({ action: 'ping', id: round }, 'pong'))
      // Keeps the test at ten commands a second.
      clock.advance(100)
    }
    assert.equal(slow.isLive, false, 'the buffer never filled')
  }

  /**
   * Advances the clock by 10 s without progress. If the kernel accepts more unsent data meanwhile, the 10 s start
   * again.
   */
  function giveUp(slow: Session): void {
    const bytes = () => slow.sweep(clock.monotonicMs())
    for (let tries = 0; tries < 1_000; tries += 1) {
      const before = bytes()
      server.server.hub.beat()
      if (bytes() === before) return
      clock.advance(10_100)
    }
    assert.fail('the connection always made progress')
  }

  test('sends resync to a client that stopped reading, and announces every lost message', async () => {
    const random = seededRandom('slow', 2)
    for (const { batch, target } of [
      { batch: 'off', target: { market_ids: ['*'] } },
      { batch: 'on', target: { market_ids: markets.map(({ ref }) => ref.id) } },
    ]) {
      const slow = await StreamClient.open(server.port, `api_key=ann-key&batch=${batch}`)
      const session = newest()
      const quick = await StreamClient.open(server.port)
      const command = { action: 'subscribe', id: 1, channels: ['orderbook', 'prices', 'trades'] }
      for (const client of [slow, quick]) {
        client.send({ ...command, ...target })
        await client.next((message) => message.type === 'synced' && message.channel === 'trades')
      }
      slow.socket.pause()
      await flood(random, session, quick)
      for (let index = 0; index < 500; index += 1) stir(random)
      clock.advance(5_000)
      slow.socket.resume()
      for (let round = 0; round < 20_000; round += 1) {
        if ([...server.server.hub.sessions].every((session) => session.isLive && !session.hasWork))
          break
        for (let index = 0; index < 2; index += 1) stir(random)
        clock.advance(25)
        await received(slow)
      }
      for (let index = 0; index < 200; index += 1) stir(random)
      for (const client of [slow, quick]) {
        await settle(client)
        const rebuilt = new RebuiltBooks()
        const seqs = new Map<unknown, number>()
        for (const message of client.messages) {
          rebuilt.read(message)
          if (message.type !== 'trade') continue
          const last = seqs.get(message.market_id)
          if (last !== undefined) assert.equal(message.seq, last + 1)
          seqs.set(message.market_id, Number(message.seq))
        }
        assert.deepEqual(rebuilt.defects, [])
        for (const { ref, naive } of markets) {
          assert.deepEqual(rebuilt.levels(ref.id), {
            bids: naive.levels('bid'),
            asks: naive.levels('ask'),
          })
          const { seq } = server.engine.publisher.latest('trades', ref.number)
          if (seqs.has(ref.id)) assert.equal(seqs.get(ref.id), seq)
        }
        const lossMessages = client.messages.filter((message) => message.reason === 'slow_consumer')
        assert.equal(lossMessages.length > 0, client === slow)
        assert.equal(
          client.messages.some((message) => message.catching_up === true),
          client === slow,
        )
        await client.close()
      }
    }
  })

  test('closes a slow client with 4008 after the client has read all messages sent before', async () => {
    const random = seededRandom('trickle', 5)
    const query = 'api_key=ann-key'
    const command = { action: 'subscribe', id: 1, channel: 'orderbook', market_ids: ['*'] }
    const reader = await RawReader.open(server.port, query, [command])
    while (reader.bytes < 4_096) await tick()
    reader.read('byHand')
    const session = newest()
    await flood(random, session)
    giveUp(session)
    assert.equal(
      server.server.hub.sessions.size,
      1,
      'the close frame waits until the buffer is empty',
    )
    // Reading 8 KiB a tick empties first the kernel's buffers and then the server's.
    while (!reader.isClosed) {
      reader.takeUpTo(8_192)
      clock.advance(25 / 1_000)
      await tick()
      if (server.server.hub.sessions.size > 0) server.server.hub.sweep()
    }
    assert.equal(reader.closeCode, 4008)
    assert.ok(reader.bytes > 1_048_576)
  })

  const skip = process.env.TEST_LONG === '1' ? false : 'half a minute without reading: TEST_LONG=1'
  test('closes a connection with 4008 when the client reads nothing for half a minute', {
    skip,
  }, async () => {
    const slow = await StreamClient.open(server.port)
    const command = { action: 'subscribe', id: 1, channel: 'orderbook', market_ids: ['*'] }
    await slow.ask(command, 'synced')
    slow.socket.pause()
    const session = newest()
    await flood(seededRandom('half a minute', 6), session)
    giveUp(session)
    await pause(systemClock, 30_000)
    slow.socket.resume()
    while (server.server.hub.sessions.size > 0) {
      server.server.hub.sweep()
      await tick()
    }
    assert.deepEqual(await slow.closed, { code: 4008, reason: 'slow reader' })
  })

  test('disconnects within a minute a client that never reads again, and serves other clients', async () => {
    const random = seededRandom('dead', 3)
    const dead = await StreamClient.open(server.port)
    const session = newest()
    const quick = await StreamClient.open(server.port)
    for (const client of [dead, quick]) {
      await client.ask(
        { action: 'subscribe', id: 1, channel: 'orderbook', market_ids: ['*'] },
        'synced',
      )
    }
    dead.socket.pause()
    await flood(random, session, quick)
    giveUp(session)
    clock.advance(50_100)
    assert.equal(server.server.hub.sessions.size, 1)
    dead.socket.resume()
    assert.equal((await dead.closed).code, 1006)
    await settle(quick)
    await quick.close()
  })

  test('disconnects a client whose unread bytes exceed the hard limit instead of losing messages without a notice', async () => {
    const random = seededRandom('hard', 4)
    const dead = await StreamClient.open(server.port)
    await dead.ask(
      { action: 'subscribe', id: 1, channel: 'orderbook', market_ids: ['*'] },
      'synced',
    )
    dead.socket.pause()
    const deep = Array.from({ length: 90 }, (_, index) => bid(0.01 + index / 100, 123.456789))
    // The clock does not advance, so the server checks no buffers.
    for (let round = 0; round < 20_000 && server.server.hub.sessions.size > 0; round += 1) {
      for (let index = 0; index < 20; index += 1) random.pick(markets).change(...deep)
      await tick()
    }
    assert.equal(server.server.hub.sessions.size, 0)
    dead.socket.resume()
    assert.equal((await dead.closed).code, 1006)
    const rebuilt = new RebuiltBooks()
    for (const message of dead.messages) rebuilt.read(message)
    assert.deepEqual(rebuilt.defects, [], 'all messages before the disconnect are complete')
    assert.equal((await server.get('/health')).status, 200)
  })
})
