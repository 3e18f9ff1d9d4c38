import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../../engine/random.ts'
import { Faults } from '../../../../engine/venues/simulator/faults.ts'

test('suppresses the book messages of one market for two minutes under the fault mute', () => {
  const faults = new Faults(['mute'], seededRandom('mute'))
  let nowMs = 0
  while (!faults.isMuted('x', nowMs)) nowMs += 1
  const beganMs = nowMs
  assert.ok(faults.isMuted('x', beganMs + 119_999))
  assert.equal(faults.isMuted('y', beganMs), false)
  assert.equal(faults.isMuted('x', beganMs + 120_000), false)
})

test('suppresses the messages of every book for a minute under the fault freeze, and no messages without the fault', () => {
  const faults = new Faults(['freeze'], seededRandom('freeze'))
  let nowMs = 0
  while (!faults.isFrozen(nowMs)) nowMs += 1_000
  assert.ok(faults.isFrozen(nowMs + 59_999))
  const off = new Faults([], seededRandom('off'))
  assert.equal(off.isFrozen(nowMs), false)
  assert.equal(off.isMuted('x', nowMs), false)
})
