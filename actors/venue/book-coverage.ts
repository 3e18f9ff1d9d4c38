// Decides which markets of one venue have live books: those of the coverage policy, of matches and open opportunities,
// and those that clients demand. Computes the markets of the policy in time slices and passes the differences to the
// feed.

import type { Clock } from '../../engine/clock.ts'
import type {
  CoveragePolicy,
  CoverageReason,
  CoverageRule,
  HoldReason,
} from '../../engine/coverage-policy.ts'
import type { VenueKey } from '../../engine/ids.ts'
import {
  coverageEveryMs,
  coverageLeavingMax,
  coverageLeavingMs,
  coverageReleasedMs,
  coverageRequestedMs,
} from '../../engine/limits.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import { runInSlices, runSlice, type SlicedWork } from '../../engine/time-slices.ts'
import type { TimeMs } from '../../engine/units.ts'
import type { VenueFeed } from '../../engine/venues/venue.ts'
import { BookWaits } from '../book-waits.ts'
import type { Catalog, KnownMarket } from '../catalog/catalog.ts'
import type { VolumeRange } from '../catalog/market-columns.ts'
import type { BookDemand, CoverageCounts, MarketView } from '../views.ts'
import { CoverageDemand } from './coverage-demand.ts'
import { WaitingHolds } from './waiting-holds.ts'

interface BookCoverageParts {
  readonly venue: VenueKey
  readonly clock: Clock
  readonly catalog: Pick<Catalog, 'entryOfNumber' | 'openByVolume'>
  readonly feed: Pick<VenueFeed, 'cover' | 'uncover'>
  readonly policy: CoveragePolicy
  /** Markets of matches and open opportunities, which are always covered. */
  readonly priorityMarkets: () => Iterable<KnownMarket>
  readonly onCovered: (markets: readonly KnownMarket[]) => void
  readonly onUncovered: (markets: readonly KnownMarket[]) => void
}

const WATCHED = 1
const OPEN = 2
const BY_POLICY = 4
const BY_MATCH = 8
const BY_DEMAND = 16
const COVERED = 32
const LIVE = 64
/** Set by the running computation: the policy covers the market. */
const NEXT = 128
const WANTED = BY_POLICY | BY_MATCH | BY_DEMAND

const BATCH = 250
/**
 * Up to this number, new markets are covered one by one. A larger number is covered by a computation, the most traded
 * first.
 */
const FEW = 1_000
const CHECKED_PER_STEP = 64
const FLAGS_PER_STEP = 8_192
/** Maximum waiting holds that a computation tries. */
const RETRIED_MAX = 2_000

