// The rings and ticks in memory against plain arrays.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Trade } from '../../../engine/events.ts'
import { OpenHour } from '../../../engine/market/hour-ticks.ts'
import { priceOf } from '../../../engine/market/price.ts'
import { PriceRing } from '../../../engine/market/price-ring.ts'
import { TradeRing } from '../../../engine/market/trade-ring.ts'
import { seededRandom } from '../../../engine/random.ts'
import { priceMicros, sizeMicros, timeMs, usdMicros } from '../../../engine/units.ts'

test('retains the newest prices in order, like a plain array', () => {
  for (const capacity of [1, 3, 8, 20, 512]) {
    const random = seededRandom('ring', capacity)
    const ring = new PriceRing(capacity)
    const naive: { timeMs: number; price: number }[] = []
    for (let step = 0; step < 1_200; step += 1) {
      const point = { timeMs: step * 3, price: random.below(1_000_000) }
      ring.push(priceMicros(point.price), timeMs(point.timeMs))
      naive.push(point)
      if (naive.length > capacity) naive.shift()
      if (step % 50 === 0) assert.deepEqual(ring.points(), naive)
    }
    assert.deepEqual(ring.points(), naive)
  }
})

test('returns the newest price at or before a time, or null', () => {
  const ring = new PriceRing(4)
  assert.equal(ring.before(timeMs(5)), null)
  for (const at of [10, 20, 30, 40, 50]) ring.push(priceMicros(at), timeMs(at))
  assert.deepEqual(
    [9, 19, 20, 29, 50, 99].map((at) => ring.before(timeMs(at))?.price ?? null),
    [null, null, 20, 20, 50, 50],
  )
})

function row(atMs: number, ordinal: number): Trade {
  return {
    nativeId: `${atMs}-${ordinal}`,
    timeMs: timeMs(atMs),
    ordinal,
    price: priceMicros(1),
    size: sizeMicros(1),
    side: 'buy',
    outcomeIndex: 0,
    usd: usdMicros(1),
    maker: null,
    taker: null,
    txHash: null,
    isBlock: false,
  }
}

test('retains the newest trades by time and ordinal, in any order of arrival', () => {
  for (let seed = 0; seed < 50; seed += 1) {
    const random = seededRandom('trades', seed)
    const ring = new TradeRing<Trade>(16)
    const all: Trade[] = []
    for (let step = 0; step < 200; step += 1) {
      const trade = row(Math.max(0, step - random.below(30)), step)
      ring.push(trade)
      all.push(trade)
      all.sort((one, other) => other.timeMs - one.timeMs || other.ordinal - one.ordinal)
      assert.deepEqual(ring.newest(), all.slice(0, 16), `seed ${seed} step ${step}`)
    }
  }
})

test('replaces a trade by its completed version', () => {
  const ring = new TradeRing<Trade>(4)
  ring.push(row(1, 0))
  ring.replace({ ...row(1, 0), maker: '0xmaker' })
  ring.replace({ ...row(9, 9), maker: '0xmaker' })
  assert.deepEqual(
    ring.newest().map(({ maker }) => maker),
    ['0xmaker'],
  )
})

test('retains the last price of each second of an hour', () => {
  const hour = new OpenHour(100, { seconds: [1], prices: [priceMicros(5)] })
  const base = 100 * 3_600_000
  hour.push(priceMicros(10), timeMs(base + 2_000))
  hour.push(priceMicros(11), timeMs(base + 2_900))
  hour.push(priceMicros(12), timeMs(base + 3_599_999))
  assert.deepEqual(
    [hour.seconds, hour.prices],
    [
      [1, 2, 3_599],
      [5, 11, 12],
    ],
  )
  assert.deepEqual(hour.before(timeMs(base + 5_000)), { price: 11, timeMs: base + 2_000 })
  assert.equal(hour.before(timeMs(base + 500)), null)
})

test('selects the price source in order: settlement, narrow-spread midpoint, last trade, venue, single side, one half', () => {
  const nothing = {
    status: 'open',
    settlement: null,
    bid: null,
    ask: null,
    lastTrade: null,
    venuePrice: null,
  } as const
  const p = (value: number) => priceMicros(value)
  const table = [
    [{ ...nothing }, 500_000, 'none'],
    [{ ...nothing, ask: p(300_000) }, 300_000, 'one_side'],
    [{ ...nothing, ask: p(300_000), venuePrice: p(1) }, 1, 'venue'],
    [{ ...nothing, ask: p(300_000), venuePrice: p(1), lastTrade: p(2) }, 2, 'last_trade'],
    [{ ...nothing, bid: p(200_000), ask: p(300_000), lastTrade: p(2) }, 250_000, 'midpoint'],
    [{ ...nothing, bid: p(199_999), ask: p(300_000), lastTrade: p(2) }, 2, 'last_trade'],
    [
      { ...nothing, bid: p(200_000), ask: p(300_000), settlement: p(1_000_000) },
      250_000,
      'midpoint',
    ],
    [
      {
        ...nothing,
        status: 'resolved',
        bid: p(200_000),
        ask: p(300_000),
        settlement: p(1_000_000),
      },
      1_000_000,
      'settlement',
    ],
  ] as const
  for (const [facts, price, source] of table) assert.deepEqual(priceOf(facts), { price, source })
})
