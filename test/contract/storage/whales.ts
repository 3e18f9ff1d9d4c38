// Storage contract: whales, which retention never removes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nativeMarketId } from '../../../engine/ids.ts'
import { timeMs, usdMicros } from '../../../engine/units.ts'
import type {
  Storage,
  StoredWhale,
  TradePosition,
  WhaleMarket,
  WhaleRow,
} from '../../../storage/contract/storage.ts'
import { NOON_MS, trade } from '../../support/worlds/stored.ts'
import type { StorageUnderTest } from '../storage.ts'

const EVER = { fromMs: timeMs(0), toMs: timeMs(NOON_MS * 2) }

const market = (number: number): WhaleMarket => ({
  number,
  venue: number % 2 === 0 ? 'b' : 'a',
  nativeId: nativeMarketId(`m${number}`),
})

function whale(id: string, changes: Partial<StoredWhale> = {}): Omit<StoredWhale, 'ordinal'> {
  const facts = { outcome: 'Yes', question: 'Will it?', slug: 'will-it', eventSlug: 'event' }
  return { ...trade(id), ...facts, category: null, wallet: '0xaa', fills: 1, ...changes }
}

const idsOf = (rows: readonly WhaleRow[]) => rows.map((row) => row.whale.nativeId)

export function whaleContract({ open, settle }: StorageUnderTest): void {
  test('finds a whale trade by market and id, and leaves the time and ordinal of the trade unchanged when the trade is replaced', async () => {
    let storage = await open()
    const put = whale('w1', { txHash: '0xt', maker: '0xm', category: 'Politics' })
    const stored = storage.whales.put(market(1), put)
    assert.deepEqual(stored, { ...put, ordinal: 0 })
    assert.deepEqual(storage.whales.get(1, 'w1'), stored)
    storage = await settle(storage)
    assert.deepEqual(storage.whales.get(1, 'w1'), stored)
    assert.equal(storage.whales.get(2, 'w1'), null)
    assert.throws(() => storage.whales.put(market(1), put), /stored once/)
    const published = { ...stored, usd: usdMicros(9), fills: 3, run: 2, offset: 7, seq: 4 }
    storage.whales.replace(market(1), published)
    storage.whales.replace(market(1), { ...stored, nativeId: 'never' })
    storage.whales.replace(market(2), stored)
    storage = await settle(storage)
    assert.deepEqual(storage.whales.get(1, 'w1'), published)
    assert.equal(storage.whales.get(1, 'never'), null)
    assert.equal(storage.whales.count(), 1)
    const row = { market: 1, venue: 'a', nativeMarket: 'm1', whale: published }
    assert.deepEqual(storage.whales.rangeByOffset({ run: 2, offset: 6, limit: 9 }), [row])
  })

  test('numbers all whale trades of a millisecond, and returns time ranges of one market or of all markets', async () => {
    let storage = await open()
    const put = (number: number, id: string, offsetMs: number) =>
      storage.whales.put(market(number), whale(id, { timeMs: timeMs(NOON_MS + offsetMs) })).ordinal
    assert.deepEqual([put(1, 'a', 0), put(2, 'b', 0), put(1, 'c', 5)], [0, 1, 0])
    storage = await settle(storage)
    assert.deepEqual([put(1, 'd', 0), put(3, 'e', -5), put(2, 'f', 5)], [2, 0, 1])
    storage = await settle(storage)
    const all = { ...EVER, after: null, limit: 10 } as const
    const { whales } = storage
    assert.deepEqual(idsOf(whales.range({ ...all, order: 'asc' })), ['e', 'a', 'b', 'd', 'c', 'f'])
    const newest = whales.range({ ...all, order: 'desc', limit: 3 })
    assert.deepEqual(idsOf(newest), ['f', 'c', 'd'])
    assert.deepEqual(newest[0]?.market, 2)
    const ofMarket = (order: 'asc' | 'desc', after: TradePosition | null) =>
      idsOf(whales.rangeOfMarket({ ...all, market: 1, order, after }))
    assert.deepEqual(ofMarket('asc', null), ['a', 'd', 'c'])
    assert.deepEqual(ofMarket('desc', { timeMs: timeMs(NOON_MS + 5), ordinal: 0 }), ['d', 'a'])
    assert.deepEqual(ofMarket('asc', { timeMs: timeMs(NOON_MS), ordinal: null }), ['c'])
    const within = { ...all, fromMs: timeMs(NOON_MS), toMs: timeMs(NOON_MS), order: 'asc' as const }
    assert.deepEqual(idsOf(whales.range(within)), ['a', 'b', 'd'])
    assert.deepEqual(whales.range({ ...within, limit: 0 }), [])
    assert.deepEqual(whales.range({ ...within, fromMs: timeMs(NOON_MS + 1) }), [])
    assert.equal(whales.oldestMs(), NOON_MS - 5)
  })

  test('pages through every whale trade once in both orders while new whale trades arrive', async () => {
    const rows = fc.array(fc.record({ number: fc.integer({ min: 1, max: 3 }), atMs: fc.nat(4) }), {
      maxLength: 40,
    })
    await fc.assert(
      fc.asyncProperty(rows, fc.integer({ min: 1, max: 7 }), async (put, limit) => {
        let storage = await open()
        for (const [index, { number, atMs }] of put.entries()) {
          const at = { timeMs: timeMs(NOON_MS + atMs) }
          storage.whales.put(market(number), whale(`w${index}`, at))
        }
        storage = await settle(storage)
        const sorted = put
          .map(({ number, atMs }, index) => ({ number, atMs, id: `w${index}` }))
          .sort((one, other) => one.atMs - other.atMs)
        for (const only of [null, 1]) {
          const expected = sorted.filter(({ number }) => only === null || number === only)
          const asc = expected.map(({ id }) => id)
          assert.deepEqual(pagesOf(storage, { order: 'asc', limit, only }), asc)
          assert.deepEqual(pagesOf(storage, { order: 'desc', limit, only }), asc.reverse())
        }
      }),
      { numRuns: 5 },
    )
  })

  test('returns the published whale trades of an engine run in order of offset', async () => {
    let storage = await open()
    for (let offset = 1; offset <= 9; offset += 1) {
      const position = { run: offset < 7 ? 1 : 2, offset, seq: offset }
      storage.whales.put(market(offset), whale(`w${offset}`, position))
      if (offset === 4) storage = await settle(storage)
    }
    storage.whales.put(market(1), whale('untold'))
    storage = await settle(storage)
    const after = (run: number, offset: number, limit = 9) =>
      idsOf(storage.whales.rangeByOffset({ run, offset, limit }))
    assert.deepEqual(after(1, 3), ['w4', 'w5', 'w6'])
    assert.deepEqual(after(1, 0, 2), ['w1', 'w2'])
    assert.deepEqual(after(2, 0), ['w7', 'w8', 'w9'])
    assert.deepEqual(after(3, 0), [])
    const { whales } = storage
    assert.deepEqual(
      [1, 2, 3].map((run) => whales.newestOffset(run)),
      [6, 9, 0],
    )
  })

  test('never removes a whale trade when storage removes old rows, whatever its age and the database size', async () => {
    let storage = await open()
    const old = { timeMs: timeMs(NOON_MS - 400 * 86_400_000), run: 1, offset: 1, seq: 1 }
    storage.whales.put(market(1), whale('old', old))
    storage.trades.put(market(1), trade('old', old))
    storage = await settle(storage)
    await storage.committed()
    const limits = { nowMs: timeMs(NOON_MS), retentionDays: 1, sizeBytesMax: 0, rowsMax: 100 }
    for (let calls = 0; storage.prune(limits); calls += 1) assert.ok(calls < 20)
    storage = await settle(storage)
    assert.equal(storage.trades.count(), 0)
    assert.equal(storage.whales.count(), 1)
    assert.deepEqual(idsOf(storage.whales.rangeByOffset({ run: 1, offset: 0, limit: 9 })), ['old'])
  })
}

function pagesOf(
  storage: Storage,
  { order, limit, only }: { order: 'asc' | 'desc'; limit: number; only: number | null },
): string[] {
  const seen: string[] = []
  let after: TradePosition | null = null
  for (;;) {
    const query = { ...EVER, after, order, limit }
    const rows: readonly WhaleRow[] =
      only === null
        ? storage.whales.range(query)
        : storage.whales.rangeOfMarket({ ...query, market: only })
    seen.push(...idsOf(rows))
    const last = rows.at(-1)
    if (last === undefined) return seen.filter((id) => id.startsWith('w'))
    after = last.whale
    // These rows lie before the position from which the read continues.
    const far = 1_000 + storage.whales.count()
    const atMs = timeMs(NOON_MS + (order === 'desc' ? far : -far))
    storage.whales.put(market(1), whale(`${order} ${only} ${seen.length}`, { timeMs: atMs }))
  }
}
