import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DAY_MS, HOUR_MS, timeMs } from '../../../engine/units.ts'
import type { Storage, StoredTrade, TradePosition } from '../../../storage/contract/storage.ts'
import { NOON_MS, trade, traded } from '../../support/worlds/stored.ts'
import type { StorageUnderTest } from '../storage.ts'

const EVER = { fromMs: timeMs(0), toMs: timeMs(NOON_MS * 2) }
const isLong = process.env.TEST_LONG === '1'

export function tradeContract({ open, settle }: StorageUnderTest): void {
  test('finds a trade by market and native id, both before and after the trade is written to disk', async () => {
    let storage = await open()
    const put = trade('t1', { maker: '0xmaker', txHash: '0xhash', run: 1, offset: 5, seq: 2 })
    const stored = storage.trades.put(traded(7), put)
    assert.deepEqual(stored, { ...put, ordinal: 0 })
    assert.deepEqual(storage.trades.get(7, 't1'), stored)
    storage = await settle(storage)
    assert.equal(storage.trades.has(7, 't1'), true)
    assert.equal(storage.trades.has(8, 't1'), false)
    assert.equal(storage.trades.has(7, 't2'), false)
    assert.deepEqual(storage.trades.get(7, 't1'), stored)
    assert.equal(storage.trades.get(7, 't2'), null)
    assert.equal(storage.trades.count(), 1)
    assert.throws(() => storage.trades.put(traded(7), put), /stored once/)
    assert.equal(storage.trades.count(), 1)
  })

  test('returns a trade id unchanged when the id resembles the id format built from the trade’s fields', async () => {
    let storage = await open()
    const fields = trade('', { txHash: '0xhash', taker: '0xtaker' })
    const { side, size, price } = fields
    const rest = `-0xtaker-${side}-${size}-${price}`
    const ids = ['0xhash--7', '0xhash-7', '0xhashx7', '0xhash-77', '0xhash-7-'].map(
      (start) => `${start}${rest}-0`,
    )
    ids.push(`0xhash-7${rest}`, `0xhash-7${rest}-`, `0xhash-7${rest}-01`, `0xhash-${rest}-0`)
    for (const nativeId of ids) storage.trades.put(traded(3), { ...fields, nativeId })
    storage = await settle(storage)
    for (const nativeId of ids) assert.equal(storage.trades.get(3, nativeId)?.nativeId, nativeId)
  })

  test('returns a market’s remaining trades after older trades expired, for every format of trade id', async () => {
    let storage = await open()
    const taker = `0x${'c3'.repeat(20)}`
    const idsOf = {
      a: (hash: string) => `${hash}-${'7'.repeat(77)}-${taker}-buy-100000000-415000-0`,
      b: (hash: string) => `5f0c5b52-8a4e-4f0e-9d5c-${hash.slice(2, 14)}`,
    }
    const markets = [
      { number: 1, venue: 'a' },
      { number: 2, venue: 'b' },
    ] as const
    const ofDay = (venue: 'a' | 'b', day: number) => {
      const txHash = `0x${String(day).repeat(64)}`
      const at = timeMs(NOON_MS - day * DAY_MS)
      return trade(idsOf[venue](txHash), {
        timeMs: at,
        txHash: venue === 'a' ? txHash : null,
        taker,
      })
    }
    for (const market of markets) {
      for (const day of [8, 7, 1]) storage.trades.put(market, ofDay(market.venue, day))
    }
    storage = await settle(storage)
    const limits = { retentionDays: 5, sizeBytesMax: Number.MAX_SAFE_INTEGER, rowsMax: 100 }
    while (storage.prune({ nowMs: timeMs(NOON_MS + HOUR_MS), ...limits }));
    storage = await settle(storage)
    for (const market of markets) {
      const left = { ...ofDay(market.venue, 1), ordinal: 0 }
      const query = { ...EVER, market: market.number, after: null, order: 'asc', limit: 9 } as const
      assert.deepEqual(storage.trades.range(query), [left])
      assert.deepEqual(storage.trades.get(market.number, left.nativeId), left)
    }
  })

  test('changes the maker of a stored trade, and no other field, when the maker becomes known', async () => {
    let storage = await open()
    const stored = storage.trades.put(traded(1), trade('t1', { run: 1, offset: 1, seq: 1 }))
    storage.trades.setMaker(1, 't1', '0xfirst')
    storage = await settle(storage)
    storage.trades.setMaker(1, 't1', '0xsecond')
    storage.trades.setMaker(1, 'gone', '0xsecond')
    storage = await settle(storage)
    const expected = { ...stored, maker: '0xsecond' }
    assert.deepEqual(storage.trades.get(1, 't1'), expected)
    const all = { market: 1, ...EVER, after: null, limit: 10, order: 'asc' } as const
    assert.deepEqual(storage.trades.range(all), [expected])
    storage.trades.setMaker(1, 't1', null)
    assert.equal(storage.trades.get(1, 't1')?.maker, null)
    storage.trades.setTaker(1, 't1', '0xlate')
    storage.trades.setTaker(1, 'gone', '0xlate')
    storage = await settle(storage)
    assert.equal(storage.trades.get(1, 't1')?.taker, '0xlate')
    assert.equal(storage.trades.count(), 1)
  })

  test('numbers the trades of each millisecond from 0, for any order of arrival', async () => {
    let storage = await open()
    const ordinals: number[] = []
    const put = (id: string, offsetMs: number) => {
      const row = storage.trades.put(traded(1), trade(id, { timeMs: timeMs(NOON_MS + offsetMs) }))
      ordinals.push(row.ordinal)
    }
    put('a', 0)
    put('b', 0)
    put('c', 1_000)
    put('d', 0)
    storage = await settle(storage)
    put('e', 0)
    put('f', 1_000)
    put('g', -1_000)
    put('h', 1_000)
    storage = await settle(storage)
    put('i', 1_000)
    put('j', 2_000)
    put('k', 0)
    assert.deepEqual(ordinals, [0, 1, 0, 2, 3, 1, 0, 2, 3, 0, 4])
  })

  test('returns the time of a market’s newest trade', async () => {
    let storage = await open()
    assert.equal(storage.trades.newestMs(1), null)
    storage.trades.put(traded(1), trade('a', { timeMs: timeMs(NOON_MS) }))
    storage.trades.put(traded(1), trade('b', { timeMs: timeMs(NOON_MS - 5) }))
    assert.equal(storage.trades.newestMs(1), NOON_MS)
    storage = await settle(storage)
    assert.equal(storage.trades.newestMs(1), NOON_MS)
    assert.equal(storage.trades.newestMs(2), null)
  })

  test('returns exactly the trades of one market in a time range, in both orders', async () => {
    let storage = await open()
    for (let count = 0; count < 10; count += 1) {
      storage.trades.put(traded(1), trade(`a${count}`, { timeMs: timeMs(NOON_MS + count) }))
      storage.trades.put(traded(2), trade(`b${count}`, { timeMs: timeMs(NOON_MS + count) }))
      if (count === 4) storage = await settle(storage)
    }
    const range = (from: number, to: number, order: 'asc' | 'desc', limit = 100) =>
      storage.trades
        .range({
          market: 1,
          fromMs: timeMs(NOON_MS + from),
          toMs: timeMs(NOON_MS + to),
          after: null,
          order,
          limit,
        })
        .map((row) => row.nativeId)
    assert.deepEqual(range(2, 4, 'asc'), ['a2', 'a3', 'a4'])
    assert.deepEqual(range(2, 4, 'desc'), ['a4', 'a3', 'a2'])
    assert.deepEqual(range(3, 6, 'desc', 2), ['a6', 'a5'])
    assert.deepEqual(range(9, 99, 'asc'), ['a9'])
    assert.deepEqual(range(4, 3, 'asc'), [])
    assert.deepEqual(range(0, 9, 'asc', 0), [])
    assert.equal(range(-NOON_MS, NOON_MS, 'desc').length, 10)
  })

  test('continues a trade query after a given row of a millisecond, or after all rows of the millisecond', async () => {
    let storage = await open()
    for (const id of ['a', 'b', 'c']) storage.trades.put(traded(1), trade(id))
    storage.trades.put(traded(1), trade('before', { timeMs: timeMs(NOON_MS - 1) }))
    storage.trades.put(traded(1), trade('later', { timeMs: timeMs(NOON_MS + 1) }))
    storage = await settle(storage)
    const ids = (order: 'asc' | 'desc', ordinal: number | null, offsetMs = 0) =>
      storage.trades
        .range({
          market: 1,
          ...EVER,
          after: { timeMs: timeMs(NOON_MS + offsetMs), ordinal },
          order,
          limit: 10,
        })
        .map((row) => row.nativeId)
    assert.deepEqual(ids('asc', 0), ['b', 'c', 'later'])
    assert.deepEqual(ids('asc', null), ['later'])
    assert.deepEqual(ids('desc', 2), ['b', 'a', 'before'])
    assert.deepEqual(ids('desc', null), ['before'])
    assert.deepEqual(ids('desc', 0), ['before'])
    assert.deepEqual(ids('desc', 1_000_000_000_000), ['c', 'b', 'a', 'before'])
    assert.deepEqual(ids('asc', null, -1_000), ['before', 'a', 'b', 'c', 'later'])
  })

  test('returns the trades of an engine run whose offsets are above the requested offset', async () => {
    let storage = await open()
    for (let offset = 0; offset < 20; offset += 1) {
      const location = { run: offset < 15 ? 1 : 2, offset, seq: offset }
      storage.trades.put(traded(offset % 3), trade(`t${offset}`, location))
      if (offset === 9) storage = await settle(storage)
    }
    storage.trades.put(traded(1), trade('history'))
    const found = storage.trades.rangeByOffset({ run: 1, offset: 11, limit: 2 })
    assert.deepEqual(
      found.map((row) => [row.market, row.trade.nativeId]),
      [
        [0, 't12'],
        [1, 't13'],
      ],
    )
    const offsets = (run: number) =>
      storage.trades.rangeByOffset({ run, offset: -1, limit: 99 }).map((row) => row.trade.offset)
    assert.deepEqual(offsets(1), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14])
    assert.deepEqual(offsets(2), [15, 16, 17, 18, 19])
    assert.deepEqual(offsets(3), [])
  })

  test('pages through 300 trades of one millisecond exactly once while new trades arrive', async () => {
    let storage = await open()
    for (let count = 0; count < 300; count += 1) {
      storage.trades.put(traded(1), trade(`t${count}`))
      if (count === 200) storage = await settle(storage)
    }
    for (const order of ['asc', 'desc'] as const) {
      const seen: string[] = []
      let after: TradePosition | null = null
      for (;;) {
        const page = pageOf(storage, { after, order, limit: 37 })
        seen.push(...page.map((row) => row.nativeId))
        after = positionOf(page)
        if (after === null) break
        if (seen.length < 270) {
          const arriving = timeMs(NOON_MS + 10 + seen.length)
          storage.trades.put(traded(1), trade(`${order} new ${seen.length}`, { timeMs: arriving }))
        }
        if (seen.length % 5 === 0) storage = await settle(storage)
      }
      assert.equal(new Set(seen).size, seen.length, 'no row twice')
      const old = seen.filter((id) => id.startsWith('t'))
      const expected = Array.from({ length: 300 }, (_, count) => `t${count}`)
      assert.deepEqual(order === 'asc' ? old : old.reverse(), expected)
    }
  })

  test('pages through every trade exactly once for random times, page limits and arrivals', async () => {
    let storage = await open()
    let market = 0
    let ids = 0
    const times = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 60 })
    const property = fc.asyncProperty(
      times,
      times,
      fc.integer({ min: 1, max: 13 }),
      fc.constantFrom('asc' as const, 'desc' as const),
      async (first, arriving, limit, order) => {
        market += 1
        const put = (offsetMs: number) => {
          ids += 1
          const row = trade(`p${ids}`, { timeMs: timeMs(NOON_MS + offsetMs) })
          return storage.trades.put(traded(market), row)
        }
        const expected = first.map(put)
        storage = await settle(storage)
        const seen: StoredTrade[] = []
        let after: TradePosition | null = null
        do {
          const page = pageOf(storage, { market, after, order, limit })
          seen.push(...page)
          after = positionOf(page)
          // The number of new rows is limited so that paging ends.
          if (seen.length < first.length) put(6 + (arriving[seen.length % arriving.length] ?? 0))
        } while (after !== null)
        const old = seen.filter((row) => row.timeMs <= NOON_MS + 5)
        assert.deepEqual(old, sorted(expected, order))
        assert.equal(new Set(seen.map((row) => row.nativeId)).size, seen.length)
      },
    )
    await fc.assert(property, { numRuns: isLong ? 500 : 10, seed: 20261120 })
  })
}

function pageOf(
  storage: Storage,
  page: {
    market?: number
    after: TradePosition | null
    order: 'asc' | 'desc'
    limit: number
  },
): readonly StoredTrade[] {
  return storage.trades.range({ market: 1, ...EVER, ...page })
}

function positionOf(page: readonly StoredTrade[]): TradePosition | null {
  const last = page.at(-1)
  return last === undefined ? null : { timeMs: last.timeMs, ordinal: last.ordinal }
}

function sorted(trades: readonly StoredTrade[], order: 'asc' | 'desc'): StoredTrade[] {
  const ascending = [...trades].sort(
    (one, other) => one.timeMs - other.timeMs || one.ordinal - other.ordinal,
  )
  return order === 'asc' ? ascending : ascending.reverse()
}
