import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TradeEvent } from '../../../../../engine/events.ts'
import { nativeMarketId } from '../../../../../engine/ids.ts'
import { priceMicros, sizeMicros, type TimeMs, timeMs } from '../../../../../engine/units.ts'
import {
  FILLS_MAX,
  LAST_TRADES_MAX,
  LastTrades,
} from '../../../../../engine/venues/polymarket/trades/last-trades.ts'
import {
  type Fill,
  readTrade,
  type TradeRow,
} from '../../../../../engine/venues/polymarket/trades/trade-ledger.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'
import { venueCounters } from '../../../../support/fakes/venue-counters.ts'

const AT = timeMs(1_795_000_000_000)

function rowOf(set: { txHash?: string; size?: number; price?: number; atMs?: TimeMs }): TradeRow {
  const read = readTrade({
    ...{ proxyWallet: '0xaa', asset: '11', conditionId: '0xa', side: 'BUY' as const },
    ...{ transactionHash: set.txHash ?? '0xa', timestamp: Math.floor((set.atMs ?? AT) / 1_000) },
    ...{ size: (set.size ?? 1) / 1_000_000, price: (set.price ?? 500_000) / 1_000_000 },
  })
  assert.ok(typeof read !== 'string', String(read))
  return read
}

function open(takerSizes: ReadonlyMap<string, number> = new Map(), isStreamed = false) {
  const { counters, drift, metrics } = venueCounters('a')
  const clock = new ManualClock()
  const emitted: TradeEvent[] = []
  const early: TradeRow[] = []
  const matched: { readonly row: TradeRow; readonly fills: readonly Fill[] | null }[] = []
  const lastTrades = new LastTrades({
    clock,
    counters,
    ledger: {
      takerSize: (txHash) => takerSizes.get(txHash) ?? null,
      isEmitted: () => false,
      waitingOf: (txHash) => early.filter((row) => row.txHash === txHash),
      addMatched: (row, _atMs, fills) => void matched.push({ row, fills: fills ?? null }),
    },
    isStreamed: () => isStreamed,
    emit: (event) => void (event.kind === 'trade' && emitted.push(event)),
    noDataAfterMs: 20_000,
    onNoRows: () => assert.fail('its rows may still arrive'),
    onSource: () => assert.fail('its rows may still arrive'),
  })
  lastTrades.start()
  // During a pause the stream does not count as silent, so trades continue to wait.
  lastTrades.pause(true)
  const take = (txHash: string, size: number, price = 500_000) => {
    const market = nativeMarketId('0xa')
    const row = { market, asset: '11', txHash, side: 'buy', price: priceMicros(price) } as const
    const timeMs = clock.nowMs()
    lastTrades.take({ ...row, size: sizeMicros(size), timeMs }, timeMs)
  }
  /** `size` is in millionths of a contract. */
  const match = (txHash: string, size: number, price: number) =>
    lastTrades.matched(rowOf({ txHash, size, price, atMs: clock.nowMs() }), clock.nowMs())
  /** Fills of each row that the ledger received, in millionths. */
  const given = () =>
    matched.map(({ row, fills }) => [
      row.txHash,
      fills?.map(({ price, size }) => [size, price]) ?? null,
    ])
  const ids = () => emitted.map(({ nativeId }) => nativeId)
  const troubles = () => metrics.counts('venue_troubles_total')
  return { clock, lastTrades, early, take, match, given, ids, troubles, drift }
}

test('limits waiting trades by count and age, and emits the oldest transaction beyond the limit', () => {
  const { clock, take, ids } = open()
  for (let number = 0; number < LAST_TRADES_MAX; number += 1) take(`0x${number}`, 1)
  assert.deepEqual(ids(), [])
  take('0xnext', 1)
  take('0xlast', 1)
  assert.deepEqual(ids(), ['0x0-part-0', '0x1-part-0'])
  clock.advance(601_000)
  assert.equal(ids().length, LAST_TRADES_MAX + 2)
  take('0xyoung', 1)
  assert.equal(ids().length, LAST_TRADES_MAX + 2)
})

test('drops and counts fills beyond 256 per transaction, because the Data API delivers these fills later', () => {
  const { clock, take, ids, troubles } = open()
  for (let size = 1; size <= FILLS_MAX + 3; size += 1) take('0xa', size)
  clock.advance(601_000)
  assert.equal(ids().length, FILLS_MAX)
  assert.equal(new Set(ids()).size, FILLS_MAX)
  const full = [...troubles()].filter(([labels]) => labels.includes('last_trades_full'))
  assert.deepEqual(
    full.map(([, { value }]) => value),
    [3],
  )
})

test('assigns each fill of a transaction one number, even when a fill arrives late', () => {
  const { clock, lastTrades, take, ids } = open()
  lastTrades.pause(false)
  take('0xa', 1)
  take('0xa', 2)
  clock.advance(11_000)
  take('0xa', 1)
  take('0xa', 3)
  clock.advance(8_000)
  assert.deepEqual(ids(), ['0xa-part-0', '0xa-part-1'])
  lastTrades.pause(true)
  lastTrades.pause(false)
  clock.advance(11_000)
  assert.deepEqual(ids(), ['0xa-part-0', '0xa-part-1', '0xa-part-2'])
  lastTrades.stop()
})

