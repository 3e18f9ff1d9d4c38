// What a page of markets lacks, has in another type, or says in words that the code does not know, by name.
// Not for: refusing rows (listing.ts). Upholds KDRIFT1.

import { isRecord } from '../../../json-record.ts'
import type { DriftNotes } from '../../drift.ts'
import { judgeFields, type RowShape } from '../../drift-rows.ts'
import { isComboRow } from '../combos.ts'
import { parsePriceGrid } from '../price-grid.ts'

/** What every row of an ordinary market has, of those fields that are read. */
const MARKET: Pick<RowShape, 'kind' | 'needed'> = {
  kind: 'market',
  needed: {
    ...{ ticker: 'text', event_ticker: 'text', status: 'text', price_ranges: 'list' },
    ...{ yes_sub_title: 'text', rules_primary: 'text', open_time: 'text', close_time: 'text' },
    ...{ updated_time: 'text', yes_bid_dollars: 'text', yes_ask_dollars: 'text' },
    ...{ last_price_dollars: 'text', volume_fp: 'text', volume_24h_fp: 'text' },
    open_interest_fp: 'text',
  },
}
/** Fewer rows, as of markets asked for by name, may all be odd. */
const ROWS_MIN = 3
/** center_deci_edge_centi_cent and the like. */
const STRUCTURES =
  /^(linear_cent|deci_cent|tapered_deci_cent|center_(whole|half|quint|deci|centi)_edge_(whole|half|quint|deci|centi)_cent)$/

/** Names what is missing or unknown in the rows of ordinary markets. */
export function noteMarketRows(rows: readonly unknown[], drift: DriftNotes): void {
  const ordinary = rows.filter(isRecord).filter((row) => !isComboRow(row))
  if (ordinary.length >= ROWS_MIN) judgeFields(MARKET, ordinary, drift)
  for (const row of ordinary) {
    const { price_ranges: ranges, price_level_structure: structure, ticker } = row
    if (ranges !== undefined && parsePriceGrid(row) === null) {
      drift.note('market.price_ranges', 'unreadable', JSON.stringify(ranges))
    }
    if (typeof structure === 'string' && !STRUCTURES.test(structure)) {
      drift.note('market.price_level_structure', structure, ticker, 'notice')
    }
  }
}
