// The price at any past time: from recorded ticks while the feed was live, otherwise from the venue's history, which is
// cached by UTC day. An empty answer never replaces a cached price. Empty days are requested again after a minute, then
// after doubling delays.

import { ByVenue } from '../../engine/by-venue.ts'
import { type Requester, SYSTEM } from '../../engine/fair-queue.ts'
import { priceAgeMsMax } from '../../engine/limits.ts'
import type { MarketNumber, MarketRef } from '../../engine/market/market.ts'
import { putLast } from '../../engine/put-last.ts'
import { DAY_MS, type TimeMs, timeMs } from '../../engine/units.ts'
import { SuspectAnswerError, SuspectAnswers } from '../../engine/venues/answer-checks.ts'
import type { MarketSummary, PastDay, Storage } from '../../storage/contract/storage.ts'
import { type Deadline, unavailable } from '../deadline.ts'
import type { MarketView, PastPricesView, PricePoint, PriceRange } from '../views.ts'
import { dayOf, lastBefore, newerOf, newestOf, pastDay, pointsOf, startOf } from './days.ts'
import { joinedPoints, PastRanges } from './ranges.ts'
import { type VenuePriceRequestParts, VenuePriceRequests } from './venue-price-requests.ts'

interface PastPricesParts extends VenuePriceRequestParts {
  readonly storage: Pick<Storage, 'pastPrices' | 'coverage'>
  /**
   * Start of the current interval in which the venue was live and the market's book was checked every minute. Null
   * while the venue is not live or the market is not covered.
   */
  readonly liveSinceMs: (market: MarketRef) => TimeMs | null
}

/** The venue's history lacks its newest minute, so the current day is complete only up to a minute ago. */
const VENUE_LATE_MS = 60_000
const FRESH_MS = 60_000
const EMPTY_FRESH_MS_MAX = DAY_MS
const EMPTY_DAYS_MAX = 10_000
const DAYS_BACK = 14
const REQUESTS_MAX = 2

/** Days to request from the venue: `day`, or the days before a day that has no price early enough. */
interface Missing {
  readonly kind: 'day' | 'before'
  readonly day: number
  readonly fromDay: number
  readonly toDay: number
}
interface Question {
  readonly atMs: TimeMs
  readonly first: Missing
  readonly requester: Requester
}
interface VenueAnswer {
  readonly readAtMs: TimeMs
  readonly points: readonly PricePoint[]
}
type CacheLookup = { readonly kind: 'known'; readonly point: PricePoint | null } | Missing

export class PastPrices implements PastPricesView {
  readonly #parts: PastPricesParts
  readonly #requests: VenuePriceRequests
  readonly #ranges: PastRanges
  readonly #pending = new Map<string, Promise<void>>()
  readonly #emptyCounts = new Map<string, number>()
  readonly #suspectAnswers: ByVenue<SuspectAnswers>

  constructor(parts: PastPricesParts) {
    this.#parts = parts
    this.#requests = new VenuePriceRequests(parts)
    const { metrics, log } = parts
    this.#suspectAnswers = new ByVenue((venue) => new SuspectAnswers({ metrics, log, venue }))
    const reportSuspect = ({ ref: { venue, nativeId } }: MarketView, detail: string) =>
      this.#suspectAnswers
        .of(venue)
        .note(new SuspectAnswerError('prices', 'empty', `${nativeId}, ${detail}`))
    this.#ranges = new PastRanges({ requests: this.#requests, clock: parts.clock, reportSuspect })
  }

