// Key and record of one whale: time and ordinal are in the key, the other facts are fields by schema version.

import { nativeMarketId, VENUE_KEYS } from '../../engine/ids.ts'
import { priceMicros, sizeMicros, timeMs, usdMicros } from '../../engine/units.ts'
import type { StoredWhale, WhaleMarket, WhaleRow } from '../contract/storage.ts'
import type { Schemas } from '../lmdb/table.ts'
import { readInteger, writeInteger } from './keys.ts'
import type { FieldReader } from './records.ts'
import { SIDES } from './trade.ts'

const U32_MAX = 2 ** 32 - 1
/** Schema of a whale, and of one that is a block trade (format 6): the same fields. */
const SCHEMA = 1
const BLOCK_SCHEMA = 2

export const whaleKeyBytes = 12

/** timeMs, ordinal. The ordinal of a query is clamped to 32 bits. */
export function whaleKey(time: number, ordinal: number): Buffer {
  const key = Buffer.allocUnsafe(whaleKeyBytes)
  writeInteger(key, 0, time)
  key.writeUInt32BE(Math.min(Math.max(ordinal, 0), U32_MAX), 8)
  return key
}

export function whalePosition(key: Buffer): { readonly timeMs: number; readonly ordinal: number } {
  return { timeMs: readInteger(key, 0), ordinal: key.readUInt32BE(8) }
}

export function whaleRecord(
  market: WhaleMarket,
  whale: StoredWhale,
): { readonly schema: number; readonly fields: readonly unknown[] } {
  const { nativeId, price, size, side, outcomeIndex, usd, maker, taker, txHash } = whale
  const { outcome, question, slug, eventSlug, category, wallet, fills } = whale
  const { receivedAtMs, run, offset, seq } = whale
  const marketFields = [market.number, market.venue, market.nativeId]
  const traded = [nativeId, price, size, side, outcomeIndex, usd, maker, taker, txHash]
  const described = [outcome, question, slug, eventSlug, category, wallet, fills]
  return {
    schema: whale.isBlock ? BLOCK_SCHEMA : SCHEMA,
    fields: [...marketFields, ...traded, ...described, receivedAtMs, run, offset, seq],
  }
}

/** Decoders of the whale under this key. */
export function whaleSchemas(key: Buffer): Schemas<WhaleRow> {
  const read = (isBlock: boolean) => (fields: FieldReader) => ({
    market: fields.number(),
    venue: fields.choice(VENUE_KEYS),
    nativeMarket: nativeMarketId(fields.text()),
    whale: readWhale(key, fields, isBlock),
  })
  return { [SCHEMA]: read(false), [BLOCK_SCHEMA]: read(true) }
}

/** Field by field, like trades: see storedTrade. */
function readWhale(key: Buffer, fields: FieldReader, isBlock: boolean): StoredWhale {
  return {
    nativeId: fields.text(),
    timeMs: timeMs(readInteger(key, 0)),
    ordinal: key.readUInt32BE(8),
    price: priceMicros(fields.number()),
    size: sizeMicros(fields.number()),
    side: fields.choice(SIDES),
    outcomeIndex: fields.number(),
    usd: usdMicros(fields.number()),
    maker: fields.textOrNull(),
    taker: fields.textOrNull(),
    txHash: fields.textOrNull(),
    isBlock,
    outcome: fields.textOrNull(),
    question: fields.text(),
    slug: fields.text(),
    eventSlug: fields.textOrNull(),
    category: fields.textOrNull(),
    wallet: fields.textOrNull(),
    fills: fields.number(),
    receivedAtMs: timeMs(fields.number()),
    run: fields.numberOrNull(),
    offset: fields.numberOrNull(),
    seq: fields.numberOrNull(),
  }
}
