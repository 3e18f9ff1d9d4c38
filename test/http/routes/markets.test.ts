import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { EngineError } from '../../../engine/errors.ts'
import { timeMs, usdMicros } from '../../../engine/units.ts'
import { venueTable } from '../../../engine/venues/venues.ts'
import { MarketSchema, MarketsSchema } from '../../../http/records/markets.ts'
import { DetailSchema, ProblemsSchema } from '../../../http/schemas.ts'
import { successfulBodyOf } from '../../support/clients/successful-body.ts'
import type { FakeMarket } from '../../support/fakes/engine.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { type ApiServer, openApiServer } from '../../support/rigs/api-server.ts'
import { NOON } from '../../support/worlds/builders.ts'

const clock = new ManualClock(NOON + 250)
let server: ApiServer
let rain: FakeMarket

before(async () => {
  server = await openApiServer({ clock })
  rain = server.engine.add('Rain', {
    volume24h: usdMicros(9_000_000),
    closeAtMs: timeMs(NOON + 5_999),
  })
  for (let index = 1; index <= 24; index += 1) {
    server.engine.add(`m${index}`, {
      volume24h: usdMicros(index * 1_000_000),
      venue: index % 2 ? 'a' : 'b',
    })
  }
  server.engine.add('spain')
})
after(() => server.stop())

const got = <S extends TSchema>(schema: S, path: string, status = 200) =>
  successfulBodyOf(server, schema, path, status)

describe('GET /v1/markets', () => {
  test('lists each market once across pages, by descending volume', async () => {
    const seen: string[] = []
    let cursor = ''
    for (;;) {
      const page = await got(MarketsSchema, `/v1/markets?limit=7${cursor}`)
      seen.push(...page.markets.map((market) => market.id))
      // Volumes change between pages, but the pinned list does not.
      for (const market of server.engine.catalog.byId.values()) {
        market.volume24h = usdMicros((market.volume24h * 7919) % 50_000_000)
      }
      assert.equal(page.has_more, page.cursor !== null)
      if (page.cursor === null) break
      cursor = `&cursor=${page.cursor}`
    }
    assert.equal(seen.length, 26)
    assert.equal(new Set(seen).size, 26)
    assert.equal(seen[0], 'venue_b_m24')
  })

  test('answers 400 for a cursor that was edited, has expired, has different filters, or comes with an offset', async () => {
    const first = await got(MarketsSchema, '/v1/markets?limit=2&platform=venue_a')
    const { cursor } = first
    const again = await got(MarketsSchema, `/v1/markets?limit=3&platform=venue_a&cursor=${cursor}`)
    assert.equal(again.markets.length, 3, 'another limit is the same list')
    for (const query of [
      `cursor=${cursor}`,
      `cursor=${cursor}&platform=venue_b`,
      `cursor=${cursor}x&platform=venue_a`,
      `cursor=${cursor}&platform=venue_a&offset=2`,
      `cursor=x`,
    ]) {
      await got(DetailSchema, `/v1/markets?${query}`, 400)
    }
    server.engine.catalog.pins.clear()
    const expired = await got(DetailSchema, `/v1/markets?platform=venue_a&cursor=${cursor}`, 400)
    assert.match(expired.detail, /expired/)
  })

  test('applies filters, offsets and parameter aliases to the list of markets', async () => {
    const onB = await got(MarketsSchema, '/v1/markets?platform=venue_b&limit=200')
    assert.equal(onB.markets.length, 12)
    assert.ok(onB.markets.every((market) => market.platforms[0]?.platform === 'venue_b'))
    assert.equal((await got(MarketsSchema, '/v1/markets?offset=20&limit=200')).markets.length, 6)
    assert.equal((await got(MarketsSchema, '/v1/markets?status=closed')).markets.length, 0)
    const before = rain.summary
    rain.summary = { ...before, resolutionStatus: 'disputed' }
    const { markets } = await got(MarketsSchema, '/v1/markets?resolution_status=disputed')
    rain.summary = before
    assert.deepEqual(
      markets.map(({ id, status, resolution_status }) => [id, status, resolution_status]),
      [[rain.ref.id, 'open', 'disputed']],
    )
    for (const name of ['search', 'keyword', 'q']) {
      assert.equal((await got(MarketsSchema, `/v1/markets?${name}=spain`)).markets.length, 1)
    }
    assert.equal((await got(MarketsSchema, '/v1/markets?min_volume=1e300')).markets.length, 0)
    assert.equal((await got(MarketsSchema, '/v1/markets?min_total_volume=1e300')).markets.length, 0)
    await got(DetailSchema, '/v1/markets?start_ts=5&end_ts=4', 400)
    await got(DetailSchema, '/v1/markets?q=a&search=b', 400)
  })

  test('reports every invalid parameter of the list of markets', async () => {
    const bad = await got(
      ProblemsSchema,
      '/v1/markets?platform=polymarket&status=Open&limit=201&sort_by=relevance&start_ts=1700000000000',
      422,
    )
    assert.deepEqual(
      bad.detail.map(({ loc, type }) => `${loc[1]} ${type}`),
      [
        'platform enum',
        'status enum',
        'start_ts less_than_equal',
        'sort_by enum',
        'limit less_than_equal',
      ],
    )
    for (const limit of ['Infinity', '1e400', '9e99', '0x1', '200.5', '-1']) {
      await got(ProblemsSchema, `/v1/markets?limit=${limit}`, 422)
    }
  })
})

