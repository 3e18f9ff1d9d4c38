import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ArbitrageUpdate } from '../../../../engine/events.ts'
import { type Random, seededRandom } from '../../../../engine/random.ts'
import { TIME_ZERO, usdMicros } from '../../../../engine/units.ts'
import { asyncapi } from '../../../../http/documents/asyncapi.ts'
import { CHANNEL_NAMES } from '../../../../http/ws/channels/channels.ts'
import { type Message, RebuiltBooks, StreamClient } from '../../../support/clients/stream-client.ts'
import type { FakeMarket } from '../../../support/fakes/engine.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'
import { AsyncapiValidator } from '../../../support/reference/asyncapi-validator.ts'
import { type ApiServer, openApiServer } from '../../../support/rigs/api-server.ts'
import { bid, NAMES } from '../../../support/worlds/builders.ts'
import {
  addMarkets,
  received,
  settled,
  simulateActivity,
} from '../../../support/worlds/market-activity.ts'
import { opportunity, publishedOpportunity } from '../../../support/worlds/opportunities.ts'

const clock = new ManualClock()
const validator = new AsyncapiValidator(asyncapi({ version: '0.0.0-test', names: NAMES }))
let server: ApiServer
let markets: readonly FakeMarket[] = []
before(async () => {
  server = await openApiServer({ clock })
  markets = addMarkets(server.engine, 24, 4)
})
after(() => server.stop())

const PROFIT_MIN = 5_000_000
const gaps: ArbitrageUpdate[] = []

/** The opportunity may be above or below the minimum. Its first leg is on the first venue. */
function open(random: Random): void {
  const { publisher } = server.engine
  const { ref } = random.pick(markets.filter(({ ref: { venue } }) => venue === 'a'))
  const profit = usdMicros(random.below(2 * PROFIT_MIN))
  const published = publishedOpportunity(opportunity([ref, random.pick(markets).ref], { profit }))
  const update = { ...published, ...publisher.stamp('arbitrage', ref.number) }
  gaps.push(update)
  publisher.publish(update)
}

const tick = () => new Promise((resolve) => setImmediate(resolve))
const lags = () => [...server.engine.metrics.counts('stream_lags_total').values()][0]?.value ?? 0

function stir(random: Random): void {
  if (random.next() < 0.9) return simulateActivity(markets, random)
  const of = random.pick(markets)
  const { publisher } = server.engine
  const nowMs = clock.nowMs()
  const times = { market: of.ref, venueTimeMs: nowMs, receivedAtMs: nowMs }
  if (random.next() < 0.3) return open(random)
  if (random.next() < 0.5) {
    const stamp = publisher.stamp('lifecycle', of.ref.number)
    const content = { event: 'changed', facts: of.summary, matchedMarket: null } as const
    return publisher.publish({ kind: 'lifecycle', ...times, ...stamp, ...content })
  }
  const trade = of.trade({ usd: usdMicros(5_000_000_000) }, false)
  const { question, slug, eventSlug, category } = of.summary
  const texts = { outcome: 'Yes', question, slug, eventSlug, category, wallet: null, fills: 1 }
  const stamp = publisher.stamp('whales', of.ref.number)
  publisher.publish({ kind: 'whale', ...times, ...stamp, whale: { ...trade, ...texts } })
}

for (const form of ['json', 'msgpack']) {
  for (const [name, target] of [
    ['everything', { market_ids: ['*'] }],
    ['events', { event_slugs: ['e0', 'e1', 'e2', 'e3'] }],
  ] as const) {
    test(`announces every lost message when a client that subscribes to every channel reads slowly (${name}, ${form})`, async () => {
      const random = seededRandom(`lag ${name} ${form}`, 7)
      const client = await StreamClient.open(server.port, `api_key=ann-key&encoding=${form}`)
      const requested = { channels: CHANNEL_NAMES, min_profit_usd: PROFIT_MIN / 1e6 }
      client.send({ action: 'subscribe', id: 1, ...requested, ...target })
      await client.next(({ type, channel }) => type === 'synced' && channel === 'candles')
      const began = {
        trades: server.engine.publisher.offset('trades'),
        whales: server.engine.publisher.offset('whales'),
        lifecycle: server.engine.publisher.offset('lifecycle'),
        arbitrage: server.engine.publisher.offset('arbitrage'),
      }
      client.socket.pause()
      const before = lags()
      const deep = Array.from({ length: 60 }, (_, index) => bid(0.01 + index / 100, 123.456789))
      for (let round = 0; round < 5_000 && lags() === before; round += 1) {
        for (let index = 0; index < 20; index += 1) random.pick(markets).change(...deep)
        for (let index = 0; index < 5; index += 1) stir(random)
        await tick()
        clock.advance(25)
      }
      assert.equal(lags(), before + 1, 'it lagged')
      for (let index = 0; index < 1_000; index += 1) stir(random)
      // A heartbeat is due while the connection lags.
      clock.advance(5_000)
      client.socket.resume()
      for (let round = 0; round < 20_000; round += 1) {
        if ([...server.server.hub.sessions].every(({ isLive, hasWork }) => isLive && !hasWork))
          break
        stir(random)
        clock.advance(25)
        await received(client)
      }
      for (let index = 0; index < 300; index += 1) stir(random)
      // The final states of all markets then follow all earlier messages.
      for (const market of markets) {
        market.change(bid(0.17, 1 + random.below(1_000)))
        market.reprice(10_000 * (1 + random.below(98)))
        market.trade()
      }
      for (let round = 0; round < 60; round += 1) {
        clock.advance(50)
        await tick()
      }
      const messages = await settled(clock, client)
      check(messages, began)
      checkWords(messages)
      await client.close()
    })
  }
}

