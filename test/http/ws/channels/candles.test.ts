import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  type Bar,
  barOf,
  barStart,
  CANDLE_MS,
  joined,
  vwapOf,
} from '../../../../engine/market/candle.ts'
import { seededRandom } from '../../../../engine/random.ts'
import { priceMicros, sizeMicros, timeMs } from '../../../../engine/units.ts'
import { INTERVALS } from '../../../../http/ws/channels/candles.ts'
import { type Message, StreamClient } from '../../../support/clients/stream-client.ts'
import type { FakeMarket } from '../../../support/fakes/engine.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'
import { type ApiServer, openApiServer } from '../../../support/rigs/api-server.ts'

const clock = new ManualClock()
let server: ApiServer
before(async () => {
  server = await openApiServer({ clock })
})
after(() => server.stop())

const tick = () => new Promise((resolve) => setImmediate(resolve))
const open = (form: string) => StreamClient.open(server.port, `api_key=ann-key&encoding=${form}`)
const candlesOf = (client: StreamClient, from = 0) =>
  client.messages.slice(from).filter(({ type }) => type === 'candle')
const dataOf = (message: Message | undefined): Readonly<Record<string, unknown>> => {
  const data = message?.data
  assert.ok(typeof data === 'object' && data !== null)
  return { ...data }
}

async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 200) {
    clock.advance(Math.min(left, 200))
    await tick()
  }
}

async function settle(client: StreamClient): Promise<void> {
  await tick()
  await client.ask({ action: 'ping', id: `settle ${client.messages.length}` }, 'pong')
}

/** The expected candle of the REST API, computed from all stored trades. */
function naive(market: FakeMarket, startMs: number, lengthMs: number, isClosed: boolean) {
  const bars = market.stored
    .filter((trade) => barStart(trade.timeMs, lengthMs) === startMs)
    .map((trade): Bar => barOf('minute', trade))
  const bar = bars.reduce((one, other) => joined(one, other))
  return {
    timestamp_ms: startMs,
    end_period_ts: (startMs + lengthMs) / 1000,
    open: bar.open / 1e6,
    high: bar.high / 1e6,
    low: bar.low / 1e6,
    close: bar.close / 1e6,
    volume: bar.usd / 1e6,
    trades_count: bars.length,
    vwap: vwapOf(bar) / 1e6,
    closed: isClosed,
  }
}

for (const form of ['json', 'msgpack']) {
  test(`sends the newest candle, its changes at most once a second, and the end of each candle (${form})`, async () => {
    const market = server.engine.add(`one ${form}`)
    await pass(60_000 - (clock.nowMs() % 60_000) + 5_000)
    const startMs = barStart(clock.nowMs(), 60_000)
    market.trade({ price: priceMicros(400_000) })
    const client = await open(form)
    const command = { action: 'subscribe', id: 1, channel: 'candles', market_ids: [market.ref.id] }
    const subscribed = await client.ask(command, 'subscribed')
    assert.equal(subscribed.interval, '1m')
    const state = await client.ofType('candle')
    assert.deepEqual(dataOf(state), { interval: '1m', ...naive(market, startMs, 60_000, false) })
    assert.equal(state.seq, 0, 'no candle was sent before')
    await client.ofType('synced')
    const from = client.messages.length
    for (let step = 0; step < 40; step += 1) {
      market.trade({ price: priceMicros(300_000 + 1_000 * step) })
      await pass(100)
    }
    await pass(1_000)
    await settle(client)
    const published = candlesOf(client, from)
    assert.ok(published.length >= 4 && published.length <= 6, `${published.length} in five seconds`)
    assert.deepEqual(
      published.map(({ seq }) => seq),
      Array.from(published, (_, index) => index + 1),
    )
    const last = dataOf(published.at(-1))
    assert.deepEqual(last, { interval: '1m', ...naive(market, startMs, 60_000, false) })
    const quiet = client.messages.length
    await pass(60_000)
    await settle(client)
    const ended = candlesOf(client, quiet)
    assert.equal(ended.length, 1, 'only the completed bar is sent')
    assert.deepEqual(dataOf(ended[0]), { interval: '1m', ...naive(market, startMs, 60_000, true) })
    await client.close()
  })
}

test('publishes the end of a candle that did not change after the subscribe', async () => {
  const market = server.engine.add('shown')
  await pass(60_000 - (clock.nowMs() % 60_000) + 50_000)
  market.trade()
  const client = await open('json')
  await client.ask(
    { action: 'subscribe', id: 1, channel: 'candles', platform: 'venue_a' },
    'synced',
  )
  const from = client.messages.length
  await pass(12_000)
  await settle(client)
  const ended = candlesOf(client, from)
  assert.deepEqual(
    ended.map((message) => [message.market_id, dataOf(message).closed]),
    [[market.ref.id, true]],
  )
  await client.close()
})

test('resends the last closed candle when a trade arrives after its end, and resends no older candle', async () => {
  const market = server.engine.add('late')
  await pass(60_000 - (clock.nowMs() % 60_000) + 1_000)
  const startMs = barStart(clock.nowMs(), 60_000)
  const client = await open('json')
  const command = { action: 'subscribe', id: 1, channel: 'candles', market_ids: [market.ref.id] }
  await client.ask(command, 'synced')
  assert.equal(candlesOf(client).length, 0, 'a market that never traded has no bar')
  market.trade({ price: priceMicros(200_000) })
  await pass(62_000)
  market.trade({ timeMs: timeMs(startMs + 59_999), price: priceMicros(900_000) })
  market.trade({ timeMs: timeMs(startMs - 600_000) })
  await pass(2_000)
  await settle(client)
  const published = candlesOf(client)
  assert.deepEqual(
    published.map((message) => [dataOf(message).closed, dataOf(message).close]),
    [
      [false, 0.2],
      [true, 0.2],
      [true, 0.9],
    ],
  )
  assert.deepEqual(dataOf(published[2]), {
    interval: '1m',
    ...naive(market, startMs, 60_000, true),
  })
  await client.close()
})

