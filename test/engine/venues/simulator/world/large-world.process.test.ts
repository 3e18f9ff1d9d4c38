import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type NativeMarketId, nativeMarketId } from '../../../../../engine/ids.ts'
import { migratedMarket } from '../../../../../engine/position-ids.ts'
import { silentLog } from '../../../../../engine/process/log.ts'
import { seededRandom } from '../../../../../engine/random.ts'
import { Calendar, type PlannedMarket } from '../../../../../engine/venues/simulator/calendar.ts'
import { Faults } from '../../../../../engine/venues/simulator/faults.ts'
import { SIM_VENUES, type SimVenue } from '../../../../../engine/venues/simulator/model.ts'
import { addGammaRoutes } from '../../../../../engine/venues/simulator/polymarket/gamma.ts'
import { RestServer } from '../../../../../engine/venues/simulator/rest.ts'
import { WalletLedgers } from '../../../../../engine/venues/simulator/world/wallet-ledgers.ts'
import { SimulatedWorld } from '../../../../../engine/venues/simulator/world/world.ts'
import { request } from '../../../../support/clients/venue-client.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'
import { NOON } from '../../../../support/worlds/sim-plan.ts'

const SEED = 5
const MARKETS = 20_100
/** 24-hour volumes of recorded rows: Gamma's of November 2025, Kalshi's of August 2026. */
const RECORDED = { a: { tradedShare: 0.87, sigma: 3.2 }, b: { tradedShare: 0.54, sigma: 2.7 } }
const calendar = new Calendar({ seed: SEED, marketsPerVenue: MARKETS })
const outlines = calendar.outlines?.at(NOON) ?? []

function makeWorld(messagesPerSecond = 1) {
  const clock = new ManualClock(NOON)
  let plannedCount = 0
  const world = new SimulatedWorld({
    ...{ seed: SEED, messagesPerSecond, clock },
    plan: {
      eventsAt: () => assert.fail('all events are planned'),
      createdBetween: () => assert.fail('new events are planned'),
      eventNumbered(venue, number) {
        plannedCount += 1
        return calendar.eventNumbered(venue, number)
      },
      teams: () => calendar.teams(),
      outlines: calendar.outlines,
    },
    faults: new Faults([], seededRandom('faults', SEED)),
    random: seededRandom('world', SEED),
  })
  return { clock, world, plannedCount: () => plannedCount }
}

/** The markets of every 200th event of a venue. */
function sample(venue: SimVenue): readonly PlannedMarket[] {
  const some = outlines.filter((each, index) => each.venue === venue && index % 200 === 0)
  assert.ok(some.length > 20)
  return some.flatMap(({ number }) => calendar.eventNumbered(venue, number)?.markets ?? [])
}

test('lists the requested number of markets with status, times and volume without planning the market’s events', () => {
  const { world, plannedCount } = makeWorld()
  for (const venue of SIM_VENUES) {
    const markets = world.markets(venue)
    assert.equal(new Set(markets.map(({ listing }) => listing.index)).size, MARKETS)
    assert.equal(new Set(markets.map(({ listing }) => listing.number)).size, MARKETS)
    assert.ok(markets.filter(({ status }) => status === 'open').length > MARKETS / 4)
    assert.ok(markets.some(({ volume24h }) => volume24h > 0))
  }
  assert.equal(plannedCount(), 0)
})

test('returns the same fields of a listing before and after the event of the listing is planned', () => {
  const { world } = makeWorld()
  for (const venue of SIM_VENUES) {
    const byNumber = new Map(world.markets(venue).map((market) => [market.listing.number, market]))
    for (const { listing: planned } of sample(venue)) {
      const market = byNumber.get(planned.number)
      assert.ok(market !== undefined)
      const { listing, event } = market
      const { index, chanceKey, activity, createdMs, openMs, closeMs, resolveMs } = listing
      assert.deepEqual(
        { index, chanceKey, activity, createdMs, openMs, closeMs, resolveMs },
        {
          ...{ index: planned.index, chanceKey: planned.chanceKey, activity: planned.activity },
          ...{ createdMs: planned.createdMs, openMs: planned.openMs },
          ...{ closeMs: planned.closeMs, resolveMs: planned.resolveMs },
        },
      )
      const { nativeId, tokens, question, rules, payout, pair, isV2 } = listing
      assert.deepEqual(
        { nativeId, tokens, question, rules, payout, pair, isV2 },
        {
          ...{ nativeId: planned.nativeId, tokens: planned.tokens, question: planned.question },
          ...{ rules: planned.rules, payout: planned.payout, pair: planned.pair },
          isV2: planned.isV2,
        },
      )
      const text = calendar.eventNumbered(venue, event.number)?.event
      assert.deepEqual(
        [event.series, event.seriesTitle, event.category, event.tags, event.game, event.topic],
        [text?.series, text?.seriesTitle, text?.category, text?.tags, text?.game, text?.topic],
      )
    }
  }
})

