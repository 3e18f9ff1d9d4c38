// A new webhook event type needs only a descriptor and a table row.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { EngineView } from '../../actors/views.ts'
import { Webhooks } from '../../actors/webhooks/webhooks.ts'
import type { LifecycleUpdate } from '../../engine/events.ts'
import { silentLog } from '../../engine/process/log.ts'
import { seededRandom } from '../../engine/random.ts'
import { SecretBox } from '../../engine/webhooks/secret-box.ts'
import { webhookShareOf } from '../../engine/webhooks/webhook-share.ts'
import type { JsonObject } from '../../http/documents/schemas-of.ts'
import { createServer, type Server } from '../../http/server.ts'
import { EventBodies } from '../../http/webhooks/bodies.ts'
import { EVENTS } from '../../http/webhooks/types/event-types.ts'
import { FakeCaller } from '../support/fakes/caller.ts'
import { CrashingOutbox } from '../support/fakes/crashing-outbox.ts'
import { FakeEngine, type FakeMarket } from '../support/fakes/engine.ts'
import { ManualClock } from '../support/fakes/manual-clock.ts'
import { objectOf } from '../support/reference/asyncapi-validator.ts'
import { MemoryWebhooks } from '../support/reference/memory.ts'
import { PUBLIC_ONLY } from '../support/rigs/api-server.ts'
import { NAMES, NOON } from '../support/worlds/builders.ts'
import { settle } from '../support/worlds/webhook-world.ts'
import { marketClosed } from './toy-event.ts'

const TYPES = [...EVENTS, marketClosed]
const URL = 'https://example.com/hook'

/** Posts reach no receiver. */
async function open(types: typeof TYPES) {
  const clock = new ManualClock(NOON)
  const engine = new FakeEngine(clock)
  engine.accounts.make('ann', { tier: 'pro', requestsPerMinute: 1_000 })
  const caller = new FakeCaller(clock)
  const outbox = new CrashingOutbox()
  const { catalog, matches, metrics, publisher } = engine
  const webhooks = new Webhooks({
    storage: { webhooks: new MemoryWebhooks(), outbox, committed: async () => outbox.commit() },
    ...{ clock, caller, metrics, log: silentLog, box: new SecretBox('a key for tests') },
    random: seededRandom('toy event', 1),
    bodies: new EventBodies({ catalog, matches, clock, types, publicUrl: '' }),
    market: (number) => catalog.byNumber(number)?.summary ?? null,
    isAccountActive: () => true,
    shareOf: () => webhookShareOf({ tier: 'enterprise' }),
  })
  webhooks.start()
  publisher.watch(webhooks.watcher)
  const {
    version,
    data,
    epoch,
    accounts,
    sports,
    arbitrage,
    pastPrices,
    wallets,
    tradeLog,
    whaleLog,
  } = engine
  const view: EngineView = {
    ...{ version, data, epoch, catalog, accounts, sports, matches, pastPrices, webhooks, wallets },
    ...{ arbitrage, tradeLog, whaleLog },
    stats: () => engine.stats(),
    venues: () => engine.venues(),
    isStorageHealthy: () => true,
    delayMs: () => 0,
    bookAgeMsMax: 60_000,
    confirmBook: () => null,
    coverage: () => null,
    uptimeSeconds: () => 0,
  }
  const server = await createServer({
    ...{ engine: view, publisher, clock, metrics, log: silentLog, host: '127.0.0.1', port: 0 },
    ...{ corsOrigins: ['*'], trustedProxies: [], isMetricsPublic: false },
    ...{ webhookPolicy: PUBLIC_ONLY, eventTypes: types },
  })
  return { clock, engine, caller, webhooks, server }
}

const read = (text: string): JsonObject => objectOf(JSON.parse(text))

type World = Awaited<ReturnType<typeof open>>

function request({ port }: Server, path: string, body: unknown): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': 'ann-key', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