test('publishes correct closed candles of every interval, and numbers their seq without gaps', async () => {
  const random = seededRandom('bars', 3)
  const markets = Array.from({ length: 6 }, (_, index) =>
    server.engine.add(`many${index}`, { venue: index % 2 === 0 ? 'a' : 'b' }),
  )
  const followed = await Promise.all(
    INTERVALS.flatMap((interval) => ['json', 'msgpack'].map((form) => ({ interval, form }))).map(
      async ({ interval, form }, index) => {
        const client = await open(form)
        const target =
          index % 2 === 0 ? { market_ids: ['*'] } : { market_ids: markets.map(({ ref }) => ref.id) }
        const command = { action: 'subscribe', id: 1, channel: 'candles', interval, ...target }
        await client.ask(command, 'synced')
        return { client, interval }
      },
    ),
  )
  const beganMs = clock.nowMs()
  for (let step = 0; step < 300; step += 1) {
    const trade = {
      price: priceMicros(10_000 * (1 + random.below(99))),
      size: sizeMicros(1_000_000 * (1 + random.below(99))),
      timeMs: timeMs(clock.nowMs() - (random.next() < 0.2 ? random.below(20_000) : 0)),
    }
    random.pick(markets).trade(trade)
    await pass(random.pick([0, 0, 300, 5_000]))
  }
  await pass(2_000)
  for (const { client, interval } of followed) {
    await settle(client)
    const lengthMs = CANDLE_MS[interval]
    const seqs = new Map<unknown, number>()
    const bars = new Map<string, Readonly<Record<string, unknown>>>()
    for (const message of candlesOf(client)) {
      const previousSeq = seqs.get(message.market_id)
      if (previousSeq !== undefined) assert.equal(message.seq, previousSeq + 1, interval)
      seqs.set(message.market_id, Number(message.seq))
      bars.set(`${message.market_id} ${dataOf(message).timestamp_ms}`, dataOf(message))
    }
    for (const market of markets) {
      const starts = new Set(market.stored.map((trade) => barStart(trade.timeMs, lengthMs)))
      for (const startMs of starts) {
        if (startMs + lengthMs <= beganMs) continue
        const isClosed = startMs + lengthMs <= clock.nowMs()
        const shown = bars.get(`${market.ref.id} ${startMs}`)
        assert.deepEqual(shown, { interval, ...naive(market, startMs, lengthMs, isClosed) })
      }
    }
    await client.close()
  }
})

test('numbers all messages of the candles channel with one offset, across markets and intervals', async () => {
  const [one, two] = [server.engine.add('count1'), server.engine.add('count2')]
  const clients = await Promise.all(
    ['1m', '1h'].map(async (interval) => {
      const client = await open('json')
      const market_ids = [one.ref.id, two.ref.id]
      const command = { action: 'subscribe', id: 1, channel: 'candles', interval, market_ids }
      const synced = await client.ask(command, 'synced')
      return { client, offset: Number(synced.offset) }
    }),
  )
  for (const market of [one, two, one]) {
    market.trade()
    await pass(1_200)
  }
  const offsets: number[] = []
  for (const { client } of clients) {
    await settle(client)
    offsets.push(...candlesOf(client).map(({ offset }) => Number(offset)))
    await client.close()
  }
  const first = clients[0]?.offset ?? 0
  offsets.sort((left, right) => left - right)
  assert.deepEqual(
    offsets,
    Array.from({ length: offsets.length }, (_, index) => first + 1 + index),
  )
  assert.equal(offsets.length, 6)
})

test('waits for candles that another process builds, and sends candles that include earlier trades', async () => {
  const market = server.engine.add('elsewhere')
  let arrival: Promise<void> | null = null
  Object.assign(market, { barsArrival: () => arrival })
  let come = (): void => undefined
  const leave = () => {
    arrival = new Promise((resolve) => {
      come = () => {
        arrival = null
        resolve()
      }
    })
  }
  leave()
  market.trade({ price: priceMicros(400_000) })
  const client = await open('json')
  const market_ids = [market.ref.id]
  await client.ask({ action: 'subscribe', id: 1, channel: 'candles', market_ids }, 'subscribed')
  await pass(2_000)
  assert.deepEqual(
    [candlesOf(client), client.messages.filter(({ type }) => type === 'synced')],
    [[], []],
  )
  come()
  await client.ofType('synced')
  const [state] = candlesOf(client)
  assert.equal(dataOf(state).close, 0.4)
  leave()
  for (const price of [500_000, 600_000]) {
    market.trade({ price: priceMicros(price) })
    await pass(2_000)
  }
  await settle(client)
  assert.equal(candlesOf(client).length, 1)
  come()
  await pass(2_000)
  await settle(client)
  const published = candlesOf(client)
  assert.equal(published.length, 2)
  assert.deepEqual([dataOf(published[1]).close, published[1]?.seq], [0.6, 1])
  await client.close()
})
