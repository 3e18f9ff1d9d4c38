import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { seededRandom } from '../../../../../engine/random.ts'
import { timeMs } from '../../../../../engine/units.ts'
import { record, records, startStub } from '../../../../support/clients/kalshi-client.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'
import { StubWorld } from '../../../../support/worlds/kalshi-world.ts'

const FIXTURES = join(process.env.SHARED_DATA ?? '../shared/data', 'fixtures')
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

async function setUp(t: TestContext) {
  const clock = new ManualClock()
  const world = new StubWorld(clock)
  const venue = await startStub({ world, clock })
  t.after(() => venue.stop())
  const event = world.addEvent('KXTEST-26')
  const market = world.addMarket(event, 'A')
  const other = world.addMarket(event, 'B')
  world.setLevels(market, [
    ['bid', 44, 10],
    ['ask', 46, 3],
  ])
  const getCandles = async (path: string, range: { from: number; to: number; period: number }) => {
    const seconds = `start_ts=${Math.floor(range.from / 1000)}&end_ts=${Math.floor(range.to / 1000)}`
    const mark = path.includes('?') ? '&' : '?'
    return venue.get(`${path}${mark}${seconds}&period_interval=${range.period}`)
  }
  const path = `/series/KXTEST/markets/${market.listing.nativeId}/candlesticks`
  return { clock, world, venue, market, other, getCandles, path }
}

test('builds minute candles from exactly the trades of the current run, including a trade at the end of the range', async (t) => {
  const { clock, world, market, getCandles, path } = await setUp(t)
  const random = seededRandom('candles')
  const startMs = world.nowMs()
  for (let index = 0; index < 200; index += 1) {
    // Every tenth trade is exactly at the end of a minute and belongs to the candle that ends there.
    const toMinute = MINUTE_MS - (world.nowMs() % MINUTE_MS)
    clock.advance(index % 10 === 0 ? toMinute : 1 + random.below(20_000))
    world.print(market, { cents: 30 + random.below(40), contracts: 1 + random.below(50) })
  }
  const range = { from: startMs, to: world.nowMs() + MINUTE_MS, period: 1 }
  const candles = records((await getCandles(path, range)).body.candlesticks)
  const expected = new Map<number, { prices: number[]; contracts: number }>()
  for (const trade of market.trades) {
    const end = Math.ceil(trade.atMs / MINUTE_MS) * 60
    const candle = expected.get(end) ?? { prices: [], contracts: 0 }
    expected.set(end, candle)
    candle.prices.push(trade.price)
    candle.contracts += trade.size
  }
  let previous: unknown
  let seen = 0
  for (const candle of candles) {
    const naive = expected.get(Number(candle.end_period_ts))
    const price = record(candle.price)
    if (previous !== undefined) assert.equal(price.previous_dollars, previous)
    if (naive === undefined) {
      assert.deepEqual(Object.keys(price), ['previous_dollars'])
      assert.equal(candle.volume_fp, '0.00')
      continue
    }
    seen += 1
    const text = (micros: number | undefined) => ((micros ?? 0) / 1_000_000).toFixed(4)
    assert.deepEqual(
      [price.open_dollars, price.low_dollars, price.high_dollars, price.close_dollars],
      [
        text(naive.prices[0]),
        text(Math.min(...naive.prices)),
        text(Math.max(...naive.prices)),
        text(naive.prices.at(-1)),
      ],
    )
    assert.equal(candle.volume_fp, (naive.contracts / 1_000_000).toFixed(2))
    const mean = Number(price.mean_dollars)
    assert.ok(mean >= Number(price.low_dollars) && mean <= Number(price.high_dollars))
    previous = price.close_dollars
  }
  assert.equal(seen, expected.size)
})

test('ends daily candles at midnight in New York, and omits candles outside trading hours', async (t) => {
  const { world, market, getCandles, path } = await setUp(t)
  const range = { from: 0, to: world.nowMs() + 10 * 24 * HOUR_MS, period: 1440 }
  const candles = records((await getCandles(path, range)).body.candlesticks)
  const ends = candles.map((candle) => new Date(Number(candle.end_period_ts) * 1000).toISOString())
  assert.deepEqual(ends, [
    '2026-11-17T05:00:00.000Z',
    '2026-11-18T05:00:00.000Z',
    '2026-11-19T05:00:00.000Z',
    '2026-11-20T05:00:00.000Z',
    '2026-11-21T05:00:00.000Z',
  ])
  assert.ok(market.listing.openMs > Date.parse('2026-11-16T05:00:00Z'))
})

