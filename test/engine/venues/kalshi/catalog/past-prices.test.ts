import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonReader } from '../../../../../engine/fetch.ts'
import { nativeEventId, nativeMarketId } from '../../../../../engine/ids.ts'
import { timeMs } from '../../../../../engine/units.ts'
import { KalshiPastPrices } from '../../../../../engine/venues/kalshi/catalog/past-prices.ts'
import { record, records, twoMarkets } from '../../../../support/clients/kalshi-client.ts'
import { retryingHttp } from '../../../../support/clients/retrying-http.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'
import { stubHttp } from '../../../../support/fakes/stub-http.ts'
import { venueCounters } from '../../../../support/fakes/venue-counters.ts'

const DAY_MS = 86_400_000
const DAY_START_MS = Date.UTC(2026, 10, 18)
const DAY_S = DAY_START_MS / 1_000
const DATA = process.env.SHARED_DATA ?? '../shared/data'

function openPastPrices(http: JsonReader) {
  const clock = new ManualClock()
  const { counters, countOf } = venueCounters('b')
  const prices = new KalshiPastPrices({ http, clock, counters })
  const rejections = (reason: string) => countOf('rejected', reason)
  const read = (fromMs: number, toMs: number, set: { series?: string; ticker?: string } = {}) =>
    prices.read(
      {
        nativeId: nativeMarketId(set.ticker ?? 'KXTEST-26-A'),
        event: nativeEventId('KXTEST-26'),
        series: set.series ?? null,
        outcomes: [],
      },
      { fromMs: timeMs(fromMs), toMs: timeMs(toMs) },
      new AbortController().signal,
    )
  return { read, rejections, clock }
}

const range = (close: string) => ({ close_dollars: close })

test('requests the one-minute candles of a day once and returns their prices unchanged', async (t) => {
  const { world, first, venue } = await twoMarkets(t)
  const base = `http://127.0.0.1:${venue.port}/trade-api/v2`
  const { read } = openPastPrices(retryingHttp(t, base))
  const points = await read(DAY_START_MS, DAY_START_MS + DAY_MS - 1)
  const query = `start_ts=${DAY_S}&end_ts=${DAY_S + 86_399}&period_interval=1`
  const path = `/series/KXTEST/markets/${first.listing.nativeId}/candlesticks?${query}`
  const published = records((await venue.get(path)).body.candlesticks)
  assert.equal(published.length, 1_440)
  const naive = published.map((candle) => {
    const close = record(candle.price).close_dollars
    const bid = Number(record(candle.yes_bid).close_dollars)
    const ask = Number(record(candle.yes_ask).close_dollars)
    const price = typeof close === 'string' ? Number(close) : (bid + ask) / 2
    return { timeMs: Number(candle.end_period_ts) * 1_000, price: Math.round(price * 1e6) }
  })
  assert.deepEqual(
    points.filter(({ timeMs: atMs }) => atMs >= DAY_START_MS),
    naive,
  )
  assert.ok(points.length - naive.length <= 1)
  assert.ok(points.every(({ timeMs: atMs }) => atMs <= world.nowMs()))
})

test('returns a candle’s last trade price, else the midpoint of a tight book, else the previous trade price', async () => {
  const candlesticks = [
    { price: range('0.30'), yes_bid: range('0.50'), yes_ask: range('0.52') },
    { price: {}, yes_bid: range('0.50'), yes_ask: range('0.53') },
    { price: { close_dollars: null, previous_dollars: '0.31' }, yes_bid: range('0.10') },
    { price: { previous_dollars: '0.32' }, yes_bid: range('0.10'), yes_ask: range('0.90') },
    { price: { previous_dollars: '0.33' }, yes_bid: range('0.0000'), yes_ask: range('0.05') },
    { price: {}, yes_bid: range('0.95'), yes_ask: range('1.0000') },
    { price: { close: '0.34' } },
    { price: { close: 35 } },
    {},
  ].map((candle, minute) => ({ end_period_ts: DAY_S + 60 * minute, ...candle }))
  const { read } = openPastPrices(stubHttp(() => ({ candlesticks })))
  const points = await read(DAY_START_MS, DAY_START_MS + DAY_MS - 1)
  assert.deepEqual(
    points.map(({ timeMs: atMs, price }) => [(atMs - DAY_START_MS) / 60_000, price]),
    [
      [0, 300_000],
      [1, 515_000],
      [2, 310_000],
      [3, 320_000],
      [4, 330_000],
      [6, 340_000],
      [7, 350_000],
    ],
  )
})