  at(
    market: MarketView,
    requestedMs: TimeMs,
    requester: Requester = SYSTEM,
  ): PricePoint | null | Promise<PricePoint | null> {
    const nowMs = this.#parts.clock.nowMs()
    const atMs = requestedMs < nowMs ? requestedMs : nowMs
    // No market existed before 1970. The check saves a venue request for a market without listed times.
    if (atMs <= 0) return null
    const own = market.priceAt(atMs)
    if (own !== null && this.#isUnchanged(market, own, atMs)) return own
    const current = this.#present(market, atMs) ?? settlementAt(market.summary, atMs)
    if (current !== null) return current
    if (atMs < existsFromMs(market.summary)) return own
    const cached = this.#lookUp(market, atMs)
    if (cached.kind === 'known') return cached.point
    return this.#request(market, { atMs, first: cached, requester })
  }

  range(
    market: MarketView,
    range: PriceRange,
    requester: Requester = SYSTEM,
  ): Promise<readonly PricePoint[]> {
    const fromMs = timeMs(Math.max(range.fromMs, existsFromMs(market.summary)))
    return fromMs > range.toMs
      ? Promise.resolve([])
      : this.#ranges.read(market, { ...range, fromMs }, requester)
  }

  stop(): void {
    this.#requests.stop()
  }

  /** Whether the price certainly did not change between the recorded tick and `atMs`. */
  #isUnchanged(market: MarketView, own: PricePoint, atMs: TimeMs): boolean {
    if (atMs - own.timeMs <= priceAgeMsMax) return true
    const { venue } = market.ref
    const sinceMs = this.#parts.liveSinceMs(market.ref)
    if (sinceMs !== null && isFromThen(own, sinceMs)) return true
    const interval = this.#parts.storage.coverage.at(venue, atMs)
    if (interval !== null && isFromThen(own, interval.fromMs)) return true
    const { status, settlementPrice } = market.summary
    if (status !== 'resolved' || own.price !== settlementPrice) return false
    // The last recorded tick is the settlement price, which is final.
    return market.priceAt(this.#parts.clock.nowMs())?.timeMs === own.timeMs
  }

  /** The current price if it is unchanged since `atMs`. Null for an open market without a live book. */
  #present(market: MarketView, atMs: TimeMs): PricePoint | null {
    const { status } = market.summary
    const { price, source, observedAtMs } = market.price()
    if (observedAtMs > atMs || source === 'none') return null
    if (status === 'open') {
      const sinceMs = this.#parts.liveSinceMs(market.ref)
      if (sinceMs === null || sinceMs > atMs || market.levels(0).isStale) return null
    }
    return { price, timeMs: observedAtMs }
  }

