// Trade positions in the trade indexes: varints since format 8, half the bytes of the older fixed numbers. The older
// ones are recognised by their length or first byte.

import { readInteger, tradeKey } from './keys.ts'
import { VarintReader, varintBytesMax, writeSigned, writeVarint } from './varints.ts'

const KEY_BYTES = 16
const VENUE_ROW_BYTES = 8
/** Bytes of (timeMs, ordinal), the part of a trade's key after its market. */
const OLD_LOCATION_BYTES = 12
/** First byte of positions by id. Older rows begin with the highest byte of a time, which is 0. */
const MARK = 1

/** Maximum bytes of a row by offset or by venue. */
export const LOCATION_BYTES_MAX = 3 * varintBytesMax

/** The parts of a trade's key. */
export interface TradeLocation {
  readonly market: number
  readonly timeMs: number
  readonly ordinal: number
}

/** Writes a row by offset; returns its end. */
export function writeOffsetRow(value: Buffer, location: TradeLocation): number {
  return writeLocation(value, writeVarint(value, 0, location.market), location)
}

/** The key of the trade to which the row refers. Throws RangeError if the row is invalid. */
export function keyOfOffsetRow(value: Buffer): Buffer {
  if (value.length === KEY_BYTES) return value
  const reader = new VarintReader(value)
  return tradeKey(reader.next(), reader.nextSigned(), reader.next())
}

/** Writes a row by venue: market and ordinal. The time is in the row's own key. Returns its end. */
export function writeVenueRow(value: Buffer, { market, ordinal }: TradeLocation): number {
  return writeVarint(value, writeVarint(value, 0, market), ordinal)
}

/** The key of the trade of this time to which the row refers. Throws RangeError if the row is invalid. */
export function keyOfVenueRow(value: Buffer, time: number): Buffer {
  if (value.length === VENUE_ROW_BYTES) {
    return tradeKey(value.readUInt32BE(0), time, value.readUInt32BE(4))
  }
  const reader = new VarintReader(value)
  return tradeKey(reader.next(), time, reader.next())
}

/** Writes a row by id that refers to one trade; returns its end. */
export function writeIdRow(value: Buffer, location: TradeLocation): number {
  value[0] = MARK
  return writeLocation(value, 1, location)
}

/** A row by id that refers to all trades under these keys, whose ids share a hash. */
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

/** The keys of a market's trades to which the row refers. Throws RangeError if the row is invalid. */
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
