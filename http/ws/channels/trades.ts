// The channel `trades`: every trade, with the fields of the REST API. A resume reads missed trades from the engine's
// trade log.

import type { EngineView, TradeLogView } from '../../../actors/views.ts'
import type { Trade, TradeUpdate } from '../../../engine/events.ts'
import { replayReadRows, replayScannedRows, ringTradesMax } from '../../../engine/limits.ts'
import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import { type MarketTexts, marketTexts, quoted, tradeText } from '../../records/render.ts'
import { EXAMPLE_IDS, TradeSchema } from '../../schemas.ts'
import { type Encoder, type Frame, type ListedMarkets, MessageKind } from '../encode/encoder.ts'
import { writeTrade } from '../encode/msgpack-records.ts'
import { variantOf } from '../fan-out/channel-variants.ts'
import { counted } from '../messages.ts'
import type { LogEntry, MessageTable } from '../resume/message-log.ts'
import type { Channel } from './channel.ts'
import { LoggedChannel } from './logged.ts'

const NAME = 'trades'

/** The quoted texts of a market. Labels are missing if the market is not in the catalogue. */
function textsOf({ id, platform }: MarketRef, catalog: ListedMarkets): MarketTexts {
  const view = catalog.find(id)
  if (view !== null) return marketTexts(view)
  return { id: quoted(id), platform: quoted(platform), labels: [] }
}

const TRADE = new MessageKind<Trade>('trade', NAME, {
  json: (trade, market, catalog) => `"data":${tradeText(trade, textsOf(market, catalog))}`,
  count: () => 1,
  msgpack(to, trade, market, catalog) {
    to.text('data')
    writeTrade(to, trade, market, catalog)
  },
})

/** `epoch`: the epoch of the run that first sent the message. Required if a later run sends it again. */
export function tradeMessage(encoder: Encoder, update: TradeUpdate, epoch?: string): Frame {
  return encoder.message(TRADE, update.market, update, update.trade, epoch)
}

export const EXAMPLE_TRADE = {
  id: EXAMPLE_IDS.trade,
  market_id: `venue_a_${EXAMPLE_IDS.condition}`,
  platform: 'venue_a',
  price: 0.43,
  size: 120,
  side: 'buy',
  outcome: 'Yes',
  size_usd: 51.6,
  timestamp_ms: 1_763_700_000_000,
  native_trade_id: EXAMPLE_IDS.trade,
  maker: null,
  taker: EXAMPLE_IDS.wallet,
  tx_hash: EXAMPLE_IDS.transaction,
  is_block_trade: false,
  taker_outcome: 'Yes',
  taker_side: 'buy',
  taker_price: 0.43,
}

export const trades: Channel = {
  name: NAME,
  delivery: 'every',
  hasState: false,
  options: {},
  variants: [variantOf(NAME, {})],
  updateKinds: ['trade'],
  messages: {
    trade: counted('trade', NAME, {
      summary: 'A trade',
      fields: { data: TradeSchema },
      example: { data: EXAMPLE_TRADE },
    }),
  },
  shapes: {},
  row: { messages: '`trade`: the Trade of the REST API', when: 'every one', begins: '–' },
  open: (parts) =>
    new LoggedChannel(parts, {
      name: NAME,
      capacity: ringTradesMax,
      table: tradeTable(parts.engine),
      write: (encoder, update, epoch) =>
        update.kind === 'trade' ? tradeMessage(encoder, update, epoch) : null,
    }),
}

type StoredTrade = ReturnType<TradeLogView['range']>[number]['trade']

export function tradeTable({
  tradeLog,
  catalog,
}: Pick<EngineView, 'tradeLog' | 'catalog'>): MessageTable {
  /** A trade whose market was removed is `lost`, because its message needs the market's id. */
  const updateOf = (number: MarketNumber, trade: StoredTrade): TradeUpdate | 'lost' => {
    const { offset, seq, timeMs: venueTimeMs, receivedAtMs } = trade
    const market = catalog.byNumber(number)?.ref
    if (market === undefined || offset === null || seq === null) return 'lost'
    return { kind: 'trade', market, offset, seq, venueTimeMs, receivedAtMs, trade }
  }
  return {
    present: tradeLog.present,
    runs: () => tradeLog.runs(),
    losses: (query) => tradeLog.losses(query),
    arrival: (position) => tradeLog.arrival?.(position) ?? null,
    range({ run, offset, markets }) {
      if (markets === null) {
        const rows = tradeLog.range({ run, offset, limit: replayReadRows })
        return rows.map(({ market, trade }): LogEntry => {
          return { offset: trade.offset ?? offset, update: updateOf(market, trade) }
        })
      }
      const isWanted = (market: MarketNumber) => markets.has(market)
      const rows = tradeLog.rangeOf({ run, offset, limit: replayScannedRows, isWanted })
      return rows.map(({ offset: rowOffset, market, trade }): LogEntry => {
        if (trade === null) return { offset: rowOffset, update: 'unread' }
        return { offset: rowOffset, update: trade === undefined ? 'lost' : updateOf(market, trade) }
      })
    },
  }
}
