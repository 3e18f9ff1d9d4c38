// The channel `trades`: every trade, as in the REST API. Missed trades are read from the engine's trade log.

import type { EngineView, TradeLogView } from '../../../actors/views.ts'
import type { Trade, TradeUpdate } from '../../../engine/events.ts'
import { replayReadRows, replayScannedRows, ringTradesMax } from '../../../engine/limits.ts'
import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import { takerPrice, takerSide } from '../../../engine/market/taker.ts'
import type { MsgpackWriter } from '../../../engine/msgpack-writer.ts'
import { MICROS } from '../../../engine/units.ts'
import { tradeText } from '../../records/render.ts'
import { EXAMPLE_IDS, TradeSchema } from '../../schemas.ts'
import { type Encoder, type Frame, keyOf, MessageKind } from '../encode/encoder.ts'
import { variantOf } from '../fan-out/channel-variants.ts'
import { counted, exampleOf } from '../messages.ts'
import type { LogEntry, MessageTable } from '../resume/message-log.ts'
import type { Channel } from './channel.ts'
import { LoggedChannel } from './logged.ts'

const NAME = 'trades'

const DATA = keyOf('data')
const TRADE = new MessageKind<Trade>('trade', NAME, {
  json: (head, trade, market) => `${head},"data":${tradeText(trade, market)}}`,
  msgpack(to, trade, market, catalog) {
    const outcome = catalog.find(market.id)?.summary.outcomes[trade.outcomeIndex]
    to.bytes(DATA)
    to.map(TRADE_FIELDS + TAKER_FIELDS)
    const label = outcome?.label ?? null
    writeTrade(to, market, trade, label)
    writeTaker(to, trade, label)
  },
})

/** Number of fields in a trade's record. */
export const TRADE_FIELDS = 14

/** Writes the {@link TRADE_FIELDS} of a trade as MessagePack. */
export function writeTrade(
  to: MsgpackWriter,
  market: MarketRef,
  trade: Trade,
  outcome: string | null,
): void {
  to.textField('id', trade.nativeId)
  to.textField('market_id', market.id)
  to.textField('platform', market.platform)
  to.numberField('price', trade.price / MICROS)
  to.numberField('size', trade.size / MICROS)
  to.textField('side', trade.side)
  to.textField('outcome', outcome)
  to.numberField('size_usd', trade.usd / MICROS)
  to.integerField('timestamp_ms', trade.timeMs)
  to.textField('native_trade_id', trade.nativeId)
  to.textField('maker', trade.maker)
  to.textField('taker', trade.taker)
  to.textField('tx_hash', trade.txHash)
  to.booleanField('is_block_trade', trade.isBlock)
}

/** Number of fields that {@link writeTaker} writes. */
export const TAKER_FIELDS = 3

/** The trade in terms of the outcome that the taker traded. */
export function writeTaker(to: MsgpackWriter, trade: Trade, outcome: string | null): void {
  to.textField('taker_outcome', outcome)
  to.textField('taker_side', takerSide(trade))
  to.numberField('taker_price', takerPrice(trade) / MICROS)
}

/** `epoch`: of the run that first sent the message, if a later run replays it. */
export function tradeMessage(encoder: Encoder, update: TradeUpdate, epoch?: string): Frame {
  return encoder.message(TRADE, update.market, update, update.trade, epoch)
}

/** Example data. */
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
    trade: {
      summary: 'A trade',
      schema: counted('trade', NAME, { data: TradeSchema }),
      example: exampleOf('trade', NAME, { data: EXAMPLE_TRADE }),
    },
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

/** Adapts the engine's trade log for resume: each row becomes the update that was published. */
export function tradeTable({
  tradeLog,
  catalog,
}: Pick<EngineView, 'tradeLog' | 'catalog'>): MessageTable {
  /** Without its market a trade has no market id to send: it counts as expired. */
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
