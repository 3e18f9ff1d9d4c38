// The token of each outcome of venue a markets. Trade ids contain the token, so each token is stored once while the
// market has trades.

import { texts } from '../engine/codec.ts'
import type { MarketNumber } from '../engine/market/market.ts'
import type { Environment } from './lmdb/environment.ts'
import { RecordTable } from './lmdb/record-table.ts'
import { numberKey } from './records/keys.ts'
import { listed } from './records/records.ts'
import type { Tokens } from './records/trade.ts'
import { TABLES } from './tables.ts'

const CACHED_MAX = 20_000

export class TradeTokens implements Tokens {
  readonly #tokens: RecordTable<readonly string[]>
  readonly #cached = new Map<MarketNumber, readonly string[]>()

  constructor(environment: Environment) {
    this.#tokens = new RecordTable(environment.table(TABLES.tradeTokens), listed(1, texts))
  }

  get(market: MarketNumber, outcomeIndex: number): string | null {
    return this.#of(market)[outcomeIndex] || null
  }

  offer(market: MarketNumber, outcomeIndex: number, token: string): boolean {
    const current = this.#of(market)
    const existing = current[outcomeIndex]
    if (existing) return existing === token
    const tokens = Array.from({ length: Math.max(current.length, outcomeIndex + 1) }, (_, index) =>
      index === outcomeIndex ? token : (current[index] ?? ''),
    )
    this.#tokens.put(numberKey(market), tokens)
    this.#cached.set(market, tokens)
    return true
  }

  remove(market: MarketNumber): void {
    if (this.#of(market).length > 0) this.#tokens.rows.remove(numberKey(market))
    this.#cached.delete(market)
  }

  #of(market: MarketNumber): readonly string[] {
    const cached = this.#cached.get(market)
    if (cached !== undefined) return cached
    const tokens = this.#tokens.get(numberKey(market)) ?? []
    if (this.#cached.size >= CACHED_MAX) this.#cached.clear()
    this.#cached.set(market, tokens)
    return tokens
  }
}
