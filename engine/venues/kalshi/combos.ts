// Which tickers are combinations of other markets: those that begin with KXMVE, and since September 2026 also some under
// the names of ordinary series, which only a market's row tells apart (`mve_collection_ticker`).

import { isRecord } from '../../json-record.ts'
import { idOf } from './parse.ts'

const PREFIX = 'KXMVE'
/** Tickers kept of those that no name gives away; when so many came, the older half is forgotten. */
const TICKERS_MAX = 50_000

/** Whether the name alone says it. */
export function isNamedCombo(ticker: string): boolean {
  return ticker.startsWith(PREFIX)
}

/** Whether a market's row is of a combination. */
export function isComboRow(row: Readonly<Record<string, unknown>>): boolean {
  const names = [row.ticker, row.event_ticker].map(idOf)
  if (names.some((name) => name !== null && isNamedCombo(name))) return true
  return idOf(row.mve_collection_ticker) !== null
}

/** The combinations that rows have shown. */
export class Combos {
  #newer = new Set<string>()
  #older = new Set<string>()

  has(ticker: string): boolean {
    return isNamedCombo(ticker) || this.#newer.has(ticker) || this.#older.has(ticker)
  }

  /** Learns the ticker of a refused row; its name is kept only where it does not say so itself. */
  note(row: unknown): string | null {
    const ticker = isRecord(row) && isComboRow(row) ? idOf(row.ticker) : null
    if (ticker === null || this.has(ticker)) return ticker
    if (this.#newer.size >= TICKERS_MAX / 2) {
      this.#older = this.#newer
      this.#newer = new Set()
    }
    this.#newer.add(ticker)
    return ticker
  }
}
