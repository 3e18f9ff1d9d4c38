import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { PastPrices } from '../../../actors/past-prices/past-prices.ts'
import type { PricePoint } from '../../../actors/views.ts'
import { systemClock } from '../../../engine/clock.ts'
import { EngineError } from '../../../engine/errors.ts'
import type { Requester } from '../../../engine/fair-queue.ts'
import { nativeEventId, nativeMarketId, outcomeId } from '../../../engine/ids.ts'
import { pastRangesMax } from '../../../engine/limits.ts'
import type { MarketListing } from '../../../engine/market/market.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { seededRandom } from '../../../engine/random.ts'
import {
  DAY_MS,
  MINUTE_MS,
  type PriceMicros,
  priceMicros,
  type TimeMs,
  timeMs,
} from '../../../engine/units.ts'
import { openKalshi } from '../../../engine/venues/kalshi/kalshi.ts'
import { openPolymarket } from '../../../engine/venues/polymarket/polymarket.ts'
import type { VenuePastPrices } from '../../../engine/venues/venue.ts'
import type { Storage } from '../../../storage/contract/storage.ts'
import { record, records, twoMarkets } from '../../support/clients/kalshi-client.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { FakeMarket } from '../../support/fakes/market.ts'
import { startStubVenue } from '../../support/fakes/stub-venue.ts'
import { openData } from '../../support/rigs/data-folder.ts'
import { listing, NAMES, NOON, recordingPublisher } from '../../support/worlds/builders.ts'
import { pastTables } from '../../support/worlds/past-tables.ts'
import { marketAt } from '../../support/worlds/stub-world.ts'

const TODAY_MS = Date.UTC(2026, 10, 20)
const micros = (price: number) => priceMicros(Math.round(price * 1e6))
const point = (atMs: number, price: number): PricePoint => ({
  timeMs: timeMs(atMs),
  price: micros(price),
})

type Tables = Pick<Storage, 'pastPrices' | 'coverage'>

interface PriceRequest {
  readonly fromMs: TimeMs
  readonly toMs: TimeMs
  readonly series: string | null
}

function remembering(points: readonly PricePoint[]) {
  const requested: PriceRequest[] = []
  const held: { answer: () => Promise<void> } = { answer: async () => {} }
  const history: VenuePastPrices = {
    async read({ series }, { fromMs, toMs }, signal) {
      requested.push({ fromMs, toMs, series })
      await held.answer()
      signal.throwIfAborted()
      return points.filter(({ timeMs: atMs }) => fromMs <= atMs && atMs <= toMs)
    },
  }
  return { history, requested, held }
}

function openPast(
  history: VenuePastPrices | null,
  set: Partial<MarketListing> & { tables?: Tables; clock?: ManualClock; sinceMs?: number } = {},
) {
  const { clock = new ManualClock(NOON), sinceMs, ...rest } = set
  const tables: Tables = set.tables ?? pastTables()
  const created = { createdAtMs: timeMs(NOON - 10 * DAY_MS) }
  const { publisher } = recordingPublisher()
  const metrics = new Metrics()
  const live: { sinceMs: TimeMs | null } = { sinceMs: sinceMs ? timeMs(sinceMs) : null }
  const past = new PastPrices({
    storage: tables,
    events: { event: () => null },
    pastPricesOf: () => history,
    liveSinceMs: () => live.sinceMs,
    clock,
    log: silentLog,
    metrics,
  })
  const world = { clock, publisher, catalog: { names: NAMES } }
  const market = (name: string, number: number) =>
    new FakeMarket(world, listing(name, { ...created, ...rest }), number)
  const first = market('x', 1)
  const at = (atMs: number) => past.at(first, timeMs(atMs))
  const count = (outcome: string) =>
    metrics.count('past_prices_asked_total', 'x', { outcome }).value
  return { past, market, first, at, tables, clock, live, count }
}

const isUnavailable = (error: unknown) =>
  error instanceof EngineError && error.code === 'UNAVAILABLE' && error.retryAfterSeconds === 1

test('returns the newest recorded tick without a venue request for times in which the market’s feed was live', () => {
  const { history, requested } = remembering([point(NOON - 5 * MINUTE_MS, 0.9)])
  const { at, first, tables, live } = openPast(history)
  tables.coverage.put('a', timeMs(NOON - DAY_MS), timeMs(NOON - 3_600_000))
  first.past.push(point(NOON - 20 * 3_600_000, 0.3))
  assert.deepEqual(at(NOON - 3_600_000), first.past[0])
  live.sinceMs = timeMs(NOON - 60 * MINUTE_MS)
  first.past.push(point(NOON - 59 * MINUTE_MS, 0.4))
  assert.deepEqual(at(NOON), first.past[1])
  live.sinceMs = null
  first.past.push(point(NOON - 30 * MINUTE_MS, 0.5))
  assert.deepEqual(
    at(NOON - 29 * MINUTE_MS),
    first.past[2],
    'a price that is a minute old is recent enough',
  )
  assert.equal(requested.length, 0)
})

