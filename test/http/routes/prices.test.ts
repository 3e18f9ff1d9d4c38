import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { TSchema } from '@sinclair/typebox'
import type { MarketView, PricePoint } from '../../../actors/views.ts'
import { EngineError } from '../../../engine/errors.ts'
import { priceMicros, type TimeMs, timeMs } from '../../../engine/units.ts'
import { PricesSchema } from '../../../http/routes/prices.ts'
import { DetailSchema, PriceSchema, ProblemsSchema } from '../../../http/schemas.ts'
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
  rain = server.engine.add('Rain')
  server.engine.add('Snow', { venue: 'b' })
  server.engine.add('spain', {
    outcomes: [...rain.summary.outcomes].map((outcome, index) => ({
      ...outcome,
      label: index === 0 ? 'Spain' : 'Over 2.5',
    })),
  })
})
after(() => server.stop())

const got = <S extends TSchema>(schema: S, path: string, status = 200) =>
  successfulBodyOf(server, schema, path, status)

describe('GET /v1/markets/{market_id}/price', () => {
  const path = '/v1/markets/venue_a_Rain/price'

  test('returns a current price with a time not after at_time, and 1 minus the price for the second outcome', async () => {
    rain.reprice(415_000)
    for (const pauseMs of [0, 1, 1_500]) {
      clock.advance(pauseMs)
      const yes = await got(PriceSchema, path)
      assert.equal(yes.price, 0.415)
      assert.equal(yes.source, 'midpoint')
      assert.equal(yes.at_time, Math.ceil(clock.nowMs() / 1000))
      assert.ok(yes.timestamp_ms <= yes.at_time * 1000)
    }
    const no = await got(PriceSchema, `${path}?outcome=NO`)
    assert.equal(no.price, 0.585)
    assert.equal(no.outcome, 'No')
  })

  test('returns a past price, 404 for a time before the first price, and 400 for a future time', async () => {
    rain.past.length = 0
    rain.past.push({ price: priceMicros(300_000), timeMs: timeMs(NOON - 60_000) })
    rain.past.push({ price: priceMicros(200_000), timeMs: timeMs(NOON - 30_000) })
    const at = NOON / 1000 - 31
    const past = await got(PriceSchema, `${path}?at_time=${at}`)
    const { price, at_time, timestamp_ms, source } = past
    assert.deepEqual(
      { price, at_time, timestamp_ms, source },
      { price: 0.3, at_time: at, timestamp_ms: NOON - 60_000, source: 'history' },
    )
    assert.equal((await got(PriceSchema, `${path}?at_time=${at}&outcome=no`)).price, 0.7)
    await got(DetailSchema, `${path}?at_time=${at - 60}`, 404)
    await got(DetailSchema, `${path}?at_time=0`, 404)
    await got(ProblemsSchema, `${path}?at_time=-1`, 422)
    await got(DetailSchema, `${path}?at_time=${NOON / 1000 + 100}`, 400)
    await got(ProblemsSchema, `${path}?at_time=${NOON}`, 422)
  })

  test('accepts the time of the current price as at_time', async () => {
    const { at_time } = await got(PriceSchema, path)
    assert.equal((await got(PriceSchema, `${path}?at_time=${at_time}`)).source, 'history')
    await got(DetailSchema, `${path}?at_time=${at_time + 1}`, 400)
  })

  test('waits for the venue’s price history, then answers 404 if the history has no price, and 503 if the venue does not answer', async () => {
    const own = server.engine.pastPrices
    const requested: { market: MarketView; atMs: TimeMs }[] = []
    let reply: () => Promise<PricePoint | null> = async () => null
    server.engine.pastPrices = {
      at(market, atMs) {
        requested.push({ market, atMs })
        return reply()
      },
      range: own.range,
    }
    const old = `${path}?at_time=1500000000`
    await got(DetailSchema, old, 404)
    assert.deepEqual(requested[0]?.market.ref, rain.ref)
    assert.equal(requested[0]?.atMs, 1_500_000_000_000)
    reply = async () => ({ price: priceMicros(70_000), timeMs: timeMs(1_499_999_940_000) })
    const { price, source, timestamp_ms } = await got(PriceSchema, old)
    assert.deepEqual([price, source, timestamp_ms], [0.07, 'history', 1_499_999_940_000])
    reply = async () => {
      throw new EngineError('UNAVAILABLE', 'the venue does not answer')
    }
    await got(DetailSchema, old, 503)
    server.engine.pastPrices = own
  })

  test('accepts an outcome label, yes or no, and answers 400 with the labels for any other outcome', async () => {
    const spain = '/v1/markets/venue_a_spain/price?outcome='
    assert.equal((await got(PriceSchema, `${spain}over+2.5`)).outcome, 'Over 2.5')
    assert.equal((await got(PriceSchema, `${spain}Yes`)).outcome, 'Spain')
    assert.match((await got(DetailSchema, `${spain}Italy`, 400)).detail, /Spain and Over 2\.5/)
  })
})

describe('GET /v1/prices', () => {
  test('returns the price of each market once in the requested order, and lists unknown ids', async () => {
    for (const query of [
      'market_ids=venue_b_snow,venue_a_None,VENUE_A_RAIN,venue_b_Snow,venue_a_none,%22x%22',
      'ids=venue_b_snow,venue_a_None&ids=venue_a_rain&ids=%22x%22',
      'market_id=,venue_b_snow&market_id=venue_a_None,venue_a_rain,%22x%22,venue_a_rain',
    ]) {
      const { prices, missing } = await got(PricesSchema, `/v1/prices?${query}`)
      assert.deepEqual(
        prices.map(({ market_id }) => market_id),
        ['venue_b_Snow', 'venue_a_Rain'],
      )
      assert.deepEqual(missing, ['venue_a_None', '"x"'])
      for (const price of prices) {
        assert.deepEqual(price, await got(PriceSchema, `/v1/markets/${price.market_id}/price`))
      }
    }
  })

  test('requires 1 to 100 market ids, and refuses an outcome parameter', async () => {
    const ids = (count: number) => Array.from({ length: count }, (_, index) => `venue_a_${index}`)
    const none = await got(ProblemsSchema, '/v1/prices', 422)
    assert.deepEqual(none.detail[0]?.loc, ['query', 'market_ids'])
    for (const query of ['market_ids=,', 'ids=,,', `market_ids=${ids(101)}`]) {
      const { detail } = await got(ProblemsSchema, `/v1/prices?${query}`, 422)
      assert.match(detail[0]?.type ?? '', /^too_(short|long)$/)
    }
    assert.equal((await got(PricesSchema, `/v1/prices?ids=${ids(1)}`)).missing.length, 1)
    assert.equal((await got(PricesSchema, `/v1/prices?ids=${ids(100)}`)).missing.length, 100)
    const unknown = await server.get('/v1/prices?ids=venue_a_rain&outcome=no')
    assert.equal(unknown.headers.get('x-unknown-parameters'), 'outcome')
  })
})
