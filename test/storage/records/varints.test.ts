// Whole numbers in as few bytes as they need come back as they were.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  signedMax,
  VarintReader,
  varintBytesMax,
  writeSigned,
  writeVarint,
} from '../../../storage/records/varints.ts'

const numRuns = process.env.TEST_LONG === '1' ? 100_000 : 2_000

test('round-trips every safe unsigned integer, and signed integers within 2^52', () => {
  const unsigned = fc.maxSafeNat()
  const signed = fc.integer({ min: -signedMax, max: signedMax - 1 })
  const property = fc.property(unsigned, signed, fc.nat({ max: 300 }), (one, other, small) => {
    const bytes = Buffer.alloc(3 * varintBytesMax)
    let position = writeVarint(bytes, 0, one)
    assert.ok(position <= varintBytesMax)
    position = writeSigned(bytes, position, other)
    const before = position
    position = writeVarint(bytes, position, small)
    assert.equal(position - before, small < 128 ? 1 : 2)
    const reader = new VarintReader(bytes.subarray(0, position))
    assert.deepEqual([reader.next(), reader.nextSigned(), reader.next()], [one, other, small])
    assert.ok(reader.isAtEnd)
    const cut = new VarintReader(bytes.subarray(0, before - 1))
    cut.next()
    assert.throws(() => cut.nextSigned(), RangeError)
  })
  fc.assert(property, {
    numRuns,
    seed: 3,
    examples: [
      [Number.MAX_SAFE_INTEGER, -signedMax, 0],
      [2 ** 32, signedMax - 1, 127],
      [2 ** 49 - 1, -1, 128],
    ],
  })
})

test('rejects a varint longer than the maximum length', () => {
  const endless = new VarintReader(Buffer.alloc(12, 0xff))
  assert.throws(() => endless.next(), RangeError)
})
