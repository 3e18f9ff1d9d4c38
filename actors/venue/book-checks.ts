// Schedules REST reads that verify the books of the stream, because a subscription may stop delivering on an open
// connection. Order: books that requests wait for, books of matches and opportunities, then rounds over all books.

import type { Clock, StopTimer } from '../../engine/clock.ts'
import type { OutcomeId, VenueKey } from '../../engine/ids.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import type { Metrics } from '../../engine/process/metrics.ts'
import type { KnownMarket } from '../catalog/catalog.ts'

export interface BookCheckLimits {
  /** A book without a change or confirmation for this time is excluded from opportunities. */
  readonly ageMsMax: number
  /** Duration of a round, which reads every subscribed book once. */
  readonly roundMs: number
}

interface BookChecksParts {
  readonly venue: VenueKey
  readonly clock: Clock
  readonly metrics: Metrics
  readonly limits: BookCheckLimits
  /** Starts reading books over REST. The results are sent to their markets. */
  readonly read: (outcomes: readonly OutcomeId[]) => void
  /** True if the feed polls all books itself. Rounds are then unnecessary. */
  readonly isPolled: () => boolean
  /** Markets of matches and opportunities. Their books are read before all others. */
  readonly priorityMarkets: () => Iterable<KnownMarket>
}

const READS_PER_SECOND = 200
const READ_AGAIN_MS = 2_000
/** Maximum priority markets, and maximum other books, whose age is checked per second. Takes some 2 ms. */
const AGES_PER_SECOND = 4_000
const GATHER_MS = 20
const WAIT_MS_MAX = 2_000
const WAITING_MAX = 1_000

export class BookChecks {
  readonly #parts: BookChecksParts
  readonly #watched = new Set<KnownMarket>()
  readonly #requested = new Map<KnownMarket, number>()
  readonly #readAtMs = new Map<KnownMarket, number>()
  readonly #waiting = new Map<MarketNumber, (() => void)[]>()
  #round: Iterator<KnownMarket>
  #roundBeganAtMs: number
  #roundMs = 0
  #roundCredit = 0
  #readsLeft = READS_PER_SECOND
  /** The rest of the priority markets whose age is checked; null between two rounds. */
  #priorities: Iterator<KnownMarket> | null = null
  /** The rest of the books of which the oldest confirmation is found; null between two rounds. */
  #ages: Iterator<KnownMarket> | null = null
  /** Oldest confirmation of the last complete round and of the current one. */
  #oldest = { lastAtMs: Number.POSITIVE_INFINITY, atMs: Number.POSITIVE_INFINITY }
  #stopGathering: StopTimer | null = null

  constructor(parts: BookChecksParts) {
    this.#parts = parts
    this.#round = this.#watched.values()
    this.#roundBeganAtMs = parts.clock.monotonicMs()
    const { metrics, venue } = parts
    const round = 'Duration of the last complete round of REST book reads; 0 before the first.'
    metrics.gauge(`book_audit_round_ms_${venue}`, round, () => this.#roundMs)
    const oldest =
      'Milliseconds since the last change or confirmation of a live book, the largest value.'
    metrics.gauge(`book_oldest_confirmation_ms_${venue}`, oldest, () =>
      Math.max(0, parts.clock.nowMs() - this.#oldest.lastAtMs),
    )
  }

  add(market: KnownMarket): void {
    this.#watched.add(market)
  }

  remove(market: KnownMarket): void {
    this.#watched.delete(market)
    this.#requested.delete(market)
    this.#readAtMs.delete(market)
    this.settle(market.actor.ref.number)
  }

  /** Schedules a read of the book within `delayMs`, unless the book was read within READ_AGAIN_MS. */
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

  /**
   * Resolves when the result of the read has arrived, or after WAIT_MS_MAX. Null if too many markets have waiting
   * callers.
   */
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

  settle(number: MarketNumber): void {
    const waiters = this.#waiting.get(number)
    if (waiters === undefined) return
    this.#waiting.delete(number)
    for (const resolve of waiters) resolve()
  }

  everySecond(): void {
    const { clock, limits, priorityMarkets, isPolled } = this.#parts
    const nowMs = clock.monotonicMs()
    this.#readsLeft = READS_PER_SECOND
    for (const [market, readAtMs] of this.#readAtMs) {
      if (nowMs - readAtMs < READ_AGAIN_MS) break
      this.#readAtMs.delete(market)
    }
    this.#priorities ??= priorityMarkets()[Symbol.iterator]()
    const checkAge = (market: KnownMarket) => {
      if (this.#isOlderThan(market, limits.ageMsMax / 2)) this.requestCheck(market)
    }
    if (visitSome(this.#priorities, checkAge)) this.#priorities = null
    this.#readWanted()
    this.#findOldest()
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

  #findOldest(): void {
    this.#ages ??= this.#watched.values()
    const isEnd = visitSome(this.#ages, ({ actor }) => {
      if (!actor.isBookLive || actor.summary.status !== 'open') return
      const atMs = actor.bookConfirmedAtMs ?? Number.POSITIVE_INFINITY
      this.#oldest.atMs = Math.min(this.#oldest.atMs, atMs)
    })
    if (!isEnd) return
    this.#ages = null
    this.#oldest = { lastAtMs: this.#oldest.atMs, atMs: Number.POSITIVE_INFINITY }
  }
}

/** Visits the next AGES_PER_SECOND items. Returns whether none are left. */
function visitSome<Item>(items: Iterator<Item>, visit: (item: Item) => void): boolean {
  for (let count = 0; count < AGES_PER_SECOND; count += 1) {
    const next = items.next()
    if (next.done === true) return true
    visit(next.value)
  }
  return false
}
