import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { pino } from 'pino'
import { timeMs, usdMicros } from '../../../engine/units.ts'
import type { Channel, OpenChannel } from '../../../http/ws/channels/channel.ts'
import { trades } from '../../../http/ws/channels/trades.ts'
import { type Status, statusMessage } from '../../../http/ws/encode/encoder.ts'
import { variantOf } from '../../../http/ws/fan-out/channel-variants.ts'
import { Hub } from '../../../http/ws/hub.ts'
import { type Message, StreamClient } from '../../support/clients/stream-client.ts'
import { bookChecksum, FakeEngine, type FakeMarket } from '../../support/fakes/engine.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { type ApiServer, openApiServer } from '../../support/rigs/api-server.ts'
import { ask, bid, level } from '../../support/worlds/builders.ts'

const clock = new ManualClock()
let server: ApiServer
let one: FakeMarket
let two: FakeMarket
before(async () => {
  server = await openApiServer({ clock })
  one = server.engine.add('one', { eventSlug: 'both' })
  two = server.engine.add('two', { venue: 'b', eventSlug: 'both' })
  one.replace([level(0.4, 100)], [level(0.5, 50)])
})
after(() => server.stop())

const encodedCount = (): number =>
  [...server.engine.metrics.counts('stream_messages_encoded_total').values()]
    .map((count) => count.value)
    .reduce((sum, value) => sum + value, 0)

async function settle(client: StreamClient): Promise<readonly Message[]> {
  await client.ask({ action: 'ping', id: 'settle' }, 'pong')
  return client.messages
}

const dataOf = (messages: readonly Message[], type: string) =>
  messages.filter((message) => message.type === type)

