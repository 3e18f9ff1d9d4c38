import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Value } from '@sinclair/typebox/value'
import { DAY_MS, sizeMicros, timeMs } from '../../../engine/units.ts'
import { OpportunitySchema, PastOpportunitySchema } from '../../../http/records/opportunities.ts'
import type { FakeMarket } from '../../support/fakes/engine.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { type ApiServer, openApiServer } from '../../support/rigs/api-server.ts'
import { NOON } from '../../support/worlds/builders.ts'
import { opportunity, pastOpportunity } from '../../support/worlds/opportunities.ts'

let server: ApiServer
let a: FakeMarket
let b: FakeMarket
before(async () => {
  server = await openApiServer({ clock: new ManualClock(NOON) })
  a = server.engine.add('a')
  b = server.engine.add('b', { venue: 'b' })
  const { arbitrage } = server.engine
  arbitrage.open = [1, 2, 3].map((number) =>
    opportunity([a.ref, b.ref], { id: `k3f9c2-${number}` }),
  )
  for (const afterMs of [600, 700, 700]) arbitrage.table.put(pastOpportunity(afterMs))
})
after(() => server.stop())

const post = (body: unknown) =>
  server.get('/v1/arbitrage/quote', {
    method: 'POST',
    headers: { 'x-api-key': 'ann-key', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

test('returns the dollars, contracts and shares of the documented arbitrage example', async () => {
  const { body } = await server.get('/v1/arbitrage/k3f9c2-2')
  assert.ok(Value.Check(OpportunitySchema, body), JSON.stringify(body))
  const { legs, levels, ...rest } = body
  assert.deepEqual(legs[1], {
    market_id: b.ref.id,
    platform: 'venue_b',
    question: 'Will it rain?',
    outcome: 'No',
    is_first_outcome: false,
    side: 'buy',
    contracts: 100,
    best_price: 0.37,
    avg_price: 0.37,
    cost_usd: 37,
    fee_usd: 1.64,
    book_seq: 7,
    book_age_ms: 40,
  })
  assert.deepEqual(levels, [{ contracts: 100, prices: [0.55, 0.37], profit_usd: 8 }])
  assert.deepEqual(rest, {
    id: 'k3f9c2-2',
    kind: 'cross_venue',
    match_score: 96,
    contracts: 100,
    min_contracts: 5,
    cost_usd: 92,
    fees_usd: 2.63,
    payout_usd: 100,
    profit_usd: 5.37,
    edge: 0.0537,
    // The return is 5.37 / 94.63, and `annualised` is 365 times as much. Both are rounded down to millionths.
    return: 0.056747,
    annualised: 20.712776,
    opened_at_ms: NOON,
    updated_at_ms: NOON + 500,
    closes_at: (NOON + DAY_MS) / 1_000,
    question: 'Will it rain?',
    category: 'Weather',
    explanation: 'The same place and day.',
    payout_note: null,
  })
  assert.equal((await server.get('/v1/arbitrage/k3f9c2-9')).status, 404)
})

test('filters, sorts and pages the list of opportunities, and returns the time of the list', async () => {
  const query = 'min_profit_usd=1&min_edge=0.01&kind=cross_venue&category=weather&search=rain'
  const got = await server.get(
    `/v1/arbitrage?${query}&platform=venue_b&max_days=3&sort_by=edge&limit=2`,
  )
  assert.deepEqual(server.engine.arbitrage.asked?.filter, {
    profitMin: 1,
    edgeMin: 0.01,
    kind: 'cross_venue',
    category: 'weather',
    search: 'rain',
    venue: 'b',
    daysMax: 3,
  })
  assert.equal(server.engine.arbitrage.asked?.sortBy, 'edge')
  const { opportunities, cursor, total, as_of_ms } = got.body
  assert.ok(Array.isArray(opportunities) && opportunities.length === 2)
  assert.ok(!('levels' in opportunities[0]))
  assert.deepEqual([total, as_of_ms, got.body.has_more], [3, NOON, true])
  const next = await server.get(
    `/v1/arbitrage?${query}&platform=venue_b&max_days=3&sort_by=edge&limit=2&cursor=${String(cursor)}`,
  )
  assert.deepEqual([next.body.cursor, next.body.has_more], [null, false])
  const foreign = await server.get(`/v1/arbitrage?cursor=${String(cursor)}`)
  assert.equal(foreign.status, 400)
  assert.equal((await server.get('/v1/arbitrage?sort_by=luck')).status, 422)
})

test('lists ended opportunities newest first, each once', async () => {
  const ids: unknown[] = []
  for (let cursor: unknown; cursor !== null; ) {
    const after = cursor === undefined ? '' : `&cursor=${String(cursor)}`
    const { body } = await server.get(`/v1/arbitrage/history?limit=1${after}`)
    assert.ok(Array.isArray(body.opportunities))
    for (const row of body.opportunities) {
      assert.ok(Value.Check(PastOpportunitySchema, row), JSON.stringify(row))
      ids.push(row.closed_at_ms)
    }
    cursor = body.cursor
  }
  assert.deepEqual(ids, [NOON + 700, NOON + 700, NOON + 600])
  const { body } = await server.get('/v1/arbitrage/history?limit=1&order=asc')
  assert.ok(Array.isArray(body.opportunities))
  assert.deepEqual(body.opportunities[0].legs, [
    { market_id: 'venue_a_0xabc', platform: 'venue_a', outcome: 'Yes' },
    { market_id: 'venue_b_KXRAIN', platform: 'venue_b', outcome: 'No' },
  ])
  assert.deepEqual(body.opportunities[0].best, {
    at_ms: NOON + 300,
    contracts: 100,
    profit_usd: 3,
  })
})

test('lists the opportunities of a market with the book levels of each leg', async () => {
  const { body } = await server.get(`/v1/markets/${b.ref.id}/arbitrage`)
  assert.ok(Array.isArray(body.opportunities))
  assert.equal(body.opportunities.length, 3)
  assert.ok('levels' in body.opportunities[0])
  assert.equal((await server.get('/v1/markets/venue_a_none/arbitrage')).status, 404)
})

test('answers a quote with the opportunity, or with the reason for no opportunity and the minimum number of contracts', async () => {
  const legs = [{ market_id: a.ref.id }, { market_id: b.ref.id, outcome: 'no' }]
  const none = await post({ legs, contracts: 12.34 })
  assert.deepEqual(
    [none.status, none.body.possible, none.body.reason, none.body.opportunity],
    [200, false, 'no_profit', null],
  )
  const minContracts = sizeMicros(33_340_000)
  server.engine.arbitrage.quoted = { isPossible: false, reason: 'below_minimum', minContracts }
  const below = await post({ legs, contracts: 12.34 })
  assert.deepEqual(
    [below.body.possible, below.body.reason, below.body.min_contracts, below.body.opportunity],
    [false, 'below_minimum', 33.34, null],
  )
  server.engine.arbitrage.quoted = {
    isPossible: true,
    opportunity: opportunity([a.ref, b.ref], { id: 'quote', updatedAtMs: timeMs(NOON) }),
  }
  const { body } = await post({ legs })
  assert.deepEqual([body.possible, body.reason], [true, null])
  assert.ok(Value.Check(OpportunitySchema, body.opportunity))
  assert.equal((await post({ legs, contracts: 0.001 })).status, 422)
  for (const contracts of [1.005, 12.340000001]) {
    assert.equal((await post({ legs, contracts })).status, 400)
  }
  for (const contracts of [0.07, 999_999.99]) {
    assert.equal((await post({ legs, contracts })).status, 200)
  }
  assert.equal((await post({ legs: legs.slice(1) })).status, 422)
  const unknown = await post({ legs: [legs[0], { market_id: b.ref.id, outcome: 'maybe' }] })
  assert.equal(unknown.status, 400)
  assert.match(unknown.text, /Yes and No/)
})
