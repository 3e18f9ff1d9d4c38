// The Data API's windows against a fake one on loopback that caps its pages, and a naive reader.
// Not for: identity (trades.test.ts).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../../../../engine/clock.ts'
import { HttpClient } from '../../../../../engine/fetch.ts'
import { nativeMarketId } from '../../../../../engine/ids.ts'
import { silentLog } from '../../../../../engine/process/log.ts'
import { Metrics } from '../../../../../engine/process/metrics.ts'
import { type Random, seededRandom } from '../../../../../engine/random.ts'
import { timeMs } from '../../../../../engine/units.ts'
import { Doubts } from '../../../../../engine/venues/answers.ts'
import type { WireTrade } from '../../../../../engine/venues/polymarket/messages.ts'
import { TradeHistory } from '../../../../../engine/venues/polymarket/trades/history.ts'
import { numberRows, type TradeRow } from '../../../../../engine/venues/polymarket/trades/trades.ts'
import { PolymarketStub } from '../../../../support/fakes/polymarket-stub.ts'

const START_S = 1_795_000_000

/** A Data API holding these rows (oldest first) that gives at most `capRows` a page. */
async function openHistory(rows: readonly WireTrade[], capRows: number) {
  const stub = new PolymarketStub()
  const newestFirst = [...rows].reverse()
  stub.rest = ({ query }) => {
    const number = (name: string) => Number(query.get(name))
    if (number('offset') >= 3_000) return 400
    assert.equal(query.get('takerOnly'), 'true')
    const market = query.get('market')
    const found = newestFirst.filter(
      (row) =>
        Number(row.timestamp) >= number('start') &&
        Number(row.timestamp) <= number('end') &&
        (market === null || row.conditionId === market),
    )
    const limit = Math.min(number('limit'), capRows)
    return found.slice(number('offset'), number('offset') + limit)
  }
  const hosts = await stub.start()
  const overflows: number[] = []
  const rejections: string[] = []
  const metrics = new Metrics()
  const data = new HttpClient({
    baseUrl: hosts.data,
    timeoutMs: 5_000,
    bodyBytesMax: 1 << 24,
    retries: 0,
    clock: systemClock,
    random: seededRandom(1),
    log: silentLog,
    metrics,
  })
  const history = new TradeHistory({
    data,
    doubts: new Doubts({ metrics, log: silentLog, venue: 'a' }),
    onRejected: (reason) => rejections.push(reason),
    onOverflow: (second) => overflows.push(second),
  })
  const read = async (fromS: number, toS: number, market: string | null = null) => {
    const got: { row: TradeRow; n: number }[] = []
    const range = {
      market: market === null ? null : nativeMarketId(market),
      fromMs: timeMs(fromS * 1_000),
      toMs: timeMs(toS * 1_000 + 999),
    }
    const { completeFromMs, doubt, newestMs } = await history.read(
      range,
      (page) => got.push(...numberRows(page)),
      new AbortController().signal,
    )
    return { got, completeFromMs, doubt, newestMs }
  }
  const doubted = (reason: string) =>
    metrics.count('venue_answers_doubted_total', 'Doubts.', { venue: 'a', kind: 'trades', reason })
      .value
  const stop = async () => {
    data.stop()
    await stub.stop()
  }
  return { stub, read, overflows, rejections, doubted, stop }
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
  rows.map(({ row, n }) => `${row.timeMs} ${row.market} ${row.key}-${n}`)

/** What a reader with no limits would say. */
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

test('[POLYHIST1] windows are split so that every row comes exactly once, oldest first', async () => {
  const random = seededRandom('history')
  const rows = makeRows((second) => (second % 50 < 5 ? 307 : random.below(8)), 300, random)
  const { read, stub, overflows, stop } = await openHistory(rows, 10_000)
  try {
    const { got, completeFromMs } = await read(START_S, START_S + 299)
    assert.deepEqual(idsOf(got).sort(), naive(rows, START_S, START_S + 299, null).sort())
    const times = got.map(({ row }) => row.timeMs)
    assert.deepEqual(
      times,
      [...times].sort((one, other) => one - other),
    )
    assert.equal(completeFromMs, START_S * 1_000)
    assert.equal(overflows.length, 0)
    assert.ok(stub.requests.length < 100, `${stub.requests.length} requests`)
    const part = await read(START_S + 40, START_S + 60, '0xb')
    const wanted = naive(rows, START_S + 40, START_S + 60, '0xb')
    assert.deepEqual(idsOf(part.got).sort(), wanted.sort())
  } finally {
    await stop()
  }
})

test('[POLYHIST2] a venue that caps its pages lower than asked loses nothing either', async () => {
  const random = seededRandom('capped')
  const rows = makeRows(() => random.below(9), 200, random)
  rows.push(...makeRows((second) => (second === 100 ? 640 : 0), 101, random))
  rows.sort((one, other) => Number(one.timestamp) - Number(other.timestamp))
  const { read, stop } = await openHistory(rows, 200)
  try {
    const { got, newestMs } = await read(START_S, START_S + 199)
    assert.deepEqual(idsOf(got).sort(), naive(rows, START_S, START_S + 199, null).sort())
    assert.equal(newestMs, Math.max(...rows.map(({ timestamp }) => Number(timestamp))) * 1_000)
    const later = await read(START_S + 300, START_S + 400)
    assert.equal(later.newestMs, newestMs, 'found by a page without a beginning')
  } finally {
    await stop()
  }
})

test('[POLYHIST3] a second beyond what the venue gives out is told, and the rest is still read', async () => {
  const random = seededRandom('overflow')
  const rows = makeRows((second) => (second === 3 ? 4_200 : 2), 6, random)
  const { read, overflows, stop } = await openHistory(rows, 1_000)
  try {
    const { got, completeFromMs } = await read(START_S, START_S + 5)
    assert.deepEqual(overflows, [START_S + 3])
    assert.equal(completeFromMs, (START_S + 4) * 1_000)
    assert.equal(got.length, 10)
  } finally {
    await stop()
  }
})

test('[POLYHIST4] rows that are no trades are counted, an answer that is no list rejects', async () => {
  const random = seededRandom('bad')
  const { read, stub, rejections, stop } = await openHistory([], 1_000)
  try {
    const [good] = makeRows(() => 1, 1, random)
    stub.rest = () => [good, { ...good, price: 7 }, null, { proxyWallet: 3 }]
    assert.equal((await read(START_S, START_S)).got.length, 1)
    assert.deepEqual(rejections.sort(), ['bad_trade', 'bad_trade', 'trade_price'])
    stub.rest = () => ({ error: 'no' })
    await assert.rejects(read(START_S, START_S))
    stub.rest = () => 500
    await assert.rejects(read(START_S, START_S))
  } finally {
    await stop()
  }
})

/** What an unreliable cache makes of an answer to a question with a beginning. */
const DAMAGES: Readonly<Record<string, (rows: readonly unknown[]) => readonly unknown[]>> = {
  empty: () => [],
  shorter: (rows) => rows.slice(0, Math.floor(rows.length / 3)),
}

for (const [reason, damage] of Object.entries(DAMAGES)) {
  test(`[ANSWER2] of the whole venue no ${reason} page is taken for all that happened`, async () => {
    const rows = makeRows(() => 2, 200, seededRandom(reason))
    const { read, stub, doubted, stop } = await openHistory(rows, 10_000)
    try {
      const whole = stub.rest
      stub.rest = (asked) => {
        const answer = whole(asked)
        assert.ok(Array.isArray(answer))
        return asked.query.has('start') ? damage(answer) : answer
      }
      const { got, doubt } = await read(START_S + 60, START_S + 199)
      assert.deepEqual(idsOf(got).sort(), naive(rows, START_S + 60, START_S + 199, null).sort())
      assert.equal(doubt, null)
      assert.ok(doubted(reason) > 0)
      // Also without a beginning nothing older comes: it is said, and what came is taken.
      stub.rest = (asked) => {
        const answer = whole(asked)
        assert.ok(Array.isArray(answer))
        return damage(answer.filter((row) => Number(row.timestamp) >= START_S + 60))
      }
      assert.notEqual((await read(START_S + 60, START_S + 199)).doubt, null)
      // Of a single market nothing older need exist.
      stub.rest = () => []
      assert.equal((await read(START_S + 60, START_S + 199, '0xa')).doubt, null)
    } finally {
      await stop()
    }
  })
}

test('[ANSWER2] a quiet time is believed by the trade before it', async () => {
  const rows = makeRows(
    (second) => (second === 0 || second === 900 ? 1 : 0),
    1_000,
    seededRandom(1),
  )
  const { read, stub, doubted, stop } = await openHistory(rows, 10_000)
  try {
    const { got, doubt } = await read(START_S + 300, START_S + 999)
    assert.equal(got.length, 1)
    assert.equal(doubt, null)
    assert.equal(doubted('empty'), 0)
    assert.ok(stub.requests.length < 12, `${stub.requests.length} requests`)
  } finally {
    await stop()
  }
})
