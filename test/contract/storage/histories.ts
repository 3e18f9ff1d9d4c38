// Storage contract: bars, book snapshots, past prices, coverage, and their retention.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bookSnapshotLevels } from '../../../engine/limits.ts'
import { DAY_MS, HOUR_MS, type PriceMicros, timeMs } from '../../../engine/units.ts'
import type { PastDay, Storage } from '../../../storage/contract/storage.ts'
import {
  bar,
  marketListing,
  NOON_MS,
  snapshot,
  trade,
  traded,
} from '../../support/worlds/stored.ts'
import type { StorageUnderTest } from '../storage.ts'

const NOON_DAY = Math.floor(NOON_MS / DAY_MS)
const EVER = { fromMs: timeMs(0), toMs: timeMs(NOON_MS * 2) }
const UNLIMITED = Number.MAX_SAFE_INTEGER

export function historyContract({ open, settle }: StorageUnderTest): void {
  test('stores and replaces a price bar, and returns the bar in range queries', async () => {
    let storage = await open()
    const [price] = [trade('x').price]
    const full = bar('hour', NOON_MS, {
      openMs: timeMs(NOON_MS + 1),
      openOrdinal: 4_000_000_000,
      closeMs: timeMs(NOON_MS + HOUR_MS - 1),
      closeOrdinal: 2,
      high: price,
      count: 3_000_000_000,
      size: 2 ** 60,
      weighted: 1.5e300,
    })
    storage.bars.put(1, 'hour', bar('hour', NOON_MS))
    storage.bars.put(1, 'hour', full)
    for (const minute of [0, 1, 3, 4]) {
      storage.bars.put(1, 'minute', bar('minute', NOON_MS + minute * 60_000))
      storage.bars.put(2, 'minute', bar('minute', NOON_MS + minute * 60_000))
      if (minute === 1) storage = await settle(storage)
    }
    assert.deepEqual(storage.bars.get(1, 'hour', timeMs(NOON_MS)), full)
    storage = await settle(storage)
    assert.deepEqual(storage.bars.get(1, 'hour', timeMs(NOON_MS)), full)
    assert.equal(storage.bars.get(2, 'hour', timeMs(NOON_MS)), null)
    assert.equal(storage.bars.get(1, 'minute', timeMs(NOON_MS + 120_000)), null)
    const minutes = (from: number, to: number, order: 'asc' | 'desc', limit = 9) =>
      storage.bars
        .range({
          market: 1,
          size: 'minute',
          fromMs: timeMs(NOON_MS + from * 60_000),
          toMs: timeMs(NOON_MS + to * 60_000),
          order,
          limit,
        })
        .map((row) => (row.startMs - NOON_MS) / 60_000)
    assert.deepEqual(minutes(1, 3, 'asc'), [1, 3])
    assert.deepEqual(minutes(0, 9, 'desc', 2), [4, 3])
    assert.deepEqual(minutes(2, 2, 'asc'), [])
    assert.deepEqual(minutes(3, 1, 'asc'), [])
    assert.deepEqual(minutes(0, 9, 'asc', 0), [])
    const hours = storage.bars.range({ market: 1, size: 'hour', ...EVER, order: 'asc', limit: 9 })
    assert.deepEqual(hours, [full])
  })

  test('removes hour bars and past prices of a market when the market is removed', async () => {
    let storage = await open()
    const numbers = [
      storage.markets.put(marketListing('one')),
      storage.markets.put(marketListing('two')),
    ]
    const past = pastDay([trade('x').price])
    for (const number of numbers) {
      for (let hour = 0; hour < 3; hour += 1) {
        storage.bars.put(number, 'hour', bar('hour', NOON_MS + hour * HOUR_MS))
        storage.pastPrices.put(number, NOON_DAY - hour, past)
      }
    }
    storage = await settle(storage)
    storage.markets.remove(1)
    storage = await settle(storage)
    const count = (market: number) => {
      const range = { market, size: 'hour', ...EVER, order: 'asc', limit: 9 } as const
      return storage.bars.range(range).length
    }
    assert.deepEqual([count(1), count(2)], [0, 3])
    assert.equal(storage.pastPrices.get(1, NOON_DAY), null)
    assert.deepEqual(storage.pastPrices.get(2, NOON_DAY - 2), past)
  })

  test('stores one book snapshot per millisecond, counts snapshots, and returns the snapshots strictly after a time', async () => {
    let storage = await open()
    for (const second of [0, 10, 20, 30]) {
      storage.snapshots.put(1, snapshot(NOON_MS + second))
      if (second === 10) storage = await settle(storage)
    }
    const empty = snapshot(NOON_MS + 10, { bids: [], asks: [], bidDepth: trade('x').size })
    storage.snapshots.put(1, empty)
    storage.snapshots.put(2, snapshot(NOON_MS + 5))
    storage = await settle(storage)
    storage.snapshots.put(1, empty)
    assert.equal(storage.snapshots.count(), 5)
    const times = (query: Partial<Parameters<Storage['snapshots']['range']>[0]>) =>
      storage.snapshots
        .range({ market: 1, ...EVER, after: null, order: 'asc', limit: 9, ...query })
        .map((row) => row.timeMs - NOON_MS)
    assert.deepEqual(times({}), [0, 10, 20, 30])
    const at = (offset: number) => timeMs(NOON_MS + offset)
    assert.deepEqual(times({ after: at(10) }), [20, 30])
    assert.deepEqual(times({ after: at(20), order: 'desc' }), [10, 0])
    assert.deepEqual(times({ fromMs: at(10), toMs: at(20), order: 'desc' }), [20, 10])
    assert.deepEqual(times({ fromMs: at(10), after: at(0), limit: 1 }), [10])
    assert.deepEqual(times({ fromMs: at(10), toMs: at(20), after: at(20) }), [])
    assert.deepEqual(times({ limit: 0 }), [])
    const rows = storage.snapshots.range({
      market: 1,
      ...EVER,
      after: null,
      order: 'asc',
      limit: 2,
    })
    assert.deepEqual(rows, [snapshot(NOON_MS), empty])
    assert.deepEqual(storage.snapshots.oldestMs(1), NOON_MS)
    assert.equal(storage.snapshots.oldestMs(3), null)
  })

  test('stores a book snapshot with twenty levels per side', async () => {
    let storage = await open()
    const [level] = snapshot(NOON_MS).bids
    assert.ok(level !== undefined)
    const deep = Array.from({ length: 30 }, () => level)
    storage.snapshots.put(1, snapshot(NOON_MS, { bids: deep, asks: deep }))
    storage = await settle(storage)
    const [row] = storage.snapshots.range({
      market: 1,
      ...EVER,
      after: null,
      order: 'asc',
      limit: 1,
    })
    assert.deepEqual(row?.bids, deep.slice(0, bookSnapshotLevels))
    assert.equal(row?.asks.length, bookSnapshotLevels)
  })

  test('stores and replaces the past prices of one day', async () => {
    let storage = await open()
    const { price } = trade('x')
    const part = pastDay([price])
    const complete = {
      readAtMs: timeMs(NOON_MS + DAY_MS),
      completeToMs: timeMs((NOON_DAY + 1) * DAY_MS),
      seconds: [0, 7, 86_399],
      prices: [price, trade('y', { price }).price, price],
    }
    const nothing = pastDay([])
    storage.pastPrices.put(1, NOON_DAY, part)
    assert.deepEqual(storage.pastPrices.get(1, NOON_DAY), part)
    storage = await settle(storage)
    storage.pastPrices.put(1, NOON_DAY, complete)
    storage.pastPrices.put(1, NOON_DAY - 400, nothing)
    storage = await settle(storage)
    assert.deepEqual(storage.pastPrices.get(1, NOON_DAY), complete)
    assert.deepEqual(storage.pastPrices.get(1, NOON_DAY - 400), nothing)
    assert.equal(storage.pastPrices.get(1, NOON_DAY - 1), null)
    assert.equal(storage.pastPrices.get(2, NOON_DAY), null)
  })

  test('finds the coverage interval of a venue that contains a given time, and moves the end of an interval', async () => {
    let storage = await open()
    const at = (second: number) => timeMs(NOON_MS + second * 1_000)
    storage.coverage.put('a', at(0), at(0))
    storage.coverage.put('a', at(0), at(10))
    storage.coverage.put('a', at(20), at(30))
    storage.coverage.put('b', at(12), at(18))
    storage = await settle(storage)
    storage.coverage.put('a', at(20), at(40))
    storage = await settle(storage)
    const found = (venue: 'a' | 'b', second: number) => {
      const interval = storage.coverage.at(venue, at(second))
      return interval === null
        ? null
        : [interval.fromMs, interval.toMs].map((ms) => (ms - NOON_MS) / 1_000)
    }
    assert.deepEqual(found('a', 0), [0, 10])
    assert.deepEqual(found('a', 10), [0, 10])
    assert.deepEqual(found('a', 35), [20, 40])
    assert.deepEqual(found('b', 15), [12, 18])
    for (const second of [-1, 10.001, 15, 41]) assert.equal(found('a', second), null)
    assert.equal(found('b', 20), null)
  })

  const hours = [1, 30, 60, 24 * 6, 24 * 9]

  /** `ages` are hours before noon. */
  function fill(storage: Storage): void {
    for (const age of hours) {
      const startMs = NOON_MS - age * HOUR_MS
      const price = trade('x').price
      for (const market of [1, 2]) {
        const row = trade(`${market}-${age}`, { timeMs: timeMs(startMs + 5) })
        storage.trades.put(traded(market), row)
        storage.bars.put(market, 'hour', bar('hour', startMs))
        for (let minute = 0; minute < 5; minute += 1) {
          storage.bars.put(market, 'minute', bar('minute', startMs + minute * 60_000))
          storage.snapshots.put(market, snapshot(startMs + minute * 60_000))
        }
        storage.ticks.put(market, Math.floor(startMs / HOUR_MS), { seconds: [1], prices: [price] })
        storage.pastPrices.put(market, Math.floor(startMs / DAY_MS), pastDay([price]))
      }
      storage.coverage.put('a', timeMs(startMs), timeMs(startMs + 1_000))
    }
  }

  const ranges = { ...EVER, order: 'asc', limit: 999 } as const

  function left(storage: Storage) {
    const counts = { trades: 0, minutes: 0, hours: 0, snapshots: 0, ticks: 0, days: 0, coverage: 0 }
    for (const market of [1, 2]) {
      counts.minutes += storage.bars.range({ market, size: 'minute', ...ranges }).length
      counts.hours += storage.bars.range({ market, size: 'hour', ...ranges }).length
      const days = new Set(hours.map((age) => Math.floor((NOON_MS - age * HOUR_MS) / DAY_MS)))
      for (const day of days) counts.days += storage.pastPrices.get(market, day) === null ? 0 : 1
      for (const age of hours) {
        const hour = Math.floor(NOON_MS / HOUR_MS) - age
        counts.ticks += storage.ticks.get(market, hour) === null ? 0 : 1
      }
    }
    for (const age of hours) {
      const interval = storage.coverage.at('a', timeMs(NOON_MS - age * HOUR_MS))
      counts.coverage += interval === null ? 0 : 1
    }
    counts.trades = storage.trades.count()
    counts.snapshots = storage.snapshots.count()
    return counts
  }

  const total = (counts: Record<string, number>) =>
    Object.values(counts).reduce((sum, count) => sum + count, 0)

  test('removes expired rows of each kind in batches, but never removes hour bars or past prices by age', async () => {
    let storage = await open()
    fill(storage)
    storage = await settle(storage)
    const limits = { nowMs: timeMs(NOON_MS), retentionDays: 5, sizeBytesMax: UNLIMITED, rowsMax: 3 }
    let before = left(storage)
    assert.deepEqual(Object.values(before), [10, 50, 10, 50, 10, 10, 5])
    for (let calls = 0, isMore = true; isMore; calls += 1) {
      isMore = storage.prune(limits)
      if (calls % 3 === 0) storage = await settle(storage)
      const after = left(storage)
      assert.ok(total(before) - total(after) <= limits.rowsMax, 'rows are deleted in slices')
      before = after
      assert.ok(calls < 100)
    }
    const expected = {
      trades: 6,
      minutes: 30,
      hours: 10,
      snapshots: 20,
      ticks: 6,
      days: 10,
      coverage: 3,
    }
    assert.deepEqual(left(storage), expected)
    storage = await settle(storage)
    assert.deepEqual(left(storage), expected)
    assert.equal(storage.snapshots.oldestMs(1), NOON_MS - 30 * HOUR_MS)
  })

  test('removes the oldest rows of every kind except hour bars and coverage while the database exceeds its size limit', async () => {
    let storage = await open()
    fill(storage)
    storage = await settle(storage)
    await storage.committed()
    const limits = { nowMs: timeMs(NOON_MS), retentionDays: 3_650, rowsMax: 9 }
    while (storage.prune({ ...limits, sizeBytesMax: UNLIMITED })) storage = await settle(storage)
    const retained = left(storage)
    assert.deepEqual(
      [retained.trades, retained.snapshots],
      [10, 20],
      'only snapshots have a separate age limit',
    )
    while (storage.prune({ ...limits, sizeBytesMax: 0 })) storage = await settle(storage)
    storage = await settle(storage)
    const rest = { trades: 0, minutes: 0, hours: 10, snapshots: 0, ticks: 0, days: 0, coverage: 5 }
    assert.deepEqual(left(storage), rest)
  })

  test('removes the days of past prices that were read longest ago while the database exceeds its size limit', async () => {
    let storage = await open()
    const { price } = trade('x')
    const row = { completeToMs: timeMs(NOON_MS), seconds: [0], prices: [price] }
    const put = (market: number, day: number, hoursAgo: number) =>
      storage.pastPrices.put(market, day, {
        ...row,
        readAtMs: timeMs(NOON_MS - hoursAgo * HOUR_MS),
      })
    put(1, NOON_DAY - 40, 2)
    put(1, NOON_DAY - 1, 5)
    put(2, NOON_DAY - 400, 1)
    put(1, NOON_DAY - 2, 5)
    storage = await settle(storage)
    put(1, NOON_DAY - 2, 0)
    const tick = { seconds: [1], prices: [price] }
    storage.ticks.put(1, Math.floor(NOON_MS / HOUR_MS) - 3, tick)
    storage = await settle(storage)
    const left = () => [
      storage.pastPrices.get(1, NOON_DAY - 1) !== null,
      storage.ticks.get(1, Math.floor(NOON_MS / HOUR_MS) - 3) !== null,
      storage.pastPrices.get(1, NOON_DAY - 40) !== null,
      storage.pastPrices.get(2, NOON_DAY - 400) !== null,
      storage.pastPrices.get(1, NOON_DAY - 2) !== null,
    ]
    const limits = { nowMs: timeMs(NOON_MS), retentionDays: 30, rowsMax: 1 }
    storage.prune({ ...limits, sizeBytesMax: UNLIMITED })
    assert.deepEqual(
      left(),
      [true, true, true, true, true],
      'the rows remain although their day is old',
    )
    await storage.committed()
    for (let count = 1; count <= 5; count += 1) {
      storage.prune({ ...limits, sizeBytesMax: 0 })
      storage = await settle(storage)
      const expected = [1, 2, 3, 4, 5].map((position) => position > count)
      assert.deepEqual(left(), expected, `after ${count} rows`)
    }
  })
}

/** The prices were read at noon. */
function pastDay(prices: readonly PriceMicros[]): PastDay {
  const seconds = prices.map((_, index) => index + 1)
  return { readAtMs: timeMs(NOON_MS), completeToMs: timeMs(NOON_MS), seconds, prices }
}
