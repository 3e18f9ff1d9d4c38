// The event type `arbitrage.closed`: an opportunity ended that had met a webhook's filters.

import { Type } from '@sinclair/typebox'
import { CLOSE_REASONS } from '../../../engine/opportunity.ts'
import {
  EXAMPLE_OPPORTUNITY,
  OpportunitySchema,
  opportunityRecord,
} from '../../records/opportunities.ts'
import { choice } from '../../schemas.ts'
import { OPPORTUNITY_TYPE, opportunityHappenings } from './arbitrage-opened.ts'
import { type EventDescriptor, exampleOf } from './event-type.ts'

const ClosedOpportunitySchema = Type.Object({
  close_reason: choice(CLOSE_REASONS),
  ...OpportunitySchema.properties,
})

export const arbitrageClosed: EventDescriptor = {
  ...OPPORTUNITY_TYPE,
  name: 'arbitrage.closed',
  shortNames: ['arbitrage_closed'],
  summary: 'An opportunity ended',
  happenings(update) {
    if (update.kind !== 'arbitrage' || update.event !== 'closed') return []
    return opportunityHappenings(update, null)
  },
  shapes: { ClosedOpportunitySchema },
  data: () => ClosedOpportunitySchema,
  example: exampleOf({ close_reason: 'prices', ...EXAMPLE_OPPORTUNITY }),
  write(cause) {
    if (cause.kind !== 'arbitrage') return null
    const { opportunity, reason, receivedAtMs } = cause
    const record = opportunityRecord(opportunity, receivedAtMs, { hasLevels: false })
    return { timeMs: receivedAtMs, data: JSON.stringify({ close_reason: reason, ...record }) }
  },
}
