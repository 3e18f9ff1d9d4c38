import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { Matches } from '../../../actors/matches/matches.ts'
import type { GameView, MarketView } from '../../../actors/views.ts'
import { EngineError } from '../../../engine/errors.ts'
import { nativeEventId } from '../../../engine/ids.ts'
import { priceMicros, usdMicros } from '../../../engine/units.ts'
import { MarketRecords } from '../../../http/records/markets.ts'
import { matchSchemas } from '../../../http/records/matches.ts'
import type { Answer } from '../../../http/request/reply.ts'
import { matchRoutes } from '../../../http/routes/matches.ts'
import { FakeEngine } from '../../support/fakes/engine.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { pairScore } from '../../support/reference/word-scorer.ts'
import { level, NAMES, NOON } from '../../support/worlds/builders.ts'

const clock = new ManualClock()
const engine = new FakeEngine(clock)
const matches = new Matches({ clock })

function pair(
  name: string,
  score: number,
  set: Parameters<typeof pairScore>[1] = {},
): MarketView[] {
  const a = engine.add(`a${name}`, { venue: 'a', question: `Question ${name}` })
  const event = nativeEventId(`KXEV-${name}`)
  const b = engine.add(`b${name}`, {
    venue: 'b',
    question: `Asked ${name}`,
    event,
    eventSlug: `kxev-${name}`,
  })
  matches.put(a, b, pairScore(score, set), NOON)
  return [a, b]
}

const [a1, b1] = pair('one', 97.5)
pair('two', 80)
pair('three', 70, { relation: 'subset', vetoes: ['containment'] })
pair('four', 40, { inverted: null, outcomeMap: null })
const [a5] = pair('five', 79, { inverted: true, vetoes: ['opposite_side'], outcomeMap: [1, 0] })
if (a5 !== undefined) Object.assign(a5, { volume24h: usdMicros(9_000_000) })

const GAMES = new Map<string, GameView>([
  [
    'nfl-dal-phi-2026-11-20',
    { markets: a1 !== undefined && b1 !== undefined ? [a1, b1] : [], startMs: null },
  ],
  ['nfl-kc-lac-2026-11-20', { markets: a5 === undefined ? [] : [a5], startMs: null }],
])
const sports = { today: () => '2026-11-20', games: () => GAMES }
const records = new MarketRecords(matches)
const schemas = matchSchemas(NAMES)
const routes = matchRoutes({ engine: { sports, matches }, records, clock, names: NAMES })

async function get(pattern: string, query = '', sport = 'nfl'): Promise<Answer> {
  const route = routes.find((one) => one.pattern === pattern)
  assert.ok(route !== undefined)
  const raw = new Map<string, string[]>()
  for (const [name, value] of new URLSearchParams(query)) {
    raw.set(name, [...(raw.get(name) ?? []), value])
  }
  const signal = () => new AbortController().signal
  return route.respond(
    {
      caller: null,
      signal,
      address: '127.0.0.1',
      isLocal: true,
      requester: () => ['test'],
      dashboard: null,
      header: () => '',
      path: () => sport,
    },
    raw,
    new Uint8Array(),
  )
}

const textOf = ({ body }: Answer): string =>
  typeof body === 'string' ? body : Buffer.from(body ?? []).toString()

const platforms = Type.Array(Type.Unknown())
/** The two fields that are keyed by the configured venue names. */
const Named = Type.Object({
  matches: Type.Array(
    Type.Object({
      venue_a: Type.Object({ condition_id: Type.String(), event_slug: Type.Unknown(), platforms }),
      venue_b: Type.Object({ ticker: Type.String(), event_ticker: Type.Unknown(), platforms }),
    }),
  ),
})

const Settled = Type.Object({
  matches: Type.Array(Type.Object({ settled: Type.Unknown() })),
})
const Gaps = Type.Object({ matches: Type.Array(Type.Object({ price_gap: Type.Number() })) })