test('returns the settlement price of a resolved market without a venue request', () => {
  const { history, requested } = remembering([])
  const settlementPrice = micros(1)
  const { at, first } = openPast(history, { status: 'resolved', settlementPrice })
  first.past.push(point(NOON - 5 * DAY_MS, 0.97), point(NOON - 4 * DAY_MS, 1))
  assert.deepEqual(at(NOON), first.past[1])
  assert.equal(requested.length, 0)
})

test('requests the price from Polymarket for a time before the first recorded tick', async (t) => {
  const { at, clock, counted } = await openSimulatedA(t)
  for (const secondsAgo of [3 * 86_400 + 17, 3 * 86_400 + 4_000, 40_000, 90]) {
    const atMs = clock.nowMs() - secondsAgo * 1_000
    const minuteMs = Math.floor(atMs / MINUTE_MS) * MINUTE_MS
    assert.deepEqual(await at(atMs), { timeMs: minuteMs, price: wave(timeMs(minuteMs)) })
  }
  assert.deepEqual(counted(), 2, 'two days')
})

test('requests the price from Kalshi for a time before the first recorded tick', async (t) => {
  const { clock, first, venue } = await twoMarkets(t)
  const restUrl = `http://127.0.0.1:${venue.port}/trade-api/v2`
  const parts = { clock: systemClock, random: seededRandom(1), log: silentLog }
  const opened = openKalshi(
    { ...parts, metrics: new Metrics(), emit: () => {} },
    { restUrl, wsUrl: 'ws://127.0.0.1:1', keyId: null, privateKeyPem: null },
  )
  const { at } = openPast(opened.pastPrices, {
    venue: 'b',
    nativeId: nativeMarketId(first.listing.nativeId),
    event: nativeEventId('KXTEST-26'),
    clock,
  })
  for (const minutesAgo of [3 * 1_440 + 7, 2 * 1_440, 300, 2]) {
    const endS = Math.floor(clock.nowMs() / MINUTE_MS - minutesAgo) * 60
    const query = `start_ts=${endS}&end_ts=${endS}&period_interval=1`
    const path = `/series/KXTEST/markets/${first.listing.nativeId}/candlesticks?${query}`
    const [candle = {}] = records((await venue.get(path)).body.candlesticks)
    const close = record(candle.price).close_dollars
    const quotes = [candle.yes_bid, candle.yes_ask].map((side) => record(side).close_dollars)
    const published = close ?? (Number(quotes[0]) + Number(quotes[1])) / 2
    const answer = await at(endS * 1_000 + 31_500)
    assert.deepEqual(answer, { timeMs: endS * 1_000, price: micros(Number(published)) })
  }
})

test('requests the prices of a day from the venue once for all seconds, and stores the prices across a restart', async (t) => {
  const tables = pastTables()
  const { at, clock, counted, reopen } = await openSimulatedA(t, tables)
  const dayMs = Math.floor((clock.nowMs() - 2 * DAY_MS) / DAY_MS) * DAY_MS
  const answers = await Promise.all([1_000, 43_200_500, DAY_MS - 1].map((ms) => at(dayMs + ms)))
  assert.equal(counted(), 1)
  const again = reopen()
  for (const [index, ms] of [1_000, 43_200_500, DAY_MS - 1].entries()) {
    assert.deepEqual(
      again.at(dayMs + ms),
      answers[index],
      'the cached answer is returned synchronously',
    )
  }
  assert.equal(counted(), 1)
})

test('sends no venue request in a new process for prices that the data folder contains', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'twinbook-past-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true }))
  const open = () => openData(dataDir)
  const published = [point(TODAY_MS - 3 * DAY_MS, 0.25), point(TODAY_MS + 7_000, 0.75)]
  const { history, requested } = remembering(published)
  const times = [TODAY_MS + 1_000, TODAY_MS + 8_000, TODAY_MS + 3_600_000]
  const answers: (PricePoint | null)[] = []
  for (const run of [1, 2]) {
    const storage = await open()
    const { at } = openPast(history, { tables: storage })
    for (const [index, atMs] of times.entries()) {
      const answer = await at(atMs)
      if (run === 1) answers.push(answer)
      else assert.deepEqual(answer, answers[index])
    }
    await storage.close()
  }
  assert.deepEqual(answers, [point(TODAY_MS, 0.25), published[1], published[1]])
  assert.equal(requested.length, 2)
})

