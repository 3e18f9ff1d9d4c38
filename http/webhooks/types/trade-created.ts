import { tradeText } from '../../records/render.ts'
import { TradeSchema } from '../../schemas.ts'
import { EXAMPLE_TRADE } from '../../ws/channels/trades.ts'
import { type EventDescriptor, exampleOf, TRADE_TYPE, tradeHappening } from './event-type.ts'

export const tradeCreated: EventDescriptor = {
  ...TRADE_TYPE,
  name: 'trade.created',
  shortNames: ['trade', 'trade_created'],
  summary: 'A trade happened',
  updateKinds: ['trade'],
  needsFilter: true,
  happenings: (update) => (update.kind === 'trade' ? [tradeHappening(update, update.trade)] : []),
  data: () => TradeSchema,
  example: exampleOf(EXAMPLE_TRADE),
  write(cause, { textsOf }) {
    if (cause.kind !== 'trade') return null
    const { market, trade } = cause
    return { timeMs: trade.timeMs, data: tradeText(trade, textsOf(market)) }
  },
}
