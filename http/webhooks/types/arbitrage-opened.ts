// The event type `arbitrage.opened`: a basket of outcomes met a webhook's profit filters for the required time.

import type { ArbitrageRefresh, ArbitrageUpdate } from '../../../engine/events.ts'
import type { Happening } from '../../../engine/webhooks/event-type.ts'
import {
  EXAMPLE_OPPORTUNITY,
  OpportunitySchema,
  opportunityRecord,
} from '../../records/opportunities.ts'
import {
  type EventDescriptor,
  exampleOf,
  MARKET_FILTERS,
  PLAIN_HAPPENING,
  PLAIN_TYPE,
} from './event-type.ts'

/** Shared by both opportunity event types. */
export const OPPORTUNITY_TYPE = {
  ...PLAIN_TYPE,
  filters: [...MARKET_FILTERS, 'min_profit_usd', 'min_edge', 'min_age_ms'],
  updateKinds: ['arbitrage'],
} as const

/** One event, whichever legs' markets a webhook names. */
export function opportunityHappenings(
  { opportunity, receivedAtMs, peak }: ArbitrageRefresh,
  previousPeak: ArbitrageUpdate['previousPeak'],
): readonly Happening[] {
  const idParts = () => [opportunity.id]
  return opportunity.legs.map(({ market }) => ({
    ...PLAIN_HAPPENING,
    market,
    originMs: receivedAtMs,
    peak,
    previousPeak,
    idParts,
  }))
}

export const arbitrageOpened: EventDescriptor = {
  ...OPPORTUNITY_TYPE,
  name: 'arbitrage.opened',
  shortNames: ['arbitrage', 'arbitrage_opened'],
  summary: 'Outcomes can be bought together at a profit, after depth and fees',
  expires: 'unposted',
  happenings(update) {
    if (update.kind !== 'arbitrage' || update.event === 'closed') return []
    return opportunityHappenings(update, update.previousPeak)
  },
  shapes: { OpportunitySchema },
  data: () => OpportunitySchema,
  example: exampleOf(EXAMPLE_OPPORTUNITY),
  write(cause) {
    if (cause.kind !== 'arbitrage') return null
    const { opportunity, receivedAtMs } = cause
    const record = opportunityRecord(opportunity, receivedAtMs, { hasLevels: false })
    return { timeMs: opportunity.openedAtMs, data: JSON.stringify(record) }
  },
}
