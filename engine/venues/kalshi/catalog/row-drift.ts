// What a market's row lacks or says in words that the code does not know, by name. Not for: refusing rows (listing.ts).
// Upholds KDRIFT1.

import { isRecord } from '../../../json-record.ts'
import type { DriftNotes } from '../../drift.ts'
import { isComboRow } from '../combos.ts'
import { parsePriceGrid } from '../price-grid.ts'

/** What every row of an ordinary market has, of those fields that are read. */
const TEXTS = [
  ...['ticker', 'event_ticker', 'status', 'yes_sub_title', 'rules_primary', 'open_time'],
  ...['close_time', 'updated_time', 'yes_bid_dollars', 'yes_ask_dollars', 'last_price_dollars'],
  ...['volume_fp', 'volume_24h_fp', 'open_interest_fp'],
] as const
/** center_deci_edge_centi_cent and the like. */
const STRUCTURES =
  /^(linear_cent|deci_cent|tapered_deci_cent|center_(whole|half|quint|deci|centi)_edge_(whole|half|quint|deci|centi)_cent)$/

/** Names what is missing or unknown in a row of an ordinary market. */
export function noteMarketRow(row: unknown, drift: DriftNotes): void {
  if (!isRecord(row) || isComboRow(row)) return
  for (const field of TEXTS) {
    const type = typeof row[field]
    if (type === 'undefined') drift.note('market.field', field, row.ticker)
    else if (type !== 'string') drift.note('market.field', `${field} is ${type}`, row.ticker)
  }
  if (row.price_ranges === undefined) drift.note('market.field', 'price_ranges', row.ticker)
  else if (parsePriceGrid(row) === null) {
    drift.note('market.price_ranges', 'unreadable', JSON.stringify(row.price_ranges))
  }
  const { price_level_structure: structure } = row
  if (typeof structure === 'string' && !STRUCTURES.test(structure)) {
    drift.note('market.price_level_structure', structure, row.ticker, 'notice')
  }
}
