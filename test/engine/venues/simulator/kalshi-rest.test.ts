// The REST side of the simulated venue b over real HTTP: shapes against recorded answers, filters,
// cursors, errors and limits.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { timeMs } from '../../../../engine/units.ts'
import type { SimGame } from '../../../../engine/venues/simulator/model.ts'
import {
  cents,
  KEY_ID,
  record,
  records,
  ScriptedFaults,
  StubWorld,
  signedHeaders,
  startStub,
} from '../../../support/kalshi-stub.ts'
import { ManualClock } from '../../../support/manual-clock.ts'

const FIXTURES = join(process.env.SHARED_DATA ?? '../shared/data', 'fixtures')

const TEAM = { name: 'Detroit Lions', place: 'Detroit', nickname: 'Lions', polymarketCode: 'det' }
const GAME: SimGame = {
  sport: 'nfl',
  league: 'nfl',
  startMs: timeMs(Date.UTC(2026, 10, 22, 18)),
  date: '2026-11-22',
  away: { ...TEAM, kalshiCode: 'DET' },
  home: { ...TEAM, name: 'Cincinnati Bengals', place: 'Cincinnati', kalshiCode: 'CIN' },
}

async function setUp(t: TestContext, faults?: ScriptedFaults) {
  const clock = new ManualClock()
  const world = new StubWorld(clock)
  const venue = await startStub({ world, clock, ...(faults === undefined ? {} : { faults }) })
  t.after(() => venue.stop())
  const game = world.addEvent('KXNFLGAME-26NOV22DETCIN', {
    topic: 'sports',
    category: 'Sports',
    tags: ['Football'],
    game: GAME,
  })
  const strike = { type: 'structured' as const, floor: null, cap: null }
  const det = world.addMarket(game, 'DET', { strike, sportsMarketType: 'moneyline' })
  const cin = world.addMarket(game, 'CIN', { strike, sportsMarketType: 'moneyline' })
  world.setLevels(det, [
    ['bid', 44, 10],
    ['bid', 43, 7.25],
    ['ask', 46, 3],
  ])
  const politics = world.addEvent('KXPRES-28')
  const combo = world.addEvent('KXMVENFL-S1')
  return { clock, world, venue, game, det, cin, politics, combo }
}

/** A recorded answer, or null (and the test is marked skipped) when the data is not here. */
function fixture(t: TestContext, name: string): unknown {
  const path = join(FIXTURES, name)
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8'))
  t.diagnostic(`${path} is missing`)
  t.skip('the recorded fixtures are not here (SHARED_DATA)')
  return null
}

const kindOf = (value: unknown): string =>
  Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value

/** Every field of the recorded object is there with the same JSON type, but for `absent` ones. */
function assertShape(
  ours: Record<string, unknown>,
  recorded: Record<string, unknown>,
  absent: readonly string[] = [],
): void {
  for (const [name, value] of Object.entries(recorded)) {
    if (absent.includes(name)) continue
    assert.equal(kindOf(ours[name]), kindOf(value), `the type of ${name}`)
  }
}

/** No integer cents and no counts as numbers: those fields were removed in March 2026. */
function assertNoCents(text: string): void {
  assert.doesNotMatch(
    text,
    /"(yes_bid|yes_ask|no_bid|no_ask|last_price|volume|open_interest|count|yes_price)":/,
  )
}

test('[SIMK5] a market has every recorded field with its JSON type, listed and alone', async (t) => {
  const { venue, det } = await setUp(t)
  const single = await venue.get(`/markets/${det.listing.nativeId}`)
  const listed = records((await venue.get('/markets')).body.markets)[0]
  const nestedAnswer = await venue.get('/events?with_nested_markets=true')
  const nested = records(records(nestedAnswer.body.events)[0]?.markets)[0]
  const market = record(single.body.market)
  assert.deepEqual(listed, market)
  assert.deepEqual(nested, market)
  assertNoCents(single.text)
  assert.deepEqual(
    [market.yes_bid_dollars, market.yes_ask_dollars, market.no_bid_dollars, market.no_ask_dollars],
    ['0.4400', '0.4600', '0.5400', '0.5600'],
  )
  assert.deepEqual([market.yes_bid_size_fp, market.volume_fp], ['10.00', '12345.50'])
  assert.match(String(record(market.custom_strike).football_team), /^[0-9a-f-]{36}$/)
  const recorded = record(fixture(t, 'kalshi/market_single.json'))
  if (Object.keys(recorded).length === 0) return
  assertShape(market, record(record(recorded.single).market))
})

