// The record of one trade: its fields by schema version; time and ordinal stand in its key.
// Not for: the indexes to it (trades.ts).

import type { TradeSide } from '../engine/events.ts'
import { priceMicros, sizeMicros, timeMs, usdMicros } from '../engine/units.ts'
import { readInteger } from './keys.ts'
import type { StoredTrade } from './storage.ts'
import type { Schemas } from './table.ts'

/** The schema version that `tradeFields` writes. */
export const TRADE_SCHEMA = 1

const SIDES: readonly TradeSide[] = ['buy', 'sell']

export function tradeFields(trade: StoredTrade): readonly unknown[] {
  return [
    trade.nativeId,
    trade.price,
    trade.size,
    trade.side,
    trade.outcomeIndex,
    trade.usd,
    trade.maker,
    trade.taker,
    trade.txHash,
    trade.receivedAtMs,
    trade.run,
    trade.offset,
    trade.seq,
  ]
}

/** The decoders for the trade under this key. */
export function tradeSchemas(key: Buffer): Schemas<StoredTrade> {
  return {
    1: (fields) => ({
      nativeId: fields.text(),
      timeMs: timeMs(readInteger(key, 4)),
      ordinal: key.readUInt32BE(12),
      price: priceMicros(fields.number()),
      size: sizeMicros(fields.number()),
      side: fields.choice(SIDES),
      outcomeIndex: fields.number(),
      usd: usdMicros(fields.number()),
      maker: fields.textOrNull(),
      taker: fields.textOrNull(),
      txHash: fields.textOrNull(),
      receivedAtMs: timeMs(fields.number()),
      run: fields.numberOrNull(),
      offset: fields.numberOrNull(),
      seq: fields.numberOrNull(),
    }),
  }
}

/**
 * A trade with its ordinal and maker. Field by field, since a spread of so many fields gives every
 * object a hidden class of its own in this Node, some 450 bytes a trade.
 */
export function storedTrade(
  trade: Omit<StoredTrade, 'ordinal'>,
  set: { readonly ordinal: number; readonly maker: string | null },
): StoredTrade {
  return {
    nativeId: trade.nativeId,
    timeMs: trade.timeMs,
    ordinal: set.ordinal,
    price: trade.price,
    size: trade.size,
    side: trade.side,
    outcomeIndex: trade.outcomeIndex,
    usd: trade.usd,
    maker: set.maker,
    taker: trade.taker,
    txHash: trade.txHash,
    receivedAtMs: trade.receivedAtMs,
    run: trade.run,
    offset: trade.offset,
    seq: trade.seq,
  }
}
