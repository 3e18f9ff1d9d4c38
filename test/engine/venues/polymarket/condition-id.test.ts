import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conditionId } from '../../../../engine/venues/polymarket/condition-id.ts'

test('pads a condition id of 62 digits on the right, and writes all condition ids in lower case', () => {
  const short = `0x01${'ab'.repeat(30)}`
  assert.equal(conditionId(short), `${short}00`)
  assert.equal(conditionId(`${short}00`), `${short}00`)
  assert.equal(conditionId(`0x${short.slice(2).toUpperCase()}`), `${short}00`)
  assert.equal(conditionId(`0x${'AB'.repeat(32)}`), `0x${'ab'.repeat(32)}`)
  for (const other of ['', '0x12', `${short}0`, `${short}0000`, 'will-it-rain']) {
    assert.equal(conditionId(other), other)
  }
})