test('[SIMK5] a settled market has every recorded field of settled ones', async (t) => {
  const { venue, world, det } = await setUp(t)
  world.move(det, 'resolved')
  const market = record((await venue.get(`/markets/${det.listing.nativeId}`)).body.market)
  assert.deepEqual(
    [market.status, market.result, market.settlement_value_dollars],
    ['finalized', 'yes', '1.0000'],
  )
  const recorded = record(fixture(t, 'kalshi/markets_settled.json'))
  if (Object.keys(recorded).length === 0) return
  assertShape(market, record(records(recorded.markets)[0]))
})

test('[SIMK5] events, series, trades, books, milestones and the rest have the recorded shapes', async (t) => {
  const { venue, world, det } = await setUp(t)
  world.print(det, { contracts: 2.5 })
  const golden = (name: string) =>
    record(record(fixture(t, `kalshi-golden/${name}_response.json`)).response)
  const events = records((await venue.get('/events?with_nested_markets=true')).body.events)
  const nfl = record(fixture(t, 'kalshi/events_nfl_preseason.json'))
  if (Object.keys(nfl).length === 0) return
  assertShape(record(events[0]), record(records(nfl.events)[0]))
  assertShape(record(events[0]?.product_metadata), record(records(nfl.events)[0]?.product_metadata))
  assertShape(record(events[1]), record(records(golden('events_list').events)[0]))
  const one = await venue.get('/events/KXPRES-28')
  assertShape(one.body, golden('event_single'))
  const metadata = await venue.get('/events/KXNFLGAME-26NOV22DETCIN/metadata')
  assertShape(metadata.body, golden('event_metadata'))
  assertShape(
    record(records(metadata.body.market_details)[0]),
    record(records(golden('event_metadata').market_details)[0]),
  )
  const series = record((await venue.get('/series/KXNFLGAME')).body.series)
  assertShape(series, record(golden('series_single').series))
  assert.deepEqual(series.categories, ['Sports'])
  const trade = records((await venue.get('/markets/trades')).body.trades)[0]
  const removed = ['count', 'no_price', 'yes_price', 'price']
  assertShape(record(trade), record(records(golden('trades_list').trades)[0]), removed)
  const milestone = records((await venue.get('/milestones?limit=5')).body.milestones)[0]
  assertShape(record(milestone), record(records(golden('milestones_list').milestones)[0]))
  assertShape((await venue.get('/exchange/status')).body, golden('exchange_status'))
  const tags = await venue.get('/search/tags_by_categories')
  assert.deepEqual(record(tags.body.tags_by_categories).Sports, ['Football'])
  const book = record(record(fixture(t, 'kalshi/market_single.json')).orderbook)
  assertShape((await venue.get(`/markets/${det.listing.nativeId}/orderbook`)).body, book)
})

test('[SIMK6] books are ascending bids of both legs; depth keeps the best', async (t) => {
  const { venue, det, cin } = await setUp(t)
  const path = `/markets/${det.listing.nativeId}/orderbook`
  assert.deepEqual((await venue.get(path)).body.orderbook_fp, {
    yes_dollars: [
      ['0.4300', '7.25'],
      ['0.4400', '10.00'],
    ],
    no_dollars: [['0.5400', '3.00']],
  })
  const best = record((await venue.get(`${path}?depth=1`)).body.orderbook_fp)
  assert.deepEqual(best.yes_dollars, [['0.4400', '10.00']])
  assert.equal((await venue.get(`${path}?depth=101`)).status, 400)
  const both = `tickers=${det.listing.nativeId}&tickers=${cin.listing.nativeId}`
  const books = records((await venue.get(`/markets/orderbooks?${both}`)).body.orderbooks)
  assert.deepEqual(
    books.map(({ ticker }) => ticker),
    [det.listing.nativeId, cin.listing.nativeId],
  )
  assert.deepEqual(books[1]?.orderbook_fp, { yes_dollars: [], no_dollars: [] })
  const comma = `tickers=${det.listing.nativeId},${cin.listing.nativeId}`
  const none = await venue.get(`/markets/orderbooks?${comma}`)
  assert.deepEqual(none.body.orderbooks, [], 'this list is repeated, not comma-separated')
  assert.equal((await venue.get('/markets/orderbooks')).status, 400)
})

