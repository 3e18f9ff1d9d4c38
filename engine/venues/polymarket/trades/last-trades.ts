// Trades from the market channel's `last_trade_price`, which has no wallet: the second source of trades, for the time when
// the activity stream (RTDS) has ended. While that stream is believed alive such a trade waits for its row of the same
// transaction, and is emitted without it after a while: the stream lost it. When the stream is judged ended, what waits
// is emitted, and what comes then at once; rows of the stream bring it back.
//
//   activity ──no row while last_trade_price flows, or refused──▶ last_trade_price
//            ◀───────────────── rows of several matches ─────────
//
// Not for: completing such trades (actors/market/trades.ts), the stream's socket (activity.ts). Upholds POLYLAST1 to
// POLYLAST4.

import type { Clock, StopTimer } from '../../../clock.ts'
import type { TradesSource, VenueEvent } from '../../../events.ts'
import { partId } from '../../../trade-parts.ts'
import { complement, type TimeMs } from '../../../units.ts'
import type { Tally } from '../../tally.ts'
import { type TradeLedger, type TradeRow, tradeEvent } from './trades.ts'

/** A row without a wallet, in milliseconds. */
export type LastTrade = Omit<TradeRow, 'key' | 'wallet'>

interface LastTradesParts {
  readonly clock: Clock
  readonly tally: Tally
  readonly ledger: Pick<TradeLedger, 'takerSize'>
  readonly emit: (event: VenueEvent) => void
  /** So long without a row, while `last_trade_price` flows, and the stream's socket is replaced. */
  readonly silentAfterMs: number
  readonly onSilent: (reason: string) => void
  /** The source changed; trades since then may lack those of unwatched markets. */
  readonly onSource: (source: TradesSource, reason: string, sinceMs: TimeMs) => void
}

/** A transaction and its fills, of which repeats and mirrors are left out. */
interface Transaction {
  readonly hash: string
  trades: readonly LastTrade[]
  /** So many of them are emitted. */
  emittedCount: number
  /** When the first of them came. */
  readonly sinceMs: number
  /** Of the first that waits. */
  receivedAtMs: TimeMs
  dueAtMs: number
}

const NONE: readonly never[] = []
/** A row of the stream comes before its `last_trade_price`, or within this time. */
const WAIT_MS = 10_000
/** A silence is judged by trades that have waited so long. */
const JUDGED_AFTER_MS = 3_000
const SWEEP_MS = 500
/** So many silent spells, one after the other, and so many trades without a row end the stream. */
const SPELLS_BEFORE_END = 2
const UNANSWERED_BEFORE_END = 3
/** Rows of so many matches bring the stream back. */
const MATCHES_BEFORE_BACK = 3
/** Fills of all transactions without a row that are remembered, about 10 MB, and for how long. Beyond either the oldest
 * transaction is emitted if it waits, and forgotten: a repeat of it would be told again, under the same id. */
