import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FEES_UNKNOWN } from '../../../engine/market/fees.ts'
import { seededRandom } from '../../../engine/random.ts'
import { barOfMessage, MarketBars } from '../../../http/dashboard/charts/candles.ts'
import type { Bar } from '../../../http/dashboard/charts/canvases.ts'
import { pairPoints } from '../../../http/dashboard/charts/pair-points.ts'
import { TAPE_TRADES_MAX, type TapeTrade, withTrade } from '../../../http/dashboard/pages/market.ts'
import { tradedOf } from '../../../http/dashboard/parts/figures.ts'
import { foldedText } from '../../../http/dashboard/parts/market-facts.ts'
import { feesRecord } from '../../../http/records/render.ts'

const SEEDS = process.env.TEST_LONG === '1' ? 20 : 5

const trade = (number: number): TapeTrade => ({
  id: `t${number}`,
  price: 0.5,
  size: 1,
  size_usd: 0.5,
  side: 'buy',
  outcome: 'Yes',
  timestamp_ms: number * 1_000,
})

test('describes a trade by the outcome, side and price of its execution', () => {
  const quoted = { side: 'sell', price: 0.81, size: 100, size_usd: 19, outcome: 'Nationals' }
  const done = { side: 'buy', price: 0.19, outcome: 'Nationals' }
  assert.deepEqual(tradedOf(quoted, ['Mets', 'Nationals']), done)
  assert.deepEqual(tradedOf(quoted, null), done, 'the paid amount identifies the outcome')
  const first = { side: 'sell', price: 0.81, outcome: 'Nationals' }
  assert.deepEqual(tradedOf(quoted, ['nationals', 'Mets']), first)
  assert.deepEqual(tradedOf({ ...quoted, size_usd: 81 }, null), first)
  for (const price of [0.5, 0.500_001]) {
    const even = { side: 'sell', price, size: 100, size_usd: 50, outcome: 'No' }
    assert.deepEqual(tradedOf(even, null).side, 'buy')
    assert.deepEqual(tradedOf({ ...even, outcome: 'Yes' }, null).side, 'sell')
    const unknown = { side: null, price, outcome: 'Mets' }
    assert.deepEqual(
      tradedOf({ ...even, outcome: 'Mets' }, null),
      unknown,
      'an unknown outcome has no side',
    )
  }
  const unnamed = { side: 'sell', price: 0.81, outcome: 'Mets' }
  assert.deepEqual(tradedOf({ ...quoted, outcome: null }, ['Mets', 'Nationals']), unnamed)
})

const bar = (minute: number, set: Partial<Bar> = {}): Bar => ({
  timestamp_ms: minute * 60_000,
  open: 0.5,
  high: 0.5,
  low: 0.5,
  close: 0.5,
  volume: 1,
  trades_count: 1,
  closed: false,
  ...set,
})

test('retains the newest 200 distinct trades in time order for any order of arrival', () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = seededRandom(seed)
    const all = Array.from({ length: 500 }, (_, number) => trade(number))
    const coming = [...all, ...all.slice(0, 100)]
      .map((one) => ({ one, order: random.next() }))
      .sort((first, second) => first.order - second.order)
    let tape: readonly TapeTrade[] = []
    for (const { one } of coming) tape = withTrade(tape, one)
    const newest = all.slice(-TAPE_TRADES_MAX).reverse()
    assert.deepEqual(
      tape.map(({ id }) => id),
      newest.map(({ id }) => id),
      `seed ${seed}`,
    )
  }
})

test('lists the later of two simultaneous trades first, and ignores duplicates', () => {
  const moment = { timestamp_ms: 1_000 }
  const tape = [1, 2, 1].reduce(
    (before: readonly TapeTrade[], number) => withTrade(before, { ...trade(number), ...moment }),
    [],
  )
  assert.deepEqual(
    tape.map(({ id }) => id),
    ['t2', 't1'],
  )
})

test('stores each candle once and in time order for any order of arrival', () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = seededRandom(seed)
    const bars = new MarketBars()
    const naive = new Map<number, Bar>()
    for (let count = 0; count < 400; count += 1) {
      const one = bar(random.below(50), { trades_count: 1 + random.below(9) })
      const existing = naive.get(one.timestamp_ms)
      const isNews = existing === undefined || one.trades_count > existing.trades_count
      const isNewest = [...naive.keys()].every((at) => at <= one.timestamp_ms)
      if (isNews) naive.set(one.timestamp_ms, one)
      assert.equal(bars.put(one), !isNews ? 'known' : isNewest ? 'newest' : 'older')
    }
    const sorted = [...naive.values()].sort((one, two) => one.timestamp_ms - two.timestamp_ms)
    assert.deepEqual(bars.all, sorted, `seed ${seed}`)
    assert.deepEqual(bars.last, sorted.at(-1))
  }
})

