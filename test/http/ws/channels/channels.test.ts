import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { LIFECYCLE_EVENTS, type LifecycleUpdate, type Whale } from '../../../../engine/events.ts'
import { seededRandom } from '../../../../engine/random.ts'
import { priceMicros, usdMicros } from '../../../../engine/units.ts'
import { feesRecord } from '../../../../http/records/render.ts'
import { type Message, StreamClient } from '../../../support/clients/stream-client.ts'
import type { FakeMarket } from '../../../support/fakes/engine.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'
import { type ApiServer, openApiServer } from '../../../support/rigs/api-server.ts'
import { ask, bid, level } from '../../../support/worlds/builders.ts'
import { addMarkets, settled, simulateActivity } from '../../../support/worlds/market-activity.ts'
import { SOME_FEES } from '../../../support/worlds/stored.ts'

const clock = new ManualClock()
let server: ApiServer
let markets: readonly FakeMarket[] = []
before(async () => {
  server = await openApiServer({ clock })
  markets = addMarkets(server.engine, 30, 3)
})
after(() => server.stop())

const market = (index: number): FakeMarket => markets[index] ?? assert.fail()
const tick = () => new Promise((resolve) => setImmediate(resolve))
const FORMS = ['json', 'msgpack'] as const
const open = (form: string) => StreamClient.open(server.port, `api_key=ann-key&encoding=${form}`)
const ofType = (messages: readonly Message[], type: string) =>
  messages.filter((message) => message.type === type)
const dataOf = (message: Message | undefined): Readonly<Record<string, unknown>> => {
  const data = message?.data
  assert.ok(typeof data === 'object' && data !== null)
  return { ...data }
}
const levelsOf = (side: 'bid' | 'ask', from: FakeMarket, count: number) =>
  from.naive
    .levels(side)
    .slice(0, count)
    .map(({ price, size }) => ({
      price: price / 1e6,
      size: size / 1e6,
      platform: from.ref.platform,
    }))