export const LAST_TRADES_MAX = 32_768
const REMEMBERED_MS = 600_000
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
  #spells = 0
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
    this.#transactions.clear()
    this.#fillCount = 0
  }

  /** The stream is not read for a while: its silence says nothing, and trades wait on. */
  pause(isPaused: boolean): void {
    if (isPaused === this.#isPaused) return
    this.#isPaused = isPaused
    if (isPaused) return
    this.#noteAlive()
    const dueAtMs = this.#parts.clock.monotonicMs() + WAIT_MS
    for (const transaction of this.#waiting) transaction.dueAtMs = dueAtMs
  }

  /** One `last_trade_price` with a transaction. */
  take(trade: LastTrade, receivedAtMs: TimeMs): void {
    const { clock, ledger, tally } = this.#parts
    const takerSize = ledger.takerSize(trade.txHash)
    if (takerSize !== null) {
      const isAlike = takerSize < trade.size * FILL_RATIO_MAX
      tally.drift.shares.said(SIZE_UNLIKE, isAlike, trade.txHash)
      return tally.ignored('last_trade_known')
    }
    const nowMs = clock.monotonicMs()
    this.#makeRoom(nowMs)
    const transaction = this.#transactionOf(trade.txHash, nowMs, receivedAtMs)
    const { trades } = transaction
    if (trades.some((other) => isRepeat(other, trade))) return tally.ignored('last_trade_repeated')
    if (trades.length === FILLS_MAX) {
      return tally.trouble('last_trades_full', { detail: trade.txHash })
    }
    // Neither pushed nor spread: most have one fill, and V8 would make room for seventeen.
    transaction.trades = trades.concat(trade)
    this.#fillCount += 1
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
    const known = this.#transactions.get(hash)
    if (known !== undefined) return known
    const transaction = {
      hash,
      trades: NONE,
      emittedCount: 0,
      sinceMs: nowMs,
      receivedAtMs,
      dueAtMs: nowMs,
    }
    this.#transactions.set(hash, transaction)
    return transaction
  }

  /** Forgets the oldest transactions beyond the bounds, as if no row of them would come. */
  #makeRoom(nowMs: number): void {
    for (const transaction of this.#transactions.values()) {
      const isOld = nowMs - transaction.sinceMs > REMEMBERED_MS
      if (!isOld && this.#fillCount < LAST_TRADES_MAX) break
      this.#transactions.delete(transaction.hash)
      this.#fillCount -= transaction.trades.length
      if (this.#waiting.delete(transaction)) this.#emit(transaction)
    }
  }

  /** The stream gave the row of a match. */
  matched(txHash: string): void {
    const transaction = this.#transactions.get(txHash)
    if (transaction !== undefined) {
      // The ledger knows it from now on.
      this.#transactions.delete(txHash)
      this.#fillCount -= transaction.trades.length
      this.#waiting.delete(transaction)
    }
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
    this.#spells = 0
    this.#matchesSinceEnd = 0
  }

  #sweep(): void {
    const nowMs = this.#parts.clock.monotonicMs()
    this.#makeRoom(nowMs)
    if (this.#isPaused || this.#source !== 'activity') return
    for (const transaction of this.#waiting) {
      if (transaction.dueAtMs > nowMs) break
      this.#waiting.delete(transaction)
      this.#unansweredCount += 1
      this.#parts.tally.trouble('trade_without_row', { detail: transaction.hash })
      this.#emit(transaction)
    }
    this.#judge(nowMs)
  }

  #judge(nowMs: number): void {
    const { silentAfterMs, onSilent, tally } = this.#parts
    const silentMs = nowMs - Math.max(this.#matchedAtMs, this.#flowsSinceMs ?? nowMs)
    const spells = Math.floor(silentMs / silentAfterMs)
    if (spells <= this.#spells || this.#unanswered(nowMs) === 0) return
    this.#spells = spells
    tally.drift.note('rtds', NAME, `no row for ${Math.round(silentMs / 1_000)} s`)
    const isEnded = spells >= SPELLS_BEFORE_END && this.#unanswered(nowMs) >= UNANSWERED_BEFORE_END
    if (isEnded) this.#end(NAME)
    else onSilent(NAME)
  }

  /** Transactions whose row is overdue. */
  #unanswered(nowMs: number): number {
    let count = this.#unansweredCount
    for (const { dueAtMs } of this.#waiting) {
      if (dueAtMs - WAIT_MS + JUDGED_AFTER_MS > nowMs) break
      count += 1
    }
    return count
  }

  #end(reason: string): void {
    const sinceMs = this.#matchedAt
    this.#matchesSinceEnd = 0
    this.#change('last_trade_price', reason, sinceMs)
    for (const transaction of this.#waiting) this.#emit(transaction)
    this.#waiting.clear()
  }

  #change(source: TradesSource, reason: string, sinceMs: TimeMs): void {
    this.#source = source
    this.#parts.onSource(source, reason, sinceMs)
  }

  /** Emits the fills of a transaction that were not. */
  #emit(transaction: Transaction, receivedAtMs = transaction.receivedAtMs): void {
    const { hash, trades, emittedCount } = transaction
    transaction.emittedCount = trades.length
    for (const [index, trade] of trades.slice(emittedCount).entries()) {
      const n = emittedCount + index
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
