import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryShares } from '../../../../engine/app/export/memory-shares.ts'

const EXPORTS = [1, 2, 3, 4, 5, 6, 7, 8]
const sum = (shares: readonly number[]): number => shares.reduce((total, share) => total + share, 0)

test('gives one export half of the memory, and eight exports at most 1,187,500 records together', () => {
  const shares = new MemoryShares()
  const given = EXPORTS.map((id) => shares.take(id))
  assert.equal(given[0], 500_000)
  assert.equal(sum(given), 1_187_500)
  assert.ok(Math.min(...given) >= 62_500)
})

test('gives the memory of an ended export to the next one', () => {
  const shares = new MemoryShares()
  for (const id of EXPORTS) shares.take(id)
  shares.release(1)
  for (let id = 9; id < 100; id += 1) {
    assert.ok(shares.take(id) <= 250_000)
    shares.release(id)
  }
  for (const id of EXPORTS) shares.release(id)
  assert.equal(shares.take(100), 500_000)
})