for (const form of ['json', 'msgpack']) {
  for (const isWide of [true, false]) {
    const target = isWide ? 'a whole venue' : 'single markets'
    test(`reports after a resync that a market has no candle (${target}, ${form})`, async () => {
      const random = seededRandom(`no candle ${target} ${form}`, 3)
      const traded = server.engine.add(`traded-${form}-${isWide}`)
      traded.trade()
      const quiet = server.engine.add(`quiet-${form}-${isWide}`)
      const client = await StreamClient.open(server.port, `api_key=ann-key&encoding=${form}`)
      const ids = [traded, quiet].map(({ ref }) => ref.id)
      client.send({ action: 'subscribe', id: 1, channel: 'orderbook', market_ids: ['*'] })
      const wanted = isWide ? { platform: 'venue_a' } : { market_ids: ids }
      client.send({ action: 'subscribe', id: 2, channel: 'candles', ...wanted })
      await client.next(({ type, channel }) => type === 'synced' && channel === 'candles')
      const candles = () => client.messages.filter(({ type }) => type === 'candle')
      assert.ok(candles().every(({ data }) => data !== null))
      client.socket.pause()
      const before = lags()
      const deep = Array.from({ length: 60 }, (_, index) => bid(0.01 + index / 100, 123.456789))
      for (let round = 0; round < 5_000 && lags() === before; round += 1) {
        for (let index = 0; index < 20; index += 1) random.pick(markets).change(...deep)
        await tick()
        clock.advance(25)
      }
      assert.equal(lags(), before + 1, 'it lagged')
      client.socket.resume()
      for (let round = 0; round < 20_000; round += 1) {
        if ([...server.server.hub.sessions].every(({ isLive, hasWork }) => isLive && !hasWork))
          break
        clock.advance(25)
        await received(client)
      }
      validateAll(await settled(clock, client))
      for (const [index, id] of ids.entries()) {
        const own = client.messages.filter(
          ({ channel, market_id }) => channel === 'candles' && market_id === id,
        )
        const from = own.findIndex(({ type }) => type === 'resync')
        assert.ok(from >= 0, 'the state is reported as out of sync')
        const [state] = own.slice(from + 1)
        assert.equal(state?.type, 'candle')
        assert.equal(state.data === null, index === 1)
      }
      await client.close()
    })
  }
}

function validateAll(messages: readonly Message[]): void {
  for (const message of messages) {
    const name = String(message.type).replace(/_(\w)/g, (_, letter) => letter.toUpperCase())
    assert.equal(validator.problem(`${name}Message`, message), null)
  }
}

function checkWords(messages: readonly Message[]): void {
  validateAll(messages)
  const beats = messages.filter(({ type }) => type === 'heartbeat')
  const lagging = beats.filter(({ catching_up }) => catching_up === true)
  assert.ok(lagging.length > 0, 'a heartbeat reports the lag')
  assert.ok(lagging.every((beat) => !('offsets' in beat)))
  assert.ok(beats.every((beat) => 'offsets' in beat || beat.catching_up === true))
}

function check(
  messages: readonly Message[],
  began: Readonly<Record<'trades' | 'whales' | 'lifecycle' | 'arbitrage', number>>,
): void {
  const rebuilt = new RebuiltBooks()
  const newest = new Map<string, Message>()
  for (const message of messages) {
    rebuilt.read(message)
    if (typeof message.seq === 'number') {
      newest.set(`${message.channel} ${message.market_id}`, message)
    }
  }
  assert.deepEqual(rebuilt.defects, [])
  for (const channel of ['trades', 'whales', 'lifecycle'] as const) {
    const from = began[channel]
    const offsets = messages
      .filter((message) => message.channel === channel && Number(message.seq) > 0)
      .map(({ offset }) => Number(offset))
    const count = server.engine.publisher.offset(channel) - from
    assert.deepEqual(
      offsets,
      Array.from({ length: count }, (_, index) => from + 1 + index),
      channel,
    )
  }
  const wanted = gaps.filter(
    ({ offset, peak }) => offset > began.arbitrage && peak.profit >= PROFIT_MIN,
  )
  assert.ok(wanted.length > 0 && wanted.length < gaps.length)
  assert.deepEqual(
    messages.filter(({ type }) => type === 'arbitrage').map(({ offset }) => offset),
    wanted.map(({ offset }) => offset),
  )
  const { publisher } = server.engine
  for (const market of markets) {
    const { id, number } = market.ref
    for (const channel of ['orderbook', 'depth', 'prices', 'candles']) {
      const about = messages.filter(
        (message) => message.channel === channel && message.market_id === id,
      )
      const resyncs = about.filter(({ reason }) => reason === 'slow_consumer')
      assert.equal(resyncs.length, 1, `${channel} of ${id} is named out of sync once`)
      const type = about.at(-1)?.type
      assert.notEqual(type, 'resync', `${channel} of ${id} was sent again`)
    }
    const seqOf = (channel: string) => newest.get(`${channel} ${id}`)?.seq
    assert.equal(seqOf('depth'), publisher.latest('orderbook', number).seq)
    assert.equal(seqOf('orderbook'), publisher.latest('orderbook', number).seq)
    assert.equal(seqOf('prices'), publisher.latest('prices', number).seq)
    const candle = newest.get(`candles ${id}`)?.data
    assert.ok(typeof candle === 'object' && candle !== null)
    const bar = market.bars({
      size: 'minute',
      fromMs: TIME_ZERO,
      toMs: clock.nowMs(),
      order: 'desc',
      limit: 1,
    })[0]
    assert.equal(Reflect.get(candle, 'trades_count'), bar?.count)
  }
}
