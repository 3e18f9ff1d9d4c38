import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  BAR_MS,
  type Bar,
  barOf,
  barSizeOf,
  barStart,
  CANDLE_MS,
  flatBar,
  invertedBar,
  joined,
  lengthened,
  vwapOf,
} from '../../../engine/market/candle.ts'
import { type Random, seededRandom } from '../../../engine/random.ts'
import {
  complement,
  notionalMicros,
  priceMicros,
  sizeMicros,
  timeMs,
  usdMicros,
} from '../../../engine/units.ts'
import { naiveCandles } from '../../support/reference/naive/candles.ts'
import { NOON } from '../../support/worlds/builders.ts'

function traded(price: number, size: number, atMs: number, ordinal = 0) {
  const fill = { price: priceMicros(price), size: sizeMicros(size) }
  return { ...fill, timeMs: timeMs(atMs), ordinal, usd: notionalMicros(fill) }
}

function someTrades(random: Random, count: number) {
  const ordinals = new Map<number, number>()
  return Array.from({ length: count }, () => {
    const atMs = NOON + random.below(6) * 9_999
    const ordinal = ordinals.get(atMs) ?? 0
    ordinals.set(atMs, ordinal + 1)
    return traded(random.below(1_000_001), 1 + random.below(5_000_000), atMs, ordinal)
  })
}

function shuffled<Item>(random: Random, items: readonly Item[]): Item[] {
  const left = [...items]
  return items.map(() => left.splice(random.below(left.length), 1)[0] ?? assert.fail())
}

function joinedAnyhow(random: Random, bars: readonly Bar[]): Bar {
  const left = [...bars]
  while (left.length > 1) {
    const at = random.below(left.length - 1)
    const [one, other] = left.splice(at, 2)
    assert.ok(one !== undefined && other !== undefined)
    left.splice(at, 0, random.below(2) === 0 ? joined(one, other) : joined(other, one))
  }
  return left[0] ?? assert.fail()
}

const shown = (bar: Bar) => {
  const { startMs, open, high, low, close, usd, count } = bar
  return { startMs, open, high, low, close, usd, count, vwap: vwapOf(bar) }
}

test('builds the same bar from trades in any order and grouping as from sorted trades', () => {
  for (let seed = 0; seed < 500; seed += 1) {
    const random = seededRandom('bar', seed)
    const trades = someTrades(random, 1 + random.below(12))
    for (const size of ['minute', 'hour'] as const) {
      const bars = shuffled(random, trades).map((trade) => barOf(size, trade))
      const bar = joinedAnyhow(random, bars)
      assert.deepEqual([shown(bar)], naiveCandles(trades, BAR_MS[size]), `seed ${seed}`)
    }
  }
})

test('builds a bar of every longer interval by joining shorter bars', () => {
  for (let seed = 0; seed < 100; seed += 1) {
    const random = seededRandom('long', seed)
    const day = barStart(NOON, CANDLE_MS['1d'])
    const trades = Array.from({ length: 40 }, (_, ordinal) =>
      traded(
        random.below(1_000_001),
        1 + random.below(9_999),
        day + random.below(86_400_000),
        ordinal,
      ),
    )
    for (const lengthMs of Object.values(CANDLE_MS)) {
      const bars = new Map<number, Bar>()
      for (const trade of shuffled(random, trades)) {
        const bar = lengthened(barOf(barSizeOf(lengthMs), trade), lengthMs)
        const existing = bars.get(bar.startMs)
        bars.set(bar.startMs, existing === undefined ? bar : joined(existing, bar))
      }
      const inOrder = [...bars.values()].sort((one, other) => one.startMs - other.startMs)
      assert.deepEqual(inOrder.map(shown), naiveCandles(trades, lengthMs))
    }
  }
  for (const lengthMs of Object.values(CANDLE_MS)) {
    assert.equal(lengthMs % BAR_MS[barSizeOf(lengthMs)], 0)
    assert.equal(CANDLE_MS['1d'] % lengthMs, 0)
  }
})

test('inverts the prices of a bar for the second outcome, swaps high and low, and retains dollar amounts', () => {
  const trades = [traded(200_000, 3_000_000, NOON), traded(900_000, 1_000_000, NOON + 5)]
  const [first, last] = trades.map((trade) => barOf('minute', trade))
  assert.ok(first !== undefined && last !== undefined)
  const bar = joined(last, first)
  const turned = invertedBar(bar)
  assert.deepEqual([shown(turned)], naiveCandles(trades, 60_000, true))
  assert.deepEqual([turned.high, turned.low], [complement(bar.low), complement(bar.high)])
  assert.equal(vwapOf(bar) + vwapOf(turned), 1_000_000)
  assert.deepEqual(shown(invertedBar(turned)), shown(bar))
})

test('limits the sums of extreme trades to the safe integer range, and computes a mean price between low and high', () => {
  const huge = { ...traded(333_333, 9_000_000_000_000_000, NOON), usd: usdMicros(9e15) }
  let bar = barOf('minute', huge)
  for (let count = 2; count < 50; count += 1) bar = joined(bar, barOf('minute', huge))
  assert.equal(bar.usd, Number.MAX_SAFE_INTEGER)
  assert.equal(vwapOf(bar), 333_333)
  assert.equal(vwapOf(invertedBar(bar)), 666_667)
  assert.equal(vwapOf(barOf('minute', traded(410_000, 0, NOON))), 410_000)
  const flat = flatBar(timeMs(NOON), priceMicros(410_000))
  assert.deepEqual(
    [flat.open, flat.high, flat.low, flat.close],
    [410_000, 410_000, 410_000, 410_000],
  )
  assert.deepEqual([vwapOf(flat), flat.usd, flat.count], [410_000, 0, 0])
})
