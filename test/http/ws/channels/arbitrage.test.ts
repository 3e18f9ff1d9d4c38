import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Value } from '@sinclair/typebox/value'
import { WebSocket } from 'ws'
import type { ArbitrageUpdate } from '../../../../engine/events.ts'
import { type OpportunityPeak, peakOf } from '../../../../engine/opportunity.ts'
import { usdMicros } from '../../../../engine/units.ts'
import { connect, type StreamEvent } from '../../../../http/client/connect.ts'
import { opportunityRecord } from '../../../../http/records/opportunities.ts'
import { arbitrage } from '../../../../http/ws/channels/arbitrage.ts'
import { StreamClient } from '../../../support/clients/stream-client.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'
import { type ApiServer, openApiServer } from '../../../support/rigs/api-server.ts'
import { NOON } from '../../../support/worlds/builders.ts'
import { opportunity, publishedOpportunity } from '../../../support/worlds/opportunities.ts'

const clock = new ManualClock()
let server: ApiServer
before(async () => {
  server = await openApiServer({ clock })
})
after(() => server.stop())

test('publishes opened, changed and ended opportunities with the fields of REST in JSON and MessagePack, and replays from an offset', async () => {
  const { publisher } = server.engine
  const [a, b] = [server.engine.add('a'), server.engine.add('b', { venue: 'b' })]
  const clients = await Promise.all(
    ['json', 'msgpack'].map((form) =>
      StreamClient.open(server.port, `api_key=ann-key&encoding=${form}`),
    ),
  )
  const subscribe = { action: 'subscribe', id: 1, channel: 'arbitrage', market_ids: ['*'] }
  for (const client of clients) await client.ask(subscribe, 'subscribed')
  const notify = (event: ArbitrageUpdate['event'], dollars: number): ArbitrageUpdate => {
    const profit = usdMicros(dollars * 1_000_000)
    const one = opportunity([a.ref, b.ref], { profit })
    const update: ArbitrageUpdate = {
      ...publishedOpportunity(one, { event, reason: event === 'closed' ? 'prices' : null }),
      ...publisher.stamp('arbitrage', a.ref.number),
    }
    publisher.publish(update)
    return update
  }
  const updates = [notify('opened', 1), notify('changed', 2), notify('closed', 2)]
  const expected = updates.map(({ event, reason, opportunity: one }) => ({
    ...{ event, close_reason: reason },
    ...opportunityRecord(one, NOON, { hasLevels: false }),
  }))
  const late = await StreamClient.open(server.port, 'api_key=ann-key')
  const since = { epoch: server.engine.epoch, offset: 1 }
  await late.ask({ ...subscribe, since }, 'resumed')
  for (const [client, count] of [...clients.map((one) => [one, 3] as const), [late, 2] as const]) {
    await client.ask({ action: 'ping', id: 'end' }, 'pong')
    const messages = client.messages.filter(({ type }) => type === 'arbitrage')
    assert.deepEqual(
      messages.map(({ data }) => data),
      expected.slice(3 - count),
    )
    for (const message of messages) {
      assert.ok(Value.Check(arbitrage.messages.arbitrage?.schema ?? assert.fail(), message))
      assert.equal(message.market_id, a.ref.id)
    }
    await client.close()
  }
})

test('sends opportunities that ended at a restart to clients that resume from an earlier run, and to no new subscriber', async () => {
  const { publisher } = server.engine
  const [a, b] = [server.engine.add('old-a'), server.engine.add('old-b', { venue: 'b' })]
  const notify = (id: string, set: Partial<ArbitrageUpdate>) =>
    publisher.publish({
      ...publishedOpportunity(opportunity([a.ref, b.ref], { id }), set),
      ...publisher.stamp('arbitrage', a.ref.number),
    })
  notify('before-1', { event: 'closed', reason: 'restarted' })
  notify('now-1', { event: 'opened', reason: null })
  notify('before-2', { event: 'closed', reason: 'restarted' })
  const subscribe = { action: 'subscribe', id: 1, channel: 'arbitrage', market_ids: ['*'] }
  for (const form of ['json', 'msgpack']) {
    const [old, fresh] = [await openClient(form), await openClient(form)]
    await old.ask({ ...subscribe, since: { epoch: 'before', offset: 812 } }, 'synced')
    await fresh.ask(subscribe, 'synced')
    const types = old.messages.map(({ type }) => type)
    assert.ok(types.lastIndexOf('arbitrage') < types.indexOf('gap'), 'no other message remains')
    assert.deepEqual(
      old.messages.flatMap(({ type, data }) => (type === 'arbitrage' ? [idOf(data)] : [])),
      ['before-1', 'before-2'],
    )
    assert.equal(fresh.messages.filter(({ type }) => type === 'arbitrage').length, 0)
    for (const client of [old, fresh]) await client.close()
  }
})

