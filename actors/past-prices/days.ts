// Prices of a venue's history by UTC day. A carried price is the price in effect when the day began.

import { DAY_MS, type PriceMicros, type TimeMs, timeMs } from '../../engine/units.ts'
import type { PastDay } from '../../storage/contract/storage.ts'
import type { PricePoint } from '../views.ts'

export function dayOf(atMs: number): number {
  return Math.floor(atMs / DAY_MS)
}

export function startOf(day: number): TimeMs {
  return timeMs(day * DAY_MS)
}

/**
 * Points must be in order of time. Keeps the last point of each second and ignores points of other days. `carried`
 * becomes the first second, unless the venue has a price of that second.
 */
export function pastDay(
  day: number,
  points: readonly PricePoint[],
  fields: {
    readonly readAtMs: TimeMs
    readonly toMs: TimeMs
    readonly carried: PriceMicros | null
  },
): PastDay {
  const seconds: number[] = []
  const prices: PriceMicros[] = []
  if (fields.carried !== null) {
    seconds.push(0)
    prices.push(fields.carried)
  }
  for (const { timeMs: atMs, price } of points) {
    if (dayOf(atMs) !== day) continue
    const second = Math.floor((atMs - day * DAY_MS) / 1_000)
    if (seconds.at(-1) === second) prices[prices.length - 1] = price
    else {
      seconds.push(second)
      prices.push(price)
    }
  }
  return { readAtMs: fields.readAtMs, completeToMs: fields.toMs, seconds, prices }
}

export function newestOf(past: PastDay, day: number, atMs: TimeMs): PricePoint | null {
  const second = Math.floor((atMs - day * DAY_MS) / 1_000)
  let low = 0
  let high = past.seconds.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((past.seconds[middle] ?? Number.POSITIVE_INFINITY) <= second) low = middle + 1
    else high = middle
  }
  const price = past.prices[low - 1]
  const found = past.seconds[low - 1]
  if (price === undefined || found === undefined) return null
  return { price, timeMs: timeMs(day * DAY_MS + found * 1_000) }
}

export function pointsOf(past: PastDay, day: number): readonly PricePoint[] {
  return past.seconds.flatMap((second, index) => {
    const price = past.prices[index]
    return price === undefined ? [] : [{ price, timeMs: timeMs(day * DAY_MS + second * 1_000) }]
  })
}

/** The later of two prices. `own` if both have the same time. */
export function newerOf(own: PricePoint | null, theirs: PricePoint | null): PricePoint | null {
  if (own === null || theirs === null) return own ?? theirs
  return theirs.timeMs > own.timeMs ? theirs : own
}

/** `points` must be in order of time. */
export function lastBefore(points: readonly PricePoint[], beforeMs: number): PricePoint | null {
  let last: PricePoint | null = null
  for (const point of points) {
    if (point.timeMs >= beforeMs) break
    last = point
  }
  return last
}
