// Joins the fills of the market channel with the rows of the activity stream. A `last_trade_price` is a fill without
// its wallet; the row of the same transaction has the wallet. Fill and row wait for each other. After a timeout the
// fill is emitted without a wallet, or the row as one trade. If the activity stream counts as ended, fills are emitted
// at once until its rows arrive again.

import type { Clock, StopTimer } from '../../../clock.ts'
import type { TradesSource, VenueEvent } from '../../../events.ts'
import { partId } from '../../../trade-parts.ts'
import { complement, type TimeMs } from '../../../units.ts'
import type { VenueCounters } from '../../venue-counters.ts'
import { fillsOf, fillsOfMakers, fillsWithRest, isAverage } from './fills.ts'
import {
  type Fill,
  type LastTrade,
  type TradeLedger,
  type TradeRow,
  tradeEvent,
} from './trade-ledger.ts'

interface LastTradesParts {
  readonly clock: Clock
  readonly counters: VenueCounters
  readonly ledger: Pick<TradeLedger, 'takerSize' | 'isEmitted' | 'addMatched' | 'waitingOf'>
  readonly isStreamed: (token: string) => boolean
  readonly emit: (event: VenueEvent) => void
  /** If no row arrives for this time while `last_trade_price` messages arrive, the activity stream reconnects. */
  readonly noDataAfterMs: number
  readonly onNoRows: (reason: string) => void
  /** Called when the source of trades changed. Trades of unwatched markets since `sinceMs` may be missing. */
  readonly onSource: (source: TradesSource, reason: string, sinceMs: TimeMs) => void
}

interface HeldRow {
  readonly row: TradeRow
  readonly receivedAtMs: TimeMs
}

/** A transaction: its market-channel messages, and its rows that wait for more messages or for makers. */
interface Transaction {
  readonly hash: string
  trades: readonly LastTrade[]
  /** Number of fills that were considered, and number that were emitted. Repeats and mirrored fills are not emitted. */
  checkedCount: number
  emittedCount: number
  rows: readonly HeldRow[]
  parts: readonly TradeRow[]
  readonly sinceMs: number
  receivedAtMs: TimeMs
  /** Monotonic time at which a waiting fill is emitted without its row, or a waiting row without its fills. */
  dueAtMs: number
}

const NONE: readonly never[] = []
/** Maximum time that a fill waits for the row of its transaction. */
const WAIT_MS = 10_000
/** Maximum time that a row waits for its fills. */
const FILLS_WAIT_MS = 2_000
/** Maximum age of a row of the Data API that may still arrive on the stream. */
const YOUNG_MS = 4_000
/** Maximum waiting rows of a transaction. Further rows are dropped as repeats. */
const ROWS_MAX = 8
/** A fill whose row is missing for this time is evidence that the stream is silent. */
const CHECKED_AFTER_MS = 3_000
const SWEEP_MS = 500
/**
 * The stream counts as ended after this many silent periods in a row, if at least UNANSWERED_BEFORE_END fills lack a
 * row.
 */
const SILENT_PERIODS_BEFORE_END = 2
const UNANSWERED_BEFORE_END = 3
/** After this many match rows the stream is the source of trades again. */
const MATCHES_BEFORE_BACK = 3
/**
 * Maximum fills, about 10 MB. Above the maximum the oldest transaction is evicted. Repeats of its fills get the same
 * ids.
 */
export const LAST_TRADES_MAX = 32_768
const RETAINED_MS = 600_000
/** Maximum fills per transaction. Further fills are counted, and the Data API provides them. */
export const FILLS_MAX = 256
/** A row that is this many times larger than the sum of its fills is in another unit. */
const FILL_RATIO_MAX = 100_000
const SIZE_UNLIKE = { kind: 'rtds.field', name: 'size unlike last_trade_price' }
const NAME = 'silent while last_trade_price flows'

