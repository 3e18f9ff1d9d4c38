import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Value } from '@sinclair/typebox/value'
import { EngineError } from '../../../engine/errors.ts'
import type { EventListing, MarketListing } from '../../../engine/market/market.ts'
import { seededRandom } from '../../../engine/random.ts'
import { usdMicros } from '../../../engine/units.ts'
import { EventSchema, EventsSchema, MarketRecords } from '../../../http/records/markets.ts'
import type { Answer } from '../../../http/request/reply.ts'
import { eventRoutes } from '../../../http/routes/events.ts'
import { parseQuery } from '../../../http/validation/query.ts'
import { eventListing, listing } from '../../support/worlds/builders.ts'
import { emptyCatalog, RandomCatalog } from '../../support/worlds/random-catalog.ts'

const SEEDS = process.env.TEST_LONG === '1' ? 20 : 6

type Opened = Pick<ReturnType<typeof emptyCatalog>, 'catalog' | 'clock'>

function bytesOf({ body }: Answer): Uint8Array {
  return typeof body === 'string' ? Buffer.from(body) : (body ?? new Uint8Array(0))
}

/** Calls a route as the request wrapper does. */
function openRoutes({ catalog, clock }: Opened) {
  const records = new MarketRecords({ matchedMarketOf: () => null })
  const [list, one] = eventRoutes({ catalog, clock, records })
  assert.ok(list !== undefined && one !== undefined)
  return async (path: string, slug: string | null = null) => {
    const raw = parseQuery(path)
    assert.ok(raw !== null)
    const facts = {
      caller: null,
      signal: () => new AbortController().signal,
      address: '::1',
      isLocal: true,
      requester: () => ['test'],
      dashboard: null,
      header: () => '',
      path: () => slug ?? '',
    }
    const route = slug === null ? list : one
    const answer = await route.respond(facts, raw, new Uint8Array(0))
    const body = JSON.parse(new TextDecoder().decode(bytesOf(answer)))
    if (answer.status === 200) {
      const schema = slug === null ? EventsSchema : EventSchema
      assert.deepEqual([...Value.Errors(schema, body)], [])
    }
    return { ...answer, body }
  }
}

/** `counts` are the numbers of markets. The first market of each event has the highest volume. */
function opened(counts: readonly number[]): Opened {
  const open = emptyCatalog()
  for (const [index, count] of counts.entries()) {
    const event: EventListing = eventListing(`e${index}`, { title: `Event number ${index}` })
    const markets: MarketListing[] = Array.from({ length: count }, (_, position) =>
      listing(`m${index}-${position}`, {
        event: event.nativeId,
        volume24h: usdMicros((1_000 * (index + 1) - position) * 1_000),
      }),
    )
    open.catalog.take({ markets, events: [event] })
  }
  return open
}

test('lists events by volume with at most ten markets each, and returns the total number of markets of each event', async () => {
  const get = openRoutes(opened([2, 12]))
  const { body } = await get('limit=5')
  assert.deepEqual(
    body.events.map((event: { slug: string }) => event.slug),
    ['event-e1', 'event-e0'],
  )
  const [first] = body.events
  assert.deepEqual([first.markets.length, first.market_count], [10, 12])
  assert.equal(first.markets[0].slug, 'slug-m1-0')
  assert.deepEqual([body.total, body.cursor, body.has_more], [2, null, false])
  const { markets: _, ...facts } = body.events[1]
  assert.deepEqual(facts, {
    slug: 'event-e0',
    title: 'Event number 0',
    status: 'open',
    market_count: 2,
    total_volume_24h: 1.999,
    platforms: ['venue_a'],
    total_volume: 10,
    volume_unit: 'usd_traded',
    category: 'Politics',
    tags: [],
  })
  const without = await get('include_markets=false')
  assert.deepEqual(without.body.events[0].markets, [])
  assert.equal(without.body.events[0].market_count, 12)
})

