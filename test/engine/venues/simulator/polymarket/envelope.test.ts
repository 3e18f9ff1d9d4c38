import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { SimWallet } from '../../../../../engine/venues/simulator/model.ts'
import { record, records, request } from '../../../../support/clients/venue-client.ts'
import { type StubVenue, startStubVenue } from '../../../../support/fakes/stub-venue.ts'
import { marketAt, size } from '../../../../support/worlds/stub-world.ts'

const ANN: SimWallet = { address: `0x${'a1'.repeat(20)}`, name: '', pseudonym: 'Calm-Otter' }
const BOB: SimWallet = { address: `0x${'b2'.repeat(20)}`, name: '', pseudonym: 'Idle-Raven' }

test('refuses a changed cursor or a cursor of a different path, and returns old first pages under the fault stale_cache', async (t) => {
  const venue = await startStubVenue({ faults: ['stale_cache'] })
  t.after(() => venue.stop())
  venue.world.addEvent(1)
  const market = marketAt(venue.world, 0)
  venue.world.setLevels(market, ['ask', 0.42, 1_000_000])
  const makers = [{ wallet: BOB, size: size(10) }]
  for (let count = 0; count < 5; count += 1) {
    venue.world.trade(market, { contracts: 10, taker: ANN, makers })
    venue.clock.advance(1_000)
  }
  const of = async (path: string) => {
    const answer = await request(`${venue.data}/v2/${path}`)
    const body = record(answer.body)
    return { answer, body, pagination: record(body.pagination ?? {}) }
  }
  const activity = `activity?user=${ANN.address}`
  const first = await of(`${activity}&limit=2`)
  assert.equal(first.answer.headers.get('cache-control'), 'public, max-age=15')
  const cursor = String(first.pagination.next_cursor)
  const second = await of(`${activity}&limit=999&cursor=${cursor}`)
  assert.deepEqual(
    [records(second.body.data).length, second.pagination.limit, second.pagination.offset],
    [2, 2, 2],
    'the page size in the cursor takes precedence',
  )
  const forged = Buffer.from(cursor, 'base64url').toString().replace('"l":2', '"l":900')
  const bad = [
    `${activity}&cursor=${Buffer.from(forged).toString('base64url')}`,
    `positions?user=${ANN.address}&cursor=${cursor}`,
    `${activity}&offset=2`,
  ]
  for (const path of bad) assert.equal((await of(path)).answer.status, 400, path)

  const count = async (path: string) => {
    const { answer, body } = await of(path)
    return [records(body.data).length, answer.headers.get('age')]
  }
  assert.deepEqual(await count(activity), [5, null])
  venue.chance.value = 0
  assert.deepEqual(await count(activity), [5, null], 'the answer is cached from now on')
  venue.world.trade(market, { contracts: 10, taker: ANN, makers })
  venue.clock.advance(14_999)
  assert.deepEqual(await count(activity), [5, '14'])
  assert.deepEqual(
    await count(`${activity}&limit=50`),
    [6, null],
    'each URL has a separate cached copy',
  )
  const rest = await of(`${activity}&limit=2&cursor=${cursor}`)
  assert.equal(records(rest.body.data).length, 2)
  venue.world.trade(market, { contracts: 10, taker: ANN, makers })
  assert.equal((await of(`${activity}&limit=2&cursor=${cursor}`)).answer.headers.get('age'), null)
  venue.clock.advance(1)
  assert.deepEqual(await count(activity), [7, null], 'the cached copy has expired')
  assert.deepEqual(await count('trades'), [7, null])
  venue.world.trade(market, { contracts: 10, taker: ANN, makers })
  venue.clock.advance(299_000)
  assert.deepEqual(await count('trades'), [7, '299'])
})

