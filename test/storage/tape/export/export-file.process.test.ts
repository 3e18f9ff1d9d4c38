// DuckDB reads the exported files and is the judge of their types and contents.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import type { Update } from '../../../../engine/events.ts'
import {
  EXPORT_FORMATS,
  EXPORT_TABLES,
  type ExportFormat,
  type ExportTableName,
} from '../../../../engine/tape/export-names.ts'
import { hourFolder } from '../../../../engine/tape/layout.ts'
import { timeMs } from '../../../../engine/units.ts'
import { exportFile } from '../../../../storage/tape/export/export-file.ts'
import { hourRows } from '../../../../storage/tape/export/hour-rows.ts'
import { TABLES } from '../../../../storage/tape/export/tables.ts'
import { Tape } from '../../../../storage/tape/tape.ts'
import { testFolder } from '../../../support/rigs/data-folder.ts'
import { ask, bid, level, NOON } from '../../../support/worlds/builders.ts'
import {
  NOON_US,
  recordingTape,
  TapeWorld,
  tapeSettings,
  type WorldRecord,
} from '../../../support/worlds/tape-world.ts'

const ROOT = testFolder('export-file')
const HOUR = hourFolder(ROOT, 'venue_a', NOON_US)
const updates: Update[] = []
let duck: DuckDBConnection

before(async () => {
  const world = new TapeWorld({ seed: 'export', markets: 7 })
  const tape = recordingTape(tapeSettings(ROOT), NOON_US)
  for (const row of world.sweep(true)) tape.put(row)
  for (let count = 1; count <= 2_500; count += 1) {
    const row = world.next()
    if (row.item.kind === 'update') updates.push(row.item.update)
    tape.put(row)
    if (count % 1_000 === 0) for (const swept of world.sweep(false)) tape.put(swept)
  }
  tape.close()
  duck = await (await DuckDBInstance.create(':memory:')).connect()
})

const file = (table: ExportTableName, format: ExportFormat): string => {
  const path = join(ROOT, `${table}.${format}`)
  const chunks = [...exportFile(new Tape(ROOT), HOUR, { table, format })]
  writeFileSync(path, Buffer.concat(chunks.filter((chunk) => chunk !== null)))
  return path
}

const rowsIn = (folder: string, table: ExportTableName, weightMax?: number) =>
  [...hourRows(new Tape(folder), hourFolder(folder, 'venue_a', NOON_US), table, weightMax)].filter(
    (row) => row !== null,
  )

const rowsOf = async (sql: string) => (await duck.runAndReadAll(sql)).getRowsJson()

const DUCK_TYPES = {
  time: 'TIMESTAMP WITH TIME ZONE',
  decimal: 'DECIMAL(18,6)',
  integer: 'BIGINT',
  text: 'VARCHAR',
  boolean: 'BOOLEAN',
}

test('writes Parquet columns with the documented types', async () => {
  for (const table of EXPORT_TABLES) {
    const described = await rowsOf(`DESCRIBE FROM read_parquet('${file(table, 'parquet')}')`)
    const expected = TABLES[table].columns.map(({ name, type }) => [name, DUCK_TYPES[type]])
    assert.deepEqual(
      described.map(([name, type]) => [name, type]),
      expected,
      table,
    )
  }
})

/** How DuckDB reads a file, and its times as integers. */
function sourceOf(table: ExportTableName, format: ExportFormat): string {
  const path = file(table, format)
  if (format === 'parquet') {
    const times = TABLES[table].columns.filter(({ type }) => type === 'time')
    const replaced = times.map(({ name }) => `epoch_us("${name}") AS "${name}"`).join(', ')
    return `(SELECT * REPLACE (${replaced}) FROM read_parquet('${path}'))`
  }
  const types = TABLES[table].columns.map(({ name, type }) => {
    return `'${name}': '${type === 'time' ? 'BIGINT' : DUCK_TYPES[type]}'`
  })
  const columns = `columns = {${types.join(', ')}}`
  return format === 'csv.gz'
    ? `read_csv('${path}', ${columns}, header = true, delim = ',', quote = '"', allow_quoted_nulls = false)`
    : `read_json('${path}', ${columns}, format = 'newline_delimited')`
}

test('writes the same rows in the same order to Parquet, CSV and NDJSON', async () => {
  for (const table of EXPORT_TABLES) {
    const contents = []
    for (const format of EXPORT_FORMATS) {
      const { columns } = TABLES[table]
      const fields = columns.map(({ name }) => `coalesce("${name}"::VARCHAR, 'null')`)
      const row = `concat_ws('|', ${fields.join(', ')})`
      const source = sourceOf(table, format)
      contents.push(await rowsOf(`SELECT count(*), md5(string_agg(${row}, '\n')) FROM ${source}`))
    }
    assert.notEqual(contents[0]?.[0]?.[0], '0', table)
    assert.deepEqual(contents[1], contents[0], table)
    assert.deepEqual(contents[2], contents[0], table)
  }
})

const micros = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

