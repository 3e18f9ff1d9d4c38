import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { TSchema } from '@sinclair/typebox'
import { seededRandom } from '../../../engine/random.ts'
import { OrderbooksSchema } from '../../../http/routes/orderbooks.ts'
import { DetailSchema, OrderbookSchema, ProblemsSchema } from '../../../http/schemas.ts'
import { successfulBodyOf } from '../../support/clients/successful-body.ts'
import type { FakeMarket } from '../../support/fakes/engine.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { type ApiServer, openApiServer } from '../../support/rigs/api-server.ts'
import { ask, bid, level, NOON } from '../../support/worlds/builders.ts'

const clock = new ManualClock(NOON + 250)
let server: ApiServer
let rain: FakeMarket
let snow: FakeMarket

before(async () => {
  server = await openApiServer({ clock })
  rain = server.engine.add('Rain')
  snow = server.engine.add('Snow', { venue: 'b' })
})
after(() => server.stop())

const got = <S extends TSchema>(schema: S, path: string, status = 200) =>
  successfulBodyOf(server, schema, path, status)

const path = '/v1/markets/venue_a_Rain/orderbook'
const flat = (levels: readonly { price: number; size: number }[]) =>
  levels.map(({ price, size }) => [price, size])

describe('GET /v1/markets/{market_id}/orderbook', () => {
  test('returns an empty, stale book for a market without book data', async () => {
    const book = await got(OrderbookSchema, path)
    assert.deepEqual(book.bids, [])
    assert.equal(book.stale, true)
    assert.equal(book.spread, null)
    assert.equal(book.mid_price, null)
    assert.equal(book.age_ms, null)
    assert.equal(book.timestamp_ms, clock.nowMs())
    clock.advance(1_000)
    assert.equal((await got(OrderbookSchema, path)).timestamp_ms, clock.nowMs())
  })

  test('marks a book as stale while data of its venue waits for processing, also in a consolidated book', async () => {
    rain.replace([level(0.4, 10)], [level(0.5, 7)])
    assert.equal((await got(OrderbookSchema, path)).stale, false)
    rain.isBehind = true
    for (const query of ['', '?depth=1', '?outcome=No']) {
      const book = await got(OrderbookSchema, path + query)
      assert.deepEqual([book.stale, book.stale_reason], [true, 'delayed'], query)
    }
    rain.isBehind = false
    const book = await got(OrderbookSchema, path)
    assert.deepEqual([book.stale, book.stale_reason], [false, null])
  })

  test('returns the reason why a book is stale', async () => {
    rain.markStale('contradicted_by_trade')
    assert.equal((await got(OrderbookSchema, path)).stale_reason, 'contradicted_by_trade')
    rain.confirm()
    assert.equal((await got(OrderbookSchema, path)).stale_reason, null)
  })

  test('returns book levels from the best price up to the requested depth, with seq, epoch and age', async () => {
    rain.replace([level(0.4, 10), level(0.38, 5)], [level(0.45, 7), level(0.5, 0.000001)])
    rain.change(bid(0.41, 2), ask(0.45, 0))
    clock.advance(1_500)
    const book = await got(OrderbookSchema, path)
    const best = [
      [0.41, 2],
      [0.4, 10],
      [0.38, 5],
    ]
    assert.deepEqual(flat(book.bids), best)
    assert.deepEqual(book.asks, [{ price: 0.5, size: 0.000001, platform: 'venue_a' }])
    assert.equal(book.spread, 0.09)
    assert.equal(book.mid_price, 0.455)
    assert.equal(book.seq, 1)
    assert.equal(book.epoch, 'k3f9c2')
    assert.equal(book.stale, false)
    assert.equal(book.age_ms, 1_500)
    clock.advance(50)
    assert.equal((await got(OrderbookSchema, path)).age_ms, 1_550)
    const cut = await got(OrderbookSchema, `${path}?depth=1&consolidated=true`)
    assert.equal(cut.bids.length, 1)
    await got(ProblemsSchema, `${path}?depth=1001`, 422)
    await got(ProblemsSchema, `${path}?consolidated=maybe`, 422)
  })

  test('returns the inverted book for the second outcome', async () => {
    const book = await got(OrderbookSchema, `${path}?outcome=No`)
    assert.deepEqual(flat(book.bids), [[0.5, 0.000001]])
    assert.deepEqual(
      book.asks.map(({ price }) => price),
      [0.59, 0.6, 0.62],
    )
    assert.equal(book.outcome, 'No')
  })
})

