import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Query } from '../../../../../engine/fetch.ts'
import { nativeMarketId } from '../../../../../engine/ids.ts'
import { type Random, seededRandom } from '../../../../../engine/random.ts'
import { timeMs } from '../../../../../engine/units.ts'
import { SuspectAnswerError } from '../../../../../engine/venues/answer-checks.ts'
import type { DataApi } from '../../../../../engine/venues/polymarket/data-api.ts'
import type { WireTrade } from '../../../../../engine/venues/polymarket/messages.ts'
import {
  numberRows,
  type TradeRow,
  tradeId,
} from '../../../../../engine/venues/polymarket/trades/trade-ledger.ts'
import { TradeWalk } from '../../../../../engine/venues/polymarket/trades/trade-walk.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'
import { venueCounters } from '../../../../support/fakes/venue-counters.ts'
import { dataRow } from '../../../../support/worlds/data-api-rows.ts'

const START_S = 1_795_000_000

/** The fake Data API returns at most `capRows` rows a page. `rows` are oldest first. */
async function openWalk(rows: readonly WireTrade[], capRows = 1_000) {
  const clock = new ManualClock((START_S + 1_000) * 1_000)
  const requested: { query: Query; cursor: string | undefined }[] = []
  const rejections: string[] = []
  const cuts: number[] = []
  const { counters, drift, suspectCount } = venueCounters('a')
  const source: Source = {
    newestFirst: rows.toReversed().map(dataRow),
    page: (found) => found,
    next: (after) => after,
  }
  const data: Pick<DataApi, 'page'> = {
    async page({ query }, cursor) {
      requested.push({ query, cursor })
      assert.equal(query.taker_only, true)
      assert.equal('start' in query || 'end' in query || 'offset' in query, false)
      const limit = Math.min(Number(query.limit), capRows)
      assert.ok(Number(query.limit) <= 1_000)
      const found = source.newestFirst.filter(
        (row) => query.condition === undefined || row.condition_id === query.condition,
      )
      // The cursor is the number of older rows that no page has returned.
      const from = cursor === undefined ? 0 : found.length - Number(cursor)
      const rest = found.length - from - limit
      const page = source.page(found.slice(from, from + limit), { query, cursor })
      return { rows: page, next: source.next(rest > 0 ? String(rest) : null) }
    },
  }
  const walk = new TradeWalk({
    ...{ data, clock, drift },
    suspectAnswers: counters.suspectAnswers,
    onRejected: (reason) => void rejections.push(reason),
    onCut: (pages) => void cuts.push(pages),
  })
  const read = async (fromS: number, toS: number, market: string | null = null) => {
    const got: { row: TradeRow; n: number }[] = []
    const range = {
      market: market === null ? null : nativeMarketId(market),
      fromMs: timeMs(fromS * 1_000),
      toMs: timeMs(toS * 1_000 + 999),
    }
    const walked = await walk.read(
      range,
      (page) => void got.push(...numberRows(page)),
      new AbortController().signal,
    )
    return { got, ...walked }
  }
  const suspected = (reason: string) => suspectCount('trades', reason)
  return { clock, drift, source, requested, read, cuts, rejections, suspected }
}

interface Source {
  newestFirst: readonly Readonly<Record<string, unknown>>[]
  page: (
    rows: readonly Readonly<Record<string, unknown>>[],
    requested: { query: Query; cursor: string | undefined },
  ) => readonly unknown[]
  next: (after: string | null) => string | null
}

function makeRows(perSecond: (second: number) => number, seconds: number, random: Random) {
  const rows: WireTrade[] = []
  for (let second = 0; second < seconds; second += 1) {
    for (let count = perSecond(second); count > 0; count -= 1) {
      rows.push({
        proxyWallet: `0x${random.below(3)}`,
        asset: '111',
        conditionId: random.pick(['0xa', '0xb']),
        side: 'BUY',
        size: 1 + random.below(2),
        price: 0.5,
        timestamp: START_S + second,
        transactionHash: `0x${second}-${random.below(3)}`,
      })
    }
  }
  return rows
}

const idsOf = (rows: readonly { row: TradeRow; n: number }[]) =>
  rows.map(({ row, n }) => `${row.timeMs} ${row.market} ${tradeId({ row, n })}`)

