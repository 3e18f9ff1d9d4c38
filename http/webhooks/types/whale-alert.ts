// The event type `whale.alert`: a large trade, summed up over its fills. Upholds HOOKEVENT3, HOOKBODY1.

import { whaleCloseMs } from '../../../engine/limits.ts'
import { timeMs, usdMicros } from '../../../engine/units.ts'
import { whaleText } from '../../records/render.ts'
import { EXAMPLE_WHALE, WhaleSchema } from '../../ws/channels/whales.ts'
import {
  type EventDescriptor,
  MARKET_FILTERS,
  PLAIN_HAPPENING,
  PLAIN_TYPE,
  walletsOf,
} from './event-type.ts'

/** Large trades; from 5,000 dollars unless a webhook says otherwise. */
export const whaleAlert: EventDescriptor = {
  ...PLAIN_TYPE,
  name: 'whale.alert',
  shortNames: ['whale', 'whale_alert'],
  summary: 'A large trade happened, summed up over its fills',
  filters: [...MARKET_FILTERS, 'wallets', 'min_usd', 'side'],
  hears: ['whale'],
  minUsdDefault: usdMicros(5_000_000_000),
  expires: 'unmade',
  happenings(update) {
    if (update.kind !== 'whale') return []
    const { market, whale, receivedAtMs } = update
    const { usd, side, eventSlug, category } = whale
    return [
      {
        ...PLAIN_HAPPENING,
        ...{ market, usd, side, wallets: walletsOf(whale.maker, whale.taker) },
        labels: { eventSlug, category },
        // A whale's first fill came that long before the whale could be known.
        originMs: timeMs(receivedAtMs + whaleCloseMs),
        idParts: () => [market.id, whale.nativeId],
      },
    ]
  },
  data: () => WhaleSchema,
  example: ({ first }) => ({
    ...EXAMPLE_WHALE,
    market_id: `${first.name}_0x1b2c`,
    platform: first.name,
  }),
  write(cause, { textsOf }) {
    if (cause.kind !== 'whale') return null
    const { market, whale } = cause
    return { timeMs: whale.timeMs, data: whaleText(whale, textsOf(market)) }
  },
}
