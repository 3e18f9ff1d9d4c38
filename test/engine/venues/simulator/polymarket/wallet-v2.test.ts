// The simulated Data API v2 about wallets, and what v1 and v2 show once markets have resolved.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { SimWallet } from '../../../../../engine/venues/simulator/model.ts'
import { ask, record, records } from '../../../../support/clients/venue-client.ts'
import { type StubVenue, startStubVenue } from '../../../../support/fakes/stub-venue.ts'
import { marketAt, price, size } from '../../../../support/worlds/stub-world.ts'

const MARKETS = 60
const ANN: SimWallet = { address: `0x${'a1'.repeat(20)}`, name: '', pseudonym: 'Calm-Otter' }
const BOB: SimWallet = { address: `0x${'b2'.repeat(20)}`, name: 'Bob', pseudonym: 'Idle-Raven' }

let venue: StubVenue

function deal(made: {
  market: number
  contracts: number
  at: number
  side?: 'buy' | 'sell'
}): void {
  const { market, contracts, at, side = 'buy' } = made
  const makers = [{ wallet: BOB, size: size(contracts) }]
  const fields = { contracts, price: price(at), side, taker: ANN, makers }
  venue.world.trade(marketAt(venue.world, market), fields)
}

// Ann buys ten of each market, sells those of all but the first five, and the first two resolve.
before(async () => {
  venue = await startStubVenue()
  venue.world.addEvent(MARKETS)
  for (let market = 0; market < MARKETS; market += 1) {
    venue.world.setLevels(marketAt(venue.world, market), ['ask', 0.42, 1_000_000])
    deal({ market, contracts: 10, at: 0.4 })
    if (market % 10 === 0) venue.clock.advance(1_000)
  }
  venue.clock.advance(1_000)
  for (let market = 5; market < MARKETS; market += 1) {
    deal({ market, contracts: 10, at: 0.4 + market / 1_000, side: 'sell' })
  }
  venue.world.setStatus(marketAt(venue.world, 0), 'resolved', 'resolved')
})
after(() => venue.stop())

async function page(path: string) {
  const answer = await ask(`${venue.data}/v2/${path}`)
  assert.equal(answer.status, 200, answer.text)
  const body = record(answer.body)
  const pagination = record(body.pagination)
  assert.equal(pagination.has_more, pagination.next_cursor !== null)
  return { rows: records(body.data), next: pagination.next_cursor }
}

async function pages(path: string, limit: number) {
  const rows: Readonly<Record<string, unknown>>[] = []
  for (let next: unknown = ''; next !== null; ) {
    const cursor = next === '' ? '' : `&cursor=${next}`
    const got = await page(`${path}&limit=${limit}${cursor}`)
    assert.ok(got.rows.length <= limit && got.rows.length > 0)
    rows.push(...got.rows)
    next = got.next
  }
  return rows
}

test('[SIMWALLET13] v2 rows are v1’s in snake_case, and its pages give each row once', async () => {
  const v1 = records((await ask(`${venue.data}/activity?user=${ANN.address}&limit=500`)).body)
  const rows = await pages(`activity?user=${ANN.address}`, 13)
  assert.deepEqual(Object.keys(rows[0] ?? {}).sort(), ACTIVITY_KEYS)
  assert.deepEqual(
    rows.map((row) => [row.transaction_hash, row.token_id, row.usdc_size, row.outcome_index]),
    v1.map((row) => [row.transactionHash, row.asset, row.usdcSize, row.outcomeIndex]),
  )
  assert.equal(v1.length, 2 * MARKETS - 5)
  const rising = await pages(`activity?user=${ANN.address}&sortDirection=ASC`, 50)
  assert.deepEqual(rising, rows.toReversed())
  const splits = await pages(`activity?user=${BOB.address}&type=SPLIT`, 7)
  assert.ok(splits.length >= MARKETS)
  assert.ok(splits.every((row) => row.token_id === '' && row.outcome_index === 999))
})

