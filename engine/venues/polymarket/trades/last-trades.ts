// What the market channel's `last_trade_price` is used for. Each is a fill without its wallet, and waits for the row of its
// transaction on the activity stream (RTDS), which has the wallet and the sum: the row is then emitted as its fills. A row
// that comes first waits for its fills where the market channel has its token. A fill whose row does not come is emitted
// without a wallet, and a row whose fills do not come as one trade.
//
// It is also the second source of trades, for the time when the activity stream has ended: then what waits is emitted, and
// what comes at once; rows of the stream bring it back.
//
//   activity ──no row while last_trade_price flows, or refused──▶ last_trade_price
//            ◀───────────────── rows of several matches ─────────

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
  /** Whether the market channel has the fills of this token now. */
  readonly isStreamed: (token: string) => boolean
  readonly emit: (event: VenueEvent) => void
  /** So long without a row, while `last_trade_price` flows, and the stream's socket is replaced. */
  readonly noDataAfterMs: number
  readonly onNoRows: (reason: string) => void
  /** The source changed; trades since then may lack those of unwatched markets. */
  readonly onSource: (source: TradesSource, reason: string, sinceMs: TimeMs) => void
}

/** A row that waits for its fills. */
interface HeldRow {
  readonly row: TradeRow
  readonly receivedAtMs: TimeMs
}

/** A transaction, its messages on the market channel, and its rows that wait for more of them or for their makers. */
interface Transaction {
  readonly hash: string
  trades: readonly LastTrade[]
  /** So many of them were looked at for emission, and so many emitted: repeats and mirrors are left out. */
  checkedCount: number
  emittedCount: number
  rows: readonly HeldRow[]
  /** Rows of its wallets that came while a row waits. */
  parts: readonly TradeRow[]
  /** When the first of them came. */
  readonly sinceMs: number
  /** Of the first that waits. */
  receivedAtMs: TimeMs
  /** When what waits is emitted as it is. */
  dueAtMs: number
}

const NONE: readonly never[] = []
/** A row of the stream comes before its `last_trade_price`, or within this time. */
const WAIT_MS = 10_000
/** The fills of a row come before it, or within this time. */
const FILLS_WAIT_MS = 2_000
/** A row that the Data API shows sooner than the stream comes on the stream within this time. */
const YOUNG_MS = 4_000
/** Repeats of a row that waits; more are not counted. */
const ROWS_MAX = 8
/** A silence is judged by trades that have waited so long. */
const CHECKED_AFTER_MS = 3_000
const SWEEP_MS = 500
/** So many silent spells, one after the other, and so many trades without a row end the stream. */
const SILENT_PERIODS_BEFORE_END = 2
const UNANSWERED_BEFORE_END = 3
/** Rows of so many matches bring the stream back. */
const MATCHES_BEFORE_BACK = 3
/** Fills of all transactions without a row that are remembered, about 10 MB, and for how long. Beyond either the oldest
 * transaction is emitted if it waits, and forgotten: a repeat of it would be told again, under the same id. */
export const LAST_TRADES_MAX = 32_768
const RETAINED_MS = 600_000
/** Further fills of one transaction are left to the Data API, and counted. */
export const FILLS_MAX = 256
/** A taker's row has the sum of its fills. So many times one of them, again and again, it is in another unit. */
const FILL_RATIO_MAX = 100_000
const SIZE_UNLIKE = { kind: 'rtds.field', name: 'size unlike last_trade_price' }
const NAME = 'silent while last_trade_price flows'

/** Decides which source tells trades, and emits those of the second one. */
export class LastTrades {
  readonly #parts: LastTradesParts
  /** By hash, the oldest first. */
  readonly #transactions = new Map<string, Transaction>()
  #fillCount = 0
  /** Those of them that wait for their row, by when it is due. */
  readonly #waiting = new Set<Transaction>()
  /** Those whose rows wait for their fills, by when they are due. */
  readonly #held = new Set<Transaction>()
  #source: TradesSource = 'activity'
  #stopTimer: StopTimer | null = null
  #isPaused = false
  /** When the stream's last row of a match came, by both clocks. */
  #matchedAtMs = 0
  #matchedAt: TimeMs
  /** When the first trade since then came; null: none has. */
  #flowsSinceMs: number | null = null
  /** Trades since then whose row did not come in time. */
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

  /** The stream is not read for a while: its silence says nothing, and trades wait on. */
  pause(isPaused: boolean): void {
    if (isPaused === this.#isPaused) return
    this.#isPaused = isPaused
    if (isPaused) return
    this.#noteAlive()
    const nowMs = this.#parts.clock.monotonicMs()
    for (const transaction of this.#waiting) transaction.dueAtMs = nowMs + WAIT_MS
    for (const transaction of this.#held) transaction.dueAtMs = nowMs + FILLS_WAIT_MS
  }

  /** One `last_trade_price` with a transaction. */
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
    // Neither pushed nor spread: most have one fill, and V8 would make room for seventeen.
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

  /** The first trade of a transaction on the market channel; null: none is known. */
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

  /** Forgets the oldest transactions beyond the bounds, as if no row of them would come. */
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

  /** From now on the ledger knows it, or nothing of it comes any more. */
  #remove(transaction: Transaction): void {
    if (!this.#transactions.delete(transaction.hash)) return
    this.#fillCount -= transaction.trades.length
    this.#waiting.delete(transaction)
    this.#held.delete(transaction)
  }

  /** The stream gave the row of a match: it is emitted with its fills, or waits for them. */
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

  /** One wallet's part in a transaction: a row that waits may be the sum of its makers' parts. */
  part(row: TradeRow): void {
    const transaction = this.#transactions.get(row.txHash)
    if (transaction === undefined || transaction.rows.length === 0) return
    if (transaction.parts.length >= FILLS_MAX) return
    transaction.parts = transaction.parts.concat(row)
    this.#joinHeld(transaction)
  }

  /** Emits the rows of a transaction once the fills of each are known. */
  #joinHeld(transaction: Transaction): void {
    const { rows, trades, parts } = transaction
    const isComplete = ({ row }: HeldRow) =>
      Array.isArray(fillsOf(row, trades)) || fillsOfMakers(row, parts) !== null
    if (rows.every(isComplete)) this.#settle(transaction)
  }

  /** Emits the rows that wait as what is known of them. */
  #settle(transaction: Transaction): void {
    this.#remove(transaction)
    const { rows } = transaction
    transaction.rows = NONE
    for (const { row, receivedAtMs } of rows) {
      this.#parts.ledger.addMatched(row, receivedAtMs, this.#fillsNow(row, transaction))
    }
  }

  /** The fills of a row as far as they are known; null: it is one trade. */
  #fillsNow(row: TradeRow, transaction: Transaction | undefined): readonly Fill[] | null {
    // Trades without a wallet are completed by the whole row.
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

  /** The fills of a row that the Data API shows; see TradeLedger. */
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

  /** The venue refuses the stream's topic. */
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

  /** Transactions whose row is overdue. */
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

  /** Emits the fills of a transaction that were not, without their wallet. */
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
 * Whether two messages of a transaction are of one fill: the same, or the fill in the price of the other token. Equal
 * fills of one transaction are one here; the Data API's row has their sum.
 */
function isRepeat(one: LastTrade, other: LastTrade): boolean {
  if (one.size !== other.size || one.market !== other.market) return false
  if (one.asset === other.asset) return one.price === other.price && one.side === other.side
  return one.price === complement(other.price)
}
