// The step from format 1 to 2 on a data folder of format 1, which is made here: this program's own,
// without the tables that came with format 2 and with trades of the older schema. The judge is a
// recomputation from the trades that are read.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { RootDatabase } from 'lmdb'
import { type Bar, type BarSize, barOf, joined } from '../../engine/market/candle.ts'
import { silentLog } from '../../engine/process/log.ts'
import { seededRandom } from '../../engine/random.ts'
import { DAY_MS, priceMicros, timeMs } from '../../engine/units.ts'
import type { Storage, TradeOfMarket } from '../../storage/contract/storage.ts'
import { prepareFormat2 } from '../../storage/format-2.ts'
import { openDatabase, openTable } from '../../storage/lmdb/environment.ts'
import { checkSentinel } from '../../storage/lmdb/sentinel.ts'
import { groupKey, tradeKey } from '../../storage/records/keys.ts'
import { FORMAT_VERSION, TABLES } from '../../storage/tables.ts'
import { makeOlder, openData, sideOf, testFolder } from '../support/rigs/data-folder.ts'
import { olderTradeValue } from '../support/worlds/older-trades.ts'
import { marketListing, NOON_MS, trade, traded } from '../support/worlds/stored.ts'

const folder = testFolder('format-2')

const MARKETS = 6
const TRADES = 600
const EVER = { fromMs: timeMs(0), toMs: timeMs(NOON_MS * 2), after: null, limit: 10_000 }
const NEW_TABLES = [
  TABLES.venueTrades,
  TABLES.bars,
  TABLES.snapshots,
  TABLES.pastPrices,
  TABLES.pastPriceReads,
  TABLES.coverage,
  TABLES.snapshotHours,
]

/** A closed folder of format 1: six markets of both venues, the last no longer listed. */
async function olderFolder(name: string): Promise<string> {
  const dataDir = join(folder, name)
  const random = seededRandom('format 1')
  const storage = await openData(dataDir)
  for (let number = 1; number <= MARKETS; number += 1) {
    storage.markets.put(marketListing(`m${number}`, { venue: number % 2 === 0 ? 'b' : 'a' }))
  }
  for (let count = 0; count < TRADES; count += 1) {
    const number = 1 + random.below(MARKETS)
    const atMs = NOON_MS - random.below(3) * DAY_MS + random.below(200) * 45_000 + random.below(2)
    const price = priceMicros(random.below(101) * 10_000)
    const position = count % 3 === 0 ? { run: 1, offset: count, seq: count } : {}
    const row = trade(`t${count}`, { timeMs: timeMs(atMs), price, ...position })
    storage.trades.put(traded(number, number % 2 === 0 ? 'b' : 'a'), row)
  }
  storage.markets.remove(MARKETS)
  const rows: TradeOfMarket[] = []
  for (let market = 1; market <= MARKETS; market += 1) {
    const range = { market, ...EVER, order: 'asc' } as const
    for (const row of storage.trades.range(range)) rows.push({ market, trade: row })
  }
  await storage.close()
  await makeOlder(dataDir, {
    ...{ version: 1, without: NEW_TABLES },
    change: (root, name) => {
      if (name === 'market') rewriteTrades(root, rows)
    },
  })
  return dataDir
}

/** Each trade as format 1 had it, a row for each. */
function rewriteTrades(root: RootDatabase<Buffer, Buffer>, rows: readonly TradeOfMarket[]): void {
  const trades = openTable(root, TABLES.trades)
  const offsets = openTable(root, TABLES.tradeOffsets)
  trades.clearSync()
  offsets.clearSync()
  root.transactionSync(() => {
    for (const { market, trade: row } of rows) {
      const key = tradeKey(market, row.timeMs, row.ordinal)
      trades.putSync(key, olderTradeValue(key, row, null))
      if (row.run !== null && row.offset !== null)
        offsets.putSync(groupKey(row.run, row.offset), key)
    }
  })
}

function versionOf(root: RootDatabase<Buffer, Buffer>, dataDir: string): number {
  return checkSentinel(root, { dataDir, name: 'market', side: sideOf(dataDir) }).formatVersion
}

