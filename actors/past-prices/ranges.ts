// Prices of a range for charts. They are requested from the venue in windows, newest first, and cached for a minute. An
// empty or shorter answer never removes a cached price.

import type { Clock } from '../../engine/clock.ts'
import type { Requester } from '../../engine/fair-queue.ts'
import { pastRangePointsMax, pastRangesMax } from '../../engine/limits.ts'
import { putLast } from '../../engine/put-last.ts'
import { DAY_MS, HOUR_MS, type TimeMs, timeMs } from '../../engine/units.ts'
import type { MarketView, PricePoint, PriceRange } from '../views.ts'
import type { VenuePriceRequests } from './venue-price-requests.ts'

const FRESH_MS = 60_000
/** Maximum length of one venue request: a day for steps of a minute, 15 days for longer steps. */
const FINE_WINDOW_MS = DAY_MS
const COARSE_WINDOW_MS = 15 * DAY_MS
/** Maximum windows per range. With longer steps they cover half a year. */
const WINDOWS_MAX = 12

interface CachedRange {
  readonly fromMs: number
  readonly toMs: number
  readonly readAtMs: TimeMs
  readonly points: readonly PricePoint[]
}

interface PastRangesParts {
  readonly requests: VenuePriceRequests
  readonly clock: Clock
  readonly reportSuspect: (market: MarketView, detail: string) => void
}

export class PastRanges {
  readonly #parts: PastRangesParts
  readonly #cached = new Map<string, CachedRange>()
  readonly #pending = new Map<string, Promise<readonly PricePoint[]>>()

  constructor(parts: PastRangesParts) {
    this.#parts = parts
  }

  async read(
    market: MarketView,
    range: PriceRange,
    requester: Requester,
  ): Promise<readonly PricePoint[]> {
    const nowMs = this.#parts.clock.nowMs()
    const key = `${market.ref.number} ${range.stepMs}`
    const cached = this.#cached.get(key) ?? null
    const toMs = Math.min(range.toMs, nowMs)
    if (cached !== null && isFreshFor(cached, { ...range, toMs: timeMs(toMs) }, nowMs)) {
      this.#store(key, cached)
      return cached.points
    }
    const question = `${key} ${range.fromMs}`
    const pending =
      this.#pending.get(question) ??
      this.#fetch(market, { ...range, toMs: timeMs(toMs) }, requester)
    this.#pending.set(question, pending)
    try {
      return await pending
    } finally {
      this.#pending.delete(question)
    }
  }

  async #fetch(
    market: MarketView,
    range: PriceRange,
    requester: Requester,
  ): Promise<readonly PricePoint[]> {
    const { requests, clock, reportSuspect } = this.#parts
    const readAtMs = clock.nowMs()
    const { fromMs, toMs, stepMs } = range
    const windowMs = stepMs < HOUR_MS ? FINE_WINDOW_MS : COARSE_WINDOW_MS
    const deadline = requests.deadline()
    const answered: PricePoint[] = []
    let endMs: number = toMs
    try {
      for (let request = 0; request < WINDOWS_MAX && endMs >= fromMs; request += 1) {
        const window = {
          fromMs: timeMs(Math.max(fromMs, endMs - windowMs + 1)),
          toMs: timeMs(endMs),
        }
        const request = { signal: deadline.signal, requester }
        answered.push(...(await requests.prices(market, { ...window, stepMs }, request)))
        endMs = window.fromMs - 1
      }
    } finally {
      deadline.end()
    }
    const key = `${market.ref.number} ${stepMs}`
    const before = this.#cached.get(key)?.points ?? []
    if (answered.length === 0 && before.length > 0)
      reportSuspect(market, `${before.length} cached prices are retained`)
    const points = joinedPoints(before, answered).slice(-pastRangePointsMax)
    this.#store(key, { fromMs: endMs + 1, toMs, readAtMs, points })
    return points
  }

  #store(key: string, cached: CachedRange): void {
    putLast(this.#cached, [key, cached], pastRangesMax)
  }
}

const isFreshFor = (cached: CachedRange, { fromMs, toMs }: PriceRange, nowMs: TimeMs): boolean =>
  cached.fromMs <= fromMs &&
  Math.abs(nowMs - cached.readAtMs) < FRESH_MS &&
  cached.toMs >= Math.min(toMs, nowMs - FRESH_MS)

/** Merges two lists in order of time. The second list wins for equal times. */
export function joinedPoints(
  cached: readonly PricePoint[],
  answered: readonly PricePoint[],
): readonly PricePoint[] {
  const moments = new Map<TimeMs, PricePoint>()
  for (const point of cached) moments.set(point.timeMs, point)
  for (const point of answered) moments.set(point.timeMs, point)
  return [...moments.values()].sort((one, other) => one.timeMs - other.timeMs)
}
