// A market's trades, owned by its actor: turned into the first outcome, stored once each, the newest
// kept in a ring, makers filled in as they become known. The ring exists only once it is needed.
// Upholds MKT4, MKT5, MKT6.

import type { Stamp, TradeEvent } from '../engine/events.ts'
import { tradeRingCount } from '../engine/limits.ts'
import type { MarketNumber } from '../engine/market.ts'
import { TradeRing } from '../engine/trade-ring.ts'
import { complement, notionalMicros, TIME_ZERO, type TimeMs, timeMs } from '../engine/units.ts'
import type { StoredTrade, TradePosition, TradeTable } from '../storage/storage.ts'
import { storedTrade } from '../storage/trade-record.ts'

export interface TradeQuery {
  readonly fromMs: TimeMs
  readonly toMs: TimeMs
  readonly after: TradePosition | null
  readonly order: 'asc' | 'desc'
  readonly limit: number
  readonly side: 'buy' | 'sell' | null
}

/** Transactions whose makers may still come; the oldest is forgotten first. */
const TRANSACTIONS_MAX = 64
const SCAN_ROWS = 500
const END_OF_TIME = timeMs(Number.MAX_SAFE_INTEGER)

interface Transaction {
  readonly nativeIds: string[]
  readonly wallets: string[]
}

export class MarketTrades {
  readonly #market: MarketNumber
  readonly #table: TradeTable
  #ring: TradeRing<StoredTrade> | null = null
  #transactions: Map<string, Transaction> | null = null
  #volumeSince = 0

  constructor(market: MarketNumber, table: TradeTable) {
    this.#market = market
    this.#table = table
  }

  has(nativeId: string): boolean {
    return this.#table.has(this.#market, nativeId)
  }

  /** Stores a trade that `has` did not know; price and side become the first outcome's. */
  add(event: TradeEvent, outcomeIndex: number, stamp: Stamp | null, run: number): StoredTrade {
    const isFirst = outcomeIndex === 0
    const ring = this.#openRing()
    const trade = this.#table.put(this.#market, {
      nativeId: event.nativeId,
      timeMs: event.venueTimeMs,
      price: isFirst ? event.price : complement(event.price),
      size: event.size,
      side: isFirst === (event.side === 'buy') ? 'buy' : 'sell',
      outcomeIndex,
      usd: notionalMicros(event),
      maker: event.maker,
      taker: event.taker,
      txHash: event.txHash,
      receivedAtMs: event.receivedAtMs,
      run: stamp === null ? null : run,
      offset: stamp?.offset ?? null,
      seq: stamp?.seq ?? null,
    })
    ring.push(trade)
    if (stamp !== null) this.#volumeSince += trade.usd
    if (trade.txHash !== null) {
      const transaction = this.#transaction(trade.txHash)
      transaction.nativeIds.push(trade.nativeId)
      this.#completeMakers(transaction)
    }
    return trade
  }

  /** Dollars of published trades since the venue's own figures were read, in micros. */
  get volumeSince(): number {
    return this.#volumeSince
  }

  /** The venue's own figures were read again: what was traded before is in them. */
  restartVolume(): void {
    this.#volumeSince = 0
  }

  /** One more wallet of a transaction: its maker, unless it is the taker or one of several. */
  addParticipant(txHash: string, wallet: string): void {
    const transaction = this.#transaction(txHash)
    if (transaction.wallets.includes(wallet)) return
    transaction.wallets.push(wallet)
    this.#completeMakers(transaction)
  }

  #completeMakers(transaction: Transaction): void {
    if (transaction.wallets.length === 0) return
    for (const nativeId of transaction.nativeIds) {
      const trade = this.#table.get(this.#market, nativeId)
      if (trade === null) continue
      const makers = transaction.wallets.filter((wallet) => wallet !== trade.taker)
      const maker = makers.length === 1 ? (makers[0] ?? null) : null
      if (maker === trade.maker) continue
      this.#table.setMaker(this.#market, nativeId, maker)
      this.#ring?.replace(storedTrade(trade, { ordinal: trade.ordinal, maker }))
    }
  }

  #transaction(txHash: string): Transaction {
    this.#transactions ??= new Map()
    let transaction = this.#transactions.get(txHash)
    if (transaction === undefined) {
      transaction = { nativeIds: [], wallets: [] }
      this.#transactions.set(txHash, transaction)
      const oldest = this.#transactions.keys().next().value
      if (this.#transactions.size > TRANSACTIONS_MAX && oldest !== undefined) {
        this.#transactions.delete(oldest)
      }
    }
    return transaction
  }

  /** A page in the order asked for; the first newest page usually comes from the ring. */
  page(query: TradeQuery): { rows: readonly StoredTrade[]; hasMore: boolean } {
    return this.#pageFromRing(query) ?? this.#pageFromTable(query)
  }

  #pageFromRing(query: TradeQuery): { rows: readonly StoredTrade[]; hasMore: boolean } | null {
    if (query.order !== 'desc' || query.after !== null) return null
    const ring = this.#openRing()
    const rows: StoredTrade[] = []
    for (const row of ring.newest()) {
      if (row.timeMs > query.toMs || (query.side !== null && row.side !== query.side)) continue
      if (row.timeMs < query.fromMs) return { rows, hasMore: false }
      if (rows.length === query.limit) return { rows, hasMore: true }
      rows.push(row)
    }
    return ring.isFull ? null : { rows, hasMore: false }
  }

  #pageFromTable(query: TradeQuery): { rows: readonly StoredTrade[]; hasMore: boolean } {
    const rows: StoredTrade[] = []
    let after = query.after
    for (;;) {
      const limit = query.side === null ? query.limit + 1 : SCAN_ROWS
      const scanned = this.#table.range({ ...query, market: this.#market, after, limit })
      for (const row of scanned) {
        if (query.side !== null && row.side !== query.side) continue
        if (rows.length === query.limit) return { rows, hasMore: true }
        rows.push(row)
      }
      const last = scanned.at(-1)
      if (last === undefined || scanned.length < limit) return { rows, hasMore: false }
      after = { timeMs: last.timeMs, ordinal: last.ordinal }
    }
  }

  #openRing(): TradeRing<StoredTrade> {
    if (this.#ring !== null) return this.#ring
    const ring = new TradeRing<StoredTrade>(tradeRingCount)
    const kept = this.#table.range({
      market: this.#market,
      fromMs: TIME_ZERO,
      toMs: END_OF_TIME,
      after: null,
      order: 'desc',
      limit: tradeRingCount,
    })
    for (const row of kept.toReversed()) ring.push(row)
    this.#ring = ring
    return ring
  }

  /** Gives the memory back; storage has everything. */
  release(): void {
    this.#ring = null
    this.#transactions = null
  }
}