test('[SIMK14] status words of queries select their statuses, events by any child', async (t) => {
  const { venue, world, det, cin, politics } = await setUp(t)
  const closed = world.addMarket(politics, 'C')
  const determined = world.addMarket(politics, 'D')
  const unopened = world.addMarket(politics, 'U')
  const settled = world.addMarket(politics, 'S')
  closed.status = 'closed'
  determined.status = 'determined'
  unopened.status = 'unopened'
  settled.status = 'resolved'
  const select = async (path: string, name: string) =>
    records((await venue.get(path)).body[name]).map((row) => row.ticker ?? row.event_ticker)
  const ids = (...markets: readonly { listing: { nativeId: string } }[]) =>
    markets.map(({ listing }) => listing.nativeId)
  assert.deepEqual(await select('/markets?status=open', 'markets'), ids(det, cin))
  assert.deepEqual(await select('/markets?status=closed', 'markets'), ids(closed, determined))
  assert.deepEqual(await select('/markets?status=unopened', 'markets'), ids(unopened))
  assert.deepEqual(await select('/markets?status=settled', 'markets'), ids(settled))
  assert.deepEqual(await select('/markets?status=paused', 'markets'), [])
  assert.equal((await venue.get('/markets?status=active')).status, 400)
  assert.deepEqual(await select('/events?status=open', 'events'), ['KXNFLGAME-26NOV22DETCIN'])
  assert.deepEqual(await select('/events?status=settled', 'events'), ['KXPRES-28'])
  const words = records((await venue.get('/markets')).body.markets).map(({ status }) => status)
  assert.deepEqual(words, ['active', 'active', 'closed', 'determined', 'initialized', 'finalized'])
})

test('[SIMK15] filters select by event, series, tickers, combos and times', async (t) => {
  const { venue, world, det, cin, politics, combo } = await setUp(t)
  const pres = world.addMarket(politics, 'A', { createdMs: timeMs(Date.UTC(2026, 0, 1)) })
  const mve = world.addMarket(combo, '1')
  const select = async (query: string) =>
    records((await venue.get(`/markets?${query}`)).body.markets).map(({ ticker }) => ticker)
  const [d, c, p, m] = [det, cin, pres, mve].map(({ listing }) => listing.nativeId)
  assert.deepEqual(await select(''), [d, c, p, m])
  assert.deepEqual(await select('mve_filter=exclude'), [d, c, p])
  assert.deepEqual(await select('mve_filter=only'), [m])
  assert.deepEqual(await select('event_ticker=KXPRES-28'), [p])
  assert.deepEqual(await select('series_ticker=KXNFLGAME'), [d, c])
  assert.deepEqual(await select(`tickers=${c},${p}`), [c, p])
  const january = Date.UTC(2026, 0, 2) / 1000
  assert.deepEqual(await select(`max_created_ts=${january}`), [p])
  assert.deepEqual(await select(`min_created_ts=${january}&status=open`), [d, c, m])
  assert.deepEqual(await select('min_settled_ts=1'), [])
  world.move(det, 'resolved')
  assert.deepEqual(await select('min_settled_ts=1&status=settled'), [d])
  const soon = Math.floor((world.nowMs() + 86_400_000) / 1000)
  assert.deepEqual(await select(`min_updated_ts=${soon}&mve_filter=exclude`), [d])
  for (const query of [
    'min_created_ts=1&status=closed',
    'min_close_ts=1&status=open',
    'min_settled_ts=1&status=open',
    'min_close_ts=1&min_created_ts=1',
    'min_updated_ts=1&status=open',
    'min_updated_ts=1&mve_filter=only',
    'mve_filter=yes',
    'min_close_ts=soon',
  ]) {
    const answer = await venue.get(`/markets?${query}`)
    assert.equal(answer.status, 400, query)
    assert.equal(record(answer.body.error).code, 'bad_request')
  }
  const events = await venue.get('/events')
  const tickers = records(events.body.events).map(({ event_ticker }) => event_ticker)
  assert.deepEqual(tickers, ['KXNFLGAME-26NOV22DETCIN', 'KXPRES-28'], 'combos are left out')
})