function closing({ publisher, clock }: FakeEngine, market: FakeMarket): LifecycleUpdate {
  const stamp = publisher.stamp('lifecycle', market.ref.number)
  const times = { venueTimeMs: clock.nowMs(), receivedAtMs: clock.nowMs() }
  const about = { market: market.ref, facts: market.summary, matchedMarket: null }
  return { kind: 'lifecycle', event: 'closed', ...about, ...stamp, ...times }
}

describe('new webhook event type', () => {
  let world: World
  before(async () => {
    world = await open(TYPES)
  })
  after(async () => {
    world.webhooks.stop()
    await world.server.stop()
  })

  test('creates webhooks, filters and posts events, and lists deliveries of an event type that consists of one table row', async () => {
    const { engine, caller, clock, server } = world
    const [one, other] = [engine.add('one'), engine.add('other')]
    const wanted = { url: URL, event_types: ['closed'], filters: { market_ids: [one.ref.id] } }
    const made = await request(server, '/v1/webhooks', wanted)
    assert.equal(made.status, 201)
    const webhook = read(await made.text())
    assert.deepEqual(webhook.event_types, ['market.closed'])
    const update = closing(engine, one)
    for (const published of [update, update, closing(engine, other)])
      engine.publisher.publish(published)
    await settle()
    clock.advance(1_000)
    await settle()
    const posts = caller.to(URL)
    assert.equal(posts.length, 1)
    const data = { market_id: one.ref.id, question: one.summary.question }
    const body: unknown = JSON.parse(posts[0]?.body ?? '')
    assert.deepEqual(body, { type: 'market.closed', timestamp: '2026-11-20T12:00:00.000Z', data })
    const path = `http://127.0.0.1:${server.port}/v1/webhooks/${String(webhook.id)}/deliveries`
    const listed = await fetch(path, { headers: { 'x-api-key': 'ann-key' } })
    const { deliveries } = read(await listed.text())
    assert.ok(Array.isArray(deliveries) && deliveries.length === 1)
    const { event_type, status } = objectOf(deliveries[0])
    assert.deepEqual([event_type, status], ['market.closed', 'delivered'])
  })

  test('lists a new webhook event type in the OpenAPI document with its filters, schema and example', async () => {
    const answer = await fetch(`http://127.0.0.1:${world.server.port}/openapi.json`)
    const { webhooks, components } = read(await answer.text())
    const { post } = objectOf(objectOf(webhooks)['market.closed'])
    const { summary, description, operationId } = objectOf(post)
    assert.equal(summary, 'A market stopped trading')
    assert.equal(operationId, 'onMarketClosed')
    assert.match(String(description), /`event_slugs`/)
    const lists = [
      ...JSON.stringify(components).matchAll(/"enum":\[([^\]]*"webhook\.test"[^\]]*)\]/g),
    ]
    assert.ok(lists.length > 1, 'of bodies and of answers')
    for (const [, list = ''] of lists) assert.match(list, /"market\.closed"/)
  })
})

test('rejects a webhook for an event type that has no table row', async () => {
  const { server, webhooks } = await open([...EVENTS])
  const refused = await request(server, '/v1/webhooks', { url: URL, event_types: ['closed'] })
  assert.equal(refused.status, 422)
  webhooks.stop()
  await server.stop()
})

test('matches each webhook event type’s example with its schema, and allows one manual type and at most one price type', () => {
  const ajv = new Ajv2020({ strict: false })
  for (const type of TYPES) {
    const validate = ajv.compile(JSON.parse(JSON.stringify(type.data(NAMES))))
    assert.ok(validate(type.example(NAMES)), `${type.name}: ${JSON.stringify(validate.errors)}`)
  }
  assert.equal(TYPES.filter(({ isManual }) => isManual).length, 1)
  assert.ok(TYPES.filter(({ comparesPrice }) => comparesPrice).length <= 1)
  assert.equal(new Set(TYPES.flatMap(({ name, shortNames }) => [name, ...shortNames])).size, 26)
})