/** Reference implementation: filters all rows without pages. */
function naive(rows: readonly WireTrade[], fromS: number, toS: number, market: string | null) {
  const counts = new Map<string, number>()
  return rows
    .filter((row) => Number(row.timestamp) >= fromS && Number(row.timestamp) <= toS)
    .filter((row) => market === null || row.conditionId === market)
    .map((row) => {
      const key = `${row.transactionHash}-111-${row.proxyWallet}-buy-${Number(row.size) * 1e6}-500000`
      const n = counts.get(key) ?? 0
      counts.set(key, n + 1)
      return `${Number(row.timestamp) * 1_000} ${row.conditionId} ${key}-${n}`
    })
}

test('reads every trade row of a range once, starting from the newest row, and returns the oldest row first', async () => {
  const random = seededRandom('history')
  const rows = makeRows((second) => (second % 50 < 5 ? 307 : random.below(8)), 300, random)
  const { read, requested, cuts } = await openWalk(rows)
  const {
    got,
    completeFromMs,
    suspectReason: staleReason,
    newestMs,
  } = await read(START_S + 1, START_S + 299)
  assert.deepEqual(idsOf(got).sort(), naive(rows, START_S + 1, START_S + 299, null).sort())
  const times = got.map(({ row }) => row.timeMs)
  assert.deepEqual(
    times,
    [...times].sort((one, other) => one - other),
  )
  assert.deepEqual([completeFromMs, staleReason, cuts.length], [(START_S + 1) * 1_000, null, 0])
  assert.equal(newestMs, Number(rows.at(-1)?.timestamp) * 1_000)
  assert.ok(
    requested.every(
      ({ query }) => query.limit === requested[0]?.query.limit || query.limit === 999,
    ),
  )
  const part = await read(START_S + 40, START_S + 60, '0xb')
  const wanted = naive(rows, START_S + 40, START_S + 60, '0xb')
  assert.deepEqual(idsOf(part.got).sort(), wanted.sort())
})

test('neither repeats nor loses trade rows when new rows arrive between pages', async () => {
  const random = seededRandom('moving')
  const rows = makeRows(() => 20, 300, random)
  const { read, source, requested } = await openWalk(rows)
  const later = makeRows(() => 400, 1, random).map((row) => ({ ...row, timestamp: START_S + 900 }))
  source.page = (page) => {
    source.newestFirst = [...later.map(dataRow), ...source.newestFirst]
    return page
  }
  const { got } = await read(START_S + 10, START_S + 290)
  assert.deepEqual(idsOf(got).sort(), naive(rows, START_S + 10, START_S + 290, null).sort())
  assert.ok(requested.length > 5)
})

test('loses no trade row when the venue limits pages below the requested size', async () => {
  const random = seededRandom('capped')
  const rows = makeRows(() => random.below(9), 200, random)
  rows.push(...makeRows((second) => (second === 100 ? 640 : 0), 101, random))
  rows.sort((one, other) => Number(one.timestamp) - Number(other.timestamp))
  const { read } = await openWalk(rows, 200)
  const { got, newestMs } = await read(START_S + 1, START_S + 199)
  assert.deepEqual(idsOf(got).sort(), naive(rows, START_S + 1, START_S + 199, null).sort())
  assert.equal(newestMs, Math.max(...rows.map(({ timestamp }) => Number(timestamp))) * 1_000)
})

test('reports the oldest part of a time range as missing when the range contains more trades than the read limit', async () => {
  const rows = makeRows(() => 1, 2_400, seededRandom('overflow'))
  const { read, cuts, clock } = await openWalk(rows, 1)
  clock.advance(1_400_000)
  const { got, completeFromMs, suspectReason: staleReason } = await read(START_S, START_S + 2_399)
  assert.equal(cuts.length, 1)
  assert.equal(completeFromMs, (START_S + 2_400 - 2_160 + 1) * 1_000)
  assert.equal(got.length, 2_159)
  assert.equal(staleReason, null)
})

