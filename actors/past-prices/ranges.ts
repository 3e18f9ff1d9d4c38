// Prices of a stretch of time as a chart needs them: from the venue's history, a window at a time, the newest first, in
// steps that fit the candles asked for. A stretch is believed for a minute, so that a chart which is opened again costs no
// request; the newest stretches are kept in memory. An empty or shorter answer takes nothing away that is kept.

import type { Clock } from '../../engine/clock.ts'
import type { Requester } from '../../engine/fair-queue.ts'
import { pastRangePointsMax, pastRangesMax } from '../../engine/limits.ts'
import { DAY_MS, HOUR_MS, type TimeMs, timeMs } from '../../engine/units.ts'
import type { MarketView, PricePoint, PriceRange } from '../views.ts'
import type { PastAsking } from './asking.ts'

/** An answer is believed for so long. */
const BELIEVED_MS = 60_000
/** What a venue gives at once: a day by the minute, fifteen days in longer steps. */
const FINE_WINDOW_MS = DAY_MS
const COARSE_WINDOW_MS = 15 * DAY_MS
/** Of one question: half a year in long steps. */
const WINDOWS_MAX = 12

interface Kept {
  readonly fromMs: number
  readonly toMs: number
  readonly readAtMs: TimeMs
  readonly points: readonly PricePoint[]
}

interface PastRangesParts {
  readonly asking: PastAsking
  readonly clock: Clock
  /** The venue answered less than it did before. */
  readonly doubt: (market: MarketView, detail: string) => void
}

export class PastRanges {
  readonly #parts: PastRangesParts
  /** By market and step; the one that was used last is the last. */
  readonly #kept = new Map<string, Kept>()
  readonly #coming = new Map<string, Promise<readonly PricePoint[]>>()

  constructor(parts: PastRangesParts) {
    this.#parts = parts
  }

  /** See PastPricesView.range; who asks for the same at once waits for the same answer. */
  async read(
    market: MarketView,
    range: PriceRange,
    requester: Requester,
  ): Promise<readonly PricePoint[]> {
    const nowMs = this.#parts.clock.nowMs()
    const key = `${market.ref.number} ${range.stepMs}`
    const kept = this.#kept.get(key) ?? null
    const toMs = Math.min(range.toMs, nowMs)
    if (kept !== null && isEnough(kept, { ...range, toMs: timeMs(toMs) }, nowMs)) {
      this.#keep(key, kept)
      return kept.points
    }
    const question = `${key} ${range.fromMs}`
    const coming =
      this.#coming.get(question) ?? this.#ask(market, { ...range, toMs: timeMs(toMs) }, requester)
    this.#coming.set(question, coming)
    try {
      return await coming
    } finally {
      this.#coming.delete(question)
    }
  }

  async #ask(
    market: MarketView,
    range: PriceRange,
    requester: Requester,
  ): Promise<readonly PricePoint[]> {
    const { asking, clock, doubt } = this.#parts
    const readAtMs = clock.nowMs()
    const { fromMs, toMs, stepMs } = range
    const windowMs = stepMs < HOUR_MS ? FINE_WINDOW_MS : COARSE_WINDOW_MS
    const deadline = asking.deadline(market)
    const answered: PricePoint[] = []
    let endMs: number = toMs
    try {
      for (let asked = 0; asked < WINDOWS_MAX && endMs >= fromMs; asked += 1) {
        const window = {
          fromMs: timeMs(Math.max(fromMs, endMs - windowMs + 1)),
          toMs: timeMs(endMs),
        }
        const asked = { signal: deadline.signal, requester }
        answered.push(...(await asking.prices(market, { ...window, stepMs }, asked)))
        endMs = window.fromMs - 1
      }
    } finally {
      deadline.end()
    }
    const key = `${market.ref.number} ${stepMs}`
    const before = this.#kept.get(key)?.points ?? []
    if (answered.length === 0 && before.length > 0)
      doubt(market, `${before.length} prices are kept`)
    const points = joinedPoints(before, answered).slice(-pastRangePointsMax)
    this.#keep(key, { fromMs: endMs + 1, toMs, readAtMs, points })
    return points
  }

  #keep(key: string, kept: Kept): void {
    this.#kept.delete(key)
    this.#kept.set(key, kept)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > pastRangesMax && oldest !== undefined) this.#kept.delete(oldest)
  }
}

/** The newest minute of a stretch may be missing. */
const isEnough = (kept: Kept, { fromMs, toMs }: PriceRange, nowMs: TimeMs): boolean =>
  kept.fromMs <= fromMs &&
  Math.abs(nowMs - kept.readAtMs) < BELIEVED_MS &&
  kept.toMs >= Math.min(toMs, nowMs - BELIEVED_MS)

/** Both in one order; the second wins where both have a price of a moment. */
export function joinedPoints(
  kept: readonly PricePoint[],
  answered: readonly PricePoint[],
): readonly PricePoint[] {
  const moments = new Map<TimeMs, PricePoint>()
  for (const point of kept) moments.set(point.timeMs, point)
  for (const point of answered) moments.set(point.timeMs, point)
  return [...moments.values()].sort((one, other) => one.timeMs - other.timeMs)
}