test('[SIMK3] pages follow the cursor to an empty one, also while rows come and go', async (t) => {
  const { venue, world, politics } = await setUp(t)
  for (let index = 0; index < 25; index += 1) world.addMarket(politics, `M${index}`)
  const collect = async (path: string, name: string, change?: () => void) => {
    const rows: unknown[] = []
    let cursor = ''
    for (let page = 0; page < 50; page += 1) {
      const answer = await venue.get(`${path}${cursor === '' ? '' : `&cursor=${cursor}`}`)
      assert.equal(answer.status, 200)
      rows.push(...records(answer.body[name]).map((row) => row.trade_id ?? row.ticker))
      assert.equal(typeof answer.body.cursor, 'string')
      cursor = String(answer.body.cursor)
      if (cursor === '') return rows
      change?.()
    }
    throw new Error('the pages have no end')
  }
  const all = world.markets('b').map(({ listing }) => listing.nativeId)
  assert.deepEqual(await collect('/markets?limit=4', 'markets'), all)
  assert.deepEqual(await collect('/markets?limit=27', 'markets'), all)
  const market = world.market('b', 'KXPRES-28-M3')
  assert.ok(market !== null)
  for (let index = 0; index < 30; index += 1) world.print(market, {})
  const newestFirst = world
    .trades()
    .map(({ id }) => id)
    .reverse()
  const walked = await collect('/markets/trades?limit=7', 'trades', () => world.print(market, {}))
  assert.deepEqual(walked, newestFirst, 'trades that come meanwhile are not in later pages')
  assert.equal((await venue.get('/markets?cursor=%%%')).status, 400)
  assert.equal((await venue.get('/markets?limit=1001')).status, 400)
  assert.equal((await venue.get('/events?limit=201')).status, 400)
  assert.equal((await venue.get('/milestones')).status, 400, 'here the limit is required')
})

test('[SIMK15] trades are filtered by market and by time, both ends included', async (t) => {
  const { venue, world, det, cin, clock } = await setUp(t)
  const first = world.print(det, { side: 'sell', cents: 44 })
  clock.advance(10_000)
  const second = world.print(cin, { outcomeIndex: 1, cents: 30 })
  clock.advance(10_000)
  const third = world.print(det, {})
  const select = async (query: string) =>
    records((await venue.get(`/markets/trades?${query}`)).body.trades).map((row) => row.trade_id)
  const seconds = (atMs: number) => Math.floor(atMs / 1000)
  assert.deepEqual(await select(`ticker=${det.listing.nativeId}`), [third.id, first.id])
  assert.deepEqual(await select('ticker=KXNONE'), [])
  assert.deepEqual(await select(`min_ts=${seconds(second.atMs)}`), [third.id, second.id])
  assert.deepEqual(await select(`max_ts=${seconds(second.atMs)}`), [second.id, first.id])
  assert.deepEqual(await select('is_block_trade=true'), [])
  const rows = records((await venue.get('/markets/trades')).body.trades)
  assert.deepEqual(
    rows.map((row) => [row.yes_price_dollars, row.taker_outcome_side, row.taker_book_side]),
    [
      ['0.5000', 'yes', 'bid'],
      ['0.7000', 'no', 'ask'],
      ['0.4400', 'no', 'ask'],
    ],
  )
})

test('[SIMK18] a milestone names every event of its game; teams are structured targets', async (t) => {
  const { venue, world } = await setUp(t)
  const spread = world.addEvent('KXNFLSPREAD-26NOV22DETCIN', { topic: 'sports', game: GAME })
  world.addMarket(spread, 'DET7', { sportsMarketType: 'spreads' })
  const list = records((await venue.get('/milestones?limit=10')).body.milestones)
  assert.equal(list.length, 1)
  const milestone = record(list[0])
  assert.equal(milestone.type, 'football_game')
  assert.deepEqual(milestone.primary_event_tickers, ['KXNFLGAME-26NOV22DETCIN'])
  assert.deepEqual(milestone.related_event_tickers, [
    'KXNFLGAME-26NOV22DETCIN',
    'KXNFLSPREAD-26NOV22DETCIN',
  ])
  const one = await venue.get(`/milestones/${milestone.id}`)
  assert.deepEqual(one.body.milestone, milestone)
  assert.deepEqual((await venue.get('/milestones?limit=5&category=Crypto')).body.milestones, [])
  const home = record(milestone.details).home_team_id
  const targets = records(
    (await venue.get(`/structured_targets?ids=${home}`)).body.structured_targets,
  )
  assert.deepEqual(
    targets.map(({ name, type }) => [name, type]),
    [['Cincinnati Bengals', 'football_team']],
  )
  const nested = await venue.get('/events?with_milestones=true')
  assert.equal(records(nested.body.milestones).length, 1)
})

