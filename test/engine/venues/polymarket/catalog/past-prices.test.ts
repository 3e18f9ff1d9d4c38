import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonReader } from '../../../../../engine/fetch.ts'
import { nativeMarketId, outcomeId } from '../../../../../engine/ids.ts'
import { complement, timeMs } from '../../../../../engine/units.ts'
import { PolymarketPastPrices } from '../../../../../engine/venues/polymarket/catalog/past-prices.ts'
import { retryingHttp } from '../../../../support/clients/retrying-http.ts'
import { stubHttp } from '../../../../support/fakes/stub-http.ts'
import { startStubVenue } from '../../../../support/fakes/stub-venue.ts'
import { venueCounters } from '../../../../support/fakes/venue-counters.ts'
import { marketAt } from '../../../../support/worlds/stub-world.ts'

const DAY_MS = 86_400_000
const DAY_START_MS = Date.UTC(2026, 10, 17)

function openPastPrices(clob: JsonReader) {
  const { counters, countOf } = venueCounters('a')
  const prices = new PolymarketPastPrices({ clob, counters })
  const rejections = () => countOf('rejected', 'bad_price_point')
  const read = (token: string, fromMs: number, toMs: number, steps: { stepMs?: number } = {}) =>
    prices.read(
      {
        nativeId: nativeMarketId('x'),
        event: null,
        series: null,
        outcomes: token === '' ? [] : [outcomeId(token)],
      },
      { fromMs: timeMs(fromMs), toMs: timeMs(toMs), ...steps },
      new AbortController().signal,
    )
  return { read, rejections }
}

test('requests the one-minute prices of a day once and returns the prices unchanged', async (t) => {
  const venue = await startStubVenue()
  t.after(() => venue.stop())
  venue.world.addEvent(1)
  const { listing, fairPrice } = marketAt(venue.world, 0)
  const { read } = openPastPrices(retryingHttp(t, venue.clob))
  const points = await read(listing.tokens[0], DAY_START_MS, DAY_START_MS + DAY_MS - 1)
  const ofDay = points.filter(({ timeMs: atMs }) => atMs >= DAY_START_MS)
  assert.equal(ofDay.length, 1_440)
  for (const { timeMs: atMs, price } of ofDay) {
    assert.equal(price, fairPrice(atMs))
    assert.ok(atMs < DAY_START_MS + DAY_MS && atMs % 60_000 === 0)
  }
  const other = await read(listing.tokens[1], DAY_START_MS, DAY_START_MS + 60_000)
  assert.equal(other.at(-1)?.price, complement(fairPrice(timeMs(DAY_START_MS + 60_000))))
})

test('starts a price series with the latest price from before the requested range', async () => {
  const dayS = DAY_START_MS / 1_000
  const history = [-70, -10, 5, 65, 86_390, 86_400].map((s) => ({ t: dayS + s, p: 0.5 + s / 1e6 }))
  const { read } = openPastPrices(stubHttp(() => ({ history })))
  const points = await read('1', DAY_START_MS, DAY_START_MS + DAY_MS - 1)
  const seconds = points.map(({ timeMs: atMs }) => atMs / 1_000 - dayS)
  assert.deepEqual(seconds, [-10, 5, 65, 86_390])
  assert.equal(points[1]?.price, 500_005)
})

test('requests long price ranges with the given time step, and with twelve-hour steps when finer prices are missing', async () => {
  const dayS = DAY_START_MS / 1_000
  const clob = stubHttp((_path, query) => {
    const isFine = query.get('fidelity') === '1'
    return { history: isFine ? [] : [{ t: dayS - 43_200, p: 0.25 }] }
  })
  const { read } = openPastPrices(clob)
  const points = await read('1', DAY_START_MS, DAY_START_MS + DAY_MS - 1)
  assert.deepEqual(points, [{ timeMs: DAY_START_MS - DAY_MS / 2, price: 250_000 }])
  await read('1', DAY_START_MS - 14 * DAY_MS, DAY_START_MS - 1)
  await read('1', DAY_START_MS - 14 * DAY_MS, DAY_START_MS - 1, { stepMs: 3_600_000 })
  const requested = clob.requests.map(({ query }) => ({
    fidelity: query.get('fidelity'),
    days: (Number(query.get('endTs')) - Number(query.get('startTs'))) / 86_400,
  }))
  assert.deepEqual(
    requested.map(({ fidelity }) => fidelity),
    ['1', '720', '720', '60'],
  )
  assert.ok(
    requested.every(({ days }) => days <= 15),
    'the venue refuses longer ranges',
  )
})

test('skips and counts unreadable price rows, and returns no prices for unknown tokens', async () => {
  let answer: unknown = {}
  const { read, rejections } = openPastPrices(stubHttp(() => answer))
  const at = (s: number) => DAY_START_MS / 1_000 + s
  const bad = [null, 7, {}, { t: 'x', p: 0.5 }, { t: at(1), p: 1.5 }, { t: at(1), p: '0.5' }]
  const worse = [{ t: -1, p: 0.5 }, { t: 1e300, p: 0.5 }, { t: Number.NaN, p: 0.5 }, { t: at(1) }]
  answer = { history: [...bad, { t: at(60), p: 0.5 }, ...worse] }
  const points = await read('1', DAY_START_MS, DAY_START_MS + 120_000)
  assert.deepEqual(points, [{ timeMs: DAY_START_MS + 60_000, price: 500_000 }])
  assert.equal(rejections(), bad.length + worse.length)
  answer = 404
  assert.deepEqual(await read('1', DAY_START_MS, DAY_START_MS + 120_000), [])
  answer = { history: null }
  assert.deepEqual(await read('1', DAY_START_MS, DAY_START_MS + 120_000), [])
  assert.deepEqual(await read('', DAY_START_MS, DAY_START_MS + 120_000), [])
  answer = { error: 'no' }
  await assert.rejects(read('1', DAY_START_MS, DAY_START_MS + 120_000))
  answer = 500
  await assert.rejects(read('1', DAY_START_MS, DAY_START_MS + 120_000))
})
