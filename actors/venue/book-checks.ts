// Which books are read over REST beside the stream, and when: what somebody waits for, books of matches and opportunities
// before they are too old, and all the others in rounds. A socket that lives says nothing of one subscription.

import type { Clock, StopTimer } from '../../engine/clock.ts'
import type { OutcomeId, VenueKey } from '../../engine/ids.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import type { Metrics } from '../../engine/process/metrics.ts'
import type { KnownMarket } from '../catalog/catalog.ts'

/** How old a book may be, and how often all are read; both in milliseconds. */
export interface BookCheckLimits {
  /** A book that was neither changed nor confirmed for so long is part of no opportunity. */
  readonly ageMsMax: number
  /** Every subscribed book is read once in so long. */
  readonly roundMs: number
}

interface BookChecksParts {
  readonly venue: VenueKey
  readonly clock: Clock
  readonly metrics: Metrics
  readonly limits: BookCheckLimits
  /** Reads books over REST; what it finds goes to their markets. */
  readonly read: (outcomes: readonly OutcomeId[]) => void
  /** Whether the feed reads all books in turn anyway. */
  readonly isPolled: () => boolean
  /** Markets of matches and opportunities, whose books are read before all others. */
  readonly priorityMarkets: () => Iterable<KnownMarket>
}

/** Books read in a second beside the rounds; the others wait, those asked for first before the rest. */
const READS_PER_SECOND = 200
/** A book that was read is not read again for so long. */
const READ_AGAIN_MS = 2_000
/** Requests within this are one. */
const GATHER_MS = 20
/** Somebody waits for a reading for so long at most. */
const WAIT_MS_MAX = 2_000
/** Markets that somebody waits for; beyond, nobody waits. */
const WAITING_MAX = 1_000

export class BookChecks {
  readonly #parts: BookChecksParts
  /** Bounded by the markets that the feed watches. */
  readonly #watched = new Set<KnownMarket>()
  /** When each is due, on the monotonic clock. */
  readonly #requested = new Map<KnownMarket, number>()
  readonly #readAtMs = new Map<KnownMarket, number>()
  readonly #waiting = new Map<MarketNumber, (() => void)[]>()
  /** The present round goes on where it was; markets may come and go meanwhile. */
  #round: Iterator<KnownMarket>
  #roundBeganAtMs: number
  #roundMs = 0
  /** Markets that this round may read by now. */
  #roundCredit = 0
  #readsLeft = READS_PER_SECOND
  #stopGathering: StopTimer | null = null