describe('orderbook request with consolidated=true', () => {
  test('returns the market’s own book when the market has no matched market', async () => {
    for (const query of ['', '&outcome=No', '&depth=2']) {
      const one = await server.get(`${path}?consolidated=true${query}`)
      assert.equal(one.text, (await server.get(`${path}?consolidated=off${query}`)).text)
    }
  })

  test('lists equal prices of two venues as two levels, the requested market’s level first, and allows crossed books', async () => {
    server.engine.matches.put(rain, snow)
    rain.replace([level(0.41, 2), level(0.4, 10)], [level(0.5, 1)])
    clock.advance(700)
    snow.replace([level(0.52, 3), level(0.4, 4)], [level(0.5, 6), level(0.6, 1)])
    clock.advance(300)
    const book = await got(OrderbookSchema, `${path}?consolidated=true`)
    assert.deepEqual(book.bids, [
      { price: 0.52, size: 3, platform: 'venue_b' },
      { price: 0.41, size: 2, platform: 'venue_a' },
      { price: 0.4, size: 10, platform: 'venue_a' },
      { price: 0.4, size: 4, platform: 'venue_b' },
    ])
    assert.deepEqual(book.asks, [
      { price: 0.5, size: 1, platform: 'venue_a' },
      { price: 0.5, size: 6, platform: 'venue_b' },
      { price: 0.6, size: 1, platform: 'venue_b' },
    ])
    assert.deepEqual([book.spread, book.mid_price, book.stale], [-0.02, 0.51, false])
    assert.deepEqual([book.age_ms, book.timestamp_ms], [1_000, clock.nowMs() - 300])
    const other = await got(OrderbookSchema, '/v1/markets/venue_b_Snow/orderbook?consolidated=1')
    assert.equal(other.asks[0]?.platform, 'venue_b')
    snow.isStale = true
    assert.equal((await got(OrderbookSchema, `${path}?consolidated=true`)).stale, true)
    assert.equal((await got(OrderbookSchema, path)).stale, false)
    snow.isStale = false
  })

  test('sorts and inverts both books before limiting the depth', async () => {
    const random = seededRandom('consolidated')
    for (let round = 0; round < 60; round += 1) {
      for (const market of [rain, snow]) {
        const side = () =>
          Array.from({ length: random.below(9) }, () =>
            level((1 + random.below(99)) / 100, 1 + random.below(5)),
          )
        market.replace(side(), side())
      }
      const depth = 1 + random.below(12)
      const isNo = random.below(2) === 1
      const query = `consolidated=true&depth=${depth}${isNo ? '&outcome=no' : ''}`
      const book = await got(OrderbookSchema, `${path}?${query}`)
      for (const side of ['bids', 'asks'] as const) {
        const sign = side === 'bids' ? -1 : 1
        const source = isNo ? (side === 'bids' ? 'asks' : 'bids') : side
        const both = [rain, snow].flatMap((market) =>
          market.book()[source].map(({ price, size }) => ({
            price: (isNo ? 1_000_000 - price : price) / 1e6,
            size: size / 1e6,
            platform: market.ref.platform,
          })),
        )
        // A stable sort keeps the level of the requested market first at equal prices.
        both.sort((one, two) => sign * (one.price - two.price))
        assert.deepEqual(book[side], both.slice(0, depth))
      }
    }
  })
})

describe('GET /v1/orderbooks', () => {
  test('returns the same books as the single-market route, limited by depth', async () => {
    for (const query of ['', 'depth=1']) {
      const all = await got(
        OrderbooksSchema,
        `/v1/orderbooks?ids=venue_b_snow,x,venue_a_rain&${query}`,
      )
      assert.deepEqual(all.missing, ['x'])
      assert.deepEqual(
        all.orderbooks.map(({ market_id }) => market_id),
        ['venue_b_Snow', 'venue_a_Rain'],
      )
      for (const book of all.orderbooks) {
        const alone = `/v1/markets/${book.market_id}/orderbook?${query}`
        assert.deepEqual(book, await got(OrderbookSchema, alone))
      }
    }
    await got(ProblemsSchema, '/v1/orderbooks?ids=x&depth=0', 422)
    await got(ProblemsSchema, '/v1/orderbooks?depth=5', 422)
    await got(DetailSchema, '/v1/orderbooks?ids=x&market_ids=y', 400)
  })
})