test('closes a candle once, and ignores an update with fewer trades than the stored candle', () => {
  const bars = new MarketBars()
  bars.put(bar(1, { trades_count: 5 }))
  assert.equal(bars.put(bar(1, { trades_count: 4, closed: true })), 'known')
  assert.equal(bars.put(bar(1, { trades_count: 5, closed: true })), 'newest')
  assert.equal(bars.put(bar(1, { trades_count: 5 })), 'known')
  assert.equal(bars.last?.closed, true)
})

test('ignores candle messages of another interval or without prices', () => {
  const fields = { interval: '1m', ...bar(3), vwap: 0.5 }
  assert.deepEqual(barOfMessage(fields, '1m'), bar(3))
  assert.equal(barOfMessage(fields, '5m'), null)
  assert.equal(barOfMessage(null, '1m'), null)
  assert.equal(barOfMessage({ ...fields, high: 'much' }, '1m'), null)
  assert.equal(barOfMessage({ interval: '1m' }, '1m'), null)
})

test('truncates a long rules text at a word boundary, and a very long word inside the word', () => {
  const rules = 'rule '.repeat(400)
  const folded = foldedText(rules)
  assert.ok(folded.length < 620 && rules.startsWith(folded.slice(0, -2)))
  assert.match(folded, /rule …$/)
  assert.equal(foldedText('x'.repeat(2_000)).length, 602)
})

test('joins the closes of two markets by time, converts the other outcome, and adds the fees of both', () => {
  const closes = (...minutes: readonly (readonly [minute: number, close: number])[]) =>
    minutes.map(([minute, close]) => bar(minute, { close }))
  const bars = { own: closes([2, 0.4], [4, 0.5]), other: closes([1, 0.3], [3, 0.35], [4, 0.45]) }
  const unknown = feesRecord(FEES_UNKNOWN, 0)
  const curve = { rate: 0.07, exponent: 1, multiplier: 2 }
  const free = { ...unknown, taker: { ...curve, rate: 0 } }
  const all = { fromMs: 0, ageMaxMs: 60_000 }
  const fees = [{ ...unknown, taker: curve }, free] as const
  const points = pairPoints(bars, { isInverted: true, fees, ...all })
  assert.deepEqual(
    points.map(({ atMs, own, other }) => [atMs / 60_000, own, other]),
    [
      [1, null, 0.7],
      [2, 0.4, 0.7],
      [3, 0.4, 0.65],
      [4, 0.5, 0.55],
    ],
  )
  const sums = points.map(({ fees: both }) => (both === null ? null : both.toFixed(6)))
  assert.deepEqual(sums, [null, '0.033600', '0.033600', '0.035000'])
  const same = pairPoints(bars, { isInverted: false, fees: [free, unknown], ...all })
  assert.deepEqual(
    same.map(({ other, fees: both }) => [other, both]),
    [
      [0.3, null],
      [0.3, null],
      [0.35, null],
      [0.45, null],
    ],
  )
})

test('starts a pair at the start of the range with the last older prices, and marks no gap to an old price', () => {
  const closes = (...minutes: readonly number[]) =>
    minutes.map((minute) => bar(minute, { close: minute / 100 }))
  const free = {
    ...feesRecord(FEES_UNKNOWN, 0),
    taker: { rate: 0, exponent: 1, multiplier: 1 },
  }
  const points = pairPoints(
    { own: closes(1, 4, 12, 16), other: closes(2, 13) },
    { isInverted: false, fees: [free, free], fromMs: 600_000, ageMaxMs: 120_000 },
  )
  assert.deepEqual(
    points.map(({ atMs, ownAtMs, otherAtMs, isAboveFees }) => [
      ...[atMs, ownAtMs, otherAtMs].map((ms) => (ms ?? 0) / 60_000),
      isAboveFees,
    ]),
    [
      [10, 4, 2, false],
      [12, 12, 2, false],
      [13, 12, 13, true],
      [16, 16, 13, false],
    ],
  )
})