test('exports each published trade and each changed book level once', async () => {
  const trades = updates.flatMap((update) => (update.kind === 'trade' ? [update.trade] : []))
  const [traded] = await rowsOf(
    `SELECT count(DISTINCT trade_id), count(*), (sum(size) * 1000000)::BIGINT, (sum(size_usd) * 1000000)::BIGINT FROM read_parquet('${file('trades', 'parquet')}')`,
  )
  assert.deepEqual(traded?.map(Number), [
    trades.length,
    trades.length,
    micros(trades.map(({ size }) => size)),
    micros(trades.map(({ usd }) => usd)),
  ])
  const changes = updates.flatMap((update) => (update.kind === 'book' ? update.changes : []))
  const [changed] = await rowsOf(
    `SELECT count(*), (sum(size) * 1000000)::BIGINT, (sum(price) * 1000000)::BIGINT FROM read_parquet('${file('book_changes', 'parquet')}') WHERE kind = 'change'`,
  )
  assert.deepEqual(changed?.map(Number), [
    changes.length,
    micros(changes.map(({ size }) => size)),
    micros(changes.map(({ price }) => price)),
  ])
})

test('exports one-minute candles whose volumes and counts add up to those of the exported trades', async () => {
  const [sums] = await rowsOf(
    `SELECT (SELECT sum(size) FROM read_parquet('${file('trades', 'parquet')}')) - sum(volume), (SELECT count(*) FROM read_parquet('${file('trades', 'parquet')}')) - sum(trades_count) FROM read_parquet('${file('candles_1m', 'parquet')}')`,
  )
  assert.deepEqual(sums?.map(Number), [0, 0])
})

test('sorts exported rows by market, publish time and seq, whether the hour is read at once, by groups of markets or by market', () => {
  for (const table of EXPORT_TABLES) {
    const rows = rowsIn(ROOT, table)
    for (const weightMax of [200, 1]) assert.deepEqual(rowsIn(ROOT, table, weightMax), rows, table)
    const at = (name: string) => TABLES[table].columns.findIndex((column) => column.name === name)
    const [market, published, seq] = [at('market_id'), at('ts_published'), at('seq')]
    const keys = rows.map((row) => {
      return [row[market], String(row[published]).padStart(17), String(row[seq]).padStart(9)].join()
    })
    assert.deepEqual(keys, [...keys].sort(), table)
  }
})

test('pauses after a block of the tape before it exports the first rows', () => {
  for (const table of EXPORT_TABLES) {
    const chunks = [...exportFile(new Tape(ROOT), HOUR, { table, format: 'parquet' })]
    assert.equal(chunks[0], null, table)
    assert.ok((chunks.at(-1)?.length ?? 0) > 0, table)
  }
})

test('exports a replaced book as a clear row and level rows, best level first, and a stale book as a stale row', () => {
  const world = new TapeWorld({ seed: 'replaced', markets: 1 })
  const folder = join(ROOT, 'replaced')
  const tape = recordingTape(tapeSettings(folder), NOON_US)
  for (const row of world.sweep(true)) tape.put(row)
  const [market] = world.markets
  assert.ok(market !== undefined)
  const time = timeMs(NOON + 5)
  const head = { market: market.ref, venueTimeMs: time, receivedAtMs: time, offset: 7, seq: 3 }
  const book = {
    ...{ bids: [level(0.4, 10), level(0.3, 5)], asks: [level(0.5, 1)], offset: 7, seq: 3 },
    ...{ isStale: false, staleReason: null, venueTimeMs: time, receivedAtMs: time },
  }
  const put = (us: number, update: Update, after: typeof book | null) =>
    tape.put({ us: NOON_US + us, item: { kind: 'update', update, book: after } }, 1)
  put(6_000, { kind: 'bookReplaced', ...head, reason: 'first' }, book)
  const changes = [bid(0.4, 0), ask(0.6, 2)]
  put(7_000, { kind: 'book', ...head, seq: 4, offset: 8, changes, checksum: null }, null)
  const stale = { reason: 'silent', sinceMs: time, isOfVenue: false } as const
  put(8_000, { kind: 'bookStale', ...head, seq: 4, offset: 8, ...stale }, null)
  tape.close()
  const rows = rowsIn(folder, 'book_changes')
  assert.deepEqual(
    rows.map((row) => row.slice(6)),
    [
      [3, 'clear', null, null, null],
      [3, 'level', 'bid', 400_000, 10_000_000],
      [3, 'level', 'bid', 300_000, 5_000_000],
      [3, 'level', 'ask', 500_000, 1_000_000],
      [4, 'change', 'bid', 400_000, 0],
      [4, 'change', 'ask', 600_000, 2_000_000],
      [4, 'stale', null, null, null],
    ],
  )
})

test('exports a trade once that was published again after the engine was killed', () => {
  const folder = join(ROOT, 'again')
  const rows: WorldRecord[] = []
  for (const epoch of ['run1', 'run2']) {
    const world = new TapeWorld({
      seed: 'again',
      markets: 2,
      fromUs: (rows.at(-1)?.us ?? NOON_US) + 9,
    })
    const tape = recordingTape(tapeSettings(folder, { epoch }), world.us)
    for (const row of world.sweep(true)) tape.put(row)
    for (let count = 0; count < 200; count += 1) {
      const row = world.next()
      rows.push(row)
      tape.put(row)
    }
    tape.close()
  }
  const ids = rows.flatMap(({ item }) => {
    return item.kind === 'update' && item.update.kind === 'trade'
      ? [item.update.trade.nativeId]
      : []
  })
  const at = TABLES.trades.columns.findIndex(({ name }) => name === 'trade_id')
  const exported = rowsIn(folder, 'trades').map((row) => String(row[at]))
  assert.ok(exported.length > 0 && ids.length === 2 * exported.length)
  assert.deepEqual(exported.toSorted(), [...new Set(ids)].toSorted())
})
