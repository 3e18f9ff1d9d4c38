import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FetchError } from '../../../../engine/fetch.ts'
import { silentLog } from '../../../../engine/process/log.ts'
import {
  checkMarketRows,
  polymarketProbes,
} from '../../../../engine/venues/polymarket/drift-checks.ts'
import { quietDrift } from '../../../support/fakes/quiet-drift.ts'

const TRADE = {
  ...{ proxy_wallet: '0x1', side: 'BUY', token_id: '7', condition_id: '0x2', size: 1, price: 0.5 },
  ...{ timestamp: 1, transaction_hash: '0x3', title: '', slug: '', icon: '', event_slug: '' },
  ...{ outcome: '', outcome_index: 0, name: '', pseudonym: '', bio: '', profile_image: '' },
  profile_image_optimized: '',
}
const MARKET = {
  ...{ id: '1', slug: 'x', question: 'X?', outcomes: '["Yes","No"]', active: true, closed: false },
  conditionId: `0x${'a'.repeat(64)}`,
}
const RIGHT: Readonly<Record<string, unknown>> = {
  '/v2/status': { data: { age_seconds: 4 } },
  '/v2/trades': { data: [TRADE] },
  '/trades': new FetchError('status', 'status 410', { status: 410 }),
  '/markets/keyset': { markets: [MARKET] },
}

async function findings(answers: Readonly<Record<string, unknown>>, headers = {}) {
  const drift = quietDrift()
  const client = {
    getJson: async (path: string, _query: unknown, options?: { onHead?: unknown }) => {
      const answer = answers[path]
      if (typeof options?.onHead === 'function') options.onHead(200, headers)
      if (answer instanceof Error) throw answer
      return answer
    },
  }
  drift.probes.add(polymarketProbes({ gamma: client, data: client, drift, log: silentLog }))
  await drift.probes.runAll(new AbortController().signal)
  return drift.entries().map(({ kind, name, weight }) => `${kind}=${name} ${weight}`)
}

test('reports no drift for documented responses: v1 live or retired, both protocol versions and id widths', async () => {
  assert.deepEqual(await findings(RIGHT), [])
  assert.deepEqual(await findings({ ...RIGHT, '/trades': [] }), [])
  const v2 = { ...MARKET, version: 'v2', conditionId: `0x${'a'.repeat(62)}`, positionIds: ['1'] }
  assert.deepEqual(await findings({ ...RIGHT, '/markets/keyset': { markets: [MARKET, v2] } }), [])
})

test('reports each synthetic deviation from the documented responses as a loss or a notice', async () => {
  const { price, ...unpriced } = TRADE
  const market = (set: object) => ({ '/markets/keyset': { markets: [{ ...MARKET, ...set }] } })
  const cases: readonly (readonly [object, readonly string[]])[] = [
    [{ '/v2/status': { data: { age_seconds: 121 } } }, ['data.status=older than 120 s notice']],
    [{ '/v2/status': { data: {} } }, ['data.status=no age_seconds notice']],
    [
      { '/v2/trades': { data: [{ ...unpriced, cost: price }] } },
      ['data.trades.field=price missing loss', 'data.trades.field=cost new notice'],
    ],
    [{ '/v2/trades': { rows: [] } }, ['data.answer=/v2/trades no list loss']],
    [{ '/markets/keyset': { data: [] } }, ['gamma.answer=/markets/keyset no list loss']],
    [market({ version: 'v3' }), ['gamma.version=v3 loss']],
    [market({ resolutionStatus: 'void' }), ['gamma.resolutionStatus=void loss']],
    [market({ feeType: 'moon fees' }), ['gamma.feeType=moon fees notice']],
    [
      market({ feeSchedule: { rate: 0, exponent: 1, floor: 1 } }),
      ['gamma.feeSchedule=floor new notice'],
    ],
    [market({ conditionId: '0xabc' }), ['gamma.conditionId=3 digits loss']],
    [market({ active: 'true' }), ['gamma.market.field=active is text loss']],
  ]
  for (const [answers, expected] of cases) {
    assert.deepEqual(await findings({ ...RIGHT, ...answers }), expected)
  }
  const stored = (headers: object) => findings(RIGHT, headers)
  assert.deepEqual(await stored({ 'cache-control': 'public, max-age=300', age: '300' }), [])
  assert.deepEqual(await stored({ 'cache-control': 'public, max-age=3600' }), [
    'data.cache=/v2/trades notice',
  ])
  assert.deepEqual(await stored({ 'cache-control': 'public, max-age=300', age: '301' }), [
    'data.cache=/v2/trades notice',
  ])
})