test('[SIMK20] unknown tickers and paths are 404, errors have a code and a message', async (t) => {
  const { venue } = await setUp(t)
  const paths = ['/markets/X', '/events/X', '/series/X', '/markets/X/orderbook', '/nothing']
  for (const path of [...paths, '/events/X/metadata', '/milestones/X', '/structured_targets/X']) {
    const answer = await venue.get(path)
    assert.equal(answer.status, 404, path)
    assert.deepEqual(answer.body, { error: { code: 'not_found', message: 'not found' } })
  }
})

test('[SIMK2] headers are not needed, but wrong ones are a 401; the query is not signed', async (t) => {
  const { venue } = await setUp(t)
  const path = '/trade-api/v2/markets'
  assert.equal((await venue.get('/markets')).status, 200)
  assert.equal((await venue.get('/markets?limit=3', signedHeaders({ path }))).status, 200)
  const wrong = [
    signedHeaders({ path: '/markets' }),
    signedHeaders({ path: `${path}?limit=3` }),
    signedHeaders({ path, method: 'POST' }),
    signedHeaders({ path, keyId: 'nobody' }),
    { 'KALSHI-ACCESS-KEY': KEY_ID },
  ]
  for (const headers of wrong) {
    assert.equal((await venue.get('/markets?limit=3', headers)).status, 401)
  }
})

test('[SIMK22] forty requests at once, then 429 without Retry-After; keys have their own bucket', async (t) => {
  const { venue, clock } = await setUp(t)
  const ask = (headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${venue.port}/trade-api/v2/exchange/status`, { headers })
  for (let request = 0; request < 40; request += 1) assert.equal((await ask()).status, 200)
  const refused = await ask()
  assert.equal(refused.status, 429)
  assert.equal(refused.headers.get('retry-after'), null)
  assert.deepEqual(await refused.json(), { error: 'too many requests' })
  const signed = signedHeaders({ path: '/trade-api/v2/exchange/status' })
  assert.equal((await ask(signed)).status, 200)
  clock.advance(50)
  assert.equal((await ask()).status, 200)
})

test('[SIMK21] the REST faults answer 429 with and without Retry-After, and HTML', async (t) => {
  for (const [fault, status, retryAfter] of [
    ['rate_limit', 429, null],
    ['rate_limit_retry_after', 429, '1'],
    ['html', 502, null],
  ] as const) {
    const faults = new ScriptedFaults(fault)
    const { venue } = await setUp(t, faults)
    faults.isOn = true
    const answer = await venue.get('/markets')
    assert.deepEqual([answer.status, answer.headers.get('retry-after')], [status, retryAfter])
    if (fault === 'html') assert.match(answer.headers.get('content-type') ?? '', /html/)
  }
})

test('[SIMK4] dollars have four decimals or more, counts two', async (t) => {
  const { venue, world, det } = await setUp(t)
  det.tickMicros = cents(0.01)
  world.setLevels(det, [['bid', 44.05, 0.25]])
  const market = record((await venue.get(`/markets/${det.listing.nativeId}`)).body.market)
  assert.deepEqual([market.yes_bid_dollars, market.yes_bid_size_fp], ['0.4405', '0.25'])
  assert.deepEqual(market.price_ranges, [{ start: '0.0000', end: '1.0000', step: '0.0001' }])
})

test('[SIMK5] the pages about the exchange answer', async (t) => {
  const { venue } = await setUp(t)
  const schedule = record((await venue.get('/exchange/schedule')).body.schedule)
  assert.equal(records(records(schedule.standard_hours)[0]?.thursday).length, 2)
  const cutoff = (await venue.get('/historical/cutoff')).body
  assert.ok(Date.parse(String(cutoff.market_settled_ts)) > 0)
  const costs = (await venue.get('/account/endpoint_costs')).body
  assert.deepEqual(costs, { default_cost: 10, endpoint_costs: [] })
  assert.equal((await venue.get('/events/multivariate')).body.cursor, '')
  const series = records((await venue.get('/series?include_volume=true')).body.series)
  assert.deepEqual(
    series.map(({ ticker }) => ticker),
    ['KXNFLGAME', 'KXPRES', 'KXMVENFL'],
  )
  assert.equal(series[0]?.volume_fp, '24691.00')
  const sports = records((await venue.get('/series?category=Sports')).body.series)
  assert.equal(sports.length, 1)
})
