import assert from 'node:assert/strict'
import { test } from 'node:test'
import { outcomeId } from '../../../engine/ids.ts'
import { WalletPins } from '../../../http/wallets/pins.ts'

const tokens = (...names: readonly string[]) => names.map(outcomeId)

test('retains a pinned order for five minutes after it was last built and shares it while the order is unchanged', () => {
  let nowMs = 0
  const pins = new WalletPins({ monotonicMs: () => nowMs })
  const first = pins.add('ann', tokens('1', '2'))
  assert.equal(pins.add('ann', tokens('1', '2')), first)
  const moved = pins.add('ann', tokens('2', '1'))
  const other = pins.add('bob', tokens('2', '1'))
  assert.equal(new Set([first, moved, other]).size, 3)
  assert.deepEqual(pins.resume(first), tokens('1', '2'))
  nowMs = 200_000
  assert.equal(pins.add('ann', tokens('2', '1')), moved)
  nowMs = 300_000
  assert.equal(pins.resume(first), null)
  assert.equal(pins.resume(other), null)
  assert.deepEqual(pins.resume(moved), tokens('2', '1'))
  nowMs = 500_000
  assert.equal(pins.resume(moved), null)
  assert.ok(pins.add('ann', tokens('2', '1')) > other, 'no pin is used twice')
})

test('evicts the oldest pinned orders beyond the row limit, but never the newest', () => {
  const pins = new WalletPins({ monotonicMs: () => 0 }, 5)
  const made = ['a', 'b', 'c'].map((name) => pins.add(name, tokens('1', '2')))
  assert.deepEqual(
    made.map((pin) => pins.resume(pin) !== null),
    [false, true, true],
  )
  const long = pins.add('d', tokens('1', '2', '3', '4', '5', '6'))
  assert.equal(pins.resume(long)?.length, 6)
  assert.deepEqual(
    made.map((pin) => pins.resume(pin)),
    [null, null, null],
  )
})
