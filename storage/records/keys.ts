// Binary keys of the tables in tables.ts. Byte order is number order. Markets and runs are u32. Times, hours and
// offsets take 8 bytes, so that every safe integer fits. A key never contains -0 or NaN.

import { createHash } from 'node:crypto'
import type { VenueKey } from '../../engine/ids.ts'

/** Longest key that LMDB accepts, in bytes. */
export const keyBytesMax = 512

const WORD = 2 ** 32
/** Added to the upper word, so that negative numbers sort before zero. */
const UPPER_SHIFT = 2 ** 21
const U32_MAX = WORD - 1
export const FIRST = -Number.MAX_SAFE_INTEGER
export const LAST = Number.MAX_SAFE_INTEGER

/** Writes an integer as 8 bytes. Clamps values outside the safe range, because queries may contain them. */
export function writeInteger(target: Buffer, position: number, value: number): number {
  const cut = Math.min(Math.max(value, FIRST), LAST)
  const upper = Math.floor(cut / WORD)
  target.writeUInt32BE(upper + UPPER_SHIFT, position)
  return target.writeUInt32BE(cut - upper * WORD, position + 4)
}

export function readInteger(source: Buffer, position: number): number {
  const upper = source.readUInt32BE(position) - UPPER_SHIFT
  return upper * WORD + source.readUInt32BE(position + 4)
}

/** Makes keys from numbers of 1, 4 or 8 bytes. Clamps values outside the range, because queries may contain them. */
export function keyOf(...sizes: readonly (1 | 4 | 8)[]): (...values: readonly number[]) => Buffer {
  const length = sizes.reduce<number>((sum, bytes) => sum + bytes, 0)
  return (...values) => {
    const key = Buffer.allocUnsafe(length)
    let position = 0
    for (let index = 0; index < sizes.length; index += 1) {
      const [bytes, value] = [sizes[index], values[index] ?? 0]
      if (bytes === 8) position = writeInteger(key, position, value)
      else if (bytes === 1) position = key.writeUInt8(value, position)
      else position = key.writeUInt32BE(Math.min(Math.max(value, 0), U32_MAX), position)
    }
    return key
  }
}

export const numberKey: (value: number) => Buffer = keyOf(4)
export const tradeKey: (market: number, timeMs: number, ordinal: number) => Buffer = keyOf(4, 8, 4)
/** `group` is a market, run or webhook. `value` is an hour, offset, time or number. */
export const groupKey: (group: number, value: number) => Buffer = keyOf(4, 8)
export const barKey: (market: number, sizeCode: number, startMs: number) => Buffer = keyOf(4, 1, 8)
export const hourKey: (hour: number, kind: number, market: number) => Buffer = keyOf(8, 1, 4)
/** Key of the index of past prices. `hour` is the hour in which the day was read from the venue. */
export const readKey: (hour: number, market: number, day: number) => Buffer = keyOf(8, 4, 8)
/** `ordinal` is the position among the rows of the millisecond. */
export const momentKey: (timeMs: number, ordinal: number) => Buffer = keyOf(8, 4)
export const lastPriceKey: (webhook: number, market: number) => Buffer = keyOf(4, 4)
const venueMomentKey = keyOf(1, 8, 4)
const venueStartKey = keyOf(1, 8)
const hashKey = keyOf(4, 4, 4)

export const groupRange = (group: number) => ({
  from: groupKey(group, FIRST),
  to: groupKey(group, LAST),
})

/** `hash`: 64-bit hash of a native trade id. */
export const tradeIdKey = (market: number, hash: readonly [number, number]): Buffer =>
  hashKey(market, ...hash)

/** `ordinal` is the position among the venue's trades of the millisecond. */
export const venueTradeKey = (venue: VenueKey, timeMs: number, ordinal: number): Buffer =>
  venueMomentKey(venue.charCodeAt(0), timeMs, ordinal)

export const venueTimeKey = (venue: VenueKey, timeMs: number): Buffer =>
  venueStartKey(venue.charCodeAt(0), timeMs)

/** `text` must be ASCII. */
export function textKey(text: string): Buffer {
  return Buffer.from(text)
}

/** If the id is too long, its end is replaced by its SHA-256. */
export function nativeKey(venue: VenueKey, nativeId: string): Buffer {
  const key = Buffer.from(`${venue}${nativeId}`)
  if (key.length <= keyBytesMax) return key
  return Buffer.concat([key.subarray(0, 256), createHash('sha256').update(nativeId).digest()])
}

export function compareKeys(one: Buffer, other: Buffer): number {
  const length = Math.min(one.length, other.length)
  for (let index = 0; index < length; index += 1) {
    const difference = (one[index] ?? 0) - (other[index] ?? 0)
    if (difference !== 0) return difference
  }
  return one.length - other.length
}

/**
 * 64-bit hash of a native trade id, in two words (cyrb53's mixing). Different ids may have equal hashes, so callers
 * must also compare the ids.
 */
export function hashNativeId(text: string): readonly [number, number] {
  let first = 0xdeadbeef
  let second = 0x41c6ce57
  for (let position = 0; position < text.length; position += 1) {
    const code = text.charCodeAt(position)
    first = Math.imul(first ^ code, 2_654_435_761)
    second = Math.imul(second ^ code, 1_597_334_677)
  }
  first = Math.imul(first ^ (first >>> 16), 2_246_822_507)
  first ^= Math.imul(second ^ (second >>> 13), 3_266_489_909)
  second = Math.imul(second ^ (second >>> 16), 2_246_822_507)
  second ^= Math.imul(first ^ (first >>> 13), 3_266_489_909)
  return [first >>> 0, second >>> 0]
}