const openClient = (form: string) =>
  StreamClient.open(server.port, `api_key=ann-key&encoding=${form}`)
const idOf = (data: unknown): unknown => Object(data).id ?? null

function course(legs: Parameters<typeof opportunity>[0]) {
  const { publisher } = server.engine
  let previousPeak: ArbitrageUpdate['previousPeak'] = null
  return (event: ArbitrageUpdate['event'], dollars: number): number => {
    const one = opportunity(legs, { profit: usdMicros(dollars * 1_000_000) })
    const peak: OpportunityPeak =
      event === 'closed' && previousPeak !== null ? previousPeak : peakOf(one, previousPeak, NOON)
    const reason = event === 'closed' ? 'prices' : null
    const published = publishedOpportunity(one, {
      event,
      reason,
      peak,
      previousPeak,
    })
    previousPeak = peak
    const stamp = publisher.stamp('arbitrage', published.market.number)
    publisher.publish({ ...published, ...stamp })
    return stamp.offset
  }
}

const all = { action: 'subscribe', channel: 'arbitrage', market_ids: ['*'] }

async function cameTo(client: StreamClient): Promise<readonly string[]> {
  await client.ask({ action: 'ping', id: client.messages.length }, 'pong')
  const messages = client.messages.filter(({ type }) => type === 'arbitrage')
  return messages.map(({ offset, data }) => `${offset} ${Reflect.get(Object(data), 'event')}`)
}

test('publishes an opportunity from the time its values reach the minimums of a subscription until its end', async () => {
  const [a, b] = [server.engine.add('c'), server.engine.add('d', { venue: 'b' })]
  const open = async (set: object, form = 'json') => {
    const client = await StreamClient.open(server.port, `api_key=ann-key&encoding=${form}`)
    await client.ask({ ...all, id: 'begin', ...set }, 'subscribed')
    return client
  }
  const every = await open({})
  const rich = await open({ min_profit_usd: 5 })
  const single = await open({ market_ids: [a.ref.id], min_edge: 0.05 }, 'msgpack')
  const since = { epoch: server.engine.epoch, offset: server.engine.publisher.offset('arbitrage') }
  const [small, grown, other] = [
    course([a.ref, b.ref]),
    course([a.ref, b.ref]),
    course([b.ref, a.ref]),
  ]
  const first = small('opened', 1)
  grown('opened', 2)
  // The opportunity has 100 contracts with a profit of 0.06 each.
  grown('changed', 6)
  grown('changed', 3)
  other('opened', 5)
  small('closed', 1)
  grown('closed', 3)
  const at = (position: number, event: string) => `${first + position} ${event}`
  const ofEvery = [
    ...[at(0, 'opened'), at(1, 'opened'), at(2, 'changed'), at(3, 'changed'), at(4, 'opened')],
    ...[at(5, 'closed'), at(6, 'closed')],
  ]
  const ofGrown = [at(2, 'changed'), at(3, 'changed'), at(6, 'closed')]
  const ofRich = [at(2, 'changed'), at(3, 'changed'), at(4, 'opened'), at(6, 'closed')]
  assert.deepEqual(await cameTo(every), ofEvery)
  assert.deepEqual(await cameTo(rich), ofRich)
  assert.deepEqual(await cameTo(single), ofGrown)
  const late = await StreamClient.open(server.port)
  const resumed = await late.ask({ ...all, id: 1, min_profit_usd: 5, since }, 'resumed')
  assert.deepEqual([await cameTo(late), resumed.replayed, resumed.offset], [ofRich, 4, first + 6])
  for (const client of [every, rich, single, late]) await client.close()
})