test('ignores the fills of a transaction when its trade row has already arrived', () => {
  const takerSizes = new Map<string, number>()
  const { clock, lastTrades, take, ids } = open(takerSizes)
  for (let size = 1; size <= 3; size += 1) take('0xa', size)
  lastTrades.matched(rowOf({ size: 6 }), AT)
  takerSizes.set('0xa', 6)
  for (let size = 1; size <= 4; size += 1) take('0xa', size)
  for (let number = 0; number < LAST_TRADES_MAX; number += 1) take(`0x${number}`, 1)
  assert.deepEqual(ids(), [])
  take('0xnext', 1)
  assert.deepEqual(ids(), ['0x0-part-0'])
  clock.advance(601_000)
  assert.equal(ids().filter((id) => id.startsWith('0xa-')).length, 0)
})

test('records stream rows whose size has a different unit than the size in last_trade_price', () => {
  const hashes = ['0xa', '0xb', '0xc']
  const namesOf = (ratio: number) => {
    const { take, ids, drift } = open(new Map(hashes.map((hash) => [hash, 5_000_000 * ratio])))
    for (const hash of hashes) take(hash, 5_000_000)
    drift.checkShares()
    assert.deepEqual(ids(), [])
    return drift.entries().map(({ kind, name }) => `${kind}=${name}`)
  }
  assert.deepEqual(namesOf(1), [])
  assert.deepEqual(namesOf(1_000), [], 'one fill of a thousand')
  assert.deepEqual(namesOf(1_000_000), ['rtds.field=size unlike last_trade_price'])
})

test('emits the fills of a trade row instead of the row, whether the fills or the row arrives first', () => {
  const { take, match, given, ids } = open(new Map(), true)
  take('0xa', 3_000_000, 500_000)
  take('0xa', 7_000_000, 510_000)
  match('0xa', 10_000_000, 507_000)
  match('0xb', 10_000_000, 507_000)
  assert.equal(given().length, 1, 'more fills may arrive')
  take('0xb', 3_000_000, 500_000)
  assert.equal(given().length, 1)
  take('0xb', 7_000_000, 510_000)
  const fills = [
    [3_000_000, 500_000],
    [7_000_000, 510_000],
  ]
  assert.deepEqual(given(), [
    ['0xa', fills],
    ['0xb', fills],
  ])
  assert.deepEqual(ids(), [], 'no fill is emitted without its wallet')
})

test('emits equal messages as separate fills unless the sum of the messages exceeds the row', () => {
  const { take, match, given } = open(new Map(), true)
  for (const hash of ['0xa', '0xb']) {
    take(hash, 5_000_000)
    take(hash, 5_000_000)
    take(hash, 1_000_000, 510_000)
  }
  match('0xa', 11_000_000, 500_909)
  match('0xb', 6_000_000, 501_667)
  assert.deepEqual(
    given().map(([, fills]) => fills?.length),
    [3, 2],
  )
})

test('emits a row as one trade when the row’s fills are missing or their sum differs from the row', () => {
  const { clock, lastTrades, take, match, given } = open(new Map(), true)
  lastTrades.pause(false)
  match('0xnone', 10_000_000, 507_000)
  match('0xother', 10_000_000, 507_000)
  take('0xother', 10_000_000, 510_000)
  assert.deepEqual(given(), [], 'the last price of a whole transaction')
  clock.advance(2_500)
  assert.deepEqual(given(), [
    ['0xnone', null],
    ['0xother', null],
  ])
})

test('splits a row by its makers when the market channel sends no message or one message for the complete row', () => {
  const { lastTrades, early, take, match, given } = open()
  const maker = (txHash: string, size: number, price: number, wallet: string) => ({
    ...rowOf({ txHash, size, price }),
    ...{ side: 'sell' as const, wallet },
  })
  const [size, price] = [10_000_000, 503_333]
  const parts = (hash: string) => [
    maker(hash, 6_666_670, 500_000, '0xb'),
    maker(hash, 3_333_330, 510_000, '0xc'),
  ]
  take('0xone', size, price)
  match('0xone', size, price)
  match('0xnone', size, price)
  early.push(...parts('0xearly'))
  match('0xearly', size, price)
  for (const hash of ['0xone', '0xnone']) for (const part of parts(hash)) lastTrades.part(part)
  const fills = [
    [6_666_670, 500_000],
    [3_333_330, 510_000],
  ]
  assert.deepEqual(
    given(),
    ['0xearly', '0xone', '0xnone'].map((hash) => [hash, fills]),
  )
})

test('emits the remainder of a row as one fill at the remaining price when a fill is lost', () => {
  const { clock, lastTrades, take, match, given } = open(new Map(), true)
  lastTrades.pause(false)
  take('0xa', 3_000_000, 500_000)
  match('0xa', 10_000_000, 507_000)
  clock.advance(2_500)
  assert.deepEqual(given(), [
    [
      '0xa',
      [
        [3_000_000, 500_000],
        [7_000_000, 510_000],
      ],
    ],
  ])
})

test('emits a row at once when the market channel does not send fills of the row’s token', () => {
  const { match, given } = open()
  match('0xa', 10_000_000, 507_000)
  assert.deepEqual(given(), [['0xa', null]])
})
