import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { pack } from 'msgpackr'
import { orNull as nullable, number, record, text as textField } from '../../../engine/codec.ts'
import { priceMicros, sizeMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import { numberKey, tradeKey } from '../../../storage/records/keys.ts'
import { decodeRecord, encodeRecord, listed } from '../../../storage/records/records.ts'
import { type TradeRecord, tradeCodec } from '../../../storage/records/trade.ts'
import { TABLES } from '../../../storage/tables.ts'
import { NOON_MS, trade } from '../../support/worlds/stored.ts'

const stored = { ...trade('0xabc-1', { run: 3, offset: 2 ** 40, seq: 9 }), ordinal: 7 }
const key = tradeKey(5, NOON_MS, 7)
const position = { venue: 'b', ordinal: 12 } as const
const TOKEN = '94532235908853478633102631881008651863941875830027892478278578250784387892726'
const tokens = {
  get: (market: number, outcomeIndex: number) => (market === 5 ? `${TOKEN}${outcomeIndex}` : null),
  offer: (_: number, outcomeIndex: number, token: string) => token === `${TOKEN}${outcomeIndex}`,
}
const value = recordOf({ trade: stored, venuePosition: position })

function recordOf(positioned: TradeRecord): Buffer {
  return encodeRecord(TABLES.trades, key, tradeCodec(tokens), positioned)
}

function read(row: Buffer, at = key): TradeRecord | null {
  return decodeRecord(TABLES.trades, { key: at, value: row }, tradeCodec(tokens))
}

test('encodes and decodes a trade, and reads the time and ordinal of the trade from the key', () => {
  assert.deepEqual(read(value), { trade: stored, venuePosition: position })
  const block = { ...stored, isBlock: true }
  assert.deepEqual(read(recordOf({ trade: block, venuePosition: null })), {
    trade: block,
    venuePosition: null,
  })
})

const hex = (digits: number) =>
  fc
    .string({
      unit: fc.constantFrom(...'0123456789abcdef'),
      ...{ minLength: digits, maxLength: digits },
    })
    .map((text) => `0x${text}`)
const party = fc.oneof(fc.constant(null), hex(40), hex(3), fc.constantFrom('', '0xé', '0xAB', '-'))
const complete = fc.oneof(
  fc.nat(300),
  fc.maxSafeNat().map((number) => Math.floor(number / 4)),
)
const orNull = fc.oneof(fc.constant(null), complete)

test('encodes and decodes a packed trade with any numbers, parties and id', () => {
  const trades = fc.record({
    ...{
      price: fc.nat(1_000_000),
      size: fc.oneof(
        complete,
        fc.nat(9_999).map((cents) => cents * 10_000),
      ),
    },
    ...{ side: fc.constantFrom('buy' as const, 'sell' as const), outcomeIndex: fc.nat(2) },
    ...{ usd: complete, maker: party, taker: party, txHash: fc.oneof(party, hex(64)) },
    ...{ isBlock: fc.boolean(), late: fc.integer({ min: -1e9, max: 1e12 }) },
    ...{ run: orNull, offset: orNull, seq: orNull, placed: fc.boolean(), n: fc.nat(300) },
    id: fc.constantFrom('fields', 'other token', 'part', 'uuid', 'text', 'leading zero'),
    text: fc.string(),
    uuid: fc.uuid(),
  })
  fc.assert(
    fc.property(trades, ({ id, text, uuid, n, late, placed: positioned, ...fields }) => {
      const { price, size, side, outcomeIndex, taker, txHash } = fields
      const traded = outcomeIndex === 0 ? price : 1_000_000 - price
      const rest = `${taker}-${side}-${size}-${traded}`
      const ids: Record<typeof id, string> = {
        fields: `${txHash}-${TOKEN}${outcomeIndex}-${rest}-${n}`,
        'other token': `${txHash}-${TOKEN}-${rest}-${n}`,
        part: `${txHash}-part-${n}`,
        'leading zero': `${txHash}-part-0${n}`,
        ...{ uuid, text },
      }
      const row = {
        ...stored,
        ...fields,
        nativeId: ids[id],
        price: priceMicros(price),
        size: sizeMicros(size),
        usd: usdMicros(fields.usd),
        receivedAtMs: timeMs(NOON_MS + late),
      }
      const written = { trade: row, venuePosition: positioned ? position : null }
      assert.deepEqual(read(recordOf(written)), written)
    }),
    { numRuns: 500 },
  )
})

for (const text of ['0xaB', '0xBa', '0xag', '0xga', '0xa-', '0x-a', '0x0é']) {
  test(`encodes and decodes a trade whose parties and hash are the non-hexadecimal text ${text}`, () => {
    const odd = { ...stored, maker: text, taker: text, txHash: text }
    assert.deepEqual(read(recordOf({ trade: odd, venuePosition: position })), {
      trade: odd,
      venuePosition: position,
    })
  })
}

test('encodes a trade id built from the trade’s fields in one byte, and the trade in under ninety bytes', () => {
  const [txHash, taker] = [`0x${'5a'.repeat(32)}`, `0x${'c3'.repeat(20)}`]
  const row = { ...stored, txHash, taker, offset: 30_000, run: 3, seq: 900 }
  const nativeId = `${txHash}-${TOKEN}0-${taker}-buy-${row.size}-${row.price}-0`
  const bytes = recordOf({ trade: { ...row, nativeId }, venuePosition: position }).length
  assert.ok(nativeId.length > 200 && bytes < 90, `${bytes} bytes`)
})

test('detects every flipped bit in a checksummed record or its key', () => {
  for (let bit = 0; bit < value.length * 8; bit += 1) {
    const damaged = flipped(value, bit)
    assert.equal(read(damaged), null)
  }
  for (let bit = 0; bit < key.length * 8; bit += 1) {
    const other = flipped(key, bit)
    assert.equal(read(value, other), null)
  }
  for (let length = 0; length < value.length; length += 1) {
    assert.equal(read(value.subarray(0, length)), null)
  }
})

test('returns null for a record with an unknown schema, a missing field or a wrong field type', () => {
  const codec = listed(
    1,
    record<{ one: string; other: number | null }>({ one: textField, other: nullable(number) }),
  )
  const encode = (schema: number, fields: readonly unknown[]) => ({
    key: numberKey(1),
    value: Buffer.concat([Buffer.of(schema), pack(fields)]),
  })
  const decode = (row: { key: Buffer; value: Buffer }) => {
    const read = decodeRecord(TABLES.marks, row, codec)
    return read && [read.one, read.other]
  }
  assert.deepEqual(decode(encode(1, ['x', 5])), ['x', 5])
  assert.deepEqual(decode(encode(1, ['x', null])), ['x', null])
  assert.equal(decode(encode(2, ['x', 5])), null)
  assert.equal(decode(encode(1, ['x'])), null)
  assert.equal(decode(encode(1, [5, 5])), null)
  assert.equal(decode({ key: numberKey(1), value: Buffer.alloc(0) }), null)
})

function flipped(bytes: Buffer, bit: number): Buffer {
  const copy = Buffer.from(bytes)
  copy.writeUInt8(copy.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
  return copy
}
