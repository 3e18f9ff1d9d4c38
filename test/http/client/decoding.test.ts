import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { crc32 as zlibCrc32 } from 'node:zlib'
import { decode, encode } from '@msgpack/msgpack'
import fc from 'fast-check'
import { crc32 } from '../../../http/client/crc32.ts'
import { readMessage } from '../../../http/client/messages.ts'
import { decodeMessagePack } from '../../../http/client/msgpack.ts'

const FOLDER = 'http/client'

const plain = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constant(null),
    fc.boolean(),
    fc.maxSafeInteger(),
    fc.integer({ min: -140, max: 300 }),
    fc.double({ noNaN: true }),
    fc.string({ unit: 'binary', maxLength: 80 }),
    fc.uint8Array({ maxLength: 300 }),
    fc.array(tie('value'), { maxLength: 20 }),
    fc.dictionary(
      fc.string({ maxLength: 40 }).filter((key) => key !== '__proto__'),
      tie('value'),
      { maxKeys: 20, noNullPrototype: true },
    ),
  ),
})).value

test('decodes the same values from MessagePack as an independent decoder', () => {
  fc.assert(
    fc.property(plain, (value) => {
      const bytes = encode(value)
      assert.deepEqual(decodeMessagePack(bytes), decode(bytes))
      const shifted = new Uint8Array(bytes.length + 7)
      shifted.set(bytes, 3)
      const view = shifted.subarray(3, 3 + bytes.length)
      assert.deepEqual(decodeMessagePack(view), decode(bytes))
    }),
    { numRuns: 500, seed: 4 },
  )
})

test('decodes long strings, arrays and maps, and signed 64-bit integers from MessagePack', () => {
  const long = { text: 'ü'.repeat(70_000), list: Array.from({ length: 70_000 }, () => 1) }
  assert.deepEqual(decodeMessagePack(encode(long)), long)
  const wide = [2 ** 53 - 1, -(2 ** 53) + 1, 1_795_000_000_000, -1_795_000_000_000]
  const signed = new Uint8Array(1 + wide.length * 9)
  const view = new DataView(signed.buffer)
  signed[0] = 0x90 + wide.length
  for (const [index, value] of wide.entries()) {
    signed[1 + index * 9] = 0xd3
    view.setBigInt64(2 + index * 9, BigInt(value))
  }
  assert.deepEqual(decodeMessagePack(signed), wide)
})

test('decodes a field named __proto__ without changing the prototype of the object', () => {
  const message = JSON.parse('{"__proto__":{"price":1},"seq":2}')
  const read = decodeMessagePack(encode(message))
  assert.deepEqual(read, message)
  assert.equal(Reflect.getPrototypeOf(Object(read)), Object.prototype)
  assert.equal(Reflect.get(Object(read), 'price'), undefined)
})

test('throws a RangeError for malformed MessagePack in time bounded by the input length', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 60 }), (bytes) => {
      try {
        decodeMessagePack(bytes)
      } catch (error) {
        assert.ok(error instanceof RangeError, String(error))
      }
    }),
    { numRuns: 2000, seed: 4 },
  )
  const claim = Uint8Array.of(0xdd, 0xff, 0xff, 0xff, 0xff)
  assert.throws(() => decodeMessagePack(claim), RangeError)
  assert.throws(() => decodeMessagePack(new Uint8Array(5000).fill(0x91)), RangeError)
  assert.throws(() => decodeMessagePack(Uint8Array.of(0xc0, 0xc0)), RangeError)
})

test('computes the same CRC-32 as zlib', () => {
  assert.equal(crc32('123456789'), 0xcbf4_3926)
  fc.assert(
    fc.property(fc.string({ maxLength: 300 }), (text) => {
      assert.equal(crc32(text), zlibCrc32(text))
    }),
    { numRuns: 200, seed: 4 },
  )
})

test('classifies a stream message without required fields as damaged, and a message of a new type as unknown', () => {
  const head = { channel: 'trades', market_id: 'm', epoch: 'e', offset: 1, seq: 1 }
  const trade = { type: 'trade', ...head, data: { id: 't' } }
  assert.equal(readMessage(trade), trade)
  for (const name of ['channel', 'market_id', 'epoch', 'offset', 'seq', 'data']) {
    assert.equal(readMessage({ ...trade, [name]: null }), 'damaged', name)
  }
  assert.equal(readMessage({ ...trade, offset: 1.5 }), 'damaged')
  assert.equal(readMessage({ type: 'tomorrow' }), 'unknown')
  for (const value of [null, 1, 'text', [], {}]) assert.equal(readMessage(value), 'damaged')
})

test('imports from the client folder only, and uses no Node API', () => {
  for (const name of readdirSync(FOLDER).filter((file) => file.endsWith('.ts'))) {
    const source = readFileSync(`${FOLDER}/${name}`, 'utf8')
    for (const [, from] of source.matchAll(/(?:from|import)\s*\(?'([^']+)'/g)) {
      assert.match(from ?? '', /^\.\/[a-z0-9-]+\.ts$/, name)
    }
    const code = source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '')
    assert.doesNotMatch(code, /\b(process|Buffer|require|global|__dirname|setImmediate)\b/, name)
    const isAmbient = name === 'ambient.ts'
    if (!isAmbient)
      assert.doesNotMatch(code, /\b(setTimeout|performance|Math\.random|Date)\b/, name)
  }
})