test('replaces the options of a subscription, and applies the options of a wildcard to a single market without options', async () => {
  const [a, b] = [server.engine.add('e'), server.engine.add('f', { venue: 'b' })]
  const client = await StreamClient.open(server.port)
  const one = { ...all, market_ids: [a.ref.id] }
  const notify = course([a.ref, b.ref])
  const offsets: string[] = []
  for (const target of [one, all]) {
    for (const [min_profit_usd, dollars, isPublished] of [
      [10, 5, false],
      [5, 6, true],
      [5, 7, true],
      [50, 8, false],
      [0, 1, true],
    ] as const) {
      // The commands would exceed the limit per second.
      clock.advance(1_000)
      const command = { ...target, id: `${target.market_ids} ${dollars}`, min_profit_usd }
      const subscribed = await client.ask(command, 'subscribed')
      assert.deepEqual([subscribed.min_profit_usd, subscribed.min_edge], [min_profit_usd, 0])
      const offset = course([a.ref, b.ref])('opened', dollars)
      if (isPublished) offsets.push(`${offset} opened`)
      assert.deepEqual(await cameTo(client), offsets)
    }
  }
  const part = await client.ask({ ...one, id: 'part', min_profit_usd: 5 }, 'error')
  assert.equal(part.code, 'INVALID_FILTER')
  const wrong = await client.ask({ ...all, id: 'wrong', min_edge: 0.03 }, 'error')
  assert.equal(wrong.message, 'min_edge of arbitrage is one of 0, 0.005, 0.01, 0.02, 0.05')
  await client.ask({ ...all, id: 'out', action: 'unsubscribe' }, 'unsubscribed')
  notify('opened', 100)
  assert.deepEqual(await cameTo(client), offsets)
  await client.close()
})

test('reports no gap for messages that a subscription’s filter rejects, and resumes after the last heartbeat', async (t) => {
  const [a, b] = [server.engine.add('g'), server.engine.add('h', { venue: 'b' })]
  for (const target of [{ all: true }, { marketIds: [a.ref.id] }]) {
    const events: StreamEvent[] = []
    const client = connect({
      ...{ url: server.origin, apiKey: 'ann-key', WebSocket, clock },
      onEvent: (event) => events.push(event),
    })
    t.after(() => client.close())
    const options = { min_profit_usd: 5 }
    await client.subscribe({ channel: 'arbitrage', ...target, options }).ready
    for (let beat = 0; beat < 7; beat += 1) {
      for (const dollars of [6, 1, 2, 7, 1]) course([a.ref, b.ref])('opened', dollars)
      clock.advance(5_000)
      await client.ping()
    }
    const offset = server.engine.publisher.offset('arbitrage')
    const published = events.flatMap((event) =>
      event.type === 'arbitrage' ? [event.data.profit_usd] : [],
    )
    assert.deepEqual(published, Array.from({ length: 7 }, () => [6, 7]).flat())
    assert.deepEqual(
      events.filter(({ type }) => type === 'gap' || type === 'fault'),
      [],
    )
    const states = events.flatMap((event) => (event.type === 'state' ? [event.state] : []))
    assert.deepEqual(
      states.filter((state) => state === 'waiting'),
      [],
    )
    if ('all' in target) assert.equal(client.position('arbitrage')?.offset, offset)
    client.close()
  }
})

test('rejects a subscription to a market that can never have opportunities, and names an alternative', async () => {
  const [a, b] = [server.engine.add('k'), server.engine.add('l', { venue: 'b' })]
  const client = await StreamClient.open(server.port)
  const ids = { action: 'subscribe', market_ids: [a.ref.id, b.ref.id] }
  const { accepted, rejected } = await client.ask(
    { ...ids, id: 1, channel: 'arbitrage' },
    'subscribed',
  )
  assert.deepEqual(accepted, [a.ref.id])
  assert.ok(Array.isArray(rejected))
  const [row] = rejected
  assert.deepEqual([rejected.length, row.market_id, row.code], [1, b.ref.id, 'NEVER_TOLD'])
  assert.match(row.message, /first leg's market, which is venue_a's/)
  const trades = await client.ask({ ...ids, id: 2, channel: 'trades' }, 'subscribed')
  assert.deepEqual([trades.accepted, trades.rejected], [[a.ref.id, b.ref.id], []])
  await client.close()
})
