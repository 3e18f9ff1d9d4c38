// Creates a data folder as it is after a first start. It contains all markets and events of a simulated world with
// their texts and native rows, but no trades, books or checkpoints.

import { nativeEventId, nativeMarketId, outcomeId } from '../../engine/ids.ts'
import type { EventListing, MarketListing, MarketStatus } from '../../engine/market/market.ts'
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
import { ManualClock } from '../../test/support/fakes/manual-clock.ts'
import { check, openStorage } from '../harness.ts'

/** Current time of the world and of the engine that starts with the folder. */
export const SCALE_NOW = timeMs(Date.UTC(2026, 10, 20, 17))
const SEED = 21
/** Markets per venue of one simulated world. A larger catalogue consists of several worlds with different ids. */
const WORLD_MARKETS_MAX = 50_000
const COMMIT_EVERY = 2_000

/**
 * Fills the folder with this many markets of one status, half of them at each venue. Resolves when they are durable.
 */
export async function fillFolder(
  dataDir: string,
  { marketCount, status }: { readonly marketCount: number; readonly status: MarketStatus },
): Promise<void> {
  const storage = await openStorage(dataDir)
  try {
    let put = 0
    for (const { event, markets } of listedEvents(marketCount / 2)) {
      storage.events.put(event)
      for (const market of markets) {
        storage.markets.put({ ...market, status, isUnopened: false, settlementPrice: null })
        put += 1
        if (put % COMMIT_EVERY === 0) await storage.committed()
      }
    }
    await storage.committed()
    const stored = storage.markets.count()
    check(stored === marketCount && put === marketCount, `${stored} markets are stored`)
  } finally {
    await storage.close()
  }
}

interface ListedEvent {
  readonly event: EventListing
  readonly markets: readonly MarketListing[]
}

function* listedEvents(marketsPerVenue: number): Iterable<ListedEvent> {
  for (let number = 0; number * WORLD_MARKETS_MAX < marketsPerVenue; number += 1) {
    const left = marketsPerVenue - number * WORLD_MARKETS_MAX
    for (const listed of eventsOfWorld(SEED + number, Math.min(left, WORLD_MARKETS_MAX))) {
      yield number === 0 ? listed : renamed(listed, number)
    }
  }
}

/** Makes ids unique, because worlds of different seeds share some questions and ids. */
function renamed({ event, markets }: ListedEvent, number: number): ListedEvent {
  const eventId = nativeEventId(`${event.nativeId}-w${number}`)
  const hex = number.toString(16).padStart(4, '0')
  return {
    event: { ...event, nativeId: eventId, slug: `${event.slug}-w${number}` },
    markets: markets.map((market) => ({
      ...market,
      nativeId: nativeMarketId(
        market.venue === 'a'
          ? `0x${hex}${market.nativeId.slice(6)}`
          : `${market.nativeId}-W${number}`,
      ),
      slug: `${market.slug}-w${number}`,
      event: eventId,
      eventSlug: market.eventSlug === null ? null : `${market.eventSlug}-w${number}`,
      outcomes: market.outcomes.map(({ label, id }) => ({
        label,
        id: outcomeId(`${number}${id}`),
      })),
    })),
  }
}

function* eventsOfWorld(seed: number, marketsPerVenue: number): Iterable<ListedEvent> {
  const world = new SimulatedWorld({
    seed,
    messagesPerSecond: 1,
    plan: new Calendar({ seed, marketsPerVenue }),
    faults: new Faults([], seededRandom(1)),
    clock: new ManualClock(SCALE_NOW),
    random: seededRandom('world'),
  })
  for (const event of world.events('a')) {
    const row = eventRow(event, { nowMs: SCALE_NOW, hasTags: true })
    const read = readEvent(row)
    if (typeof read === 'string') throw new Error(`an event of venue a was refused: ${read}`)
    const form = { nowMs: SCALE_NOW, hasEvent: false, hasTags: false }
    const markets = event.markets.map((market) => readMarket(gammaMarket(market, form), row))
    yield { event: read, markets: markets.filter((market) => typeof market !== 'string') }
  }
  for (const event of world.events('b')) {
    const rendered = renderEvent(event, { updatedMs: SCALE_NOW, markets: null })
    const read = parseEvent(rendered, new Map())
    if (read.kind !== 'event') throw new Error('an event of venue b was refused')
    const markets = event.markets.flatMap((market) => {
      const row = renderMarket(market, { nowMs: SCALE_NOW, metadataMs: SCALE_NOW })
      const parsed = parseMarket(row, read.listing)
      return parsed.kind === 'market' ? [parsed.listing] : []
    })
    yield { event: read.listing, markets }
  }
}
