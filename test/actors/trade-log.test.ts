import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TradeLog } from '../../actors/trade-log.ts'
import { silentLog } from '../../engine/process/log.ts'
import { Metrics } from '../../engine/process/metrics.ts'
import { Publisher } from '../../engine/publisher.ts'
import { timeMs } from '../../engine/units.ts'
import type { Storage } from '../../storage/contract/storage.ts'
import { openMemoryStorage } from '../support/reference/memory.ts'
import { NOON_MS, trade, traded } from '../support/worlds/stored.ts'

function runOf(
  storage: Storage,
  epoch: string,
  published: { count: number; written: number },
): TradeLog {
  const run = storage.runs.begin(epoch, timeMs(NOON_MS))
  const publisher = new Publisher({ epoch, log: silentLog, metrics: new Metrics() })
  const log = new TradeLog({ run, publisher, storage })
  publisher.watch(log)
  for (let index = 1; index <= published.count; index += 1) {
    const { offset, seq } = publisher.stamp('trades', 1)
    const id = `${epoch}-${index}`
    if (index > published.written) continue
    storage.trades.put(traded(1), trade(id, { run: run.number, offset, seq }))
  }
  const { market, ...gap } = { market: null, fromMs: timeMs(1), toMs: timeMs(2), count: 3 }
  const where = { venue: 'b', platform: 'venue_b' } as const
  publisher.publish({ kind: 'gap', channel: 'trades', market, ...where, ...gap })
  return log
}

test('stores the end offset of the previous run’s trades at startup', () => {
  const storage = openMemoryStorage()
  const first = runOf(storage, 'first', { count: 5, written: 5 })
  assert.deepEqual(first.runs(), [first.present])
  const second = runOf(storage, 'second', { count: 6, written: 4 })
  const third = runOf(storage, 'third', { count: 0, written: 0 })
  runOf(storage, 'fourth', { count: 1, written: 1 })
  assert.deepEqual(
    third.runs().map(({ epoch, endOffset }) => [epoch, endOffset]),
    [
      ['first', 5],
      ['second', 4],
      ['third', 0],
      ['fourth', null],
    ],
  )
  assert.equal(second.present.number, 2)
})

test('reads trades by run and offset, including trades that were published in the current tick', () => {
  const storage = openMemoryStorage()
  const log = runOf(storage, 'first', { count: 70, written: 70 })
  const found = log.range({ run: log.present.number, offset: 3, limit: 64 })
  assert.deepEqual(
    found.map((row) => row.trade.offset),
    Array.from({ length: 64 }, (_, index) => index + 4),
  )
  const rest = log.range({ run: log.present.number, offset: 67, limit: 64 })
  assert.deepEqual(
    rest.map((row) => [row.market, row.trade.offset, row.trade.seq]),
    [
      [1, 68, 68],
      [1, 69, 69],
      [1, 70, 70],
    ],
  )
})

test('returns the trades of the selected markets, and the end offset of the trades of all markets', () => {
  const storage = openMemoryStorage()
  const log = runOf(storage, 'first', { count: 3, written: 3 })
  const run = log.present.number
  storage.trades.put(traded(2), trade('other', { run, offset: 4, seq: 1 }))
  const rows = log.rangeOf({ run, offset: 1, limit: 9, isWanted: (market) => market === 1 })
  assert.deepEqual(
    rows.map(({ offset, market, trade: row }) => [offset, market, row?.nativeId]),
    [
      [2, 1, 'first-2'],
      [3, 1, 'first-3'],
      [4, 2, undefined],
    ],
  )
})

test('stores an announced loss of trades at its offset among the stored trades', () => {
  const storage = openMemoryStorage()
  const log = runOf(storage, 'first', { count: 5, written: 5 })
  const run = log.present.number
  const range = { fromMs: timeMs(1), toMs: timeMs(2), count: 3 }
  const retained = { run, offset: 5, venue: 'b', market: null, ...range }
  assert.deepEqual(log.losses({ run, offset: 5 }), [retained])
  assert.deepEqual(log.losses({ run, offset: 6 }), [])
})
