// Compares volumes, open interest and last prices of an engine with those of a simulated venue_b.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createEngine, type Engine } from '../../engine/app/engine.ts'
import type { FiguresState } from '../../engine/market/trading-figures.ts'
import { silentLog } from '../../engine/process/log.ts'
import { Metrics } from '../../engine/process/metrics.ts'
import { seededRandom } from '../../engine/random.ts'
import { HOUR_MS, sizeMicros } from '../../engine/units.ts'
import { openKalshi } from '../../engine/venues/kalshi/kalshi.ts'
import { KEY_ID, startStub } from '../support/clients/kalshi-client.ts'
import { ManualClock } from '../support/fakes/manual-clock.ts'
import { quietVenue } from '../support/fakes/quiet-venue.ts'
import { privateKey } from '../support/fakes/rsa-pair.ts'
import { openMemoryStorage } from '../support/reference/memory.ts'
import { StubWorld } from '../support/worlds/kalshi-world.ts'

const SECRET = 'x'.repeat(32)
const SETTINGS = {
  ...{ host: '127.0.0.1', port: 0, venueNames: {}, corsOrigins: [], trustedProxies: [] },
  ...{ isMetricsPublic: false, retentionDays: 30, dataBytesMax: 1e10 },
  ...{ jwtSecret: SECRET, jwtSecretPrevious: null, secretsKey: SECRET },
  webhookPolicy: { allowsHttp: true, allowsPrivate: true },
}
const privateKeyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

type Venue = Awaited<ReturnType<typeof openVenue>>

async function openVenue() {
  const clock = new ManualClock()
  const world = new StubWorld(clock)
  const event = world.addEvent('KXRACE-26')
  const markets = ['WINNER', 'LOSER'].map((suffix) => world.addMarket(event, suffix))
  for (const market of markets) {
    world.setLevels(market, [
      ['bid', 44, 1_000],
      ['ask', 46, 1_000],
    ])
  }
  const server = await startStub({ world, clock })
  /** `cents` is the price of Yes. The venue updates its figures at once. */
  const trade = (index: number, cents: number, contracts: number) => {
    const market = markets[index] ?? assert.fail()
    market.volumeTotalContracts = sizeMicros(market.volumeTotalContracts + contracts * 1e6)
    market.volume24hContracts = sizeMicros(market.volume24hContracts + contracts * 1e6)
    market.openInterest = sizeMicros(market.openInterest + contracts * 1e6)
    world.print(market, { cents, contracts })
  }
  return { clock, world, markets, server, trade }
}

type Storage = ReturnType<typeof openMemoryStorage>

function openEngine({ clock, server }: Venue, storage: Storage, isKeyed: boolean): Engine {
  const at = `127.0.0.1:${server.port}/trade-api`
  const key = isKeyed ? { keyId: KEY_ID, privateKeyPem } : { keyId: null, privateKeyPem: null }
  return createEngine(SETTINGS, {
    ...{ clock, storage, random: seededRandom('figures') },
    ...{ log: silentLog, metrics: new Metrics(), epoch: 'test', version: '0' },
    venues: (parts) => [
      quietVenue('a', clock),
      openKalshi(parts, { restUrl: `http://${at}/v2`, wsUrl: `ws://${at}/ws/v2`, ...key }),
    ],
  })
}

/** Also checks in each step that no total decreased. */
async function until(venue: Venue, engine: Engine, isSo: () => boolean, stepMs = 10) {
  const before = totals(venue, engine)
  for (let ticks = 1; ticks <= 100_000; ticks += 1) {
    const now = totals(venue, engine)
    for (const [index, total] of now.entries()) assert.ok(total >= (before[index] ?? 0))
    before.splice(0, now.length, ...now)
    if (isSo()) return
    await nextTurn()
    if (ticks % 8 === 0) venue.clock.advance(stepMs)
  }
  assert.fail(JSON.stringify([figuresOf(venue, engine), truth(venue)]))
}

function figuresOf({ markets }: Venue, engine: Engine): (FiguresState | undefined)[] {
  const { catalog } = engine.view
  return markets.map(({ listing }) => catalog.find(`venue_b_${listing.nativeId}`)?.figures)
}

const totals = (venue: Venue, engine: Engine) =>
  figuresOf(venue, engine).map((figures) => figures?.volumeTotal ?? 0)

const truth = ({ markets }: Venue) =>
  markets.map((market) => [
    market.volumeTotalContracts,
    market.volume24hContracts,
    market.openInterest,
    market.lastTrade?.price,
  ])

const shown = (venue: Venue, engine: Engine) =>
  figuresOf(venue, engine).map((figures) => [
    figures?.volumeTotal,
    figures?.volume24h,
    figures?.openInterest,
    figures?.lastPrice,
  ])

const isEqual = (venue: Venue, engine: Engine) => () =>
  JSON.stringify(shown(venue, engine)) === JSON.stringify(truth(venue))

/** `onLoaded` runs after the engine loaded its stored data and before it sends requests. */
async function start(venue: Venue, engine: Engine, onLoaded = () => {}): Promise<void> {
  let isStarted = false
  const starting = engine.start().then(() => {
    isStarted = true
  })
  await until(venue, engine, () => totals(venue, engine).every((total) => total > 0))
  onLoaded()
  await until(venue, engine, () => isStarted)
  await starting
}

async function stop(venue: Venue, engine: Engine): Promise<void> {
  let isStopped = false
  const stopping = engine.stop().then(() => {
    isStopped = true
  })
  for (let ticks = 0; !isStopped; ticks += 1) {
    await nextTurn()
    if (ticks % 8 === 0) venue.clock.advance(10)
  }
  await stopping
}

for (const isKeyed of [true, false]) {
  const how = isKeyed ? 'with a key' : 'without a key'
  test(`serves trading figures equal to the venue’s after trades, a price fall, a catalogue crawl and a restart ${how}`, async (t) => {
    const venue = await openVenue()
    t.after(() => venue.server.stop())
    // Both engines use this storage, so the first engine must not close it.
    const storage = { ...openMemoryStorage(), close: async () => undefined }
    venue.trade(0, 50, 10)
    venue.trade(1, 50, 10)
    const first = openEngine(venue, storage, isKeyed)
    await start(venue, first)
    await until(venue, first, isEqual(venue, first))

    venue.trade(0, 60, 200)
    venue.trade(1, 40, 300)
    await until(venue, first, isEqual(venue, first))
    venue.trade(1, 1, 4_000)
    venue.trade(0, 99, 2_000)
    await until(venue, first, isEqual(venue, first))
    const [winner] = figuresOf(venue, first)
    assert.ok((winner?.figuresAtMs ?? 0) > venue.clock.nowMs() - 60_000)

    const crawledAtMs = venue.clock.nowMs()
    venue.markets[0]?.trades.splice(0, 1)
    await until(venue, first, () => venue.clock.nowMs() > crawledAtMs + 1.1 * HOUR_MS, 5_000)
    assert.ok(isEqual(venue, first)(), 'after a crawl')
    assert.ok((figuresOf(venue, first)[0]?.figuresAtMs ?? 0) > crawledAtMs, 'read again')

    venue.trade(0, 98, 5)
    await until(venue, first, isEqual(venue, first))
    const before = shown(venue, first)
    await stop(venue, first)
    venue.trade(1, 2, 70)
    venue.trade(0, 97, 30)
    const second = openEngine(venue, storage, isKeyed)
    await start(venue, second, () => {
      assert.deepEqual(shown(venue, second), before, 'before anything is read')
    })
    await until(venue, second, isEqual(venue, second))
    await stop(venue, second)
  })
}
