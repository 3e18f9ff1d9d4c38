// A gateway's demand for live books. The gateway reports it to the engine, which covers each reported market for ten
// minutes. The gateway repeats the report of subscribed markets before that time. The demand of a stopped gateway
// expires.

import type { Clock, StopTimer } from '../../engine/clock.ts'
import { count, message, record, rest, text } from '../../engine/codec.ts'
import type { Update } from '../../engine/events.ts'
import { coverageRequestedMs } from '../../engine/limits.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import type { Watcher } from '../../engine/publisher.ts'
import { BookWaits } from '../book-waits.ts'
import { DemandOwners } from '../demand-owners.ts'
import { EventLoopYielder } from '../event-loop-yielder.ts'
import type { BookDemand, EngineView, MarketView } from '../views.ts'

const REPORT_MS = 100
const ROWS_MAX = 1_000
const RETRY_MS = 1_000
const REPEAT_MS = 60_000
const RENEW_MS = 240_000
const SWEEP_MS = 10_000
/**
 * Maximum pairs of market and owner, in total and per owner. Higher than the engine's limits, because a gateway does
 * not know which markets the engine covers without demand.
 */
const DEMANDS_MAX = 100_000
const DEMANDS_OF_OWNER_MAX = 10_000

interface Row {
  readonly market: MarketNumber
  readonly owner: string
}
const reportMessage = message<readonly Row[]>(rest(record<Row>({ market: count, owner: text })))

interface Demand extends Row {
  readonly openedAtMs: number
  holds: number
  requestedUntilMs: number
  reportedAtMs: number
}

/** Engine side. Covers the markets of a report, in time slices. Throws for an invalid report. */
export function answerBookDemand(engine: {
  readonly catalog: { byNumber(number: MarketNumber): Pick<MarketView, 'ref'> | null }
  readonly coverage: EngineView['coverage']
  readonly clock: Clock
}) {
  return async (body: Uint8Array): Promise<Uint8Array> => {
    const rows = reportMessage.decode(body)
    if (rows === null) throw new Error('the report cannot be read')
    if (rows.length > ROWS_MAX) throw new Error('the report has too many markets')
    const yielder = new EventLoopYielder(engine.clock)
    for (const { market, owner } of rows) {
      await yielder.yieldIfDue()
      const ref = engine.catalog.byNumber(market)?.ref
      if (ref !== undefined) engine.coverage(ref.venue)?.request(market, owner)
    }
    return new Uint8Array()
  }
}

export class MirrorBookDemand implements BookDemand, Watcher {
  readonly name = 'book demand'
  readonly #clock: Clock
  readonly #isLive: (market: MarketNumber) => boolean
  readonly #coversAll: () => boolean
  readonly #send: (body: Uint8Array) => Promise<unknown>
  readonly #waits: BookWaits
  /** By market and owner. Includes markets that the engine covers without demand. */
  readonly #demands = new Map<string, Demand>()
  readonly #owners = new DemandOwners()
  readonly #due = new Set<string>()
  readonly #stopTimers: readonly StopTimer[]
  #isReporting = false
  #retryAtMs = Number.NEGATIVE_INFINITY

