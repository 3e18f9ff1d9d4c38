// Reads recorded rows through the real parsers, and compares merged trades with a reference list.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { Value } from '@sinclair/typebox/value'
import { outcomeId } from '../../../engine/ids.ts'
import type { JsonRecord } from '../../../engine/market/market.ts'
import { seededRandom } from '../../../engine/random.ts'
import { priceMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import { parseMarket } from '../../../engine/venues/kalshi/catalog/listing.ts'
import { readMarket } from '../../../engine/venues/polymarket/catalog/listing.ts'
import { MergedTrades, mergedPosition } from '../../../http/pages/merged-trades.ts'
import { VenueAMarketSchema, VenueATradeSchema } from '../../../http/records/native-venue-a.ts'
import { VenueBMarketSchema, VenueBTradeSchema } from '../../../http/records/native-venue-b.ts'
import type { FakeMarket } from '../../support/fakes/engine.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { type ApiServer, openApiServer } from '../../support/rigs/api-server.ts'
import { NOON } from '../../support/worlds/builders.ts'

/** The number is small because each page of one row sorts all rows of the fake market again. */
const MERGED_ROWS = process.env.TEST_LONG === '1' ? 1_500 : 150
const SHARED = process.env.SHARED_DATA ?? '../shared/data'

describe('venue-native records', () => {
  let server: ApiServer
  before(async () => {
    server = await openApiServer()
  })
  after(() => server.stop())

  const rows = async (path: string, key = 'data') => {
    const { status, body, text } = await server.get(path)
    assert.equal(status, 200, text)
    const list = body[key]
    assert.ok(Array.isArray(list))
    return { list, cursor: body.cursor, hasMore: body.has_more }
  }
  const ids = async (path: string, field: string): Promise<string[]> =>
    (await rows(path)).list.map((row) => String(row[field])).sort()

  test('returns a recorded row exactly as the venue sent it, with the type of every field', async (t) => {
    const path = `${SHARED}/fixtures/polymarket`
    if (!existsSync(path)) {
      t.diagnostic(`no recorded data at ${path}: nothing was checked`)
      return t.skip('no recorded data')
    }
    const gamma: unknown = readFileSync(`${path}/gamma-markets-2025-11-08.jsonl`, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const settled: unknown = JSON.parse(
      readFileSync(`${SHARED}/fixtures/kalshi/markets_settled.json`, 'utf8'),
    )
    const gammaRows = listIn(gamma)
    const kalshiRows = listIn(settled)
    let compared = 0
    for (const row of gammaRows) {
      const listing = readMarket(row)
      if (typeof listing === 'string') continue
      const market = server.engine.add(String(row.conditionId), listing)
      const { body } = await server.get(`/v1/venue_a/markets/${market.ref.nativeId}`)
      assert.equal(Value.Check(VenueAMarketSchema, body), true, JSON.stringify(body))
      compared += compare(body, row, /^(volume|closed|outcomePrices|question)$/)
    }
    for (const row of kalshiRows) {
      const read = parseMarket(row, null)
      if (read.kind !== 'market') continue
      const market = server.engine.add(String(row.ticker), read.listing)
      const { body } = await server.get(`/v1/venue_b/markets/${market.ref.nativeId}`)
      assert.equal(Value.Check(VenueBMarketSchema, body), true, JSON.stringify(body))
      compared += compare(body, row, /_(bid|ask)_dollars$/)
    }
    t.diagnostic(`${gammaRows.length} and ${kalshiRows.length} rows, ${compared} fields compared`)
    assert.ok(compared > 1_000, `${compared} fields`)
  })

  test('returns live status and prices, and computes fields that the venue no longer sends', async () => {
    const bare = { native: {} }
    const a = server.engine.add('0xlive', { ...bare, status: 'open' })
    a.summary = { ...a.summary, status: 'resolved', settlementPrice: priceMicros(1_000_000) }
    a.now = { ...a.now, price: priceMicros(1_000_000), source: 'settlement' }
    const { body: native } = await server.get('/v1/venue_a/markets/0xLIVE')
    assert.equal(native.closed, true)
    assert.equal(native.outcomePrices, '["1","0"]')
    assert.ok(Value.Check(VenueAMarketSchema, native))
    const b = server.engine.add('KXLIVE-1', { ...bare, venue: 'b', status: 'open' })
    b.now = { ...b.now, bid: priceMicros(420_000), ask: null }
    const one = async () => (await server.get('/v1/venue_b/markets/kxlive-1')).body
    const open = await one()
    assert.ok(Value.Check(VenueBMarketSchema, open), JSON.stringify(open))
    const { yes_bid_dollars: bid, yes_ask_dollars: ask, no_ask_dollars: noAsk, status } = open
    assert.deepEqual([bid, ask, noAsk, status], ['0.4200', '0.0000', '0.5800', 'active'])
    assert.equal(open.no_bid_dollars, '1.0000')
    assert.equal(open.tick_size, '0.0100')
    b.summary = { ...b.summary, status: 'resolved' }
    assert.equal((await one()).status, 'finalized')
    b.summary = { ...b.summary, status: 'closed', isUnopened: true }
    assert.equal((await one()).status, 'initialized')
  })

  test('returns ids of a protocol v2 market in a form that requests accept', async () => {
    const ids = ['6121852760768223522', '6121852760768223523']
    const outcomes = ids.map((id, index) => ({
      label: index === 0 ? 'Yes' : 'No',
      id: outcomeId(id),
    }))
    let digit = 2
    const shown = async (native: JsonRecord) => {
      const conditionId = `0x01${String(digit++).repeat(60)}00`
      server.engine.add(conditionId, { slug: 'of-v2', outcomes, native })
      const { body } = await server.get(`/v1/venue_a/markets/${conditionId}`)
      assert.ok(Value.Check(VenueAMarketSchema, body), JSON.stringify(body))
      const { version, clobTokenIds, positionIds } = body
      return { version, clobTokenIds, positionIds }
    }
    const text = JSON.stringify(ids)
    const ofV2 = { version: 'v2', clobTokenIds: text, positionIds: ids }
    const asRead = { version: 'v2', clobTokenIds: null, positionIds: ids }
    assert.deepEqual(await shown(asRead), ofV2)
    assert.deepEqual(await shown({ ...asRead, clobTokenIds: '["77", "78"]' }), ofV2)
    const ofV1 = { version: 'v1', clobTokenIds: '["1", "2"]', positionIds: null }
    assert.deepEqual(await shown({ clobTokenIds: '["1", "2"]', positionIds: ['8', '9'] }), ofV1)
    assert.deepEqual(await shown({ version: 'v1' }), { ...ofV1, clobTokenIds: text })
    for (const [index, id] of ids.entries()) {
      const { list } = await rows(`/v1/venue_a/markets?token_id=${id}`)
      assert.equal(list[0]?.tokens[index].token_id, id)
    }
  })

  test('answers 404 for an id that the requested venue does not have, without a search at the other venue', async () => {
    for (const path of ['venue_a/markets/none', 'venue_b/markets/none', 'venue_b/markets/0xlive']) {
      assert.equal((await server.get(`/v1/${path}`)).status, 404, path)
    }
  })

  test('combines id lookups and other filters with AND, and pages through an unchanged list', async () => {
    const { engine } = server
    for (let index = 0; index < 9; index += 1) {
      engine.add(`0xn${index}`, {
        slug: `native-${index % 3}`,
        eventSlug: `native-event-${index % 2}`,
        outcomes: [
          { label: 'Yes', id: outcomeId(`10${index}`) },
          { label: 'No', id: outcomeId(`20${index}`) },
        ],
        status: index < 6 ? 'open' : 'resolved',
        volumeTotal: usdMicros(index * 1_000_000),
        volume24h: usdMicros(index),
        tags: ['Native'],
      })
    }
    const path = '/v1/venue_a/markets?limit=100&'
    const found = (query: string) => ids(path + query, 'conditionId')
    assert.deepEqual(await found('slug=native-0'), ['0xn0', '0xn3', '0xn6'])
    assert.deepEqual(await found('slug=native-0&event_slug=native-event-0'), ['0xn0', '0xn6'])
    assert.deepEqual(await found('slug=native-0&status=closed'), ['0xn6'])
    assert.deepEqual(await found('token_id=101&token_ids=101'), ['0xn1'])
    assert.deepEqual(await found('clob_token_ids=101,205'), ['0xn1', '0xn5'])
    assert.deepEqual(await found('condition_id=0xN2&condition_id=none'), ['0xn2'])
    assert.deepEqual(await found('market_slug=none'), [])
    assert.deepEqual(await found('tags=native&min_volume=7'), ['0xn7', '0xn8'])
    assert.equal((await server.get(`${path}token_id=12x`)).status, 422)
    assert.equal((await server.get(`${path}start_time=9&end_time=8`)).status, 400)
    const long = Array.from({ length: 100 }, (_, index) => `${index}`.padStart(78, '1')).join(',')
    assert.deepEqual(await found(`token_id=${long}`), [])
    assert.equal((await server.get(`${path}token_id=${long},1`)).status, 422)
    const seen: string[] = []
    let query = 'tags=Native&limit=4'
    for (;;) {
      const page = await rows(`/v1/venue_a/markets?${query}`)
      seen.push(...page.list.map((row) => row.conditionId))
      assert.equal(page.hasMore, page.cursor !== null)
      if (page.cursor === null) break
      // A new market with the same tag must not change the pages of a list that a client is reading.
      engine.add(`0xlater${seen.length}`, { tags: ['Native'] })
      query = `tags=Native&limit=4&cursor=${page.cursor}`
    }
    assert.deepEqual(
      seen,
      [8, 7, 6, 5, 4, 3, 2, 1, 0].map((index) => `0xn${index}`),
    )
  })

  test('looks up an id once if a request contains the id several times in any letter case', async (t) => {
    const { engine } = server
    engine.addEvent('kxoften', { venue: 'b', series: 'KXOFTEN' })
    for (const name of ['KXOFTEN-1', 'KXOFTEN-2']) {
      engine.add(name, { venue: 'b', eventSlug: 'event-kxoften', slug: name, native: {} })
    }
    const cases = [
      ['b', 'marketsOfSeries', 'series_ticker', ['KXOFTEN', 'kxoften', 'KxOften'], 2],
      ['b', 'marketsOfEvent', 'event_ticker', ['EVENT-KXOFTEN', 'event-kxoften'], 2],
      ['b', 'find', 'ticker', ['KXOFTEN-1', 'kxoften-1'], 1],
      ['a', 'allBySlug', 'market_slug', ['native-0', 'Native-0'], 3],
      ['a', 'marketsOfEvent', 'event_slug', ['native-event-1', 'NATIVE-EVENT-1'], 4],
      ['a', 'find', 'condition_id', ['0xn1', '0xN1'], 1],
      ['a', 'findByOutcome', 'token_id', ['101'], 1],
    ] as const
    for (const [venue, method, parameter, spellings, count] of cases) {
      const lookUp = t.mock.method(engine.catalog, method)
      const given = Array.from({ length: 100 }, (_, index) => spellings[index % spellings.length])
      const path = `/v1/venue_${venue}/markets?limit=100&`
      const { list } = await rows(`${path}${given.map((one) => `${parameter}=${one}`).join('&')}`)
      assert.equal(lookUp.mock.callCount(), 1, parameter)
      assert.equal(list.length, count, parameter)
      lookUp.mock.restore()
      assert.deepEqual(list, (await rows(`${path}${parameter}=${spellings[0]}`)).list)
    }
  })

  test('merges the trades of several markets without lost or repeated rows, in both orders', () => {
    const random = seededRandom('merged')
    const markets = ['m1', 'm2', 'm3'].map((name) => server.engine.add(name))
    let at: number = NOON
    for (let index = 0; index < MERGED_ROWS; index += 1) {
      // Most trades lie within a few milliseconds, so that all markets have rows in the same millisecond.
      if (random.next() < 0.02) at += 1 + random.below(2)
      markets[random.below(3)]?.trade({ timeMs: timeMs(at) })
    }
    for (const order of ['asc', 'desc'] as const) {
      for (const limit of [1, 3, 17, 100, 2_000]) {
        const seen = readAll(markets, order, limit)
        const wanted = naive(markets)
        assert.deepEqual(seen, order === 'asc' ? wanted : wanted.reverse(), `${order} ${limit}`)
        if (limit === 1) assert.equal(seen.length, MERGED_ROWS)
      }
    }
  })

  test('returns filtered trades of a market, event or venue, with price and side of the traded token', async () => {
    const { engine } = server
    const a = engine.add('0xtrades', { slug: 'traded' })
    const wallet = `0x${'Ab'.repeat(20)}`
    a.trade({ price: priceMicros(700_000), side: 'sell', outcomeIndex: 1, taker: wallet })
    a.trade({ price: priceMicros(400_000), side: 'buy', outcomeIndex: 0, maker: wallet })
    const list = async (query: string, venue = 'a') =>
      (await rows(`/v1/venue_${venue}/trades?${query}`, 'trades')).list
    const [yes, no] = await list('market_slug=traded')
    assert.ok(Value.Check(VenueATradeSchema, no) && Value.Check(VenueATradeSchema, yes))
    assert.deepEqual(
      [no.price, no.side, no.outcome, no.token_id, yes.price, yes.side],
      [0.3, 'buy', 'No', '0xtrades-no', 0.4, 'buy'],
    )
    assert.equal((await list(`market_slug=traded&user=${wallet.toLowerCase()}`)).length, 2)
    assert.equal((await list(`condition_id=0xtrades&side=sell`)).length, 0)
    assert.equal((await list(`condition_id=unknown`)).length, 0)
    assert.equal((await list(`wallet=${wallet}&min_usd=1000000`)).length, 0)
    assert.equal((await server.get('/v1/venue_a/trades?wallet=0x12')).status, 422)
    const two = await server.get('/v1/venue_a/trades?market_slug=traded&token_id=1')
    assert.equal(two.status, 400)
    const b = ['KXT-1', 'KXT-2'].map((name) =>
      engine.add(name, { venue: 'b', eventSlug: 'kxt', native: {} }),
    )
    for (const market of b) {
      market.trade({ price: priceMicros(425_000), side: 'sell', outcomeIndex: 1 })
      market.trade({ price: priceMicros(430_000), side: 'buy' })
    }
    const event = await list('event_ticker=KXT', 'b')
    assert.equal(event.length, 4)
    assert.ok(event.every((row) => Value.Check(VenueBTradeSchema, row)))
    assert.equal((await list('event_ticker=KXT&market_ticker=kxt-1&taker_side=no', 'b')).length, 1)
    const [taken] = await list('ticker=KXT-1&taker_side=no', 'b')
    assert.deepEqual(
      [taken.yes_price_dollars, taken.no_price_dollars, taken.is_taker_side_yes],
      ['0.4250', '0.5750', false],
    )
    assert.equal((await list('ticker=none&event_ticker=KXT', 'b')).length, 0)
    const all = await list('limit=500', 'b')
    assert.ok(all.length >= 4)
  })
})

/** Compares the fields that both records have, except live fields. Returns the number of live fields. */
function compare(
  body: Readonly<Record<string, unknown>>,
  row: Readonly<Record<string, unknown>>,
  live: RegExp,
): number {
  let count = 0
  for (const [field, value] of Object.entries(row)) {
    if (!(field in body) || typeof value !== typeof body[field] || live.test(field)) continue
    assert.equal(body[field], value, field)
    count += 1
  }
  return count
}

function naive(markets: readonly FakeMarket[]): string[] {
  return markets
    .flatMap(({ ref, stored }) => stored.map((trade) => ({ number: ref.number, trade })))
    .sort(
      (one, two) =>
        one.trade.timeMs - two.trade.timeMs ||
        one.number - two.number ||
        one.trade.ordinal - two.trade.ordinal,
    )
    .map(({ number, trade }) => `${number} ${trade.nativeId}`)
}

/** Each page opens the markets again and reads in slices of different sizes. */
function readAll(markets: readonly FakeMarket[], order: 'asc' | 'desc', limit: number): string[] {
  const range = { fromMs: timeMs(0), toMs: timeMs(NOON * 2), order }
  const clock = new ManualClock()
  const seen: string[] = []
  let after: ReturnType<typeof mergedPosition> | null = null
  for (;;) {
    const merged = new MergedTrades(markets, { ...range, after }, clock)
    let count = 0
    let isOver = false
    while (!isOver && count < limit) {
      // Half of the slices have no time but must still read something.
      const untilMs = count % 2 === 0 ? 0 : 1
      const { rows, isEnd } = merged.next(Math.min(limit - count, 1 + (count % 7)), untilMs)
      isOver = isEnd
      count += rows.length
      for (const row of rows) {
        seen.push(`${row.view.ref.number} ${row.trade.nativeId}`)
        after = mergedPosition(row)
      }
    }
    if (isOver) return seen
  }
}

/** The first list of objects in a recorded answer. */
function listIn(value: unknown): readonly Record<string, unknown>[] {
  if (Array.isArray(value)) return value.filter(isRecord)
  if (!isRecord(value)) return []
  for (const inner of Object.values(value)) {
    const found = Array.isArray(inner) ? inner.filter(isRecord) : []
    if (found.length > 0) return found
  }
  return []
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