test('requests prices of the current day from the venue for times that earlier requests did not include', async () => {
  const { history, requested } = remembering([
    point(NOON - 600_000, 0.2),
    point(NOON + 30_000, 0.3),
  ])
  const { at, clock } = openPast(history)
  assert.deepEqual(await at(NOON), point(NOON - 600_000, 0.2))
  assert.deepEqual(at(NOON), point(NOON - 600_000, 0.2))
  clock.advance(300_000)
  assert.deepEqual(await at(NOON + 60_000), point(NOON + 30_000, 0.3))
  assert.deepEqual(at(NOON + 120_000), point(NOON + 30_000, 0.3))
  assert.equal(requested.length, 2)
  assert.equal(requested[1]?.toMs, NOON + 300_000)
})

test('requests prices from the venue for a gap in the recorded ticks, and returns the newer of venue price and tick', async () => {
  const published = [point(NOON - 7_000_000, 0.6), point(NOON - 5_000_000, 0.7)]
  const { history, requested } = remembering(published)
  const { at, first, tables } = openPast(history)
  tables.coverage.put('a', timeMs(NOON - 9_000_000), timeMs(NOON - 8_000_000))
  tables.coverage.put('a', timeMs(NOON - 6_500_000), timeMs(NOON - 1_000))
  first.past.push(point(NOON - 8_500_000, 0.1), point(NOON - 4_000_000, 0.4))
  assert.deepEqual(at(NOON - 8_000_000), first.past[0], 'covered')
  assert.deepEqual(await at(NOON - 7_500_000), first.past[0], 'the venue has no newer price')
  assert.equal(requested.length, 1)
  assert.deepEqual(at(NOON - 6_800_000), published[0])
  assert.deepEqual(at(NOON - 6_400_000), published[0], 'the tick belongs to another feed interval')
  assert.deepEqual(at(NOON - 3_000_000), first.past[1])
  assert.equal(requested.length, 1)
})

test('requests the prices of previous days with one more call when a day has no earlier price', async () => {
  const published = [point(TODAY_MS - 5 * DAY_MS + 7_000, 0.35), point(TODAY_MS + 3_600_000, 0.6)]
  const { history, requested } = remembering(published)
  const { at } = openPast(history)
  assert.deepEqual(await at(TODAY_MS + 1_000), point(TODAY_MS, 0.35))
  assert.deepEqual(requested, [
    { fromMs: TODAY_MS, toMs: NOON, series: null },
    { fromMs: TODAY_MS - 10 * DAY_MS, toMs: TODAY_MS - 1, series: null },
  ])
  assert.deepEqual(at(TODAY_MS + 2_000), point(TODAY_MS, 0.35))
  assert.deepEqual(at(TODAY_MS + 3_600_001), published[1])
  assert.equal(requested.length, 2)
  assert.deepEqual(
    await at(TODAY_MS - 5 * DAY_MS + 8_000),
    published[0],
    'the earlier day returns the price with its own time',
  )
})

test('caches the venue’s answer that a market has no earlier price', async () => {
  const { history, requested } = remembering([])
  const { at, first } = openPast(history)
  assert.equal(await at(NOON - 1_000), null)
  assert.equal(requested.length, 2)
  assert.equal(at(NOON - 1_000), null)
  assert.equal(await at(TODAY_MS - DAY_MS), null)
  assert.equal(requested.length, 2, 'the earlier days are known to have no prices')
  first.past.push(point(NOON - 9 * DAY_MS, 0.2))
  assert.deepEqual(
    at(NOON - 1_000),
    first.past[0],
    'an old tick is returned if no newer tick exists',
  )
})

test('searches the last days before a market’s close time when the market ended long ago', async () => {
  const closeAtMs = timeMs(NOON - 60 * DAY_MS)
  const published = point(closeAtMs - 3_600_000, 0.99)
  const { history, requested } = remembering([published])
  const ended = { status: 'closed', closeAtMs, createdAtMs: timeMs(NOON - 90 * DAY_MS) } as const
  const { at } = openPast(history, ended)
  assert.deepEqual(await at(NOON - DAY_MS), point(TODAY_MS - DAY_MS, 0.99))
  assert.equal(requested.length, 2)
  assert.deepEqual(at(NOON - DAY_MS + 5_000), point(TODAY_MS - DAY_MS, 0.99))
})

