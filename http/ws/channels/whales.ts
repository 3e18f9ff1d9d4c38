// The owners' log of whales in the shape in which streams replay: each row as the update that was
// told, with the fills that have joined it since. Not for: the log itself (actors/whales/log.ts).
// Upholds WHALE10.

import type { EngineView, WhaleLogView } from '../../../actors/views.ts'
import { replayReadRows } from '../../../engine/limits.ts'
import type { LogEntry, MessageTable } from '../resume/message-log.ts'

/** The table behind the channel of whales; a lost trade is told as such, never as a lost whale. */
export function whaleTable(whaleLog: WhaleLogView, catalog: EngineView['catalog']): MessageTable {
  return {
    present: whaleLog.present,
    runs: () => whaleLog.runs(),
    losses: () => [],
    range({ run, offset: behind, markets }) {
      const rows = whaleLog.range({ run, offset: behind, limit: replayReadRows })
      return rows.map(({ market: number, venue, nativeMarket, whale }): LogEntry => {
        const { offset, seq, timeMs: venueTimeMs, receivedAtMs } = whale
        if (offset === null || seq === null) return { offset: behind, update: 'lost' }
        if (markets !== null && !markets.has(number)) return { offset, update: 'unread' }
        // The catalogue may have forgotten the market; its whales are kept, and so is its name.
        const market = catalog.byNumber(number)?.ref ?? {
          id: catalog.names.marketId(venue, nativeMarket),
          number,
          venue,
          platform: catalog.names.platform(venue),
          nativeId: nativeMarket,
        }
        const times = { venueTimeMs, receivedAtMs }
        return { offset, update: { kind: 'whale', market, offset, seq, ...times, whale } }
      })
    },
  }
}
