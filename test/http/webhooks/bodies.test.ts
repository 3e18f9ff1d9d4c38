// Compares posted bodies with records of the stream and of REST, and with the schemas of the API document.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type {
  ArbitrageRefresh,
  LifecycleUpdate,
  Update,
  WhaleUpdate,
} from '../../../engine/events.ts'
import { webhookId } from '../../../engine/ids.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { seededRandom } from '../../../engine/random.ts'
import { priceMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import type { VenueTable } from '../../../engine/venue-table.ts'
import { venueTable } from '../../../engine/venues/venues.ts'
import type { WebhookEventType } from '../../../engine/webhooks/webhook.ts'
import { api } from '../../../http/api.ts'
import { openapi } from '../../../http/documents/openapi.ts'
import type { JsonObject } from '../../../http/documents/schemas-of.ts'
import { opportunityRecord } from '../../../http/records/opportunities.ts'
import { EventBodies } from '../../../http/webhooks/bodies.ts'
import { EVENT_TYPES } from '../../../http/webhooks/types/event-types.ts'
import { lifecycleMessage } from '../../../http/ws/channels/lifecycle.ts'
import { priceMessage } from '../../../http/ws/channels/prices.ts'
import { tradeMessage } from '../../../http/ws/channels/trades.ts'
import { whaleMessage } from '../../../http/ws/channels/whales.ts'
import { JsonEncoder } from '../../../http/ws/encode/json.ts'
import { FakeEngine, type FakeMarket } from '../../support/fakes/engine.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { PUBLIC_ONLY } from '../../support/rigs/api-server.ts'
import { level, NAMES, NOON } from '../../support/worlds/builders.ts'
import { opportunity, publishedOpportunity } from '../../support/worlds/opportunities.ts'

const BODY_BYTES_MAX = 20_000

interface PostedBody {
  readonly type: WebhookEventType
  readonly timestamp: string
  readonly data: Readonly<Record<string, unknown>>
}

function world(names: VenueTable = NAMES, set: Parameters<FakeEngine['add']>[1] = {}) {
  const clock = new ManualClock(NOON)
  const engine = new FakeEngine(clock, names)
  const updates: Update[] = []
  engine.publisher.watch({ name: 'recorder', onUpdate: (update) => updates.push(update) })
  const [one, other] = [engine.add('a0', set), engine.add('b0', { ...set, venue: 'b' })]
  const { catalog, matches } = engine
  const bodies = new EventBodies({ catalog, matches, clock, publicUrl: 'https://twinbook.example' })
  const json = new JsonEncoder({ epoch: engine.epoch, catalog, nowMs: () => clock.nowMs() })
  return { clock, engine, updates, one, other, bodies, json }
}

function newest<K extends Update['kind']>(updates: readonly Update[], kind: K) {
  const found = updates.findLast((update): update is Extract<Update, { kind: K }> => {
    return update.kind === kind
  })
  return found ?? assert.fail(`no ${kind} was published`)
}

const ADDRESS = `0x${'a1'.repeat(20)}`

function whaleOf(market: FakeMarket, set: Partial<WhaleUpdate['whale']> = {}): WhaleUpdate {
  const { nativeId, timeMs: at, ordinal, price, size, side, usd } = market.trade({ side: 'sell' })
  const whale = {
    ...{ nativeId, timeMs: at, ordinal, price, size, side, usd, outcomeIndex: 1 },
    ...{ maker: null, taker: ADDRESS, txHash: '0xabc', wallet: ADDRESS, fills: 3 },
    ...{ isBlock: false },
    ...{ outcome: 'No', question: 'Will “it”?', slug: 'it', eventSlug: null, category: 'Sports' },
    ...set,
  }
  const times = { venueTimeMs: at, receivedAtMs: timeMs(at + 5) }
  return { kind: 'whale', market: market.ref, offset: 1, seq: 1, ...times, whale }
}

function lifecycleOf(
  market: FakeMarket,
  event: LifecycleUpdate['event'],
  matchedMarket: FakeMarket | null = null,
): LifecycleUpdate {
  const settlementPrice = priceMicros(1_000_000)
  const facts = { ...market.summary, status: 'resolved', settlementPrice } as const
  const times = { venueTimeMs: NOON, receivedAtMs: NOON }
  const stamp = { offset: 1, seq: 1 }
  const base = { kind: 'lifecycle', market: market.ref, ...stamp, ...times } as const
  return { ...base, event, facts, matchedMarket: matchedMarket?.ref ?? null }
}

function arbitrageOf(
  { ref, summary }: FakeMarket,
  other: FakeMarket,
  event: ArbitrageRefresh['event'],
): ArbitrageRefresh {
  const { question, category } = summary
  const one = opportunity([ref, other.ref], { question, category, explanation: question })
  const reason = event === 'closed' ? 'market_closed' : null
  return publishedOpportunity(one, { event, reason, receivedAtMs: timeMs(NOON + 3_000) })
}

/** Checks the fields that all bodies have. */
function read(bytes: Uint8Array, type: WebhookEventType): PostedBody {
  assert.ok(bytes.length <= BODY_BYTES_MAX, `${bytes.length} bytes of ${type}`)
  const body: PostedBody = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  assert.deepEqual(Object.keys(body), ['type', 'timestamp', 'data'])
  assert.equal(body.type, type)
  assert.equal(new Date(body.timestamp).toISOString(), body.timestamp)
  return body
}

const dataOf = (frame: unknown): unknown => JSON.parse(String(frame)).data

function everyBody({ bodies, engine, one, other, updates }: ReturnType<typeof world>) {
  one.trade({ maker: ADDRESS, taker: ADDRESS, txHash: '0xdef' })
  one.replace([level(0.4, 100)], [level(0.42, 80)])
  one.reprice(415_000)
  engine.matches.put(one, other)
  return new Map<WebhookEventType, Uint8Array>([
    ['trade.created', bodies.write('trade.created', newest(updates, 'trade'))],
    ['whale.alert', bodies.write('whale.alert', whaleOf(one))],
    [
      'price.changed',
      bodies.write('price.changed', newest(updates, 'price'), priceMicros(365_000)),
    ],
    ['market.resolved', bodies.write('market.resolved', lifecycleOf(one, 'resolved'))],
    ['match.created', bodies.write('match.created', lifecycleOf(one, 'matched', other))],
    ['arbitrage.opened', bodies.write('arbitrage.opened', arbitrageOf(one, other, 'changed'))],
    ['arbitrage.closed', bodies.write('arbitrage.closed', arbitrageOf(one, other, 'closed'))],
    [
      'webhook.test',
      bodies.write('webhook.test', { kind: 'test', webhook: webhookId('wh_1'), timeMs: NOON }),
    ],
  ])
}

describe('webhook event bodies', () => {
  test('writes trades, whale trades and resolutions with the same fields as the stream', () => {
    const { bodies, one, updates, json, clock } = world()
    clock.advance(61_001)
    one.trade({ outcomeIndex: 1, maker: 'm "1"', txHash: '0xdef' })
    const update = newest(updates, 'trade')
    const trade = read(bodies.write('trade.created', update), 'trade.created')
    assert.deepEqual(trade.data, dataOf(tradeMessage(json, update)))
    const taken = (data: PostedBody['data']) => [data.taker_outcome, data.taker_side]
    assert.deepEqual(taken(trade.data), ['No', 'sell'])
    assert.equal(trade.timestamp, '2026-11-20T12:01:01.001Z')
    const whale = whaleOf(one)
    const alert = read(bodies.write('whale.alert', whale), 'whale.alert')
    assert.deepEqual(alert.data, dataOf(whaleMessage(json, whale)))
    assert.deepEqual(taken(alert.data), ['No', 'buy'])
    assert.equal(alert.timestamp, new Date(whale.whale.timeMs).toISOString())
    const resolved = lifecycleOf(one, 'resolved')
    const { data } = read(bodies.write('market.resolved', resolved), 'market.resolved')
    assert.deepEqual(data, {
      market_id: one.ref.id,
      ...Object(dataOf(lifecycleMessage(json, resolved))),
    })
    assert.equal(data.settlement_price, 1)
  })

  test('writes a price event with the previous price, the change and the market', () => {
    const { bodies, one, updates, json } = world()
    one.reprice(415_000)
    const update = newest(updates, 'price')
    const { data } = read(
      bodies.write('price.changed', update, priceMicros(515_001)),
      'price.changed',
    )
    assert.deepEqual(data, {
      market_id: one.ref.id,
      platform: 'venue_a',
      question: one.summary.question,
      slug: one.summary.slug,
      event_slug: one.summary.eventSlug,
      outcome: 'Yes',
      previous_price: 0.515001,
      change: -0.100001,
      timestamp_ms: update.venueTimeMs,
      ...Object(dataOf(priceMessage(json, update))),
    })
  })

  test('writes the two markets of a match under the keys of their venues, whichever market published the match', () => {
    const names = venueTable({ a: 'polymarket', b: 'kalshi' })
    const { bodies, one, other, engine } = world(names)
    engine.matches.put(one, other)
    const { data } = read(
      bodies.write('match.created', lifecycleOf(one, 'matched', other)),
      'match.created',
    )
    const turned = read(
      bodies.write('match.created', lifecycleOf(other, 'matched', one)),
      'match.created',
    )
    assert.deepEqual(turned.data, data)
    assert.deepEqual(Object.keys(data), ['polymarket', 'kalshi'])
    for (const [name, market] of [
      ['polymarket', one],
      ['kalshi', other],
    ] as const) {
      const record = Object(data[name])
      assert.equal(record.id, market.ref.id)
      assert.equal(record.platforms.length, 2, 'the matched market is the second platform')
    }
    engine.catalog.byId.delete(other.ref.id.toLowerCase())
    const lone = read(
      bodies.write('match.created', lifecycleOf(one, 'matched', other)),
      'match.created',
    )
    assert.equal(lone.data.kalshi, null, 'the market has left the catalogue')
  })

  test('writes an opened opportunity with the fields of REST and the opening time, and an ended opportunity with reason and time', () => {
    const { bodies, one, other } = world()
    const opened = arbitrageOf(one, other, 'changed')
    const record = opportunityRecord(opened.opportunity, opened.receivedAtMs, { hasLevels: false })
    const first = read(bodies.write('arbitrage.opened', opened), 'arbitrage.opened')
    assert.deepEqual(first.data, record)
    assert.equal(first.timestamp, '2026-11-20T12:00:00.000Z')
    const closed = arbitrageOf(one, other, 'closed')
    const last = read(bodies.write('arbitrage.closed', closed), 'arbitrage.closed')
    assert.deepEqual(last.data, { close_reason: 'market_closed', ...record })
    assert.equal(last.timestamp, '2026-11-20T12:00:03.000Z')
  })

  test('limits a webhook body to 20 KB for any venue text, without truncating identifiers', () => {
    const random = seededRandom('long bodies')
    const rounds = process.env.TEST_LONG === '1' ? 40 : 2
    const wild = ['😀', '"', '\u0001', '\ud800', 'ü', '\\', 'a', '\u2028']
    for (let round = 0; round < rounds; round += 1) {
      const long = () => random.pick(wild).repeat(random.pick([0, 300, 3_000, 30_000]))
      const tags = Array.from({ length: random.pick([0, 3, 200]) }, () => long().slice(0, 500))
      const set = { question: long(), description: long(), image: long(), url: long(), tags }
      const fixture = world(NAMES, { ...set, category: long() })
      const { one, other, bodies } = fixture
      for (const [type, bytes] of everyBody(fixture)) read(bytes, type)
      const match = read(
        bodies.write('match.created', lifecycleOf(one, 'matched', other)),
        'match.created',
      )
      assert.equal(Object(match.data.venue_a).id, one.ref.id)
      const id = `0x${'ab'.repeat(120)}`
      const whale = whaleOf(one, { question: long(), category: long(), nativeId: id })
      const { data } = read(bodies.write('whale.alert', whale), 'whale.alert')
      assert.deepEqual([data.id, data.market_id, data.wallet], [id, one.ref.id, ADDRESS])
    }
  })

  test('never throws while writing the webhook body of any update', () => {
    const { bodies, one, updates, engine } = world()
    for (const at of [-1, 0, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]) {
      one.trade({ timeMs: timeMs(at), outcomeIndex: 9 })
      read(bodies.write('trade.created', newest(updates, 'trade')), 'trade.created')
      const whale = whaleOf(one, { timeMs: timeMs(at), usd: usdMicros(Number.MAX_SAFE_INTEGER) })
      read(bodies.write('whale.alert', whale), 'whale.alert')
    }
    one.reprice(0)
    engine.catalog.byId.clear()
    for (const update of updates) {
      if (update.kind === 'trade') read(bodies.write('trade.created', update), 'trade.created')
      if (update.kind !== 'price') continue
      read(bodies.write('price.changed', update, priceMicros(1_000_000)), 'price.changed')
    }
    read(bodies.write('match.created', lifecycleOf(one, 'matched')), 'match.created')
  })
})

describe('webhook events in the OpenAPI document', () => {
  const fixture = world()
  const { engine, clock } = fixture
  const shared = { metrics: new Metrics(), isMetricsPublic: false, webhookPolicy: PUBLIC_ONLY }
  const routes = api({ engine, clock, ...shared })
  const document = openapi(routes, { version: '1', names: NAMES })
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ajv.addSchema({ ...document, $id: 'document://all' })
  const at = (...path: readonly string[]) =>
    `document://all#/${path.map((part) => part.replaceAll('/', '~1')).join('/')}`

  test('describes every event type with its headers and a schema that matches every body', () => {
    const operations = Object(document.webhooks)
    assert.deepEqual(Object.keys(operations), [...EVENT_TYPES])
    const bodies = everyBody(fixture)
    const content = ['post', 'requestBody', 'content', 'application/json', 'schema']
    for (const type of EVENT_TYPES) {
      const parameters: JsonObject[] = operations[type].post.parameters
      const names = parameters.map(({ name }) => name)
      assert.deepEqual(names, ['webhook-id', 'webhook-timestamp', 'webhook-signature'])
      const validate = ajv.compile({ $ref: at('webhooks', type, ...content) })
      const bytes = bodies.get(type) ?? assert.fail(type)
      const { data, ...rest } = read(bytes, type)
      assert.ok(validate({ ...rest, data }), `${type}: ${ajv.errorsText(validate.errors)}`)
      assert.ok(!validate({ ...rest, data: {} }), `${type} without data`)
      assert.ok(!validate({ ...rest, type: 'other', data }), `${type} by another name`)
    }
  })
})
