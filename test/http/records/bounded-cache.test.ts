// The bounds of what is kept, against a plain list in order of putting.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../engine/random.ts'
import { BoundedCache } from '../../../http/records/bounded-cache.ts'

test('limits the cache by count and bytes and evicts entries in insertion order', () => {
  const bounds = { countMax: 20, bytesMax: 64_000 }
  const stored = new BoundedCache<number, { bytes: number }>(bounds)
  const random = seededRandom(11)
  let plain: { market: number; value: { bytes: number } }[] = []
  for (let step = 0; step < 5_000; step += 1) {
    const market = random.below(60)
    const value = { bytes: random.below(step % 500 < 250 ? 1_000 : 1_100) }
    stored.put(market, value)
    plain = plain.filter((row) => row.market !== market)
    if (value.bytes <= 1_000) plain.push({ market, value })
    const weight = () => plain.reduce((sum, row) => sum + row.value.bytes, 0)
    while (plain.length > bounds.countMax || weight() > bounds.bytesMax) plain.shift()
    assert.equal(stored.count, plain.length)
    assert.equal(stored.bytes, weight())
    for (let other = 0; other < 60; other += 1) {
      assert.equal(stored.get(other), plain.find((row) => row.market === other)?.value)
    }
  }
})

test('limits the cache by bytes alone', () => {
  const stored = new BoundedCache<number, { bytes: number }>({
    countMax: 1_000_000,
    bytesMax: 6_400,
  })
  for (let market = 0; market < 1_000; market += 1) stored.put(market, { bytes: 100 })
  assert.equal(stored.count, 64)
  assert.equal(stored.get(935), undefined)
  assert.ok(stored.get(936) !== undefined)
})