test('counts invalid rows, skips combination trades with a specific reason, and rejects pages whose rows become newer', async () => {
  const [good] = makeRows(() => 1, 1, seededRandom('bad')).map(dataRow)
  assert.ok(good !== undefined)
  const { read, source, rejections } = await openWalk([])
  const combo = { ...good, slug: '', outcome: '', condition_id: `0x${'1'.repeat(62)}00` }
  source.newestFirst = [good, { ...good, price: 7 }, { proxy_wallet: 3 }, combo]
  source.page = () => source.newestFirst
  const market = String(good.condition_id)
  assert.equal((await read(START_S, START_S, market)).got.length, 1)
  assert.deepEqual(rejections.sort(), ['bad_trade', 'combo_trade', 'trade_price'])
  const rising = makeRows(() => 1, 3_000, seededRandom('rising'))
  const back = await openWalk(rising)
  back.source.page = (page, { cursor }) =>
    cursor === undefined ? page : back.source.newestFirst.slice(0, 10)
  await assert.rejects(back.read(START_S, START_S + 2_999), SuspectAnswerError)
  assert.deepEqual(
    back.drift.entries().map(({ kind, name }) => [kind, name]),
    [['data.pages', '/v2/trades cursor']],
  )
  back.source.page = () => []
  back.source.next = () => '7'
  await assert.rejects(back.read(START_S, START_S + 2_999), { reason: 'cursor' })
  back.source.next = () => `${back.requested.length}`
  await assert.rejects(back.read(START_S, START_S + 2_999), { reason: 'endless' })
})

test('starts a read of older rows at the cursor of an earlier read', async () => {
  const rows = makeRows(() => 20, 600, seededRandom('places'))
  const { read, requested } = await openWalk(rows)
  for (let from = START_S + 1; from < START_S + 600; from += 60) {
    const to = Math.min(from + 59, START_S + 599)
    const { got } = await read(from, to)
    assert.deepEqual(idsOf(got).sort(), naive(rows, from, to, null).sort())
  }
  assert.ok(requested.length <= 24 + 3 * 10, `${requested.length} pages of 12 in ten parts`)
})

test('returns a range as complete up to the response’s newest row, or up to the maximum cache age', async () => {
  const rows = makeRows(() => 2, 200, seededRandom('proven'))
  const { read, clock } = await openWalk(rows)
  const newestMs = (START_S + 199) * 1_000
  assert.equal((await read(START_S + 50, START_S + 60)).provenToMs >= newestMs - 5_000, true)
  const nowMs = clock.nowMs()
  const { provenToMs } = await read(START_S + 50, START_S + 60, '0xa')
  assert.equal(provenToMs, Math.max(newestMs - 5_000, nowMs - 330_000))
  const none = await read(START_S + 50, START_S + 60, '0xnone')
  assert.equal(none.provenToMs, nowMs - 330_000, 'an empty response may be five minutes old')
})

/** Changes the first response, like an unreliable cache. */
const DAMAGES: Readonly<Record<string, (rows: readonly unknown[]) => readonly unknown[]>> = {
  empty: () => [],
  shorter: (rows) => rows.slice(0, Math.floor(rows.length / 3)),
}

for (const [reason, damage] of Object.entries(DAMAGES)) {
  test(`does not accept a ${reason} page of the venue’s list of all trades as complete`, async () => {
    const rows = makeRows(() => 2, 200, seededRandom(reason))
    const { read, source, suspected } = await openWalk(rows)
    source.page = (page, { query }) => (query.limit === 1_000 ? damage(page) : page)
    const { got, suspectReason: staleReason } = await read(START_S + 60, START_S + 199)
    assert.deepEqual(idsOf(got).sort(), naive(rows, START_S + 60, START_S + 199, null).sort())
    assert.equal(staleReason, null)
    assert.ok(suspected(reason) > 0)
    // The second request finds no older row either, so the result is suspect.
    source.page = (page) => damage(page.filter((row) => Number(row.timestamp) >= START_S + 60))
    assert.notEqual((await read(START_S + 60, START_S + 199)).suspectReason, null)
    // A single market may have no older trades.
    source.page = () => []
    assert.equal((await read(START_S + 60, START_S + 199, '0xa')).suspectReason, null)
  })
}

test('accepts a time range without trades as complete when the page contains a trade before the range', async () => {
  const rows = makeRows(
    (second) => (second === 0 || second === 900 ? 1 : 0),
    1_000,
    seededRandom(1),
  )
  const { read, requested, suspected } = await openWalk(rows)
  const { got, suspectReason: staleReason } = await read(START_S + 300, START_S + 999)
  assert.equal(got.length, 1)
  assert.equal(staleReason, null)
  assert.equal(suspected('empty'), 0)
  assert.ok(requested.length <= 2, `${requested.length} requests`)
})
