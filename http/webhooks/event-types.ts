// The table of event types: to add one, write its descriptor in types/ and name it here.
// Upholds EVENTTYPE1.

import { arbitrageClosed } from './types/arbitrage-closed.ts'
import { arbitrageOpened } from './types/arbitrage-opened.ts'
import type { EventDescriptor } from './types/event-type.ts'
import { marketResolved } from './types/market-resolved.ts'
import { matchCreated } from './types/match-created.ts'
import { priceChanged } from './types/price-changed.ts'
import { tradeCreated } from './types/trade-created.ts'
import { webhookTest } from './types/webhook-test.ts'
import { whaleAlert } from './types/whale-alert.ts'

/** Every event type, in the order of the documents. */
export const EVENTS: readonly EventDescriptor[] = [
  tradeCreated,
  whaleAlert,
  priceChanged,
  marketResolved,
  matchCreated,
  arbitrageOpened,
  arbitrageClosed,
  webhookTest,
]

/** Their names. */
export const EVENT_TYPES: readonly string[] = EVENTS.map(({ name }) => name)
