// A venue in this process: its catalogue is a list, its wire a line of text a message. `book ID BID ASK` is a book of ten
// contracts a side, `trade ID NUMBER PRICE SIZE` a buyer's fill.

import { nativeMarketId, outcomeId, type VenueKey } from '../../../engine/ids.ts'
import { priceMicros, sizeMicros } from '../../../engine/units.ts'
import type { Venue, VenueParts } from '../../../engine/venues/venue.ts'
import { quietVenue } from '../../support/fakes/quiet-venue.ts'
import { listing } from '../../support/worlds/builders.ts'
import { TOY } from './facts.ts'

const MICROS = 1_000_000

/** The venue, opened, and what puts a line on its wire. */
export interface ToyVenue {
  readonly venue: Venue
  readonly say: (line: string) => void
}

/** Opens the venue, or one in another's place, with these markets: an id, and what the market asks. */
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