test('sends no request for a time before the market began, and returns no price later than the requested time', async () => {
  const { history, requested } = remembering([point(NOON - 1_000, 0.5)])
  const { at } = openPast(history, { openAtMs: timeMs(NOON - 9 * DAY_MS) })
  assert.equal(at(NOON - 10 * DAY_MS - 1), null)
  assert.equal(requested.length, 0)
  assert.equal(await at(NOON - 1_001), null)
  assert.deepEqual(await at(NOON - 1_000), point(NOON - 1_000, 0.5))
  assert.deepEqual(
    await at(NOON + DAY_MS),
    point(NOON - 1_000, 0.5),
    'a future time is answered like the present',
  )
  assert.ok(requested.every(({ toMs }) => toMs <= NOON))
})

test('shares a pending price request between clients that send equal requests', async () => {
  const { history, requested, held } = remembering([point(TODAY_MS, 0.5)])
  let open = () => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  held.answer = () => gate
  const { at } = openPast(history)
  const answers = Promise.all(
    Array.from({ length: 100 }, (_, index) => at(TODAY_MS + index * 1_000)),
  )
  open()
  assert.ok((await answers).every((answer) => answer?.price === micros(0.5)))
  assert.equal(requested.length, 1)
})

test('runs four price requests at once, queues sixty-four and rejects further requests', async () => {
  const { history, requested, held } = remembering([point(TODAY_MS, 0.5)])
  const gates: (() => void)[] = []
  held.answer = () => new Promise((resolve) => gates.push(resolve))
  const { past, market, count } = openPast(history)
  const ask = (number: number) => past.at(market(`m${number}`, number), timeMs(TODAY_MS + 1_000))
  const answers = Array.from({ length: 68 }, (_, index) => ask(index + 1))
  assert.equal(requested.length, 4)
  await assert.rejects(async () => ask(100), isUnavailable)
  assert.equal(count('refused'), 1)
  while (gates.length > 0) {
    gates.shift()?.()
    await new Promise((resolve) => setImmediate(resolve))
    assert.ok(gates.length <= 4)
  }
  assert.ok((await Promise.all(answers)).every((answer) => answer?.price === micros(0.5)))
  assert.equal(requested.length, 68)
  held.answer = async () => {}
  assert.equal((await ask(100))?.price, micros(0.5), 'new requests are accepted again')
})

test('reports prices as unavailable when the venue fails, caches nothing and requests the prices from the venue later', async () => {
  const { history, requested, held } = remembering([point(TODAY_MS, 0.5)])
  const { at, count } = openPast(history)
  held.answer = () => Promise.reject(new Error('HTML'))
  await assert.rejects(async () => at(TODAY_MS + 1_000), isUnavailable)
  await assert.rejects(async () => at(TODAY_MS + 1_000), isUnavailable)
  held.answer = async () => {}
  assert.deepEqual(await at(TODAY_MS + 1_000), point(TODAY_MS, 0.5))
  assert.equal(requested.length, 3)
  assert.equal(count('failed'), 2)
  const closed = openPast(null)
  await assert.rejects(async () => closed.at(NOON), isUnavailable)
})

test('cancels a slow venue request at its deadline, and cancels pending requests on stop', async () => {
  const { history, held } = remembering([point(TODAY_MS, 0.5)])
  const { at, clock, past, market, tables } = openPast(history)
  held.answer = () => new Promise((resolve) => clock.after(60_000, resolve))
  const late = Array.from({ length: 8 }, (_, index) =>
    assert.rejects(
      async () => past.at(market(`m${index}`, index + 10), timeMs(TODAY_MS + 1_000)),
      isUnavailable,
    ),
  )
  clock.advance(4_000)
  await Promise.all(late.slice(4))
  clock.advance(60_000)
  await Promise.all(late)
  const waiting = assert.rejects(async () => at(TODAY_MS + 1_000), isUnavailable)
  past.stop()
  clock.advance(60_000)
  await waiting
  await assert.rejects(async () => at(TODAY_MS + 1_000), isUnavailable)
  assert.equal(tables.pastPrices.get(1, TODAY_MS / DAY_MS), null)
  assert.equal(clock.timerCount, 0)
})