describe('depth channel', () => {
  for (const form of FORMS) {
    test(`sends the requested number of levels with the seq and offset of the newest book change (${form})`, async () => {
      const one = market(0)
      const deep = Array.from({ length: 30 }, (_, index) => level((index + 1) / 100, index + 1))
      const high = Array.from({ length: 30 }, (_, index) => level(0.5 + index / 100, index + 1))
      one.replace(deep, high)
      const client = await open(form)
      const subscribed = await client.ask(
        { action: 'subscribe', id: 1, channel: 'depth', levels: 5, market_ids: [one.ref.id] },
        'subscribed',
      )
      assert.deepEqual([subscribed.levels, subscribed.conflate_ms], [5, 250])
      const state = await client.ofType('depth')
      const shown = (message: Message) => ({
        bids: dataOf(message).bids,
        asks: dataOf(message).asks,
      })
      const expected = () => ({ bids: levelsOf('bid', one, 5), asks: levelsOf('ask', one, 5) })
      assert.deepEqual(shown(state), expected())
      assert.deepEqual([dataOf(state).spread, dataOf(state).mid_price], [0.2, 0.4])
      assert.deepEqual([state.seq, state.stale], [one.seq('orderbook'), false])
      const synced = await client.ofType('synced')
      assert.equal(synced.offset, server.engine.publisher.offset('orderbook'))
      one.change(bid(0.31, 5))
      const first = await client.ofType('depth')
      assert.deepEqual(shown(first), expected(), 'a market without an open window is sent at once')
      for (let index = 0; index < 40; index += 1) one.change(ask(0.49 - (index % 5) / 1000, index))
      const { offset, seq } = server.engine.publisher.latest('orderbook', one.ref.number)
      market(1).change(bid(0.1, 1 + seq))
      clock.advance(251)
      const last = await client.ofType('depth')
      assert.deepEqual([last.offset, last.seq], [offset, seq])
      assert.deepEqual(shown(last), expected())
      await settled(clock, client)
      assert.equal(ofType(client.messages, 'depth').length, 3)
      await client.close()
    })

    test(`sends resync and then all levels when a book is replaced (${form})`, async () => {
      const client = await open(form)
      const two = market(2)
      await client.ask(
        { action: 'subscribe', id: 1, channel: 'depth', platform: 'venue_a' },
        'synced',
      )
      two.change(bid(0.2, 3))
      two.replace([level(0.3, 1)], [level(0.4, 2)], 'venue_gap')
      two.change(bid(0.31, 7))
      clock.advance(300)
      await settled(clock, client)
      const about = client.messages
        .slice(client.messages.findIndex(({ type }) => type === 'synced'))
        .filter((message) => message.market_id === two.ref.id)
      assert.deepEqual(
        about.map(({ type, reason }) => [type, reason]),
        [
          ['depth', undefined],
          ['resync', 'venue_gap'],
          ['depth', undefined],
        ],
      )
      assert.deepEqual(dataOf(about[2]).bids, levelsOf('bid', two, 10))
      await client.close()
    })
  }

  test('sends the final state of a book for all options and encodings without exceeding the message rate', async () => {
    const random = seededRandom('depths', 4)
    const kinds = [5, 10, 20].flatMap((levels) =>
      [100, 250, 1_000].flatMap((conflate_ms) =>
        FORMS.map((form) => ({ levels, conflate_ms, form })),
      ),
    )
    const targets = [
      { market_ids: ['*'] },
      { market_ids: markets.map(({ ref }) => ref.id) },
      { event_slugs: ['E0', 'e1', 'e2'] },
    ]
    const clients = await Promise.all(
      kinds.map(async ({ form, ...options }, index) => {
        const client = await open(form)
        const target = targets[index % 3]
        const command = { action: 'subscribe', id: 1, channel: 'depth', ...options, ...target }
        await client.ask(command, 'synced')
        return { client, ...options, from: client.messages.length }
      }),
    )
    for (let round = 0; round < 100; round += 1) {
      for (let index = 0; index < 10; index += 1) simulateActivity(markets, random)
      clock.advance(20)
      await tick()
    }
    for (let round = 0; round < 100; round += 1) {
      clock.advance(20)
      await tick()
    }
    for (const { client, levels, conflate_ms, from } of clients) {
      await settled(clock, client)
      const last = new Map<unknown, Message>()
      const counts = new Map<unknown, number>()
      for (const message of ofType(client.messages.slice(from), 'depth')) {
        const before = last.get(message.market_id)
        assert.ok(Number(before?.seq ?? 0) <= Number(message.seq))
        last.set(message.market_id, message)
        counts.set(message.market_id, (counts.get(message.market_id) ?? 0) + 1)
      }
      for (const one of markets) {
        const message = last.get(one.ref.id)
        assert.equal(message?.seq, one.seq('orderbook'))
        assert.deepEqual(dataOf(message).bids, levelsOf('bid', one, levels))
        assert.deepEqual(dataOf(message).asks, levelsOf('ask', one, levels))
        const most = 4_000 / conflate_ms + 1
        assert.ok((counts.get(one.ref.id) ?? 0) <= most, `${conflate_ms} ms`)
      }
      await client.close()
    }
  })
})

describe('prices channel', () => {
  for (const form of FORMS) {
    test(`sends conflated prices with the seq of the newest price change (${form})`, async () => {
      const one = market(4)
      // Clients share conflation windows, so the windows of earlier tests must end.
      clock.advance(3_000)
      const client = await open(form)
      const command = { action: 'subscribe', channel: 'prices', market_ids: [one.ref.id] }
      await client.ask({ ...command, id: 1, conflate_ms: 1_000 }, 'synced')
      const from = client.messages.length
      for (let step = 1; step <= 30; step += 1) {
        one.reprice(10_000 * step)
        clock.advance(50)
      }
      await settled(clock, client)
      const published = ofType(client.messages.slice(from), 'price')
      assert.deepEqual(
        published.map((message) => dataOf(message).price),
        [0.01, 0.2, 0.3],
      )
      assert.equal(published[2]?.seq, one.seq('prices'))
      await client.close()
    })
  }

  test('sends every price change to a client without conflation while another client uses conflation', async () => {
    const one = market(4)
    const client = await open('json')
    const slow = await open('json')
    const command = { action: 'subscribe', channel: 'prices', market_ids: ['*'] }
    await client.ask({ ...command, id: 1 }, 'synced')
    await slow.ask({ ...command, id: 1, conflate_ms: 250 }, 'synced')
    const from = client.messages.length
    for (let step = 1; step <= 30; step += 1) one.reprice(10_000 * step)
    await settled(clock, client)
    await settled(clock, slow)
    const seqs = ofType(client.messages.slice(from), 'price').map(({ seq }) => Number(seq))
    assert.equal(seqs.length, 30)
    assert.ok(seqs.every((seq, index) => index === 0 || seq === (seqs[index - 1] ?? 0) + 1))
    const last = ofType(slow.messages, 'price').filter(({ market_id }) => market_id === one.ref.id)
    assert.equal(last.at(-1)?.seq, one.seq('prices'))
    await client.close()
    await slow.close()
  })
})

