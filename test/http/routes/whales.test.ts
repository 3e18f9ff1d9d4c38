// Compares whale answers with an array of the same rows.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { nativeMarketId } from '../../../engine/ids.ts'
import { type Random, seededRandom } from '../../../engine/random.ts'
import { priceMicros, sizeMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import { type ApiServer, openApiServer } from '../../support/rigs/api-server.ts'
import { NOON } from '../../support/worlds/builders.ts'

const WALLETS = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`]

/** The fields that filters use. */
interface Row {
  readonly id: string
  readonly market: string
  readonly platform: string
  readonly usd: number
  readonly side: 'buy' | 'sell'
  readonly outcomeIndex: number
  readonly wallet: string | null
  readonly category: string | null
  readonly atMs: number
}

let server: ApiServer
const rows: Row[] = []
before(async () => {
  server = await openApiServer()
  const random = seededRandom('whales')
  const existing = [server.engine.add('one'), server.engine.add('two', { venue: 'b' })] as const
  for (let index = 0; index < 300; index += 1) addRow(random, index, existing)
})
after(() => server.stop())

/** Several rows share a millisecond. Some rows belong to a market that is not in the catalogue. */
function addRow(
  random: Random,
  index: number,
  existing: readonly { readonly ref: { readonly number: number } }[],
): void {
  const at = random.below(3)
  const name = ['one', 'two', 'Gone-3'][at] ?? ''
  const isOfB = at === 1
  const row: Row = {
    id: `w${index}`,
    market: `${isOfB ? 'venue_b' : 'venue_a'}_${name}`,
    platform: isOfB ? 'venue_b' : 'venue_a',
    usd: 1_000 + random.below(9_000),
    side: random.below(2) === 0 ? 'buy' : 'sell',
    outcomeIndex: random.below(2),
    wallet: isOfB ? null : random.pick(WALLETS),
    category: random.pick(['Sports', 'crypto', null]),
    atMs: NOON + Math.floor(index / 7) * 400,
  }
  rows.push(row)
  const market = {
    number: existing[at]?.ref.number ?? 99,
    venue: isOfB ? ('b' as const) : ('a' as const),
    nativeId: nativeMarketId(name),
  }
  server.engine.whaleRows.put(market, {
    ...{ nativeId: row.id, timeMs: timeMs(row.atMs), receivedAtMs: timeMs(row.atMs + 5) },
    ...{ price: priceMicros(200_000), size: sizeMicros(contractsOf(row) * 1e6), side: row.side },
    ...{
      outcomeIndex: row.outcomeIndex,
      usd: usdMicros(row.usd * 1_000_000),
      maker: null,
      taker: row.wallet,
    },
    ...{
      txHash: null,
      isBlock: false,
      outcome: labelOf(row),
      question: 'Will it?',
      slug: 'will-it',
      eventSlug: null,
    },
    ...{ category: row.category, wallet: row.wallet, fills: 2, run: null, offset: null, seq: null },
  })
}

const labelOf = ({ outcomeIndex }: Row) => (outcomeIndex === 0 ? 'Yes' : 'No')
/** The first outcome costs 0.2. `size_usd` is the traded outcome's price times the number of contracts. */
const contractsOf = ({ usd, outcomeIndex }: Row) => (outcomeIndex === 0 ? usd * 5 : usd * 1.25)

function takerOf(row: Row) {
  const isFirst = row.outcomeIndex === 0
  return {
    taker_outcome: labelOf(row),
    taker_side: isFirst === (row.side === 'buy') ? 'buy' : 'sell',
    taker_price: isFirst ? 0.2 : 0.8,
  }
}

async function pages(path: string, query: string): Promise<string[]> {
  const ids: string[] = []
  let cursor = ''
  for (;;) {
    const got = await server.get(`${path}?${query}${cursor}`)
    assert.equal(got.status, 200, got.text)
    const { trades, cursor: next } = got.body
    assert.ok(Array.isArray(trades))
    for (const { id } of trades) ids.push(String(id))
    assert.equal(got.body.has_more, next !== null)
    if (next === null) return ids
    cursor = `&cursor=${String(next)}`
  }
}

/** Newest first, and within a millisecond the last stored row first. */
const expected = (isWanted: (row: Row) => boolean) =>
  rows
    .filter(isWanted)
    .reverse()
    .map(({ id }) => id)

test('returns the same whale trade fields as the stream, and the minimum of the list in dollars', async () => {
  const { body } = await server.get('/v1/whales?limit=1&min_usd=1000')
  const last = rows[rows.length - 1]
  assert.ok(last !== undefined && Array.isArray(body.trades))
  assert.deepEqual(body.trades[0], {
    ...{ id: last.id, market_id: last.market, platform: last.platform, price: 0.2 },
    ...{ size: contractsOf(last), side: last.side, outcome: labelOf(last), size_usd: last.usd },
    ...{ timestamp_ms: last.atMs, native_trade_id: last.id, maker: null, taker: last.wallet },
    ...{
      tx_hash: null,
      is_block_trade: false,
      question: 'Will it?',
      slug: 'will-it',
      event_slug: null,
    },
    ...{ category: last.category, wallet: last.wallet, fills: 2 },
    ...takerOf(last),
  })
  assert.equal(body.min_usd, 1_000)
  assert.equal((await server.get('/v1/whales')).body.min_usd, 5_000)
})

test('returns the same whale trades as a reference implementation for every filter combination, each row once', async () => {
  const wallet = WALLETS[0] ?? ''
  const second = NOON / 1_000
  const cases: readonly (readonly [string, (row: Row) => boolean])[] = [
    ['min_usd=1000', () => true],
    ['', ({ usd }) => usd >= 5_000],
    ['min_usd=7500', ({ usd }) => usd >= 7_500],
    ['min_amount=9000&platform=venue_b', (row) => row.usd >= 9_000 && row.platform === 'venue_b'],
    [
      'min_usd=1000&side=sell&category=SPORTS',
      (row) => row.side === 'sell' && row.category === 'Sports',
    ],
    [
      `min_usd=1000&wallet=${wallet.toUpperCase().replace('0X', '0x')}`,
      (row) => row.wallet === wallet,
    ],
    ['min_usd=1000&taker_side=sell', (row) => takerOf(row).taker_side === 'sell'],
    [
      'min_usd=1000&side=buy&taker_side=sell',
      (row) => row.side === 'buy' && takerOf(row).taker_side === 'sell',
    ],
    ['min_usd=1000&market_id=venue_a_one', (row) => row.market === 'venue_a_one'],
    [
      'min_usd=2000&market_id=venue_a_GONE-3',
      (row) => row.market === 'venue_a_Gone-3' && row.usd >= 2_000,
    ],
    ['min_usd=1000&market_id=venue_a_one&platform=venue_b', () => false],
    ['market_id=venue_a_nowhere', () => false],
    [
      `min_usd=1000&start_time=${second + 3}&end_time=${second + 9}`,
      ({ atMs }) => atMs >= NOON + 3_000 && atMs < NOON + 10_000,
    ],
  ]
  for (const [query, isWanted] of cases) {
    const found = await pages('/v1/whales', `${query}&limit=20`)
    assert.deepEqual(found, expected(isWanted), query)
  }
  const oldest = await pages('/v1/whales/trades', 'min_usd=1000&order=asc&limit=23')
  assert.deepEqual(oldest, expected(() => true).reverse())
})

test('returns the whale trades of one market at the path of the market', async () => {
  const found = await pages('/v1/markets/VENUE_A_one/whales', 'limit=7&side=buy')
  assert.deepEqual(
    found,
    expected((row) => row.market === 'venue_a_one' && row.side === 'buy' && row.usd >= 5_000),
  )
  assert.equal((await server.get('/v1/markets/venue_a_nowhere/whales')).status, 404)
})

test('returns no whale trades below 1,000 dollars, and reports 1,000 dollars as the minimum', async () => {
  const got = await server.get('/v1/whales?min_usd=999.99')
  assert.equal(got.status, 422)
  assert.match(got.text, /greater than or equal to 1000/)
})

test('marks the whale trades of a venue as incomplete while the venue’s stream of wallet addresses is unavailable', async () => {
  const { engine } = server
  const lacks = async (path: string) => {
    const { headers } = await server.get(path)
    return [headers.get('x-data-complete'), headers.get('x-data-incomplete')]
  }
  assert.deepEqual(await lacks('/v1/whales'), [null, null])
  const before = engine.venueViews
  const [a, ...others] = before
  assert.ok(a !== undefined)
  engine.venueViews = [{ ...a, tradesSource: 'last_trade_price' }, ...others]
  const why = 'wallets_unknown: the stream that names wallets has ended (venue_a)'
  for (const path of [
    '/v1/whales',
    '/v1/whales?platform=venue_a',
    '/v1/markets/venue_a_one/whales',
  ])
    assert.deepEqual(await lacks(path), ['false', why])
  assert.deepEqual(await lacks('/v1/whales?platform=venue_b'), [null, null])
  engine.venueViews = before
})
