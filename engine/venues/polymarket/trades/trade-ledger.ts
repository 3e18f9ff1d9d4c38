// Assigns ids to trades and emits their participants. An id is `<tx hash>-<asset>-<wallet>-<side>-<size>-<price>-<n>`.
// Size and price are in millionths. `n` numbers the equal trades of a transaction from 0. Stream and Data API have one
// row per transaction. A row becomes one trade, or one per fill (fills.ts).

import { LRUCache } from 'lru-cache'
import type { TradeEvent, TradeSide, VenueEvent } from '../../../events.ts'
import { type NativeMarketId, outcomeId } from '../../../ids.ts'
import {
  MICROS,
  type PriceMicros,
  roundPrice,
  roundSize,
  type SizeMicros,
  sizeMicros,
  type TimeMs,
  timeMs,
} from '../../../units.ts'
import { conditionId } from '../condition-id.ts'
import type { WireTrade } from '../messages.ts'

/** A converted row. `key` is the id of the first of equal rows. The trade and the cache share this string. */
export interface TradeRow {
  readonly key: string
  readonly market: NativeMarketId
  readonly asset: string
  /** In lower case, like the hash, because the venue's hosts use different cases. */
  readonly wallet: string
  readonly txHash: string
  readonly side: TradeSide
  readonly price: PriceMicros
  readonly size: SizeMicros
  /** In whole seconds, the resolution of the stream and the Data API. */
  readonly timeMs: TimeMs
}

/** A `last_trade_price` of the market channel. Its time has a resolution of milliseconds. */
export type LastTrade = Omit<TradeRow, 'key' | 'wallet'>

/** One fill of a row, in the row's token and side. */
export type Fill = Pick<TradeRow, 'price' | 'size'>

export type TradeReason = 'trade_price' | 'trade_size' | 'trade_time'

/** No market has had as many contracts. A larger number must be in another unit. */
export const SIZE_MAX_MICROS = 100_000_000 * MICROS

export function readTrade(row: WireTrade): TradeRow | TradeReason {
  const price = roundPrice(Number(row.price))
  if (price === null) return 'trade_price'
  const size = roundSize(Number(row.size))
  if (size === null || size === 0 || size > SIZE_MAX_MICROS) return 'trade_size'
  const seconds = Number(row.timestamp)
  if (!(seconds >= TIME_LOW_S && seconds <= TIME_HIGH_S)) return 'trade_time'
  const wallet = row.proxyWallet.toLowerCase()
  const txHash = row.transactionHash.toLowerCase()
  const side = row.side === 'BUY' ? 'buy' : 'sell'
  return {
    // `join` saves memory: a template literal keeps a rope of ten strings, which needs 320 bytes more per key.
    key: [...keyStart({ txHash, asset: row.asset, wallet, side }), size, price, 0].join('-'),
    market: conditionId(row.conditionId),
    asset: row.asset,
    wallet,
    txHash,
    side,
    price,
    size,
    timeMs: timeMs(Math.floor(seconds) * 1_000),
  }
}

type KeyStart = Pick<TradeRow, 'txHash' | 'asset' | 'wallet' | 'side'>
/** The first part of a key. Rows that differ only in price and size share this part. */
const keyStart = ({ txHash, asset, wallet, side }: KeyStart) => [txHash, asset, wallet, side]

interface NumberedRow {
  readonly row: TradeRow
  readonly n: number
}

/** Numbers equal rows of a response in the given order. The response must cover whole seconds. */
export function numberRows(rows: readonly TradeRow[]): NumberedRow[] {
  const counts = new Map<string, number>()
  return rows.map((row) => {
    const n = counts.get(row.key) ?? 0
    counts.set(row.key, n + 1)
    return { row, n }
  })
}

export function tradeId({ row: { key }, n }: { row: Pick<TradeRow, 'key'>; n: number }): string {
  return n === 0 ? key : `${key.slice(0, -1)}${n}`
}

