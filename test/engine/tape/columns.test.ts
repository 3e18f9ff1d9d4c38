import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeRows, encodeRows } from '../../../engine/tape/columns.ts'
import { crc32c } from '../../../engine/tape/crc32c.ts'

const scalar = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer({ min: 0, max: 1_000_000 }).map((value) => value * 10_000),
  fc.integer({ min: -(2 ** 31), max: 2 ** 31 }),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true }).map((value) => value + 0),
  fc.string(),
)
const value = fc.oneof(
  { depthSize: 'small', withCrossShrink: true },
  scalar,
  fc.array(scalar, { maxLength: 9 }),
  fc.array(fc.array(scalar, { maxLength: 3 }), { maxLength: 3 }),
)
const item = fc
  .tuple(fc.integer({ min: 0, max: 3 }), fc.array(value, { maxLength: 5 }))
  .map(([code, fields]) => [code, ...fields])
const rows = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 2 ** 40 }), item), { minLength: 1, maxLength: 60 })
  .map((pairs) => {
    const us: number[] = []
    let last = 1_700_000_000_000_000
    for (const [step] of pairs) {
      last += step
      us.push(last)
    }
    return { us, items: pairs.map(([, fields]) => fields) }
  })

test('encodes rows of any values to columns, and decodes the same rows', () => {
  fc.assert(
    fc.property(rows, (some) => {
      assert.deepEqual(decodeRows(Buffer.from(encodeRows(some))), some)
    }),
    { numRuns: 300 },
  )
})

test('encodes columns compactly with each method of predicting values, and decodes the same columns', () => {
  const count = 1_000
  const index = Array.from({ length: count }, (_, row) => row)
  const items = index.map((row) => [
    0,
    row % 7,
    1_700_000_000_000 + row * 3,
    1_700_000_000_005 + row * 3,
    row % 3 === 0 ? null : row,
    Math.floor(row / 7),
    'same',
    [row % 2, 10_000 * (row % 90), 0 - 1_000_000 * row],
  ])
  const some = { us: index.map((row) => row * 11), items }
  const bytes = Buffer.from(encodeRows(some))
  assert.deepEqual(decodeRows(bytes), some)
  assert.ok(bytes.length < 12 * count, `${bytes.length} bytes`)
})

test('rejects encoded columns whose bytes are truncated or followed by more bytes', () => {
  const bytes = Buffer.from(
    encodeRows({
      us: [1, 2],
      items: [
        [0, 1, 'one'],
        [1, [2, 3]],
      ],
    }),
  )
  for (let length = 0; length < bytes.length; length += 1) {
    assert.throws(() => decodeRows(bytes.subarray(0, length)))
  }
  assert.throws(() => decodeRows(Buffer.concat([bytes, Buffer.of(0)])))
})

test('throws an Error, and nothing else, for damaged bytes of encoded columns', () => {
  const bytes = Buffer.from(
    encodeRows({
      us: [1, 2, 9],
      items: [
        [0, 1, 'one'],
        [1, [2, 3]],
        [0, 7, 'two'],
      ],
    }),
  )
  fc.assert(
    fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
      const damaged = Buffer.from(bytes)
      damaged[at] = (damaged[at] ?? 0) ^ change
      try {
        decodeRows(damaged)
      } catch (error) {
        assert.ok(error instanceof Error)
      }
    }),
  )
})

test('computes the checksums in the examples of RFC 3720', () => {
  assert.equal(crc32c([Buffer.from('123456789')]), 0xe3069283)
  assert.equal(crc32c([Buffer.alloc(16), Buffer.alloc(16)]), 0x8a9136aa)
})