describe('stream messages to subscribers', () => {
  test('encodes an update once for any number of subscribers, and does not encode an update without subscribers', async () => {
    const before = encodedCount()
    one.change(bid(0.41, 1))
    one.trade()
    one.reprice(450_000)
    assert.equal(encodedCount(), before)
    const clients = await Promise.all([1, 2, 3].map(() => StreamClient.open(server.port)))
    const [first, second, third] = clients
    assert.ok(first !== undefined && second !== undefined && third !== undefined)
    const command = { action: 'subscribe', id: 1, channel: 'trades' }
    await first.ask({ ...command, market_ids: [one.ref.id] }, 'synced')
    await second.ask({ ...command, platform: 'venue_a' }, 'synced')
    await third.ask({ ...command, market_ids: ['*'] }, 'synced')
    const trade = one.trade()
    assert.equal(encodedCount(), before + 1)
    two.trade()
    assert.equal(encodedCount(), before + 2)
    for (const client of clients) {
      const trades = dataOf(await settle(client), 'trade')
      assert.deepEqual(trades[0]?.data && Reflect.get(trades[0].data, 'id'), trade.nativeId)
      assert.equal(trades.length, client === third ? 2 : 1)
    }
    await Promise.all(clients.map((client) => client.close()))
  })

  test('sends market, venue time, receive time, epoch, offset and seq in each message', async () => {
    const client = await StreamClient.open(server.port)
    const market_ids = [one.ref.id.toUpperCase()]
    const replied = await client.ask(
      { op: 'subscribe', id: 2, channels: ['orderbook', 'prices'], market_ids },
      'subscribed',
    )
    assert.deepEqual(replied.accepted, [one.ref.id], 'canonical ids')
    const snapshot = await client.ofType('snapshot')
    const book = one.book()
    assert.equal(snapshot.seq, book.seq)
    assert.equal(snapshot.stale, false)
    assert.equal(snapshot.checksum, bookChecksum(book.bids, book.asks))
    await client.ask({ action: 'ping', id: 3 }, 'pong')
    clock.advance(10)
    one.change(bid(0.4, 0), ask(0.49, 2.5))
    const update = await client.ofType('update')
    assert.deepEqual(update, {
      type: 'update',
      channel: 'orderbook',
      market_id: one.ref.id,
      epoch: 'k3f9c2',
      offset: server.engine.publisher.offset('orderbook'),
      seq: book.seq + 1,
      timestamp_ms: clock.nowMs(),
      received_ms: clock.nowMs(),
      published_ms: clock.nowMs(),
      data: {
        bids: [{ price: 0.4, size: 0, platform: 'venue_a' }],
        asks: [{ price: 0.49, size: 2.5, platform: 'venue_a' }],
      },
    })
    one.reprice(470_000)
    const price = await client.ofType('price')
    assert.deepEqual(price.data, {
      price: 0.47,
      price_cents: 47,
      best_bid: null,
      best_ask: null,
      spread: null,
      mid_price: null,
      source: 'midpoint',
    })
    await client.close()
  })

  test('sends the book’s checksum with every 50th update of the book', async () => {
    const client = await StreamClient.open(server.port)
    await client.ask(
      { action: 'subscribe', id: 1, channel: 'orderbook', platform: 'venue_b' },
      'synced',
    )
    two.replace([level(0.2, 1)], [])
    await client.next((message) => message.type === 'snapshot' && message.stale === false)
    for (let index = 0; index < 100; index += 1)
      two.change(bid(0.01 + (index % 30) / 100, index + 1))
    const updates = dataOf(await settle(client), 'update')
    assert.deepEqual(
      updates.filter((message) => message.checksum !== undefined).map((message) => message.seq),
      [50, 100],
    )
    const { bids, asks } = two.book()
    assert.equal(updates.at(-1)?.checksum, bookChecksum(bids, asks))
    await client.close()
  })

  test('sends resync and snapshot to every subscriber group when a book is replaced', async () => {
    const clients = await Promise.all([1, 2, 3].map(() => StreamClient.open(server.port)))
    const targets = [{ market_id: one.ref.id }, { platform: 'venue_a' }, { market_ids: ['*'] }]
    for (const [index, client] of clients.entries()) {
      await client.ask(
        { action: 'subscribe', id: 1, channel: 'orderbook', ...targets[index] },
        'synced',
      )
    }
    const { seq } = one.book()
    one.replace([level(0.3, 3)], [level(0.6, 6)], 'venue_gap')
    for (const client of clients) {
      const resync = await client.ofType('resync')
      assert.deepEqual([resync.market_id, resync.reason], [one.ref.id, 'venue_gap'])
      const snapshot = await client.ofType('snapshot')
      assert.equal(snapshot.seq, seq, 'a snapshot does not consume a seq')
      assert.deepEqual(snapshot.data, {
        bids: [{ price: 0.3, size: 3, platform: 'venue_a' }],
        asks: [{ price: 0.6, size: 6, platform: 'venue_a' }],
        spread: 0.3,
        mid_price: 0.45,
      })
      await client.close()
    }
  })

  test('publishes stale at once when a book is delayed, then resync and snapshot when the book is replaced', async () => {
    const client = await StreamClient.open(server.port)
    const market_ids = [one.ref.id]
    await client.ask({ action: 'subscribe', id: 1, channel: 'orderbook', market_ids }, 'synced')
    await client.ask(
      { action: 'subscribe', id: 2, channel: 'depth', market_ids, conflate_ms: 100 },
      'synced',
    )
    const { publisher } = server.engine
    const stamp = () => publisher.latest('orderbook', one.ref.number)
    one.markStale('delayed')
    for (const channel of ['orderbook', 'depth']) {
      const late = await client.ofType('stale')
      assert.deepEqual([late.channel, late.reason], [channel, 'delayed'])
    }
    one.replace([level(0.4, 1)], [level(0.5, 1)], 'delayed')
    const again = await client.next(
      (message) => message.type === 'resync' && message.channel === 'orderbook',
    )
    assert.equal(again.reason, 'delayed')
    const snapshot = await client.ofType('snapshot')
    assert.deepEqual([snapshot.stale, snapshot.seq], [false, stamp().seq])
    await client.close()
  })

  test('sends `stale` to a resuming client while the book is stale, and resync and snapshot after the book is confirmed', async () => {
    one.replace([level(0.4, 1)], [level(0.5, 1)])
    one.change(bid(0.4, 2))
    const subscribe = { action: 'subscribe', channel: 'orderbook', market_ids: [one.ref.id] }
    const client = await StreamClient.open(server.port)
    const { epoch, offset } = await client.ask({ ...subscribe, id: 1 }, 'synced')
    await client.close()
    one.markStale('contradicted_by_trade')
    const kinds = async () => {
      const again = await StreamClient.open(server.port)
      await again.ask({ ...subscribe, id: 1, since: { epoch, offset } }, 'resumed')
      const shown = ['stale', 'resync', 'snapshot', 'resumed']
      const types = again.messages.map(({ type }) => String(type))
      await again.close()
      return types.filter((type) => shown.includes(type))
    }
    assert.deepEqual(await kinds(), ['stale', 'resumed'])
    one.confirm()
    assert.deepEqual(await kinds(), ['resync', 'snapshot', 'resumed'])
  })

  test('sends a gap of a market or of a venue to every trade subscription that includes the market', async () => {
    const single = await StreamClient.open(server.port)
    const other = await StreamClient.open(server.port)
    const everything = await StreamClient.open(server.port)
    const command = { action: 'subscribe', id: 1, channel: 'trades' }
    await single.ask({ ...command, market_ids: [one.ref.id] }, 'synced')
    await other.ask({ ...command, market_ids: [two.ref.id] }, 'synced')
    await everything.ask({ ...command, market_ids: ['*'] }, 'synced')
    const gap = {
      kind: 'gap',
      channel: 'trades',
      venue: 'a',
      platform: 'venue_a',
      fromMs: timeMs(1000),
      toMs: timeMs(2000),
    } as const
    server.engine.publisher.publish({ ...gap, market: one.ref, count: 3 })
    server.engine.publisher.publish({ ...gap, market: null, count: null })
    for (const client of [single, everything]) {
      const gaps = dataOf(await settle(client), 'gap')
      const lost = { type: 'gap', channel: 'trades', from_ms: 1000, to_ms: 2000 }
      const published_ms = clock.nowMs()
      assert.deepEqual(gaps, [
        { ...lost, market_id: one.ref.id, count: 3, published_ms },
        { ...lost, platform: 'venue_a', published_ms },
      ])
      await client.close()
    }
    assert.deepEqual(dataOf(await settle(other), 'gap'), [])
    await other.close()
  })

  test('sends a change of a venue’s state to all connections', async () => {
    const client = await StreamClient.open(server.port)
    const platform = 'venue_b'
    await settle(client)
    server.engine.publisher.publish({
      kind: 'status',
      venue: 'b',
      platform,
      state: 'stale',
      lagMs: 900,
      delayMs: 1_500,
      completeToMs: timeMs(1_000),
      tradesSource: 'last_trade_price',
      reason: null,
      staleBooks: 0,
    })
    assert.deepEqual(await client.next((message) => message.state === 'stale'), {
      type: 'status',
      platform,
      state: 'stale',
      lag_ms: 900,
      delay_ms: 1_500,
      published_ms: clock.nowMs(),
      complete_to_ms: 1_000,
      trades_source: 'last_trade_price',
    })
    await client.close()
  })
})