  constructor(parts: {
    readonly clock: Clock
    readonly isLive: (market: MarketNumber) => boolean
    readonly coversAll: () => boolean
    readonly send: (body: Uint8Array) => Promise<unknown>
  }) {
    const { clock } = parts
    this.#clock = clock
    this.#isLive = parts.isLive
    this.#coversAll = parts.coversAll
    this.#send = parts.send
    this.#waits = new BookWaits(clock)
    this.#stopTimers = [
      clock.every(REPORT_MS, () => void this.#report()),
      clock.every(SWEEP_MS, () => this.#sweep()),
    ]
  }

  stop(): void {
    for (const stopTimer of this.#stopTimers) stopTimer()
    this.#waits.stop()
  }

  request(market: MarketNumber, owner: string): boolean {
    if (this.#coversAll()) return true
    const demand = this.#open(market, owner)
    if (demand === null) return false
    const nowMs = this.#clock.monotonicMs()
    demand.requestedUntilMs = nowMs + coverageRequestedMs
    if (nowMs - demand.reportedAtMs >= REPEAT_MS) this.#due.add(keyOf(demand))
    return true
  }

  /**
   * Records the demand even if the engine covers all markets, because the engine's policy may change before the
   * release.
   */
  hold(market: MarketNumber, owner: string): boolean {
    const demand = this.#open(market, owner)
    if (demand === null) return false
    demand.holds += 1
    if (this.#clock.monotonicMs() - demand.reportedAtMs >= REPEAT_MS) this.#due.add(keyOf(demand))
    return true
  }

  release(market: MarketNumber, owner: string): void {
    const demand = this.#demands.get(keyOf({ market, owner }))
    if (demand === undefined || demand.holds === 0) return
    demand.holds -= 1
    this.#removeExpired(demand, this.#clock.monotonicMs())
  }

  async live(market: MarketNumber, waitMs: number, owner: string): Promise<void> {
    const openedAtMs = this.#demands.get(keyOf({ market, owner }))?.openedAtMs
    if (openedAtMs === undefined || this.#isLive(market)) return
    const restMs = openedAtMs + waitMs - this.#clock.monotonicMs()
    if (restMs > 0) await this.#waits.add(market, restMs, owner)
  }

  onUpdate(update: Update): void {
    if (update.kind !== 'bookReplaced' && update.kind !== 'bookConfirmed') return
    if (this.#isLive(update.market.number)) this.#waits.end(update.market.number)
  }

  /** Null: the owner demands too much, or all places are taken and no owner demands more. */
  #open(market: MarketNumber, owner: string): Demand | null {
    const key = keyOf({ market, owner })
    const existing = this.#demands.get(key)
    if (existing !== undefined) return existing
    if (this.#owners.countOf(owner) >= DEMANDS_OF_OWNER_MAX) return null
    if (this.#demands.size >= DEMANDS_MAX) this.#displaceFor(owner)
    if (this.#demands.size >= DEMANDS_MAX) return null
    const reportedAtMs = Number.NEGATIVE_INFINITY
    const openedAtMs = this.#clock.monotonicMs()
    const demand = { market, owner, openedAtMs, holds: 0, requestedUntilMs: 0, reportedAtMs }
    this.#demands.set(key, demand)
    this.#owners.add(owner, market)
    return demand
  }

  #displaceFor(owner: string): void {
    const largest = this.#owners.largestBeside(owner)
    if (largest === null) return
    for (const market of this.#owners.takeMarkets(largest, 1)) {
      const demand = this.#demands.get(keyOf({ market, owner: largest }))
      if (demand !== undefined) this.#remove(demand)
    }
  }

  #removeExpired(demand: Demand, nowMs: number): void {
    if (demand.holds === 0 && demand.requestedUntilMs <= nowMs) this.#remove(demand)
  }

  #remove(demand: Demand): void {
    const key = keyOf(demand)
    if (!this.#demands.delete(key)) return
    this.#due.delete(key)
    this.#owners.remove(demand.owner, demand.market)
  }

  #sweep(): void {
    const nowMs = this.#clock.monotonicMs()
    for (const [key, demand] of this.#demands) {
      this.#removeExpired(demand, nowMs)
      if (demand.holds > 0 && nowMs - demand.reportedAtMs >= RENEW_MS) this.#due.add(key)
    }
  }

  async #report(): Promise<void> {
    const nowMs = this.#clock.monotonicMs()
    if (this.#isReporting || this.#due.size === 0 || nowMs < this.#retryAtMs) return
    if (this.#coversAll()) return
    const rows: Demand[] = []
    for (const key of this.#due) {
      if (rows.length === ROWS_MAX) break
      this.#due.delete(key)
      const demand = this.#demands.get(key)
      if (demand !== undefined) rows.push(demand)
    }
    for (const demand of rows) demand.reportedAtMs = nowMs
    this.#isReporting = true
    try {
      await this.#send(reportMessage.encode(rows))
    } catch {
      this.#retryAtMs = this.#clock.monotonicMs() + RETRY_MS
      for (const demand of rows) {
        const key = keyOf(demand)
        if (this.#demands.get(key) === demand) this.#due.add(key)
      }
    }
    this.#isReporting = false
  }
}

const keyOf = ({ market, owner }: Row): string => `${market} ${owner}`
