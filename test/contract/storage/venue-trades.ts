import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../engine/random.ts'
import { DAY_MS, timeMs } from '../../../engine/units.ts'
import type {
  Storage,
  StoredTrade,
  TradePosition,
  VenueTrade,
} from '../../../storage/contract/storage.ts'
import { NOON_MS, trade, traded } from '../../support/worlds/stored.ts'
import type { StorageUnderTest } from '../storage.ts'

const EVER = { fromMs: timeMs(0), toMs: timeMs(NOON_MS * 2), after: null }
const UNLIMITED = Number.MAX_SAFE_INTEGER
const isLong = process.env.TEST_LONG === '1'

export function venueTradeContract({ open, settle }: StorageUnderTest): void {
  test('returns the trades of the requested venue in order of time, and no trades of another venue', async () => {
    let storage = await open()
    const [one, two, other] = [traded(1), traded(2), traded(3, 'b')]
    const put = (market: typeof one, id: string, atMs: number) =>
      storage.trades.put(market, trade(id, { timeMs: timeMs(NOON_MS + atMs) }))
    put(one, 'one 5', 5)
    put(other, 'other 5', 5)
    put(two, 'two 3', 3)
    storage = await settle(storage)
    put(two, 'two 5', 5)
    put(one, 'one 9', 9)
    put(other, 'other 4', 4)
    const read = (query: Partial<Parameters<Storage['trades']['rangeOfVenue']>[0]>) =>
      storage.trades
        .rangeOfVenue({ venue: 'a', ...EVER, order: 'asc', limit: 10, ...query })
        .map((row) => `${row.trade.nativeId} #${row.venueOrdinal} of ${row.market}`)
    const all = ['two 3 #0 of 2', 'one 5 #0 of 1', 'two 5 #1 of 2', 'one 9 #0 of 1']
    assert.deepEqual(read({}), all)
    storage = await settle(storage)
    assert.deepEqual(read({}), all)
    assert.deepEqual(read({ order: 'desc' }), [...all].reverse())
    assert.deepEqual(read({ limit: 2 }), all.slice(0, 2))
    assert.deepEqual(read({ limit: 0 }), [])
    const at = (atMs: number) => timeMs(NOON_MS + atMs)
    assert.deepEqual(read({ fromMs: at(4), toMs: at(5) }), all.slice(1, 3))
    assert.deepEqual(read({ fromMs: at(6), toMs: at(5) }), [])
    const behind = (atMs: number, ordinal: number | null) => ({ timeMs: at(atMs), ordinal })
    assert.deepEqual(read({ after: behind(5, 0) }), all.slice(2))
    assert.deepEqual(read({ after: behind(5, null) }), all.slice(3))
    assert.deepEqual(read({ after: behind(5, 1), order: 'desc' }), [all[1], all[0]])
    assert.deepEqual(read({ after: behind(5, null), order: 'desc' }), [all[0]])
    assert.deepEqual(read({ venue: 'b' }), ['other 4 #0 of 3', 'other 5 #0 of 3'])
  })

  test('returns the first and last trade of a market and of a venue', async () => {
    let storage = await open()
    assert.equal(storage.trades.extentOfVenue('a'), null)
    assert.equal(storage.trades.oldestMs(1), null)
    for (const [number, atMs] of [
      [1, 7],
      [2, 4],
      [1, 5],
      [2, 9],
    ] as const) {
      const row = trade(`${number} ${atMs}`, { timeMs: timeMs(NOON_MS + atMs) })
      storage.trades.put(traded(number), row)
    }
    const extent = { oldestMs: NOON_MS + 4, newestMs: NOON_MS + 9 }
    assert.deepEqual(storage.trades.extentOfVenue('a'), extent)
    storage = await settle(storage)
    assert.deepEqual(storage.trades.extentOfVenue('a'), extent)
    assert.equal(storage.trades.extentOfVenue('b'), null)
    assert.equal(storage.trades.oldestMs(1), NOON_MS + 5)
    assert.equal(storage.trades.oldestMs(2), NOON_MS + 4)
    assert.equal(storage.trades.oldestMs(3), null)
  })

  test('returns the maker of a trade in the venue’s trade list when the maker becomes known later', async () => {
    let storage = await open()
    const stored = storage.trades.put(traded(1), trade('t1'))
    storage = await settle(storage)
    storage.trades.setMaker(1, 't1', '0xmaker')
    storage = await settle(storage)
    const rows = storage.trades.rangeOfVenue({ venue: 'a', ...EVER, order: 'asc', limit: 9 })
    const expected = { ...stored, maker: '0xmaker' }
    assert.deepEqual(rows, [{ market: 1, venueOrdinal: 0, trade: expected }])
  })

  test('assigns each trade an ordinal within its venue and millisecond, counting from 0, even if the trade arrives late', async () => {
    const random = seededRandom('venue ordinals')
    let storage = await open()
    const expected: { venue: 'a' | 'b'; nativeId: string; atMs: number; ordinal: number }[] = []
    const rounds = isLong ? 200 : 25
    for (let round = 0; round < rounds; round += 1) {
      for (let count = 0; count < 12; count += 1) {
        const venue = random.below(2) === 0 ? 'a' : 'b'
        const number = random.below(4) * 2 + (venue === 'a' ? 1 : 2)
        // One trade in five is much older than the newest.
        const atMs = random.below(5) === 0 ? random.below(round + 1) : round + random.below(3)
        const nativeId = `${round}-${count}`
        const ordinal = expected.filter((row) => row.venue === venue && row.atMs === atMs).length
        storage.trades.put(
          traded(number, venue),
          trade(nativeId, { timeMs: timeMs(NOON_MS + atMs) }),
        )
        expected.push({ venue, nativeId, atMs, ordinal })
      }
      storage = await settle(storage)
    }
    for (const venue of ['a', 'b'] as const) {
      const rows = storage.trades.rangeOfVenue({ venue, ...EVER, order: 'asc', limit: UNLIMITED })
      const sorted = expected
        .filter((row) => row.venue === venue)
        .sort((one, other) => one.atMs - other.atMs || one.ordinal - other.ordinal)
      assert.deepEqual(
        rows.map((row) => [row.trade.nativeId, row.trade.timeMs, row.venueOrdinal]),
        sorted.map((row) => [row.nativeId, NOON_MS + row.atMs, row.ordinal]),
      )
      for (const { market, trade: row } of rows) {
        assert.deepEqual(storage.trades.get(market, row.nativeId), row)
      }
      assert.deepEqual(paged(storage, venue, 'asc'), rows)
      assert.deepEqual(paged(storage, venue, 'desc'), [...rows].reverse())
    }
  })

  test('continues the ordinals within a venue and millisecond after more milliseconds than the cache contains', async () => {
    let storage = await open()
    const put = (id: string, atMs: number) =>
      storage.trades.put(traded(1 + (atMs % 3)), trade(id, { timeMs: timeMs(NOON_MS + atMs) }))
    for (let atMs = 0; atMs < 5_000; atMs += 1) put(`first ${atMs}`, atMs)
    storage = await settle(storage)
    for (let atMs = 4_990; atMs < 10_000; atMs += 1) put(`second ${atMs}`, atMs)
    for (const atMs of [0, 4_989, 4_990, 7_000, 9_999, 5_001]) put(`late ${atMs}`, atMs)
    const at = (atMs: number) => {
      const [fromMs, toMs] = [timeMs(NOON_MS + atMs), timeMs(NOON_MS + atMs)]
      return storage.trades
        .rangeOfVenue({ venue: 'a', fromMs, toMs, after: null, order: 'asc', limit: 9 })
        .map((row) => `${row.trade.nativeId} #${row.venueOrdinal}`)
    }
    assert.deepEqual(at(0), ['first 0 #0', 'late 0 #1'])
    assert.deepEqual(at(4_989), ['first 4989 #0', 'late 4989 #1'])
    assert.deepEqual(at(4_990), ['first 4990 #0', 'second 4990 #1', 'late 4990 #2'])
    assert.deepEqual(at(7_000), ['second 7000 #0', 'late 7000 #1'])
    assert.deepEqual(at(9_999), ['second 9999 #0', 'late 9999 #1'])
    assert.deepEqual(at(5_001), ['second 5001 #0', 'late 5001 #1'])
    // The first trade is far in the future. The next two trades share an earlier millisecond.
    for (const [id, atMs] of [
      ['far', 30_000 + 3 * 4_096],
      ['back', 30_000],
      ['back again', 30_000],
    ] as const) {
      put(id, atMs)
    }
    assert.deepEqual(at(30_000), ['back #0', 'back again #1'])
  })

  test('removes expired trades from the trade list of their venue, and leaves the ordinals of remaining trades unchanged', async () => {
    let storage = await open()
    const random = seededRandom('venue removals')
    for (let count = 0; count < 300; count += 1) {
      const atMs = NOON_MS - random.below(10) * DAY_MS + random.below(3)
      storage.trades.put(traded(random.below(4)), trade(`t${count}`, { timeMs: timeMs(atMs) }))
    }
    storage = await settle(storage)
    const all = () =>
      storage.trades.rangeOfVenue({ venue: 'a', ...EVER, order: 'asc', limit: UNLIMITED })
    const before = new Map(all().map((row) => [row.trade.nativeId, row.venueOrdinal]))
    const limits = { nowMs: timeMs(NOON_MS + 3_600_000), sizeBytesMax: UNLIMITED, rowsMax: 7 }
    let calls = 0
    while (storage.prune({ ...limits, retentionDays: 5 })) {
      calls += 1
      if (calls % 4 === 0) {
        storage = await settle(storage)
        assertWhole(storage, all(), before)
      }
      assert.ok(calls < 200)
    }
    storage = await settle(storage)
    assertWhole(storage, all(), before)
    assert.ok(all().length > 100 && all().length < 200, `${all().length} are left`)
    assert.deepEqual(storage.trades.extentOfVenue('a')?.oldestMs, all()[0]?.trade.timeMs)
    // Missed trades are fetched again, so a removed trade may return.
    storage.trades.put(traded(1), trade('again', { timeMs: timeMs(NOON_MS - 8 * DAY_MS) }))
    assert.equal(all()[0]?.trade.nativeId, 'again')
    assert.equal(all()[0]?.venueOrdinal, 0)
    while (storage.prune({ ...limits, retentionDays: 0, nowMs: timeMs(NOON_MS + DAY_MS) })) {
      storage = await settle(storage)
    }
    assert.deepEqual(all(), [])
    assert.equal(storage.trades.extentOfVenue('a'), null)
    storage.trades.put(traded(2), trade('anew'))
    assert.equal(all()[0]?.venueOrdinal, 0)
  })
}

