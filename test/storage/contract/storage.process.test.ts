import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import type { Storage } from '../../../storage/contract/storage.ts'
import { openLmdbStorage } from '../../../storage/lmdb/lmdb.ts'
import { storageContract } from '../../contract/storage.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { WITHOUT_CHECK } from '../../support/rigs/data-folder.ts'

const folders: string[] = []
const dataDirs = new Map<Storage, string>()

after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

async function openIn(dataDir: string): Promise<Storage> {
  // The clock does not advance, so commits happen only when a test requests them.
  const parts = {
    clock: new ManualClock(),
    log: silentLog,
    metrics: new Metrics(),
    ...WITHOUT_CHECK,
  }
  const storage = await openLmdbStorage({ dataDir, ...parts })
  dataDirs.set(storage, dataDir)
  return storage
}

function open(): Promise<Storage> {
  const folder = mkdtempSync(join(tmpdir(), 'twinbook-storage-'))
  folders.push(folder)
  return openIn(folder)
}

async function close(): Promise<void> {
  for (const storage of dataDirs.keys()) await storage.close()
  dataDirs.clear()
}

storageContract({ name: 'LMDB, uncommitted', open, settle: async (storage) => storage, close })

const REOPENED_EVERY = process.env.TEST_LONG === '1' ? 4 : 64
let reopenings = 0

storageContract({
  name: 'LMDB, reopened',
  open,
  close,
  settle: async (storage) => {
    await storage.committed()
    // Reopening at every 64th call only limits the run time of the property test.
    reopenings += 1
    if (reopenings > 40 && reopenings % REOPENED_EVERY !== 0) return storage
    const dataDir = dataDirs.get(storage) ?? ''
    await storage.close()
    dataDirs.delete(storage)
    return openIn(dataDir)
  },
})