test('applies one deadline to the two calls to a slow venue that answer one price request', async () => {
  const { history, requested, held } = remembering([point(TODAY_MS - DAY_MS, 0.5)])
  const { at, clock, count } = openPast(history)
  held.answer = () => new Promise((resolve) => clock.after(3_000, resolve))
  const late = assert.rejects(async () => at(TODAY_MS + 1_000), isUnavailable)
  await advanceBySeconds(clock, 4)
  await late
  assert.equal(requested.length, 2)
  await advanceBySeconds(clock, 3)
  assert.equal(count('failed'), 1)
  const again = at(TODAY_MS + 1_000)
  await advanceBySeconds(clock, 3)
  assert.deepEqual(await again, point(TODAY_MS, 0.5), 'the first answer was cached')
  assert.equal(requested.length, 3)
  assert.equal(clock.timerCount, 0)
})

test('applies each client’s own deadline when price requests of several clients share one call to the venue', async () => {
  const { history, held } = remembering([point(TODAY_MS - DAY_MS, 0.5)])
  const { at, clock } = openPast(history)
  held.answer = () => new Promise((resolve) => clock.after(3_500, resolve))
  const ends: number[] = []
  const startMs = clock.nowMs()
  const ask = () =>
    assert
      .rejects(async () => at(TODAY_MS + 1_000), isUnavailable)
      .then(() => {
        ends.push(clock.nowMs() - startMs)
      })
  const first = ask()
  await advanceBySeconds(clock, 2)
  const second = ask()
  await advanceBySeconds(clock, 8)
  await Promise.all([first, second])
  assert.ok(
    ends.every((endMs, index) => endMs <= 4_000 + index * 2_000),
    `${ends}`,
  )
})

test('calls the venue at most once a minute when clients request the current price every second', async () => {
  const published = Array.from({ length: 600 }, (_, minute) =>
    point(NOON - 3_600_000 + minute * MINUTE_MS, (minute % 90) / 100),
  )
  const { history, requested } = remembering(published)
  const { at, clock } = openPast(history)
  for (let second = 0; second < 300; second += 1) {
    const answer = await at(clock.nowMs())
    assert.ok(answer !== null && clock.nowMs() - answer.timeMs <= 2 * MINUTE_MS, `${second}`)
    clock.advance(1_000)
  }
  assert.equal(requested.length, 5)
})

test('requests the last minute of a day a second time from the venue after the day ends', async () => {
  const published = [point(TODAY_MS + DAY_MS - 3_600_000, 0.2)]
  const { history, requested } = remembering(published)
  const { at, clock } = openPast(history)
  clock.advance(TODAY_MS + DAY_MS + 5_000 - NOON)
  const atMs = TODAY_MS + DAY_MS - 1
  assert.deepEqual(await at(atMs), published[0])
  published.push(point(TODAY_MS + DAY_MS - 30_000, 0.4))
  assert.deepEqual(at(atMs), published[0])
  clock.advance(MINUTE_MS)
  assert.deepEqual(await at(atMs), published[1])
  clock.advance(DAY_MS)
  assert.deepEqual(at(atMs), published[1])
  assert.equal(requested.length, 2)
})

test('requests the prices of an ended market once a day and not once a minute', async () => {
  const closeAtMs = timeMs(NOON - 5 * DAY_MS)
  const ended = [
    { status: 'closed', closeAtMs, asksMax: 0 },
    {
      status: 'resolved',
      settlementPrice: micros(1),
      asksMax: 20,
      closeAtMs: timeMs(NOON + 30 * DAY_MS),
    },
  ] as const
  for (const { asksMax, ...set } of ended) {
    const { history, requested } = remembering([point(closeAtMs - 3_600_000, 0.99)])
    const { at, clock } = openPast(history, set)
    const first = await at(clock.nowMs())
    assert.equal(first?.price, micros(0.99))
    const { length } = requested
    for (let minute = 0; minute < 11 * 60; minute += 1) {
      clock.advance(MINUTE_MS)
      assert.deepEqual(await at(clock.nowMs()), first, set.status)
    }
    assert.ok(requested.length - length <= asksMax, `${requested.length - length} more`)
  }
})

test('repeats the request for a day without prices with growing delays, and does not cache the empty day permanently', async () => {
  const points: PricePoint[] = []
  const { history, requested } = remembering(points)
  const resolved = { status: 'resolved', closeAtMs: timeMs(NOON - 2 * DAY_MS) } as const
  for (const set of [{}, resolved]) {
    points.length = 0
    const { at, clock, tables } = openPast(history, set)
    const atMs = NOON - 3 * DAY_MS
    assert.equal(await at(atMs), null)
    const { length } = requested
    clock.advance(MINUTE_MS - 1)
    assert.equal(await at(atMs), null)
    assert.equal(requested.length, length, 'the empty answer is cached for a minute')
    clock.advance(1)
    assert.equal(await at(atMs), null)
    assert.ok(requested.length > length)
    const second = requested.length
    clock.advance(2 * MINUTE_MS - 1)
    assert.equal(await at(atMs), null)
    assert.equal(requested.length, second, 'the next empty answer is cached for two minutes')
    points.push(point(atMs - 60_000, 0.7), point(atMs + 60_000, 0.9))
    clock.advance(2 * MINUTE_MS)
    assert.equal((await at(atMs))?.price, micros(0.7))
    const later = openPast(history, { ...set, tables, clock })
    assert.equal((await later.at(atMs))?.price, micros(0.7))
  }
})

