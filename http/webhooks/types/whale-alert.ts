// The event type `whale.alert`: a large trade, aggregated over its fills.

import { whaleCloseMs } from '../../../engine/limits.ts'
import { timeMs, usdMicros } from '../../../engine/units.ts'
import { whaleText } from '../../records/render.ts'
import { EXAMPLE_WHALE, WhaleSchema } from '../../ws/channels/whales.ts'
import { type EventDescriptor, exampleOf, TRADE_TYPE, tradeHappening } from './event-type.ts'

/** Large trades; from 5,000 dollars by default. */
export const whaleAlert: EventDescriptor = {
  ...TRADE_TYPE,
  name: 'whale.alert',
  shortNames: ['whale', 'whale_alert'],
  summary: 'A large trade happened, summed up over its fills',
  updateKinds: ['whale'],
  minUsdDefault: usdMicros(5_000_000_000),
  happenings(update) {
    if (update.kind !== 'whale') return []
    const { whale, receivedAtMs } = update
    const { eventSlug, category } = whale
    return [
      {
        ...tradeHappening(update, whale),
        labels: { eventSlug, category },
        // The first fill of a whale arrives this long before the whale can be detected.
        originMs: timeMs(receivedAtMs + whaleCloseMs),
      },
    ]
  },
  data: () => WhaleSchema,
  example: exampleOf(EXAMPLE_WHALE),
  write(cause, { textsOf }) {
    if (cause.kind !== 'whale') return null
    const { market, whale } = cause
    return { timeMs: whale.timeMs, data: whaleText(whale, textsOf(market)) }
  },
}
