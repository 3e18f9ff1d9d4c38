// Where a trade stands, as the indexes of trades say it: varints since format 8, half of the bytes of the fixed
// numbers of before, which are told apart by their length, or by the byte that they begin with.

import { readInteger, tradeKey } from './keys.ts'
import { VarintReader, varintBytesMax, writeSigned, writeVarint } from './varints.ts'

const KEY_BYTES = 16
const VENUE_ROW_BYTES = 8
/** Of (timeMs, ordinal), the part of a trade's key behind its market. */
const OLD_LOCATION_BYTES = 12
/** Begins places by id; those of before begin with the highest byte of a time, which is 0. */
const MARK = 1

/** The most bytes that a row by offset or by venue takes. */
export const LOCATION_BYTES_MAX = 3 * varintBytesMax

/** Where a trade stands: what its key is made of. */
export interface TradeLocation {
  readonly market: number
  readonly timeMs: number
  readonly ordinal: number
}

/** Writes a row by offset. Where it ends. */
export function writeOffsetRow(value: Buffer, location: TradeLocation): number {
  return writeLocation(value, writeVarint(value, 0, location.market), location)
}

/** The key of the trade that such a row leads to. Throws RangeError when it is none. */
export function keyOfOffsetRow(value: Buffer): Buffer {
  if (value.length === KEY_BYTES) return value
  const reader = new VarintReader(value)
  return tradeKey(reader.next(), reader.nextSigned(), reader.next())
}

/** Writes a row by venue: market and ordinal; the time between them stands in the row's own key. Where it ends. */
export function writeVenueRow(value: Buffer, { market, ordinal }: TradeLocation): number {
  return writeVarint(value, writeVarint(value, 0, market), ordinal)
}

/** The key of the trade of this time that such a row leads to. Throws RangeError when it is none. */
export function keyOfVenueRow(value: Buffer, time: number): Buffer {
  if (value.length === VENUE_ROW_BYTES) {
    return tradeKey(value.readUInt32BE(0), time, value.readUInt32BE(4))
  }
  const reader = new VarintReader(value)
  return tradeKey(reader.next(), time, reader.next())
}

/** Writes a row by id that leads to one trade. Where it ends. */
export function writeIdRow(value: Buffer, location: TradeLocation): number {
  value[0] = MARK
  return writeLocation(value, 1, location)
}

/** A row by id that leads to all trades under these keys, whose ids share a hash. */
export function idRowOf(keys: readonly Buffer[]): Buffer {
  const value = Buffer.allocUnsafe(1 + keys.length * 2 * varintBytesMax)
  value[0] = MARK
  let end = 1
  for (const key of keys) {
    const [timeMs, ordinal] = [readInteger(key, 4), key.readUInt32BE(12)]
    end = writeLocation(value, end, { timeMs, ordinal })
  }
  return value.subarray(0, end)
}

/** The keys of a market's trades that such a row leads to. Throws RangeError when it is none. */
export function keysOfIdRow(value: Buffer, market: number): Buffer[] {
  const keys: Buffer[] = []
  if (value[0] !== MARK) {
    for (let start = 0; start + OLD_LOCATION_BYTES <= value.length; start += OLD_LOCATION_BYTES) {
      keys.push(tradeKey(market, readInteger(value, start), value.readUInt32BE(start + 8)))
    }
    return keys
  }
  const reader = new VarintReader(value, 1)
  while (!reader.isAtEnd) keys.push(tradeKey(market, reader.nextSigned(), reader.next()))
  return keys
}

function writeLocation(
  target: Buffer,
  position: number,
  { timeMs, ordinal }: Pick<TradeLocation, 'timeMs' | 'ordinal'>,
): number {
  return writeVarint(target, writeSigned(target, position, timeMs), ordinal)
}
