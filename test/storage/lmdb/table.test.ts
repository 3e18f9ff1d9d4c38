import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { systemClock } from '../../../engine/clock.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { seededRandom } from '../../../engine/random.ts'
import { Environment, openDatabase } from '../../../storage/lmdb/environment.ts'
import { groupKey } from '../../../storage/records/keys.ts'
import { TABLES } from '../../../storage/tables.ts'
import { testFolder } from '../../support/rigs/data-folder.ts'

const CLOSE_MS = 10_000
const STEPS = process.env.TEST_LONG === '1' ? 6_000 : 2_400
const KEYS_A_GROUP = 400

test('returns the same rows as a plain map after puts and removals in any order', async () => {
  const random = seededRandom('table')
  const path = testFolder('table')
  const root = openDatabase(path)
  let isFull = false
  const failing = {
    openDB: root.openDB.bind(root),
    readerCheck: () => root.readerCheck(),
    resetReadTxn: () => root.resetReadTxn(),
    close: () => root.close(),
    backup: root.backup.bind(root),
    batch: (write: () => void) =>
      isFull ? Promise.reject(new Error('No space left on device')) : root.batch(write),
  }
  const environment = new Environment(failing, {
    ...{ name: 'market', path, clock: systemClock, log: silentLog },
    ...{ metrics: new Metrics(), commitPauseMs: 0, failedRows: 'keep' },
  })
  const table = environment.table(TABLES.ticks)
  const reference = new Map<string, Buffer>()
  for (let step = 0; step < STEPS; step += 1) {
    const key = groupKey(random.below(3), random.below(KEYS_A_GROUP))
    if (random.below(4) === 0) {
      table.remove(key)
      reference.delete(key.toString('hex'))
    } else {
      const bytes = random.below(10) === 0 ? 120 + random.below(480) : random.below(40)
      const value = Buffer.alloc(bytes, step % 251)
      table.put(key, value)
      reference.set(key.toString('hex'), value)
    }
    if (random.below(400) === 0) {
      // Some commits fail. Half of the remaining commits still run when the next rows are put.
      isFull = random.below(3) === 0
      const committed = environment.committed()
      if (isFull) await assert.rejects(committed, /disk is full/)
      else if (random.below(2) === 0) await committed
      else await nextTurn()
    }
    if (step % 10 > 0) continue
    const requested = groupKey(random.below(3), random.below(KEYS_A_GROUP))
    const held = reference.get(requested.toString('hex')) ?? null
    assert.deepEqual(table.get(requested), held)
    assert.equal(table.has(requested), held !== null)
    const isReverse = random.below(2) === 0
    const group = random.below(3)
    const from = groupKey(group, random.below(KEYS_A_GROUP))
    const to = groupKey(group, random.below(KEYS_A_GROUP))
    const read: [string, Buffer][] = []
    table.scan({ from, to, isReverse }, (row) => {
      read.push([row.key.toString('hex'), row.value])
      return read.length < 60
    })
    const [low, high] = [from.toString('hex'), to.toString('hex')]
    const expected = [...reference].filter(([one]) => one >= low && one < high).sort()
    if (isReverse) expected.reverse()
    assert.deepEqual(read, expected.slice(0, 60))
  }
  isFull = false
  await environment.committed()
  assert.equal(table.committedCount(), reference.size)
  await environment.close(CLOSE_MS)
})