test('returns 404 for paths of version 1 of the Data API, or 410 under the fault v1_retired', async (t) => {
  for (const [faults, status, body] of [
    [[], 404, /not found/],
    [['v1_retired'], 410, /retired/],
  ] as const) {
    const venue = await startStubVenue({ faults })
    t.after(() => venue.stop())
    venue.chance.value = 0
    for (const path of ['/trades?limit=1', '/v1/positions', '/oi', '/v1/holders']) {
      const answer = await request(`${venue.data}${path}`)
      assert.equal(answer.status, status, path)
      assert.match(answer.text, body)
    }
    assert.equal((await request(`${venue.data}/v2/trades`)).status, 200)
    assert.equal((await request(`${venue.data}/v1/accounting/snapshot`)).status, 404)
  }
})

const RECORDED = `${process.env.SHARED_DATA ?? '../shared/data'}/fixtures/polymarket-data-v2`
const lacksDocument = existsSync(RECORDED) ? false : 'NO DOCUMENT OF DATA API V2 HERE (SHARED_DATA)'
const recordedOf = (name: string) => JSON.parse(readFileSync(`${RECORDED}/${name}.json`, 'utf8'))

/** Ann bought in two fills in each of two markets and sold a part. One of the markets is resolved. */
async function startTraded(): Promise<StubVenue> {
  const venue = await startStubVenue()
  venue.world.addEvent(3)
  for (const index of [0, 1]) {
    const market = marketAt(venue.world, index)
    venue.world.setLevels(market, ['bid', 0.4, 1_000_000], ['ask', 0.42, 1_000_000])
    const makers = [{ wallet: BOB, size: size(10) }]
    const fill = venue.world.trade(market, { contracts: 10, taker: ANN, makers })
    venue.world.trade(market, { contracts: 10, taker: ANN, makers, txHash: fill.txHash })
    venue.clock.advance(120_000)
    venue.world.trade(market, { contracts: 10, taker: ANN, makers, side: 'sell' })
    venue.clock.advance(1_000)
  }
  venue.world.setStatus(marketAt(venue.world, 0), 'resolved', 'resolved')
  return venue
}

