// Drift checks for Kalshi. Announced changes of known fee types are not drift, because catalog/fees.ts applies them.

import type { JsonReader } from '../../fetch.ts'
import { isRecord } from '../../json-record.ts'
import type { DriftNotes, DriftRecorder } from '../drift/drift.ts'
import type { Probe } from '../drift/probes.ts'
import { checkFields, type RowShape } from '../drift/row-checks.ts'
import { multiplierOf, termsOf } from './catalog/fees.ts'
import { isComboRow } from './combos.ts'
import type { FeeTerms, TickerMessage, TradeMessage } from './messages.ts'
import { parsePriceGrid } from './price-grid.ts'

interface ProbeParts {
  readonly http: JsonReader
  readonly drift: DriftNotes
}

const FEE_TYPES: ReadonlySet<unknown> = new Set([
  'quadratic',
  'quadratic_with_maker_fees',
  'quadratic_with_combo_maker_fees',
  'flat',
])

/** Records a fee type without a known formula, or an invalid multiplier. Fees of the affected markets are unknown. */
export function noteFeeTerms(
  { type, multiplier }: FeeTerms,
  ticker: unknown,
  drift: DriftNotes,
): void {
  if (type !== null && !FEE_TYPES.has(type)) drift.note('series.fee_type', type, ticker)
  if (multiplier !== null && multiplierOf(multiplier) === null) {
    drift.note('series.fee_multiplier', multiplier, ticker)
  }
}

const FEES_UNREADABLE = { kind: 'series.field', name: 'fees unreadable' }
const BLOCK_MISSING = { kind: 'trade.field', name: 'is_block_trade missing' }

export function noteSeriesRow(row: Readonly<Record<string, unknown>>, drift: DriftRecorder): void {
  const terms = termsOf(row)
  noteFeeTerms(terms, row.ticker, drift)
  const isRead = terms.type === 'flat' || multiplierOf(terms.multiplier) !== null
  drift.shares.noteField(FEES_UNREADABLE, isRead && FEE_TYPES.has(terms.type), JSON.stringify(row))
}

export function noteBlock({ block, tradeId }: TradeMessage, drift: DriftRecorder): void {
  const isPresent = block !== undefined && block !== null
  drift.shares.noteField(BLOCK_MISSING, isPresent, tradeId)
  if (isPresent && typeof block !== 'boolean') drift.note('trade.is_block_trade', block, tradeId)
}

const VOLUME_MISSING = { kind: 'ticker.field', name: 'volume_fp missing' }
const INTEREST_MISSING = { kind: 'ticker.field', name: 'open_interest_fp missing' }

/** Checks that a ticker message has the figures that only it provides. */
export function noteTicker(
  { volume, openInterest, ticker }: TickerMessage,
  drift: DriftRecorder,
): void {
  drift.shares.noteField(VOLUME_MISSING, volume !== null, ticker)
  drift.shares.noteField(INTEREST_MISSING, openInterest !== null, ticker)
}

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
/** Minimum rows for a check. All rows of a smaller response may be unusual, such as markets requested by name. */
const ROWS_MIN = 3
const STRUCTURES =
  /^(linear_cent|deci_cent|tapered_deci_cent|center_(whole|half|quint|deci|centi)_edge_(whole|half|quint|deci|centi)_cent)$/

export function noteMarketRows(rows: readonly unknown[], drift: DriftNotes): void {
  const ordinary = rows.filter(isRecord).filter((row) => !isComboRow(row))
  if (ordinary.length >= ROWS_MIN) checkFields(MARKET, ordinary, drift)
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

export function kalshiProbes({ http, drift }: ProbeParts): Readonly<Record<string, Probe>> {
  const fees: Probe = async (signal) => {
    const answer = await http.getJson('/series/fee_changes', {}, { signal, retries: 0 })
    const rows = isRecord(answer) ? answer.series_fee_change_arr : undefined
    if (rows === null) return
    if (!Array.isArray(rows)) return drift.note('fee_changes', 'no list', answer)
    for (const row of rows.filter(isRecord)) {
      noteFeeTerms(termsOf(row), row.series_ticker, drift)
    }
  }
  return { fees }
}
