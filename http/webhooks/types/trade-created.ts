// The event type `trade.created`: every trade, as REST and stream have it. Upholds HOOKEVENT1, HOOKBODY1.

import { tradeText } from '../../records/render.ts'
import { TradeSchema } from '../../schemas.ts'
import { EXAMPLE_TRADE } from '../../ws/channels/trades.ts'
import {
  type EventDescriptor,
  MARKET_FILTERS,
  PLAIN_HAPPENING,
  PLAIN_TYPE,
  walletsOf,
} from './event-type.ts'

/** Every trade. */
export const tradeCreated: EventDescriptor = {
  ...PLAIN_TYPE,
  name: 'trade.created',
  shortNames: ['trade', 'trade_created'],
  summary: 'A trade happened',
  filters: [...MARKET_FILTERS, 'wallets', 'min_usd', 'side'],
  hears: ['trade'],
  expires: 'unmade',
  happenings(update) {
    if (update.kind !== 'trade') return []
    const { market, trade, receivedAtMs } = update
    const { usd, side } = trade
    return [
      {
        ...PLAIN_HAPPENING,
        ...{ market, usd, side, wallets: walletsOf(trade.maker, trade.taker) },
        originMs: receivedAtMs,
        idParts: () => [market.id, trade.nativeId],
      },
    ]
  },
  data: () => TradeSchema,
  example: ({ first }) => ({
    ...EXAMPLE_TRADE,
    market_id: `${first.name}_0x1b2c`,
    platform: first.name,
  }),
  write(cause, { textsOf }) {
    if (cause.kind !== 'trade') return null
    const { market, trade } = cause
    return { timeMs: trade.timeMs, data: tradeText(trade, textsOf(market)) }
  },
}