test('[SIMWALLET13] rows that come between two pages of v2 move none of the others', async () => {
  const first = await page(`activity?user=${ANN.address}&limit=20`)
  const whole = await pages(`activity?user=${ANN.address}`, 1_000)
  deal({ market: 59, contracts: 3, at: 0.4 })
  venue.clock.advance(1_000)
  deal({ market: 59, contracts: 3, at: 0.4, side: 'sell' })
  const second = await page(`activity?user=${ANN.address}&limit=20&cursor=${first.next}`)
  assert.deepEqual([...first.rows, ...second.rows], whole.slice(0, 40))
})

test('[SIMWALLET13] v2 positions have a status, and the sums of a row add up', async () => {
  const open = await pages(`positions?user=${ANN.address}`, 2)
  assert.equal(open.length, 5)
  assert.deepEqual(Object.keys(open[0] ?? {}).sort(), POSITION_KEYS)
  assert.deepEqual(open.map(({ status }) => status).sort(), [
    'OPEN',
    'OPEN',
    'OPEN',
    'OPEN',
    'REDEEMABLE',
  ])
  const closed = await pages(`positions?user=${ANN.address}&status=CLOSED`, 9)
  assert.equal(closed.length, MARKETS - 5)
  for (const row of [...open, ...closed]) {
    const number = (key: string) => Number(row[key])
    const near = (one: number, other: number) => assert.ok(Math.abs(one - other) < 2e-6)
    near(number('total_cost_usdc'), number('entry_cost_usdc') + number('entry_fees_usdc'))
    near(number('unrealized_pnl'), number('current_value') - number('entry_cost_usdc'))
    near(number('total_pnl'), number('realized_pnl') + number('unrealized_pnl'))
  }
  const [won] = await pages(`positions?user=${ANN.address}&status=REDEEMABLE`, 9)
  assert.deepEqual([won?.current_price, won?.current_size, won?.redeemable], [1, 10, true])
  const lost = await pages(`positions?user=${BOB.address}&status=REDEEMABLE_LOST`, 9)
  assert.deepEqual([lost.length, lost[0]?.current_price, lost[0]?.outcome], [1, 0, 'No'])
  const { nativeId } = marketAt(venue.world, 1).listing
  const holders = await pages(`positions?condition=${nativeId}`, 9)
  assert.deepEqual(
    new Set(holders.map((row) => row.proxy_wallet)),
    new Set([ANN.address, BOB.address]),
  )
})

test('[SIMWALLET13] what v2 cannot read is a 400 with a code, a parameter and a trace id', async () => {
  const bad = {
    activity: 'user',
    'activity?user=0x12': 'user',
    [`activity?user=${ANN.address}&limit=1001`]: 'limit',
    [`activity?user=${ANN.address}&offset=5`]: 'offset',
    [`activity?user=${ANN.address}&cursor=cows`]: 'cursor',
    positions: 'user',
    [`positions?user=${ANN.address}&status=COWS`]: 'status',
    [`positions?user=${ANN.address}&sort_by=COWS`]: 'sort_by',
  }
  for (const [path, parameter] of Object.entries(bad)) {
    const answer = await ask(`${venue.data}/v2/${path}`)
    assert.equal(answer.status, 400, path)
    const body = record(answer.body)
    assert.deepEqual(
      [body.code, body.retryable, body.parameter],
      ['invalid_request', false, parameter],
    )
    assert.equal(answer.headers.get('x-trace-id'), body.trace_id)
  }
})

test('[SIMWALLET10] closed positions come fifty at most, whatever limit is asked for', async () => {
  const of = `${venue.data}/closed-positions?user=${ANN.address}`
  const first = records((await ask(`${of}&limit=500`)).body)
  const second = records((await ask(`${of}&limit=500&offset=50`)).body)
  assert.deepEqual([first.length, second.length], [50, 5])
  const profits = [...first, ...second].map(({ realizedPnl }) => Number(realizedPnl))
  assert.deepEqual(
    profits,
    profits.toSorted((one, other) => other - one),
  )
  assert.equal(new Set([...first, ...second].map(({ asset }) => asset)).size, MARKETS - 5)
  assert.equal(records((await ask(of)).body).length, 10)
})

