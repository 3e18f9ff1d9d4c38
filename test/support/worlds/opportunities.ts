import type { ArbitrageRefresh } from '../../../engine/events.ts'
import { nativeMarketId } from '../../../engine/ids.ts'
import type { MarketRef } from '../../../engine/market/market.ts'
import { type Opportunity, type PastOpportunity, peakOf } from '../../../engine/opportunity.ts'
import { priceMicros, sizeMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import { NOON } from './builders.ts'

/** 100 contracts of each leg, at 0.55 and 0.37 US dollars. They cost 92, pay 100, and earn 5.37 after fees of 2.63. */
export function opportunity(
  [a, b]: readonly [MarketRef, MarketRef],
  set: Partial<Opportunity> = {},
): Opportunity {
  const shared = { question: 'Will it rain?', bookSeq: 7, bookAgeMs: 40 }
  const [yes, no] = [
    { cost: usdMicros(55_000_000), fee: usdMicros(990_000) },
    { cost: usdMicros(37_000_000), fee: usdMicros(1_640_000) },
  ]
  return {
    id: 'k3f9c2-1',
    kind: 'cross_venue',
    matchScore: 96,
    legs: [
      { market: a, outcome: 'Yes', isFirst: true, ...yes, ...shared },
      { market: b, outcome: 'No', isFirst: false, ...no, ...shared },
    ],
    contracts: sizeMicros(100_000_000),
    minContracts: sizeMicros(5_000_000),
    cost: usdMicros(92_000_000),
    fees: usdMicros(2_630_000),
    payout: usdMicros(100_000_000),
    profit: usdMicros(5_370_000),
    steps: [
      {
        contracts: sizeMicros(100_000_000),
        prices: [priceMicros(550_000), priceMicros(370_000)],
      },
    ],
    openedAtMs: NOON,
    updatedAtMs: timeMs(NOON + 500),
    closesAtMs: timeMs(NOON + 86_400_000),
    question: 'Will it rain?',
    category: 'Weather',
    explanation: 'The same place and day.',
    payoutNote: null,
    ...set,
  }
}

export function publishedOpportunity(
  one: Opportunity,
  set: Partial<ArbitrageRefresh> = {},
): ArbitrageRefresh {
  const [first] = one.legs
  if (first === undefined) throw new Error('an opportunity has legs')
  return {
    ...{ kind: 'arbitrage', event: 'opened', market: first.market, opportunity: one },
    ...{ venueTimeMs: one.openedAtMs, receivedAtMs: one.openedAtMs, reason: null },
    peak: peakOf(one, null, one.openedAtMs),
    previousPeak: null,
    ...set,
  }
}

/** The opportunity ended `afterMs` after noon. */
export function pastOpportunity(
  afterMs: number,
  set: Partial<PastOpportunity> = {},
): PastOpportunity {
  const state = (atMs: number, dollars: number) => ({
    atMs: timeMs(NOON + atMs),
    contracts: sizeMicros(100_000_000),
    profit: usdMicros(dollars * 1_000_000),
  })
  return {
    id: `k3f9c2-${afterMs}`,
    kind: 'cross_venue',
    matchScore: 96.5,
    legs: [
      { venue: 'a', market: nativeMarketId('0xabc'), outcome: 'Yes' },
      { venue: 'b', market: nativeMarketId('KXRAIN'), outcome: 'No' },
    ],
    question: 'Will it rain?',
    category: null,
    closesAtMs: null,
    opened: state(0, 1),
    best: state(300, 3),
    last: state(500, 2),
    closedAtMs: timeMs(NOON + afterMs),
    reason: 'prices',
    ...set,
  }
}
