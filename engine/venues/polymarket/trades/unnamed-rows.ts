// Activity frames without `topic` and `type`: nothing says whether a row is the taker's match or one wallet's part in
// it. The rows of a transaction are held for a second, and then its taker is decided from all of them.

import type { TimeMs } from '../../../units.ts'
import type { WireTrade } from '../messages.ts'
import type { LastTrade, TradeRow } from './trade-ledger.ts'

/** A row whose frame named no type. */
export interface UnnamedRow {
  readonly row: TradeRow
  readonly wire: WireTrade
  readonly receivedAtMs: TimeMs
}

/** The rows of one transaction, repeats left out, and which of them is its taker's. */
export interface DecidedRows {
  readonly taker: UnnamedRow
  readonly others: readonly UnnamedRow[]
}

const HELD_MS = 1_000
/** Full: the oldest transaction is decided at once. */
const TRANSACTIONS_MAX = 4_096
/** Further rows of one transaction are left out. */
const ROWS_MAX = 256

/** Holds unnamed rows by transaction. */
export class UnnamedRows {
  readonly #transactions = new Map<string, { readonly sinceMs: number; rows: UnnamedRow[] }>()

  add(unnamed: UnnamedRow, nowMs: number): void {
    const { txHash } = unnamed.row
    const held = this.#transactions.get(txHash)
    if (held === undefined) this.#transactions.set(txHash, { sinceMs: nowMs, rows: [unnamed] })
    else if (held.rows.length < ROWS_MAX) held.rows.push(unnamed)
  }

  /** Removes and returns the transactions that are due. `tradeOf` is a transaction's trade on the market channel, if known. */
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
 * The taker's row has the token and the side that the market channel shows. Where that is not known, the taker's row
 * comes twice, as a match and as a part in it; else it is the largest, since the makers' rows add up to it.
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