test('merges new prices of a day with stored prices, and removes no price after an older or empty answer', async () => {
  const points = [point(NOON - 7_200_000, 0.1), point(NOON - 3_600_000, 0.2)]
  const { history } = remembering(points)
  const { at, clock } = openPast(history)
  assert.equal((await at(NOON))?.price, micros(0.2))
  for (const damaged of [[], [point(NOON - 7_200_000, 0.1)]]) {
    points.splice(0, points.length, ...damaged)
    clock.advance(3_600_000)
    assert.equal((await at(clock.nowMs()))?.price, micros(0.2))
    assert.equal((await at(NOON - 3_600_000))?.price, micros(0.2))
  }
  points.splice(0, points.length, point(clock.nowMs() - 120_000, 0.5))
  clock.advance(3_600_000)
  assert.equal((await at(clock.nowMs()))?.price, micros(0.5))
  assert.equal((await at(NOON - 3_600_000))?.price, micros(0.2))
})

test('returns no past price and sends no venue request for times in 1970 or before', async () => {
  const { history, requested } = remembering([])
  const { at } = openPast(history, { createdAtMs: null, openAtMs: null })
  for (const atMs of [0, -1_000, -DAY_MS, Number.MIN_SAFE_INTEGER]) assert.equal(at(atMs), null)
  assert.equal(requested.length, 0)
  assert.equal(await at(3 * DAY_MS), null)
  assert.ok(requested.length > 0 && requested.every(({ fromMs }) => fromMs >= 0))
})

test('returns a price that was current at most a minute before the requested time, in random histories', async () => {
  for (let seed = 1; seed <= 40; seed += 1) await checkRandomWorld(seed)
})

async function advanceBySeconds(clock: ManualClock, seconds: number) {
  for (let second = 0; second < seconds; second += 1) {
    await new Promise((resolve) => setImmediate(resolve))
    clock.advance(1_000)
  }
  await new Promise((resolve) => setImmediate(resolve))
}

async function checkRandomWorld(seed: number) {
  const random = seededRandom(`past ${seed}`)
  const beginMs = TODAY_MS - 2 * DAY_MS + random.below(DAY_MS)
  const truth: PricePoint[] = []
  for (let atMs = beginMs; atMs < NOON; atMs += 1_000 * (1 + random.below(20_000))) {
    truth.push(point(atMs, (1 + random.below(99)) / 100))
  }
  const trueAt = (atMs: number) => truth.filter(({ timeMs: changeMs }) => changeMs <= atMs).at(-1)
  const published: PricePoint[] = []
  for (let atMs = Math.ceil(beginMs / MINUTE_MS) * MINUTE_MS; atMs <= NOON; atMs += MINUTE_MS) {
    const price = trueAt(atMs)?.price
    if (price !== undefined) published.push({ timeMs: timeMs(atMs), price })
  }
  const { history, requested } = remembering(published)
  const { at, first, tables } = openPast(history, { createdAtMs: timeMs(beginMs - 86_400) })
  for (let fromMs = beginMs + random.below(DAY_MS); fromMs < NOON; ) {
    const toMs = Math.min(NOON - 1, fromMs + random.below(6 * 3_600_000))
    tables.coverage.put('a', timeMs(fromMs), timeMs(toMs))
    const price = trueAt(fromMs)?.price
    if (price !== undefined) first.past.push({ timeMs: timeMs(fromMs), price })
    first.past.push(...truth.filter(({ timeMs: ms }) => ms > fromMs && ms <= toMs))
    fromMs = toMs + 1 + random.below(6 * 3_600_000)
  }
  for (let query = 0; query < 40; query += 1) {
    const atMs = beginMs - 100_000 + random.below(NOON - beginMs + 100_000)
    const answer = await at(atMs)
    const right = trueAt(atMs)
    if (answer === null) {
      assert.ok(right === undefined || atMs - right.timeMs <= MINUTE_MS, `seed ${seed} at ${atMs}`)
      continue
    }
    assert.ok(answer.timeMs <= atMs)
    assert.equal(answer.price, trueAt(answer.timeMs)?.price, `seed ${seed} at ${atMs}`)
    const isRecent = atMs - answer.timeMs <= MINUTE_MS
    assert.ok(isRecent || answer.price === right?.price, `seed ${seed} at ${atMs}`)
  }
  assert.ok(
    requested.length <= 6,
    'at most one request for each of the three days and the time before',
  )
}

