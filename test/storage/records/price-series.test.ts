import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { NEWEST } from '../../../engine/codec.ts'
import { priceMicros } from '../../../engine/units.ts'
import { type PriceSeries, series } from '../../../storage/records/price-series.ts'

function packSeries(value: PriceSeries): Uint8Array {
  const packed = series.encode(value)
  assert.ok(packed instanceof Uint8Array)
  return packed
}
const unpackSeries = (packed: Uint8Array) => series.decode(packed, NEWEST)

const numRuns = process.env.TEST_LONG === '1' ? 20_000 : 500

test('encodes a price series in two to seven bytes per price, and decodes the same series', () => {
  const point = fc.tuple(fc.nat({ max: 86_399 }), fc.nat({ max: 1_000_000 }))
  const pointLists = fc.uniqueArray(point, { selector: ([second]) => second, maxLength: 200 })
  const property = fc.property(pointLists, (unsorted) => {
    const sorted = [...unsorted].sort(([one], [other]) => one - other)
    const points = {
      seconds: sorted.map(([second]) => second),
      prices: sorted.map(([, price]) => priceMicros(price)),
    }
    const bytes = packSeries(points)
    assert.deepEqual(unpackSeries(bytes), points)
    assert.ok(bytes.length <= 7 * sorted.length)
  })
  fc.assert(property, { numRuns, seed: 4 })
  const calm = { seconds: [5, 6, 7], prices: [500_000, 500_000, 500_000].map(priceMicros) }
  assert.equal(packSeries(calm).length, 4 + 2 + 2)
})

test('throws when the seconds of a price series do not ascend or lie outside a day', () => {
  const price = priceMicros(1)
  for (const seconds of [[1, 1], [2, 1], [-1], [86_400]]) {
    assert.throws(() => packSeries({ seconds, prices: seconds.map(() => price) }), /seconds/)
  }
  assert.throws(() => packSeries({ seconds: [1], prices: [] }), /each second/)
  assert.throws(() => unpackSeries(Buffer.of(1, 0x80)), RangeError)
  assert.throws(() => unpackSeries(Buffer.of(1, 1)), RangeError, 'a price below 0')
})
