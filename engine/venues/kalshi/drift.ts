// What Kalshi is asked only to see whether it changed: announced fees that have no formula here. Announced changes of known
// types are no finding: they hold from their moment on (catalog/fees.ts).
// Not for: rows of markets (catalog/), messages of the socket (stream.ts). Upholds KDRIFT4.

import type { HttpClient } from '../../fetch.ts'
import { isRecord } from '../../json-record.ts'
import type { DriftNotes } from '../drift.ts'
import type { Probe } from '../drift-probes.ts'

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

/** A type of fees that has no formula here: its markets' fees are unknown. */
export function noteFeeType(type: unknown, ticker: unknown, drift: DriftNotes): void {
  if (type === undefined || type === null || FEE_TYPES.has(type)) return
  drift.note('series.fee_type', type, ticker)
}

/** The questions. */
export function kalshiProbes({ http, drift }: ProbeParts): Readonly<Record<string, Probe>> {
  const fees: Probe = async (signal) => {
    const answer = await http.getJson('/series/fee_changes', {}, { signal, retries: 0 })
    const rows = isRecord(answer) ? answer.series_fee_change_arr : undefined
    if (rows === null) return
    if (!Array.isArray(rows)) return drift.note('fee_changes', 'no list', answer)
    for (const row of rows.filter(isRecord)) {
      noteFeeType(row.fee_type, row.series_ticker, drift)
    }
  }
  return { fees }
}