function assertWhole(
  storage: Storage,
  rows: readonly VenueTrade[],
  ordinals: ReadonlyMap<string, number>,
): void {
  const ofMarkets: StoredTrade[] = []
  for (let market = 0; market < 4; market += 1) {
    ofMarkets.push(...storage.trades.range({ market, ...EVER, order: 'asc', limit: UNLIMITED }))
  }
  const ids = (trades: readonly StoredTrade[]) => trades.map((row) => row.nativeId).sort()
  assert.deepEqual(ids(rows.map((row) => row.trade)), ids(ofMarkets))
  let last: TradePosition = { timeMs: timeMs(0), ordinal: 0 }
  for (const { venueOrdinal, trade: row } of rows) {
    assert.equal(ordinals.get(row.nativeId), venueOrdinal)
    const isLater = row.timeMs > last.timeMs || venueOrdinal > (last.ordinal ?? 0)
    assert.ok(row.timeMs >= last.timeMs && isLater)
    last = { timeMs: row.timeMs, ordinal: venueOrdinal }
  }
}

function paged(storage: Storage, venue: 'a' | 'b', order: 'asc' | 'desc'): readonly VenueTrade[] {
  const rows: VenueTrade[] = []
  let after: TradePosition | null = null
  for (;;) {
    const page: readonly VenueTrade[] = storage.trades.rangeOfVenue({
      venue,
      ...EVER,
      after,
      order,
      limit: 7,
    })
    rows.push(...page)
    const last = page.at(-1)
    if (last === undefined) return rows
    after = { timeMs: last.trade.timeMs, ordinal: last.venueOrdinal }
  }
}