/** Venue index and bars are what the trades of the listed markets come to. */
function assertRaised(storage: Storage): void {
  const expected = { a: [] as string[], b: [] as string[] }
  for (let market = 1; market < MARKETS; market += 1) {
    const rows = storage.trades.range({ market, ...EVER, order: 'asc' })
    assert.ok(rows.length > 50)
    for (const row of rows) expected[market % 2 === 0 ? 'b' : 'a'].push(row.nativeId)
    for (const size of ['minute', 'hour'] as const) {
      const bars = storage.bars.range({ market, size, ...EVER, order: 'asc' })
      assert.deepEqual(bars, recomputed(size, rows), `${size} bars of market ${market}`)
    }
  }
  for (const venue of ['a', 'b'] as const) {
    const rows = storage.trades.rangeOfVenue({ venue, ...EVER, order: 'asc' })
    assert.deepEqual(rows.map((row) => row.trade.nativeId).sort(), expected[venue].sort())
    let last = { timeMs: 0, ordinal: -1 }
    for (const { market, venueOrdinal, trade: row } of rows) {
      assert.equal(venueOrdinal, row.timeMs === last.timeMs ? last.ordinal + 1 : 0)
      assert.deepEqual(storage.trades.get(market, row.nativeId), row)
      last = { timeMs: row.timeMs, ordinal: venueOrdinal }
    }
  }
  const unlisted = { market: MARKETS, size: 'hour', ...EVER, order: 'asc' } as const
  assert.deepEqual(storage.bars.range(unlisted), [])
}

function recomputed(size: BarSize, rows: readonly Parameters<typeof barOf>[1][]): readonly Bar[] {
  const bars = new Map<number, Bar>()
  for (const row of rows) {
    const one = barOf(size, row)
    const existing = bars.get(one.startMs)
    bars.set(one.startMs, existing === undefined ? one : joined(existing, one))
  }
  return [...bars.values()]
}

test('opens a folder of format 1, indexes its trades by venue and builds bars from them', async () => {
  const dataDir = await olderFolder('whole')
  const root = openDatabase(join(dataDir, 'market'))
  assert.equal(versionOf(root, dataDir), 1)
  assert.equal(openTable(root, TABLES.venueTrades).getCount(), 0)
  await root.close()
  let storage = await openData(dataDir)
  assert.equal(storage.trades.count(), TRADES)
  assertRaised(storage)
  await storage.close()
  const raised = openDatabase(join(dataDir, 'market'))
  assert.equal(versionOf(raised, dataDir), FORMAT_VERSION)
  await raised.close()
  storage = await openData(dataDir)
  assertRaised(storage)
  await storage.close()
})

test('migrates to the same result when split into small transactions, interrupted and restarted', async () => {
  const dataDir = await olderFolder('parts')
  const root = openDatabase(join(dataDir, 'market'))
  const original = root.transactionSync.bind(root)
  let parts = 0
  const failing = Object.assign(Object.create(root), {
    transactionSync: (work: () => void) => {
      parts += 1
      if (parts === 40) throw new Error('killed')
      return original(work)
    },
  })
  assert.throws(() => prepareFormat2(failing, silentLog, 7), /killed/)
  assert.equal(versionOf(root, dataDir), 1, 'the version is raised only when all is there')
  parts = 40
  prepareFormat2(failing, silentLog, 7)
  assert.equal(parts, 40 + Math.ceil(TRADES / 7), 'seven trades a transaction')
  await root.close()
  const storage = await openData(dataDir)
  assertRaised(storage)
  await storage.close()
})

test('updates, adds and removes trades and their index entries in a folder of format 1', async () => {
  const storage = await openData(await olderFolder('lives on'))
  const rows = storage.trades.rangeOfVenue({ venue: 'a', ...EVER, order: 'asc' })
  const [first] = rows
  assert.ok(first !== undefined)
  const { market, trade: old } = first
  storage.trades.setMaker(market, old.nativeId, '0xmaker')
  storage.trades.put(traded(market), trade('late', { timeMs: old.timeMs }))
  const at = { venue: 'a', fromMs: old.timeMs, toMs: old.timeMs, after: null } as const
  const together = storage.trades.rangeOfVenue({ ...at, order: 'asc', limit: 9 })
  assert.equal(together[0]?.trade.maker, '0xmaker')
  assert.equal(together.at(-1)?.trade.nativeId, 'late')
  assert.equal(together.at(-1)?.venueOrdinal, together.length - 1)
  await storage.committed()
  const limits = { retentionDays: 1, sizeBytesMax: Number.MAX_SAFE_INTEGER, rowsMax: 50 }
  const nowMs = timeMs(NOON_MS + 10 * DAY_MS)
  while (storage.prune({ ...limits, nowMs })) await storage.committed()
  for (const venue of ['a', 'b'] as const) assert.equal(storage.trades.extentOfVenue(venue), null)
  assert.equal(storage.trades.count(), 0)
  const minutes = { market, size: 'minute', ...EVER, order: 'asc' } as const
  assert.deepEqual(storage.bars.range(minutes), [])
  assert.ok(storage.bars.range({ ...minutes, size: 'hour' }).length > 3, 'hour bars stay')
  await storage.close()
})
