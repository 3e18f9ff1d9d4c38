// Trade records of formats 1 to 7: a MessagePack list; schema 1 has no venue ordinal, 2 has one, 3 is a block trade.

import type { StoredTrade } from '../../../storage/contract/storage.ts'
import { encodeRecord } from '../../../storage/records/records.ts'
import { TABLES } from '../../../storage/tables.ts'
import type { VenuePosition } from '../../../storage/venue-trades.ts'

/** The fields of such a record, in order. */
export function olderFields(row: StoredTrade, position: VenuePosition | null): unknown[] {
  const { nativeId, price, size, side, outcomeIndex, usd, maker, taker, txHash } = row
  const who = [nativeId, price, size, side, outcomeIndex, usd, maker, taker, txHash]
  const fields = [...who, row.receivedAtMs, row.run, row.offset, row.seq]
  return position === null ? fields : [...fields, position.venue, position.ordinal]
}

/** The value of its row. */
export function olderTradeValue(
  key: Buffer,
  row: StoredTrade,
  position: VenuePosition | null,
): Buffer {
  const schema = position === null ? 1 : row.isBlock ? 3 : 2
  return encodeRecord(TABLES.trades, { key, schema, fields: olderFields(row, position) })
}
