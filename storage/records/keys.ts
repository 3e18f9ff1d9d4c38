// Encodes and decodes the binary keys of tables.ts. Byte order is number order: u32 for markets and runs, two u32 words
// for times, hours and offsets, so that every safe integer fits. A key never contains -0, NaN or mixed kinds.

import { createHash } from 'node:crypto'
import type { VenueKey } from '../../engine/ids.ts'

/** Longest key that LMDB accepts, in bytes. */
export const keyBytesMax = 512

const WORD = 2 ** 32
/** Added to the upper word, so that negative numbers sort below zero. */
const UPPER_SHIFT = 2 ** 21
const U32_MAX = WORD - 1

/** Writes an integer as 8 bytes; numbers outside the safe range are clamped (queries). */
export function writeInteger(target: Buffer, position: number, value: number): number {
  const cut = Number.isSafeInteger(value) ? value : nearestSafe(value)
  const upper = Math.floor(cut / WORD)
  target.writeUInt32BE(upper + UPPER_SHIFT, position)
  return target.writeUInt32BE(cut - upper * WORD, position + 4)
}

function nearestSafe(value: number): number {
  return Math.min(Math.max(value, -Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER)
}

/** Reads what writeInteger wrote. */
export function readInteger(source: Buffer, position: number): number {
  const upper = source.readUInt32BE(position) - UPPER_SHIFT
  return upper * WORD + source.readUInt32BE(position + 4)
}

/** Key of a market or a run. */
export function numberKey(value: number): Buffer {
  const key = Buffer.allocUnsafe(4)
  key.writeUInt32BE(value, 0)
  return key
}

export const TRADE_KEY_BYTES = 16

/** market, timeMs, ordinal. The ordinal of a query is clamped to 32 bits. Written into `key`, if given. */
export function tradeKey(
  market: number,
  timeMs: number,
  ordinal: number,
  key: Buffer = Buffer.allocUnsafe(TRADE_KEY_BYTES),
): Buffer {
  key.writeUInt32BE(market, 0)
  writeInteger(key, 4, timeMs)
  key.writeUInt32BE(Math.min(Math.max(ordinal, 0), U32_MAX), 12)
  return key
}

/**
 * group (market or run), then an integer: ticks by hour, trades by offset, snapshots by time. Written into `key`, if
 * given.
 */
export function groupKey(
  group: number,
  value: number,
  key: Buffer = Buffer.allocUnsafe(12),
): Buffer {
  key.writeUInt32BE(group, 0)
  writeInteger(key, 4, value)
  return key
}

export const TRADE_ID_KEY_BYTES = 12

/** market, then 8 hash bytes of a native trade id. Written into `key`, if given. */
export function tradeIdKey(
  market: number,
  hash: readonly [number, number],
  key: Buffer = Buffer.allocUnsafe(TRADE_ID_KEY_BYTES),
): Buffer {
  key.writeUInt32BE(market, 0)
  key.writeUInt32BE(hash[0], 4)
  key.writeUInt32BE(hash[1], 8)
  return key
}

export const VENUE_TRADE_KEY_BYTES = 13

/** venue letter, timeMs, ordinal among the venue's trades; clamped as in tradeKey. Written into `key`, if given. */
export function venueTradeKey(
  venue: VenueKey,
  timeMs: number,
  ordinal: number,
  key: Buffer = Buffer.allocUnsafe(VENUE_TRADE_KEY_BYTES),
): Buffer {
  key.writeUInt8(venue.charCodeAt(0), 0)
  writeInteger(key, 1, timeMs)
  key.writeUInt32BE(Math.min(Math.max(ordinal, 0), U32_MAX), 9)
  return key
}

/** venue letter, timeMs. */
export function venueTimeKey(venue: VenueKey, timeMs: number): Buffer {
  const key = Buffer.allocUnsafe(9)
  key.writeUInt8(venue.charCodeAt(0), 0)
  writeInteger(key, 1, timeMs)
  return key
}

export const BAR_KEY_BYTES = 13

/** market, code of the bar's size, startMs. Written into `key`, if given. */
export function barKey(
  market: number,
  sizeCode: number,
  startMs: number,
  key: Buffer = Buffer.allocUnsafe(BAR_KEY_BYTES),
): Buffer {
  key.writeUInt32BE(market, 0)
  key.writeUInt8(sizeCode, 4)
  writeInteger(key, 5, startMs)
  return key
}

/** hour, kind, market. */
export function hourKey(hour: number, kind: number, market: number): Buffer {
  const key = Buffer.allocUnsafe(13)
  writeInteger(key, 0, hour)
  key.writeUInt8(kind, 8)
  key.writeUInt32BE(market, 9)
  return key
}

/** hour of reading, market, day: index of past prices by reading time. */
export function readKey(hour: number, market: number, day: number): Buffer {
  const key = Buffer.allocUnsafe(20)
  writeInteger(key, 0, hour)
  key.writeUInt32BE(market, 8)
  writeInteger(key, 12, day)
  return key
}

/** A text without change; for internal ids and names, which are ASCII. */
export function textKey(text: string): Buffer {
  return Buffer.from(text)
}

/** Venue letter and native id; an id too long for a key ends in its SHA-256 instead. */
export function nativeKey(venue: VenueKey, nativeId: string): Buffer {
  const key = Buffer.from(`${venue}${nativeId}`)
  if (key.length <= keyBytesMax) return key
  return Buffer.concat([key.subarray(0, 256), createHash('sha256').update(nativeId).digest()])
}

/** Compares two keys in JavaScript; a native call costs more for so few bytes. */
export function compareKeys(one: Buffer, other: Buffer): number {
  const length = Math.min(one.length, other.length)
  for (let index = 0; index < length; index += 1) {
    const difference = (one[index] ?? 0) - (other[index] ?? 0)
    if (difference !== 0) return difference
  }
  return one.length - other.length
}

/** Copies bytes in JavaScript, for the same reason. */
export function copyBytes(
  source: Buffer,
  from: number,
  target: Buffer,
  to: number,
  byteCount: number,
): void {
  for (let index = 0; index < byteCount; index += 1) target[to + index] = source[from + index] ?? 0
}

/** Every key of a table without groups lies below this. */
export const KEY_END: Buffer = Buffer.alloc(keyBytesMax, 0xff)
/** Every key of a table without groups lies at or above this. */
export const KEY_START: Buffer = Buffer.alloc(1)

/**
 * 64-bit hash of a native trade id in two words (cyrb53's mixing). Not for secrets: ids with equal hashes are both
 * stored and compared as text.
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
