import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  gameDay,
  KEY_ID,
  record,
  records,
  signedHeaders,
} from '../../../../support/clients/kalshi-client.ts'

test('returns bids for Yes and No in ascending order, and only the best bids when the parameter depth is set', async (t) => {
  const { venue, det, cin } = await gameDay(t)
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

test('filters markets by status, and events by the status of any of the event’s markets', async (t) => {
  const { venue, world, det, cin, politics } = await gameDay(t)
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
  const terms = records((await venue.get('/markets')).body.markets).map(({ status }) => status)
  assert.deepEqual(terms, ['active', 'active', 'closed', 'determined', 'initialized', 'finalized'])
})

test('filters markets by ticker, by combination, by settlement time and by update time', async (t) => {
  const { venue, world, det, cin, politics, combo } = await gameDay(t)
  const pres = world.addMarket(politics, 'A')
  const mve = world.addMarket(combo, '1')
  const select = async (query: string) =>
    records((await venue.get(`/markets?${query}`)).body.markets).map(({ ticker }) => ticker)
  const [d, c, p, m] = [det, cin, pres, mve].map(({ listing }) => listing.nativeId)
  world.move(det, 'resolved')
  const soon = Math.floor((world.nowMs() + 86_400_000) / 1000)
  for (const [query, expected] of [
    ['', [d, c, p, m]],
    ['mve_filter=exclude', [d, c, p]],
    ['mve_filter=only', [m]],
    [`tickers=${c},${p}`, [c, p]],
    ['min_settled_ts=1', [d]],
    ['min_settled_ts=1&status=settled', [d]],
    [`min_updated_ts=${soon}&mve_filter=exclude`, [d]],
  ] as const) {
    assert.deepEqual(await select(query), expected, query)
  }
  for (const query of [
    'min_settled_ts=1&status=open',
    'min_updated_ts=1&status=open',
    'min_updated_ts=1&mve_filter=only',
    'mve_filter=yes',
    'min_settled_ts=soon',
  ]) {
    const answer = await venue.get(`/markets?${query}`)
    assert.equal(answer.status, 400, query)
    assert.equal(record(answer.body.error).code, 'bad_request')
  }
  const events = await venue.get('/events')
  const tickers = records(events.body.events).map(({ event_ticker }) => event_ticker)
  assert.deepEqual(tickers, ['KXNFLGAME-26NOV22DETCIN', 'KXPRES-28'], 'combos are left out')
})

test('returns an empty cursor with the last page of a list, even while rows are added and removed', async (t) => {
  const { venue, world, politics } = await gameDay(t)
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
    .trades('b')
    .map(({ id }) => id)
    .reverse()
  const walked = await collect('/markets/trades?limit=7', 'trades', () => world.print(market, {}))
  assert.deepEqual(walked, newestFirst, 'trades that come meanwhile are not in later pages')
  assert.equal((await venue.get('/markets?cursor=%%%')).status, 400)
  assert.equal((await venue.get('/markets?limit=1001')).status, 400)
  assert.equal((await venue.get('/events?limit=201')).status, 400)
  assert.equal((await venue.get('/milestones')).status, 400, 'here the limit is required')
})

test('filters trades by market and by a time range that includes both ends', async (t) => {
  const { venue, world, det, cin, clock } = await gameDay(t)
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

test('lists every event of a game in the game’s milestone, and the game’s teams as structured targets', async (t) => {
  const { venue, world, game } = await gameDay(t)
  const spread = world.addEvent('KXNFLSPREAD-26NOV22DETCIN', { topic: 'sports', game: game.game })
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

test('returns 404 with a code and a message when a ticker or path is unknown', async (t) => {
  const { venue } = await gameDay(t)
  const paths = ['/markets/X', '/events/X', '/series/X', '/markets/X/orderbook', '/nothing']
  for (const path of [...paths, '/events/X/metadata', '/milestones/X']) {
    const answer = await venue.get(path)
    assert.equal(answer.status, 404, path)
    assert.deepEqual(answer.body, { error: { code: 'not_found', message: 'not found' } })
  }
})

test('accepts unsigned requests, and returns 401 when a signature is wrong or covers the query', async (t) => {
  const { venue } = await gameDay(t)
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

test('charges each book of a batch like a separate request, and returns the limits of an account', async (t) => {
  const { venue } = await gameDay(t)
  const base = `http://127.0.0.1:${venue.port}/trade-api/v2`
  const batch = Array.from({ length: 48 }, (_, index) => `tickers=T${index}`).join('&')
  assert.equal((await fetch(`${base}/markets/orderbooks?${batch}`)).status, 200)
  assert.equal((await fetch(`${base}/exchange/status`)).status, 429)
  const limits = signedHeaders({ path: '/trade-api/v2/account/limits' })
  assert.deepEqual((await venue.get('/account/limits', limits)).body.read, {
    refill_rate: 240,
    bucket_capacity: 480,
  })
  assert.equal((await venue.get('/account/limits')).status, 401)
  assert.equal((await venue.get('/account/endpoint_costs')).body.default_cost, 10)
})

test('returns 429 without Retry-After after 48 requests with one API key', async (t) => {
  const { venue, clock } = await gameDay(t)
  const ask = (headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${venue.port}/trade-api/v2/exchange/status`, { headers })
  for (let request = 0; request < 48; request += 1) assert.equal((await ask()).status, 200)
  const refused = await ask()
  assert.equal(refused.status, 429)
  assert.equal(refused.headers.get('retry-after'), null)
  assert.deepEqual(await refused.json(), { error: 'too many requests' })
  const signed = signedHeaders({ path: '/trade-api/v2/exchange/status' })
  assert.equal((await ask(signed)).status, 200)
  clock.advance(50)
  assert.equal((await ask()).status, 200)
})