export function tradeEvent(
  { row, n }: NumberedRow,
  source: TradeEvent['source'],
  receivedAtMs: TimeMs,
  rowSize = row.size,
): TradeEvent {
  return {
    kind: 'trade',
    venue: 'a',
    venueTimeMs: row.timeMs,
    receivedAtMs,
    outcome: outcomeId(row.asset),
    market: row.market,
    nativeId: tradeId({ row, n }),
    price: row.price,
    size: row.size,
    side: row.side,
    maker: null,
    taker: row.wallet === '' ? null : row.wallet,
    txHash: row.txHash,
    isBlock: false,
    rowSize,
    source,
  }
}

function fillOf(row: TradeRow, { price, size }: Fill): TradeRow {
  return { ...row, key: [...keyStart(row), size, price, 0].join('-'), price, size }
}

export interface Suspicion {
  readonly kind: 'repeat' | 'orphan'
  readonly row: TradeRow
}

interface LedgerParts {
  readonly emit: (event: VenueEvent) => void
  /**
   * Called when a row is repeated, or when a participant's match row is missing. Only the Data API can show which rows
   * exist.
   */
  readonly onSuspicion: (suspicion: Suspicion) => void
  /** The fills of a row that only the Data API has. Null: unknown. 'expected': the stream will still send the row. */
  readonly fillsOf?: (row: TradeRow) => readonly Fill[] | null | 'expected'
}

/** The fields that identify a row within its transaction. The key contains wallet, token and side. */
type RowIdentity = Pick<TradeRow, 'key' | 'price' | 'size'>

interface KeyCount {
  /** Number of rows with this key that the stream sent, and number that were emitted. */
  streamed: number
  emitted: number
  /** The fills into which the first of these rows was split. Null if the row was emitted as one trade. */
  fills: readonly Fill[] | null
}

/** The lists grow with `concat`: most have one item, and V8 allocates 17 slots after `push` or a spread. */
interface Transaction {
  /** Takers' rows with different keys. Their number is bounded. */
  rows: readonly RowIdentity[]
  takers: readonly string[]
  participants: readonly string[]
  /** Participant rows that arrived before the taker's row. Until it arrives, the makers are unknown. */
  waiting: readonly TradeRow[]
  readonly firstSeenMs: TimeMs
}
const NONE: readonly never[] = []
const noFills = (_row: TradeRow): readonly Fill[] | null => null

/**
 * Caches the trades that the stream sent recently. A row that repeats after its eviction is emitted again with its
 * first id, and the market's actor drops it by that id.
 */
export class TradeLedger {
  readonly #parts: LedgerParts
  readonly #keys = new LRUCache<string, KeyCount>({ max: KEYS_MAX })
  readonly #transactions = new LRUCache<string, Transaction>({ max: TRANSACTIONS_MAX })
  /** Transactions with participants but without a match row, oldest first. Above the limit the oldest is dropped. */
  readonly #orphans = new Map<string, Transaction>()

  constructor(parts: LedgerParts) {
    this.#parts = parts
  }

