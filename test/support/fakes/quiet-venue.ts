// A healthy venue without markets or messages. Benchmarks and tests replace the parts that they need.

import type { Clock } from '../../../engine/clock.ts'
import type { VenueKey } from '../../../engine/ids.ts'
import { timeMs } from '../../../engine/units.ts'
import type { Venue } from '../../../engine/venues/venue.ts'
import { quietDrift } from './quiet-drift.ts'

/** Its feed is connected and has recent data. Its empty catalogue removes no known markets. */
export function quietVenue(key: VenueKey, clock: Pick<Clock, 'nowMs'>): Venue {
  return {
    key,
    catalog: {
      crawl: async () => undefined,
      refresh: async () => undefined,
      fetchMarkets: async () => ({ markets: [], events: [] }),
    },
    feed: {
      start: () => undefined,
      stop: async () => undefined,
      watch: () => undefined,
      unwatch: () => undefined,
      cover: () => undefined,
      uncover: () => undefined,
      resync: () => undefined,
      read: () => undefined,
      reconnect: () => undefined,
      fetchTrades: async () => ({ completeFromMs: timeMs(0), suspectReason: null, newestMs: null }),
      health: () => ({
        ...{ connectionsOpen: 1, connectionsWanted: 1, bookDelayMs: 0, tradesSource: null },
        ...{ lastDataAtMs: clock.nowMs(), lastSignAtMs: clock.nowMs() },
      }),
      readBooks: () => undefined,
    },
    pastPrices: { read: async () => [] },
    teams: async () => [],
    wallets: null,
    drift: quietDrift(key),
  }
}