/** Chooses the source of trades, and emits the fills of `last_trade_price`. */
export class LastTrades {
  readonly #parts: LastTradesParts
  readonly #transactions = new Map<string, Transaction>()
  #fillCount = 0
  /** Transactions that wait for their row, in order of their due time. */
  readonly #waiting = new Set<Transaction>()
  /** Transactions whose rows wait for their fills, in order of their due time. */
  readonly #held = new Set<Transaction>()
  #source: TradesSource = 'activity'
  #stopTimer: StopTimer | null = null
  #isPaused = false
  /** Monotonic time and wall-clock time of the stream's last match row. */
  #matchedAtMs = 0
  #matchedAt: TimeMs
  /** Monotonic time of the first fill since the last match row. Null if there is none. */
  #flowsSinceMs: number | null = null
  /** Number of fills whose row did not arrive in time, since the last match row. */
  #unansweredCount = 0
  #silentPeriods = 0
  #matchesSinceEnd = 0

  constructor(parts: LastTradesParts) {
    this.#parts = parts
    this.#matchedAt = parts.clock.nowMs()
  }

  get source(): TradesSource {
    return this.#source
  }

  start(): void {
    this.#noteAlive()
    this.#stopTimer ??= this.#parts.clock.every(SWEEP_MS, () => this.#sweep())
  }

  stop(): void {
    this.#stopTimer?.()
    this.#stopTimer = null
    this.#waiting.clear()
    this.#held.clear()
    this.#transactions.clear()
    this.#fillCount = 0
  }

