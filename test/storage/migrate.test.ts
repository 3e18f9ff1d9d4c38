// Steps from an older format to this one, with steps of the test's own: format 1 is still the
// first.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { RootDatabase } from 'lmdb'
import { silentLog } from '../../engine/log.ts'
import { openDatabase, openTable } from '../../storage/environment.ts'
import { type MigrationStep, migrate } from '../../storage/migrate.ts'
import { checkSentinel, type Sentinel } from '../../storage/sentinel.ts'
import { FORMAT_VERSION } from '../../storage/tables.ts'

const folder = mkdtempSync(join(tmpdir(), 'twinbook-migrate-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const KEY = Buffer.from('key')
const layout = { name: 'things', isCompressed: false }

function sentinelOf(root: RootDatabase<Buffer, Buffer>): Sentinel {
  const side = { databaseId: 'id', isComplete: false }
  return checkSentinel(root, { dataDir: folder, name: 'market', side })
}

function step(from: number, change: (text: string) => string): MigrationStep {
  return {
    from,
    environment: 'market',
    run: (root) => {
      const table = openTable(root, layout)
      table.putSync(KEY, Buffer.from(change(table.get(KEY)?.toString() ?? '')))
    },
  }
}

test('[STORE14] missing steps run in order, each once', async () => {
  const root = openDatabase(join(folder, 'order'))
  const steps = [step(2, (text) => `${text}b`), step(1, (text) => `${text}a`)]
  const before = sentinelOf(root)
  assert.equal(before.formatVersion, FORMAT_VERSION)
  const after1 = migrate(root, before, { log: silentLog, steps, targetVersion: 4 })
  assert.equal(after1.formatVersion, 4)
  assert.equal(openTable(root, layout).get(KEY)?.toString(), 'ab')
  migrate(root, after1, { log: silentLog, steps, targetVersion: 4 })
  assert.equal(openTable(root, layout).get(KEY)?.toString(), 'ab')
  await root.close()
})

test('[STORE14] a step that fails leaves the format and the rows as they were', async () => {
  const root = openDatabase(join(folder, 'failing'))
  const failing = step(2, (text) => text)
  const steps: MigrationStep[] = [
    step(1, () => 'new'),
    {
      ...failing,
      run: (database) => {
        step(2, () => 'half').run(database)
        throw new Error('out of luck')
      },
    },
  ]
  const before = sentinelOf(root)
  const options = { log: silentLog, steps, targetVersion: 3 }
  assert.throws(() => migrate(root, before, options), /out of luck/)
  assert.equal(openTable(root, layout).get(KEY)?.toString(), 'new')
  await root.close()
  const again = openDatabase(join(folder, 'failing'))
  const steps2 = [step(2, (text) => `${text}er`)]
  const place = { dataDir: folder, name: 'market', side: { databaseId: 'id', isComplete: true } }
  assert.throws(() => checkSentinel(again, { ...place, name: 'market' }), /format 2 is newer/)
  const sentinel = { ...before, formatVersion: 2 }
  migrate(again, sentinel, { log: silentLog, steps: steps2, targetVersion: 3 })
  assert.equal(openTable(again, layout).get(KEY)?.toString(), 'newer')
  await again.close()
})
