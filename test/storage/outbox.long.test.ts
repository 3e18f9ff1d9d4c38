// The outbox on a disk that fails it: kill -9 in the middle of writing, damaged rows, no room. Six
// rounds of killing, or a hundred with TEST_LONG=1.

import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Metrics } from '../../engine/process/metrics.ts'
import { seededRandom } from '../../engine/random.ts'
import { timeMs } from '../../engine/units.ts'
import { webhookNumber } from '../../engine/webhooks/webhook.ts'
import type { Storage } from '../../storage/contract/storage.ts'
import { openDatabase, openTable } from '../../storage/lmdb/environment.ts'
import { groupKey, numberKey } from '../../storage/records/keys.ts'
import { TABLES, type TableLayout } from '../../storage/tables.ts'
import { openData, testFolder } from '../support/rigs/data-folder.ts'
import { NOON_MS } from '../support/worlds/stored.ts'
import { newDelivery } from '../support/worlds/stored-webhooks.ts'

const ROUNDS = process.env.TEST_LONG === '1' ? 100 : 3
const EVERY = { before: null, limit: 1_000_000 } as const
const STATUSES = ['pending', 'delivered', 'exhausted', 'dropped'] as const
const [ONE, PRUNED] = [webhookNumber(1), webhookNumber(3)]

const folder = testFolder('outbox')

test('kill -9 keeps a trade and its deliveries together, and counts that fit the rows', async (t) => {
  const dataDir = join(folder, 'killed')
  const random = seededRandom('kill the outbox')
  const webhooks = new Set<string>()
  const trades = new Set<string>()
  let deliveries = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    const told = await runAndKill(dataDir, { round, messages: 2 + random.below(25) })
    for (const { kind, id } of told) (kind === 'webhook' ? webhooks : trades).add(id)
    const storage = await openData(dataDir)
    try {
      deliveries = assertWhole(storage, { trades, webhooks })
    } finally {
      await storage.close()
    }
  }
  t.diagnostic(`${deliveries} deliveries, ${webhooks.size} webhooks in the end`)
  assert.ok(deliveries > 100)
})

/** Runs a writer until it has told `messages` things, kills it, and gives all that it told. */
async function runAndKill(
  dataDir: string,
  options: { round: number; messages: number },
): Promise<readonly { readonly kind: string; readonly id: string }[]> {
  const program = fileURLToPath(new URL('./outbox-writer.ts', import.meta.url))
  const child = fork(program, [dataDir, String(options.round)], { execArgv: ['--import', 'tsx'] })
  const told: { kind: string; id: string }[] = []
  child.on('message', (message: unknown) => {
    assert.ok(typeof message === 'object' && message !== null && 'kind' in message)
    assert.ok('id' in message && typeof message.id === 'string')
    told.push({ kind: String(message.kind), id: message.id })
    if (told.length === options.messages) child.kill('SIGKILL')
  })
  const [, signal] = await once(child, 'exit')
  assert.equal(signal, 'SIGKILL', 'the writer lived until it was killed')
  return told
}

/** Everything told is there, and rows, indexes and totals tell one story; how many deliveries. */
function assertWhole(
  storage: Storage,
  told: { readonly trades: ReadonlySet<string>; readonly webhooks: ReadonlySet<string> },
): number {
  const range = { fromMs: timeMs(0), toMs: timeMs(NOON_MS * 2), after: null, limit: 1_000_000 }
  const rows = storage.trades.range({ market: 1, ...range, order: 'asc' })
  const ids = new Set(rows.map(({ nativeId }) => nativeId))
  for (const id of told.trades) assert.ok(ids.has(id), `committed trade ${id}`)
  for (const number of [1, 2].map(webhookNumber)) {
    const listed = storage.outbox.list({ webhook: number, status: null, ...EVERY })
    assert.deepEqual(new Set(listed.map(({ eventId }) => eventId)), ids, 'a delivery a trade')
    assert.equal(listed.length, ids.size)
  }
  let deliveries = 0
  for (const number of storage.outbox.webhooks()) deliveries += assertBox(storage, number)
  const webhooks = [...storage.webhooks.all()]
  const made = new Set<string>(webhooks.map(({ id }) => id))
  for (const id of told.webhooks) assert.ok(made.has(id), `webhook ${id}`)
  assert.equal(new Set(webhooks.map(({ number }) => number)).size, webhooks.length)
  return deliveries
}

/** One webhook's totals are a recount of its rows, and so are its indexes. */
function assertBox({ outbox }: Storage, number: ReturnType<typeof webhookNumber>): number {
  const listed = outbox.list({ webhook: number, status: null, ...EVERY })
  const { counts } = outbox.state(number)
  // One that was being cleared when the kill came has rows that belong to no webhook any more.
  if (listed.length === 0 || number === 4) return listed.length
  const { created, ...byStatus } = counts
  assert.equal(created, listed[0]?.number, 'every number that was given is counted')
  assert.equal(
    created,
    Object.values(byStatus).reduce((sum, count) => sum + count),
  )
  for (const status of STATUSES) {
    const some = outbox.list({ webhook: number, status, ...EVERY })
    assert.deepEqual(
      some,
      listed.filter((one) => one.status === status),
    )
    const isExact = number !== PRUNED || status === 'pending'
    if (isExact) assert.equal(some.length, counts[status], `${status} of webhook ${number}`)
  }
  const due = (['first', 'retry'] as const).flatMap((lane) =>
    outbox.due({ webhook: number, lane, after: null, limit: 1_000_000 }),
  )
  const pending = listed.filter(({ status }) => status === 'pending')
  assert.deepEqual(
    due.map((one) => one.number).sort((one, other) => other - one),
    pending.map((one) => one.number),
  )
  assert.equal(outbox.oldestPending(number)?.number, pending.at(-1)?.number)
  for (const { number: place, eventId } of listed.slice(0, 50)) {
    const body = outbox.get(number, place)?.body ?? Buffer.alloc(0)
    assert.equal(Buffer.from(body).toString(), `body of ${eventId}`)
    assert.equal(outbox.create(number, newDelivery(eventId)), null, 'its event is known')
  }
  return listed.length
}

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

test('a damaged delivery is given up and counted as dropped; the others are sent', async () => {
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
      .due({ webhook: ONE, lane: 'first', after: null, limit: 9 })
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

test('damaged totals are counted anew from the rows, and no number is given twice', async () => {
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