const wave = (atMs: TimeMs): PriceMicros =>
  priceMicros(500_000 + Math.round(300_000 * Math.sin(atMs / 5_000_000)))

async function openSimulatedA(t: TestContext, tables = pastTables()) {
  const venue = await startStubVenue()
  venue.world.addEvent(1)
  const market = Object.assign(marketAt(venue.world, 0), { fairPrice: wave })
  const parts = { clock: systemClock, random: seededRandom(1), log: silentLog }
  const { gamma, clob, data, clock } = venue
  const hosts = { gamma, clob, data, marketWs: 'ws://127.0.0.1:1', rtdsWs: 'ws://127.0.0.1:1' }
  const opened = openPolymarket({ ...parts, metrics: new Metrics(), emit: () => {} }, hosts)
  t.after(async () => {
    await opened.feed.stop()
    await venue.stop()
  })
  let calls = 0
  const history: VenuePastPrices = {
    read(...requested) {
      calls += 1
      return opened.pastPrices.read(...requested)
    },
  }
  const [yes, no] = market.listing.tokens
  const outcomes = [
    { label: 'Yes', id: outcomeId(yes) },
    { label: 'No', id: outcomeId(no) },
  ]
  const set = { nativeId: nativeMarketId(market.listing.nativeId), outcomes, tables, clock }
  return { ...openPast(history, set), counted: () => calls, reopen: () => openPast(history, set) }
}

test('returns the current price for every past time since that price was first observed', () => {
  const { history, requested } = remembering([point(NOON - 5 * MINUTE_MS, 0.9)])
  const { at, first, live } = openPast(history)
  live.sinceMs = timeMs(NOON - 30 * MINUTE_MS)
  first.isStale = false
  const observedAtMs = timeMs(NOON - 40 * MINUTE_MS)
  first.now = { ...first.now, price: micros(0.4), source: 'midpoint', observedAtMs }
  assert.deepEqual(at(NOON), { price: micros(0.4), timeMs: observedAtMs })
  assert.deepEqual(at(NOON - 30 * MINUTE_MS), { price: micros(0.4), timeMs: observedAtMs })
  assert.ok(at(NOON - 31 * MINUTE_MS) instanceof Promise, 'earlier ticks may be missing')
  first.isStale = true
  assert.ok(at(NOON) instanceof Promise, 'a stale book has no current price')
  assert.ok(requested.length > 0)
})

test('returns the settlement price for any time after a resolved market closed', async () => {
  const { history } = remembering([point(NOON - 3 * DAY_MS, 0.7)])
  const closeAtMs = timeMs(NOON - 2 * DAY_MS)
  const settled = { status: 'resolved', settlementPrice: micros(1), closeAtMs } as const
  const { at, first } = openPast(history, settled)
  first.now = { ...first.now, source: 'settlement', price: micros(1), observedAtMs: NOON }
  assert.deepEqual(at(NOON - DAY_MS), { price: micros(1), timeMs: closeAtMs })
  assert.deepEqual(at(closeAtMs), { price: micros(1), timeMs: closeAtMs })
  assert.equal((await at(closeAtMs - DAY_MS + 1_000))?.price, micros(0.7))
})

