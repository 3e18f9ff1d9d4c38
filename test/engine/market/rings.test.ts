import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Trade } from '../../../engine/events.ts'
import { PriceRing } from '../../../engine/market/price-ring.ts'
import { TradeRing } from '../../../engine/market/trade-ring.ts'
import { seededRandom } from '../../../engine/random.ts'
import { priceMicros, sizeMicros, timeMs, usdMicros } from '../../../engine/units.ts'

test('stores the newest prices in the same order as a plain array', () => {
  for (const capacity of [1, 3, 8, 20, 512]) {
    const random = seededRandom('ring', capacity)
    const ring = new PriceRing(capacity)
    const naive: { timeMs: number; price: number }[] = []
    for (let step = 0; step < 1_200; step += 1) {
      const point = { timeMs: step * 3, price: random.below(1_000_000) }
      ring.push(priceMicros(point.price), timeMs(point.timeMs))
      naive.push(point)
      if (naive.length > capacity) naive.shift()
      if (step % 50 === 0) check(ring, naive)
    }
    check(ring, naive)
  }
})

function check(ring: PriceRing, points: readonly { timeMs: number; price: number }[]): void {
  const found = points.map((point) => ring.before(timeMs(point.timeMs)))
  assert.deepEqual(found, points)
  assert.equal(ring.before(timeMs((points[0]?.timeMs ?? 0) - 1)), null)
}

test('returns the newest price at or before a given time, or null', () => {
  const ring = new PriceRing(4)
  assert.equal(ring.before(timeMs(5)), null)
  for (const at of [10, 20, 30, 40, 50]) ring.push(priceMicros(at), timeMs(at))
  assert.deepEqual(
    [9, 19, 20, 29, 50, 99].map((at) => ring.before(timeMs(at))?.price ?? null),
    [null, null, 20, 20, 50, 50],
  )
})

test('stores a price with an older time at the time of the newest price', () => {
  const ring = new PriceRing(4)
  ring.push(priceMicros(1), timeMs(20))
  ring.push(priceMicros(2), timeMs(10))
  assert.equal(ring.before(timeMs(19)), null)
  assert.deepEqual(ring.before(timeMs(20)), { price: 2, timeMs: 20 })
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

test('stores the newest trades by time and ordinal, for any order of arrival', () => {
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

test('replaces a stored trade by a later version of the trade that includes the wallets', () => {
  const ring = new TradeRing<Trade>(4)
  ring.push(row(1, 0))
  ring.replace({ ...row(1, 0), maker: '0xmaker' })
  ring.replace({ ...row(9, 9), maker: '0xmaker' })
  assert.deepEqual(
    ring.newest().map(({ maker }) => maker),
    ['0xmaker'],
  )
})