test('returns responses as the venue’s OpenAPI document specifies, including cache times and errors', {
  skip: lacksDocument,
}, async (t) => {
  const venue = await startTraded()
  t.after(() => venue.stop())
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema(recordedOf('openapi'), 'document')
  const validator = (path: string, status: number) => {
    const pointer = `/v2/${path}`.replaceAll('/', '~1')
    const schema = `document#/paths/${pointer}/get/responses/${status}/content/application~1json/schema`
    return ajv.getSchema(schema) ?? assert.fail(`no schema of ${path} ${status}`)
  }
  const [resolved, open] = [0, 1].map((index) => marketAt(venue.world, index).listing)
  assert.ok(resolved !== undefined && open !== undefined)
  const unknown = `0x${'9'.repeat(64)}`
  const [token] = open.tokens
  const rows: Record<string, number> = {}
  for (const [path, query, status, age] of [
    ['trades', '', 200, 300],
    ['trades', `condition=${resolved.nativeId},${open.nativeId}&taker_only=false`, 200, 300],
    ['trades', 'event_id=500&limit=1', 200, 300],
    ['trades', `user=${ANN.address}`, 200, 300],
    ['trades', `condition=${unknown}`, 200, 300],
    ['trades', 'condition=cows', 400, null],
    ['trades', 'offset=1', 400, null],
    ['oi', '', 200, 300],
    ['oi', `condition=${resolved.nativeId},${open.nativeId},${unknown}`, 200, 300],
    ['oi', 'condition=cows', 400, null],
    ['resolutions', `condition=${resolved.nativeId},${open.nativeId}`, 200, null],
    ['resolutions', 'event_id=500', 200, null],
    ['resolutions', '', 400, null],
    ['status', '', 200, null],
    ['prices-history', `token_id=${token}&interval=1h`, 200, null],
    ['prices-history', `token_id=${resolved.tokens[0]}&interval=max&limit=2`, 200, null],
    ['prices-history', `token_id=1&interval=1h`, 200, null],
    ['prices-history', `token_id=${token}`, 400, null],
    ['activity', `user=${BOB.address}&limit=1000`, 200, 15],
    ['activity', `user=${ANN.address}&limit=2`, 200, 15],
    ['activity', `user=0x${'99'.repeat(20)}`, 200, 15],
    ['activity', 'user=nobody', 400, null],
    ['activity', `user=${ANN.address}&type=NONE`, 400, null],
    ['activity', `user=${ANN.address}&limit=1001`, 400, null],
    ['positions', `user=${ANN.address}&filter_amount=0`, 200, 5],
    ['positions', `user=${BOB.address}&status=CLOSED&limit=3`, 200, 5],
    ['positions', `condition=${open.nativeId}`, 200, 5],
    ['positions', '', 400, null],
    ['value', `user=${ANN.address}`, 200, null],
    ['value', 'user=0x006F54F7f9A22e0000CC2AB60031000000ae9fEF', 400, null],
    ['user-stats', `user=${ANN.address}`, 200, null],
    ['user-stats', `user=0x${'99'.repeat(20)}`, 200, null],
    ['user-stats', '', 400, null],
  ] as const) {
    const response = await fetch(`${venue.data}/v2/${path}?${query}`)
    assert.equal(response.status, status, `${path}?${query}`)
    const isValid = validator(path, status)
    const body = record(await response.json())
    assert.ok(isValid(body), `${path}?${query} ${ajv.errorsText(isValid.errors)}`)
    const stored = age === null ? null : `public, max-age=${age}`
    assert.equal(response.headers.get('cache-control'), stored)
    rows[path] = (rows[path] ?? 0) + (Array.isArray(body.data) ? body.data.length : 1)
  }
  assert.ok(Object.values(rows).every((count) => count > 0))
  t.diagnostic(`rows by path: ${JSON.stringify(rows)}`)
  // The document does not contain the holders, so a recorded answer replaces it.
  const [theirs] = records(recordedOf('holders').data)
  const answer = await request(`${venue.data}/v2/holders?condition=${open.nativeId}`)
  for (const group of records(record(answer.body).data)) {
    assert.deepEqual(Object.keys(group), Object.keys(theirs ?? {}))
    const [holder] = records(group.holders)
    const types = (row: unknown) =>
      Object.entries(record(row)).map(([key, value]) => [key, typeof value])
    assert.deepEqual(types(holder), types(records(theirs?.holders)[0]))
  }
})

test('returns one price per time step, oldest first, and the payout as the last price', async (t) => {
  const venue = await startTraded()
  t.after(() => venue.stop())
  const history = async (index: number, query: string) => {
    const [token] = marketAt(venue.world, index).listing.tokens
    const answer = await request(`${venue.data}/v2/prices-history?token_id=${token}&${query}`)
    assert.equal(answer.status, 200, answer.text)
    const body = record(answer.body)
    return { rows: records(body.data), next: record(body.pagination).next_cursor }
  }
  const { rows } = await history(1, 'interval=1h')
  assert.equal(rows.length, 60)
  const times = rows.map(({ timestamp }) => Number(timestamp))
  assert.ok(times.every((at, position) => at === Number(times[0]) + 60 * position))
  assert.ok(rows.some(({ price }) => price === 0.42))
  const walked: unknown[] = []
  for (let next: unknown = ''; next !== null; ) {
    const page = await history(1, `interval=1h&limit=7${next === '' ? '' : `&cursor=${next}`}`)
    walked.push(...page.rows)
    next = page.next
  }
  assert.deepEqual(walked, rows)
  const end = (await history(0, 'interval=max')).rows.at(-1)
  assert.deepEqual([end?.price, end?.resolution_seconds], [1, 0])
  const [token] = marketAt(venue.world, 1).listing.tokens
  for (const query of ['', 'interval=2y']) {
    const url = `${venue.data}/v2/prices-history?token_id=${token}&${query}`
    assert.equal((await request(url)).status, 400, query)
  }
})
