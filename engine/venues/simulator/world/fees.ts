// Fees of venue a's markets by topic (engine/venues/polymarket/README.md, Fees). Geopolitical markets have no fee.
// Totals of games have a fee schedule with rate zero.

import type { SimMarket, SimTopic } from '../model.ts'

interface FeeSchedule {
  readonly type: string
  /** The taker pays contracts × rate × (p × (1 − p))^exponent dollars. */
  readonly rate: number
  readonly exponent: number
  /** Share of the takers' fees that the venue pays to makers. */
  readonly rebateRate: number
}

const SCHEDULES: Readonly<Record<SimTopic, FeeSchedule>> = {
  crypto: { type: 'crypto_fees_v2', rate: 0.07, exponent: 1, rebateRate: 0.2 },
  sports: { type: 'sports_fees_v3', rate: 0.05, exponent: 1, rebateRate: 0.15 },
  politics: { type: 'politics_fees', rate: 0.04, exponent: 1, rebateRate: 0.25 },
  economics: { type: 'economics_fees', rate: 0.05, exponent: 1, rebateRate: 0.25 },
  culture: { type: 'culture_fees', rate: 0.05, exponent: 1, rebateRate: 0.25 },
  weather: { type: 'weather_fees', rate: 0.05, exponent: 1, rebateRate: 0.25 },
}
const ZERO: FeeSchedule = { type: 'zero_fees', rate: 0, exponent: 1, rebateRate: 0 }
/** One political event in this many concerns geopolitics. */
const GEOPOLITICS_EVERY = 8

/** Null: the market has no fee. */
export function feeScheduleOf({ event, listing }: SimMarket): FeeSchedule | null {
  if (event.topic === 'politics' && event.number % GEOPOLITICS_EVERY === 0) return null
  const isTotal = event.topic === 'sports' && listing.sportsMarketType === 'totals'
  return isTotal ? ZERO : SCHEDULES[event.topic]
}
