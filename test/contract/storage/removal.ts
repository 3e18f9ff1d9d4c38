import assert from 'node:assert/strict'
import { test } from 'node:test'
import { retainedRunsMax } from '../../../engine/limits.ts'
import { seededRandom } from '../../../engine/random.ts'
import { timeMs } from '../../../engine/units.ts'
import type { Storage } from '../../../storage/contract/storage.ts'
import {
  checkpoint,
  eventListing,
  marketListing,
  marketSummary,
  NOON_MS,
  trade,
  traded,
} from '../../support/worlds/stored.ts'
import type { StorageUnderTest } from '../storage.ts'

export function removalContract({ open, settle }: StorageUnderTest): void {
  test('removes a market from all tables, and never assigns its number to another market', async () => {
    let storage = await open()
    const [one, two, three] = [marketListing('one'), marketListing('two'), marketListing('three')]
    for (const listing of [one, two, three]) {
      storage.checkpoints.put(storage.markets.put(listing), checkpoint())
    }
    storage = await settle(storage)
    storage.markets.remove(3)
    storage.markets.remove(1)
    storage.markets.remove(1)
    storage.markets.remove(99)
    storage.markets.putSummary(1, marketSummary(one))
    storage = await settle(storage)
    assert.equal(storage.markets.count(), 1)
    assert.deepEqual([...storage.markets.all()], [{ number: 2, summary: marketSummary(two) }])
    for (const [number, listing] of [[1, one] as const, [3, three] as const]) {
      assert.equal(storage.markets.number('a', listing.nativeId), null)
      assert.equal(storage.markets.details(number), null)
      assert.equal(storage.checkpoints.get(number), null)
    }
    assert.equal(storage.markets.number('a', two.nativeId), 2)
    assert.deepEqual(storage.checkpoints.get(2), checkpoint())
    assert.equal(storage.markets.put(three), 4, 'the highest number was removed, and is not reused')
    storage.markets.remove(4)
    storage = await settle(storage)
    assert.equal(storage.markets.put(one), 5)
    storage.markets.remove(5)
    storage.markets.remove(2)
    storage = await settle(storage)
    assert.deepEqual([...storage.markets.all()], [])
    assert.equal(storage.markets.put(two), 6, 'also when no market is left')
    assert.equal(storage.markets.count(), 1)
  })

  test('stores the same markets as a plain map after insertions and removals in any order', async () => {
    const random = seededRandom('removals')
    let storage = await open()
    const numbers = new Map<string, number>()
    let last = 0
    for (let step = 1; step <= 400; step += 1) {
      const id = `m${random.below(30)}`
      const existing = numbers.get(id)
      if (random.below(3) > 0) {
        const expected = existing ?? last + 1
        assert.equal(storage.markets.put(marketListing(id)), expected)
        numbers.set(id, expected)
        last = Math.max(last, expected)
      } else if (existing !== undefined) {
        storage.markets.remove(existing)
        numbers.delete(id)
      }
      if (step % 50 === 0) storage = await settle(storage)
    }
    const rows = [...storage.markets.all()].map((row) => [row.summary.nativeId, row.number])
    assert.deepEqual(
      rows,
      [...numbers].sort(([, one], [, other]) => one - other),
    )
    assert.equal(storage.markets.count(), numbers.size)
    for (const [id, number] of numbers) {
      assert.equal(storage.markets.number('a', marketListing(id).nativeId), number)
    }
  })

  test('returns trades and ticks of a removed market until their retention time ends', async () => {
    let storage = await open()
    const number = storage.markets.put(marketListing('one'))
    const other = storage.markets.put(marketListing('two'))
    const position = (offset: number) => ({ run: 1, offset, seq: 1, timeMs: timeMs(NOON_MS) })
    storage.trades.put(traded(number), trade('t1', position(1)))
    storage.trades.put(traded(other), trade('t2', position(2)))
    storage.trades.put(traded(number), trade('t3', position(3)))
    storage.ticks.put(number, Math.floor(NOON_MS / 3_600_000), {
      seconds: [1],
      prices: [trade('x').price],
    })
    storage = await settle(storage)
    storage.markets.remove(number)
    storage = await settle(storage)
    const rows = storage.trades.rangeByOffset({ run: 1, offset: -1, limit: 10 })
    assert.deepEqual(
      rows.map((row) => [row.market, row.trade.nativeId]),
      [
        [number, 't1'],
        [other, 't2'],
        [number, 't3'],
      ],
    )
    assert.equal(storage.trades.newestMs(number), NOON_MS)
    const nowMs = timeMs(NOON_MS + 2 * 86_400_000)
    const limits = { nowMs, retentionDays: 1, sizeBytesMax: Number.MAX_SAFE_INTEGER }
    while (storage.prune({ ...limits, rowsMax: 1 })) storage = await settle(storage)
    storage = await settle(storage)
    assert.deepEqual(storage.trades.rangeByOffset({ run: 1, offset: -1, limit: 10 }), [])
    assert.equal(storage.trades.newestMs(number), null)
    assert.equal(storage.ticks.oldestHour(number), null)
    assert.equal(storage.trades.count(), 0)
  })

  test('removes an event of one venue, and retains the event with the same id at the other venue', async () => {
    let storage = await open()
    const listing = eventListing('EV-1')
    storage.events.put(listing)
    storage.events.put(eventListing('EV-1', { venue: 'a' }))
    storage = await settle(storage)
    storage.events.remove('b', listing.nativeId)
    storage.events.remove('b', listing.nativeId)
    storage.events.remove('b', eventListing('never').nativeId)
    storage = await settle(storage)
    assert.equal(storage.events.count(), 1)
    assert.deepEqual(
      [...storage.events.all()].map((event) => event.venue),
      ['a'],
    )
    assert.equal(storage.events.details('b', listing.nativeId), null)
    assert.notEqual(storage.events.details('a', listing.nativeId), null)
    storage.events.put(listing)
    assert.equal(storage.events.count(), 2)
  })

  const unlimited = { retentionDays: 10, sizeBytesMax: Number.MAX_SAFE_INTEGER }
  const retained = (storage: Storage) => storage.runs.all().map((run) => run.number)

  test('removes engine runs older than the oldest run with a stored trade, but never the newest run', async () => {
    let storage = await open()
    for (let run = 1; run <= 6; run += 1) {
      const startedAtMs = timeMs(NOON_MS + run * 86_400_000)
      assert.equal(storage.runs.begin(`epoch-${run}`, startedAtMs).number, run)
      // The second and the fifth run have no trades.
      if (run === 2 || run === 5) continue
      storage.trades.put(
        traded(1),
        trade(`t${run}`, { run, offset: 1, seq: 1, timeMs: startedAtMs }),
      )
      storage.trades.put(traded(1), trade(`history${run}`, { timeMs: startedAtMs }))
    }
    const pruneAt = async (day: number, rowsMax: number) => {
      storage = await settle(storage)
      const nowMs = timeMs(NOON_MS + day * 86_400_000)
      while (storage.prune({ ...unlimited, nowMs, rowsMax })) storage = await settle(storage)
      storage = await settle(storage)
    }
    await pruneAt(7, 100)
    assert.deepEqual(retained(storage), [1, 2, 3, 4, 5, 6])
    await pruneAt(12, 1)
    assert.deepEqual(retained(storage), [3, 4, 5, 6])
    await pruneAt(15, 100)
    assert.deepEqual(retained(storage), [6])
    await pruneAt(30, 100)
    assert.equal(storage.trades.count(), 0)
    assert.deepEqual(retained(storage), [6])
    assert.equal(storage.runs.begin('epoch-7', timeMs(NOON_MS)).number, 7)
    await pruneAt(30, 100)
    assert.deepEqual(retained(storage), [7])
  })

  test('retains the newest ten thousand engine runs, and removes older runs even if trades of the older runs are stored', async () => {
    let storage = await open()
    for (let run = 1; run <= retainedRunsMax + 5; run += 1) {
      storage.runs.begin(`epoch-${run}`, timeMs(NOON_MS))
    }
    for (const run of [1, 3, 6]) {
      const position = { run, offset: 1, seq: 1, timeMs: timeMs(NOON_MS) }
      storage.trades.put(traded(1), trade(`t${run}`, position))
    }
    storage = await settle(storage)
    const limits = { ...unlimited, nowMs: timeMs(NOON_MS) }
    assert.equal(storage.prune({ ...limits, rowsMax: 3 }), true)
    storage = await settle(storage)
    while (storage.prune({ ...limits, rowsMax: 1_000 })) storage = await settle(storage)
    storage = await settle(storage)
    const numbers = retained(storage)
    assert.deepEqual([numbers.length, numbers[0]], [retainedRunsMax, 6])
    assert.equal(storage.trades.rangeByOffset({ run: 1, offset: 0, limit: 9 }).length, 1)
  })
}