test('requests a price range in windows, newest first, at most once a minute for any number of clients', async () => {
  const points = [40, 20, 5, 1].map((days) => point(NOON - days * DAY_MS, days / 100))
  const { history, requested } = remembering(points)
  const { past, first, clock } = openPast(history, { createdAtMs: timeMs(NOON - 44 * DAY_MS) })
  const stretch = { fromMs: timeMs(NOON - 60 * DAY_MS), toMs: timeMs(NOON), stepMs: DAY_MS }
  const answers = await Promise.all([past.range(first, stretch), past.range(first, stretch)])
  for (const answer of answers) assert.deepEqual(answer, points, 'ascending')
  const days = requested.map(({ fromMs, toMs }) => [
    (NOON - fromMs) / DAY_MS,
    (NOON - toMs) / DAY_MS,
  ])
  assert.deepEqual(
    days.map((ends) => ends.map(Math.round)),
    [
      [15, 0],
      [30, 15],
      [44, 30],
    ],
  )
  await past.range(first, { ...stretch, fromMs: timeMs(NOON - 3 * DAY_MS) })
  assert.equal(requested.length, 3, 'a shorter range is served from the cache')
  clock.advance(61_000)
  await past.range(first, stretch)
  assert.equal(requested.length, 6)
  const minutes = { fromMs: timeMs(NOON - DAY_MS + 1), toMs: timeMs(NOON), stepMs: 5 * MINUTE_MS }
  await past.range(first, minutes)
  assert.ok(
    requested.slice(6).every(({ fromMs, toMs }) => toMs - fromMs < DAY_MS),
    'windows shorter than a day',
  )
  const unborn = { ...stretch, toMs: timeMs(NOON - 50 * DAY_MS) }
  assert.deepEqual(await past.range(first, unborn), [])
  assert.equal(requested.length, 7, 'no request for a time before the market existed')
})

test('retains stored prices when the venue returns an empty answer, and evicts the oldest range', async () => {
  const points = [point(NOON - DAY_MS, 0.4)]
  const { history, requested } = remembering(points)
  const { past, first, market, clock } = openPast(history)
  const stretch = { fromMs: timeMs(NOON - 2 * DAY_MS), toMs: timeMs(NOON), stepMs: DAY_MS }
  assert.deepEqual(await past.range(first, stretch), points)
  points.length = 0
  clock.advance(61_000)
  const stored = await past.range(first, stretch)
  assert.deepEqual(stored, [point(NOON - DAY_MS, 0.4)])
  const before = requested.length
  for (let number = 2; number <= pastRangesMax + 1; number += 1) {
    await past.range(market(`m${number}`, number), stretch)
  }
  await past.range(first, stretch)
  assert.equal(requested.length, before + pastRangesMax + 1, 'the oldest range was evicted')
})

test('reports a price range as unavailable when the venue does not answer, and requests the range later', async () => {
  const { history, held, requested } = remembering([])
  const { past, first } = openPast(history)
  const stretch = { fromMs: timeMs(NOON - DAY_MS), toMs: timeMs(NOON), stepMs: DAY_MS }
  held.answer = () => Promise.reject(new Error('down'))
  await assert.rejects(past.range(first, stretch), isUnavailable)
  held.answer = async () => {}
  assert.deepEqual(await past.range(first, stretch), [])
  assert.equal(requested.length, 2)
})

test('requests one client’s price at once while a second client sends ten times its share of requests', async () => {
  const { history, requested, held } = remembering([point(TODAY_MS, 0.5)])
  const gates: (() => void)[] = []
  held.answer = () => new Promise((resolve) => gates.push(resolve))
  const { past, market } = openPast(history)
  const ask = (number: number, requester: Requester) =>
    Promise.resolve(past.at(market(`m${number}`, number), timeMs(TODAY_MS + 1_000), requester))
  const flood = Array.from({ length: 80 }, (_, index) =>
    ask(index + 1, ['flood', '10.0.0.1']).catch((error: unknown) => error),
  )
  assert.equal(requested.length, 2)
  const other = ask(100, ['other', '10.0.0.2'])
  assert.equal(requested.length, 3)
  gates[2]?.()
  assert.equal((await other)?.price, micros(0.5))
  past.stop()
  for (const open of gates) open()
  await Promise.all(flood)
})

for (const [name, requesterOf] of [
  ['an account at many addresses', (number: number) => ['account', `10.0.1.${number}`]],
  ['many accounts of an address', (number: number) => [`account ${number}`, '10.0.0.1']],
] as const) {
  test(`requests at most 120 past prices a minute for ${name}`, async () => {
    const { history, requested } = remembering([point(TODAY_MS, 0.5)])
    const { past, market, clock } = openPast(history)
    const ask = async (number: number, requester: Requester) =>
      past.at(market(`m${number}`, number), timeMs(TODAY_MS + 1_000), requester)
    for (let number = 1; number <= 120; number += 1) await ask(number, requesterOf(number))
    await assert.rejects(
      ask(121, requesterOf(121)),
      (error) =>
        error instanceof EngineError &&
        error.code === 'RATE_LIMITED' &&
        error.retryAfterSeconds === 60,
    )
    assert.equal(
      (await ask(1, requesterOf(1)))?.price,
      micros(0.5),
      'stored prices do not use quota',
    )
    await ask(122, ['other', '10.0.0.2'])
    clock.advance(60_000)
    await ask(121, requesterOf(121))
    assert.equal(requested.length, 122)
  })
}
