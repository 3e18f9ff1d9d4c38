import { Type } from '@sinclair/typebox'
import type { LifecycleEvent } from '../../../engine/events.ts'
import { lifecycleRecord } from '../../records/render.ts'
import { EXAMPLE_IDS } from '../../schemas.ts'
import { EXAMPLE_LIFECYCLE, LifecycleSchema } from '../../ws/channels/lifecycle.ts'
import {
  type EventDescriptor,
  exampleOf,
  MARKET_FILTERS,
  PLAIN_HAPPENING,
  PLAIN_TYPE,
} from './event-type.ts'

const RESOLUTIONS: ReadonlySet<LifecycleEvent> = new Set(['resolved', 'settled'])

/** A market with its id, as in lifecycle messages. */
const MarketResolvedSchema = Type.Object({
  market_id: Type.String(),
  ...LifecycleSchema.properties,
})

/** Resolved markets. Posted again if the payout becomes known later or is corrected. */
export const marketResolved: EventDescriptor = {
  ...PLAIN_TYPE,
  name: 'market.resolved',
  shortNames: ['resolved', 'market_resolved'],
  summary: 'A market was resolved, or its settlement price became known after that',
  filters: MARKET_FILTERS,
  updateKinds: ['lifecycle'],
  happenings(update) {
    if (update.kind !== 'lifecycle' || !RESOLUTIONS.has(update.event)) return []
    const { market, facts, receivedAtMs } = update
    const idParts = () => [market.id, String(facts.settlementPrice ?? '')]
    return [{ ...PLAIN_HAPPENING, market, originMs: receivedAtMs, idParts }]
  },
  shapes: { MarketResolvedSchema },
  data: () => MarketResolvedSchema,
  example: exampleOf({ market_id: `venue_a_${EXAMPLE_IDS.condition}`, ...EXAMPLE_LIFECYCLE }),
  write(cause) {
    if (cause.kind !== 'lifecycle') return null
    const data = { market_id: cause.market.id, ...lifecycleRecord(cause) }
    return { timeMs: cause.venueTimeMs, data: JSON.stringify(data) }
  },
}
