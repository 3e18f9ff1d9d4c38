import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WindowCounts } from '../../../http/request/load-limits.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'

test('counts each name separately, and starts at zero in the next window', () => {
  const clock = new ManualClock()
  const counts = new WindowCounts(clock, 1_000)
  assert.deepEqual([counts.add('one'), counts.add('one'), counts.add('other')], [1, 2, 1])
  clock.advance(999)
  assert.equal(counts.add('one'), 3)
  clock.advance(1)
  assert.equal(counts.add('one'), 1)
})

test('adds the counts of all names beyond the first 10,000 in one counter', () => {
  const counts = new WindowCounts(new ManualClock(), 1_000)
  for (let number = 0; number < 10_000; number += 1) counts.add(`name ${number}`)
  assert.deepEqual([counts.add('new'), counts.add('another'), counts.add('name 0')], [1, 2, 2])
})
