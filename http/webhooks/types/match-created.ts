// The event type `match.created`: two markets were found to ask the same question.

import { Type } from '@sinclair/typebox'
import type { VenueKey } from '../../../engine/ids.ts'
import type { VenueTable } from '../../../engine/venue-table.ts'
import { MarketSchema, nullable, pairFields } from '../../schemas.ts'
import { type EventDescriptor, MARKET_FILTERS, PLAIN_HAPPENING, PLAIN_TYPE } from './event-type.ts'

/** The pair of a match, by venue; null for a market that is gone. */
const matchCreatedSchema = (names: VenueTable) =>
  Type.Object(pairFields(names, () => nullable(MarketSchema)))

export const matchCreated: EventDescriptor = {
  ...PLAIN_TYPE,
  name: 'match.created',
  shortNames: ['match', 'match_created'],
  summary: 'A market was found to ask the same as one on the other venue',
  filters: MARKET_FILTERS,
  updateKinds: ['lifecycle'],
  // One event per pair, whichever of the two a webhook names, and however often the match is published.
  happenings(update) {
    if (update.kind !== 'lifecycle' || update.event !== 'matched') return []
    const { market, matchedMarket, receivedAtMs } = update
    if (matchedMarket === null) return []
    const idParts = () => [market.id, matchedMarket.id].sort()
    return [market, matchedMarket].map((side) => {
      return { ...PLAIN_HAPPENING, market: side, originMs: receivedAtMs, idParts }
    })
  },
  data: matchCreatedSchema,
  example: ({ platforms }) =>
    Object.fromEntries(platforms.slice(0, 2).map((platform) => [platform, null])),
  write(cause, { catalog, recordOf }) {
    if (cause.kind !== 'lifecycle') return null
    const { market, matchedMarket, venueTimeMs } = cause
    const { names } = catalog
    // One field per venue of the pair.
    const isOfPair = (venue: VenueKey) => venue === market.venue || venue === matchedMarket?.venue
    const shown = matchedMarket === null ? names.keys : names.keys.filter(isOfPair)
    const fields = shown.map((venue) => {
      const side = market.venue === venue ? market : matchedMarket
      const record = side?.venue === venue ? recordOf(side) : 'null'
      return `${JSON.stringify(names.platform(venue))}:${record}`
    })
    return { timeMs: venueTimeMs, data: `{${fields.join(',')}}` }
  },
}
