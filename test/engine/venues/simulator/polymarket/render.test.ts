import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { PRICE_HALF, timeMs } from '../../../../../engine/units.ts'
import type { SimGame } from '../../../../../engine/venues/simulator/model.ts'
import {
  clobMarket,
  gammaEvent,
  gammaMarket,
} from '../../../../../engine/venues/simulator/polymarket/render.ts'
import { record, records } from '../../../../support/clients/venue-client.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'
import { BEARS, LIONS, marketAt, price, StubWorld } from '../../../../support/worlds/stub-world.ts'

const FIXTURES = `${process.env.SHARED_DATA ?? '../shared/data'}/fixtures/polymarket`

function fixture(t: TestContext, name: string): unknown {
  const path = `${FIXTURES}/${name}`
  if (!existsSync(path)) {
    t.diagnostic(`recorded fixture ${path} is absent`)
    t.skip(`recorded fixture ${path} is absent`)
    return null
  }
  return JSON.parse(readFileSync(path, 'utf8'))
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}

/** Keys of the recorded object that ours lacks or that have a different JSON type. */
function differences(
  ours: Readonly<Record<string, unknown>>,
  recorded: Readonly<Record<string, unknown>>,
): readonly string[] {
  return Object.entries(recorded)
    .filter(([key, value]) => !(key in ours) || kindOf(ours[key]) !== kindOf(value))
    .map(([key, value]) => `${key}: ${kindOf(value)} recorded, ours ${kindOf(ours[key])}`)
}

function tradedWorld() {
  const clock = new ManualClock()
  const world = new StubWorld(clock)
  world.addEvent(2)
  world.trade(marketAt(world, 0))
  return { world, nowMs: clock.nowMs(), market: marketAt(world, 0) }
}

test('returns a market of the Gamma API with every recorded key and JSON type', (t) => {
  const recorded = fixture(t, 'gamma_market.json')
  if (recorded === null) return
  const { market, nowMs } = tradedWorld()
  const ours = gammaMarket(market, { nowMs, hasEvent: true, hasTags: false })
  assert.deepEqual(differences(ours, record(recorded)), [])
  const [ourEvent] = records(ours.events)
  const [theirEvent] = records(record(recorded).events)
  assert.ok(ourEvent !== undefined && theirEvent !== undefined)
  assert.deepEqual(differences(ourEvent, theirEvent), [])
  const [ourSeries] = records(ourEvent.series)
  const [theirSeries] = records(theirEvent.series)
  assert.deepEqual(differences(ourSeries ?? {}, theirSeries ?? {}), [])
})

test('returns an event of the Gamma API with every recorded key and JSON type', (t) => {
  const recorded = fixture(t, 'gamma_event.json')
  if (recorded === null) return
  const [theirs] = records(recorded)
  assert.ok(theirs !== undefined)
  const clock = new ManualClock()
  const world = new StubWorld(clock)
  const ours = gammaEvent(world.addEvent(3, { isMutuallyExclusive: true }), clock.nowMs())
  // The venue's web pages use these fields. The simulator does not send them.
  const without = ['sortBy', 'deployingTimestamp', 'gmpChartMode', 'electionType', 'countryName']
  const found = differences(ours, theirs).filter(
    (each) => !without.includes(each.split(':')[0] ?? ''),
  )
  assert.deepEqual(found, [])
})

test('returns lists and volumes as text, and omits the price of an empty book side', () => {
  const { world, market, nowMs } = tradedWorld()
  const parts = { nowMs, hasEvent: false, hasTags: true }
  const row = gammaMarket(market, parts)
  assert.equal(row.outcomes, '["Yes", "No"]')
  assert.equal(row.outcomePrices, '["0.41", "0.59"]')
  assert.equal(row.clobTokenIds, `["${market.listing.tokens[0]}", "${market.listing.tokens[1]}"]`)
  assert.equal(typeof row.volume, 'string')
  assert.equal(typeof row.liquidity, 'string')
  assert.deepEqual([row.bestBid, row.bestAsk, row.spread], [0.4, 0.42, 0.02])
  const event = gammaEvent(market.event, nowMs)
  assert.deepEqual([typeof event.volume, typeof event.liquidity], ['number', 'number'])
  assert.equal(records(row.tags)[1]?.id, '235')
  world.setLevels(market, ['bid', 0.4, 0], ['bid', 0.39, 0])
  const oneSided = gammaMarket(market, parts)
  assert.equal('bestBid' in oneSided, false)
  assert.equal(oneSided.bestAsk, 0.42)
  assert.equal('lastTradePrice' in gammaMarket(marketAt(world, 1), parts), false)
})