describe('subscription options', () => {
  test('replaces the options of a subscription on a second subscribe, and sends no state if the options are equal', async () => {
    const id = market(6).ref.id
    const client = await open('json')
    const depth = (name: number, fields: object) =>
      client.ask({ action: 'subscribe', channel: 'depth', id: name, ...fields }, 'synced')
    const count = () => ofType(client.messages, 'depth').length
    await depth(1, { market_ids: [id], levels: 5 })
    assert.equal(count(), 1)
    await depth(2, { market_ids: [id], levels: 5 })
    assert.equal(count(), 1, 'a repeat')
    await depth(3, { market_ids: [id], levels: 20 })
    assert.equal(count(), 2, 'the state with the new options')
    const listed = await client.ask({ action: 'list', id: 4 }, 'subscriptions')
    const seq = market(6).seq('orderbook')
    assert.deepEqual(listed.subscriptions, [
      { channel: 'depth', levels: 20, conflate_ms: 250, market_id: id, seq },
    ])
    market(6).change(bid(0.2, 8))
    await settled(clock, client)
    assert.equal(count(), 3, 'the former variant sends nothing')
    await depth(5, { market_ids: ['*'], levels: 20 })
    assert.equal(count(), 33)
    await depth(6, { market_ids: [id], levels: 20 })
    await depth(7, { platform: 'venue_a', levels: 20 })
    assert.equal(count(), 33)
    const refused = async (fields: object) => {
      const command = { action: 'subscribe', channel: 'depth', id: 'no', ...fields }
      return (await client.ask(command, 'error')).code
    }
    assert.equal(await refused({ market_ids: [id], levels: 5 }), 'INVALID_FILTER')
    assert.equal(await refused({ platform: 'venue_a', conflate_ms: 100 }), 'INVALID_FILTER')
    clock.advance(1_000)
    await depth(8, { market_ids: ['*'], levels: 5 })
    assert.equal(count(), 63, 'all states again with the new options')
    await client.ask(
      { action: 'unsubscribe', id: 9, channel: 'depth', market_ids: ['*'] },
      'unsubscribed',
    )
    const from = client.messages.length
    market(6).change(bid(0.2, 9))
    await settled(clock, client)
    assert.equal(ofType(client.messages.slice(from), 'depth').length, 0)
    await client.close()
  })
})

test('sends no depth messages after the last subscription ends, and sends the state after the next subscribe', async () => {
  const one = market(12)
  const client = await open('msgpack')
  const command = { channel: 'depth', levels: 20, conflate_ms: 100, market_ids: [one.ref.id] }
  const count = () => ofType(client.messages, 'depth').length
  for (let round = 1; round <= 3; round += 1) {
    const before = count()
    await client.ask({ ...command, action: 'subscribe', id: round }, 'synced')
    clock.advance(11_000)
    one.change(bid(0.2, 10 * round))
    await settled(clock, client)
    assert.equal(count(), before + 2, 'the state and the change')
    await client.ask({ ...command, action: 'unsubscribe', id: -round }, 'unsubscribed')
    clock.advance(11_000)
    one.change(bid(0.2, 10 * round + 1))
    await settled(clock, client)
    assert.equal(count(), before + 2)
  }
  await client.close()
})

