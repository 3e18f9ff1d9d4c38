// Activity frames without `topic` and `type` are held for a second per transaction; then the taker is chosen.

import type { TimeMs } from '../../../units.ts'
import type { WireTrade } from '../messages.ts'
import type { LastTrade, TradeRow } from './trade-ledger.ts'

export interface UnnamedRow {
  readonly row: TradeRow
  readonly wire: WireTrade
  readonly receivedAtMs: TimeMs
}

/** The distinct rows of one transaction, split into the taker's and the others. */
export interface DecidedRows {
  readonly taker: UnnamedRow
  readonly others: readonly UnnamedRow[]
}

const HELD_MS = 1_000
/** Maximum transactions held. When full, the oldest is classified at once. */
const TRANSACTIONS_MAX = 4_096
const ROWS_MAX = 256

export class UnnamedRows {
  readonly #transactions = new Map<string, { readonly sinceMs: number; rows: UnnamedRow[] }>()

  add(unnamed: UnnamedRow, nowMs: number): void {
    const { txHash } = unnamed.row
    const held = this.#transactions.get(txHash)
    if (held === undefined) this.#transactions.set(txHash, { sinceMs: nowMs, rows: [unnamed] })
    else if (held.rows.length < ROWS_MAX) held.rows.push(unnamed)
  }

  /** Removes the transactions that are due. `tradeOf`: the transaction's trade on the market channel. */
  takeDue(nowMs: number, tradeOf: (txHash: string) => LastTrade | null): readonly DecidedRows[] {
    const decided: DecidedRows[] = []
    for (const [txHash, { sinceMs, rows }] of this.#transactions) {
      if (nowMs - sinceMs < HELD_MS && this.#transactions.size <= TRANSACTIONS_MAX) break
      this.#transactions.delete(txHash)
      decided.push(decide(rows, tradeOf(txHash)))
    }
    return decided
  }
}

/**
 * Chooses the taker's row: the one with the token and side of the market channel's trade. Without that trade, it is
 * the row that arrived twice, as a match and as a part. Otherwise it is the largest, because the makers' rows add
 * up to it.
 */
function decide(rows: readonly UnnamedRow[], trade: LastTrade | null): DecidedRows {
  const shown = rows.filter(({ row }) => row.asset === trade?.asset && row.side === trade.side)
  const repeated = rows.filter(({ row }, at) => indexOfKey(rows, row.key) < at)
  const candidates = [shown, repeated].find(({ length }) => length > 0) ?? rows
  const taker = candidates.reduce((most, one) => (one.row.size > most.row.size ? one : most))
  const others = rows.filter(
    ({ row }, at) => row.key !== taker.row.key && indexOfKey(rows, row.key) === at,
  )
  return { taker, others }
}

function indexOfKey(rows: readonly UnnamedRow[], key: string): number {
  return rows.findIndex(({ row }) => row.key === key)
}
