// Table of event types. To add one, write its descriptor in this folder and list it here.

import { arbitrageClosed } from './arbitrage-closed.ts'
import { arbitrageOpened } from './arbitrage-opened.ts'
import type { EventDescriptor } from './event-type.ts'
import { marketResolved } from './market-resolved.ts'
import { matchCreated } from './match-created.ts'
import { priceChanged } from './price-changed.ts'
import { tradeCreated } from './trade-created.ts'
import { webhookTest } from './webhook-test.ts'
import { whaleAlert } from './whale-alert.ts'

/** Every event type, in document order. */
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

export const EVENT_TYPES: readonly string[] = EVENTS.map(({ name }) => name)
