import type { MarketNumber, MarketRef } from '../engine/market/market.ts'
import type { OpenOpportunity, PastOpportunity } from '../engine/opportunity.ts'
import { type TimeMs, timeMs } from '../engine/units.ts'
import type { PastOpportunityRow, SliceQuery } from './contract/rows.ts'
import type { Environment } from './lmdb/environment.ts'
import { RecordTable } from './lmdb/record-table.ts'
import { EVERY_KEY, type Table } from './lmdb/table.ts'
import { momentKey, readInteger, textKey } from './records/keys.ts'
import { openOpportunity, pastOpportunity } from './records/opportunities.ts'
import { listed } from './records/records.ts'
import { TABLES } from './tables.ts'
import { nextOrdinal, rangeOfTrades } from './trade-range.ts'

const pastCodec = listed(1, pastOpportunity)
const openCodec = listed(1, openOpportunity)

/** Past opportunities in the order in which they ended, and open opportunities. Past opportunities expire like trades. */
export class Opportunities {
  readonly #past: RecordTable<PastOpportunityRow>
  readonly #open: Table

  constructor(environment: Environment) {
    this.#past = new RecordTable(environment.table(TABLES.opportunities), pastCodec)
    this.#open = environment.table(TABLES.openOpportunities)
  }

  /** Replaces an open opportunity with the same id. */
  putOpen(open: OpenOpportunity): void {
    new RecordTable(this.#open, openCodec).put(textKey(open.last.id), open)
  }

  removeOpen(id: string): void {
    this.#open.remove(textKey(id))
  }

  /** Removes and returns all open opportunities. Omits opportunities of unknown markets. */
  takeOpen(marketOf: (number: MarketNumber) => MarketRef | null): readonly OpenOpportunity[] {
    const codec = listed(1, openOpportunity, { marketOf })
    const found = [...new RecordTable(this.#open, codec).all()]
    this.#open.removeRange(EVERY_KEY, Number.POSITIVE_INFINITY)
    return found
  }

  put(past: PastOpportunity): void {
    const ordinal = nextOrdinal(this.#past.rows, momentKey, past.closedAtMs)
    this.#past.put(momentKey(past.closedAtMs, ordinal), { past, ordinal })
  }

  range(query: SliceQuery): readonly PastOpportunityRow[] {
    const range = rangeOfTrades(query, momentKey)
    return range === null ? [] : this.#past.range(range, query.limit)
  }

  oldestMs(): TimeMs | null {
    const row = this.#past.rows.first(EVERY_KEY)
    return row === null ? null : timeMs(readInteger(row.key, 0))
  }

  /** Removes at most `rowsMax` opportunities that ended before `beforeMs`. Returns their number. */
  prune(beforeMs: number, rowsMax: number): number {
    const range = { from: EVERY_KEY.from, to: momentKey(beforeMs, 0) }
    return this.#past.rows.removeRange(range, rowsMax).rowCount
  }
}
