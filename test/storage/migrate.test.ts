// How steps from an older format to a newer one are run, with steps of the test's own.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { RootDatabase } from 'lmdb'
import { silentLog } from '../../engine/process/log.ts'
import { openDatabase, openTable } from '../../storage/lmdb/environment.ts'
import { checkSentinel, type Sentinel } from '../../storage/lmdb/sentinel.ts'
import { type MigrationStep, migrate } from '../../storage/migrate.ts'
import { FORMAT_VERSION } from '../../storage/tables.ts'
import { testFolder } from '../support/rigs/data-folder.ts'

const folder = testFolder('migrate')

const KEY = Buffer.from('key')
const NEXT = FORMAT_VERSION + 1
const layout = { name: 'things', isCompressed: false }

function sentinelOf(root: RootDatabase<Buffer, Buffer>): Sentinel {
  const side = { databaseId: 'id', isComplete: false }
  return checkSentinel(root, { dataDir: folder, name: 'market', side })
}

function step(from: number, change: (text: string) => string) {
  return {
    from,
    environment: 'market' as const,
    run: (root: RootDatabase<Buffer, Buffer>) => {
      const table = openTable(root, layout)
      table.putSync(KEY, Buffer.from(change(table.get(KEY)?.toString() ?? '')))
    },
  }
}

test('runs each missing migration step once, in order', async () => {
  const root = openDatabase(join(folder, 'order'))
  const prepared: string[] = []
  const steps: MigrationStep[] = [
    step(NEXT, (text) => `${text}b`),
    step(FORMAT_VERSION, (text) => `${text}a`),
    { from: NEXT + 1, environment: 'market', prepare: () => prepared.push('c') },
    { from: FORMAT_VERSION, environment: 'accounts', prepare: () => prepared.push('accounts') },
  ]
  const before = sentinelOf(root)
  assert.equal(before.formatVersion, FORMAT_VERSION)
  const options = { log: silentLog, steps, targetVersion: NEXT + 2 }
  const after1 = migrate(root, before, options)
  assert.equal(after1.formatVersion, NEXT + 2)
  assert.equal(openTable(root, layout).get(KEY)?.toString(), 'ab')
  assert.deepEqual(prepared, ['c'])
  migrate(root, after1, options)
  assert.equal(openTable(root, layout).get(KEY)?.toString(), 'ab')
  assert.deepEqual(prepared, ['c'])
  await root.close()
})

test('leaves format and rows unchanged when a migration step fails', async () => {
  const root = openDatabase(join(folder, 'failing'))
  const half = step(NEXT, () => 'half')
  const steps: MigrationStep[] = [
    step(FORMAT_VERSION, () => 'new'),
    {
      ...half,
      run: (database) => {
        half.run(database)
        throw new Error('out of luck')
      },
    },
  ]
  const before = sentinelOf(root)
  const options = { log: silentLog, steps, targetVersion: NEXT + 1 }
  assert.throws(() => migrate(root, before, options), /out of luck/)
  assert.equal(openTable(root, layout).get(KEY)?.toString(), 'new')
  await root.close()
  const again = openDatabase(join(folder, 'failing'))
  const steps2 = [step(NEXT, (text) => `${text}er`)]
  const position = { dataDir: folder, name: 'market', side: { databaseId: 'id', isComplete: true } }
  const isNewer = new RegExp(`format ${NEXT} is newer`)
  assert.throws(() => checkSentinel(again, { ...position, name: 'market' }), isNewer)
  const sentinel = { ...before, formatVersion: NEXT }
  migrate(again, sentinel, { log: silentLog, steps: steps2, targetVersion: NEXT + 1 })
  assert.equal(openTable(again, layout).get(KEY)?.toString(), 'newer')
  await again.close()
})