test('finds a market that no earlier request listed by condition id, token or ticker', () => {
  const { world, plannedCount } = makeWorld()
  for (const { listing } of sample('a')) {
    assert.equal(world.market('a', listing.nativeId)?.listing.number, listing.number)
    for (const [index, token] of listing.tokens.entries()) {
      const found = world.marketOfToken(token)
      assert.deepEqual([found?.market.listing.number, found?.outcomeIndex], [listing.number, index])
    }
  }
  const before = plannedCount()
  assert.ok(before < outlines.length / 20, `${before} of ${outlines.length} events`)
  for (const { listing } of sample('b')) {
    const market = world.market('b', listing.nativeId)
    assert.equal(market?.listing.number, listing.number)
    assert.equal(world.event('b', market?.event.nativeId ?? ''), market?.event)
  }
  for (const id of [`0x${'7'.repeat(64)}`, `0x${'7'.repeat(62)}`, '7'.repeat(77), 'x']) {
    assert.equal(world.market('a', id), null)
    assert.equal(world.marketOfToken(id), null)
  }
  for (const id of ['KXNFLGAME-26NOV22XXXYYY-XXX', 'KXNONE-1', '']) {
    assert.equal(world.market('b', id), null)
  }
})

test('finds a migrated market by the tokens of the market that it replaces', () => {
  const { world } = makeWorld()
  const targets = sample('a')
    .filter(({ listing }) => !listing.isV2)
    .map(({ listing }): NativeMarketId => migratedMarket(nativeMarketId(listing.nativeId)))
  const found = targets.filter((id) => world.market('a', id)?.listing.nativeId === id)
  assert.ok(found.length > 5, `${found.length} of ${targets.length}`)
})

test('plans the events of one question at the two venues together, so that their prices remain equal', () => {
  const { world } = makeWorld()
  let compared = 0
  for (const { listing } of sample('a')) {
    if (listing.pair?.kind !== 'same') continue
    const [a, b] = [
      world.market('a', listing.nativeId),
      world.market('b', listing.pair.otherNativeId),
    ]
    if (a === null || b === null) continue
    assert.equal(a.fairPrice(NOON), b.fairPrice(NOON))
    compared += 1
  }
  assert.ok(compared > 10)
})

test('moves markets through all states of their life cycle, and announces new markets', () => {
  const { world, clock } = makeWorld(200)
  const counts = new Map<string, number>()
  world.onChange(({ kind, market }) => {
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
    if (kind === 'created') assert.equal(market.status, 'unopened')
    if (kind === 'levels') assert.ok(market.status === 'open' || market.book.bids.length === 0)
  })
  for (let step = 0; step < 600; step += 1) {
    clock.advance(step < 300 ? 20 : 6_000)
    world.step()
  }
  for (const kind of ['levels', 'trade', 'created', 'opened', 'closed', 'determined', 'resolved']) {
    assert.ok((counts.get(kind) ?? 0) > 0, kind)
  }
  for (const venue of SIM_VENUES) assert.equal(world.markets(venue).length, MARKETS)
})

test('creates an equal book after the memory of an unchanged book was released', () => {
  const { world } = makeWorld()
  const market = sample('a')
    .map(({ listing }) => world.market('a', listing.nativeId))
    .find((each) => each?.status === 'open')
  assert.ok(market !== undefined && market !== null)
  const { bids, asks } = market.book
  const before = market.book
  let others = 0
  for (const venue of SIM_VENUES) {
    for (const other of world.markets(venue))
      if (other !== market && other.book.bestBid !== null) others += 1
  }
  assert.ok(others > 10_000, `${others} books`)
  assert.notEqual(market.book, before)
  assert.deepEqual([market.book.bids, market.book.asks], [bids, asks])
})

test('creates random market activities with the recorded share of untraded markets and a log-normal distribution', () => {
  const { world } = makeWorld()
  for (const venue of SIM_VENUES) {
    const activities = world.markets(venue).map(({ listing }) => listing.activity)
    const logs = activities.filter((each) => each > 0).map(Math.log)
    const mean = logs.reduce((sum, each) => sum + each, 0) / logs.length
    const variance = logs.reduce((sum, each) => sum + (each - mean) ** 2, 0) / logs.length
    const { tradedShare, sigma } = RECORDED[venue]
    assert.ok(Math.abs(logs.length / MARKETS - tradedShare) < 0.02)
    assert.ok(Math.abs(Math.sqrt(variance) - sigma) < 0.1, `sigma ${Math.sqrt(variance)}`)
  }
})

test('creates the texts of at most 500 events for requests of tags, sports and search in the Gamma API', async () => {
  const { world, plannedCount } = makeWorld()
  const server = new RestServer({ faults: new Faults([], seededRandom('faults')), log: silentLog })
  const wallets = new WalletLedgers({ world })
  addGammaRoutes(server, { world, wallets, state: () => null })
  const port = await server.listen('127.0.0.1', 0)
  try {
    const rows: unknown[] = []
    for (const path of ['/tags', '/sports', '/sports/market-types', '/public-search?q=will']) {
      const answer = await request(`http://127.0.0.1:${port}${path}`)
      assert.equal(answer.status, 200)
      rows.push(answer.body)
    }
    assert.ok(Array.isArray(rows[0]) && rows[0].length > 0)
  } finally {
    await server.stop()
  }
  const plannedEvents = world.events('a').filter((event) => 'isPlanned' in event && event.isPlanned)
  assert.ok(plannedEvents.length > 0 && plannedEvents.length <= 1_000, String(plannedEvents.length))
  assert.ok(plannedCount() <= 4_000, String(plannedCount()))
})
