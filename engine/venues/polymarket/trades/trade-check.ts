// Checks trades against the Data API. A row that arrived twice may be a second equal fill. A participant row without
// its match row means that a fill was lost. The query is repeated until the response is certainly complete.

import type { Clock, StopTimer } from '../../../clock.ts'
import type { NativeMarketId } from '../../../ids.ts'
import { type TimeMs, timeMs } from '../../../units.ts'
import type { Suspicion, TradeLedger, TradeRow } from './trade-ledger.ts'
import type { TradeWalk } from './trade-walk.ts'

interface CheckParts {
  readonly clock: Clock
  readonly walk: TradeWalk
  /** Called when a check failed. Trades of the whole venue since `sinceMs` may be missing. */
  readonly onGivenUp: (sinceMs: TimeMs, reason: string) => void
  readonly onChecked: (
    outcome: 'check_found' | 'check_repeat' | 'check_retried' | 'check_dust',
  ) => void
}

interface Check {
  readonly market: NativeMarketId
  fromMs: number
  toMs: number
  /** Rows and transactions that the response must contain. The venue's index may lag behind the stream. */
  readonly keys: Set<string>
  readonly transactions: Set<string>
  attempts: number
  dueAtMs: number
  readonly createdAtMs: number
}

/** Delays between the attempts of a check while the response lacks its rows. The last delay repeats. */
const DELAYS_MS: readonly number[] = [1_500, 4_000, 10_000, 20_000, 40_000, 120_000]
/** A check without a conclusive response is abandoned after this time. */
const AGE_MS_MAX = 900_000
/** Minimum size, 0.01 contracts, in millionths. The venue does not list smaller trades. */
const DUST = 10_000
const PAGE_ROWS = 200
const SWEEP_MS = 500
const RUNNING_MAX = 4
/** Maximum checks. Above the maximum a gap in the venue's trades is reported and back-filled. */
const CHECKS_MAX = 1_024
const ROWS_MAX = 16_384
/** Maximum delay of a match row after its participant's row. */
const ORPHAN_MS = 3_000
/** Tolerance between the times of the Data API and the stream. */
const BEFORE_MS = 2_000
const AFTER_MS = 10_000

/** Queue with one check per market. A timer runs the checks between `start` and `stop`. */
export class TradeCheck {
  readonly #parts: CheckParts
  readonly #ledger: TradeLedger
  readonly #checks = new Map<NativeMarketId, Check>()
  #stopTimer: StopTimer | null = null
  #aborter = new AbortController()
  #running = 0

  constructor(parts: CheckParts, ledger: TradeLedger) {
    this.#parts = parts
    this.#ledger = ledger
  }

  start(): void {
    if (this.#stopTimer !== null) return
    this.#aborter = new AbortController()
    this.#stopTimer = this.#parts.clock.every(SWEEP_MS, () => this.#sweep())
  }

  stop(): void {
    this.#stopTimer?.()
    this.#stopTimer = null
    this.#aborter.abort()
    this.#checks.clear()
  }

  add(suspicion: Suspicion): void {
    const { row } = suspicion
    if (row.size < DUST) return this.#parts.onChecked('check_dust')
    if (this.#rowCount() >= ROWS_MAX) {
      return this.#parts.onGivenUp(row.timeMs, 'too many trades to check')
    }
    let check = this.#checks.get(row.market)
    if (check === undefined) {
      if (this.#checks.size >= CHECKS_MAX) {
        this.#parts.onGivenUp(row.timeMs, 'too many trades to check')
        return
      }
      check = {
        market: row.market,
        fromMs: row.timeMs,
        toMs: row.timeMs,
        keys: new Set(),
        transactions: new Set(),
        attempts: 0,
        dueAtMs: this.#parts.clock.monotonicMs() + (DELAYS_MS[0] ?? 0),
        createdAtMs: this.#parts.clock.monotonicMs(),
      }
      this.#checks.set(row.market, check)
    }
    check.fromMs = Math.min(check.fromMs, row.timeMs)
    check.toMs = Math.max(check.toMs, row.timeMs)
    if (suspicion.kind === 'repeat') check.keys.add(row.key)
    else check.transactions.add(row.txHash)
  }

  #sweep(): void {
    const nowMs = this.#parts.clock.monotonicMs()
    this.#ledger.suspectOrphans(this.#parts.clock.nowMs() - ORPHAN_MS)
    for (const check of this.#checks.values()) {
      if (this.#running >= RUNNING_MAX) return
      if (check.dueAtMs > nowMs) continue
      this.#checks.delete(check.market)
      this.#running += 1
      void this.#run(check).finally(() => {
        this.#running -= 1
      })
    }
  }

  #rowCount(): number {
    let count = 0
    for (const { keys, transactions } of this.#checks.values())
      count += keys.size + transactions.size
    return count
  }

  async #run(check: Check): Promise<void> {
    const signal = this.#aborter.signal
    const rows: TradeRow[] = []
    let provenToMs = 0
    try {
      const range = {
        market: check.market,
        fromMs: timeMs(check.fromMs - BEFORE_MS),
        toMs: timeMs(check.toMs + AFTER_MS),
        ...{ attempt: check.attempts, rowsMax: PAGE_ROWS },
      }
      const walked = await this.#parts.walk.read(range, (page) => void rows.push(...page), signal)
      provenToMs = walked.provenToMs
    } catch {
      if (!signal.aborted) this.#retryLater(check, 'the Data API does not answer')
      return
    }
    if (signal.aborted) return
    const added = this.#ledger.reconcile(rows, this.#parts.clock.nowMs())
    for (const row of this.#ledger.withExistingKeys(rows)) {
      check.keys.delete(row.key)
      check.transactions.delete(row.txHash)
    }
    this.#parts.onChecked(added > 0 ? 'check_found' : 'check_repeat')
    if (check.keys.size + check.transactions.size === 0) return
    // If a complete response lacks a row, its match did not reach the blockchain, and the check ends.
    if (provenToMs < check.toMs + AFTER_MS) this.#retryLater(check, 'no newer response')
  }

  #retryLater(check: Check, failure: string): void {
    check.attempts += 1
    if (this.#parts.clock.monotonicMs() - check.createdAtMs > AGE_MS_MAX) {
      return this.#parts.onGivenUp(timeMs(check.fromMs), failure)
    }
    const delayMs = DELAYS_MS[check.attempts] ?? DELAYS_MS.at(-1) ?? 0
    this.#parts.onChecked('check_retried')
    check.dueAtMs = this.#parts.clock.monotonicMs() + delayMs
    const newer = this.#checks.get(check.market)
    if (newer !== undefined) {
      check.fromMs = Math.min(check.fromMs, newer.fromMs)
      check.toMs = Math.max(check.toMs, newer.toMs)
      for (const key of newer.keys) check.keys.add(key)
      for (const txHash of newer.transactions) check.transactions.add(txHash)
    }
    this.#checks.set(check.market, check)
  }
}
