import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../../engine/clock.ts'
import { outcomeId } from '../../../engine/ids.ts'
import { seededRandom } from '../../../engine/random.ts'
import { textRanks, WalletPins } from '../../../http/wallets/positions.ts'

const tokens = (...names: readonly string[]) => names.map(outcomeId)

test('stores the order of a position list for five minutes after its last use, and reuses an unchanged order', () => {
  let nowMs = 1
  const pins = new WalletPins({ monotonicMs: () => nowMs })
  const first = pins.add('ann', tokens('1', '2'))
  assert.equal(pins.add('ann', tokens('1', '2')), first)
  const moved = pins.add('ann', tokens('2', '1'))
  const other = pins.add('bob', tokens('2', '1'))
  assert.equal(new Set([first, moved, other]).size, 3)
  assert.deepEqual(pins.resume(first), tokens('1', '2'))
  nowMs = 200_000
  assert.equal(pins.add('ann', tokens('2', '1')), moved)
  nowMs = 300_002
  assert.equal(pins.resume(first), null)
  assert.equal(pins.resume(other), null)
  assert.deepEqual(pins.resume(moved), tokens('2', '1'))
  nowMs = 500_001
  assert.equal(pins.resume(moved), null)
  assert.ok(pins.add('ann', tokens('2', '1')) > other, 'no pin is used twice')
})

test('evicts the oldest stored orders of position lists beyond the row limit, but never the newest order', () => {
  const pins = new WalletPins({ monotonicMs: () => 1 }, 5)
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

test('ranks texts like a reference implementation, with equal ranks for equal texts', async () => {
  const random = seededRandom('texts')
  for (const count of [0, 1, 2, 511, 512, 513, 1_537, 9_000]) {
    const texts = Array.from({ length: count }, () => {
      const letters = Array.from({ length: 1 + random.below(3) }, () =>
        random.pick(['a', 'Z', 'é', '😀', ' ']),
      )
      return random.below(9) === 0 ? null : `${letters.join('')}${random.below(count)}`
    })
    const ranks = await textRanks(systemClock, texts)
    const different = [...new Set(texts.filter((text) => text !== null))].sort()
    assert.deepEqual(
      [...ranks],
      texts.map((text) => (text === null ? Number.NaN : different.indexOf(text))),
    )
  }
})