export class BookCoverage implements BookDemand {
  readonly #parts: BookCoverageParts
  #policy: CoveragePolicy
  #rules: RuleTest
  #mustReplace = false
  #mustMark = false
  /** Flags by market number. A typed array, because most markets of a venue are not covered. */
  #flags = new Uint8Array(1_024)
  readonly #counts = { open: 0, wanted: 0, covered: 0, live: 0, policy: 0, match: 0 }
  readonly #demand = new CoverageDemand((market, holds) => {
    for (const hold of holds) this.#waitingHolds.add(hold)
    this.#endDemand(market)
  })
  readonly #waitingHolds = new WaitingHolds()
  #matched: ReadonlySet<MarketNumber> = new Set()
  readonly #leaving = new Map<MarketNumber, number>()
  /** Time of the first snapshot of each covered market. Empty while the policy covers all markets. */
  readonly #sinceMs = new Map<MarketNumber, TimeMs>()
  #allSinceMs: TimeMs | null
  readonly #awaited = new Map<MarketNumber, number>()
  #computing: Promise<void> | null = null
  #next: Promise<void> | null = null
  #computedAtMs = Number.NEGATIVE_INFINITY
  readonly #waits: BookWaits
  #isStopped = false

  constructor(parts: BookCoverageParts) {
    this.#parts = parts
    this.#waits = new BookWaits(parts.clock)
    this.#policy = parts.policy
    this.#rules = new RuleTest(parts.policy.rules)
    this.#allSinceMs = this.#rules.isAll ? parts.clock.nowMs() : null
  }

  get policy(): string {
    return this.#policy.text
  }

  /** Markets that the new policy does not cover are uncovered at once. Resolves when the policy is applied. */
  setPolicy(policy: CoveragePolicy): Promise<void> {
    this.#policy = policy
    this.#rules = new RuleTest(policy.rules)
    this.#mustReplace = true
    this.#mustMark = true
    if (!this.#rules.isAll) this.#allSinceMs = null
    return this.compute()
  }

  /** Whether the market's book is subscribed or polled. The book may be stale. */
  isCovered(market: MarketNumber): boolean {
    return (this.#flagsOf(market) & COVERED) !== 0
  }

  get isAll(): boolean {
    return this.#allSinceMs !== null
  }

  sinceMs(market: MarketNumber): TimeMs | null {
    if (!this.isCovered(market)) return null
    return this.#allSinceMs ?? this.#sinceMs.get(market) ?? null
  }

  get counts(): CoverageCounts {
    const { open, wanted, covered, live, policy, match } = this.#counts
    const byReason: Record<CoverageReason, number> = { policy, match, ...this.#demand.counts }
    return { open, wanted, covered, live, byReason }
  }

  watch(markets: readonly KnownMarket[]): void {
    for (const { actor } of markets) {
      const { ref, summary } = actor
      const isOpen = summary.status === 'open'
      this.#set(ref.number, isOpen ? WATCHED | OPEN : WATCHED, true)
      if (!isOpen) this.#set(ref.number, OPEN, false)
    }
    if (markets.length > FEW) {
      this.#mustMark = true
      void this.compute()
      return
    }
    const { isAll, top } = this.#rules
    const isInTop = top >= this.#counts.open
    const matching = markets.filter(
      ({ actor }) =>
        isAll || (actor.summary.status === 'open' && (isInTop || this.#rules.matches(actor))),
    )
    // A running computation must not drop these markets.
    const flags = this.#computing !== null ? BY_POLICY | NEXT : BY_POLICY
    for (const { actor } of matching) this.#set(actor.ref.number, flags, true)
    this.#cover(matching.map(({ actor }) => actor.ref.number))
  }

  /** Must be called when a market closes. The market stays covered until the policy is computed again. */
  close(market: MarketNumber): void {
    this.#set(market, OPEN, false)
  }

  /** Must be called when a market was resolved or removed. Unwatching the market ends its subscription. */
  remove(market: MarketNumber): void {
    this.#demand.remove(market)
    this.#leaving.delete(market)
    this.#sinceMs.delete(market)
    this.#awaited.delete(market)
    this.#set(market, 255, false)
    this.#waits.end(market)
  }

  /** Must be called when a covered book becomes live or stale. */
  noteLive(market: MarketNumber, isLive: boolean): void {
    this.#set(market, LIVE, isLive)
    if (!isLive) return
    if (!this.isAll && !this.#sinceMs.has(market)) {
      this.#sinceMs.set(market, this.#parts.clock.nowMs())
    }
    this.#awaited.delete(market)
    this.#waits.end(market)
  }

  request(market: MarketNumber, owner: string): boolean {
    const flags = this.#flagsOf(market)
    if ((flags & OPEN) === 0) return false
    if ((flags & (BY_POLICY | BY_MATCH)) !== 0) return true
    const untilMs = this.#parts.clock.monotonicMs() + coverageRequestedMs
    if (!this.#demand.request(market, owner, untilMs)) return false
    this.#noteDemand(market)
    return true
  }

  hold(market: MarketNumber, owner: string, reason: HoldReason): boolean {
    if ((this.#flagsOf(market) & WATCHED) === 0) return false
    if (!this.#demand.hold(market, owner, reason)) {
      return this.#waitingHolds.add({ market, owner, reason, count: 1 })
    }
    this.#noteDemand(market)
    return true
  }

  release(market: MarketNumber, owner: string, reason: HoldReason): void {
    if (this.#waitingHolds.release({ market, owner, reason })) return
    const untilMs = this.#parts.clock.monotonicMs() + coverageReleasedMs
    this.#demand.release(market, owner, reason, untilMs)
  }

  #noteDemand(market: MarketNumber): void {
    this.#set(market, BY_DEMAND, true)
    if (this.isCovered(market)) return
    if (!this.isAll) this.#awaited.set(market, this.#parts.clock.monotonicMs())
    this.#cover([market])
  }

  #endDemand(market: MarketNumber): void {
    this.#set(market, BY_DEMAND, false)
    if (!this.#leaving.has(market)) this.#uncover([market])
  }

  live(market: MarketNumber, waitMs: number, owner: string): Promise<void> {
    const sinceMs = this.#awaited.get(market)
    if (sinceMs === undefined) return Promise.resolve()
    const restMs = sinceMs + waitMs - this.#parts.clock.monotonicMs()
    return restMs > 0 ? this.#waits.add(market, restMs, owner) : Promise.resolve()
  }

  stop(): void {
    this.#isStopped = true
    this.#waits.stop()
  }

  everySecond(): void {
    const sinceMs = this.#parts.clock.monotonicMs() - this.#computedAtMs
    if (sinceMs >= coverageEveryMs) void this.compute()
  }

  /**
   * Computes the covered markets in time slices, the first of them synchronously. A call during a computation starts
   * another one afterwards. Resolves at the end.
   */
  async compute(): Promise<void> {
    if (this.#isStopped) return
    if (this.#computing !== null) {
      this.#next ??= this.#computing.then(() => {
        this.#next = null
        return this.compute()
      })
      return this.#next
    }
    const { clock } = this.#parts
    this.#computedAtMs = clock.monotonicMs()
    const work = this.#work()
    if (runSlice(clock, work) !== null) return
    this.#computing = runInSlices(clock, work).finally(() => {
      this.#computing = null
    })
    return this.#computing
  }

  *#work(): SlicedWork<void> {
    const rules = this.#rules
    const mustReplace = this.#mustReplace
    this.#mustReplace = false
    const added: MarketNumber[] = []
    yield* this.#markMatches(added)
    // The policy `all` covers each market when it is listed, so it is computed only once.
    if (!rules.isAll || this.#mustMark) {
      this.#mustMark = false
      yield* this.#markPolicy(rules, added)
      yield* this.#dropUnmarked(mustReplace)
    }
    for (let from = 0; from < added.length; from += BATCH) {
      this.#cover(added.slice(from, from + BATCH))
      yield
    }
    yield* this.#endDemands()
    yield* this.#retryHolds()
    yield* this.#endLeaving()
    if (!mustReplace || rules !== this.#rules) return
    if (rules.isAll) {
      this.#allSinceMs = this.#parts.clock.nowMs()
      this.#sinceMs.clear()
    }
  }

  *#markMatches(added: MarketNumber[]): SlicedWork<void> {
    const matched = new Set<MarketNumber>()
    for (const { actor } of this.#parts.priorityMarkets()) {
      const { number } = actor.ref
      yield
      if ((this.#flagsOf(number) & WATCHED) === 0) continue
      matched.add(number)
      this.#set(number, BY_MATCH, true)
      this.#leaving.delete(number)
      if (!this.isCovered(number)) added.push(number)
    }
    for (const market of this.#matched) {
      yield
      if (matched.has(market)) continue
      this.#set(market, BY_MATCH, false)
      this.#leave(market)
    }
    this.#matched = matched
  }

  *#markPolicy(rules: RuleTest, added: MarketNumber[]): SlicedWork<void> {
    const numbers = yield* this.#parts.catalog.openByVolume(this.#parts.venue, rules.range)
    for (const [rank, market] of numbers.entries()) {
      if (rank % CHECKED_PER_STEP === 0) yield
      if ((this.#flagsOf(market) & OPEN) === 0) continue
      if (!rules.isSelective || rank < rules.top || this.#isNamed(rules, market)) {
        this.#mark(market, added)
      }
    }
    if (!rules.isAll) return
    for (let market = 1; market < this.#flags.length; market += 1) {
      if (market % FLAGS_PER_STEP === 0) yield
      if ((this.#flagsOf(market) & WATCHED) !== 0) this.#mark(market, added)
    }
  }

  #isNamed(rules: RuleTest, market: MarketNumber): boolean {
    const entry = this.#parts.catalog.entryOfNumber(market)
    return entry !== null && rules.matches(entry.actor)
  }

  #mark(market: MarketNumber, added: MarketNumber[]): void {
    if ((this.#flagsOf(market) & NEXT) !== 0) return
    this.#set(market, NEXT | BY_POLICY, true)
    this.#leaving.delete(market)
    if (!this.isCovered(market)) added.push(market)
  }

  /**
   * Ends the coverage of markets that the policy no longer covers: at once if the policy was replaced, otherwise with a
   * delay.
   */
  *#dropUnmarked(mustReplace: boolean): SlicedWork<void> {
    const nowMs = this.#parts.clock.nowMs()
    const ended: MarketNumber[] = []
    for (let market = 1; market < this.#flags.length; market += 1) {
      if (market % FLAGS_PER_STEP === 0) yield
      const flags = this.#flagsOf(market)
      if ((flags & NEXT) !== 0) this.#set(market, NEXT, false)
      else if ((flags & BY_POLICY) !== 0) {
        this.#set(market, BY_POLICY, false)
        if (mustReplace) ended.push(market)
        else this.#leave(market)
      }
      const isDated = this.isAll || this.#sinceMs.has(market)
      if ((this.#flagsOf(market) & LIVE) !== 0 && !isDated) this.#sinceMs.set(market, nowMs)
    }
    if (mustReplace) {
      for (const market of this.#leaving.keys()) ended.push(market)
      this.#leaving.clear()
    }
    yield* this.#uncoverAll(ended)
  }

  #leave(market: MarketNumber): void {
    const flags = this.#flagsOf(market)
    if ((flags & WANTED) !== 0 || (flags & COVERED) === 0) return
    this.#leaving.set(market, this.#parts.clock.monotonicMs())
    const [first] = this.#leaving.keys()
    if (this.#leaving.size <= coverageLeavingMax || first === undefined) return
    this.#leaving.delete(first)
    this.#uncover([first])
  }

  *#endLeaving(): SlicedWork<void> {
    const nowMs = this.#parts.clock.monotonicMs()
    const ended: MarketNumber[] = []
    for (const [market, leftAtMs] of this.#leaving) {
      if (nowMs - leftAtMs < coverageLeavingMs) break
      this.#leaving.delete(market)
      ended.push(market)
    }
    yield* this.#uncoverAll(ended)
  }

  *#endDemands(): SlicedWork<void> {
    const nowMs = this.#parts.clock.monotonicMs()
    const ended: MarketNumber[] = []
    for (const market of this.#demand.markets()) {
      yield
      if (this.#demand.isDemanded(market, nowMs)) continue
      this.#set(market, BY_DEMAND, false)
      if (!this.#leaving.has(market)) ended.push(market)
    }
    yield* this.#uncoverAll(ended)
  }

  /** Gives free places to waiting holds. Holds of markets that have ended are dropped. */
  *#retryHolds(): SlicedWork<void> {
    const countMax = Math.min(this.#waitingHolds.count, RETRIED_MAX)
    const held: MarketNumber[] = []
    for (let count = 0; count < countMax && this.#demand.hasFreePlace; count += 1) {
      const waiting = this.#waitingHolds.next()
      if (waiting === null) break
      const { market, owner, reason } = waiting
      const isWatched = (this.#flagsOf(market) & WATCHED) !== 0
      if (isWatched && this.#demand.hold(market, owner, reason)) {
        for (let more = 1; more < waiting.count; more += 1) this.#demand.hold(market, owner, reason)
        this.#set(market, BY_DEMAND, true)
        held.push(market)
      } else if (isWatched) this.#waitingHolds.add(waiting)
      yield
    }
    for (let from = 0; from < held.length; from += BATCH) {
      this.#cover(held.slice(from, from + BATCH))
      yield
    }
  }

  *#uncoverAll(numbers: readonly MarketNumber[]): SlicedWork<void> {
    for (let from = 0; from < numbers.length; from += BATCH) {
      this.#uncover(numbers.slice(from, from + BATCH))
      yield
    }
  }

  #cover(numbers: readonly MarketNumber[]): void {
    if (this.#isStopped) return
    const markets: KnownMarket[] = []
    for (const number of numbers) {
      const flags = this.#flagsOf(number)
      const entry = this.#parts.catalog.entryOfNumber(number)
      if ((flags & WATCHED) === 0 || (flags & WANTED) === 0 || entry === null) continue
      if ((flags & COVERED) !== 0) continue
      this.#set(number, COVERED, true)
      markets.push(entry)
    }
    if (markets.length === 0) return
    this.#parts.feed.cover(markets.map(({ actor }) => actor.ref.nativeId))
    this.#parts.onCovered(markets)
  }

  #uncover(numbers: readonly MarketNumber[]): void {
    if (this.#isStopped) return
    const markets: KnownMarket[] = []
    for (const number of numbers) {
      const flags = this.#flagsOf(number)
      const entry = this.#parts.catalog.entryOfNumber(number)
      if ((flags & COVERED) === 0 || (flags & WANTED) !== 0 || entry === null) continue
      this.#set(number, COVERED | LIVE, false)
      this.#sinceMs.delete(number)
      this.#awaited.delete(number)
      this.#waits.end(number)
      markets.push(entry)
    }
    if (markets.length === 0) return
    this.#parts.feed.uncover(markets.map(({ actor }) => actor.ref.nativeId))
    this.#parts.onUncovered(markets)
  }

  #flagsOf(market: MarketNumber): number {
    return this.#flags[market] ?? 0
  }

  #set(market: MarketNumber, flags: number, isOn: boolean): void {
    if (market >= this.#flags.length) {
      if (!isOn) return
      const larger = new Uint8Array(Math.max(market + 1, 2 * this.#flags.length))
      larger.set(this.#flags)
      this.#flags = larger
    }
    const before = this.#flagsOf(market)
    const after = isOn ? before | flags : before & ~flags
    if (after === before) return
    this.#flags[market] = after
    this.#count(before, -1)
    this.#count(after, 1)
  }

  #count(flags: number, change: number): void {
    if ((flags & OPEN) === 0) return
    const counts = this.#counts
    counts.open += change
    if ((flags & WANTED) !== 0) counts.wanted += change
    if ((flags & BY_POLICY) !== 0) counts.policy += change
    if ((flags & BY_MATCH) !== 0) counts.match += change
    if ((flags & COVERED) === 0) return
    counts.covered += change
    if ((flags & LIVE) !== 0) counts.live += change
  }
}

class RuleTest {
  readonly isAll: boolean
  /** Markets with a lower rank by 24-hour volume are covered. */
  readonly top: number
  readonly range: VolumeRange
  readonly isSelective: boolean
  readonly #volumeMin: number
  readonly #values: Readonly<Record<'category' | 'event' | 'market', ReadonlySet<string>>>

  constructor(rules: readonly CoverageRule[]) {
    this.isAll = rules.some(({ kind }) => kind === 'all')
    this.top = Math.max(0, ...rules.map((rule) => (rule.kind === 'top' ? rule.count : 0)))
    const volumes = rules.map((rule) => (rule.kind === 'minVolume' ? rule.volume : Infinity))
    this.#volumeMin = Math.min(...volumes)
    const valuesOf = (kind: CoverageRule['kind']) =>
      new Set(rules.flatMap((rule) => (rule.kind === kind && 'value' in rule ? rule.value : [])))
    this.#values = {
      category: valuesOf('category'),
      event: valuesOf('event'),
      market: valuesOf('market'),
    }
    this.isSelective = !this.isAll && rules.some((rule) => 'value' in rule)
    const volumeMin = this.isAll || this.isSelective ? 0 : this.#volumeMin
    this.range = { count: this.top, volumeMin }
  }

  matches({ ref, summary, volume24h }: MarketView): boolean {
    if (volume24h >= this.#volumeMin) return true
    const { category, event, market } = this.#values
    if (category.size > 0 && category.has((summary.category ?? '').toLowerCase())) return true
    if (event.size > 0 && event.has((summary.eventSlug ?? '').toLowerCase())) return true
    return market.size > 0 && market.has(ref.id.toLowerCase())
  }
}
