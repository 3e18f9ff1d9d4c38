// An example of an event type that its descriptor alone defines: a market stopped trading.

import { Type } from '@sinclair/typebox'
import {
  type EventDescriptor,
  MARKET_FILTERS,
  PLAIN_HAPPENING,
  PLAIN_TYPE,
} from '../../http/webhooks/types/event-type.ts'

const MarketClosedSchema = Type.Object({ market_id: Type.String(), question: Type.String() })

export const marketClosed: EventDescriptor = {
  ...PLAIN_TYPE,
  name: 'market.closed',
  shortNames: ['closed'],
  noun: 'closed market',
  summary: 'A market stopped trading',
  filters: MARKET_FILTERS,
  updateKinds: ['lifecycle'],
  happenings(update) {
    if (update.kind !== 'lifecycle' || update.event !== 'closed') return []
    const { market, receivedAtMs, venueTimeMs } = update
    const idParts = () => [market.id, String(venueTimeMs)]
    return [{ ...PLAIN_HAPPENING, market, originMs: receivedAtMs, idParts }]
  },
  shapes: { MarketClosedSchema },
  data: () => MarketClosedSchema,
  example: ({ first }) => ({
    market_id: `${first.name}_0x1b2c`,
    question: 'Will it rain in Denver?',
  }),
  write(cause) {
    if (cause.kind !== 'lifecycle') return null
    const { market, facts, venueTimeMs } = cause
    const data = JSON.stringify({ market_id: market.id, question: facts.question })
    return { timeMs: venueTimeMs, data }
  },
}
