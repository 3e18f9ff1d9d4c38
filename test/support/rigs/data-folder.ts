// Temporary folders of a test file, the storage in them, and folders of older formats.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import type { RootDatabase } from 'lmdb'
import { systemClock } from '../../../engine/clock.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import type { Storage } from '../../../storage/contract/storage.ts'
import { openDatabase, openTable } from '../../../storage/lmdb/environment.ts'
import { openLmdbStorage } from '../../../storage/lmdb/lmdb.ts'
import { checkSentinel, putFormatVersion } from '../../../storage/lmdb/sentinel.ts'
import { ENVIRONMENT_NAMES, type TableLayout } from '../../../storage/tables.ts'

/** A folder that is removed after the tests of the file; call it at the file's top level. */
export function testFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `twinbook-${name}-`))
  after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export function openData(dataDir: string, metrics = new Metrics()): Promise<Storage> {
  return openLmdbStorage({ dataDir, clock: systemClock, log: silentLog, metrics })
}

/** Side facts of each database in a data folder, outside its tables. */
export function sideOf(dataDir: string) {
  return JSON.parse(readFileSync(join(dataDir, 'database.json'), 'utf8'))
}

/** Converts a closed folder to an older format: removes tables, restores rows and sets the format number. */
export async function makeOlder(
  dataDir: string,
  older: {
    readonly version: number
    readonly without?: readonly TableLayout[]
    readonly change?: (
      root: RootDatabase<Buffer, Buffer>,
      name: (typeof ENVIRONMENT_NAMES)[number],
    ) => void
  },
): Promise<void> {
  const side = sideOf(dataDir)
  for (const name of ENVIRONMENT_NAMES) {
    const root = openDatabase(join(dataDir, name))
    for (const layout of older.without ?? []) {
      if (layout.environment === name) openTable(root, layout).dropSync()
    }
    older.change?.(root, name)
    putFormatVersion(root, checkSentinel(root, { dataDir, name, side }), older.version)
    await root.close()
  }
}
