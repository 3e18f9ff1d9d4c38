import assert from 'node:assert/strict'
import {
  closeSync,
  copyFileSync,
  cpSync,
  existsSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { EngineError } from '../../../engine/errors.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { timeMs } from '../../../engine/units.ts'
import { openDatabase, openTable } from '../../../storage/lmdb/environment.ts'
import { SENTINEL_KEY } from '../../../storage/lmdb/sentinel.ts'
import { barKey, groupKey } from '../../../storage/records/keys.ts'
import { decodeRecord } from '../../../storage/records/records.ts'
import { SENTINEL_TABLE, TABLES } from '../../../storage/tables.ts'
import { openCheckedData, testFolder } from '../../support/rigs/data-folder.ts'
import {
  account,
  bar,
  marketListing,
  NOON_MS,
  snapshot,
  trade,
  traded,
} from '../../support/worlds/stored.ts'

const folder = testFolder('lmdb')
const anyCodec = { newest: 255, encode: () => Buffer.alloc(0), decode: () => 'served' }

const PAGE_BYTES = 4_096

let folders = 0

async function filled(): Promise<string> {
  folders += 1
  const dataDir = join(folder, `filled-${folders}`)
  const storage = await openCheckedData(dataDir)
  await storage.accounts.putAccount(account('one'))
  for (let count = 0; count < 1_000; count += 1) {
    storage.trades.put(traded(1), trade(`t${count}`, { run: 1, offset: count, seq: count }))
  }
  storage.markets.put(marketListing('one'))
  storage.ticks.put(1, 5, { seconds: [1], prices: [trade('x').price] })
  for (const size of ['minute', 'hour'] as const) storage.bars.put(1, size, bar(size, NOON_MS))
  storage.snapshots.put(1, snapshot(NOON_MS))
  const past = {
    readAtMs: timeMs(NOON_MS),
    completeToMs: timeMs(NOON_MS),
    seconds: [1],
    prices: [trade('x').price],
  }
  storage.pastPrices.put(1, 5, past)
  storage.coverage.put('a', timeMs(NOON_MS), timeMs(NOON_MS + 1))
  await storage.close()
  return dataDir
}

async function refuses(dataDir: string, terms: RegExp): Promise<void> {
  await assert.rejects(openCheckedData(dataDir), (error: unknown) => {
    assert.ok(error instanceof Error)
    assert.match(error.message, terms)
    assert.match(error.message, /refusing to start|in use/)
    return true
  })
  assert.equal(existsSync(join(dataDir, 'lock')), false, 'no lock is left behind')
}

test('allows one engine per data folder, and releases the folder’s lock when storage closes', async () => {
  const dataDir = await filled()
  const storage = await openCheckedData(dataDir)
  await assert.rejects(openCheckedData(dataDir), (error: unknown) => {
    assert.ok(error instanceof EngineError)
    assert.equal(error.code, 'UNAVAILABLE')
    return error.detail.includes(`process ${process.pid}`)
  })
  assert.equal(storage.trades.count(), 1_000)
  await storage.close()
  await storage.close()
  assert.equal(existsSync(join(dataDir, 'lock')), false)
  await (await openCheckedData(dataDir)).close()
})

test('refuses to open a database file that is empty, missing or from another database', async () => {
  const dataDir = await filled()
  const retained = join(folder, 'kept')
  cpSync(dataDir, retained, { recursive: true })
  for (const name of ['accounts', 'market']) {
    const file = join(dataDir, name, 'data.mdb')
    truncateSync(file, 0)
    await refuses(dataDir, new RegExp(`${name}/data.mdb was emptied`))
    assert.equal(statSync(file).size, 0, 'it was not written to')
    rmSync(file)
    await refuses(dataDir, new RegExp(`${name}/data.mdb is missing`))
    copyFileSync(join(await filled(), name, 'data.mdb'), file)
    await refuses(dataDir, /belongs to another database/)
    copyFileSync(join(retained, name, 'data.mdb'), file)
  }
  copyFileSync(join(retained, 'market', 'data.mdb'), join(dataDir, 'accounts', 'data.mdb'))
  await refuses(dataDir, /it is the environment "market"/)
  copyFileSync(join(retained, 'accounts', 'data.mdb'), join(dataDir, 'accounts', 'data.mdb'))
  rmSync(join(dataDir, 'database.json'))
  await refuses(dataDir, /database.json does not/)
  writeFileSync(join(dataDir, 'database.json'), '{}')
  await refuses(dataDir, /database.json is damaged/)
  copyFileSync(join(retained, 'database.json'), join(dataDir, 'database.json'))
  const storage = await openCheckedData(dataDir)
  assert.equal(storage.trades.count(), 1_000)
  await storage.close()
})

test('refuses to open a truncated or zeroed database file after a child process checked the file', async () => {
  const cut = await filled()
  const size = statSync(join(cut, 'market', 'data.mdb')).size
  truncateSync(join(cut, 'market', 'data.mdb'), Math.floor(size / 2))
  await refuses(cut, /market\/data.mdb is damaged/)
  const zeroed = await filled()
  const file = openSync(join(zeroed, 'accounts', 'data.mdb'), 'r+')
  writeSync(file, Buffer.alloc(16_384))
  await refuses(zeroed, /accounts\/data.mdb is damaged/)
})

test('refuses to open a database file with a zeroed page, unless every row is readable', async () => {
  const complete = await filled()
  const pages = statSync(join(complete, 'market', 'data.mdb')).size / PAGE_BYTES
  const outcomes = { refused: 0, opened: 0 }
  for (let page = 2; page < pages; page += 5) {
    const dataDir = join(folder, `zeroed-${page}`)
    cpSync(complete, dataDir, { recursive: true })
    const file = openSync(join(dataDir, 'market', 'data.mdb'), 'r+')
    writeSync(file, Buffer.alloc(PAGE_BYTES), 0, PAGE_BYTES, page * PAGE_BYTES)
    closeSync(file)
    try {
      const storage = await openCheckedData(dataDir)
      const query = { market: 1, fromMs: timeMs(0), toMs: timeMs(NOON_MS), after: null } as const
      assert.equal(storage.trades.range({ ...query, order: 'asc', limit: 2_000 }).length, 1_000)
      outcomes.opened += 1
      await storage.close()
    } catch (error) {
      assert.match(String(error), /market\/data.mdb is damaged: .*Restore the folder from a backup/)
      outcomes.refused += 1
    }
    rmSync(dataDir, { recursive: true })
  }
  assert.ok(outcomes.refused > 0 && outcomes.opened > 0, JSON.stringify(outcomes))
})

test('refuses to open a database without a sentinel record or with an unknown format', async () => {
  const bare = await filled()
  rmSync(join(bare, 'market'), { recursive: true })
  const other = openDatabase(join(bare, 'market'))
  await openTable(other, { name: 'foreign', isCompressed: false }).put(Buffer.of(1), Buffer.of(1))
  await other.close()
  await refuses(bare, /has no sentinel/)
  writeFileSync(
    join(bare, 'database.json'),
    readFileSync(join(bare, 'database.json'), 'utf8').replace('true', 'false'),
  )
  await refuses(bare, /has no sentinel/)

  for (const [version, order] of [
    [99, 'newer'],
    [7, 'older'],
  ] as const) {
    const folder = await filled()
    const root = openDatabase(join(folder, 'market'))
    const table = openTable(root, { name: SENTINEL_TABLE, isCompressed: false })
    const sentinel = JSON.parse(table.get(SENTINEL_KEY)?.toString() ?? '')
    const text = JSON.stringify({ ...sentinel, formatVersion: version })
    await table.put(SENTINEL_KEY, Buffer.from(text))
    await root.close()
    await refuses(folder, new RegExp(`its format ${version} is ${order}`))
  }
})

test('retains accounts when an operator removes the database folder of markets', async () => {
  const dataDir = await filled()
  rmSync(join(dataDir, 'market'), { recursive: true })
  const sidePath = join(dataDir, 'database.json')
  writeFileSync(sidePath, readFileSync(sidePath, 'utf8').replace('true', 'false'))
  const storage = await openCheckedData(dataDir)
  assert.equal(storage.trades.count(), 0)
  assert.equal([...storage.accounts.accounts()].length, 1)
  await storage.close()
  assert.match(readFileSync(sidePath, 'utf8'), /"isComplete":true/)
})

test('skips and counts a damaged record, and returns the neighbouring records', async () => {
  const dataDir = await filled()
  const root = openDatabase(join(dataDir, 'market'))
  const table = openTable(root, TABLES.trades)
  // Several trades share one LMDB row. The damaged byte is in the id of trade 500.
  const [block] = [...table.getRange({})].filter(({ value }) => value.includes('t500'))
  assert.ok(block !== undefined)
  const position = block.value.indexOf('t500')
  block.value.writeUInt8(block.value.readUInt8(position) ^ 4, position)
  await table.put(block.key, block.value)
  await root.close()
  const metrics = new Metrics()
  const storage = await openCheckedData(dataDir, metrics)
  const query = { market: 1, fromMs: timeMs(0), toMs: timeMs(NOON_MS), after: null } as const
  const rows = storage.trades.range({ ...query, order: 'asc', limit: 600 })
  assert.deepEqual([rows.length, rows.at(-1)?.ordinal], [600, 600])
  assert.equal(
    rows.some((row) => row.ordinal === 500),
    false,
  )
  const damaged = [...metrics.counts('storage_records_damaged').values()]
  assert.equal(damaged[0]?.value, 1)
  await storage.close()
})

test('skips and counts a damaged price bar and a truncated book snapshot', async () => {
  const dataDir = await filled()
  const root = openDatabase(join(dataDir, 'market'))
  const bars = openTable(root, TABLES.bars)
  const barRowKey = barKey(1, 1, NOON_MS)
  const value = bars.get(barRowKey)
  assert.ok(value !== undefined)
  for (let bit = 0; bit < value.length * 8; bit += 1) {
    const damaged: Buffer = Buffer.from(value)
    damaged.writeUInt8(damaged.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
    const row = { key: barRowKey, value: damaged }
    assert.equal(decodeRecord(TABLES.bars, row, anyCodec), null)
  }
  value.writeUInt8(value.readUInt8(20) ^ 4, 20)
  await bars.put(barRowKey, value)
  const snapshots = openTable(root, TABLES.snapshots)
  const retained = snapshots.get(groupKey(1, NOON_MS))
  assert.ok(retained !== undefined)
  await snapshots.put(groupKey(1, NOON_MS), retained.subarray(0, -1))
  await root.close()
  const metrics = new Metrics()
  const storage = await openCheckedData(dataDir, metrics)
  assert.equal(storage.bars.get(1, 'hour', timeMs(NOON_MS)), null)
  assert.notEqual(storage.bars.get(1, 'minute', timeMs(NOON_MS)), null)
  const query = { market: 1, fromMs: timeMs(0), toMs: timeMs(NOON_MS), after: null } as const
  assert.deepEqual(storage.snapshots.range({ ...query, order: 'asc', limit: 9 }), [])
  const counts = [...metrics.counts('storage_records_damaged').values()]
  assert.deepEqual(
    counts.map((count) => count.value),
    [1, 1],
  )
  await storage.close()
})
