// Where a trade stands, as the indexes of trades say it: varints since format 8, half of the bytes of the fixed
// numbers of before, which are told apart by their length, or by the byte that they begin with. Not for: keys, whose bytes must
// sort (keys.ts). Upholds STORE34.

import { readInteger, tradeKey } from './keys.ts'
import { VarintReader, varintBytesMax, writeSigned, writeVarint } from './varints.ts'

const KEY_BYTES = 16
const VENUE_ROW_BYTES = 8
/** Of (timeMs, ordinal), the part of a trade's key behind its market. */
const OLD_PLACE_BYTES = 12
/** Begins places by id; those of before begin with the highest byte of a time, which is 0. */
const MARK = 1

/** The most bytes that a row by offset or by venue takes. */
export const PLACE_BYTES_MAX = 3 * varintBytesMax

/** Writes a row by offset: market, time and ordinal of the trade under this key. Where it ends. */
export function writeOffsetRow(value: Buffer, key: Buffer): number {
  return writePlace(value, writeVarint(value, 0, key.readUInt32BE(0)), key)
}

/** The key of the trade that such a row leads to. Throws RangeError when it is none. */
export function keyOfOffsetRow(value: Buffer): Buffer {
  if (value.length === KEY_BYTES) return value
  const reader = new VarintReader(value)
  return tradeKey(reader.next(), reader.nextSigned(), reader.next())
}

/** Writes a row by venue: market and ordinal; the time between them stands in the row's own key. Where it ends. */
export function writeVenueRow(value: Buffer, key: Buffer): number {
  const end = writeVarint(value, 0, key.readUInt32BE(0))
  return writeVarint(value, end, key.readUInt32BE(12))
}

/** The key of the trade of this time that such a row leads to. Throws RangeError when it is none. */
export function keyOfVenueRow(value: Buffer, time: number): Buffer {
  if (value.length === VENUE_ROW_BYTES) {
    return tradeKey(value.readUInt32BE(0), time, value.readUInt32BE(4))
  }
  const reader = new VarintReader(value)
  return tradeKey(reader.next(), time, reader.next())
}

/** Of a row by id: the times and ordinals of the trades under these keys. */
export function idRowValue(keys: readonly Buffer[]): Buffer {
  const value = Buffer.allocUnsafe(1 + keys.length * 2 * varintBytesMax)
  value[0] = MARK
  let end = 1
  for (const key of keys) end = writePlace(value, end, key)
  return value.subarray(0, end)
}

/** The keys of a market's trades that such a row leads to. Throws RangeError when it is none. */
export function keysOfIdRow(value: Buffer, market: number): Buffer[] {
  const keys: Buffer[] = []
  if (value[0] !== MARK) {
    for (let start = 0; start + OLD_PLACE_BYTES <= value.length; start += OLD_PLACE_BYTES) {
      keys.push(tradeKey(market, readInteger(value, start), value.readUInt32BE(start + 8)))
    }
    return keys
  }
  const reader = new VarintReader(value, 1)
  while (!reader.isAtEnd) keys.push(tradeKey(market, reader.nextSigned(), reader.next()))
  return keys
}

function writePlace(target: Buffer, position: number, key: Buffer): number {
  const next = writeSigned(target, position, readInteger(key, 4))
  return writeVarint(target, next, key.readUInt32BE(12))
}
