import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gameDay, record, records } from '../../../../support/clients/kalshi-client.ts'
import { cents } from '../../../../support/worlds/kalshi-world.ts'

/** Fields of older recordings that the venue no longer sends. */
const GONE = ['liquidity_dollars', 'available_on_brokers', 'response_price_units']
const FIXTURES = join(process.env.SHARED_DATA ?? '../shared/data', 'fixtures')

test('returns markets in lists and single markets with every recorded field and JSON type', async (t) => {
  const { venue, det } = await gameDay(t)
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
  assertShape(market, record(record(recorded.single).market), GONE)
})

test('returns a settled market with every field that was recorded for settled markets', async (t) => {
  const { venue, world, det } = await gameDay(t)
  world.move(det, 'resolved')
  const market = record((await venue.get(`/markets/${det.listing.nativeId}`)).body.market)
  assert.deepEqual(
    [market.status, market.result, market.settlement_value_dollars],
    ['finalized', 'yes', '1.0000'],
  )
  const recorded = record(fixture(t, 'kalshi/markets_settled.json'))
  if (Object.keys(recorded).length === 0) return
  assertShape(market, record(records(recorded.markets)[0]), GONE)
})

test('returns series, trades, milestones, tags and books with the recorded fields and JSON types', async (t) => {
  const { venue, world, det } = await gameDay(t)
  world.print(det, { contracts: 2.5 })
  const golden = (name: string) =>
    record(record(fixture(t, `kalshi-golden/${name}_response.json`)).response)
  const events = records((await venue.get('/events?with_nested_markets=true')).body.events)
  const nfl = record(fixture(t, 'kalshi/events_nfl_preseason.json'))
  if (Object.keys(nfl).length === 0) return
  assertShape(record(events[0]), record(records(nfl.events)[0]), GONE)
  assertShape(record(events[0]?.product_metadata), record(records(nfl.events)[0]?.product_metadata))
  assertShape(record(events[1]), record(records(golden('events_list').events)[0]), GONE)
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
  const game = { competition: 'Pro Football', competition_scope: 'Game' }
  assert.deepEqual(record(events[0]?.product_metadata), game)
  const book = record(record(fixture(t, 'kalshi/market_single.json')).orderbook)
  assertShape((await venue.get(`/markets/${det.listing.nativeId}/orderbook`)).body, book)
})

test('returns dollar amounts with at least four decimals, and counts with two decimals', async (t) => {
  const { venue, world, det } = await gameDay(t)
  det.tickMicros = cents(0.01)
  world.setLevels(det, [['bid', 44.05, 0.25]])
  const market = record((await venue.get(`/markets/${det.listing.nativeId}`)).body.market)
  assert.deepEqual([market.yes_bid_dollars, market.yes_bid_size_fp], ['0.4405', '0.25'])
  assert.deepEqual(market.price_ranges, [{ start: '0.0000', end: '1.0000', step: '0.0001' }])
})

/** Returns null and skips the test if the file is missing. */
function fixture(t: TestContext, name: string): unknown {
  const path = join(FIXTURES, name)
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8'))
  t.diagnostic(`${path} is missing`)
  t.skip('the recorded fixtures are not here (SHARED_DATA)')
  return null
}

const kindOf = (value: unknown): string =>
  Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value

/** Each recorded field must exist with the same JSON type, except for the fields in `absent`. */
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

/** The venue no longer sends cents or counts as JSON integers. */
function assertNoCents(text: string): void {
  assert.doesNotMatch(
    text,
    /"(yes_bid|yes_ask|no_bid|no_ask|last_price|volume|open_interest|count|yes_price)":/,
  )
}
