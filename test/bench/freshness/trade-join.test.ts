import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type SeenTrade, TradeJoin } from '../../../bench/freshness/trade-join.ts'

const TRADE: SeenTrade = { market: 'one', price: 430_000, size: 5_000_000, timeMs: 10_001 }

function counting(): TradeJoin {
  const join = new TradeJoin()
  join.begin(0)
  return join
}

const lagsOf = ({ times }: TradeJoin): number[] =>
  [0, 100].map((rank) => Math.round(times.getValueAtPercentile(rank) / 1e6))

test('pairs our trades with the venue’s equal trades in order of arrival when both times are in one five-second bucket', () => {
  const join = counting()
  join.take('venue', TRADE, 1_000)
  join.take('venue', TRADE, 1_100)
  join.take('ours', { ...TRADE, timeMs: 14_999 }, 1_010)
  join.take('ours', TRADE, 1_150)
  assert.deepEqual([join.venueCount, join.matchedCount, join.unknown.length], [2, 2, 0])
  assert.deepEqual(lagsOf(join), [10, 50])
})

test('pairs no trades when market, price, size or time bucket differs', () => {
  for (const other of [{ market: 'two' }, { price: 1 }, { size: 1 }, { timeMs: 15_000 }]) {
    const join = counting()
    join.take('venue', TRADE, 0)
    join.take('ours', { ...TRADE, ...other }, 0)
    assert.deepEqual([join.venueCount, join.matchedCount, join.unknown.length], [1, 0, 1])
  }
})

test('records a lag of zero when our trade arrives before the venue’s trade', () => {
  const join = counting()
  join.take('ours', TRADE, 1_000)
  join.take('venue', TRADE, 1_020)
  assert.equal(join.matchedCount, 1)
  assert.deepEqual(lagsOf(join), [0, 0])
})

test('counts a trade that the venue sends during the measurement, whether our trade arrives before or after the venue’s', () => {
  const join = new TradeJoin()
  join.take('venue', TRADE, 0)
  join.begin(TRADE.timeMs)
  join.take('ours', TRADE, 1)
  join.take('venue', { ...TRADE, price: 1 }, 2)
  join.end()
  join.take('ours', { ...TRADE, price: 1 }, 3)
  join.take('ours', { ...TRADE, price: 2 }, 4)
  assert.deepEqual([join.venueCount, join.matchedCount, join.unknown.length], [1, 1, 0])
})

test('ignores our trade when the trade is older than the measurement and the venue never sends the trade', () => {
  const join = new TradeJoin()
  join.begin(TRADE.timeMs + 1)
  join.take('ours', TRADE, 1)
  join.take('ours', { ...TRADE, timeMs: TRADE.timeMs + 1 }, 2)
  assert.equal(join.unknown.length, 1)
})