  pause(isPaused: boolean): void {
    if (isPaused === this.#isPaused) return
    this.#isPaused = isPaused
    if (isPaused) return
    this.#noteAlive()
    const nowMs = this.#parts.clock.monotonicMs()
    for (const transaction of this.#waiting) transaction.dueAtMs = nowMs + WAIT_MS
    for (const transaction of this.#held) transaction.dueAtMs = nowMs + FILLS_WAIT_MS
  }

  take(trade: LastTrade, receivedAtMs: TimeMs): void {
    const { clock, ledger, counters } = this.#parts
    const takerSize = ledger.takerSize(trade.txHash)
    if (takerSize !== null) {
      const isAlike = takerSize < trade.size * FILL_RATIO_MAX
      counters.drift.shares.noteField(SIZE_UNLIKE, isAlike, trade.txHash)
      return counters.ignored('last_trade_known')
    }
    const nowMs = clock.monotonicMs()
    this.#evict(nowMs)
    const transaction = this.#transactionOf(trade.txHash, nowMs, receivedAtMs)
    const { trades } = transaction
    if (trades.length === FILLS_MAX) {
      return counters.trouble('last_trades_full', { detail: trade.txHash })
    }
    // `concat` saves memory: most lists have one fill, and V8 allocates 17 slots after `push` or a spread.
    transaction.trades = trades.concat(trade)
    this.#fillCount += 1
    if (transaction.rows.length > 0) return this.#joinHeld(transaction)
    if (this.#source === 'last_trade_price') return this.#emit(transaction, receivedAtMs)
    if (this.#waiting.has(transaction)) return
    this.#flowsSinceMs ??= nowMs
    transaction.receivedAtMs = receivedAtMs
    transaction.dueAtMs = nowMs + WAIT_MS
    this.#waiting.add(transaction)
  }

  tradeOf(txHash: string): LastTrade | null {
    return this.#transactions.get(txHash)?.trades[0] ?? null
  }

  #transactionOf(hash: string, nowMs: number, receivedAtMs: TimeMs): Transaction {
    const existing = this.#transactions.get(hash)
    if (existing !== undefined) return existing
    const transaction = {
      hash,
      trades: NONE,
      checkedCount: 0,
      emittedCount: 0,
      rows: NONE,
      parts: NONE,
      sinceMs: nowMs,
      receivedAtMs,
      dueAtMs: nowMs,
    }
    this.#transactions.set(hash, transaction)
    return transaction
  }

  /** Evicts old transactions, and the oldest transactions above the limit. Emits their waiting fills and rows. */
  #evict(nowMs: number): void {
    for (const transaction of this.#transactions.values()) {
      const isOld = nowMs - transaction.sinceMs > RETAINED_MS
      if (!isOld && this.#fillCount < LAST_TRADES_MAX) break
      const isWaiting = this.#waiting.has(transaction)
      if (transaction.rows.length > 0) this.#settle(transaction)
      else this.#remove(transaction)
      if (isWaiting) this.#emit(transaction)
    }
  }

  #remove(transaction: Transaction): void {
    if (!this.#transactions.delete(transaction.hash)) return
    this.#fillCount -= transaction.trades.length
    this.#waiting.delete(transaction)
    this.#held.delete(transaction)
  }

  /** Handles a match row of the stream. A row with complete fills is emitted, any other row waits for its fills. */
  matched(row: TradeRow, receivedAtMs: TimeMs): void {
    const { clock, ledger, isStreamed } = this.#parts
    const existing = this.#transactions.get(row.txHash)
    const mayWait =
      this.#source === 'activity' && !ledger.isEmitted(row) && (existing?.emittedCount ?? 0) === 0
    this.#noteMatch()
    const isComplete = Array.isArray(fillsOf(row, existing?.trades ?? NONE))
    const isHeld = existing !== undefined && existing.rows.length > 0
    const isAwaited = mayWait && !isComplete && (isStreamed(row.asset) || isAverage(row))
    if (!isHeld && !isAwaited) {
      if (existing !== undefined) this.#remove(existing)
      return ledger.addMatched(row, receivedAtMs, this.#fillsNow(row, existing))
    }
    const nowMs = clock.monotonicMs()
    const transaction = existing ?? this.#transactionOf(row.txHash, nowMs, receivedAtMs)
    if (transaction.rows.length < ROWS_MAX) {
      transaction.rows = transaction.rows.concat({ row, receivedAtMs })
    }
    this.#waiting.delete(transaction)
    if (!this.#held.has(transaction)) {
      transaction.parts = ledger.waitingOf(row.txHash)
      transaction.dueAtMs = nowMs + FILLS_WAIT_MS
      this.#held.add(transaction)
    }
    this.#joinHeld(transaction)
  }

  /** Handles a participant row. A waiting match row may be the sum of its makers' rows. */
  part(row: TradeRow): void {
    const transaction = this.#transactions.get(row.txHash)
    if (transaction === undefined || transaction.rows.length === 0) return
    if (transaction.parts.length >= FILLS_MAX) return
    transaction.parts = transaction.parts.concat(row)
    this.#joinHeld(transaction)
  }

  /** Emits the rows of a transaction when all of them have complete fills. */
  #joinHeld(transaction: Transaction): void {
    const { rows, trades, parts } = transaction
    const isComplete = ({ row }: HeldRow) =>
      Array.isArray(fillsOf(row, trades)) || fillsOfMakers(row, parts) !== null
    if (rows.every(isComplete)) this.#settle(transaction)
  }

  #settle(transaction: Transaction): void {
    this.#remove(transaction)
    const { rows } = transaction
    transaction.rows = NONE
    for (const { row, receivedAtMs } of rows) {
      this.#parts.ledger.addMatched(row, receivedAtMs, this.#fillsNow(row, transaction))
    }
  }

  /** The fills of a row that are known now. Null if the row must be emitted as one trade. */
  #fillsNow(row: TradeRow, transaction: Transaction | undefined): readonly Fill[] | null {
    // Some fills of the row were already emitted without a wallet. The row is then emitted as one trade that completes
    // them.
    if (transaction === undefined || transaction.emittedCount > 0) return null
    const { trades, parts } = transaction
    if (trades.length === 0) return fillsOfMakers(row, parts)
    const size = trades.reduce((sum, trade) => sum + trade.size, 0)
    const isAlike = row.size < size * FILL_RATIO_MAX
    this.#parts.counters.drift.shares.noteField(SIZE_UNLIKE, isAlike, row.txHash)
    if (!isAlike) return null
    const fills = fillsOf(row, trades)
    if (typeof fills !== 'string') return fills
    return fillsOfMakers(row, parts) ?? (fills === 'unlike' ? null : fillsWithRest(row, trades))
  }

  fillsOf(row: TradeRow): readonly Fill[] | null | 'expected' {
    const { clock, isStreamed } = this.#parts
    const transaction = this.#transactions.get(row.txHash)
    if (transaction !== undefined && transaction.rows.length > 0) return 'expected'
    const isYoung = clock.nowMs() - row.timeMs < YOUNG_MS
    if (isYoung && this.#source === 'activity' && isStreamed(row.asset)) return 'expected'
    const fills = this.#fillsNow(row, transaction)
    if (transaction !== undefined) this.#remove(transaction)
    return fills
  }

  #noteMatch(): void {
    if (this.#source === 'activity') return this.#noteAlive()
    this.#matchesSinceEnd += 1
    if (this.#matchesSinceEnd < MATCHES_BEFORE_BACK) return
    const sinceMs = this.#matchedAt
    this.#noteAlive()
    this.#change('activity', 'the activity stream is back', sinceMs)
  }

  refused(): void {
    if (this.#source === 'activity') this.#end('the topic is refused')
  }

  #noteAlive(): void {
    const { clock } = this.#parts
    this.#matchedAtMs = clock.monotonicMs()
    this.#matchedAt = clock.nowMs()
    this.#flowsSinceMs = null
    this.#unansweredCount = 0
    this.#silentPeriods = 0
    this.#matchesSinceEnd = 0
  }

  #sweep(): void {
    const nowMs = this.#parts.clock.monotonicMs()
    this.#evict(nowMs)
    if (this.#isPaused) return
    for (const transaction of this.#held) {
      if (transaction.dueAtMs > nowMs) break
      this.#settle(transaction)
    }
    if (this.#source !== 'activity') return
    for (const transaction of this.#waiting) {
      if (transaction.dueAtMs > nowMs) break
      this.#waiting.delete(transaction)
      this.#unansweredCount += 1
      this.#parts.counters.trouble('trade_without_row', { detail: transaction.hash })
      this.#emit(transaction)
    }
    this.#checkStream(nowMs)
  }

  #checkStream(nowMs: number): void {
    const { noDataAfterMs, onNoRows, counters } = this.#parts
    const noRowMs = nowMs - Math.max(this.#matchedAtMs, this.#flowsSinceMs ?? nowMs)
    const silentPeriods = Math.floor(noRowMs / noDataAfterMs)
    if (silentPeriods <= this.#silentPeriods || this.#unanswered(nowMs) === 0) return
    this.#silentPeriods = silentPeriods
    counters.drift.note('rtds', NAME, `no row for ${Math.round(noRowMs / 1_000)} s`)
    const isEnded =
      silentPeriods >= SILENT_PERIODS_BEFORE_END && this.#unanswered(nowMs) >= UNANSWERED_BEFORE_END
    if (isEnded) this.#end(NAME)
    else onNoRows(NAME)
  }

  #unanswered(nowMs: number): number {
    let count = this.#unansweredCount
    for (const { dueAtMs } of this.#waiting) {
      if (dueAtMs - WAIT_MS + CHECKED_AFTER_MS > nowMs) break
      count += 1
    }
    return count
  }

  #end(reason: string): void {
    const sinceMs = this.#matchedAt
    this.#matchesSinceEnd = 0
    this.#change('last_trade_price', reason, sinceMs)
    for (const transaction of this.#held) this.#settle(transaction)
    for (const transaction of this.#waiting) this.#emit(transaction)
    this.#waiting.clear()
  }

  #change(source: TradesSource, reason: string, sinceMs: TimeMs): void {
    this.#source = source
    this.#parts.onSource(source, reason, sinceMs)
  }

  #emit(transaction: Transaction, receivedAtMs = transaction.receivedAtMs): void {
    const { hash, trades } = transaction
    for (; transaction.checkedCount < trades.length; transaction.checkedCount += 1) {
      const trade = trades[transaction.checkedCount]
      const before = trades.slice(0, transaction.checkedCount)
      if (trade === undefined) continue
      if (before.some((other) => isRepeat(other, trade))) {
        this.#parts.counters.ignored('last_trade_repeated')
        continue
      }
      const n = transaction.emittedCount
      transaction.emittedCount += 1
      const event = tradeEvent(
        { row: { ...trade, key: '', wallet: '' }, n },
        'stream',
        receivedAtMs,
      )
      this.#parts.emit({ ...event, nativeId: partId(hash, n) })
    }
  }
}

/**
 * Whether two messages are equal, or mirror each other in prices of the two tokens. Repeats are not emitted, because
 * the Data API has one row with the sum of equal fills.
 */
function isRepeat(one: LastTrade, other: LastTrade): boolean {
  if (one.size !== other.size || one.market !== other.market) return false
  if (one.asset === other.asset) return one.price === other.price && one.side === other.side
  return one.price === complement(other.price)
}
