// The bounds of what is kept, against a plain list in order of putting.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../engine/random.ts'
import { BoundedCache } from '../../../http/records/bounded-cache.ts'

test('keeps the cache within its count and bytes and evicts in order of insertion', () => {
  const bounds = { countMax: 20, bytesMax: 64_000 }
  const kept = new BoundedCache<number, { bytes: number }>(bounds)
  const random = seededRandom(11)
  let plain: { market: number; value: { bytes: number } }[] = []
  for (let step = 0; step < 5_000; step += 1) {
    const market = random.below(60)
    const value = { bytes: random.below(step % 500 < 250 ? 1_000 : 1_100) }
    kept.put(market, value)
    plain = plain.filter((row) => row.market !== market)
    if (value.bytes <= 1_000) plain.push({ market, value })
    const weight = () => plain.reduce((sum, row) => sum + row.value.bytes, 0)
    while (plain.length > bounds.countMax || weight() > bounds.bytesMax) plain.shift()
    assert.equal(kept.count, plain.length)
    assert.equal(kept.bytes, weight())
    for (let other = 0; other < 60; other += 1) {
      assert.equal(kept.get(other), plain.find((row) => row.market === other)?.value)
    }
  }
})

test('bounds the cache by bytes alone', () => {
  const kept = new BoundedCache<number, { bytes: number }>({ countMax: 1_000_000, bytesMax: 6_400 })
  for (let market = 0; market < 1_000; market += 1) kept.put(market, { bytes: 100 })
  assert.equal(kept.count, 64)
  assert.equal(kept.get(935), undefined)
  assert.ok(kept.get(936) !== undefined)
})
