import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { WebSocket } from 'ws'
import { type Random, seededRandom } from '../../../../engine/random.ts'
import { RebuiltBooks, StreamClient } from '../../../support/clients/stream-client.ts'
import type { FakeMarket } from '../../../support/fakes/engine.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'
import { type ApiServer, openApiServer } from '../../../support/rigs/api-server.ts'
import { bid, level } from '../../../support/worlds/builders.ts'
import { addMarkets, settled, simulateActivity } from '../../../support/worlds/market-activity.ts'

const isLong = process.env.TEST_LONG === '1'
const ROUNDS = isLong ? 300 : 150
const LAST_CHANGES = isLong ? 500 : 200
const clock = new ManualClock()
let server: ApiServer
let markets: readonly FakeMarket[] = []
before(async () => {
  server = await openApiServer({ clock })
  markets = addMarkets(server.engine, 40, 4)
})
after(() => server.stop())

const tick = () => new Promise((resolve) => setImmediate(resolve))
const market = (index: number): FakeMarket => {
  const found = markets[index]
  assert.ok(found !== undefined)
  return found
}

const settle = (client: StreamClient) => settled(clock, client)
const stir = (random: Random) => simulateActivity(markets, random)

/** Each reading of the clock takes 0.1 ms, so that time slices end although the test does not advance the clock. */
class TickingClock extends ManualClock {
  #lookCount = 0

  override monotonicMs(): number {
    this.#lookCount += 1
    return super.monotonicMs() + this.#lookCount / 10
  }
}

/** Twenty levels, so that encoding a book takes measurable time. */
const deepLevels = (size: number) =>
  Array.from({ length: 20 }, (_, index) => level(0.01 * (index + 1), size + 1))

