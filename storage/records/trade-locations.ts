// Trade positions in the trade indexes, as varints.

import { readInteger, tradeKey } from './keys.ts'
import { VarintReader, varintBytesMax, writeSigned, writeVarint } from './varints.ts'

/** First byte of positions by id. */
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
  const reader = new VarintReader(value)
  return tradeKey(reader.next(), reader.nextSigned(), reader.next())
}

/** Writes a row by venue: market and ordinal. The time is in the row's own key. Returns its end. */
export function writeVenueRow(value: Buffer, { market, ordinal }: TradeLocation): number {
  return writeVarint(value, writeVarint(value, 0, market), ordinal)
}

/** The key of the trade of this time to which the row refers. Throws RangeError if the row is invalid. */
export function keyOfVenueRow(value: Buffer, time: number): Buffer {
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