async function list(query = '') {
  const answer = await get('/v1/matching-markets', query)
  assert.equal(answer.status, 200, String(answer.body))
  const body: unknown = JSON.parse(textOf(answer))
  assert.ok(
    Value.Check(schemas.list, body),
    JSON.stringify([...Value.Errors(schemas.list, body)][0]),
  )
  return body
}

function listingsOf(body: unknown) {
  assert.ok(Value.Check(Named, body), 'the markets stand under the names of their venues')
  return body.matches
}

const namesOf = (body: unknown): string[] =>
  listingsOf(body).map(({ venue_a: a }) => a.condition_id)

function quote(name: string, low: number, high: number): void {
  const market = engine.catalog.find(name)
  assert.ok(market !== null && 'now' in market && typeof market.now === 'object')
  Object.assign(market, {
    now: { ...market.now, bid: level(low, 1).price, ask: level(high, 1).price },
  })
}

describe('GET /v1/matching-markets', () => {
  test('lists matches by score, and filters matches by score, text, slug, event, confidence and relation', async () => {
    const all = ['aone', 'atwo', 'afive', 'athree', 'afour']
    for (const [query, names] of [
      ['', all],
      ['min_score=70', ['aone', 'atwo', 'afive', 'athree']],
      ['min_similarity=97.5', ['aone']],
      ['confidence=high', ['aone', 'atwo']],
      ['confidence=medium', ['afive', 'athree']],
      ['confidence=low', ['afour']],
      ['relation=subset', ['athree']],
      ['search=ASKED+three', ['athree']],
      ['search=question', all],
      ['search=nothing', []],
      ['venue_a_slug=slug-atwo', ['atwo']],
      ['market_slug=SLUG-ATWO&market_slug=slug-aone', ['aone', 'atwo']],
      ['polymarket_market_slug=slug-none', []],
      ['venue_b_event_ticker=kxev-four', ['afour']],
      ['kalshi_event_ticker=KXEV-one&min_score=99', []],
    ] as const) {
      const body = await list(query)
      assert.deepEqual(namesOf(body), names, query)
      assert.equal(body.total, names.length)
    }
    for (const query of [
      'min_score=101',
      'min_score=-1',
      'limit=0',
      'limit=201',
      'confidence=sure',
      'relation=x',
    ]) {
      assert.equal((await get('/v1/matching-markets', query)).status, 422, query)
    }
  })

  test('returns both markets of a match with their ids at the venues and the scores of the match', async () => {
    const body = await list('relation=subset')
    const [[row], [named]] = [body.matches, listingsOf(body)]
    assert.ok(row !== undefined && named !== undefined)
    assert.equal(named.venue_a.condition_id, 'athree')
    assert.equal(named.venue_a.event_slug, 'event-athree')
    assert.deepEqual([named.venue_b.ticker, named.venue_b.event_ticker], ['bthree', 'KXEV-three'])
    assert.deepEqual(
      [row.score, row.confidence, row.relation, row.inverted],
      [70, 'medium', 'subset', false],
    )
    assert.deepEqual([row.vetoes, row.matched_at], [['containment'], Math.floor(NOON / 1000)])
    const [best] = (await list('limit=1')).matches
    assert.deepEqual(best?.outcome_map, { Yes: 'Yes', No: 'No' })
    assert.equal((await list('confidence=low')).matches[0]?.outcome_map, null)
  })

  test('computes the price gap of a match from midpoints, inverted for inverted pairs, and null for unknown prices', async () => {
    const gap = async (index: number) => (await list()).matches[index]?.price_gap
    assert.equal(await gap(0), null)
    quote('venue_a_aone', 0.4, 0.42)
    quote('venue_b_bone', 0.5, 0.55)
    assert.equal(await gap(0), 0.115)
    quote('venue_a_afive', 0.4, 0.4)
    quote('venue_b_bfive', 0.55, 0.65)
    assert.equal(await gap(2), 0)
    quote('venue_a_afour', 0.4, 0.4)
    quote('venue_b_bfour', 0.5, 0.5)
    assert.equal(await gap(4), null)
  })

  test('returns a second platform when the market has a matched market, and null otherwise', async () => {
    const rows = listingsOf(await list())
    assert.deepEqual(
      rows.map(({ venue_a: a }) => a.platforms.length),
      [2, 2, 1, 1, 1],
    )
    assert.deepEqual(
      rows.map(({ venue_b: b }) => b.platforms.length),
      [2, 2, 1, 1, 1],
    )
  })

  test('lists ended pairs by status, with what each venue pays for the outcome of the first market', async () => {
    clock.advance(5_000)
    const [a, b] = pair('ended', 96)
    const [c, d] = pair('turned', 97, { inverted: true, outcomeMap: [1, 0] })
    assert.ok(a !== undefined && b !== undefined && c !== undefined && d !== undefined)
    const end = (market: MarketView, settlementPrice: number) => {
      const settled = { status: 'resolved', settlementPrice: priceMicros(settlementPrice) }
      Object.assign(market, { summary: { ...market.summary, ...settled } })
      matches.onListed(market)
    }
    end(a, 1_000_000)
    end(c, 0)
    end(d, 0)
    const settledOf = async (query: string) => {
      clock.advance(5_000)
      const { matches: listed } = Value.Decode(Settled, await list(query))
      return listed.map(({ settled }) => settled)
    }
    assert.equal((await list()).total, 5)
    assert.deepEqual(namesOf(await list('status=closed')), ['aended'])
    assert.deepEqual(await settledOf('status=closed'), [
      { venue_a: 1, venue_b: null, agreed: null },
    ])
    assert.deepEqual(await settledOf('status=resolved'), [
      { venue_a: 0, venue_b: 1, agreed: false },
    ])
    end(b, 1_000_000)
    assert.deepEqual(await settledOf('status=resolved&search=ended'), [
      { venue_a: 1, venue_b: 1, agreed: true },
    ])
    assert.equal((await list('status=all')).total, 7)
    assert.equal((await get('/v1/matching-markets', 'status=ended')).status, 422)
    for (const market of [a, c]) matches.remove(market.ref)
  })

  test('returns every match that existed at the first page once across pages while matches are added', async () => {
    const first = await list('limit=2')
    assert.ok(first.cursor !== null && first.has_more)
    const [a] = pair('six', 99)
    const rest = await list(`limit=200&cursor=${first.cursor}`)
    assert.deepEqual(
      [...namesOf(first), ...namesOf(rest)],
      ['aone', 'atwo', 'afive', 'athree', 'afour'],
    )
    assert.deepEqual([rest.cursor, rest.has_more], [null, false])
    clock.advance(5_000)
    assert.equal((await list()).total, 6)
    if (a !== undefined) matches.remove(a.ref)
    for (const query of [
      `cursor=${first.cursor}&min_score=1`,
      'cursor=x',
      `cursor=${first.cursor}&offset=1`,
    ]) {
      await assert.rejects(
        async () => get('/v1/matching-markets', query),
        (error) => error instanceof EngineError && error.code === 'BAD_REQUEST',
      )
    }
  })

  test('sorts matches by price gap or volume, filters by gap, and returns the same order on all pages', async () => {
    clock.advance(5_000)
    // The price gaps are 0.115, 0.3, 0 and twice unknown: one pair has no book, another has no outcome mapping.
    quote('venue_a_aone', 0.4, 0.42)
    quote('venue_b_bone', 0.5, 0.55)
    quote('venue_a_atwo', 0.6, 0.6)
    quote('venue_b_btwo', 0.2, 0.4)
    quote('venue_a_afive', 0.4, 0.4)
    quote('venue_b_bfive', 0.55, 0.65)
    quote('venue_a_afour', 0.1, 0.1)
    quote('venue_b_bfour', 0.9, 0.9)
    for (const [query, names] of [
      ['sort_by=score', ['aone', 'atwo', 'afive', 'athree', 'afour']],
      ['sort_by=price_gap', ['atwo', 'aone']],
      ['sort_by=price_gap&relation=identical', ['atwo', 'aone']],
      ['sort_by=price_gap&relation=subset', ['athree']],
      ['sort_by=price_gap&confidence=medium', ['afive', 'athree']],
      ['sort_by=price_gap&min_score=0', ['atwo', 'aone', 'afive', 'athree', 'afour']],
      ['sort_by=volume', ['afive', 'aone', 'atwo', 'athree', 'afour']],
      ['min_gap=0.115', ['aone', 'atwo']],
      ['min_gap=0.115&sort_by=price_gap', ['atwo', 'aone']],
      ['min_gap=0.1151', ['atwo']],
      ['min_gap=0.000001', ['aone', 'atwo']],
      ['min_gap=0.31', []],
    ] as const) {
      const body = await list(query)
      assert.deepEqual(namesOf(body), names, query)
      assert.equal(body.total, names.length)
    }
    const first = await list('sort_by=price_gap&min_score=0&limit=1')
    quote('venue_b_bfive', 0.95, 0.95)
    const rest = await list(`sort_by=price_gap&min_score=0&cursor=${first.cursor}`)
    assert.deepEqual([...namesOf(first), ...namesOf(rest)].slice(0, 3), ['atwo', 'aone', 'afive'])
    // A new request uses the current order. A page of an earlier request keeps rows whose gap has become narrower.
    assert.deepEqual(namesOf(await list('sort_by=price_gap&min_score=0')).slice(0, 3), [
      'afive',
      'atwo',
      'aone',
    ])
    const wide = await list('min_gap=0.115&min_score=0&sort_by=price_gap&limit=1')
    quote('venue_b_btwo', 0.6, 0.6)
    const narrower = await list(`min_gap=0.115&min_score=0&sort_by=price_gap&cursor=${wide.cursor}`)
    assert.deepEqual([namesOf(wide), namesOf(narrower)], [['afive'], ['aone']])
    await assert.rejects(
      async () => get('/v1/matching-markets', `sort_by=volume&cursor=${first.cursor}`),
      (error) => error instanceof EngineError && error.code === 'BAD_REQUEST',
    )
    for (const query of ['sort_by=gap', 'min_gap=-0.1', 'min_gap=1.1']) {
      assert.equal((await get('/v1/matching-markets', query)).status, 422, query)
    }
  })

  test('returns the gaps by which the list was sorted, even if writing takes several event-loop ticks', async (t) => {
    clock.advance(5_000)
    quote('venue_a_aone', 0.4, 0.42)
    quote('venue_b_bone', 0.5, 0.55)
    quote('venue_a_atwo', 0.6, 0.6)
    quote('venue_b_btwo', 0.2, 0.4)
    quote('venue_b_bfive', 0.6, 0.6)
    const bytes = records.bytes.bind(records)
    t.mock.method(records, 'bytes', (...args: Parameters<typeof bytes>) => {
      clock.advance(3)
      return bytes(...args)
    })
    const listing = list('sort_by=price_gap&limit=2')
    quote('venue_b_bone', 0.9, 0.9)
    const { matches: listed } = Value.Decode(Gaps, await listing)
    assert.deepEqual(
      listed.map(({ price_gap: gap }) => gap),
      [-0.3, 0.115],
    )
  })
})

test('lists the games of a sport on both venues by key, with their matches', async () => {
  const pattern = '/v1/matching-markets/sports/{sport}'
  const answer = await get(pattern)
  const body: unknown = JSON.parse(textOf(answer))
  assert.ok(
    Value.Check(schemas.games, body),
    JSON.stringify([...Value.Errors(schemas.games, body)][0]),
  )
  assert.deepEqual(body.markets, {
    'nfl-dal-phi-2026-11-20': [
      { platform: 'venue_b', event_ticker: 'KXEV-one', market_tickers: ['bone'] },
      { platform: 'venue_a', market_slug: 'slug-aone', token_ids: ['aone-yes', 'aone-no'] },
    ],
  })
  assert.deepEqual(
    [body.sport, body.date, body.total, body.matches.length],
    ['nfl', '2026-11-20', 1, 1],
  )
  assert.equal((await get(pattern, 'date=today')).status, 422)
  await assert.rejects(async () => get(pattern, 'date=2026-02-30'), EngineError)
})
