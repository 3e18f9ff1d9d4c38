// Rows of the trade indexes. Each row has the position of a trade as varints.

import { VarintReader, varintBytesMax, writeSigned, writeVarint } from '../../engine/varints.ts'
import { readInteger, tradeKey } from './keys.ts'

const MARK = 1

export interface TradeLocation {
  readonly market: number
  readonly timeMs: number
  readonly ordinal: number
}

export function offsetRow({ market, timeMs, ordinal }: TradeLocation): Buffer {
  const value = Buffer.allocUnsafe(3 * varintBytesMax)
  const end = writeSigned(value, writeVarint(value, 0, market), timeMs)
  return value.subarray(0, writeVarint(value, end, ordinal))
}

/** The key of the trade to which the row refers. Throws RangeError if the row is invalid. */
export function keyOfOffsetRow(value: Buffer): Buffer {
  const reader = new VarintReader(value)
  return tradeKey(reader.next(), reader.nextSigned(), reader.next())
}

/** A row of market and ordinal. The time is in the row's own key. */
export function venueRow({ market, ordinal }: TradeLocation): Buffer {
  const value = Buffer.allocUnsafe(2 * varintBytesMax)
  return value.subarray(0, writeVarint(value, writeVarint(value, 0, market), ordinal))
}

/** The key of the trade at `time` to which the row refers. Throws RangeError if the row is invalid. */
export function keyOfVenueRow(value: Buffer, time: number): Buffer {
  const reader = new VarintReader(value)
  return tradeKey(reader.next(), time, reader.next())
}

/** A row of the id index. It lists all trades whose ids have the same hash. */
export function idRowOf(keys: readonly Buffer[]): Buffer {
  const value = Buffer.allocUnsafe(1 + keys.length * 2 * varintBytesMax)
  value[0] = MARK
  let end = 1
  for (const key of keys) {
    end = writeSigned(value, end, readInteger(key, 4))
    end = writeVarint(value, end, key.readUInt32BE(12))
  }
  return value.subarray(0, end)
}

/** The keys of a market's trades that a row of the id index lists. Throws RangeError if the row is invalid. */
export function keysOfIdRow(value: Buffer, market: number): Buffer[] {
  const keys: Buffer[] = []
  const reader = new VarintReader(value, 1)
  while (!reader.isAtEnd) keys.push(tradeKey(market, reader.nextSigned(), reader.next()))
  return keys
}
