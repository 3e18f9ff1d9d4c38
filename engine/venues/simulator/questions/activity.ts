// Activity of the markets of a large world. Its distribution follows the 24-hour volumes of recorded markets: some
// markets have no trades, and the volumes of the others are log-normal.

import { hash32 } from '../../../random.ts'
import type { SimVenue } from '../model.ts'
import { mixUnit } from '../world/mix.ts'

/** Share of markets with trades, and standard deviation of the natural logarithm of their volumes. */
const VOLUMES: Readonly<
  Record<SimVenue, { readonly tradedShare: number; readonly sigma: number }>
> = {
  a: { tradedShare: 0.87, sigma: 3.2 },
  b: { tradedShare: 0.54, sigma: 2.7 },
}
/** Part of the variance that the markets of an event and its listings on both venues share. */
const SHARED = 0.5

/** The activity of a market relative to the average of 1. Zero if the market has no trades. */
export function largeWorldActivity(
  seed: number,
  of: {
    readonly venue: SimVenue
    readonly number: number
    readonly eventNumber: number
  },
): number {
  const { tradedShare, sigma } = VOLUMES[of.venue]
  const key = hash32('activity', seed, of.venue)
  if (mixUnit(key, 3 * of.number) >= tradedShare) return 0
  const shared = normalOf(hash32('activity', seed), 2 * of.eventNumber)
  const own = normalOf(key, 3 * of.number + 1)
  const deviation = Math.sqrt(SHARED) * shared + Math.sqrt(1 - SHARED) * own
  return Math.exp(sigma * deviation - sigma ** 2 / 2) / tradedShare
}

/** A standard normal number from two hashes (Box–Muller). */
function normalOf(key: number, value: number): number {
  const radius = Math.sqrt(-2 * Math.log(1 - mixUnit(key, value)))
  return radius * Math.cos(2 * Math.PI * mixUnit(key, value + 1))
}
