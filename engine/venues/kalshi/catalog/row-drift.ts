// What a market's row lacks or says in words that the code does not know, by name. Not for: refusing rows (listing.ts).
// Upholds KDRIFT1.

import { isRecord } from '../../../json-record.ts'
import type { DriftNotes } from '../../drift.ts'
import { isComboRow } from '../combos.ts'
import { parsePriceGrid } from '../price-grid.ts'

/** What every row of an ordinary market has. */
const FIELDS = [
  ...['ticker', 'event_ticker', 'status', 'price_ranges', 'yes_bid_dollars', 'yes_ask_dollars'],
  ...['open_time', 'close_time'],
] as const
/** center_deci_edge_centi_cent and the like. */
const STRUCTURES =
  /^(linear_cent|deci_cent|tapered_deci_cent|center_(whole|half|quint|deci|centi)_edge_(whole|half|quint|deci|centi)_cent)$/

/** Names what is missing or unknown in a row of an ordinary market. */
export function noteMarketRow(row: unknown, drift: DriftNotes): void {
  if (!isRecord(row) || isComboRow(row)) return
  for (const field of FIELDS) {
    if (row[field] === undefined) drift.note('market.field', field, row.ticker)
  }
  if (row.price_ranges !== undefined && parsePriceGrid(row) === null) {
    drift.note('market.price_ranges', 'unreadable', JSON.stringify(row.price_ranges))
  }
  const { price_level_structure: structure } = row
  if (typeof structure === 'string' && !STRUCTURES.test(structure)) {
    drift.note('market.price_level_structure', structure, row.ticker, 'notice')
  }
}
