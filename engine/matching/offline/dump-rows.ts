// Converts rows of recorded dumps to subjects of one venue. Ignores other rows.

import { type Row, rowsOf } from '../../json-fields.ts'
import { isRecord } from '../../json-record.ts'
import type { MatchEvent, MatchMarket, SubjectReader } from '../../subject.ts'

/** Adds the subjects of a row. Returns false if it has none. */
export function addDumpRow(
  reader: SubjectReader,
  row: unknown,
  into: { readonly markets: MatchMarket[]; readonly events: MatchEvent[] },
): boolean {
  if (!isRecord(row)) return false
  if (hasCompleteMarkets(row) || 'platform_event_id' in row || reader.isEvent(row)) {
    const event = reader.event(row)
    if (event.title === '') return false
    into.events.push(event)
    // An event's row may contain only sample titles, which are not its list of markets.
    if (hasCompleteMarkets(row))
      into.markets.push(...event.markets.map((market) => within(market, event)))
    return true
  }
  const market = reader.market(row, null)
  if (market.title === '' && market.handle === '') return false
  into.markets.push(market)
  return true
}

function hasCompleteMarkets(row: Row): boolean {
  return rowsOf(row.markets).length > 0 || rowsOf(row.child_markets).length > 0
}

/** Adds the event to a market, because reduced rows of markets do not contain it. */
function within(market: MatchMarket, event: MatchEvent): MatchMarket {
  return { ...market, eventKey: event.key, eventTitle: market.eventTitle || event.title }
}
