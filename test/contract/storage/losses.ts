import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lossesOfRunMax } from '../../../engine/limits.ts'
import { DAY_MS, timeMs } from '../../../engine/units.ts'
import type { TradeLoss } from '../../../storage/contract/storage.ts'
import { NOON_MS, trade, traded } from '../../support/worlds/stored.ts'
import type { StorageUnderTest } from '../storage.ts'

function loss(run: number, offset: number, set: Partial<TradeLoss> = {}): TradeLoss {
  const range = { fromMs: timeMs(NOON_MS), toMs: timeMs(NOON_MS + offset) }
  return {
    run,
    offset,
    venue: 'a',
    market: null,
    ...range,
    count: offset === 7 ? null : offset,
    ...set,
  }
}

export function lossContract({ open, settle }: StorageUnderTest): void {
  test('stores the last offset of an engine run when the run ends', async () => {
    let storage = await open()
    const first = storage.runs.begin('epoch-1', timeMs(NOON_MS))
    assert.deepEqual([first.endOffset, storage.trades.newestOffset(first.number)], [null, 0])
    for (const [index, offset] of [4, 2 ** 33, 9].entries()) {
      const position = {
        run: first.number,
        offset,
        seq: index + 1,
        timeMs: timeMs(NOON_MS + index),
      }
      storage.trades.put(traded(1), trade(`t${index}`, position))
    }
    storage.trades.put(
      traded(1),
      trade('other', { run: first.number + 1, offset: 2 ** 40, seq: 1 }),
    )
    storage = await settle(storage)
    assert.equal(storage.trades.newestOffset(first.number), 2 ** 33)
    for (const [offset, limit] of [
      [0, 9],
      [4, 9],
      [0, 2],
      [9, 0],
      [2 ** 33, 9],
    ] as const) {
      const query = { run: first.number, offset, limit }
      assert.deepEqual(
        storage.trades.locationsByOffset(query),
        storage.trades
          .rangeByOffset(query)
          .map(({ market, trade: { offset: at, timeMs: ms, ordinal } }) => {
            return { offset: at, market, timeMs: ms, ordinal }
          }),
      )
    }
    storage.runs.end(first.number, 2 ** 33)
    storage.runs.end(99, 5)
    const second = storage.runs.begin('epoch-2', timeMs(NOON_MS + 1))
    storage = await settle(storage)
    assert.deepEqual(storage.runs.all(), [{ ...first, endOffset: 2 ** 33 }, second])
  })

  test('returns the losses of an engine run from a given offset on, in order of offset', async () => {
    let storage = await open()
    storage.losses.put(loss(1, 7))
    storage.losses.put(loss(2, 0, { market: 5, venue: 'b' }))
    storage = await settle(storage)
    storage.losses.put(loss(2, 7))
    storage.losses.put(loss(2, 7, { market: 6 }))
    storage.losses.put(loss(2, 2 ** 33))
    storage = await settle(storage)
    const all = [
      loss(2, 0, { market: 5, venue: 'b' }),
      loss(2, 7),
      loss(2, 7, { market: 6 }),
      loss(2, 2 ** 33),
    ]
    assert.deepEqual(storage.losses.range({ run: 2, offset: 0 }), all)
    assert.deepEqual(storage.losses.range({ run: 2, offset: 7 }), all.slice(1))
    assert.deepEqual(storage.losses.range({ run: 2, offset: 8 }), all.slice(3))
    assert.deepEqual(storage.losses.range({ run: 1, offset: 0 }), [loss(1, 7)])
    assert.deepEqual(storage.losses.range({ run: 3, offset: 0 }), [])
  })

  test('removes the losses of a removed engine run in batches, and limits the number of losses per run', async () => {
    let storage = await open()
    for (const epoch of ['one', 'two', 'three']) storage.runs.begin(epoch, timeMs(NOON_MS))
    const position = { run: 3, offset: 1, seq: 1, timeMs: timeMs(NOON_MS + 9 * DAY_MS) }
    storage.trades.put(traded(1), trade('kept', position))
    for (let offset = 1; offset <= 5; offset += 1) {
      for (const run of [1, 2, 3]) storage.losses.put(loss(run, offset))
    }
    storage = await settle(storage)
    const limits = { retentionDays: 10, sizeBytesMax: Number.MAX_SAFE_INTEGER, rowsMax: 3 }
    const nowMs = timeMs(NOON_MS + 10 * DAY_MS)
    let calls = 1
    for (; storage.prune({ ...limits, nowMs }); calls += 1) storage = await settle(storage)
    assert.ok(calls > 3)
    storage = await settle(storage)
    const counts = [1, 2, 3].map((run) => storage.losses.range({ run, offset: 0 }).length)
    assert.deepEqual(counts, [0, 0, 5])
    for (let index = 0; index < lossesOfRunMax + 10; index += 1) storage.losses.put(loss(4, index))
    assert.equal(storage.losses.range({ run: 4, offset: 0 }).length, lossesOfRunMax)
  })
}
