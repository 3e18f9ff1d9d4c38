import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Value } from '@sinclair/typebox/value'
import { seededRandom } from '../../../engine/random.ts'
import { priceMicros, sizeMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import { TradesSchema } from '../../../http/schemas.ts'
import type { FakeMarket } from '../../support/fakes/engine.ts'
import { type ApiServer, openApiServer } from '../../support/rigs/api-server.ts'
import { NOON } from '../../support/worlds/builders.ts'

let server: ApiServer
let busy: FakeMarket
before(async () => {
  server = await openApiServer()
  busy = server.engine.add('busy')
  server.engine.add('other', { slug: 'the-other' })
})
after(() => server.stop())

async function page(query: string) {
  const answer = await server.get(`/v1/markets/venue_a_busy/trades?${query}`)
  assert.equal(answer.status, 200, answer.text)
  assert.ok(Value.Check(TradesSchema, answer.body), answer.text)
  return { ...answer.body, headers: answer.headers }
}

describe('GET /v1/markets/{market_id}/trades', () => {
  test('returns price and side of a trade for the first outcome, and names the traded outcome', async () => {
    const quiet = server.engine.add('quiet')
    quiet.trade({
      nativeId: '0xabc-1',
      timeMs: timeMs(NOON),
      price: priceMicros(700_000),
      size: sizeMicros(100_000_000),
      side: 'sell',
      outcomeIndex: 1,
      usd: usdMicros(30_000_000),
      maker: null,
      txHash: '0xabc',
    })
    const { body } = await server.get('/v1/markets/venue_a_quiet/trades')
    assert.ok(Value.Check(TradesSchema, body))
    assert.deepEqual(body.trades[0], {
      id: '0xabc-1',
      market_id: 'venue_a_quiet',
      platform: 'venue_a',
      price: 0.7,
      size: 100,
      side: 'sell',
      outcome: 'No',
      size_usd: 30,
      timestamp_ms: NOON,
      native_trade_id: '0xabc-1',
      maker: null,
      taker: '0xtaker',
      tx_hash: '0xabc',
      is_block_trade: false,
      taker_outcome: 'No',
      taker_side: 'buy',
      taker_price: 0.3,
    })
    assert.equal(body.cursor, null)
    assert.equal(body.has_more, false)
  })

  test('filters trades by the taker’s side, for the first outcome or for the traded outcome', async () => {
    const sides = server.engine.add('sides')
    const rows = (['buy', 'sell'] as const).flatMap((side) =>
      [0, 1].map((outcomeIndex) => ({ side, outcomeIndex, nativeId: `${side}-${outcomeIndex}` })),
    )
    for (const row of rows) {
      // Five contracts cost 1.35 dollars at 0.27 and 3.65 dollars at 0.73.
      const usd = usdMicros(row.outcomeIndex === 0 ? 1_350_000 : 3_650_000)
      sides.trade({ ...row, price: priceMicros(270_000), size: sizeMicros(5_000_000), usd })
    }
    const got = async (query: string) => {
      const { body } = await server.get(`/v1/markets/venue_a_sides/trades?order=asc&${query}`)
      assert.ok(Value.Check(TradesSchema, body))
      for (const { taker_price, size, size_usd } of body.trades)
        assert.equal(Math.round(taker_price * size * 1e6), Math.round(size_usd * 1e6))
      return body.trades.map(({ id }) => id)
    }
    assert.deepEqual(await got('side=buy'), ['buy-0', 'buy-1'])
    assert.deepEqual(await got('taker_side=buy'), ['buy-0', 'sell-1'])
    assert.deepEqual(await got('taker_side=sell'), ['buy-1', 'sell-0'])
    assert.deepEqual(await got('side=sell&taker_side=buy'), ['sell-1'])
  })

  test('returns every trade once across pages, in both orders, while new trades arrive', async () => {
    const random = seededRandom('trades', 3)
    const TRADES = 150
    let at: number = NOON
    for (let index = 0; index < TRADES; index += 1) {
      // Groups of trades share a millisecond. Some groups are larger than a page.
      if (random.next() < 0.1) at += 1 + random.below(3_000)
      busy.trade({ timeMs: timeMs(at) }, false)
    }
    for (const order of ['desc', 'asc']) {
      for (const limit of [1, 7, 60, 500]) {
        if (limit === 1 && order === 'asc') continue
        const wanted = busy.trades({
          fromMs: timeMs(0),
          toMs: timeMs(at),
          after: null,
          order: order === 'asc' ? 'asc' : 'desc',
          limit: 10_000,
        })
        const seen: string[] = []
        let cursor: string | null = ''
        while (cursor !== null) {
          const given: string = cursor === '' ? '' : `&cursor=${cursor}`
          const got = await page(`limit=${limit}&order=${order}${given}`)
          assert.ok(got.trades.length <= limit)
          assert.equal(got.has_more, got.cursor !== null)
          seen.push(...got.trades.map((trade) => trade.id))
          if (order === 'desc') busy.trade({ timeMs: timeMs(at + 1 + seen.length) }, false)
          cursor = got.cursor
        }
        const expected = wanted.map((row) => row.nativeId)
        if (order === 'desc') assert.deepEqual(seen, expected)
        else assert.deepEqual(seen.slice(0, expected.length), expected)
        busy.stored.length = TRADES
      }
    }
  })

  test('accepts a side and a time range in whole seconds, and refuses invalid ranges', async () => {
    const first = NOON / 1000
    const all = await page(`start_time=${first}&end_time=${first}&limit=500`)
    assert.ok(all.trades.length > 0)
    assert.ok(all.trades.every((trade) => Math.floor(trade.timestamp_ms / 1000) === first))
    assert.equal((await page('side=sell')).trades.length, 0)
    for (const [query, status] of [
      ['start_time=9&end_time=8', 400],
      ['cursor=x', 400],
      ['cursor=1.x', 400],
      ['from=1&start_ts=2', 400],
      ['limit=501', 422],
      ['side=BUY', 422],
      ['order=up', 422],
    ] as const) {
      const got = await server.get(`/v1/markets/venue_a_busy/trades?${query}`)
      assert.equal(got.status, status, query)
    }
  })

  test('returns the time of the oldest stored data when the requested range begins earlier', async () => {
    const early = await page(`start_time=${NOON / 1000 - 100}&end_time=${NOON / 1000 - 50}`)
    assert.deepEqual(early.trades, [])
    assert.equal(early.headers.get('x-data-start'), String(NOON / 1000))
    assert.equal((await page(`start_time=${NOON / 1000}`)).headers.get('x-data-start'), null)
  })

  test('accepts a slug beside an unknown market id, and refuses a slug of a different market than a known id', async () => {
    const by = (id: string, slug: string) => server.get(`/v1/markets/${id}/trades?slug=${slug}`)
    assert.equal((await by('unknown', 'THE-other')).body.market_id, 'venue_a_other')
    assert.equal((await by('venue_a_other', 'the-other')).status, 200)
    assert.equal((await by('venue_a_other', 'none')).status, 200)
    assert.equal((await by('venue_a_busy', 'the-other')).status, 400)
    assert.equal((await by('unknown', 'none')).status, 404)
  })
})