  #lookUp(market: MarketView, atMs: TimeMs): CacheLookup {
    const { pastPrices } = this.#parts.storage
    const { number } = market.ref
    const own = market.priceAt(atMs)
    const day = dayOf(atMs)
    const past = pastPrices.get(number, day)
    if (past === null || !this.#isFresh(past, atMs, emptyKey(number, day))) {
      return { kind: 'day', day, fromDay: day, toDay: day }
    }
    const theirs = newestOf(past, day, atMs)
    const isOwnOfDay = own !== null && own.timeMs >= startOf(day)
    if (theirs !== null || isOwnOfDay) return { kind: 'known', point: newerOf(own, theirs) }
    const { fromDay, toDay } = daysBefore(market.summary, day)
    for (let back = toDay; back >= fromDay; back -= 1) {
      const endMs = startOf(back + 1)
      const before = pastPrices.get(number, back)
      if (before === null || !this.#isFresh(before, endMs, emptyKey(number, back))) {
        return { kind: 'before', day, fromDay, toDay: back }
      }
      const last = newestOf(before, back, timeMs(endMs - 1))
      if (last !== null) return { kind: 'known', point: newerOf(own, last) }
      if (own !== null && own.timeMs >= startOf(back)) break
    }
    return { kind: 'known', point: own }
  }

  #isFresh({ completeToMs, readAtMs }: PastDay, atMs: TimeMs, key: string): boolean {
    if (atMs <= completeToMs) return true
    const emptyCount = this.#emptyCounts.get(key) ?? 1
    const freshMs = Math.min(FRESH_MS * 2 ** (emptyCount - 1), EMPTY_FRESH_MS_MAX)
    // The absolute difference also handles a clock that was set back.
    return Math.abs(this.#parts.clock.nowMs() - readAtMs) < freshMs
  }

  /** Each consecutive empty answer for a day doubles the delay until its next request. */
  #noteEmpty(market: MarketView, isEmpty: boolean, { fromDay, toDay }: Missing): void {
    const { number, venue, nativeId } = market.ref
    for (let day = fromDay; day <= toDay; day += 1) {
      const key = emptyKey(number, day)
      const count = (this.#emptyCounts.get(key) ?? 0) + 1
      if (isEmpty) putLast(this.#emptyCounts, [key, count], EMPTY_DAYS_MAX)
      else this.#emptyCounts.delete(key)
    }
    const detail = `${nativeId}, days ${fromDay} to ${toDay}`
    if (isEmpty)
      this.#suspectAnswers.of(venue).note(new SuspectAnswerError('prices', 'empty', detail))
  }

  async #request(market: MarketView, question: Question): Promise<PricePoint | null> {
    const deadline = this.#requests.deadline()
    try {
      return await this.#requestUntil(deadline, market, question)
    } finally {
      deadline.end()
    }
  }

  async #requestUntil(
    deadline: Deadline,
    market: MarketView,
    { atMs, first, requester }: Question,
  ): Promise<PricePoint | null> {
    let missing = first
    for (let requestCount = 0; ; ) {
      const key = `${missing.kind} ${missing.day} ${market.ref.number}`
      let pending = this.#pending.get(key)
      if (pending === undefined) {
        if (requestCount === REQUESTS_MAX) return market.priceAt(atMs)
        requestCount += 1
        const fetched = this.#fetch(market, missing, { signal: deadline.signal, requester })
        pending = fetched.finally(() => this.#pending.delete(key))
        this.#pending.set(key, pending)
      }
      if ((await deadline.wait(pending)) === 'late')
        throw unavailable(`${market.ref.platform} does not answer`)
      const cached = this.#lookUp(market, atMs)
      if (cached.kind === 'known') return cached.point
      missing = cached
    }
  }

  async #fetch(
    market: MarketView,
    missing: Missing,
    options: { readonly signal: AbortSignal; readonly requester: Requester },
  ): Promise<void> {
    const nowMs = this.#parts.clock.nowMs()
    const { fromDay, toDay } = missing
    const toMs = timeMs(Math.min(startOf(toDay + 1) - 1, nowMs))
    const points = await this.#requests.prices(market, { fromMs: startOf(fromDay), toMs }, options)
    const answer = { readAtMs: nowMs, points }
    const isOver = lastDayOf(market.summary, missing.day) < missing.day && missing.kind === 'day'
    this.#noteEmpty(market, points.length === 0 && !isOver, missing)
    if (missing.kind === 'before') this.#storeBefore(market, missing, answer)
    else this.#storeDay(market, missing.day, answer)
  }

  #storeDay(market: MarketView, day: number, { readAtMs, points }: VenueAnswer): void {
    const { pastPrices } = this.#parts.storage
    const { number, venue, nativeId } = market.ref
    const before = lastBefore(points, startOf(day))
    const stored = pastPrices.get(number, day)
    const storedPoints = stored === null ? [] : pointsOf(stored, day)
    const isOlder = (points.at(-1)?.timeMs ?? 0) < (storedPoints.at(-1)?.timeMs ?? 0)
    if (isOlder && points.length > 0) {
      this.#suspectAnswers
        .of(venue)
        .note(new SuspectAnswerError('prices', 'older', `${nativeId}, day ${day}`))
    }
    // A market has no prices after its end, so an empty answer is correct.
    const isOver = lastDayOf(market.summary, day) < day
    const isConclusive = isOver || (points.length > 0 && !isOlder)
    const toMs = isConclusive
      ? completeTo(market, day, readAtMs)
      : (stored?.completeToMs ?? startOf(day))
    // The stored carried price remains if the answer has no earlier point.
    const carriedBefore = stored?.seconds[0] === 0 ? (stored.prices[0] ?? null) : null
    const carried = before === null ? carriedBefore : this.#carriedPrice(market, before, day)
    const all = joined(storedPoints, points, startOf(day))
    pastPrices.put(number, day, pastDay(day, all, { readAtMs, toMs, carried }))
  }

  #storeBefore(market: MarketView, missing: Missing, { readAtMs, points }: VenueAnswer): void {
    const { pastPrices } = this.#parts.storage
    const { number } = market.ref
    const { day, fromDay, toDay } = missing
    let last = lastBefore(points, startOf(toDay + 1))
    for (let back = toDay; back >= fromDay; back -= 1) {
      const stored = pastPrices.get(number, back)
      const endMs = startOf(back + 1)
      if (last === null) {
        const storedPoints = stored === null ? [] : pointsOf(stored, back)
        const toMs =
          points.length > 0
            ? completeTo(market, back, readAtMs)
            : (stored?.completeToMs ?? startOf(back))
        pastPrices.put(number, back, pastDay(back, storedPoints, { readAtMs, toMs, carried: null }))
      } else if (stored !== null)
        last = newerOf(newestOf(stored, back, timeMs(endMs - 1)), last) ?? last
    }
    const stored = pastPrices.get(number, day)
    if (last === null || stored === null) return
    const carried = this.#carriedPrice(market, last, day)
    const fields = { readAtMs: stored.readAtMs, toMs: stored.completeToMs, carried }
    pastPrices.put(number, day, pastDay(day, pointsOf(stored, day), fields))
  }

  /** The venue's price at the beginning of a day, or the newest recorded tick before the day if that tick is newer. */
  #carriedPrice(market: MarketView, theirs: PricePoint, day: number) {
    return (newerOf(market.priceAt(timeMs(startOf(day) - 1)), theirs) ?? theirs).price
  }
}

