// Kills a process that writes the outbox: three rounds, or a hundred with TEST_LONG=1.

import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { seededRandom } from '../../engine/random.ts'
import { timeMs } from '../../engine/units.ts'
import { webhookNumber } from '../../engine/webhooks/webhook.ts'
import type { Storage } from '../../storage/contract/storage.ts'
import { openData, testFolder } from '../support/rigs/data-folder.ts'
import { NOON_MS } from '../support/worlds/stored.ts'
import { newDelivery } from '../support/worlds/stored-webhooks.ts'

const ROUNDS = process.env.TEST_LONG === '1' ? 100 : 3
const EVERY = { before: null, limit: 1_000_000 } as const
const STATUSES = ['pending', 'delivered', 'exhausted', 'dropped'] as const
const PRUNED = webhookNumber(3)

const folder = testFolder('outbox')

test('stores a trade and its deliveries together, with matching counts, despite kill -9', async (t) => {
  const dataDir = join(folder, 'killed')
  const random = seededRandom('kill the outbox')
  const webhooks = new Set<string>()
  const trades = new Set<string>()
  let deliveries = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    const published = await runAndKill(dataDir, { round, messages: 2 + random.below(25) })
    for (const { kind, id } of published) (kind === 'webhook' ? webhooks : trades).add(id)
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
  const published: { kind: string; id: string }[] = []
  child.on('message', (message: unknown) => {
    assert.ok(typeof message === 'object' && message !== null && 'kind' in message)
    assert.ok('id' in message && typeof message.id === 'string')
    published.push({ kind: String(message.kind), id: message.id })
    if (published.length === options.messages) child.kill('SIGKILL')
  })
  const [, signal] = await once(child, 'exit')
  assert.equal(signal, 'SIGKILL', 'the writer lived until it was killed')
  return published
}

/** Everything told is there, and rows, indexes and totals tell one story; how many deliveries. */
function assertWhole(
  storage: Storage,
  published: { readonly trades: ReadonlySet<string>; readonly webhooks: ReadonlySet<string> },
): number {
  const range = { fromMs: timeMs(0), toMs: timeMs(NOON_MS * 2), after: null, limit: 1_000_000 }
  const rows = storage.trades.range({ market: 1, ...range, order: 'asc' })
  const ids = new Set(rows.map(({ nativeId }) => nativeId))
  for (const id of published.trades) assert.ok(ids.has(id), `committed trade ${id}`)
  for (const number of [1, 2].map(webhookNumber)) {
    const listed = storage.outbox.list({ webhook: number, status: null, ...EVERY })
    assert.deepEqual(new Set(listed.map(({ eventId }) => eventId)), ids, 'a delivery a trade')
    assert.equal(listed.length, ids.size)
  }
  let deliveries = 0
  for (const number of storage.outbox.webhooks()) deliveries += assertBox(storage, number)
  const webhooks = [...storage.webhooks.all()]
  const made = new Set<string>(webhooks.map(({ id }) => id))
  for (const id of published.webhooks) assert.ok(made.has(id), `webhook ${id}`)
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
  const due = (['first', 'retry'] as const).flatMap((variant) =>
    outbox.due({ webhook: number, attemptKind: variant, after: null, limit: 1_000_000 }),
  )
  const pending = listed.filter(({ status }) => status === 'pending')
  assert.deepEqual(
    due.map((one) => one.number).sort((one, other) => other - one),
    pending.map((one) => one.number),
  )
  assert.equal(outbox.oldestPending(number)?.number, pending.at(-1)?.number)
  for (const { number: position, eventId } of listed.slice(0, 50)) {
    const body = outbox.get(number, position)?.body ?? Buffer.alloc(0)
    assert.equal(Buffer.from(body).toString(), `body of ${eventId}`)
    assert.equal(outbox.create(number, newDelivery(eventId)), null, 'its event is known')
  }
  return listed.length
}