test('includes disputes in some open markets, half of the disputes in no field but the list of resolution steps', () => {
  const clock = new ManualClock()
  const world = new StubWorld(clock)
  world.addEvent(200)
  const nowMs = clock.nowMs()
  const terms = (halfHour: number) =>
    world.markets('a').flatMap((market) => {
      const at = timeMs(nowMs + halfHour * 1_800_000)
      const row = gammaMarket(market, { nowMs: at, hasEvent: false, hasTags: false })
      assert.deepEqual([row.closed, row.acceptingOrders], [false, true])
      if (row.umaResolutionStatuses === '[]') return []
      return [`${row.umaResolutionStatus ?? 'list'} ${row.umaResolutionStatuses}`]
    })
  const seen = new Set([...terms(0), ...terms(1)])
  assert.ok(terms(0).length < 40)
  for (const [term, steps] of [
    ['proposed', '["proposed"]'],
    ['disputed', '["proposed", "disputed"]'],
  ] as const) {
    assert.ok(seen.has(`${term} ${steps}`) && seen.has(`list ${steps}`), term)
  }
})

test('returns a planned end five days before the close for some events', () => {
  const world = new StubWorld(new ManualClock())
  for (let count = 0; count < 40; count += 1) world.addEvent(1, { topic: 'politics' })
  const daysLate = world.markets('a').map((market) => {
    const [nowMs, { closeMs }] = [world.nowMs(), market.listing]
    const row = gammaMarket(market, { nowMs, hasEvent: false, hasTags: false })
    const parent = gammaEvent(market.event, nowMs)
    assert.equal(row.endDate, parent.endDate)
    return (closeMs - Date.parse(String(row.endDate))) / 86_400_000
  })
  assert.deepEqual([...new Set(daysLate)].sort(), [0, 5])
})

test('returns the teams and ids of a game, with ids as text in markets and as numbers in events', () => {
  const clock = new ManualClock()
  const world = new StubWorld(clock)
  const game: SimGame = {
    sport: 'nfl',
    league: 'nfl',
    startMs: timeMs(clock.nowMs() + 3_600_000),
    date: '2026-11-20',
    away: BEARS,
    home: LIONS,
  }
  const event = world.addEvent(
    1,
    { game, topic: 'sports' },
    { sportsMarketType: 'spreads', line: -3.5 },
  )
  const row = gammaMarket(marketAt(world, 0), {
    nowMs: clock.nowMs(),
    hasEvent: false,
    hasTags: false,
  })
  const shown = gammaEvent(event, clock.nowMs())
  assert.deepEqual([row.sportsMarketType, row.line, row.secondsDelay], ['spreads', -3.5, 3])
  assert.equal(row.gameStartTime, '2026-11-20 13:00:00+00')
  assert.equal(row.gameId, String(shown.gameId))
  assert.deepEqual([shown.live, shown.ended, shown.eventDate], [false, false, '2026-11-20'])
  assert.deepEqual(
    records(shown.teams).map((team) => [team.abbreviation, team.alias]),
    [
      ['chi', 'Bears'],
      ['det', 'Lions'],
    ],
  )
  assert.equal(gammaEvent(event, timeMs(game.startMs + 1)).live, true)
})

test('returns a market of the CLOB API with the recorded keys, and marks the winning outcome after the resolution', (t) => {
  const { market } = tradedWorld()
  assert.deepEqual(winners(clobMarket(market)), [false, false])
  market.status = 'resolved'
  assert.deepEqual(winners(clobMarket(market)), [true, false])
  const half = { ...viewOf(market), listing: { ...market.listing, payout: PRICE_HALF } }
  assert.deepEqual(winners(clobMarket(half)), [false, false])
  assert.equal(clobMarket(half).is_50_50_outcome, true)
  const recorded = fixture(t, 'clob_market_closed_binary_accepting_false.json')
  if (recorded === null) return
  const found = differences(clobMarket(market), record(recorded))
  assert.deepEqual(
    found.filter((each) => !each.startsWith('rewards')),
    [],
  )
})

const winners = (row: Record<string, unknown>) => records(row.tokens).map((token) => token.winner)

// A test can replace the listing of a plain object.
function viewOf(market: ReturnType<typeof marketAt>) {
  return { ...market, fairPrice: () => price(0.4) }
}