function emptyKey(market: MarketNumber, day: number): string {
  return `${market} ${day}`
}

/** The venue's points replace cached points of the same time. Omits the carried price. */
function joined(
  stored: readonly PricePoint[],
  answered: readonly PricePoint[],
  dayStartMs: TimeMs,
): readonly PricePoint[] {
  return joinedPoints(
    stored.filter(({ timeMs: atMs }) => atMs > dayStartMs),
    answered,
  )
}

/** Earliest time at which the market may have existed. 0 if the listing states none. */
function existsFromMs({ createdAtMs, openAtMs }: MarketSummary): number {
  const times = [createdAtMs, openAtMs].filter((atMs) => atMs !== null)
  return times.length === 0 ? 0 : Math.max(0, Math.min(...times))
}

/** Time up to which a day is complete if it is read now. The end of the day if no further price can follow. */
function completeTo({ summary }: MarketView, day: number, nowMs: TimeMs): TimeMs {
  const endMs = startOf(day + 1)
  const isOver = summary.status === 'resolved' || lastDayOf(summary, day) < day
  return isOver ? endMs : timeMs(Math.min(nowMs - VENUE_LATE_MS, endMs))
}

/** Later prices are possible: returns `day`. */
function lastDayOf({ status, closeAtMs }: MarketSummary, day: number): number {
  // A market may close up to a day later than listed.
  return status === 'open' || closeAtMs === null ? day : dayOf(closeAtMs) + 1
}

/**
 * The days to search for a price before `day`: the days just before it, or the last days of a market that ended
 * earlier. Omits days on which the market did not exist.
 */
function daysBefore(market: MarketSummary, day: number): { fromDay: number; toDay: number } {
  const lastDay = lastDayOf(market, day)
  const toDay = lastDay < day - DAYS_BACK ? lastDay : day - 1
  const firstDay = Math.floor(existsFromMs(market) / DAY_MS)
  return { fromDay: Math.max(toDay - DAYS_BACK + 1, firstDay), toDay }
}

/**
 * A price is valid for the interval if it was observed after its beginning, or at most {@link priceAgeMsMax} before it.
 */
function isFromThen({ timeMs: seenMs }: PricePoint, fromMs: TimeMs): boolean {
  return seenMs >= fromMs - priceAgeMsMax
}

/** The payout is the price since the close, because the listing does not state the time of payment. */
function settlementAt(summary: MarketSummary, atMs: TimeMs): PricePoint | null {
  const { status, settlementPrice, closeAtMs } = summary
  if (status !== 'resolved' || settlementPrice === null) return null
  return closeAtMs === null || atMs < closeAtMs
    ? null
    : { price: settlementPrice, timeMs: closeAtMs }
}