test('assigns the start time of the first candle to the price before the first candle', async () => {
  const price = { close_dollars: '0.40', previous_dollars: '0.20' }
  const candlesticks = [{ end_period_ts: DAY_S + 600, price }]
  const http = stubHttp(() => ({ candlesticks }))
  const { read } = openPastPrices(http)
  const lastQuery = (name: string) => http.requests.at(-1)?.query.get(name)
  const points = await read(DAY_START_MS, DAY_START_MS + DAY_MS - 1)
  assert.deepEqual(points, [
    { timeMs: DAY_START_MS + 540_000, price: 200_000 },
    { timeMs: DAY_START_MS + 600_000, price: 400_000 },
  ])
  assert.equal(lastQuery('include_latest_before_start'), 'true')
  assert.equal(lastQuery('period_interval'), '1')
  await read(DAY_START_MS - 13 * DAY_MS, DAY_START_MS - 1)
  assert.equal(lastQuery('period_interval'), '60')
  candlesticks[0] = { end_period_ts: DAY_S, price }
  assert.deepEqual(await read(DAY_START_MS, DAY_START_MS + 1), [
    { timeMs: DAY_START_MS - 60_000, price: 200_000 },
    { timeMs: DAY_START_MS, price: 400_000 },
  ])
})

test('skips and counts unreadable candles', async () => {
  const good = { end_period_ts: DAY_S + 60, price: range('0.5') }
  const bad = [
    null,
    { price: range('0.5') },
    { end_period_ts: 'x', price: range('0.5') },
    { end_period_ts: DAY_S, price: range('1.5') },
    { end_period_ts: DAY_S, price: range('x') },
    { end_period_ts: DAY_S, yes_bid: range('-1') },
    { end_period_ts: DAY_S, price: { close: 101 } },
  ]
  const later = { end_period_ts: DAY_S + 86_400, price: range('0.6') }
  const candlesticks = [...bad, later, good]
  const { read, rejections } = openPastPrices(stubHttp(() => ({ candlesticks })))
  const points = await read(DAY_START_MS, DAY_START_MS + DAY_MS - 1)
  assert.deepEqual(points, [{ timeMs: DAY_START_MS + 60_000, price: 500_000 }])
  const reasons = ['candle_not_an_object', 'candle_time', 'candle_price', 'candle_quote']
  assert.deepEqual(reasons.map(rejections), [1, 2, 3, 1])
})

test('searches the venue’s archive for an old market when the live lists lack the market', async () => {
  const cutoff = new Date(DAY_START_MS + 10 * DAY_MS).toISOString()
  let archived: unknown = null
  const http = stubHttp((path) => {
    if (path === '/historical/cutoff') return { market_settled_ts: cutoff }
    return path.startsWith('/historical/markets/') ? archived : null
  })
  const { read, clock } = openPastPrices(http)
  const paths = () => http.requests.map(({ path }) => path)
  assert.deepEqual(await read(DAY_START_MS, DAY_START_MS + DAY_MS - 1), [])
  const price = { close: '0.1200', previous: '0.1100' }
  archived = { ticker: 'KXTEST-26-A', candlesticks: [{ end_period_ts: DAY_S + 60, price }] }
  const points = await read(DAY_START_MS, DAY_START_MS + DAY_MS - 1)
  assert.deepEqual(points.at(-1), { timeMs: DAY_START_MS + 60_000, price: 120_000 })
  await read(DAY_START_MS + 11 * DAY_MS, DAY_START_MS + 12 * DAY_MS)
  const live = '/series/KXTEST/markets/KXTEST-26-A/candlesticks'
  const old = '/historical/markets/KXTEST-26-A/candlesticks'
  assert.deepEqual(paths(), [live, '/historical/cutoff', old, live, old, live])
  clock.advance(2 * 3_600_000)
  await read(DAY_START_MS, DAY_START_MS + 1, { series: 'KXOTHER' })
  assert.deepEqual(paths().slice(-3), [
    live.replace('KXTEST', 'KXOTHER'),
    '/historical/cutoff',
    old,
  ])
})

test('reads the close price of every recorded candle', async (t) => {
  const files = [
    'fixtures/kalshi/candlesticks_mlb.json',
    'fixtures/kalshi-golden/series_candlesticks_response.json',
  ].map((name) => join(DATA, name))
  if (!files.every((file) => existsSync(file))) {
    t.diagnostic(`no recorded candles under ${DATA}`)
    return t.skip('recorded candles are absent')
  }
  const answers: unknown[] = []
  for (const file of files) {
    const complete = record(JSON.parse(readFileSync(file, 'utf8')))
    const markets = Object.values(record(complete.markets))
    answers.push(...(markets.length > 0 ? markets : [complete.response]))
  }
  let answer: unknown = null
  const { read, rejections } = openPastPrices(stubHttp(() => answer))
  let candleCount = 0
  for (answer of answers) {
    const published = records(record(answer).candlesticks)
    candleCount += published.length
    const ends = published.map((candle) => Number(candle.end_period_ts) * 1_000)
    const points = await read(Math.min(...ends), Math.max(...ends))
    const byTime = new Map(points.map((point) => [Number(point.timeMs), point.price]))
    for (const candle of published) {
      const close = record(candle.price).close_dollars
      if (typeof close !== 'string') continue
      const atMs = Number(candle.end_period_ts) * 1_000
      assert.equal(byTime.get(atMs), Math.round(Number(close) * 1e6))
    }
  }
  const reasons = ['candle_not_an_object', 'candle_time', 'candle_price', 'candle_quote']
  assert.deepEqual(reasons.map(rejections), [0, 0, 0, 0])
  t.diagnostic(`${candleCount} recorded candles`)
  assert.ok(candleCount > 20)
})