test('sends all fields of a venue’s status, including fields that are getters', () => {
  const facts: Status = {
    platform: 'venue_a',
    state: 'live',
    lagMs: 1,
    delayMs: 2,
    completeToMs: timeMs(3),
    tradesSource: 'activity',
    reason: null,
    staleBooks: 0,
  }
  class VenueLike {
    get platform() {
      return facts.platform
    }
    get state() {
      return facts.state
    }
    get lagMs() {
      return facts.lagMs
    }
    get delayMs() {
      return facts.delayMs
    }
    get completeToMs() {
      return facts.completeToMs
    }
    get tradesSource() {
      return facts.tradesSource
    }
    get reason() {
      return facts.reason
    }
    get staleBooks() {
      return facts.staleBooks
    }
  }
  const message = statusMessage(new VenueLike())
  assert.equal(message.trades_source, 'activity')
  assert.deepEqual(message, statusMessage(facts))
})

test('counts each error of a channel that throws, limits the log lines of the errors, and runs the remaining channels', () => {
  const engine = new FakeEngine(new ManualClock())
  const { publisher, metrics } = engine
  const lines: string[] = []
  const received: string[] = []
  /** The channel has no variants and records the updates that it receives. */
  const recordingChannel = (name: string, onUpdate: OpenChannel['onUpdate']): Channel => ({
    ...trades,
    name,
    variants: [variantOf(name, {})],
    updateKinds: ['status', 'trade'],
    open: () => ({ onUpdate, latest: (_lane, market) => publisher.latest('trades', market) }),
  })
  const hub = new Hub({
    engine,
    publisher,
    metrics,
    clock: engine.clock,
    log: pino({}, { write: (line: string) => void lines.push(line) }),
    topics: { numSubscribers: () => 0, publish: () => true },
    channels: [
      recordingChannel('broken', () => {
        throw new Error('broken')
      }),
      recordingChannel('working', ({ kind }) => void received.push(kind)),
    ],
  })
  publisher.watch(hub)
  const market = engine.add('one')
  const status = {
    kind: 'status',
    venue: 'a',
    platform: 'venue_a',
    state: 'stale',
    lagMs: null,
    delayMs: 0,
    completeToMs: null,
    tradesSource: null,
    reason: null,
    staleBooks: 0,
  } as const
  publisher.publish(status)
  for (let count = 0; count < 20; count += 1) market.trade()
  assert.deepEqual(received, ['status', ...Array<string>(20).fill('trade')])
  const [failures] = metrics.counts('stream_channel_failures_total').values()
  assert.equal(failures?.value, 21)
  assert.equal([...metrics.counts('watcher_failures_total').values()][0]?.value, 0)
  assert.equal(
    lines.length,
    1 + 4,
    'one line for the status, and lines for the trades 1, 2, 3 and 10',
  )
  assert.ok(lines.every((line) => line.includes('"channel":"broken"')))
  hub.stop()
})

