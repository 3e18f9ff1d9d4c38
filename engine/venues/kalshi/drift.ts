// What Kalshi is asked only to see whether it changed: announced fees that have no formula here; and what each trade and
// each series says, wherever it is read. Announced changes of known
// types are no finding: they hold from their moment on (catalog/fees.ts).
// Not for: rows of markets (catalog/), further messages of the socket (stream.ts). Upholds KDRIFT4, KDRIFT7, KDRIFT8.

import type { HttpClient } from '../../fetch.ts'
import { isRecord } from '../../json-record.ts'
import type { DriftNotes, DriftTally } from '../drift.ts'
import type { Probe } from '../drift-probes.ts'
import { multiplierOf, termsOf } from './catalog/fees.ts'
import type { FeeTerms, TradeMessage } from './messages.ts'

interface ProbeParts {
  readonly http: Pick<HttpClient, 'getJson'>
  readonly drift: DriftNotes
}

const FEE_TYPES: ReadonlySet<unknown> = new Set([
  'quadratic',
  'quadratic_with_maker_fees',
  'quadratic_with_combo_maker_fees',
  'flat',
])

/** A type of fees that has no formula here, or a multiplier that can be none: its markets' fees are unknown. */
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

const FEES_UNREAD = { kind: 'series.field', name: 'fees unreadable' }
const BLOCK_UNSAID = { kind: 'trade.field', name: 'is_block_trade missing' }

/** A row of a series, each of which states its fees. */
export function noteSeriesRow(row: Readonly<Record<string, unknown>>, drift: DriftTally): void {
  const terms = termsOf(row)
  noteFeeTerms(terms, row.ticker, drift)
  const isRead = terms.type === 'flat' || multiplierOf(terms.multiplier) !== null
  drift.shares.said(FEES_UNREAD, isRead && FEE_TYPES.has(terms.type), JSON.stringify(row))
}

/** Whether a trade was matched off the book, which each says. */
export function noteBlock({ block, tradeId }: TradeMessage, drift: DriftTally): void {
  const isSaid = block !== undefined && block !== null
  drift.shares.said(BLOCK_UNSAID, isSaid, tradeId)
  if (isSaid && typeof block !== 'boolean') drift.note('trade.is_block_trade', block, tradeId)
}

/** The questions. */
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
