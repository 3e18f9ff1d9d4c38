// The binary keys: their byte order is the order of what they stand for.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  barKey,
  groupKey,
  hashNativeId,
  hourKey,
  nativeKey,
  readInteger,
  tradeKey,
  venueTimeKey,
  venueTradeKey,
  writeInteger,
} from '../../../storage/records/keys.ts'

const u32 = fc.nat({ max: 2 ** 32 - 1 })
const integer = fc.maxSafeInteger()
const numRuns = process.env.TEST_LONG === '1' ? 100_000 : 2_000

test('round-trips every safe integer through a key that sorts in numeric order', () => {
  const property = fc.property(integer, integer, (one, other) => {
    const [first, second] = [Buffer.alloc(8), Buffer.alloc(8)]
    writeInteger(first, 0, one)
    writeInteger(second, 0, other)
    assert.equal(readInteger(first, 0), one === 0 ? 0 : one)
    assert.equal(first.compare(second), Math.sign(one - other))
  })
  fc.assert(property, { numRuns, seed: 1 })
  for (const value of [0, -1, 1, -0, 2 ** 53 - 1, -(2 ** 53 - 1), 2 ** 32, 2 ** 32 - 1]) {
    const bytes = Buffer.alloc(8)
    writeInteger(bytes, 0, value)
    assert.equal(readInteger(bytes, 0), value === 0 ? 0 : value)
  }
})

test('sorts trade keys by market, time and ordinal, and group and hour keys by their parts', () => {
  const part = fc.tuple(fc.nat({ max: 3 }), fc.integer({ min: -3, max: 3 }), u32)
  const order = (one: readonly number[], other: readonly number[]) => {
    for (let index = 0; index < one.length; index += 1) {
      const difference = (one[index] ?? 0) - (other[index] ?? 0)
      if (difference !== 0) return Math.sign(difference)
    }
    return 0
  }
  const property = fc.property(part, part, (one, other) => {
    assert.equal(tradeKey(...one).compare(tradeKey(...other)), order(one, other))
    const [first, second] = [one.slice(0, 2), other.slice(0, 2)]
    const group = groupKey(one[0], one[1]).compare(groupKey(other[0], other[1]))
    assert.equal(group, order(first, second))
    const hour = hourKey(one[1], 1, one[2]).compare(hourKey(other[1], 1, other[2]))
    assert.equal(hour, order([one[1], one[2]], [other[1], other[2]]))
  })
  fc.assert(property, { numRuns, seed: 2 })
})

test('sorts venue trade keys by time and ordinal, and bar keys by market, size and start', () => {
  const venue = fc.constantFrom('a' as const, 'b' as const)
  const time = fc.integer({ min: -3, max: 3 })
  const part = fc.tuple(venue, time, u32)
  const property = fc.property(part, part, (one, other) => {
    const order = (isWithOrdinal: boolean) => {
      if (one[0] !== other[0]) return one[0] < other[0] ? -1 : 1
      return Math.sign(one[1] - other[1]) || (isWithOrdinal ? Math.sign(one[2] - other[2]) : 0)
    }
    assert.equal(venueTradeKey(...one).compare(venueTradeKey(...other)), order(true))
    const [first, second] = [venueTimeKey(one[0], one[1]), venueTimeKey(other[0], other[1])]
    assert.equal(first.compare(second), order(false))
  })
  fc.assert(property, { numRuns, seed: 6 })
  const bars = [barKey(1, 0, -60_000), barKey(1, 0, 60_000), barKey(1, 1, 0), barKey(2, 0, 0)]
  const sorted = [...bars].reverse().sort((one, other) => one.compare(other))
  assert.deepEqual(sorted, bars)
})

test('encodes native ids as distinct keys of at most 512 bytes', () => {
  const long = 'é'.repeat(400)
  const keys = ['', 'a', `${long}1`, `${long}2`].flatMap((id) => [
    nativeKey('a', id),
    nativeKey('b', id),
  ])
  assert.equal(new Set(keys.map((key) => key.toString('hex'))).size, keys.length)
  for (const key of keys) assert.ok(key.length >= 1 && key.length <= 512)
})

test('computes distinct hashes for near-equal native ids', () => {
  const seen = new Set<string>()
  for (let count = 0; count < 50_000; count += 1) {
    seen.add(hashNativeId(`0xabcdef-123456789-buy-${count}`).join(' '))
  }
  assert.equal(seen.size, 50_000)
})