test('applies filters to the list of events, and reports every invalid parameter', async () => {
  const get = openRoutes(opened([1, 1, 1]))
  const slugs = async (path: string) =>
    (await get(path)).body.events.map((event: { slug: string }) => event.slug)
  assert.deepEqual(await slugs('search=NUMBER+2&platform=venue_a&status=open'), ['event-e2'])
  assert.deepEqual(await slugs('search=%20%20&category=POLITICS&limit=1'), ['event-e2'])
  assert.deepEqual(await slugs('platform=venue_b'), [])
  assert.deepEqual(await slugs('min_volume=2.5'), ['event-e2'])
  assert.deepEqual(await slugs('min_volume=1e300'), [])
  assert.deepEqual(await slugs('min_total_volume=1e300'), [])
  assert.deepEqual(await slugs('tags=none,any'), [])
  assert.deepEqual(await slugs('offset=2'), ['event-e0'])
  const bad = await get('platform=x&status=y&limit=201&offset=-1&include_markets=maybe')
  assert.equal(bad.status, 422)
  assert.deepEqual(
    bad.body.detail.map(({ loc }: { loc: string[] }) => loc[1]),
    ['platform', 'status', 'include_markets', 'limit', 'offset'],
  )
})

test('returns every event once across pages while data changes, and rejects a cursor of a different list', async () => {
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const random = seededRandom('event pages', seed)
    const world = new RandomCatalog(random, 60)
    const get = openRoutes(world)
    const all = (await get('limit=200&include_markets=false')).body
    const seen: string[] = []
    let query = 'limit=3'
    for (;;) {
      const { body } = await get(query)
      assert.equal(body.total, all.total)
      assert.equal(body.has_more, body.cursor !== null)
      for (const event of body.events) seen.push(`${event.platforms[0]} ${event.slug}`)
      if (body.cursor === null) break
      query = `limit=${1 + random.below(4)}&cursor=${body.cursor}`
      for (let moves = random.below(10); moves > 0; moves -= 1) world.stir()
    }
    assert.equal(new Set(seen).size, seen.length, `seed ${seed}: nothing twice`)
    const start = all.events.map(
      (event: { platforms: string[]; slug: string }) => `${event.platforms[0]} ${event.slug}`,
    )
    assert.deepEqual(
      seen,
      start.filter((name: string) => seen.includes(name)),
    )
  }
  const get = openRoutes(opened([1, 1, 1]))
  const { cursor } = (await get('limit=1')).body
  for (const bad of [`cursor=${cursor}&status=open`, `cursor=${cursor}&offset=1`, 'cursor=abc']) {
    await assert.rejects(
      () => get(bad),
      (error) => error instanceof EngineError && error.status === 400,
    )
  }
})

test('returns one event with at most five hundred markets, and 404 for an unknown event', async () => {
  const get = openRoutes(opened([1, 510]))
  const { body } = await get('', 'EVENT-e1')
  assert.equal(body.slug, 'event-e1')
  assert.deepEqual([body.markets.length, body.market_count], [500, 510])
  assert.equal(body.markets[499].slug, 'slug-m1-499')
  assert.deepEqual((await get('include_markets=false', 'event-e1')).body.markets, [])
  await assert.rejects(
    () => get('', 'none'),
    (error) => error instanceof EngineError && error.status === 404,
  )
})

test('yields to the event loop while writing a page of two thousand markets', async () => {
  const open = opened(Array.from({ length: 200 }, () => 10))
  // Each clock read advances the time, as slow reads from disk do.
  let nowMs = 0
  open.clock.monotonicMs = () => {
    nowMs += 0.1
    return nowMs
  }
  const get = openRoutes(open)
  let ticks = 0
  let isDone = false
  const count = () => {
    ticks += 1
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const { body } = await get('limit=200').finally(() => {
    isDone = true
  })
  assert.equal(body.events.length, 200)
  assert.equal(
    body.events.every((event: { markets: unknown[] }) => event.markets.length === 10),
    true,
  )
  assert.ok(ticks > 10, `the loop went round ${ticks} times`)
})