test('returns equal candles from all three candle endpoints, and includes the name of an invalid parameter in the error', async (t) => {
  const { world, market, other, getCandles, path } = await setUp(t)
  world.print(market, { cents: 45 })
  const range = { from: world.nowMs() - HOUR_MS, to: world.nowMs() + MINUTE_MS, period: 1 }
  const single = (await getCandles(path, range)).body
  assert.equal(single.ticker, market.listing.nativeId)
  const tickers = `${market.listing.nativeId},${other.listing.nativeId},KXNONE`
  const batch = (await getCandles(`/markets/candlesticks?market_tickers=${tickers}`, range)).body
  const markets = records(batch.markets)
  assert.deepEqual(
    markets.map(({ market_ticker }) => market_ticker),
    [market.listing.nativeId, other.listing.nativeId],
  )
  assert.deepEqual(timeless(markets[0]?.candlesticks), timeless(single.candlesticks))
  const byEvent = (await getCandles('/series/KXTEST/events/KXTEST-26/candlesticks', range)).body
  assert.deepEqual(byEvent.market_tickers, [market.listing.nativeId, other.listing.nativeId])
  const lists = byEvent.market_candlesticks
  assert.deepEqual(timeless(Array.isArray(lists) ? lists[0] : null), timeless(single.candlesticks))
  assert.equal(byEvent.adjusted_end_ts, Math.floor(range.to / 1000))
  const long = { ...range, from: range.from - 8 * 24 * HOUR_MS }
  const cut = (await getCandles('/series/KXTEST/events/KXTEST-26/candlesticks', long)).body
  assert.equal(cut.adjusted_end_ts, Math.floor(market.listing.openMs / 1000) + 2_499 * 60)
  const openMs = timeMs(long.from)
  const old = world.addMarket(world.addEvent('KXOLD-26'), 'A', { openMs })
  const oldPath = `/series/KXOLD/markets/${old.listing.nativeId}/candlesticks`
  assert.equal((await getCandles(oldPath, long)).status, 400)
  assert.equal((await getCandles(oldPath, { ...long, period: 60 })).status, 200)
  assert.equal((await getCandles('/markets/candlesticks', range)).status, 400)
  assert.equal((await getCandles(path, { ...range, period: 5 })).status, 400)
  assert.equal((await getCandles(path, { ...range, to: range.from - 1_000 })).status, 400)
  const wrongSeries = path.replace('/series/KXTEST/', '/series/KXELSE/')
  assert.equal((await getCandles(wrongSeries, range)).status, 404)
})

test('returns the last price for a range without trades when include_latest_before_start is set', async (t) => {
  const { world, market, getCandles, path, clock } = await setUp(t)
  world.print(market, { cents: 33 })
  clock.advance(5 * 24 * HOUR_MS)
  world.move(market, 'closed')
  const range = { from: world.nowMs() - HOUR_MS, to: world.nowMs(), period: 60 }
  assert.deepEqual((await getCandles(path, range)).body.candlesticks, [])
  const answer = await getCandles(`${path}?include_latest_before_start=true`, range)
  const candles = records(answer.body.candlesticks)
  assert.equal(candles.length, 1)
  assert.deepEqual(candles[0]?.price, { previous_dollars: '0.3300' })
})

test('builds a candle with the same fields and JSON types as recorded candles', async (t) => {
  const file = join(FIXTURES, 'kalshi/candlesticks_mlb.json')
  if (!existsSync(file)) {
    t.diagnostic(`${file} is missing`)
    t.skip('the recorded fixtures are not here (SHARED_DATA)')
    return
  }
  const { world, market, getCandles, path } = await setUp(t)
  world.print(market, { cents: 45 })
  const range = { from: world.nowMs() - HOUR_MS, to: world.nowMs() + MINUTE_MS, period: 1 }
  const ours = records((await getCandles(path, range)).body.candlesticks)
  const recorded = Object.values(record(record(JSON.parse(readFileSync(file, 'utf8'))).markets))
  const theirs = recorded.flatMap((entry) => records(record(entry).candlesticks))
  const shape = (candle: unknown): string =>
    JSON.stringify(candle, (_key, value) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(
            Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)),
          )
        : typeof value,
    )
  const existing = new Set(theirs.map(shape))
  for (const candle of ours) assert.ok(existing.has(shape(candle)), shape(candle))
  assert.equal(new Set(ours.map(shape)).size, 2, 'with trades and without')
})

/** Open interest depends on the time of the request. */
function timeless(candles: unknown): Record<string, unknown>[] {
  return records(candles).map((candle) => ({ ...candle, open_interest_fp: null }))
}
