import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { FakeDemand } from '../../support/fakes/book-demand.ts'
import type { FakeMarket } from '../../support/fakes/engine.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { type ApiServer, openApiServer } from '../../support/rigs/api-server.ts'
import { level, NOON } from '../../support/worlds/builders.ts'

describe('requests for books of markets that are not covered', () => {
  const clock = new ManualClock(NOON)
  let server: ApiServer
  let rain: FakeMarket
  let snow: FakeMarket
  let demand: FakeDemand
  let owner: string

  before(async () => {
    server = await openApiServer({ clock })
    rain = server.engine.add('Rain')
    snow = server.engine.add('Snow', { venue: 'b' })
    owner = server.engine.accounts.callerOfKey('ann-key')?.accountId ?? assert.fail()
  })
  after(() => server.stop())
  beforeEach(() => {
    demand = new FakeDemand(clock)
    server.engine.coverage = () => demand
    for (const market of [rain, snow]) market.markStale('not_covered')
  })

  const cover = (market: FakeMarket) => {
    market.replace([level(0.4, 1)], [level(0.5, 1)])
    demand.waits.end(market.ref.number)
  }
  const get = async (path: string) => {
    const { status, text, body } = await server.get(path)
    assert.equal(status, 200, text)
    return body
  }
  const book = '/v1/markets/venue_a_Rain/orderbook'

  const ofRain = [
    '/v1/markets/venue_a_Rain',
    '/v1/markets/venue_a_Rain/price',
    book,
    '/v1/orderbooks?market_ids=venue_a_Rain',
    '/v1/prices?market_ids=venue_a_Rain',
    '/v1/venue_a/markets/Rain',
  ]
  for (const path of ofRain) {
    test(`covers the market and waits for the first book when ${path} is requested`, async () => {
      const waited: number[] = []
      demand.onWait = (market) => {
        waited.push(market)
        cover(rain)
      }
      await get(path)
      assert.deepEqual(demand.requests, [[rain.ref.number, owner]])
      assert.deepEqual(waited, [rain.ref.number])
    })
  }

  const ofNone = [
    '/v1/markets',
    '/v1/markets/search?search=rain',
    `/v1/markets/venue_a_Rain/price?at_time=${NOON / 1_000 - 60}`,
    '/v1/markets/venue_a_Rain/candles?interval=1h',
    '/v1/markets/venue_a_Rain/trades',
    '/v1/markets/venue_a_Rain/orderbook/history',
    '/v1/venue_a/markets',
  ]
  for (const path of ofNone) {
    test(`does not cover the market when ${path} is requested`, async () => {
      await server.get(path)
      assert.deepEqual(demand.requests, [])
    })
  }

  test('returns the first book of a market when the book arrives within 2 s', async () => {
    demand.onWait = () => cover(rain)
    const { stale, stale_reason, bids } = await get(book)
    assert.deepEqual([stale, stale_reason], [false, null])
    assert.equal(Array.isArray(bids) && bids.length, 1)
  })

  test('returns a stale book with its reason when no book arrives within 2 s', async () => {
    const startedMs = clock.monotonicMs()
    demand.onWait = () => clock.advance(2_000)
    const { stale, stale_reason } = await get(book)
    assert.deepEqual([stale, stale_reason], [true, 'not_covered'])
    assert.equal(clock.monotonicMs() - startedMs, 2_000)
  })

  test('does not wait for a book when coverage is refused, or when the book is live or stale for another reason', async () => {
    demand.onWait = () => assert.fail('waits')
    demand.refused.add(rain.ref.number)
    assert.equal((await get(book)).stale_reason, 'not_covered')
    demand.refused.clear()
    cover(rain)
    assert.equal((await get(book)).stale_reason, null)
    rain.markStale('disconnected')
    assert.equal((await get(book)).stale_reason, 'disconnected')
    assert.equal(demand.requests.length, 2, 'each request extends the coverage')
  })

  test('does not cover a market that is not open', async () => {
    const { summary } = rain
    rain.summary = { ...summary, status: 'closed' }
    await get(book)
    rain.summary = summary
    assert.deepEqual(demand.requests, [])
  })

  test('waits at the same time for all books that a request names', async () => {
    const waiting: FakeMarket[] = []
    demand.onWait = (market) => {
      waiting.push(market === rain.ref.number ? rain : snow)
      if (waiting.length === 2) for (const each of waiting) cover(each)
    }
    const { orderbooks } = await get('/v1/orderbooks?market_ids=venue_a_Rain,venue_b_Snow')
    assert.ok(Array.isArray(orderbooks))
    assert.deepEqual(
      orderbooks.map(({ stale }) => stale),
      [false, false],
    )
  })

  test('covers the markets of both legs when an arbitrage quote is requested', async () => {
    demand.onWait = (market) => cover(market === rain.ref.number ? rain : snow)
    const legs = [{ market_id: rain.ref.id }, { market_id: snow.ref.id, outcome: 'no' }]
    await server.get('/v1/arbitrage/quote', {
      method: 'POST',
      headers: { 'x-api-key': 'ann-key', 'content-type': 'application/json' },
      body: JSON.stringify({ legs }),
    })
    assert.deepEqual(
      demand.requests.map(([market]) => market),
      [rain.ref.number, snow.ref.number],
    )
  })
})
