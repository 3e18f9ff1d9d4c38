import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { Metrics } from '../../engine/process/metrics.ts'
import { timeMs } from '../../engine/units.ts'
import { webhookNumber } from '../../engine/webhooks/webhook.ts'
import { openDatabase, openTable } from '../../storage/lmdb/environment.ts'
import { groupKey, numberKey } from '../../storage/records/keys.ts'
import { TABLES, type TableLayout } from '../../storage/tables.ts'
import { openData, testFolder } from '../support/rigs/data-folder.ts'
import { newDelivery } from '../support/worlds/stored-webhooks.ts'

const folder = testFolder('outbox-damage')
const ONE = webhookNumber(1)
const EVERY = { before: null, limit: 1_000_000 } as const

/** Changes one byte of a stored row. */
async function damage(dataDir: string, layout: TableLayout, key: Buffer): Promise<void> {
  const root = openDatabase(join(dataDir, 'market'))
  const table = openTable(root, layout)
  const value = Buffer.from(table.get(key) ?? '')
  value.writeUInt8(value.readUInt8(20) ^ 1, 20)
  table.putSync(key, value)
  await root.close()
}

async function filled(name: string): Promise<string> {
  const dataDir = join(folder, name)
  const storage = await openData(dataDir)
  for (let count = 1; count <= 6; count += 1) {
    const made = storage.outbox.create(ONE, newDelivery(`evt_${count}`))
    const finished = { status: 'delivered', dueAtMs: null, attempts: 1 } as const
    if (made !== null && count % 2 === 0) storage.outbox.update(ONE, { ...made, ...finished })
  }
  await storage.close()
  return dataDir
}

test('discards a damaged webhook delivery, adds it to the dropped count, and retains the remaining deliveries', async () => {
  const dataDir = await filled('damaged')
  await damage(dataDir, TABLES.deliveries, groupKey(ONE, 3))
  await damage(dataDir, TABLES.deliveries, groupKey(ONE, 4))
  const metrics = new Metrics()
  const storage = await openData(dataDir, metrics)
  const numbers = () =>
    storage.outbox.list({ webhook: ONE, status: null, ...EVERY }).map(({ number }) => number)
  assert.deepEqual(numbers(), [6, 5, 2, 1])
  const due = () =>
    storage.outbox
      .due({ webhook: ONE, attemptKind: 'first', after: null, limit: 9 })
      .map(({ number }) => number)
  assert.deepEqual(due(), [1, 3, 5])
  assert.equal(storage.outbox.get(ONE, 3), null)
  assert.deepEqual(due(), [1, 5], 'a due time without a row goes when it is read')
  assert.equal(storage.outbox.get(ONE, 4), null)
  const counts = { created: 6, delivered: 3, exhausted: 0, dropped: 1, pending: 2 }
  assert.deepEqual(storage.outbox.state(ONE).counts, counts)
  const limits = { webhook: ONE, finishedMax: 0, beforeMs: timeMs(0), rowsMax: 9 }
  assert.equal(storage.outbox.prune(limits), false)
  assert.deepEqual(numbers(), [5, 1])
  assert.deepEqual(storage.outbox.state(ONE).counts, counts)
  assert.ok(metrics.counts('storage_records_damaged').size > 0)
  await storage.close()
})

test('recounts damaged delivery totals from the stored deliveries, and never reuses a delivery number', async () => {
  const dataDir = await filled('totals')
  await damage(dataDir, TABLES.outboxTotals, numberKey(ONE))
  const storage = await openData(dataDir)
  const counts = { created: 6, delivered: 3, exhausted: 0, dropped: 0, pending: 3 }
  assert.deepEqual(storage.outbox.state(ONE).counts, counts)
  assert.equal(storage.outbox.create(ONE, newDelivery('evt_7'))?.number, 7)
  await storage.close()
  const again = await openData(dataDir)
  assert.equal(again.outbox.state(ONE).counts.pending, 4)
  await again.close()
})
