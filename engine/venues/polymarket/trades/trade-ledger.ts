// The identity of venue a's trades, which have no id of their own, and their participants.
// The stream's `orders_matched` and the Data API's /v2/trades (takers only) have one row a transaction. Its fills are
// trades, where the market channel shows them (fills.ts), else the row itself is one. An id is
// `<tx hash>-<asset>-<wallet>-<side>-<size>-<price>-<n>`, size and price in millionths, n counting from 0 the equal
// trades of its transaction.

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

/**
 * A row in our words. `key` is the id of the first of equal rows, so that a trade and the memory of it share one text.
 */
export interface TradeRow {
  readonly key: string
  readonly market: NativeMarketId
  readonly asset: string
  /** Lower case, like the hash: the venue's hosts do not agree on the case. */
  readonly wallet: string
  readonly txHash: string
  readonly side: TradeSide
  readonly price: PriceMicros
  readonly size: SizeMicros
  /** Whole seconds: all that the venue gives, on the stream as in the Data API. */
  readonly timeMs: TimeMs
}

/** A `last_trade_price` of the market channel, in milliseconds. */
export type LastTrade = Omit<TradeRow, 'key' | 'wallet'>

/** One fill of a row, in the row's token and on its side. */
export type Fill = Pick<TradeRow, 'price' | 'size'>

export type TradeReason = 'trade_price' | 'trade_size' | 'trade_time'

/**
 * A hundred million contracts; above it a number is another quantity (millionths), since no market of the venue had
 * as many open.
 */
export const SIZE_MAX_MICROS = 100_000_000 * MICROS

/** Wire row to ours, or why not. */
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
    // Joined, since a template leaves a tree of ten pieces, which is kept as long as the key: 320 bytes more.
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
/** What a row's key begins with: rows that differ in price and size alone have it in common. */
const keyStart = ({ txHash, asset, wallet, side }: KeyStart) => [txHash, asset, wallet, side]

/** A row, and how many equal ones come before it. */
interface NumberedRow {
  readonly row: TradeRow
  readonly n: number
}

/** Numbers the equal rows of an answer that holds whole seconds, in the order given. */
export function numberRows(rows: readonly TradeRow[]): NumberedRow[] {
  const counts = new Map<string, number>()
  return rows.map((row) => {
    const n = counts.get(row.key) ?? 0
    counts.set(row.key, n + 1)
    return { row, n }
  })
}

/** The id of the row that has so many equal ones before it. */
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

/** One fill of a row. */
function fillOf(row: TradeRow, { price, size }: Fill): TradeRow {
  return { ...row, key: [...keyStart(row), size, price, 0].join('-'), price, size }
}

/** A market and time whose true rows must be asked for, and what the answer should contain. */
export interface Suspicion {
  readonly kind: 'repeat' | 'orphan'
  readonly row: TradeRow
}

interface LedgerParts {
  readonly emit: (event: VenueEvent) => void
  /** A row came again, or a participant without its fill: only the Data API can tell. */
  readonly onSuspicion: (suspicion: Suspicion) => void
  /**
   * The fills of a row that the Data API has and the stream did not give; null: they are not known; 'expected': the
   * stream still gives the row.
   */
  readonly fillsOf?: (row: TradeRow) => readonly Fill[] | null | 'expected'
}

/** All that tells a row from others of its transaction: wallet, token and side stand in the key. */
type RowIdentity = Pick<TradeRow, 'key' | 'price' | 'size'>

interface KeyCount {
  /** Messages seen on the stream, and rows emitted, with this key. */
  streamed: number
  emitted: number
  /** What the first of these rows was emitted as; null: as one trade. */
  fills: readonly Fill[] | null
}

/** Lists are joined with `concat`: most have one item, and V8 gives a list that is pushed to, or spread before an item, room for seventeen. */
interface Transaction {
  /** Rows of takers with different keys; more are not looked at. */
  rows: readonly RowIdentity[]
  takers: readonly string[]
  participants: readonly string[]
  /** Rows of wallets that came before the fill whose taker would tell makers from takers. */
  waiting: readonly TradeRow[]
  readonly firstSeenMs: TimeMs
}
const NONE: readonly never[] = []
/** Where nothing else shows the fills of a row. */
const noFills = (_row: TradeRow): readonly Fill[] | null => null

/**
 * The trades that the stream sent lately. Memory is two generations of rows and transactions: when the
 * young one is full it becomes the old one and the old one is forgotten. A repeat of a forgotten
 * row is emitted with n = 0, the id it had, and the market's actor leaves it out by that id.
 */
export class TradeLedger {
  readonly #parts: LedgerParts
  readonly #keys = new Generations<KeyCount>(KEYS_PER_GENERATION)
  readonly #transactions = new Generations<Transaction>(TRANSACTIONS_PER_GENERATION)
  /** Transactions with participants and no fill yet, oldest first; full: the oldest is given up. */
  readonly #orphans = new Map<string, Transaction>()
  #newestTradeMs = 0

  constructor(parts: LedgerParts) {
    this.#parts = parts
  }

  /** Venue time of the newest trade seen on the stream; 0 before the first. */
  get newestTradeMs(): number {
    return this.#newestTradeMs
  }