  constructor(parts: BookChecksParts) {
    this.#parts = parts
    this.#round = this.#watched.values()
    this.#roundBeganAtMs = parts.clock.monotonicMs()
    const { metrics, venue } = parts
    const round = 'Milliseconds of the last whole round of book readings over REST; 0 before it.'
    metrics.gauge(`book_audit_round_ms_${venue}`, round, () => this.#roundMs)
    const oldest = 'Age of the live book that was not changed or confirmed for longest.'
    metrics.gauge(`book_oldest_confirmation_ms_${venue}`, oldest, () => this.#oldestMs())
  }

  /** Its book is part of the rounds from now on. */
  add(market: KnownMarket): void {
    this.#watched.add(market)
  }

  remove(market: KnownMarket): void {
    this.#watched.delete(market)
    this.#requested.delete(market)
    this.#readAtMs.delete(market)
    this.settle(market.actor.ref.number)
  }

  /** The book is read in so many milliseconds, or sooner; not when it has just been read. */
  requestCheck(market: KnownMarket, delayMs = 0): void {
    const nowMs = this.#parts.clock.monotonicMs()
    const readAtMs = this.#readAtMs.get(market)
    if (readAtMs !== undefined && nowMs + delayMs - readAtMs < READ_AGAIN_MS) return
    const dueMs = Math.min(this.#requested.get(market) ?? Number.POSITIVE_INFINITY, nowMs + delayMs)
    this.#requested.set(market, dueMs)
    if (delayMs > 0 || this.#stopGathering !== null) return
    this.#stopGathering = this.#parts.clock.after(GATHER_MS, () => {
      this.#stopGathering = null
      this.#readWanted()
    })
  }

  /** Resolves when a reading of the book has come, or after two seconds; null: too many wait. */
  confirm(market: KnownMarket): Promise<void> | null {
    const { number } = market.actor.ref
    if (!this.#waiting.has(number) && this.#waiting.size >= WAITING_MAX) return null
    this.requestCheck(market)
    return new Promise((resolve) => {
      const waiters = this.#waiting.get(number) ?? []
      this.#waiting.set(number, waiters)
      waiters.push(resolve)
      if (waiters.length === 1) this.#parts.clock.after(WAIT_MS_MAX, () => this.settle(number))
    })
  }

  /** Nobody waits for this book any more. */
  settle(number: MarketNumber): void {
    const waiters = this.#waiting.get(number)
    if (waiters === undefined) return
    this.#waiting.delete(number)
    for (const resolve of waiters) resolve()
  }

  /** Reads what is due, and the next part of the round. */
  everySecond(): void {
    const { clock, limits, priorityMarkets, isPolled } = this.#parts
    const nowMs = clock.monotonicMs()
    this.#readsLeft = READS_PER_SECOND
    for (const [market, readAtMs] of this.#readAtMs) {
      if (nowMs - readAtMs < READ_AGAIN_MS) break
      this.#readAtMs.delete(market)
    }
    for (const market of priorityMarkets())
      if (this.#isOlderThan(market, limits.ageMsMax / 2)) this.requestCheck(market)
    this.#readWanted()
    if (!isPolled()) this.#readRound(nowMs)
  }

  stop(): void {
    this.#stopGathering?.()
    for (const number of [...this.#waiting.keys()]) this.settle(number)
  }

  #readWanted(): void {
    const nowMs = this.#parts.clock.monotonicMs()
    const markets: KnownMarket[] = []
    for (const [market, dueMs] of this.#requested) {
      if (this.#readsLeft === 0) break
      if (dueMs > nowMs) continue
      this.#requested.delete(market)
      if (!market.actor.isBookLive) {
        this.settle(market.actor.ref.number)
        continue
      }
      this.#readsLeft -= 1
      this.#readAtMs.delete(market)
      this.#readAtMs.set(market, nowMs)
      markets.push(market)
    }
    this.#read(markets)
  }

  #readRound(nowMs: number): void {
    this.#roundCredit += (this.#watched.size * 1_000) / this.#parts.limits.roundMs
    const markets: KnownMarket[] = []
    for (; this.#roundCredit >= 1; this.#roundCredit -= 1) {
      const next = this.#round.next()
      if (next.done === true) {
        this.#roundMs = nowMs - this.#roundBeganAtMs
        this.#roundBeganAtMs = nowMs
        this.#round = this.#watched.values()
        break
      }
      const { actor } = next.value
      if (actor.isBookLive && actor.summary.status === 'open') markets.push(next.value)
    }
    this.#read(markets)
  }

  #read(markets: readonly KnownMarket[]): void {
    const outcomes = markets.flatMap(({ actor }) => actor.summary.outcomes[0]?.id ?? [])
    if (outcomes.length > 0) this.#parts.read(outcomes)
  }

  #isOlderThan({ actor }: KnownMarket, ageMs: number): boolean {
    if (!actor.isBookLive) return false
    const { bookConfirmedAtMs } = actor
    return bookConfirmedAtMs !== null && this.#parts.clock.nowMs() - bookConfirmedAtMs > ageMs
  }

  #oldestMs(): number {
    const nowMs = this.#parts.clock.nowMs()
    let oldestMs = 0
    for (const { actor } of this.#watched) {
      if (!actor.isBookLive || actor.summary.status !== 'open') continue
      oldestMs = Math.max(oldestMs, nowMs - (actor.bookConfirmedAtMs ?? nowMs))
    }
    return oldestMs
  }
}