test('[SIMWALLET9] a losing position stays at price 0 with nothing realised until it is redeemed', async () => {
  const of = (address: string) =>
    ask(`${venue.data}/positions?user=${address}&redeemable=true`).then(({ body }) => records(body))
  const [lost] = await of(BOB.address)
  assert.deepEqual(
    [lost?.outcome, lost?.curPrice, lost?.realizedPnl, lost?.currentValue, lost?.redeemable],
    ['No', 0, 0, 0, true],
  )
  assert.equal(lost?.cashPnl, -Number(lost?.initialValue))
  const [won] = await of(ANN.address)
  assert.deepEqual([won?.curPrice, won?.size, won?.avgPrice, won?.cashPnl], [1, 10, 0.4, 6])
})

const ACTIVITY_KEYS = [
  'bio',
  'condition_id',
  'event_slug',
  'icon',
  'name',
  'outcome',
  'outcome_index',
  'price',
  'profile_image',
  'profile_image_optimized',
  'proxy_wallet',
  'pseudonym',
  'side',
  'size',
  'slug',
  'timestamp',
  'title',
  'token_id',
  'transaction_hash',
  'type',
  'usdc_size',
]
const POSITION_KEYS = [
  'archived',
  'avg_price',
  'condition_id',
  'current_price',
  'current_size',
  'current_value',
  'end_date',
  'entry_cost_usdc',
  'entry_fees_usdc',
  'event_id',
  'event_slug',
  'first_entry_at',
  'icon',
  'last_event_at',
  'mergeable',
  'name',
  'negative_risk',
  'opposite_outcome',
  'opposite_token_id',
  'outcome',
  'outcome_index',
  'percent_pnl',
  'percent_realized_pnl',
  'profile_image',
  'proxy_wallet',
  'realized_pnl',
  'redeemable',
  'slug',
  'status',
  'title',
  'token_id',
  'total_cost_usdc',
  'total_pnl',
  'total_size',
  'unrealized_pnl',
  'verified',
]

const DOCUMENT = `${process.env.SHARED_DATA ?? '../shared/data'}/fixtures/polymarket-data-v2/openapi.json`
const lacksDocument = existsSync(DOCUMENT) ? false : 'NO DOCUMENT OF DATA API V2 HERE (SHARED_DATA)'

test('[SIMWALLET18] answers about wallets, refusals among them, are valid by the venue’s own document, and say how long caches keep them', {
  skip: lacksDocument,
}, async (t) => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema(JSON.parse(readFileSync(DOCUMENT, 'utf8')), 'document')
  const judge = (path: string, status: number) => {
    const pointer = `/v2/${path}`.replaceAll('/', '~1')
    const schema = `document#/paths/${pointer}/get/responses/${status}/content/application~1json/schema`
    return ajv.getSchema(schema) ?? assert.fail(`no schema of ${path} ${status}`)
  }
  let count = 0
  for (const [path, query, status, age] of [
    ['activity', `user=${BOB.address}&limit=1000`, 200, 15],
    ['activity', `user=${ANN.address}&limit=2`, 200, 15],
    ['activity', `user=0x${'99'.repeat(20)}`, 200, 15],
    ['activity', 'user=nobody', 400, null],
    ['activity', `user=${ANN.address}&type=NONE`, 400, null],
    ['activity', `user=${ANN.address}&limit=1001`, 400, null],
    ['positions', `user=${ANN.address}&filter_amount=0`, 200, 5],
    ['positions', `user=${ANN.address}&status=CLOSED&limit=3`, 200, 5],
    ['positions', '', 400, null],
    ['value', `user=${ANN.address}`, 200, null],
    ['value', 'user=0x006F54F7f9A22e0000CC2AB60031000000ae9fEF', 400, null],
    ['user-stats', `user=${ANN.address}`, 200, null],
    ['user-stats', `user=0x${'99'.repeat(20)}`, 200, null],
    ['user-stats', '', 400, null],
  ] as const) {
    const response = await fetch(`${venue.data}/v2/${path}?${query}`)
    assert.equal(response.status, status, `${path}?${query}`)
    const isValid = judge(path, status)
    assert.ok(isValid(await response.json()), `${path}?${query} ${ajv.errorsText(isValid.errors)}`)
    const kept = age === null ? null : `public, max-age=${age}`
    assert.equal(response.headers.get('cache-control'), kept)
    count += 1
  }
  t.diagnostic(`${count} answers are valid`)
})
