// Combo markets have tickers that start with KXMVE, or rows with `mve_collection_ticker`.

import { LRUCache } from 'lru-cache'
import { isRecord } from '../../json-record.ts'
import { idOf } from './parse.ts'

const PREFIX = 'KXMVE'
const TICKERS_MAX = 50_000

export function isNamedCombo(ticker: string): boolean {
  return ticker.startsWith(PREFIX)
}

export function isComboRow(row: Readonly<Record<string, unknown>>): boolean {
  const names = [row.ticker, row.event_ticker].map(idOf)
  if (names.some((name) => name !== null && isNamedCombo(name))) return true
  return idOf(row.mve_collection_ticker) !== null
}

export class Combos {
  readonly #tickers = new LRUCache<string, true>({ max: TICKERS_MAX })

  has(ticker: string): boolean {
    return isNamedCombo(ticker) || this.#tickers.get(ticker) === true
  }

  note(row: unknown): string | null {
    const ticker = isRecord(row) && isComboRow(row) ? idOf(row.ticker) : null
    if (ticker !== null && !this.has(ticker)) this.#tickers.set(ticker, true)
    return ticker
  }
}
