// Temporary folders of a test file and the storage in them.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import type { RootDatabase } from 'lmdb'
import { systemClock } from '../../../engine/clock.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import type { Storage } from '../../../storage/contract/storage.ts'
import { openDatabase } from '../../../storage/lmdb/environment.ts'
import { openLmdbStorage } from '../../../storage/lmdb/lmdb.ts'
import { ENVIRONMENT_NAMES } from '../../../storage/tables.ts'

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

/** Changes the rows of a closed folder. */
export async function changeRows(
  dataDir: string,
  change: (root: RootDatabase<Buffer, Buffer>, name: (typeof ENVIRONMENT_NAMES)[number]) => void,
): Promise<void> {
  for (const name of ENVIRONMENT_NAMES) {
    const root = openDatabase(join(dataDir, name))
    change(root, name)
    await root.close()
  }
}
