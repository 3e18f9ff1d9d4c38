// The simulated world as catalogue entries: each market is an actor over its listing on disk, with its event, as the
// connectors parse listings. For the matcher as in production.

import { MarketActor } from '../../actors/market/market.ts'
import type { MarketView } from '../../actors/views.ts'
import type { EventListing, MarketListing, MarketNumber } from '../../engine/market/market.ts'
import type { Publisher } from '../../engine/publisher.ts'
import { seededRandom } from '../../engine/random.ts'
import { timeMs } from '../../engine/units.ts'
import { parseEvent, parseMarket } from '../../engine/venues/kalshi/catalog/listing.ts'
import { readEvent, readMarket } from '../../engine/venues/polymarket/catalog/listing.ts'
import { Calendar } from '../../engine/venues/simulator/calendar.ts'
import { Faults } from '../../engine/venues/simulator/faults.ts'
import { renderEvent } from '../../engine/venues/simulator/kalshi/events.ts'
import { renderMarket } from '../../engine/venues/simulator/kalshi/render.ts'
import { eventRow } from '../../engine/venues/simulator/polymarket/events.ts'
import { gammaMarket } from '../../engine/venues/simulator/polymarket/render.ts'
import { SimulatedWorld } from '../../engine/venues/simulator/world/world.ts'
import type { Storage } from '../../storage/contract/storage.ts'
import { ManualClock } from '../../test/support/fakes/manual-clock.ts'
import { marketParts, NAMES } from '../../test/support/worlds/builders.ts'
import { check } from '../harness.ts'

const NOW_MS = timeMs(Date.UTC(2026, 10, 20, 17))

interface ListedWorld {
  readonly markets: ReadonlyMap<MarketNumber, MarketView>
  readonly eventOf: (market: MarketView) => EventListing | null
}

/** The listings of `matchingWorld` with the same seed. */
export function listedWorld(
  set: { readonly seed: number; readonly marketsPerVenue: number },
  { storage, publisher }: { readonly storage: Storage; readonly publisher: Publisher },
): ListedWorld {
  const world = new SimulatedWorld({
    seed: set.seed,
    messagesPerSecond: 1,
    plan: new Calendar(set),
    faults: new Faults([], seededRandom(1)),
    clock: new ManualClock(NOW_MS),
    random: seededRandom('world'),
  })
  const { parts } = marketParts({ publisher, storage, nowMs: () => NOW_MS })
  const markets = new Map<MarketNumber, MarketView>()
  const events = new Map<string, EventListing>()
  const add = (listing: MarketListing) => {
    const number = storage.markets.put(listing)
    const { description: _description, native: _native, ...summary } = listing
    const { venue, nativeId } = summary
    const [id, platform] = [NAMES.marketId(venue, nativeId), NAMES.platform(venue)]
    markets.set(number, new MarketActor({ id, number, venue, platform, nativeId }, summary, parts))
  }
  for (const event of world.events('a')) {
    const row = eventRow(event, { nowMs: NOW_MS, hasTags: true })
    const read = readEvent(row)
    if (typeof read !== 'string') events.set(`a ${read.nativeId}`, read)
    for (const market of event.markets) {
      const form = { nowMs: NOW_MS, hasEvent: false, hasTags: false }
      const listing = readMarket(gammaMarket(market, form), row)
      if (typeof listing !== 'string') add(listing)
    }
  }
  for (const event of world.events('b')) {
    const read = parseEvent(renderEvent(event, { updatedMs: NOW_MS, markets: null }), new Map())
    const listing = read.kind === 'event' ? read.listing : null
    if (listing !== null) events.set(`b ${listing.nativeId}`, listing)
    for (const market of event.markets) {
      const row = renderMarket(market, { nowMs: NOW_MS, metadataMs: NOW_MS })
      const parsed = parseMarket(row, listing)
      if (parsed.kind === 'market') add(parsed.listing)
    }
  }
  check(markets.size >= set.marketsPerVenue, 'the world is listed')
  const eventOf = ({ summary }: MarketView) =>
    events.get(`${summary.venue} ${summary.event}`) ?? null
  return { markets, eventOf }
}
