// The record of one trade: its fields by schema version; time and ordinal stand in its key.
// Schema 2 (format 2) also names its row in the index by venue, so that it can be removed without
// a search; schema 3 (format 6) has the same fields and says that the trade is a block trade. Not for: the indexes themselves (trades.ts, venue-trades.ts).

import type { TradeSide } from '../../engine/events.ts'
import { VENUE_KEYS } from '../../engine/ids.ts'
import { MsgpackWriter } from '../../engine/msgpack-writer.ts'
import { priceMicros, sizeMicros, timeMs, usdMicros } from '../../engine/units.ts'
import type { StoredTrade } from '../contract/storage.ts'
import type { Schemas } from '../lmdb/table.ts'
import type { VenuePlace } from '../venue-trades.ts'
import { readInteger } from './keys.ts'
import type { FieldReader } from './records.ts'

/** A trade with the place that its record names, if it names one (since format 2). */
export interface PlacedTrade {
  readonly trade: StoredTrade
  readonly place: VenuePlace | null
}

/** What a record's `side` may be. */
export const SIDES: readonly TradeSide[] = ['buy', 'sell']

const writer = new MsgpackWriter()

/**
 * The body of a trade's record, by schema 2 (a block trade's by 3) where its place is known, else by 1. Written field by field, the
 * bytes that the library writes of such a list. Good until the next call.
 */
export function tradeBody(trade: StoredTrade, place: VenuePlace | null): Uint8Array {
  writer.begin()
  writer.array(place === null ? 13 : 15)
  writer.text(trade.nativeId)
  writer.number(trade.price)
  writer.number(trade.size)
  writer.text(trade.side)
  writer.number(trade.outcomeIndex)
  writer.number(trade.usd)
  writer.textOrNil(trade.maker)
  writer.textOrNil(trade.taker)
  writer.textOrNil(trade.txHash)
  writer.number(trade.receivedAtMs)
  writer.numberOrNil(trade.run)
  writer.numberOrNil(trade.offset)
  writer.numberOrNil(trade.seq)
  if (place !== null) {
    writer.text(place.venue)
    writer.number(place.ordinal)
  }
  return writer.end()
}

/** The schema version of such a body. */
export function tradeSchema({ isBlock }: StoredTrade, place: VenuePlace | null): number {
  if (place === null) return 1
  return isBlock ? 3 : 2
}

/** The decoders for the trade under this key. */
export function tradeSchemas(key: Buffer): Schemas<StoredTrade> {
  const read = (fields: FieldReader) => readTrade(key, fields, false)
  return { 1: read, 2: read, 3: (fields) => readTrade(key, fields, true) }
}

/** The decoders for the trade under this key with its place among the venue's. */
export function placedTradeSchemas(key: Buffer): Schemas<PlacedTrade> {
  const placed = (isBlock: boolean) => (fields: FieldReader) => ({
    trade: readTrade(key, fields, isBlock),
    place: { venue: fields.choice(VENUE_KEYS), ordinal: fields.number() },
  })
  return {
    1: (fields) => ({ trade: readTrade(key, fields, false), place: null }),
    2: placed(false),
    3: placed(true),
  }
}

function readTrade(key: Buffer, fields: FieldReader, isBlock: boolean): StoredTrade {
  return {
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
    isBlock,
    receivedAtMs: timeMs(fields.number()),
    run: fields.numberOrNull(),
    offset: fields.numberOrNull(),
    seq: fields.numberOrNull(),
  }
}

/**
 * A trade with its ordinal and maker, and its taker where that became known later. Field by field, since a spread of so many fields gives every
 * object a hidden class of its own in this Node, some 450 bytes a trade.
 */
export function storedTrade(
  trade: Omit<StoredTrade, 'ordinal'>,
  set: { readonly ordinal: number; readonly maker: string | null; readonly taker?: string },
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
    taker: set.taker ?? trade.taker,
    txHash: trade.txHash,
    isBlock: trade.isBlock,
    receivedAtMs: trade.receivedAtMs,
    run: trade.run,
    offset: trade.offset,
    seq: trade.seq,
  }
}
