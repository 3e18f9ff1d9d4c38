// The owners' log of trades in the shape in which streams replay: each row as the update that was
// told. Not for: the log itself (actors/trade-log.ts). Upholds RESUME5.

import type { EngineView, TradeLogView } from '../../../actors/views.ts'
import type { TradeUpdate } from '../../../engine/events.ts'
import { replayLookedRows, replayReadRows } from '../../../engine/limits.ts'
import type { MarketNumber } from '../../../engine/market/market.ts'
import type { LogEntry, MessageTable } from '../resume/message-log.ts'

type StoredTrade = ReturnType<TradeLogView['range']>[number]['trade']

/** The table behind the channel of trades. */
export function tradeTable({
  tradeLog,
  catalog,
}: Pick<EngineView, 'tradeLog' | 'catalog'>): MessageTable {
  /** Without its market a trade has no name to be told by: it counts as expired. */
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
    range({ run, offset, markets }) {
      if (markets === null) {
        const rows = tradeLog.range({ run, offset, limit: replayReadRows })
        return rows.map(({ market, trade }): LogEntry => {
          return { offset: trade.offset ?? offset, update: updateOf(market, trade) }
        })
      }
      const isWanted = (market: MarketNumber) => markets.has(market)
      const rows = tradeLog.rangeOf({ run, offset, limit: replayLookedRows, isWanted })
      return rows.map(({ offset: place, market, trade }): LogEntry => {
        if (trade === null) return { offset: place, update: 'unread' }
        return { offset: place, update: trade === undefined ? 'lost' : updateOf(market, trade) }
      })
    },
  }
}
