import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Value } from '@sinclair/typebox/value'
import type { GameView, MarketView } from '../../../actors/views.ts'
import { EngineError } from '../../../engine/errors.ts'
import type { Sport } from '../../../engine/sports/leagues.ts'
import { MarketRecords, SportsSchema } from '../../../http/records/markets.ts'
import type { Answer } from '../../../http/request/reply.ts'
import { sportsRoutes } from '../../../http/routes/sports.ts'
import { FakeEngine } from '../../support/fakes/engine.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'

const clock = new ManualClock()
const engine = new FakeEngine(clock)

function market(venue: 'a' | 'b', id: string, question: string): MarketView {
  return engine.add(id, { venue, question })
}

/** 20:20 in New York, plus a fraction of a second. */
const KICK_OFF_MS = Date.UTC(2025, 8, 5, 0, 20) + 999
const DAY = new Map<string, GameView>([
  [
    'nfl-dal-phi-2025-09-04',
    {
      markets: [
        market('a', '0x1', 'Cowboys vs. Eagles'),
        market('b', 'KX1', 'Dallas at Philadelphia'),
      ],
      startMs: KICK_OFF_MS,
    },
  ],
  [
    'nfl-kc-lac-2025-09-05',
    { markets: [market('a', '0x2', 'Chiefs vs. Chargers')], startMs: null },
  ],
])
const requested: { sport: Sport; date: string }[] = []
let day: ReadonlyMap<string, GameView> = DAY

const [route] = sportsRoutes({
  engine: {
    catalog: engine.catalog,
    sports: {
      today: () => '2025-09-04',
      games(sport, date) {
        requested.push({ sport, date })
        return day
      },
    },
  },
  records: new MarketRecords({ matchedMarketOf: () => null }),
  clock,
})

async function get(sport: string, query = ''): Promise<Answer> {
  assert.ok(route !== undefined)
  const raw = new Map<string, string[]>()
  for (const [name, value] of new URLSearchParams(query)) raw.set(name, [value])
  const facts = {
    caller: null,
    signal: () => new AbortController().signal,
    address: '127.0.0.1',
    isLocal: true,
    requester: () => ['test'],
    dashboard: null,
    header: () => '',
    path: () => sport,
  }
  return route.respond(facts, raw, new Uint8Array())
}

async function games(sport: string, query = '') {
  const answer = await get(sport, query)
  assert.equal(answer.status, 200, String(answer.body))
  const body: unknown = JSON.parse(String(answer.body))
  assert.ok(Value.Check(SportsSchema, body), String(answer.body))
  assert.equal(body.total_events, Object.keys(body.markets).length)
  return body
}

async function problem(sport: string, query: string) {
  const answer = await get(sport, query)
  assert.equal(answer.status, 422)
  const body = JSON.parse(String(answer.body))
  return { type: body.detail[0].type, loc: body.detail[0].loc }
}

describe('GET /v1/sports/{sport}', () => {
  test('lists games of the requested day by key, or of today if no day is given', async () => {
    const body = await games('nfl')
    assert.deepEqual(requested.at(-1), { sport: 'nfl', date: '2025-09-04' })
    assert.deepEqual([body.sport, body.date], ['nfl', '2025-09-04'])
    assert.deepEqual(Object.keys(body.markets), [...DAY.keys()])
    assert.equal(body.markets['nfl-dal-phi-2025-09-04']?.length, 2)
    await games('tennis', 'date=2026-02-28')
    assert.deepEqual(requested.at(-1), { sport: 'tennis', date: '2026-02-28' })
  })

  test('returns the start time of a game in whole seconds, or null if unknown', async () => {
    const { starts_at: starts } = await games('nfl')
    const start = Date.UTC(2025, 8, 5, 0, 20) / 1_000
    assert.deepEqual(starts, { 'nfl-dal-phi-2025-09-04': start, 'nfl-kc-lac-2025-09-05': null })
    const one = await games('nfl', 'search=chiefs')
    assert.deepEqual(one.starts_at, { 'nfl-kc-lac-2025-09-05': null })
  })

  test('answers 422 for an unknown sport or malformed date, and 400 for an impossible date', async () => {
    assert.deepEqual(await problem('curling', ''), {
      type: 'enum',
      loc: ['path', 'sport'],
    })
    for (const date of ['2025-9-4', 'today', '2025-09-04T00:00:00Z', '20250904']) {
      assert.deepEqual(await problem('nfl', `date=${date}`), {
        type: 'string_pattern_mismatch',
        loc: ['query', 'date'],
      })
    }
    for (const date of ['2025-02-29', '2025-13-01', '2025-00-10', '2025-04-31']) {
      await assert.rejects(
        () => get('nfl', `date=${date}`),
        (error) => error instanceof EngineError && error.code === 'BAD_REQUEST',
      )
    }
    await games('nfl', 'date=2024-02-29')
  })

  test('filters games by words in the titles of either venue, and markets by platform', async () => {
    for (const [query, keys] of [
      ['search=eagles', ['nfl-dal-phi-2025-09-04']],
      ['team=PHILADELPHIA', ['nfl-dal-phi-2025-09-04']],
      ['search=cowb+phil', ['nfl-dal-phi-2025-09-04']],
      ['search=agles', []],
      ['search=+', [...DAY.keys()]],
      ['platform=venue_b', ['nfl-dal-phi-2025-09-04']],
      ['platform=venue_b&search=chiefs', []],
    ] as const) {
      assert.deepEqual(Object.keys((await games('nfl', query)).markets), keys, query)
    }
    const { markets } = await games('nfl', 'platform=venue_a')
    assert.deepEqual(
      Object.values(markets)
        .flat()
        .map((shown) => shown.id),
      ['venue_a_0x1', 'venue_a_0x2'],
    )
  })

  test('returns all 2,000 markets of a day, written in time slices', async () => {
    const many = Array.from({ length: 40 }, (_, index) => market('a', `0xmany${index}`, 'A vs. B'))
    day = new Map(
      Array.from({ length: 50 }, (_, index) => [
        `cbb-a-b${index}-2025-09-04`,
        { markets: many, startMs: null },
      ]),
    )
    const body = await games('cbb')
    day = DAY
    assert.equal(Object.values(body.markets).flat().length, 2_000)
  })
})