describe('stream subscriptions', () => {
  test('sends snapshots and updates that rebuild every book under load while clients connect and disconnect', async () => {
    const random = seededRandom('rebuild', 11)
    const clients = await Promise.all(
      ['json', 'msgpack', 'json', 'msgpack'].map((form) =>
        StreamClient.open(server.port, `api_key=ann-key&encoding=${form}`),
      ),
    )
    const ids = markets.map(({ ref }) => ref.id)
    const targets = [
      { market_ids: ['*'] },
      { platform: 'venue_a' },
      { platform: 'venue_b' },
      { market_ids: ids.slice(0, 9) },
      { market_ids: ids.slice(5, 30) },
      { event_slugs: ['e1', 'E2'] },
    ]
    for (let round = 0; round < ROUNDS; round += 1) {
      for (let index = random.below(40); index > 0; index -= 1) stir(random)
      if (round % 3 === 0) {
        const client = random.pick(clients)
        const action = random.next() < 0.7 ? 'subscribe' : 'unsubscribe'
        client.send({ action, id: round, channel: 'orderbook', ...random.pick(targets) })
      }
      clock.advance(40)
      await tick()
    }
    for (const client of clients) {
      await client.ask(
        { action: 'subscribe', id: 'all', channel: 'orderbook', market_ids: ['*'] },
        'synced',
      )
      for (let index = 0; index < LAST_CHANGES; index += 1) stir(random)
      await settle(client)
      const rebuilt = new RebuiltBooks()
      // The first message after an unsubscribe and a new subscribe is a snapshot.
      for (const message of client.messages) rebuilt.read(message)
      assert.deepEqual(rebuilt.defects, [])
      assert.equal(rebuilt.books.size, markets.length)
      for (const { ref, naive } of markets) {
        assert.deepEqual(rebuilt.levels(ref.id), {
          bids: naive.levels('bid'),
          asks: naive.levels('ask'),
        })
        assert.equal(
          rebuilt.seqs.get(ref.id),
          server.engine.publisher.latest('orderbook', ref.number).seq,
        )
      }
      await client.close()
    }
  })

  test('sends seq without gaps or repeats to a client that stays subscribed', async () => {
    const random = seededRandom('holes', 5)
    const client = await StreamClient.open(server.port)
    const channels = ['orderbook', 'trades', 'prices']
    client.send({
      action: 'subscribe',
      id: 1,
      channels,
      market_ids: markets.map(({ ref }) => ref.id),
    })
    for (let round = 0; round < 100; round += 1) {
      for (let index = 0; index < 30; index += 1) stir(random)
      // Replaces single markets by venues, and venues by `*`, while data changes.
      if (round === 30) client.send({ action: 'subscribe', id: 2, channels, platform: 'venue_a' })
      if (round === 60) client.send({ action: 'subscribe', id: 3, channels, market_ids: ['*'] })
      await tick()
    }
    await settle(client)
    const rebuilt = new RebuiltBooks()
    const seqs = new Map<string, number>()
    for (const message of client.messages) {
      rebuilt.read(message)
      if (message.type !== 'trade') continue
      const id = String(message.market_id)
      const last = seqs.get(id)
      if (last !== undefined) assert.equal(message.seq, last + 1, id)
      seqs.set(id, Number(message.seq))
    }
    assert.deepEqual(rebuilt.defects, [])
    for (const { ref, naive } of markets) {
      assert.deepEqual(rebuilt.levels(ref.id), {
        bids: naive.levels('bid'),
        asks: naive.levels('ask'),
      })
    }
    await client.close()
  })

  test('sends live updates of a market after its snapshot while snapshots of a wildcard subscription are still being sent', async () => {
    const random = seededRandom('row', 8)
    const ticking = new TickingClock()
    const own = await openApiServer({ clock: ticking })
    const { engine } = own
    const { hub } = own.server
    const extra = Array.from({ length: 2_000 }, (_, index) => engine.add(`row${index}`))
    for (const added of extra) added.replace(deepLevels(random.below(9)), [level(0.9, 1)])
    const client = await StreamClient.open(own.port)
    client.send({
      action: 'subscribe',
      id: 1,
      channels: ['orderbook', 'prices'],
      market_ids: ['*'],
    })
    await client.ofType('snapshot')
    let ticks = 0
    for (; [...hub.sessions].some((session) => session.hasWork); ticks += 1) {
      for (let index = 0; index < 20; index += 1)
        random.pick(extra).change(bid(0.2, ticks + index + 1))
      random.pick(extra).replace([level(0.3, 1)], [], 'venue_gap')
      random.pick(extra).reprice(10_000 * (1 + random.below(98)))
      await tick()
      ticking.advance(25)
    }
    assert.ok(ticks > 5, 'the snapshots were sent in several slices')
    for (let index = 0; index < 500; index += 1) random.pick(extra).change(bid(0.2, index + 1))
    ticking.advance(1_000)
    await client.ask({ action: 'ping', id: 2 }, 'pong')
    const rebuilt = new RebuiltBooks()
    const prices = new Map<unknown, unknown>()
    for (const message of client.messages) {
      rebuilt.read(message)
      if (message.type === 'price') prices.set(message.market_id, message.seq)
    }
    assert.deepEqual(rebuilt.defects, [])
    assert.equal(rebuilt.books.size, 2_000)
    for (const { ref, naive } of extra) {
      assert.deepEqual(rebuilt.levels(ref.id), {
        bids: naive.levels('bid'),
        asks: naive.levels('ask'),
      })
      assert.equal(prices.get(ref.id), engine.publisher.latest('prices', ref.number).seq)
    }
    await client.close()
    await own.stop()
  })

  test('sends no snapshot on a second subscribe to the same market, and replaces narrower subscriptions by a wildcard', async () => {
    const client = await StreamClient.open(server.port)
    const id = market(0).ref.id
    const count = (type: string) =>
      client.messages.filter((message) => message.type === type).length
    const subscribe = (command: object, name: number) =>
      client.ask({ action: 'subscribe', channel: 'orderbook', id: name, ...command }, 'synced')
    await subscribe({ market_ids: [id, id.toUpperCase()] }, 1)
    assert.equal(count('snapshot'), 1)
    await subscribe({ market_ids: [id] }, 2)
    assert.equal(count('snapshot'), 1)
    await subscribe({ platform: 'venue_a' }, 3)
    assert.equal(count('snapshot'), 1 + 20)
    await subscribe({ market_ids: [id] }, 4)
    await subscribe({ platform: 'venue_a' }, 5)
    assert.equal(count('snapshot'), 21)
    const listed = await client.ask({ action: 'list', id: 6 }, 'subscriptions')
    assert.ok(Array.isArray(listed.subscriptions))
    assert.equal(listed.subscriptions.length, 1)
    assert.equal(listed.subscriptions[0].platform, 'venue_a')
    assert.equal(listed.subscriptions[0].seqs[id], market(0).seq('orderbook'))
    const unsubscribe = { action: 'unsubscribe', channel: 'orderbook' }
    const refused = await client.ask({ ...unsubscribe, id: 7, market_ids: [id] }, 'error')
    assert.equal(refused.code, 'INVALID_FILTER')
    await client.ask({ ...unsubscribe, id: 8, market_ids: ['*'] }, 'unsubscribed')
    const before = client.messages.length
    market(0).change(bid(0.11, 1))
    await settle(client)
    assert.ok(client.messages.slice(before).every((message) => message.channel !== 'orderbook'))
    await client.close()
  })

  test('rejects unknown markets and events of a command by name, and accepts the known ids of the command', async () => {
    const client = await StreamClient.open(server.port)
    const reply = await client.ask(
      {
        action: 'subscribe',
        id: 1,
        channel: 'prices',
        market_ids: ['nope', market(1).ref.id],
        event_slugs: ['e3', 'no event'],
      },
      'subscribed',
    )
    assert.deepEqual(reply.rejected, [
      { market_id: 'nope', code: 'UNKNOWN_MARKET' },
      { event_slug: 'no event', code: 'UNKNOWN_MARKET' },
    ])
    assert.ok(Array.isArray(reply.accepted))
    assert.deepEqual(new Set(reply.accepted).size, 11)
    await client.ofType('synced')
    assert.equal(client.messages.filter((message) => message.type === 'price').length, 11)
    const bad = await client.ask(
      { op: 'subscribe', id: 2, channel: 'prices', platform: 'x' },
      'error',
    )
    assert.deepEqual([bad.code, bad.message], ['INVALID_FILTER', 'platform is venue_a or venue_b'])
    await client.close()
  })

  test('returns a snapshot on command at any time, even for a market without a subscription', async () => {
    const client = await StreamClient.open(server.port)
    const id = market(3).ref.id
    await client.ask({ action: 'snapshot', id: 1, market_ids: [id] }, 'synced')
    const snapshot = client.messages.find((message) => message.type === 'snapshot')
    assert.equal(snapshot?.market_id, id)
    const error = await client.ask({ action: 'snapshot', id: 2, market_ids: [id, 'x'] }, 'error')
    assert.equal(error.code, 'UNKNOWN_MARKET')
    await client.close()
  })
})

