// Compares candles with candles recomputed from the trades.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Static } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { EngineError } from '../../../engine/errors.ts'
import { barOf, CANDLE_MS } from '../../../engine/market/candle.ts'
import { type Random, seededRandom } from '../../../engine/random.ts'
import { notionalMicros, priceMicros, sizeMicros, timeMs } from '../../../engine/units.ts'
import { CandlesSchema } from '../../../http/schemas.ts'
import { FakeMarket } from '../../support/fakes/engine.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import {
  type NaiveCandle,
  naiveCandles,
  naiveFilled,
} from '../../support/reference/naive/candles.ts'
import { type ApiServer, openApiServer } from '../../support/rigs/api-server.ts'
import { listing, NOON } from '../../support/worlds/builders.ts'

const isLong = process.env.TEST_LONG === '1'
const RANGES = isLong ? 60 : 20
const clock = new ManualClock(NOON)
const HOUR_MS = 3_600_000
let server: ApiServer
before(async () => {
  server = await openApiServer({ clock })
})
after(() => server.stop())

type Page = Static<typeof CandlesSchema> & { readonly headers: Headers }

async function page(name: string, query = ''): Promise<Page> {
  const answer = await server.get(`/v1/markets/venue_a_${name}/candles?${query}`)
  assert.equal(answer.status, 200, answer.text)
  assert.ok(Value.Check(CandlesSchema, answer.body), answer.text)
  assert.equal(answer.body.has_more, answer.body.cursor !== null)
  return { ...answer.body, headers: answer.headers }
}

/** All pages as one list, oldest first. */
async function pages(name: string, query: string, limit: number) {
  const all: Page['candles'] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const given: string = cursor === '' ? '' : `&cursor=${cursor}`
    const got = await page(name, `${query}&limit=${limit}${given}`)
    assert.ok(got.candles.length <= limit)
    if (got.has_more) {
      assert.equal(got.candles.length, limit, 'only the last page is short')
      assert.equal(got.cursor, String(got.candles[0]?.timestamp_ms))
    }
    all.unshift(...got.candles)
    cursor = got.cursor
  }
  return all
}

function record(candle: NaiveCandle, lengthMs: number): Page['candles'][number] {
  const { startMs, open, high, low, close, usd, count, vwap } = candle
  const endMs = startMs + lengthMs
  return {
    timestamp_ms: startMs,
    end_period_ts: endMs / 1000,
    open: open / 1e6,
    high: high / 1e6,
    low: low / 1e6,
    close: close / 1e6,
    volume: usd / 1e6,
    trades_count: count,
    vwap: vwap / 1e6,
    closed: endMs <= clock.nowMs(),
  }
}

/** Creates trades in bursts until the current time, with gaps of all lengths. */
function trade(random: Random, market: FakeMarket, count: number, spanMs: number): void {
  let atMs: number = NOON
  for (let left = count; left > 0; left -= 1) {
    const price = priceMicros(random.below(1_000_001))
    const size = sizeMicros(1 + random.below(9_000_000))
    const usd = notionalMicros({ price, size })
    market.trade({ timeMs: timeMs(atMs), price, size, usd }, false)
    const isFar = random.below(6) === 0
    atMs -= random.below(isFar ? (spanMs * 8) / count : spanMs / count / 4)
  }
}