describe('stream heartbeats', () => {
  test('sends heartbeats every 5 s, after the messages that the heartbeat counts', async () => {
    const client = await StreamClient.open(server.port)
    const market_ids = ['*']
    await client.ask(
      { action: 'subscribe', id: 1, channels: ['orderbook', 'trades'], market_ids },
      'synced',
    )
    await client.ofType('synced')
    let counter = 0
    for (let round = 0; round < 20; round += 1) {
      for (let index = 0; index < round; index += 1) {
        if (index % 3 === 0) one.trade({ usd: usdMicros(1) })
        else two.change(bid(0.02, index + 1))
      }
      clock.advance(5_000)
      const beat = await client.ofType('heartbeat')
      if (counter > 0) assert.equal(beat.counter, counter + 1)
      counter = Number(beat.counter)
      assert.ok(clock.nowMs() - Number(beat.timestamp_ms) < 5_000)
      for (const channel of ['orderbook', 'trades']) {
        const before = client.messages.slice(0, client.messages.indexOf(beat))
        const newest = before
          .filter((message) => message.channel === channel && typeof message.offset === 'number')
          .at(-1)
        const offsets = beat.offsets
        assert.ok(typeof offsets === 'object' && offsets !== null)
        assert.equal(Reflect.get(offsets, channel), newest?.offset)
      }
    }
    await client.close()
  })
})