describe('limits of a stream connection', () => {
  test('answers at most ten of the commands beyond 20 a second with RATE_LIMITED, and does not count the ten as errors', async () => {
    const client = await StreamClient.open(server.port)
    clock.advance(1_000)
    for (let id = 1; id <= 60; id += 1) client.send({ action: 'ping', id })
    while (client.messages.length < 3 + 30) await client.next(() => true)
    clock.advance(1_000)
    await client.ask({ action: 'ping', id: 'after' }, 'pong')
    assert.equal(client.messages.filter((message) => message.type === 'pong').length, 21)
    const errors = client.messages.filter((message) => message.type === 'error')
    assert.equal(errors.length, 10)
    assert.ok(errors.every((message) => message.code === 'RATE_LIMITED'))
    await settle(client)
    await client.close()
  })

  test('closes with 4000 after 100 commands beyond the rate limit within a minute', async () => {
    const client = await StreamClient.open(server.port)
    clock.advance(1_000)
    for (let count = 0; count < 120; count += 1) client.send({ action: 'ping' })
    clock.advance(30_000)
    for (let count = 0; count < 21; count += 1) client.send({ action: 'ping' })
    assert.deepEqual(await client.closed, { code: 4000, reason: 'too many bad commands' })
  })

  test('closes with 4000 when a client sends far more than ten ping frames a second', async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/v1/ws?api_key=ann-key`)
    const closed = once(socket, 'close')
    await once(socket, 'open')
    clock.advance(1_000)
    for (let count = 0; count < 10 + 20 + 101; count += 1) socket.ping()
    const [code] = await closed
    assert.equal(code, 4000)
  })

  for (const [name, commandOf, reply] of [
    ['list', () => ({ action: 'list' }), 'subscriptions'],
    [
      'snapshot of 100 markets',
      () => ({ action: 'snapshot', market_ids: Array(100).fill(market(0).ref.id) }),
      'synced',
    ],
  ] as const) {
    test(`counts a ${name} as ten commands towards the rate limit`, async () => {
      const client = await StreamClient.open(server.port)
      clock.advance(1_000)
      const command = commandOf()
      client.send({ ...command, id: 1 })
      client.send({ action: 'ping', id: 2 })
      client.send({ ...command, id: 3 })
      const error = await client.ofType('error')
      assert.deepEqual([error.id, error.code], [3, 'RATE_LIMITED'])
      assert.equal(client.messages.filter(({ type }) => type === reply).length, 1)
      await client.close()
    })
  }

  test('closes with 4000 at the tenth invalid command within a minute', async () => {
    const client = await StreamClient.open(server.port)
    await client.ask({ action: 'subscribe', id: 0, channel: 'trades', market_ids: ['*'] }, 'synced')
    for (let index = 0; index < 9; index += 1) client.send('{')
    await settle(client)
    clock.advance(61_000)
    for (let index = 0; index < 10; index += 1) client.send('nonsense')
    assert.deepEqual(await client.closed, { code: 4000, reason: 'too many bad commands' })
    assert.equal(client.messages.filter((message) => message.code === 'PARSE_ERROR').length, 19)
  })

  test('answers a command above 16 KiB with an error, and disconnects on a command above 64 KiB', async () => {
    const client = await StreamClient.open(server.port)
    client.send(JSON.stringify({ action: 'ping', filler: 'x'.repeat(20_000) }))
    assert.equal((await client.ofType('error')).code, 'MESSAGE_TOO_LARGE')
    client.send('x'.repeat(70_000))
    assert.equal((await client.closed).code, 1006)
  })

  test('refuses a command that would exceed 1000 subscriptions, and counts * as one subscription', async () => {
    const extra = Array.from({ length: 1_000 }, (_, index) => server.engine.add(`extra${index}`))
    const client = await StreamClient.open(server.port)
    const subscribe = (id: number, market_ids: readonly string[], type = 'synced') =>
      client.ask({ action: 'subscribe', id, channel: 'trades', market_ids }, type)
    for (let part = 0; part < 10; part += 1) {
      clock.advance(1_000)
      await subscribe(
        part,
        extra.slice(part * 100, part * 100 + 100).map(({ ref }) => ref.id),
      )
    }
    const refused = await subscribe(10, [market(0).ref.id], 'error')
    assert.equal(refused.code, 'SUBSCRIPTION_LIMIT')
    await subscribe(11, [extra[0]?.ref.id ?? ''])
    await client.close()
    for (const { ref } of extra) server.engine.catalog.byId.delete(ref.id.toLowerCase())
  })

  test('closes a connection without a subscription with 4001 after a minute', async () => {
    const idle = await StreamClient.open(server.port)
    const busy = await StreamClient.open(server.port)
    await busy.ask({ action: 'subscribe', id: 1, channel: 'trades', market_ids: ['*'] }, 'synced')
    clock.advance(61_000)
    assert.equal((await idle.closed).code, 4001)
    await settle(busy)
    await busy.close()
  })
})
