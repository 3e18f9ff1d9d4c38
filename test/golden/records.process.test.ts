// Reads rows that an earlier version wrote: every table (test/fixtures/golden/rows.json) and older schemas
// (older-rows.json).

import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Storage } from '../../storage/contract/storage.ts'
import { openDatabase, openTable } from '../../storage/lmdb/environment.ts'
import { ENVIRONMENT_NAMES, FORMAT_VERSION, TABLE_LAYOUTS } from '../../storage/tables.ts'
import { goldenFile } from '../support/reference/golden.ts'
import { changeRows, openData, testFolder } from '../support/rigs/data-folder.ts'
import { STORED_KINDS, type StoredKind } from '../support/worlds/stored-everything.ts'
import { OLDER_KINDS } from '../support/worlds/stored-older.ts'

/** Key and value are base64. */
type Row = readonly [table: string, key: string, value: string]
interface Rows {
  readonly format: number
  readonly rows: readonly Row[]
}

function readable(value: unknown): unknown {
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString('hex')}`
  if (Array.isArray(value)) return value.map(readable)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, readable(one)]))
}

async function rowsOf(dataDir: string): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const environment of ENVIRONMENT_NAMES) {
    const root = openDatabase(join(dataDir, environment))
    for (const layout of TABLE_LAYOUTS) {
      if (layout.environment !== environment) continue
      for (const { key, value } of openTable(root, layout).getRange()) {
        rows.push([layout.name, key.toString('base64'), value.toString('base64')])
      }
    }
    await root.close()
  }
  return rows
}

async function openOn(dataDir: string, { format, rows }: Rows): Promise<Storage> {
  assert.equal(format, FORMAT_VERSION)
  await (await openData(dataDir)).close()
  await changeRows(dataDir, (root, environment) => {
    for (const [name, key, value] of rows) {
      const layout = TABLE_LAYOUTS.find((one) => one.name === name)
      assert.ok(layout !== undefined, `the table ${name} is gone`)
      if (layout.environment !== environment) continue
      openTable(root, layout).putSync(Buffer.from(key, 'base64'), Buffer.from(value, 'base64'))
    }
  })
  return openData(dataDir)
}

function assertKinds(storage: Storage, kinds: readonly Omit<StoredKind, 'put'>[]): void {
  for (const { name, get, wanted } of kinds) {
    assert.deepEqual(readable(get(storage)), readable(wanted), name)
  }
}

async function written(dataDir: string, format: number): Promise<Rows> {
  const storage = await openData(dataDir)
  for (const { put } of STORED_KINDS) await put(storage)
  await storage.close()
  return { format, rows: await rowsOf(dataDir) }
}

describe('stored records', () => {
  const folder = testFolder('golden-records')

  test('reads every kind of stored record from the golden file with its original values', async () => {
    const file = goldenFile('rows.json')
    // Rows of unchanged schemas must stay as they are, because new rows would not prove that older data is readable.
    if (!existsSync(file)) {
      const { format, rows } = await written(join(folder, 'made'), 8)
      const lines = rows.map((row) => `  ${JSON.stringify(row)}`)
      writeFileSync(file, `{"format": ${format}, "rows": [\n${lines.join(',\n')}\n]}\n`)
    }
    const rows: Rows = JSON.parse(readFileSync(file, 'utf8'))
    const storage = await openOn(join(folder, 'before'), rows)
    assertKinds(storage, STORED_KINDS)
    await storage.close()
  })

  test('reads every kind of record with its original values after storage is closed and reopened', async () => {
    const dataDir = join(folder, 'now')
    const { rows } = await written(dataDir, 0)
    assert.deepEqual(
      TABLE_LAYOUTS.map(({ name }) => name).filter(
        (name) => !rows.some(([table]) => table === name),
      ),
      [],
      'every table has a row',
    )
    const storage = await openData(dataDir)
    assertKinds(storage, STORED_KINDS)
    await storage.close()
  })

  for (const { name, rows, get, wanted } of OLDER_KINDS) {
    test(`reads records in an older format: ${name}`, async () => {
      const all: readonly (Row & { readonly 3: string })[] = JSON.parse(
        readFileSync(goldenFile('older-rows.json'), 'utf8'),
      )
      const own = all.filter((row) => row[3] === rows)
      assert.ok(own.length > 0, `older-rows.json has ${rows}`)
      const dataDir = join(folder, rows.replace(/\W/g, '-'))
      const storage = await openOn(dataDir, { format: 8, rows: own })
      assertKinds(storage, [{ name, get, wanted }])
      await storage.close()
    })
  }
})