  isEmitted(row: TradeRow): boolean {
    const [existing = row] = this.withExistingKeys([row])
    return (this.#keys.get(existing.key)?.emitted ?? 0) > 0
  }

  /**
   * Adds an `orders_matched` row. The first row of a key is emitted. Further rows of the key are checked, because they
   * may be repeats.
   */
  addMatched(given: TradeRow, receivedAtMs: TimeMs, fills: readonly Fill[] | null = null): void {
    const [row = given] = this.withExistingKeys([given])
    const count = this.#count(row.key)
    count.streamed += 1
    if (count.streamed > count.emitted) {
      if (count.emitted > 0) this.#parts.onSuspicion({ kind: 'repeat', row })
      else {
        count.emitted = 1
        count.fills = fills
        this.#emitRow({ row, n: 0 }, 'stream', receivedAtMs)
      }
    }
    this.#settle(row, receivedAtMs)
  }

  /** Adds a `trades` row. A wallet that is not the taker is a maker. */
  addParticipant(row: TradeRow, receivedAtMs: TimeMs): void {
    const transaction = this.#transaction(row.txHash, receivedAtMs)
    if (transaction.takers.length > 0) {
      this.#emitParticipant(transaction, row, receivedAtMs)
      return
    }
    if (transaction.waiting.length >= WAITING_PER_TRANSACTION_MAX) return
    transaction.waiting = transaction.waiting.concat(row)
    if (this.#orphans.has(row.txHash)) return
    const oldest = this.#orphans.keys().next().value
    if (this.#orphans.size >= ORPHANS_MAX && oldest !== undefined) this.#orphans.delete(oldest)
    this.#orphans.set(row.txHash, transaction)
  }

  /** Replaces the key of a row by the key of a known, nearly equal row. Hosts round average prices differently. */
  withExistingKeys(rows: readonly TradeRow[]): readonly TradeRow[] {
    return rows.map((row) => {
      const near = this.#transactions.get(row.txHash)?.rows.find((other) => isNear(other, row))
      return near === undefined || near.key === row.key ? row : { ...row, ...near }
    })
  }

  /** Total size of a transaction's match rows. Null if the taker is unknown. */
  takerSize(txHash: string): number | null {
    const transaction = this.#transactions.get(txHash)
    if (transaction === undefined || transaction.takers.length === 0) return null
    return transaction.rows.reduce((sum, { size }) => sum + size, 0)
  }

  /** Participant rows that arrived before their transaction's match row. */
  waitingOf(txHash: string): readonly TradeRow[] {
    return this.#transactions.get(txHash)?.waiting ?? NONE
  }

  /** The wallet's role in the row's transaction. Null while the taker is unknown. */
  roleOf(row: TradeRow): 'taker' | 'maker' | null {
    const takers = this.#transactions.get(row.txHash)?.takers ?? []
    if (takers.length === 0) return null
    return takers.includes(row.wallet) ? 'taker' : 'maker'
  }

  suspectOrphans(beforeMs: number): void {
    for (const [txHash, transaction] of this.#orphans) {
      if (transaction.firstSeenMs >= beforeMs) return
      this.#orphans.delete(txHash)
      const row = transaction.waiting[0]
      if (row !== undefined) this.#parts.onSuspicion({ kind: 'orphan', row })
    }
  }

  /**
   * Emits rows that the stream did not send. Afterwards the counts equal the response, so that a later repeat is
   * checked again.
   */
  reconcile(rows: readonly TradeRow[], receivedAtMs: TimeMs, fillsOf = noFills): number {
    let added = 0
    for (const numbered of numberRows(this.withExistingKeys(rows))) {
      const count = this.#count(numbered.row.key)
      if (numbered.n >= count.emitted) {
        if (!this.#takeFetched(numbered, count, fillsOf)) continue
        added += 1
        this.#emitRow(numbered, 'backfill', receivedAtMs)
      }
      if (count.streamed > count.emitted) count.streamed = count.emitted
      this.#settle(numbered.row, receivedAtMs)
    }
    return added
  }

  /**
   * Emits all rows, including known rows, because a market may have rejected them. Later copies on the stream are not
   * repeats.
   */
  addFetched(rows: readonly TradeRow[], receivedAtMs: TimeMs, fillsOf = noFills): void {
    for (const numbered of numberRows(this.withExistingKeys(rows))) {
      const count = this.#count(numbered.row.key)
      if (numbered.n >= count.emitted && !this.#takeFetched(numbered, count, fillsOf)) continue
      this.#emitRow(numbered, 'backfill', receivedAtMs)
      this.#settle(numbered.row, receivedAtMs)
    }
  }

  /** Counts a row that the stream did not send as emitted. Returns false if the stream will still send the row. */
  #takeFetched({ row, n }: NumberedRow, count: KeyCount, fillsOf: typeof noFills): boolean {
    const fills = n === 0 ? (this.#parts.fillsOf?.(row) ?? null) : null
    if (fills === 'expected') return false
    if (n === 0) count.fills = fills ?? fillsOf(row)
    count.emitted = n + 1
    return true
  }

  #emitRow(numbered: NumberedRow, source: TradeEvent['source'], receivedAtMs: TimeMs): void {
    const { row, n } = numbered
    const { emit } = this.#parts
    const rowSize = this.#rowSize(row)
    const fills = n === 0 ? this.#count(row.key).fills : null
    if (fills === null) return emit(tradeEvent(numbered, source, receivedAtMs, rowSize))
    for (const fill of numberRows(fills.map((one) => fillOf(row, one)))) {
      emit(tradeEvent(fill, source, receivedAtMs, rowSize))
    }
  }

  #rowSize(row: TradeRow): SizeMicros {
    const start = [...keyStart(row), ''].join('-')
    let size = row.size * this.#count(row.key).emitted
    for (const other of this.#transactions.get(row.txHash)?.rows ?? NONE) {
      if (other.key === row.key || !other.key.startsWith(start)) continue
      size += other.size * (this.#keys.get(other.key)?.emitted ?? 0)
    }
    return sizeMicros(size)
  }

  #count(key: string): KeyCount {
    const existing = this.#keys.get(key)
    if (existing !== undefined) return existing
    const count: KeyCount = { streamed: 0, emitted: 0, fills: null }
    this.#keys.set(key, count)
    return count
  }

  #transaction(txHash: string, atMs: TimeMs): Transaction {
    const existing = this.#transactions.get(txHash)
    if (existing !== undefined) return existing
    const created: Transaction = {
      rows: NONE,
      takers: NONE,
      participants: NONE,
      waiting: NONE,
      firstSeenMs: atMs,
    }
    this.#transactions.set(txHash, created)
    return created
  }

  /** Applies a match row: the waiting wallets of its transaction, except the taker, are makers. */
  #settle(row: TradeRow, receivedAtMs: TimeMs): void {
    const transaction = this.#transaction(row.txHash, receivedAtMs)
    if (!transaction.takers.includes(row.wallet)) {
      transaction.takers = transaction.takers.concat(row.wallet)
    }
    const { rows } = transaction
    if (rows.length < ROWS_PER_TRANSACTION_MAX && !rows.some(({ key }) => key === row.key)) {
      transaction.rows = rows.concat({ key: row.key, price: row.price, size: row.size })
    }
    if (transaction.waiting.length === 0) return
    this.#orphans.delete(row.txHash)
    const waiting = transaction.waiting
    transaction.waiting = NONE
    for (const other of waiting) this.#emitParticipant(transaction, other, receivedAtMs)
  }

  #emitParticipant(transaction: Transaction, row: TradeRow, receivedAtMs: TimeMs): void {
    if (transaction.takers.includes(row.wallet)) return
    if (transaction.participants.includes(row.wallet)) return
    transaction.participants = transaction.participants.concat(row.wallet)
    this.#parts.emit({
      kind: 'tradeParticipant',
      venue: 'a',
      venueTimeMs: row.timeMs,
      receivedAtMs,
      outcome: outcomeId(row.asset),
      txHash: row.txHash,
      wallet: row.wallet,
    })
  }
}

/** About 7 MB. */
const KEYS_MAX = 32_768
const TRANSACTIONS_MAX = 16_384
/** Maximum waiting participants per transaction. Further participants are not emitted. */
const WAITING_PER_TRANSACTION_MAX = 64
const ORPHANS_MAX = 4_096
const ROWS_PER_TRANSACTION_MAX = 4
/** Tolerance in millionths between two hosts' prices or sizes of one trade. */
const NEAR = 2
const TIME_LOW_S = 1_577_836_800
const TIME_HIGH_S = 4_102_444_800

function isNear(one: RowIdentity, row: TradeRow): boolean {
  const isClose = Math.abs(one.size - row.size) <= NEAR && Math.abs(one.price - row.price) <= NEAR
  return isClose && one.key.startsWith([...keyStart(row), ''].join('-'))
}
