// The judge of the schemas is nautilus_trader 1.231.0: DuckDB describes the files of its tests/test_data/nautilus/128-bit
// as below. The judge of the values is the exported Parquet file of the same hour.

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { before, test } from 'node:test'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { hourFolder } from '../../../../engine/tape/layout.ts'
import { priceMicros, sizeMicros, timeMs, usdMicros } from '../../../../engine/units.ts'
import { exportFile } from '../../../../storage/tape/export/export-file.ts'
import { hourRows } from '../../../../storage/tape/export/hour-rows.ts'
import { type NautilusTable, nautilusFiles } from '../../../../storage/tape/export/nautilus.ts'
import { Tape } from '../../../../storage/tape/tape.ts'
import { testFolder } from '../../../support/rigs/data-folder.ts'
import {
  NOON_US,
  recordingTape,
  TapeWorld,
  tapeSettings,
} from '../../../support/worlds/tape-world.ts'

const ROOT = testFolder('nautilus')
const HOUR = hourFolder(ROOT, 'venue_a', NOON_US)
const NAME = '2026-11-20T12-00-00-000000000Z_2026-11-20T12-59-59-999999999Z.parquet'
/** A trade id of more than 36 characters, and the id of a block trade. */
const [LONG_ID, BLOCK_ID] = ['a-long-trade-id-of-more-than-36-characters', 'block-1']
let duck: DuckDBConnection
/** Path of the file of each market by table. */
const files: Record<NautilusTable, string[]> = { book_snapshots: [], trades: [] }

before(async () => {
  const world = new TapeWorld({ seed: 'nautilus', markets: 3 })
  const tape = recordingTape(tapeSettings(ROOT), NOON_US)
  for (const row of world.sweep(true)) tape.put(row)
  for (let count = 1; count <= 900; count += 1) {
    tape.put(world.next())
    if (count % 300 === 0) for (const swept of world.sweep(false)) tape.put(swept)
  }
  const [market] = world.markets
  assert.ok(market !== undefined)
  for (const [nativeId, isBlock] of [
    [LONG_ID, false],
    [BLOCK_ID, true],
  ] as const) {
    world.us += 1
    const time = timeMs(Math.floor(world.us / 1_000))
    const trade = {
      ...{ nativeId, timeMs: time, ordinal: 0, price: priceMicros(123_456), outcomeIndex: 0 },
      ...({ size: sizeMicros(9_000_000_000_000_001), side: 'sell', usd: usdMicros(1) } as const),
      ...{ maker: null, taker: null, txHash: null, isBlock },
    }
    const head = { market: market.ref, venueTimeMs: time, receivedAtMs: time, offset: 1, seq: 1 }
    const update = { kind: 'trade', ...head, trade } as const
    tape.put({ us: world.us, item: { kind: 'update', update, book: null } }, 1)
  }
  tape.close()
  for (const table of ['book_snapshots', 'trades'] as const) {
    for (const file of nautilusFiles(hourRows(new Tape(ROOT), HOUR, table), table, HOUR)) {
      if (file === null) continue
      const path = join(ROOT, 'catalog', file.path)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, Buffer.concat([...file.chunks]))
      files[table].push(path)
    }
    const chunks = exportFile(new Tape(ROOT), HOUR, { table, format: 'parquet' })
    writeFileSync(join(ROOT, table), Buffer.concat([...chunks].filter((chunk) => chunk !== null)))
  }
  duck = await (await DuckDBInstance.create(':memory:')).connect()
})

const rowsOf = async (sql: string) => (await duck.runAndReadAll(sql)).getRowsJson()

const uint8 = (name: string) => [name, 'INT32', null, 'REQUIRED', 'UINT_8']
const uint64 = (name: string) => [name, 'INT64', null, 'REQUIRED', 'UINT_64']
const fixed = (name: string) => [name, 'FIXED_LEN_BYTE_ARRAY', '16', 'REQUIRED', null]

const SCHEMAS: Readonly<Record<NautilusTable, readonly (readonly unknown[])[]>> = {
  book_snapshots: [
    ...[uint8('action'), uint8('side'), fixed('price'), fixed('size'), uint64('order_id')],
    ...[uint8('flags'), uint64('sequence'), uint64('ts_event'), uint64('ts_init')],
  ],
  trades: [
    ...[fixed('price'), fixed('size'), uint8('aggressor_side')],
    ...[['trade_id', 'BYTE_ARRAY', null, 'REQUIRED', 'UTF8'], uint64('ts_event')],
    uint64('ts_init'),
  ],
}

