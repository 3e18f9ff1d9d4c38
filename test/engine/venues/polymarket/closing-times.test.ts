import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nativeMarketId } from '../../../../engine/ids.ts'
import { timeMs } from '../../../../engine/units.ts'
import { ClosingTimes } from '../../../../engine/venues/polymarket/closing-times.ts'

test('returns each market once after its closing time, even after a jump of the clock, and returns no removed market', () => {
  const times = new ClosingTimes()
  const atMs = { a: 1_500, b: 2_000, c: 2_000, d: 90_000_000, e: 90_000_000 }
  for (const [name, ms] of Object.entries(atMs)) times.add(nativeMarketId(name), timeMs(ms))
  times.remove(nativeMarketId('c'), timeMs(atMs.c))
  times.remove(nativeMarketId('e'), timeMs(1))
  assert.deepEqual(times.takeDue(1_999), [])
  assert.deepEqual(times.takeDue(2_000), ['a', 'b'])
  assert.deepEqual(times.takeDue(3_000), [])
  times.add(nativeMarketId('late'), timeMs(2_500))
  assert.deepEqual(times.takeDue(3_999), [], 'checks once a second')
  assert.deepEqual(times.takeDue(200_000_000), ['d', 'e', 'late'])
})
