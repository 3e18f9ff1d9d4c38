import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Trade } from '../../engine/events.ts'
import { priceMicros, sizeMicros, timeMs, usdMicros } from '../../engine/units.ts'
import { FillSum, type WhaleFill, whaleKey } from '../../engine/whale.ts'
import { trade as storedTrade } from '../support/worlds/stored.ts'

const FACTS = { outcome: 'Yes', question: 'Q?', slug: 's', eventSlug: null, category: null }

function fill(id: string, changes: Partial<Trade> = {}, offset: number | null = 1): WhaleFill {
  const trade = { ...storedTrade(id), txHash: '0xt', ordinal: 0, ...changes }
  return { trade, receivedAtMs: trade.receivedAtMs, run: offset === null ? null : 1, offset }
}

function sumOf([first, ...others]: readonly WhaleFill[]): FillSum {
  assert.ok(first !== undefined)
  const sum = new FillSum(first)
  for (const other of others) sum.add(other)
  return sum
}

test('groups fills by transaction, taker, token and side, except fills without a transaction hash or taker', () => {
  const one = fill('one').trade
  assert.equal(whaleKey(one), whaleKey({ ...one, nativeId: 'two', price: priceMicros(1) }))
  const others: Partial<Trade>[] = [
    { txHash: '0xu' },
    { taker: '0xbb' },
    { outcomeIndex: 1 },
    { side: 'sell' },
  ]
  for (const other of others) assert.notEqual(whaleKey(one), whaleKey({ ...one, ...other }))
  assert.equal(whaleKey({ ...one, txHash: null }), null)
  const part = { ...one, nativeId: '0xt-part-0' }
  assert.equal(whaleKey({ ...part, taker: null }), whaleKey({ ...part, nativeId: '0xt-part-1' }))
  assert.equal(whaleKey({ ...one, taker: null }), null)
})

test('sums sizes and dollars of a group’s fills, and averages the price by size, rounded half up', () => {
  const at = (price: number, size: number, usd: number): Partial<Trade> => ({
    price: priceMicros(price),
    size: sizeMicros(size),
    usd: usdMicros(usd),
  })
  const sum = sumOf([
    fill('a', { ...at(400_000, 1_000_000, 400_000), maker: '0xm' }, 3),
    fill('b', { ...at(400_001, 1_000_000, 400_001), maker: '0xm' }, 2),
  ])
  const row = sum.row(FACTS, sum.first.trade)
  assert.equal(row.nativeId, 'b')
  assert.equal(row.price, 400_001)
  assert.equal(row.size, 2_000_000)
  assert.equal(row.usd, 800_001)
  assert.equal(row.maker, '0xm')
  assert.equal(row.wallet, row.taker)
  assert.equal(row.fills, 2)
  sum.add(fill('c', { ...at(0, 6_000_000, 0), maker: '0xn' }, 4))
  assert.equal(sum.row(FACTS, sum.first.trade).price, 100_000)
  assert.equal(sum.row(FACTS, sum.first.trade).maker, null)
})

test('adds fractions of a micro-dollar exactly and rounds the sum of a group once', () => {
  const third = (id: string, price: number, size: number, outcomeIndex = 0) => {
    const traded = outcomeIndex === 0 ? price : 1_000_000 - price
    const units = { price: priceMicros(price), size: sizeMicros(size), outcomeIndex }
    return fill(id, { ...units, usd: usdMicros(Math.floor((traded * size) / 1_000_000)) })
  }
  const half = (id: string) => third(id, 500_000, 10_000_000_001)
  assert.equal(sumOf([half('a'), half('b')]).usd, 10_000_000_001)
  const near = sumOf([third('a', 999_999, 10_000_009_998), third('b', 999_999, 1)])
  assert.equal(near.usd, 9_999_999_998)
  const below = sumOf([half('a'), third('b', 500_000, 9_999_999_998)])
  assert.equal(below.usd, 9_999_999_999)
  const other = [third('a', 400_000, 5_000_000_001, 1), third('b', 400_000, 5_000_000_001, 1)]
  assert.equal(sumOf(other).usd, 6_000_000_001)
})

test('limits the sums of a group to the largest safe integer, and never throws', () => {
  const huge = {
    size: sizeMicros(Number.MAX_SAFE_INTEGER),
    usd: usdMicros(Number.MAX_SAFE_INTEGER),
    price: priceMicros(1_000_000),
  }
  const sum = sumOf([fill('a', huge), fill('b', huge), fill('c', { size: sizeMicros(0) })])
  const row = sum.row(FACTS, sum.first.trade)
  assert.deepEqual([row.size, row.usd, row.price], [huge.size, huge.usd, 1_000_000])
  const nothing = sumOf([fill('a', { size: sizeMicros(0) }), fill('b', { size: sizeMicros(0) })])
  assert.equal(nothing.row(FACTS, nothing.first.trade).price, 415_000)
})

test('computes the same whale for fills in any order', () => {
  const one = fc.record({
    price: fc.integer({ min: 0, max: 1_000_000 }),
    size: fc.integer({ min: 1, max: 2 ** 45 }),
    usd: fc.integer({ min: 0, max: 2 ** 40 }),
    maker: fc.constantFrom(null, '0xm', '0xn'),
    atMs: fc.integer({ min: 0, max: 5 }),
    isTold: fc.boolean(),
  })
  const shuffled = fc.array(one, { minLength: 1, maxLength: 8 }).chain((fills) => {
    const all = fills.map(({ price, size, usd, maker, atMs, isTold: isPublished }, index) => {
      const units = { price: priceMicros(price), size: sizeMicros(size), usd: usdMicros(usd) }
      const position = { timeMs: timeMs(atMs), ordinal: index }
      return fill(`f${index}`, { ...units, ...position, maker }, isPublished ? 10 + index : null)
    })
    return fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))
  })
  fc.assert(
    fc.property(shuffled, ([inOrder, mixed]) => {
      const [a, b] = [sumOf(inOrder), sumOf(mixed)]
      assert.deepEqual(b.row(FACTS, b.first.trade), a.row(FACTS, a.first.trade))
      assert.deepEqual(
        [b.isPublished, b.oldestMs, b.newestMs],
        [a.isPublished, a.oldestMs, a.newestMs],
      )
      const published = inOrder.find(({ offset }) => offset !== null)
      if (published !== undefined) assert.equal(a.first, published)
    }),
    { numRuns: 200 },
  )
})
