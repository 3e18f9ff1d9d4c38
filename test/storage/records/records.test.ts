// Versioned records: whatever is damaged is null, never another value.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Packr, unpack } from 'msgpackr'
import { numberKey, tradeKey } from '../../../storage/records/keys.ts'
import { decodeRecord, encodePacked, encodeRecord } from '../../../storage/records/records.ts'
import {
  placedTradeSchemas,
  tradeBody,
  tradeSchema,
  tradeSchemas,
} from '../../../storage/records/trade.ts'
import { TABLES } from '../../../storage/tables.ts'
import type { VenuePlace } from '../../../storage/venue-trades.ts'
import { NOON_MS, trade } from '../../support/worlds/stored.ts'

const stored = { ...trade('0xabc-1', { run: 3, offset: 2 ** 40, seq: 9 }), ordinal: 7 }
const key = tradeKey(5, NOON_MS, 7)
const place = { venue: 'b', ordinal: 12 } as const
const value = tradeValue(place)

function tradeValue(placed: VenuePlace | null, row = stored): Buffer {
  const record = { key, schema: tradeSchema(row, placed), body: tradeBody(row, placed) }
  return encodePacked(TABLES.trades, record)
}

test('[STORE11] a trade survives its record, with time and ordinal from the key', () => {
  const row = { key, value }
  assert.deepEqual(decodeRecord(TABLES.trades, row, tradeSchemas(key)), stored)
  const placed = decodeRecord(TABLES.trades, row, placedTradeSchemas(key))
  assert.deepEqual(placed, { trade: stored, place })
})

test('[STORE11] a block trade survives its record, and stands in a schema of its own', () => {
  const block = { ...stored, isBlock: true }
  const row = { key, value: tradeValue(place, block) }
  assert.deepEqual([value[0], row.value[0]], [2, 3])
  assert.deepEqual(decodeRecord(TABLES.trades, row, tradeSchemas(key)), block)
  const placed = decodeRecord(TABLES.trades, row, placedTradeSchemas(key))
  assert.deepEqual(placed, { trade: block, place })
})

test('[STORE11] a trade of format 1 is read, and names no place among its venue', () => {
  const row = { key, value: tradeValue(null) }
  assert.equal(row.value[0], 1)
  assert.deepEqual(decodeRecord(TABLES.trades, row, tradeSchemas(key)), stored)
  const placed = decodeRecord(TABLES.trades, row, placedTradeSchemas(key))
  assert.deepEqual(placed, { trade: stored, place: null })
})

test('[STORE11] the body of a trade, written field by field, is what the library writes of the same fields', () => {
  for (const row of [
    stored,
    { ...stored, maker: '0xé', taker: null, txHash: null, run: null, seq: 2 ** 32 },
  ]) {
    const { nativeId, price, size, side, outcomeIndex, usd, maker, taker, txHash } = row
    const who = [nativeId, price, size, side, outcomeIndex, usd, maker, taker, txHash]
    const fields = [...who, row.receivedAtMs, row.run, row.offset, row.seq]
    const library = new Packr({ useRecords: false, variableMapSize: true })
    assert.deepEqual(Buffer.from(tradeBody(row, null)), library.pack(fields))
    const placed = library.pack([...fields, place.venue, place.ordinal])
    assert.deepEqual(Buffer.from(tradeBody(row, place)), placed)
  }
})

test('[STORE11] the body is plain MessagePack that any decoder reads', () => {
  const { nativeId, price, size, side, outcomeIndex, usd, maker, taker, txHash } = stored
  const who = [nativeId, price, size, side, outcomeIndex, usd, maker, taker, txHash]
  const when = [stored.receivedAtMs, stored.run, stored.offset, stored.seq]
  assert.deepEqual(unpack(value.subarray(5)), [...who, ...when, place.venue, place.ordinal])
})

test('[STORE11] every single flipped bit of a checked record, or of its key, is found', () => {
  for (let bit = 0; bit < value.length * 8; bit += 1) {
    const damaged = flipped(value, bit)
    assert.equal(decodeRecord(TABLES.trades, { key, value: damaged }, tradeSchemas(key)), null)
  }
  for (let bit = 0; bit < key.length * 8; bit += 1) {
    const other = flipped(key, bit)
    const row = { key: other, value }
    assert.equal(decodeRecord(TABLES.trades, row, tradeSchemas(other)), null)
  }
  for (let length = 0; length < value.length; length += 1) {
    const row = { key, value: value.subarray(0, length) }
    assert.equal(decodeRecord(TABLES.trades, row, tradeSchemas(key)), null)
  }
})

test('[STORE11] an unknown schema, a missing field or a wrong kind is null', () => {
  const encode = (schema: number, fields: readonly unknown[]) => ({
    key: numberKey(1),
    value: encodeRecord(TABLES.marks, { key: numberKey(1), schema, fields }),
  })
  const decode = (row: { key: Buffer; value: Buffer }) =>
    decodeRecord(TABLES.marks, row, { 1: (fields) => [fields.text(), fields.numberOrNull()] })
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
