// Rows of recorded dumps, whole or reduced, as subjects of one venue: Gamma markets and events, Kalshi events and
// markets. What is neither reads as nothing. Not for: reading files (commands/dump-lines.ts). Upholds CORPUS7.

import type { VenueKey } from '../../ids.ts'
import { type Row, rowsOf } from '../../json-fields.ts'
import { isRecord } from '../../json-record.ts'
import type { MatchEvent, MatchMarket } from '../../subject.ts'
import { eventOfKalshi, marketOfKalshi } from '../../venues/kalshi/subjects.ts'
import { eventOfGamma, marketOfGamma } from '../../venues/polymarket/subjects.ts'

/** Adds what a row tells; false when it tells nothing. */
export function addDumpRow(
  venue: VenueKey,
  row: unknown,
  into: { readonly markets: MatchMarket[]; readonly events: MatchEvent[] },
): boolean {
  if (!isRecord(row)) return false
  const event = isEvent(venue, row) ? readEvent(venue, row) : null
  if (event !== null) {
    if (event.title === '') return false
    into.events.push(event)
    // One by one, so that a sample of titles is no list of markets.
    if (hasWholeMarkets(row))
      into.markets.push(...event.markets.map((market) => within(market, event)))
    return true
  }
  const market = venue === 'a' ? marketOfGamma(row, null) : marketOfKalshi(row, null)
  if (market.title === '' && market.handle === '') return false
  into.markets.push(market)
  return true
}

function isEvent(venue: VenueKey, row: Row): boolean {
  if (hasWholeMarkets(row) || 'platform_event_id' in row) return true
  return venue === 'b' && 'event_ticker' in row && !('ticker' in row)
}

function hasWholeMarkets(row: Row): boolean {
  return rowsOf(row.markets).length > 0 || rowsOf(row.child_markets).length > 0
}

function readEvent(venue: VenueKey, row: Row): MatchEvent {
  return venue === 'a' ? eventOfGamma(row) : eventOfKalshi(row)
}

/** Children of reduced rows do not name their event. */
function within(market: MatchMarket, event: MatchEvent): MatchMarket {
  return { ...market, eventKey: event.key, eventTitle: market.eventTitle || event.title }
}
