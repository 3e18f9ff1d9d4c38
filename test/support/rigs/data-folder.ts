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

/** The folder is removed after the tests of the file. Call it at the top level of the file. */
export function testFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `twinbook-${name}-`))
  after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The check of existing files starts two processes. lmdb.process.test.ts tests it. */
export const WITHOUT_CHECK = { checkFiles: async () => undefined }

export function openData(dataDir: string, metrics = new Metrics()): Promise<Storage> {
  const parts = { clock: systemClock, log: silentLog, metrics, ...WITHOUT_CHECK }
  return openLmdbStorage({ dataDir, ...parts })
}

/** Checks the files of the folder first, like the service. */
export function openCheckedData(dataDir: string, metrics = new Metrics()): Promise<Storage> {
  return openLmdbStorage({ dataDir, clock: systemClock, log: silentLog, metrics })
}

/** The contents of database.json in a data folder. */
export function sideOf(dataDir: string) {
  return JSON.parse(readFileSync(join(dataDir, 'database.json'), 'utf8'))
}

/** No process may have the folder open. */
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