test('reports a notice when the venue retires v1 of its Data API while the service runs', async () => {
  const drift = quietDrift()
  let v1: unknown = []
  const getJson = async (path: string) => {
    const answer = path === '/trades' ? v1 : RIGHT[path]
    if (answer instanceof Error) throw answer
    return answer
  }
  drift.probes.add(
    polymarketProbes({ gamma: { getJson }, data: { getJson }, drift, log: silentLog }),
  )
  const { signal } = new AbortController()
  await drift.probes.runAll(signal)
  v1 = new FetchError('body', 'not JSON: <html>')
  await drift.probes.runAll(signal)
  await drift.probes.runAll(signal)
  const published = drift.entries().map(({ kind, name, count }) => [kind, name, count])
  assert.deepEqual(published, [['data.v1', 'retired: no JSON', 1]])
})

test('checks market rows per page, and ignores a single malformed row', () => {
  const drift = quietDrift()
  checkMarketRows([MARKET, { ...MARKET, slug: 7 }], drift)
  checkMarketRows([], drift)
  assert.deepEqual(drift.entries(), [])
})

test('checks the fields of open markets on pages with at least ten open markets, and on no other pages', () => {
  const usual = {
    ...{ description: '', createdAt: '', updatedAt: '', endDate: '', outcomePrices: '["0","1"]' },
    ...{ acceptingOrders: true, orderPriceMinTickSize: 0.01, bestAsk: 1, volumeNum: 0 },
    ...{ negRisk: false, feesEnabled: false },
  }
  const namesOf = (open: object, openCount: number) => {
    const drift = quietDrift()
    const rows = Array.from({ length: openCount }, () => ({ ...MARKET, ...open }))
    const closed = Array.from({ length: 30 }, () => ({ ...MARKET, closed: true }))
    checkMarketRows([...rows, ...closed], drift)
    return drift.entries().map(({ name, weight }) => `${name} ${weight}`)
  }
  assert.deepEqual(namesOf(usual, 10), [])
  const { feesEnabled: _flag, ...feeless } = usual
  assert.deepEqual(namesOf(feeless, 10), ['feesEnabled missing loss'])
  assert.deepEqual(namesOf({ ...usual, volumeNum: 1 }, 49), [])
  assert.deepEqual(namesOf({ ...usual, volumeNum: 1 }, 50), ['volume24hr missing loss'])
  assert.deepEqual(namesOf({ ...usual, volumeNum: 1, volume24hrClob: 1 }, 50), [])
  const charged = { ...usual, feesEnabled: true }
  assert.deepEqual(namesOf(charged, 10), ['feeSchedule missing loss'])
  assert.deepEqual(namesOf({ ...charged, feeType: 'zero_fees' }, 10), [])
  const dear = { feeSchedule: { rate: 4, exponent: 1, takerOnly: true } }
  assert.deepEqual(namesOf({ ...charged, ...dear }, 10), ['gamma.feeSchedule loss'])
  const { bestAsk: _, ...lacking } = { ...usual, volumeNum: '0' }
  assert.deepEqual(namesOf(lacking, 9), [])
  assert.deepEqual(namesOf(lacking, 10), ['bestAsk missing loss', 'volumeNum is text loss'])
})
