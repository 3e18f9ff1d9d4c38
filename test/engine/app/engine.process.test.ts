import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEngine } from '../../../engine/app/engine.ts'
import type { Clock } from '../../../engine/clock.ts'
import type { MarketListing } from '../../../engine/market/market.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { seededRandom } from '../../../engine/random.ts'
import { DAY_MS, timeMs } from '../../../engine/units.ts'
import type { Venue } from '../../../engine/venues/venue.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { quietVenue } from '../../support/fakes/quiet-venue.ts'
import { openMemoryStorage } from '../../support/reference/memory.ts'
import { eventListing, listing, NOON } from '../../support/worlds/builders.ts'

const SETTINGS = {
  host: '127.0.0.1',
  port: 0,
  venueNames: { a: 'venue_a', b: 'venue_b' },
  corsOrigins: ['*'],
  trustedProxies: [],
  isMetricsPublic: false,
  retentionDays: 30,
  dataBytesMax: 1e10,
  jwtSecret: 'x'.repeat(32),
  jwtSecretPrevious: null,
  secretsKey: 'y'.repeat(32),
  webhookPolicy: { allowsHttp: false, allowsPrivate: false },
}

function venueOf(key: 'a' | 'b', clock: Clock, markets: readonly MarketListing[]): Venue {
  const page = { markets, events: markets.map(({ nativeId }) => eventListing(nativeId)) }
  const quiet = quietVenue(key, clock)
  return { ...quiet, catalog: { ...quiet.catalog, crawl: async (onPage) => onPage(page) } }
}

test('removes all expired markets at startup, and does not add the removed markets when the venue lists them', async () => {
  const clock = new ManualClock(NOON)
  const storage = openMemoryStorage()
  const resolved = (name: string, days: number) =>
    listing(name, { status: 'resolved', closeAtMs: timeMs(NOON - days * DAY_MS) })
  const old = Array.from({ length: 250 }, (_, index) => resolved(`old${index}`, 31))
  for (const row of old) storage.markets.put(row)
  const rows = [...old, resolved('lately', 29.9), listing('open')]
  const engine = createEngine(SETTINGS, {
    clock,
    storage,
    random: seededRandom('engine'),
    log: silentLog,
    metrics: new Metrics(),
    venues: () => [venueOf('a', clock, rows), venueOf('b', clock, [])],
    epoch: 'test',
    version: '0',
  })
  await engine.start()
  try {
    assert.equal(
      storage.markets.count(),
      242,
      'the first page of the crawl added two markets after a batch was deleted',
    )
    clock.advance(1_000)
    assert.equal(storage.markets.count(), 2, 'the other expired markets are deleted soon after')
    assert.equal(storage.events.count(), 2)
    clock.stall(DAY_MS / 2)
    clock.advance(1_000)
    assert.equal(storage.markets.count(), 1)
    assert.notEqual(engine.view.catalog.find('venue_a_open'), null)
  } finally {
    await engine.stop()
  }
})
