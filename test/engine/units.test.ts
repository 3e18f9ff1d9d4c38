import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  complement,
  microsFromDecimal,
  midPrice,
  notionalMicros,
  parsePrice,
  parseSize,
  parseTime,
  priceCents,
  priceMicros,
  roundPrice,
  sizeMicros,
  toDecimal,
  toNumber,
} from '../../engine/units.ts'

test('converts decimal text to exact millionths, and millionths to decimal text', () => {
  const table: [string, number | null][] = [
    ['0.415', 415_000],
    ['1', 1_000_000],
    ['-4.00', -4_000_000],
    ['0.1234567', null],
    ['0.1234560', 123_456],
    ['.5', 500_000],
    ['5.', 5_000_000],
    ['', null],
    ['.', null],
    ['-', null],
    ['1e3', null],
    ['0x10', null],
    ['1.2.3', null],
    [' 1', null],
    ['NaN', null],
    ['9007199254.740991', 9_007_199_254_740_991],
    ['9007199254.740992', null],
    ['99999999999999999999', null],
    ['-0', 0],
  ]
  for (const [text, micros] of table) assert.equal(microsFromDecimal(text), micros, text)
  fc.assert(
    fc.property(fc.integer({ min: -9e15, max: 9e15 }), (micros) => {
      assert.equal(microsFromDecimal(toDecimal(sizeMicros(micros))), micros + 0)
    }),
  )
})

test('accepts prices from 0 to 1 and sizes from 0, and rejects other values', () => {
  assert.equal(parsePrice('1.000001'), null)
  assert.equal(parsePrice('-0.1'), null)
  assert.equal(parsePrice('1.0'), 1_000_000)
  assert.equal(parseSize('-1'), null)
  assert.throws(() => priceMicros(0.5), RangeError)
  assert.throws(() => priceMicros(1_000_001), RangeError)
})

test('rounds a float price to the nearest micro-dollar and writes the shortest JSON number', () => {
  assert.equal(roundPrice(Number('0.5199999923664122')), 520_000)
  assert.deepEqual([roundPrice(0), roundPrice(1)], [0, 1_000_000])
  assert.equal(roundPrice(Number.NaN), null)
  assert.equal(roundPrice(1.1), null)
  for (let micros = 0; micros <= 1_000_000; micros += 997) {
    const text = JSON.stringify(toNumber(priceMicros(micros)))
    assert.ok(text.length <= 8, text)
    assert.equal(Math.round(Number(text) * 1e6), micros)
  }
})

test('rounds an integer price half up to whole cents', () => {
  assert.deepEqual(
    [414_999, 415_000, 5_000, 4_999, 1_000_000].map((p) => priceCents(priceMicros(p))),
    [41, 42, 1, 0, 100],
  )
})

test('computes notional value as price × size rounded down, like BigInt', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 1_000_000 }),
      fc.integer({ min: 0, max: 8_000_000_000_000_000 }),
      (price, size) => {
        const exact = (BigInt(price) * BigInt(size)) / 1_000_000n
        const fill = { price: priceMicros(price), size: sizeMicros(size) }
        assert.equal(BigInt(notionalMicros(fill)), exact)
      },
    ),
  )
})

test('returns complements and midpoints in whole micro-dollars, and parses the time formats of both venues', () => {
  assert.equal(complement(priceMicros(300_000)), 700_000)
  assert.equal(midPrice(priceMicros(1), priceMicros(2)), 2)
  assert.equal(parseTime('2026-01-09 06:36:50+00'), Date.UTC(2026, 0, 9, 6, 36, 50))
  assert.equal(parseTime('2026-01-09T06:36:50.123456Z'), Date.UTC(2026, 0, 9, 6, 36, 50, 123))
  assert.equal(parseTime('soon'), null)
})