describe('lifecycle and whales channels', () => {
  const publishLifecycle = (of: FakeMarket, set: Partial<LifecycleUpdate>) => {
    const { publisher } = server.engine
    const nowMs = clock.nowMs()
    const update: LifecycleUpdate = {
      kind: 'lifecycle',
      market: of.ref,
      venueTimeMs: nowMs,
      receivedAtMs: nowMs,
      event: 'opened',
      facts: of.summary,
      matchedMarket: null,
      ...publisher.stamp('lifecycle', of.ref.number),
      ...set,
    }
    publisher.publish(update)
    return update
  }

  for (const form of FORMS) {
    test(`sends every lifecycle event with the market’s current state, and counts the event in heartbeats (${form})`, async () => {
      const one = market(8)
      const single = await open(form)
      const wide = await open(form)
      const command = { action: 'subscribe', id: 1, channel: 'lifecycle' }
      await single.ask({ ...command, market_ids: [one.ref.id] }, 'synced')
      await wide.ask({ ...command, platform: 'venue_a' }, 'synced')
      const events = LIFECYCLE_EVENTS
      const settlementPrice = priceMicros(1_000_000)
      const end = { status: 'resolved', resolutionStatus: 'resolved', settlementPrice } as const
      const facts = { ...one.summary, ...end, fees: SOME_FEES }
      for (const event of events)
        publishLifecycle(one, { event, facts, matchedMarket: market(9).ref })
      const update = publishLifecycle(market(9), { event: 'closed' })
      for (const client of [single, wide]) {
        await settled(clock, client)
        const published = ofType(client.messages, 'lifecycle')
        assert.deepEqual(
          published.map((message) => dataOf(message).event),
          events,
        )
        assert.deepEqual(dataOf(published[3]), {
          event: 'settled',
          platform: 'venue_a',
          status: 'resolved',
          resolution_status: 'resolved',
          question: one.summary.question,
          slug: one.summary.slug,
          event_slug: one.summary.eventSlug,
          outcomes: one.summary.outcomes.map(({ label }) => label),
          close_time: one.summary.closeAtMs === null ? null : one.summary.closeAtMs / 1000,
          settlement_price: 1,
          twin_market_id: market(9).ref.id,
          fees: feesRecord(SOME_FEES, clock.nowMs()),
        })
      }
      clock.advance(5_000)
      const beat = await wide.ofType('heartbeat')
      assert.ok(typeof beat.offsets === 'object' && beat.offsets !== null)
      assert.equal(Reflect.get(beat.offsets, 'lifecycle'), update.offset)
      await single.close()
      await wide.close()
    })

    test(`sends a complete whale trade, and counts the trade in heartbeats (${form})`, async () => {
      const one = market(10)
      const client = await open(form)
      await client.ask(
        { action: 'subscribe', id: 1, channel: 'whales', market_ids: ['*'] },
        'synced',
      )
      const trade = one.trade({ usd: usdMicros(6_000_000_000) }, false)
      const whale: Whale = {
        ...trade,
        outcome: 'Yes',
        question: one.summary.question,
        slug: one.summary.slug,
        eventSlug: one.summary.eventSlug,
        category: 'Politics',
        wallet: '0xtaker',
        fills: 3,
      }
      const { publisher } = server.engine
      const stamp = publisher.stamp('whales', one.ref.number)
      const times = { venueTimeMs: trade.timeMs, receivedAtMs: trade.timeMs }
      publisher.publish({ kind: 'whale', market: one.ref, ...stamp, ...times, whale })
      const message = await client.ofType('whale')
      assert.deepEqual(message, {
        type: 'whale',
        channel: 'whales',
        market_id: one.ref.id,
        epoch: 'k3f9c2',
        offset: stamp.offset,
        seq: stamp.seq,
        timestamp_ms: trade.timeMs,
        received_ms: trade.timeMs,
        published_ms: clock.nowMs(),
        data: {
          id: trade.nativeId,
          market_id: one.ref.id,
          platform: 'venue_a',
          price: 0.42,
          size: 10,
          side: 'buy',
          outcome: 'Yes',
          size_usd: 6_000,
          timestamp_ms: trade.timeMs,
          native_trade_id: trade.nativeId,
          maker: null,
          taker: '0xtaker',
          tx_hash: null,
          is_block_trade: false,
          question: one.summary.question,
          slug: one.summary.slug,
          event_slug: one.summary.eventSlug,
          category: 'Politics',
          wallet: '0xtaker',
          fills: 3,
          taker_outcome: 'Yes',
          taker_side: 'buy',
          taker_price: 0.42,
        },
      })
      clock.advance(5_000)
      const beat = await client.ofType('heartbeat')
      assert.ok(typeof beat.offsets === 'object' && beat.offsets !== null)
      assert.equal(Reflect.get(beat.offsets, 'whales'), stamp.offset)
      await client.close()
    })
  }
})