describe('GET /v1/markets/{market_id}/candles', () => {
  test('returns every candle of every interval once across pages, oldest first', async () => {
    for (const [seed, [interval, lengthMs]] of Object.entries(CANDLE_MS).entries()) {
      const random = seededRandom('pages', seed)
      const market = server.engine.add(`paged-${interval}`)
      trade(random, market, 120, lengthMs * 100)
      const expected = naiveCandles(market.stored, lengthMs).map((one) => record(one, lengthMs))
      assert.ok(expected.length > 20, 'there is something to page')
      const minutes = lengthMs / 60_000
      for (const [limit, query] of [
        [1, `interval=${interval}`],
        [7, `interval=${minutes}`],
        [expected.length, `resolution=${minutes}`],
        [1000, `period_interval=${interval}`],
      ] as const) {
        assert.deepEqual(await pages(`paged-${interval}`, query, limit), expected, query)
      }
    }
  })

  test('fills intervals without trades with candles until the current time, on each page', async () => {
    for (const [seed, [interval, lengthMs]] of Object.entries(CANDLE_MS).entries()) {
      const random = seededRandom('gaps', seed)
      const market = server.engine.add(`gaps-${interval}`)
      trade(random, market, 25, lengthMs * 60)
      market.stored.shift()
      const traded = naiveCandles(market.stored, lengthMs)
      const nowMs = NOON - (NOON % lengthMs)
      const expected = naiveFilled(traded, lengthMs, nowMs).map((one) => record(one, lengthMs))
      assert.ok(expected.length > traded.length, 'there are gaps')
      for (const limit of [...(isLong ? [1] : []), 2, 7, expected.length, 1000]) {
        const query = `interval=${interval}&gap_fill=true`
        assert.deepEqual(await pages(`gaps-${interval}`, query, limit), expected, query)
      }
    }
  })

  test('returns the candles that overlap the requested range, including the last second of the range', async () => {
    const market = server.engine.add('ranged')
    trade(seededRandom('ranges', 1), market, 80, 60 * HOUR_MS)
    const traded = naiveCandles(market.stored, HOUR_MS)
    const lastMs = NOON
    const filled = naiveFilled(traded, HOUR_MS, lastMs)
    const random = seededRandom('ranges', 2)
    for (let round = 0; round < RANGES; round += 1) {
      const start = NOON / 1000 - random.below(80 * 3_600)
      const end = start + random.below(90 * 3_600)
      const isWanted = ({ startMs }: NaiveCandle) =>
        startMs + HOUR_MS > start * 1000 && startMs <= end * 1000
      const limit = 1 + random.below(20)
      const query = `start_ts=${start}&to=${end}`
      for (const [given, all] of [
        [query, traded],
        [`${query}&gap_fill=1`, filled],
      ] as const) {
        const expected = all.filter(isWanted).map((one) => record(one, HOUR_MS))
        assert.deepEqual(await pages('ranged', given, limit), expected, `${given} by ${limit}`)
      }
    }
  })

  test('reads years of hourly candles in time slices that yield to the event loop', async () => {
    const { engine } = server
    const market = new FakeMarket(engine, listing('long'), 99_999)
    const days = 900
    const bars = Array.from({ length: days * 24 }, (_, hour) =>
      barOf('hour', market.trade({ timeMs: timeMs(NOON - hour * HOUR_MS), ordinal: 0 }, false)),
    )
    const requested: number[] = []
    // Each row that is read takes time, as with the real table.
    const slow = Object.assign(market, {
      bars: ({ toMs, limit }: Parameters<FakeMarket['bars']>[0]) => {
        requested.push(limit)
        clock.advance(1)
        const from = Math.max(0, Math.ceil((NOON - toMs) / HOUR_MS))
        return bars.slice(from, from + limit)
      },
    })
    engine.catalog.byId.set('venue_a_long', slow)
    let tickCount = 0
    let isDone = false
    const tick = () => {
      tickCount += 1
      if (!isDone) setImmediate(tick)
    }
    setImmediate(tick)
    const got = await page('long', `interval=1d&limit=${days + 1}`)
    isDone = true
    engine.catalog.byId.delete('venue_a_long')
    assert.equal(got.candles.length, days + 1)
    assert.equal(got.cursor, null)
    assert.ok(
      requested.length > 100 && tickCount > requested.length / 4,
      `${requested.length} ${tickCount}`,
    )
    assert.ok(requested.every((limit) => limit <= 128))
  })

  test('returns the documented fields of a candle, and marks a candle as closed after its end', async () => {
    const market = server.engine.add('plain')
    const early = timeMs(clock.nowMs() - (clock.nowMs() % HOUR_MS) - 1)
    market.trade({ timeMs: early, price: priceMicros(410_000), size: sizeMicros(2_000_000) })
    market.trade({
      price: priceMicros(420_000),
      size: sizeMicros(1_000_000),
      usd: notionalMicros({ price: priceMicros(420_000), size: sizeMicros(1_000_000) }),
    })
    market.trade({
      price: priceMicros(450_000),
      size: sizeMicros(2_000_000),
      usd: notionalMicros({ price: priceMicros(450_000), size: sizeMicros(2_000_000) }),
    })
    const got = await page('plain')
    assert.equal(got.market_id, 'venue_a_plain')
    assert.equal(got.interval, '1h')
    assert.deepEqual(
      got.candles.map(({ closed }) => closed),
      [true, false],
    )
    const openMs = early + 1
    assert.deepEqual(got.candles[1], {
      timestamp_ms: openMs,
      end_period_ts: openMs / 1000 + 3_600,
      open: 0.42,
      high: 0.45,
      low: 0.42,
      close: 0.45,
      volume: 1.32,
      trades_count: 2,
      vwap: 0.44,
      closed: false,
    })
    assert.deepEqual((await page('plain', 'interval=1m&limit=1')).candles.length, 1)
  })

  test('builds candles from the venue’s price history when there are no trades', async () => {
    const market = server.engine.add('remembered')
    const hourMs = Math.floor(NOON / HOUR_MS) * HOUR_MS
    const at = (hours: number, cents: number) => ({
      timeMs: timeMs(hourMs - hours * HOUR_MS),
      price: priceMicros(cents * 10_000),
    })
    const own = server.engine.pastPrices
    const requested: number[][] = []
    server.engine.pastPrices = {
      ...own,
      async range(_market, { fromMs, toMs, stepMs }) {
        requested.push([fromMs, toMs, stepMs])
        return [at(6, 90), at(3, 20), at(2.5, 26), at(2, 30), at(1, 40)]
      },
    }
    const [price, size] = [priceMicros(350_000), sizeMicros(1_000_000)]
    market.trade({ price, size, timeMs: timeMs(hourMs - HOUR_MS + 5) })
    const brief = ({ candles }: Page) =>
      candles.map(({ timestamp_ms: ms, open, high, low, close, volume, trades_count: count }) => [
        ...[(hourMs - ms) / HOUR_MS, open, high, low, close, volume, count],
      ])
    const newest = await page('remembered', 'interval=1h&limit=4&history=true')
    assert.deepEqual(brief(newest), [
      [3, 0.9, 0.9, 0.2, 0.26, 0, 0],
      [2, 0.26, 0.3, 0.26, 0.3, 0, 0],
      [1, 0.35, 0.35, 0.35, 0.35, 0.35, 1],
    ])
    assert.deepEqual(requested, [[hourMs - 3 * HOUR_MS, hourMs + HOUR_MS - 1, HOUR_MS]])
    const older = await page(
      'remembered',
      `interval=1h&limit=4&history=true&cursor=${newest.cursor}`,
    )
    assert.deepEqual(brief(older), [[6, 0.9, 0.9, 0.9, 0.9, 0, 0]])
    const other = await page('remembered', 'interval=1h&limit=4&history=true&outcome=No')
    assert.deepEqual(brief(other)[1], [2, 0.74, 0.74, 0.7, 0.7, 0, 0])
    const refused = async (query: string) =>
      (await server.get(`/v1/markets/venue_a_remembered/candles?${query}`)).status
    assert.equal(await refused('history=true&gap_fill=true'), 400)
    server.engine.pastPrices = {
      ...own,
      range: () => Promise.reject(new EngineError('UNAVAILABLE', 'the venue does not answer')),
    }
    assert.equal(await refused('history=true'), 503)
    assert.equal(await refused('history=false'), 200)
    server.engine.pastPrices = own
  })

  test('returns inverted candles for the second outcome, and refuses invalid requests', async () => {
    const market = server.engine.add('other')
    trade(seededRandom('other', 1), market, 30, 40 * HOUR_MS)
    const second = naiveCandles(market.stored, HOUR_MS, true).map((one) => record(one, HOUR_MS))
    for (const outcome of ['No', 'no', 'NO']) {
      const got = await page('other', `outcome=${outcome}&limit=1000`)
      for (const [index, candle] of got.candles.entries()) {
        // The mean may be rounded in either direction if it lies between two micros.
        const vwap = second[index]?.vwap ?? -1
        assert.ok(Math.abs(candle.vwap - vwap) < 1.5e-6)
        assert.deepEqual({ ...candle, vwap }, second[index])
      }
      assert.equal(got.candles.length, second.length)
    }
    for (const [query, status] of [
      ['interval=2h', 422],
      ['interval=', 200],
      ['resolution=0', 422],
      ['limit=0', 422],
      ['limit=1', 200],
      ['limit=1000', 200],
      ['limit=1001', 422],
      ['gap_fill=maybe', 422],
      ['end_time=4102444801', 422],
      ['start_time=9&end_time=8', 400],
      ['interval=1h&resolution=5', 400],
      ['cursor=x', 400],
      ['cursor=5.1', 400],
      ['cursor=0', 200],
      ['cursor=0&gap_fill=true', 200],
      ['cursor=999999999999999', 200],
      ['start_time=-99999999999999999999', 422],
      ['end_time=-1', 422],
      ['end_time=-1&gap_fill=true', 422],
      ['start_time=4102444800&gap_fill=true', 200],
      ['outcome=maybe', 400],
    ] as const) {
      const { status: got, text } = await server.get(`/v1/markets/venue_a_other/candles?${query}`)
      assert.equal(got, status, `${query} ${text}`)
    }
    assert.equal((await server.get('/v1/markets/venue_a_nobody/candles')).status, 404)
    const { text } = await server.get('/v1/markets/venue_a_other/candles?interval=2h')
    assert.match(text, /'1m', '5m', '15m', '1h', '4h', '1d', '1', '5', '15', '60', '240' or '1440'/)
  })

  test('returns the time of the oldest stored data when the requested range begins earlier', async () => {
    const market = server.engine.add('young')
    const start = async (query: string) => (await page('young', query)).headers.get('x-data-start')
    const since = server.engine.catalog.recordsSinceMs / 1000
    assert.equal(
      await start('start_time=0'),
      String(since),
      'without data: the start of the recording',
    )
    assert.equal(await start(`start_time=${since}`), null)
    market.trade({ timeMs: timeMs(NOON - 90_000) })
    const first = NOON / 1000 - 90
    assert.equal(await start('start_time=0'), String(first))
    assert.equal(await start('start_time=0&interval=1m'), String(first))
    const inside = await page('young', `start_time=${first}`)
    assert.equal(inside.headers.get('x-data-start'), null)
  })

  test('marks a cached candle as closed when its interval ends without a further trade', async () => {
    const market = server.engine.add('quiet')
    for (const interval of Object.keys(CANDLE_MS)) {
      market.trade({ timeMs: clock.nowMs() })
      const last = async () => (await page('quiet', `interval=${interval}`)).candles.at(-1)
      const open = await last()
      assert.deepEqual(await last(), { ...open, closed: false })
      const endMs = (open?.end_period_ts ?? 0) * 1_000
      clock.advance(endMs - 1 - clock.nowMs())
      assert.deepEqual(await last(), { ...open, closed: false })
      clock.advance(1)
      assert.deepEqual(await last(), { ...open, closed: true })
    }
  })
})
