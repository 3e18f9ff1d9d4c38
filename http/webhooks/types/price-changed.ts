// The event type `price.changed`: a price moved away from the one last posted to a webhook.

import { Type } from '@sinclair/typebox'
import { MICROS } from '../../../engine/units.ts'
import { priceText } from '../../records/render.ts'
import { EXAMPLE_IDS, nullable } from '../../schemas.ts'
import { StreamPriceSchema } from '../../ws/channels/prices.ts'
import {
  type EventDescriptor,
  exampleOf,
  MARKET_FILTERS,
  PLAIN_HAPPENING,
  PLAIN_TYPE,
} from './event-type.ts'

/** The price, and the price last posted to the webhook. */
const PriceChangedSchema = Type.Object({
  market_id: Type.String(),
  platform: Type.String(),
  question: Type.String(),
  slug: Type.String(),
  event_slug: nullable(Type.String()),
  outcome: Type.String(),
  previous_price: StreamPriceSchema.properties.price,
  change: Type.Number({ minimum: -1, maximum: 1 }),
  timestamp_ms: Type.Integer(),
  ...StreamPriceSchema.properties,
})

export const priceChanged: EventDescriptor = {
  ...PLAIN_TYPE,
  name: 'price.changed',
  shortNames: ['price', 'price_change', 'price_changed'],
  summary: 'A price moved away from the one last sent',
  filters: [...MARKET_FILTERS, 'min_change'],
  updateKinds: ['price'],
  comparesPrice: true,
  expires: 'unposted',
  happenings(update) {
    // Without any data the price of a market defaults to one half: post nothing.
    if (update.kind !== 'price' || update.price.source === 'none') return []
    const { market, price, venueTimeMs, receivedAtMs } = update
    return [
      {
        ...PLAIN_HAPPENING,
        ...{ market, price: price.price, originMs: receivedAtMs },
        idParts: () => [String(venueTimeMs)],
      },
    ]
  },
  shapes: { PriceChangedSchema },
  data: () => PriceChangedSchema,
  example: exampleOf({
    market_id: `venue_a_${EXAMPLE_IDS.condition}`,
    platform: 'venue_a',
    question: 'Will it rain in Denver on Sunday?',
    slug: 'rain-denver-sunday',
    event_slug: 'denver-weather',
    outcome: 'Yes',
    previous_price: 0.365,
    change: 0.06,
    timestamp_ms: 1_763_700_000_000,
    price: 0.425,
    price_cents: 43,
    best_bid: 0.42,
    best_ask: 0.43,
    spread: 0.01,
    mid_price: 0.425,
    source: 'midpoint',
  }),
  write(cause, { catalog }, base) {
    if (cause.kind !== 'price' || base === null) return null
    const { market, price, venueTimeMs } = cause
    const summary = catalog.byNumber(market.number)?.summary
    const facts = JSON.stringify({
      market_id: market.id,
      platform: market.platform,
      question: summary?.question ?? '',
      slug: summary?.slug ?? '',
      event_slug: summary?.eventSlug ?? null,
      outcome: summary?.outcomes[0]?.label ?? '',
      previous_price: base / MICROS,
      change: (price.price - base) / MICROS,
      timestamp_ms: venueTimeMs,
    })
    return { timeMs: venueTimeMs, data: `${facts.slice(0, -1)},${priceText(price).slice(1)}` }
  },
}
