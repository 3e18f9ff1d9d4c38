// A venue whose messages are lines of text. `book ID BID ASK` has ten contracts a side. In `trade ID NUMBER PRICE SIZE`
// the taker buys.

import { nativeMarketId, outcomeId, type VenueKey } from '../../../engine/ids.ts'
import { priceMicros, sizeMicros } from '../../../engine/units.ts'
import type { Venue, VenueParts } from '../../../engine/venues/venue.ts'
import { quietVenue } from '../../support/fakes/quiet-venue.ts'
import { listing } from '../../support/worlds/builders.ts'
import { TOY } from './facts.ts'

const MICROS = 1_000_000

export interface ToyVenue {
  readonly venue: Venue
  readonly say: (line: string) => void
}

/** Opens the venue alone or in place of an existing venue. */
export function openToy(
  parts: VenueParts,
  asks: Readonly<Record<string, string>>,
  key: VenueKey = TOY.key,
): ToyVenue {
  const markets = Object.entries(asks).map(([id, question]) =>
    listing(id, {
      venue: key,
      question,
      event: null,
      eventSlug: null,
      native: { id, asks: question },
    }),
  )
  const page = { markets, events: [] }
  const venue: Venue = {
    ...quietVenue(key, parts.clock),
    catalog: {
      crawl: async (onPage) => onPage(page),
      refresh: async () => undefined,
      fetchMarkets: async (ids) => ({
        markets: markets.filter(({ nativeId }) => ids.includes(nativeId)),
        events: [],
      }),
    },
  }
  return { venue, say: (line) => take(parts, line) }
}

function take({ clock, emit }: VenueParts, line: string): void {
  const [term, id = '', ...fields] = line.split(' ')
  const from = { venue: TOY.key, venueTimeMs: clock.nowMs(), receivedAtMs: clock.nowMs() }
  const outcome = outcomeId(`${id}-yes`)
  const price = (text = '') => priceMicros(Math.round(Number(text) * MICROS))
  const size = (text = '') => sizeMicros(Number(text) * MICROS)
  if (term === 'book') {
    const [bids, asks] = fields.map((text) => [{ price: price(text), size: size('10') }])
    emit({
      kind: 'bookSnapshot',
      ...from,
      outcome,
      bids: bids ?? [],
      asks: asks ?? [],
      isInOrder: true,
    })
  }
  if (term === 'trade') {
    const [nativeId = '', paid, count] = fields
    emit({
      ...{ kind: 'trade', ...from, outcome, market: nativeMarketId(id), nativeId },
      ...{ price: price(paid), size: size(count), side: 'buy', source: 'stream' },
      ...{ maker: null, taker: null, txHash: null, isBlock: false },
    })
  }
}
