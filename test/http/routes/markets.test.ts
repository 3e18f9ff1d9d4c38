// Markets, prices and books through HTTP; every answer is checked against its schema.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { VenueNames } from '../../../engine/ids.ts'
import { priceMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import {
  DetailSchema,
  MarketSchema,
  MarketsSchema,
  OrderbookSchema,
  PriceSchema,
  ProblemsSchema,
} from '../../../http/schemas.ts'
import { ask, bid, level, NOON } from '../../support/builders.ts'
import { type Face, openFace } from '../../support/face.ts'
import type { FakeMarket } from '../../support/fake-engine.ts'
import { ManualClock } from '../../support/manual-clock.ts'

const clock = new ManualClock(NOON + 250)
let face: Face
let rain: FakeMarket

before(async () => {
  face = await openFace({ clock })
  rain = face.engine.add('Rain', {
    volume24h: usdMicros(9_000_000),
    closeAtMs: timeMs(NOON + 5_999),
  })
  for (let index = 1; index <= 24; index += 1) {
    face.engine.add(`m${index}`, {
      volume24h: usdMicros(index * 1_000_000),
      venue: index % 2 ? 'a' : 'b',
    })
  }
  face.engine.add('spain', {
    outcomes: [...rain.summary.outcomes].map((outcome, index) => ({
      ...outcome,
      label: index === 0 ? 'Spain' : 'Over 2.5',
    })),
  })
})
after(() => face.stop())

/** Gets a path and checks its status and shape. */
async function got<S extends TSchema>(schema: S, path: string, status = 200): Promise<Static<S>> {
  const answer = await face.get(path)
  assert.equal(answer.status, status, `${path} ${answer.text}`)
  const first = [...Value.Errors(schema, answer.body)][0]
  assert.ok(Value.Check(schema, answer.body), `${path}: ${first?.path} ${first?.message}`)
  return answer.body
}

describe('GET /v1/markets', () => {
  test('[MARKETS1] markets come by volume, most first, and pages make up the whole list once', async () => {
    const seen: string[] = []
    let cursor = ''
    for (;;) {
      const page = await got(MarketsSchema, `/v1/markets?limit=7${cursor}`)
      seen.push(...page.markets.map((market) => market.id))
      // Volumes move while the client pages; its pinned list does not.
      for (const market of face.engine.catalog.byId.values()) {
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

  test('[PAGE1] a cursor of other filters, edited, expired, or beside an offset is 400', async () => {
    const first = await got(MarketsSchema, '/v1/markets?limit=2&platform=venue_a')
    const { cursor } = first
    const again = await got(MarketsSchema, `/v1/markets?limit=3&platform=venue_a&cursor=${cursor}`)
    assert.equal(again.markets.length, 3, 'another limit is the same list')
    for (const query of [
      `cursor=${cursor}`,
      `cursor=${cursor}&platform=venue_b`,
      `cursor=${cursor}x&platform=venue_a`,
      `cursor=${cursor}&platform=venue_a&offset=2`,
      `cursor=`,
    ]) {
      await got(DetailSchema, `/v1/markets?${query}`, 400)
    }
    face.engine.catalog.pins.clear()
    const expired = await got(DetailSchema, `/v1/markets?platform=venue_a&cursor=${cursor}`, 400)
    assert.match(expired.detail, /expired/)
  })

  test('[MARKETS2] filters and offsets are passed on, aliases too', async () => {
    const onB = await got(MarketsSchema, '/v1/markets?platform=venue_b&limit=200')
    assert.equal(onB.markets.length, 12)
    assert.ok(onB.markets.every((market) => market.platforms[0]?.platform === 'venue_b'))
    assert.equal((await got(MarketsSchema, '/v1/markets?offset=20&limit=200')).markets.length, 6)
    assert.equal((await got(MarketsSchema, '/v1/markets?status=closed')).markets.length, 0)
    for (const name of ['search', 'keyword', 'q']) {
      assert.equal((await got(MarketsSchema, `/v1/markets?${name}=spain`)).markets.length, 1)
    }
    assert.equal((await got(MarketsSchema, '/v1/markets?min_volume=1e300')).markets.length, 0)
    await got(DetailSchema, '/v1/markets?start_ts=5&end_ts=4', 400)
    await got(DetailSchema, '/v1/markets?q=a&search=b', 400)
  })

  test('[MARKETS2] every bad parameter is named', async () => {
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
  test('[MARKETS3] a search of two characters at least, also as q, by relevance too', async () => {
    await got(ProblemsSchema, '/v1/markets/search', 422)
    const short = await got(ProblemsSchema, '/v1/markets/search?search=%F0%9F%98%80', 422)
    assert.equal(short.detail[0]?.type, 'string_too_short')
    const found = await got(MarketsSchema, '/v1/markets/search?q=rain&sort_by=relevance&limit=100')
    assert.equal(found.markets[0]?.id, 'venue_a_Rain')
    await got(ProblemsSchema, '/v1/markets/search?q=rain&limit=101', 422)
    await got(ProblemsSchema, `/v1/markets/search?q=${'x'.repeat(201)}`, 422)
  })
})

describe('GET /v1/markets/{market_id}', () => {
  test('[MARKETS4] one market, found in any case, with all its fields', async () => {
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

  test('[MARKETS4] an unknown id is 404', async () => {
    for (const id of ['venue_a_none', 'Rain', 'venue_c_Rain', '%00', 'x'.repeat(3000)]) {
      await got(DetailSchema, `/v1/markets/${id}`, 404)
      await got(DetailSchema, `/v1/markets/${id}/price`, 404)
      await got(DetailSchema, `/v1/markets/${id}/orderbook`, 404)
      await got(DetailSchema, `/v1/markets/${id}/trades`, 404)
    }
  })
})

describe('GET /v1/markets/{market_id}/price', () => {
  test('[MARKETS5] the present price, never observed after its at_time, and its complement', async () => {
    rain.reprice(415_000)
    const yes = await got(PriceSchema, '/v1/markets/venue_a_Rain/price')
    assert.equal(yes.price, 0.415)
    assert.equal(yes.source, 'midpoint')
    assert.ok(yes.timestamp_ms <= yes.at_time * 1000)
    const no = await got(PriceSchema, '/v1/markets/venue_a_Rain/price?outcome=NO')
    assert.equal(no.price, 0.585)
    assert.equal(no.outcome, 'No')
  })

  test('[MARKETS5] a past price, or 404 before the first and 400 in the future', async () => {
    rain.past.length = 0
    rain.past.push({ price: priceMicros(300_000), timeMs: timeMs(NOON - 60_000) })
    rain.past.push({ price: priceMicros(200_000), timeMs: timeMs(NOON - 30_000) })
    const at = NOON / 1000 - 31
    const past = await got(PriceSchema, `/v1/markets/venue_a_Rain/price?at_time=${at}`)
    const { price, at_time, timestamp_ms, source } = past
    assert.deepEqual(
      { price, at_time, timestamp_ms, source },
      { price: 0.3, at_time: at, timestamp_ms: NOON - 60_000, source: 'history' },
    )
    await got(DetailSchema, `/v1/markets/venue_a_Rain/price?at_time=${at - 60}`, 404)
    await got(DetailSchema, '/v1/markets/venue_a_Rain/price?at_time=-99999999999999', 404)
    await got(DetailSchema, `/v1/markets/venue_a_Rain/price?at_time=${NOON / 1000 + 100}`, 400)
    await got(ProblemsSchema, `/v1/markets/venue_a_Rain/price?at_time=${NOON}`, 422)
  })

  test('[MARKETS6] an outcome is a label or yes and no; another is 400 and names the labels', async () => {
    const path = '/v1/markets/venue_a_spain/price?outcome='
    assert.equal((await got(PriceSchema, `${path}over+2.5`)).outcome, 'Over 2.5')
    assert.equal((await got(PriceSchema, `${path}Yes`)).outcome, 'Spain')
    assert.match((await got(DetailSchema, `${path}Italy`, 400)).detail, /Spain and Over 2\.5/)
  })
})

describe('GET /v1/markets/{market_id}/orderbook', () => {
  const path = '/v1/markets/venue_a_Rain/orderbook'

  test('[MARKETS7] a market without a book yet is empty and stale', async () => {
    const book = await got(OrderbookSchema, path)
    assert.deepEqual(book.bids, [])
    assert.equal(book.stale, true)
    assert.equal(book.spread, null)
    assert.equal(book.mid_price, null)
    assert.equal(book.age_ms, null)
  })

  test('[MARKETS7] levels best first, cut at depth, with seq, epoch and age', async () => {
    rain.replace([level(0.4, 10), level(0.38, 5)], [level(0.45, 7), level(0.5, 0.000001)])
    rain.change(bid(0.41, 2), ask(0.45, 0))
    clock.advance(1_500)
    const book = await got(OrderbookSchema, path)
    assert.deepEqual(
      book.bids.map(({ price, size }) => [price, size]),
      [
        [0.41, 2],
        [0.4, 10],
        [0.38, 5],
      ],
    )
    assert.deepEqual(book.asks, [{ price: 0.5, size: 0.000001, platform: 'venue_a' }])
    assert.equal(book.spread, 0.09)
    assert.equal(book.mid_price, 0.455)
    assert.equal(book.seq, 1)
    assert.equal(book.epoch, 'k3f9c2')
    assert.equal(book.stale, false)
    assert.equal(book.age_ms, 1_500)
    const cut = await got(OrderbookSchema, `${path}?depth=1&consolidated=true`)
    assert.equal(cut.bids.length, 1)
    await got(ProblemsSchema, `${path}?depth=1001`, 422)
    await got(ProblemsSchema, `${path}?consolidated=maybe`, 422)
  })

  test('[MARKETS8] the second outcome’s book is the first’s, turned over', async () => {
    const book = await got(OrderbookSchema, `${path}?outcome=No`)
    assert.deepEqual(
      book.bids.map(({ price }) => price),
      [0.5],
    )
    assert.deepEqual(
      book.asks.map(({ price }) => price),
      [0.59, 0.6, 0.62],
    )
    assert.equal(book.outcome, 'No')
  })
})

test('[MARKETS9] configured venue names are the only ones accepted and shown', async () => {
  const names = new VenueNames({ a: 'polymarket', b: 'kalshi' })
  const renamed = await openFace({ names })
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
