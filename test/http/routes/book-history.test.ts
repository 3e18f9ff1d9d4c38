import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Static } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { seededRandom } from '../../../engine/random.ts'
import { timeMs } from '../../../engine/units.ts'
import { BookHistorySchema } from '../../../http/schemas.ts'
import type { FakeMarket } from '../../support/fakes/engine.ts'
import { type ApiServer, openApiServer } from '../../support/rigs/api-server.ts'
import { level, NOON } from '../../support/worlds/builders.ts'

let server: ApiServer
before(async () => {
  server = await openApiServer()
})
after(() => server.stop())

type Page = Static<typeof BookHistorySchema> & { readonly headers: Headers }

async function page(name: string, query = ''): Promise<Page> {
  const answer = await server.get(`/v1/markets/venue_a_${name}/orderbook/history?${query}`)
  assert.equal(answer.status, 200, answer.text)
  assert.ok(Value.Check(BookHistorySchema, answer.body), answer.text)
  assert.equal(answer.body.has_more, answer.body.cursor !== null)
  return { ...answer.body, headers: answer.headers }
}

/** Stores snapshots at random times, at most one per millisecond. */
function keepBooks(market: FakeMarket, count: number, seed: number): void {
  const random = seededRandom('kept', seed)
  let atMs: number = NOON
  for (let left = count; left > 0; left -= 1) {
    const bids = Array.from({ length: random.below(4) }, (_, rank) =>
      level(0.4 - rank / 100, 1 + left),
    )
    market.naive.replace(bids, [level(0.5, 2)])
    market.keepBook(timeMs(atMs))
    atMs += 1 + random.below(random.below(3) === 0 ? 1 : 20_000)
  }
}

describe('GET /v1/markets/{market_id}/orderbook/history', () => {
  test('returns a stored book snapshot with the fields of the live book and the depths of the complete book', async () => {
    const market = server.engine.add('fields')
    const bids = Array.from({ length: 25 }, (_, rank) => level((40 - rank) / 100, 2))
    market.naive.replace(bids, [level(0.43, 1.5), level(0.5, 3)])
    market.keepBook(timeMs(NOON))
    const got = await page('fields', 'depth=2')
    assert.equal(got.market_id, 'venue_a_fields')
    assert.deepEqual(got.snapshots, [
      {
        market_id: 'venue_a_fields',
        outcome: 'Yes',
        bids: [
          { price: 0.4, size: 2, platform: 'venue_a' },
          { price: 0.39, size: 2, platform: 'venue_a' },
        ],
        asks: [
          { price: 0.43, size: 1.5, platform: 'venue_a' },
          { price: 0.5, size: 3, platform: 'venue_a' },
        ],
        spread: 0.03,
        mid_price: 0.415,
        timestamp_ms: NOON,
        bid_depth: 50,
        ask_depth: 4.5,
      },
    ])
    assert.equal((await page('fields')).snapshots[0]?.bids.length, 20)
    assert.equal((await page('fields', 'depth=1000')).snapshots[0]?.bids.length, 20)
  })

  test('returns null spread and midpoint and zero depth when a side of the book is empty', async () => {
    const market = server.engine.add('empty')
    market.naive.replace([], [level(0.43, 1)])
    market.keepBook(timeMs(NOON))
    const [row] = (await page('empty')).snapshots
    assert.deepEqual(
      [row?.spread, row?.mid_price, row?.bid_depth, row?.bids.length],
      [null, null, 0, 0],
    )
  })

  test('returns every book snapshot once across pages, in both orders, while new snapshots arrive', async () => {
    const market = server.engine.add('paged')
    for (const [limit, count] of [
      [1, 40],
      [7, 90],
      [100, 350],
      [500, 700],
    ] as const) {
      for (const order of ['desc', 'asc'] as const) {
        market.storedBooks.length = 0
        keepBooks(market, count, limit)
        const expected = market.storedBooks.map((row) => row.timeMs).sort((one, two) => one - two)
        if (order === 'desc') expected.reverse()
        const seen: number[] = []
        let cursor: string | null = ''
        while (cursor !== null) {
          const given: string = cursor === '' ? '' : `&cursor=${cursor}`
          const got = await page('paged', `limit=${limit}&order=${order}${given}`)
          assert.ok(got.snapshots.length <= limit)
          seen.push(...got.snapshots.map((row) => row.timestamp_ms))
          if (got.has_more) assert.equal(got.cursor, String(seen.at(-1)))
          if (order === 'desc') market.keepBook(timeMs(NOON + 1e9 + seen.length))
          cursor = got.cursor
        }
        assert.deepEqual(seen, expected, `${order} by ${limit}`)
      }
    }
  })

  test('accepts time ranges in whole seconds, and refuses invalid ranges and limits', async () => {
    const market = server.engine.add('ranged')
    keepBooks(market, 200, 1)
    const second = Math.floor((market.storedBooks[100]?.timeMs ?? 0) / 1000)
    const expected = market.storedBooks.map((row) => row.timeMs)
    for (const [start, end] of [
      ['start_time', 'end_time'],
      ['start_ts', 'end_ts'],
      ['from', 'to'],
    ]) {
      const got = await page(
        'ranged',
        `${start}=${second}&${end}=${second + 30}&order=asc&limit=500`,
      )
      const isWanted = (ms: number) => ms >= second * 1000 && ms < (second + 31) * 1000
      assert.ok(got.snapshots.length > 0)
      assert.deepEqual(
        got.snapshots.map((row) => row.timestamp_ms),
        expected.filter(isWanted),
      )
    }
    for (const [query, status] of [
      ['limit=0', 422],
      ['limit=1', 200],
      ['limit=500', 200],
      ['limit=501', 422],
      ['depth=0', 422],
      ['depth=1', 200],
      ['depth=1000', 200],
      ['depth=1001', 422],
      ['order=up', 422],
      ['from=4102444801', 422],
      ['end_time=-1', 422],
      ['start_time=9&end_time=8', 400],
      ['cursor=x', 400],
      ['cursor=5.0', 200],
      ['cursor=5.1', 400],
    ] as const) {
      const { status: got } = await server.get(
        `/v1/markets/venue_a_ranged/orderbook/history?${query}`,
      )
      assert.equal(got, status, query)
    }
    assert.equal((await server.get('/v1/markets/venue_a_nobody/orderbook/history')).status, 404)
  })

  test('returns the time of the oldest stored snapshot when the requested range begins earlier', async () => {
    const market = server.engine.add('young')
    const since = String(server.engine.catalog.recordsSinceMs / 1000)
    assert.equal((await page('young', 'start_time=0')).headers.get('x-data-start'), since)
    market.keepBook(timeMs(NOON + 999))
    const noon = String(NOON / 1000)
    assert.equal((await page('young', 'start_time=0')).headers.get('x-data-start'), noon)
    assert.equal(
      (await page('young', `start_time=${NOON / 1000 + 1}`)).headers.get('x-data-start'),
      null,
    )
  })
})
