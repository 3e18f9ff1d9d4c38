import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { systemClock } from '../../../engine/clock.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { seededRandom } from '../../../engine/random.ts'
import { Environment, openDatabase } from '../../../storage/lmdb/environment.ts'
import { PackedTable } from '../../../storage/lmdb/packed-table.ts'
import { tradeKey } from '../../../storage/records/keys.ts'
import { TABLES } from '../../../storage/tables.ts'
import { testFolder } from '../../support/rigs/data-folder.ts'

const folder = testFolder('packed')
const CLOSE_MS = 10_000
const STEPS = process.env.TEST_LONG === '1' ? 1_500 : 700

function open(path: string) {
  const environment = new Environment(openDatabase(path), {
    ...{ name: 'market', path, clock: systemClock, log: silentLog },
    ...{ metrics: new Metrics(), commitPauseMs: 0, failedRows: 'keep' },
  })
  return { environment, table: new PackedTable(environment.table(TABLES.trades)) }
}

for (const order of ['as they come', 'newest first', 'anyhow'] as const) {
  test(`returns the same ranges as a plain sorted list when rows are put in this order: ${order}`, async () => {
    const random = seededRandom(`packed ${order}`)
    const path = `${folder}/${order.replaceAll(' ', '-')}`
    let { environment, table } = open(path)
    const reference = new Map<string, Buffer>()
    const keyAt = (step: number) => {
      const market = 1 + random.below(3)
      if (order === 'anyhow' || random.below(8) === 0) {
        return tradeKey(market, random.below(500), random.below(3) * 300)
      }
      return tradeKey(market, order === 'newest first' ? STEPS - step : step, 0)
    }
    for (let step = 0; step < STEPS; step += 1) {
      const key = keyAt(step)
      if (random.below(6) === 0) {
        table.remove(key)
        reference.delete(key.toString('hex'))
      } else {
        const bytes = random.below(40) === 0 ? 700 : random.below(90)
        const value = Buffer.alloc(bytes, step % 251)
        table.put(key, value)
        reference.set(key.toString('hex'), value)
      }
      if (random.below(30) === 0) {
        // Half of the commits are still running when the next rows are put.
        const committed = environment.committed()
        if (random.below(2) === 0) await committed
        else await nextTurn()
      }
      if (random.below(300) === 0) {
        await environment.close(CLOSE_MS)
        const again = open(path)
        environment = again.environment
        table = again.table
      }
      if (step % 10 > 0) continue
      const requested = keyAt(step)
      assert.deepEqual(table.get(requested), reference.get(requested.toString('hex')) ?? null)
      const isReverse = random.below(2) === 0
      const market = 1 + random.below(3)
      const from = tradeKey(market, random.below(400), random.below(400))
      const to = tradeKey(market, 100 + random.below(STEPS), 0)
      const read: [string, Buffer][] = []
      table.scan({ from, to, isReverse }, (row) => {
        read.push([row.key.toString('hex'), row.value])
        return read.length < 40
      })
      const [low, high] = [from.toString('hex'), to.toString('hex')]
      const expected = [...reference].filter(([one]) => one >= low && one < high).sort()
      if (isReverse) expected.reverse()
      assert.deepEqual(read, expected.slice(0, 40))
    }
    await environment.close(CLOSE_MS)
  })
}

test('stores 20 rows appended to one block with one database write, and commits every row put before a commit', async () => {
  const path = `${folder}/open-block`
  const { environment, table } = open(path)
  const written: string[] = []
  for (let step = 0; step < 40; step += 1) {
    table.put(tradeKey(1, step, 0), Buffer.alloc(4, step))
    written.push(tradeKey(1, step, 0).toString('hex'))
    // Rows are appended during a commit, which writes the block as it was at the commit's begin.
    if (step === 20) await nextTurn()
    if (step === 19) assert.equal(environment.outstandingWrites(), 1)
  }
  assert.ok(environment.outstandingWrites() <= 2)
  await environment.close(CLOSE_MS)
  const again = open(path)
  const read: string[] = []
  again.table.scan({ from: tradeKey(1, 0, 0), to: tradeKey(2, 0, 0) }, ({ key, value }) => {
    assert.deepEqual(value, Buffer.alloc(4, read.length))
    return read.push(key.toString('hex')) > 0
  })
  assert.deepEqual(read, written)
  await again.environment.close(CLOSE_MS)
})

test('returns the previous rows after a rejected write, and stores later writes', async () => {
  const path = `${folder}/refused`
  const { environment, table } = open(path)
  const seen = (one: PackedTable) =>
    [1, 2, 3, 4, 5].map((step) => one.get(tradeKey(1, step, 0))?.[0] ?? null)
  for (const step of [1, 2, 3]) table.put(tradeKey(1, step, 0), Buffer.alloc(4, step))
  const refusal = mock.method(environment, 'accepts', () => false)
  table.put(tradeKey(1, 2, 0), Buffer.alloc(4, 200))
  assert.deepEqual(seen(table), [1, 2, 3, null, null], 'a row replaced')
  table.remove(tradeKey(1, 3, 0))
  assert.deepEqual(seen(table), [1, 2, 3, null, null], 'a row removed')
  table.put(tradeKey(1, 4, 0), Buffer.alloc(4, 4))
  assert.deepEqual(seen(table), [1, 2, 3, null, null], 'a row added')
  refusal.mock.restore()
  table.put(tradeKey(1, 5, 0), Buffer.alloc(4, 5))
  assert.deepEqual(seen(table), [1, 2, 3, null, 5])
  await environment.close(CLOSE_MS)
  const again = open(path)
  assert.deepEqual(seen(again.table), [1, 2, 3, null, 5], 'after opening again')
  await again.environment.close(CLOSE_MS)
})
