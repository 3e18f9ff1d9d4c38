// The memory of rankings: lists of numbers that must stay what they were until they end.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NumberSlabs, type SlabNumbers } from '../../../actors/rows/rankings.ts'
import { seededRandom } from '../../../engine/random.ts'

test('keeps a cached list unchanged until it expires, then reuses its memory', () => {
  const random = seededRandom('slabs')
  const slabs = new NumberSlabs()
  const stored: { memory: SlabNumbers; wanted: Uint32Array }[] = []
  const buffers = new Set<ArrayBufferLike>()
  for (let round = 0; round < 3_000; round += 1) {
    const length = random.below(5) === 0 ? random.below(120_000) : random.below(900)
    const numbers = Uint32Array.from({ length: Math.min(length, 200) }, () => random.below(2 ** 31))
    const wanted = new Uint32Array(length)
    wanted.set(numbers)
    stored.push({ memory: slabs.copy(wanted), wanted })
    while (stored.length > 40) {
      // Mostly the oldest, as rankings end; now and then another.
      const position = random.below(10) === 0 ? random.below(stored.length) : 0
      const [one] = stored.splice(position, 1)
      assert.ok(one !== undefined)
      assert.equal(
        Buffer.compare(
          Buffer.from(
            one.memory.numbers.buffer,
            one.memory.numbers.byteOffset,
            one.memory.numbers.byteLength,
          ),
          Buffer.from(one.wanted.buffer),
        ),
        0,
      )
      buffers.add(one.memory.numbers.buffer)
      one.memory.end()
    }
  }
  assert.ok(buffers.size < 30, `${buffers.size} slabs for 3,000 lists`)
})

test('allocates separate memory for a list longer than any slab', () => {
  const slabs = new NumberSlabs()
  const long = Uint32Array.from({ length: 600_000 }, (_, index) => index)
  const one = slabs.copy(long)
  const other = slabs.copy(Uint32Array.of(1, 2, 3))
  assert.deepEqual(one.numbers, long)
  assert.deepEqual([...other.numbers], [1, 2, 3])
})