test('writes the Parquet schema and the metadata of a catalog, one file for each market', async () => {
  for (const [table, folder] of [
    ['book_snapshots', 'order_book_deltas'],
    ['trades', 'trade_tick'],
  ] as const) {
    const expected = [0, 1, 2].map((market) =>
      join(ROOT, 'catalog', 'data', folder, `market-${market}.VENUE_A`, NAME),
    )
    assert.deepEqual(files[table], expected)
    for (const [market, path] of expected.entries()) {
      const schema = await rowsOf(
        `SELECT name, type, type_length, repetition_type, converted_type FROM parquet_schema('${path}') OFFSET 1`,
      )
      assert.deepEqual(schema, SCHEMAS[table])
      const metadata = await rowsOf(
        `SELECT decode(key), decode(value) FROM parquet_kv_metadata('${path}') ORDER BY 1`,
      )
      assert.deepEqual(metadata, [
        ['instrument_id', `market-${market}.VENUE_A`],
        ['price_precision', '6'],
        ['size_precision', '6'],
      ])
    }
  }
})

/** A 128-bit little-endian value with 16 decimals as text with six decimals, in SQL. */
function decimalSql(column: string): string {
  const bytes = Array.from({ length: 16 }, (_, at) => {
    const byte = `('0x' || substr(hex(${column}), ${2 * at + 1}, 2))::UTINYINT::HUGEINT`
    return `${byte} * ${2n ** BigInt(8 * at)}::HUGEINT`
  })
  return `((${bytes.slice(0, 12).join(' + ')}) // 10000000000)::HUGEINT`
}

test('writes a clear and one add for each level, as the exported book snapshots', async () => {
  const source = `read_parquet('${join(ROOT, 'catalog/data/order_book_deltas/*/*.parquet')}', filename = true)`
  const written = await rowsOf(
    `SELECT regexp_extract(filename, 'market-\\d'), CASE action WHEN 4 THEN 'clear' WHEN 1 THEN 'level' END, CASE side WHEN 1 THEN 'bid' WHEN 2 THEN 'ask' END, ${decimalSql('price')}, ${decimalSql('size')}, sequence, ts_event, ts_init FROM ${source} ORDER BY filename, file_row_number`,
  )
  const expected = await rowsOf(
    `SELECT substr(market_id, 9), kind, side, (coalesce(price, 0) * 1000000)::HUGEINT, (coalesce(size, 0) * 1000000)::HUGEINT, seq::UBIGINT, (epoch_us(coalesce(ts_venue, ts_received, ts_published)) * 1000)::UBIGINT, (epoch_us(ts_published) * 1000)::UBIGINT FROM read_parquet('${join(ROOT, 'book_snapshots')}')`,
  )
  assert.ok(expected.length > 100)
  assert.deepEqual(written, expected)
  const flags = await rowsOf(
    `SELECT flags, flags = 160 AS is_last, coalesce(lead(action) OVER (PARTITION BY filename ORDER BY file_row_number), 4) = 4 AS ends, count(*) OVER () FROM ${source}`,
  )
  for (const [flag, isLast, ends] of flags) {
    assert.ok(flag === 32 || flag === 160)
    assert.equal(isLast, ends)
  }
})

test('writes each trade with its aggressor, except block trades, and shortens long trade ids', async () => {
  const written = await rowsOf(
    `SELECT ${decimalSql('price')}, ${decimalSql('size')}, CASE aggressor_side WHEN 1 THEN 'buy' WHEN 2 THEN 'sell' END, trade_id, ts_event, ts_init FROM read_parquet('${join(ROOT, 'catalog/data/trade_tick/*/*.parquet')}', filename = true) ORDER BY filename, file_row_number`,
  )
  const expected = await rowsOf(
    `SELECT (price::DECIMAL(38, 6) * 1000000)::HUGEINT, (size::DECIMAL(38, 6) * 1000000)::HUGEINT, side, CASE WHEN length(trade_id) > 36 THEN sha256(trade_id)[:32] ELSE trade_id END, (epoch_us(coalesce(ts_venue, ts_received, ts_published)) * 1000)::UBIGINT, (epoch_us(ts_published) * 1000)::UBIGINT FROM read_parquet('${join(ROOT, 'trades')}') WHERE trade_id <> '${BLOCK_ID}'`,
  )
  assert.ok(expected.length > 50)
  assert.deepEqual(written, expected)
  assert.deepEqual(
    written.filter(([price]) => String(price) === '123456').map(([, size]) => String(size)),
    ['9000000000000001'],
  )
})