  /** Whether a row of its key was emitted. */
  isEmitted(row: TradeRow): boolean {
    const [existing = row] = this.withExistingKeys([row])
    return (this.#keys.get(existing.key)?.emitted ?? 0) > 0
  }

  /** One `orders_matched`, and its fills where they are known. The first of its key is emitted; a further one may be a repeat. */
  addMatched(given: TradeRow, receivedAtMs: TimeMs, fills: readonly Fill[] | null = null): void {
    const [row = given] = this.withExistingKeys([given])
    if (row.timeMs > this.#newestTradeMs) this.#newestTradeMs = row.timeMs
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

  /** One `trades` row: a wallet that is not the taker took part as maker. */
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

  /**
   * The rows, each with the key that it has already: hosts compute an average price apart, and what floats make of it
   * may round to another millionth.
   */
  withExistingKeys(rows: readonly TradeRow[]): readonly TradeRow[] {
    return rows.map((row) => {
      const near = this.#transactions.get(row.txHash)?.rows.find((other) => isNear(other, row))
      return near === undefined || near.key === row.key ? row : { ...row, ...near }
    })
  }

  /** Whether the taker of a transaction is known, by the stream or by the Data API. */
  takerSize(txHash: string): number | null {
    const transaction = this.#transactions.get(txHash)
    if (transaction === undefined || transaction.takers.length === 0) return null
    return transaction.rows.reduce((sum, { size }) => sum + size, 0)
  }

  /** Rows of wallets that came before the row of their transaction. */
  waitingOf(txHash: string): readonly TradeRow[] {
    return this.#transactions.get(txHash)?.waiting ?? NONE
  }

  /** The side of the row's wallet in its transaction; null while the stream has not named the taker. */
  roleOf(row: TradeRow): 'taker' | 'maker' | null {
    const takers = this.#transactions.get(row.txHash)?.takers ?? []
    if (takers.length === 0) return null
    return takers.includes(row.wallet) ? 'taker' : 'maker'
  }

  /** Suspects every fill whose participants have waited since before `beforeMs`. */
  suspectOrphans(beforeMs: number): void {
    for (const [txHash, transaction] of this.#orphans) {
      if (transaction.firstSeenMs >= beforeMs) return
      this.#orphans.delete(txHash)
      const row = transaction.waiting[0]
      if (row !== undefined) this.#parts.onSuspicion({ kind: 'orphan', row })
    }
  }

  /**
   * What the Data API says of a window of whole seconds: rows that the stream did not give, or gave
   * fewer times, are emitted. Afterwards the answer counts, so that a later repeat asks again.
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
   * Emits rows that a back-fill read, known ones too: a market may have refused them. The stream's late copy is no
   * repeat. `fillsOf` is asked for the fills of a row that the market channel did not show.
   */
  addFetched(rows: readonly TradeRow[], receivedAtMs: TimeMs, fillsOf = noFills): void {
    for (const numbered of numberRows(this.withExistingKeys(rows))) {
      const count = this.#count(numbered.row.key)
      if (numbered.n >= count.emitted && !this.#takeFetched(numbered, count, fillsOf)) continue
      this.#emitRow(numbered, 'backfill', receivedAtMs)
      this.#settle(numbered.row, receivedAtMs)
    }
  }

  /** Counts a row that the stream did not give; false: the stream still gives it. */
  #takeFetched({ row, n }: NumberedRow, count: KeyCount, fillsOf: typeof noFills): boolean {
    const fills = n === 0 ? (this.#parts.fillsOf?.(row) ?? null) : null
    if (fills === 'expected') return false
    if (n === 0) count.fills = fills ?? fillsOf(row)
    count.emitted = n + 1
    return true
  }

  /** Emits a row as its fills, or as one trade. */
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

  /** Contracts of all emitted rows of the row's taker, token and side in its transaction. */
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

  /** Takes the taker's row: wallets of the transaction whose rows wait are makers, but for the taker itself. */
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

/** About 220 bytes a row: 7 MB both generations; at 20 fills a second they reach back 13 minutes. */
const KEYS_PER_GENERATION = 16_384
const TRANSACTIONS_PER_GENERATION = 8_192
/** A fill with more makers than this names the rest no more. */
const WAITING_PER_TRANSACTION_MAX = 64
const ORPHANS_MAX = 4_096
const ROWS_PER_TRANSACTION_MAX = 4
/** Millionths by which two hosts' figures of one trade may differ. */
const NEAR = 2
const TIME_LOW_S = 1_577_836_800
const TIME_HIGH_S = 4_102_444_800

function isNear(one: RowIdentity, row: TradeRow): boolean {
  const isClose = Math.abs(one.size - row.size) <= NEAR && Math.abs(one.price - row.price) <= NEAR
  return isClose && one.key.startsWith([...keyStart(row), ''].join('-'))
}

/** A bounded map of what was seen lately, which forgets by halves; a value that is read again lives on. */
class Generations<Value> {
  readonly #countMax: number
  #young = new Map<string, Value>()
  #old = new Map<string, Value>()

  constructor(countMax: number) {
    this.#countMax = countMax
  }

  get(key: string): Value | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  set(key: string, value: Value): void {
    if (this.#young.size >= this.#countMax) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
  }
}