describe('GET /v1/markets/search', () => {
  test('requires a search text of at least two characters, and accepts `q` and sorting by relevance', async () => {
    await got(ProblemsSchema, '/v1/markets/search', 422)
    const short = await got(ProblemsSchema, '/v1/markets/search?search=%F0%9F%98%80', 422)
    assert.equal(short.detail[0]?.type, 'string_too_short')
    const found = await got(MarketsSchema, '/v1/markets/search?q=rain&sort_by=relevance&limit=100')
    assert.equal(found.markets[0]?.id, 'venue_a_Rain')
    await got(ProblemsSchema, '/v1/markets/search?q=rain&limit=101', 422)
    await got(ProblemsSchema, `/v1/markets/search?q=${'x'.repeat(201)}`, 422)
  })
})

describe('slow market lists and searches', () => {
  test('answers 503 to a search when the search queue is full, and lists all markets for a blank search text', async () => {
    const { catalog } = server.engine
    const search = catalog.search
    catalog.search = async () => {
      throw new EngineError('UNAVAILABLE', 'too many searches wait')
    }
    await got(DetailSchema, '/v1/markets?search=rain', 503)
    await got(DetailSchema, '/v1/markets/search?q=rain', 503)
    for (const path of ['/v1/markets?search=++', '/v1/markets/search?q=++&sort_by=relevance']) {
      assert.equal((await got(MarketsSchema, path)).markets.length, 20)
    }
    catalog.search = search
  })

  test('pages through search results with cursors that are valid for one search text', async () => {
    const first = await got(MarketsSchema, '/v1/markets/search?q=happen&limit=15')
    const second = await got(
      MarketsSchema,
      `/v1/markets/search?q=happen&limit=15&cursor=${first.cursor}`,
    )
    assert.equal(new Set([...first.markets, ...second.markets].map(({ id }) => id)).size, 26)
    assert.equal(second.has_more, false)
    const other = `/v1/markets/search?q=rain&limit=15&cursor=${first.cursor}`
    await got(DetailSchema, other, 400)
  })

  test('writes all records of a page over several event-loop ticks when writing is slow', async () => {
    const quick = await got(MarketsSchema, '/v1/markets?limit=200')
    let tick = 0
    const ticks = new Set<number>()
    const count = () => {
      tick += 1
      if (tick < 100_000) setImmediate(count)
    }
    for (const market of server.engine.catalog.byId.values()) {
      // A new summary, as after a new listing, invalidates the cached record.
      market.summary = { ...market.summary }
      const details = market.details()
      market.details = () => {
        clock.advance(1)
        ticks.add(tick)
        return details
      }
    }
    setImmediate(count)
    const slow = await got(MarketsSchema, '/v1/markets?limit=200')
    tick = 100_000
    assert.deepEqual(slow, quick)
    assert.ok(ticks.size >= 26 / 3, `${ticks.size} turns for ${slow.markets.length} records`)
  })
})

describe('GET /v1/markets/{market_id}', () => {
  test('returns one market with all fields, by its id in any letter case', async () => {
    rain.volume24h = usdMicros(1_250_000)
    const market = await got(MarketSchema, '/v1/markets/VENUE_A_rAIN')
    assert.equal(market.id, 'venue_a_Rain')
    assert.equal(market.description, 'Rules of Rain.')
    assert.equal(market.volume_24h, 1.25)
    assert.equal(market.close_time, NOON / 1000 + 5, 'seconds, rounded down')
    assert.deepEqual(
      market.outcomes.map(({ label }) => label),
      ['Yes', 'No'],
    )
    assert.equal(market.platforms[0]?.native_id, 'Rain')
  })

  test('answers 404 for an unknown market id', async () => {
    for (const id of ['venue_a_none', 'Rain', 'venue_c_Rain', '%00', 'x'.repeat(3000)]) {
      await got(DetailSchema, `/v1/markets/${id}`, 404)
      await got(DetailSchema, `/v1/markets/${id}/price`, 404)
      await got(DetailSchema, `/v1/markets/${id}/orderbook`, 404)
      await got(DetailSchema, `/v1/markets/${id}/trades`, 404)
    }
  })
})

test('accepts and returns the configured venue names and no others', async () => {
  const names = venueTable({ a: 'polymarket', b: 'kalshi' })
  const renamed = await openApiServer({ names })
  renamed.engine.add('Rain')
  const market = await renamed.get('/v1/markets/polymarket_rain')
  assert.ok(Value.Check(MarketSchema, market.body))
  assert.equal(market.body.id, 'polymarket_Rain')
  assert.equal(market.body.platforms[0]?.platform, 'polymarket')
  assert.equal((await renamed.get('/v1/markets/venue_a_Rain')).status, 404)
  assert.equal((await renamed.get('/v1/markets?platform=kalshi')).status, 200)
  const refused = await renamed.get('/v1/markets?platform=venue_a')
  assert.match(refused.text, /Input should be 'polymarket' or 'kalshi'/)
  const health = await renamed.get('/health')
  assert.deepEqual(health.body.exchanges, { polymarket: true, kalshi: true })
  await renamed.stop()
})
