import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Webhooks } from '../../../actors/webhooks/webhooks.ts'
import { accountId } from '../../../engine/ids.ts'
import { attemptsMax, attemptsOfFailingMax } from '../../../engine/limits.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { seededRandom } from '../../../engine/random.ts'
import { type TimeMs, timeMs } from '../../../engine/units.ts'
import { SecretBox } from '../../../engine/webhooks/secret-box.ts'
import type { StoredDelivery } from '../../../engine/webhooks/webhook.ts'
import { webhookShareOf } from '../../../engine/webhooks/webhook-share.ts'
import type { OutboxTable } from '../../../storage/contract/storage.ts'
import { FakeCaller } from '../../support/fakes/caller.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { MemoryOutbox, MemoryWebhooks } from '../../support/reference/memory.ts'
import {
  ALICE,
  CountingBodies,
  request,
  settle,
  WebhookWorld,
} from '../../support/worlds/webhook-world.ts'

const isLong = process.env.TEST_LONG === '1'
const ROUNDS = isLong ? 12 : 2
const WINDOW_SEEDS = isLong ? 100 : 15
const OK = { kind: 'answered', status: 200, retryAfterMs: null } as const

async function openCrowd({ webhooks, hanging }: { webhooks: number; hanging: number }) {
  const world = new WebhookWorld()
  const { caller } = world
  for (let number = 0; number < webhooks; number += 1) {
    const url = `https://${number < hanging ? 'hangs' : 'well'}-${number}.example.com/`
    await world.create({ url }, accountId(`acc_${Math.floor(number / 25)}`))
  }
  let openMax = 0
  caller.answer = ({ url }) => (url.includes('hangs') ? 'hang' : { outcome: OK, afterMs: 50 })
  caller.onPost = () => {
    openMax = Math.max(openMax, caller.openCount)
  }
  return { world, caller, openMax: () => openMax }
}

test('delays first attempts to a healthy webhook endpoint by less than a second while 75 of 600 endpoints hang', async () => {
  const { world, caller, openMax } = await openCrowd({ webhooks: 600, hanging: 75 })
  const madeAtMs = new Map<string, number>()
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let count = 0; count < 2; count += 1) madeAtMs.set(world.trade(), world.clock.nowMs())
    for (let step = 0; step < 30; step += 1) {
      await settle()
      world.clock.advance(50)
    }
  }
  const delays: number[] = []
  for (const { url, body, atMs } of caller.posts) {
    if (url.includes('well')) delays.push(atMs - (madeAtMs.get(JSON.parse(body).data.id) ?? 0))
  }
  assert.equal(delays.length, 525 * 2 * ROUNDS)
  assert.ok(delays.reduce((most, delay) => Math.max(most, delay), 0) < 1_000)
  assert.ok(openMax() <= attemptsMax)
  world.webhooks.stop()
})

test('runs attempts of failing webhook endpoints in at most a quarter of the slots, and attempts every endpoint', async () => {
  const { world, caller } = await openCrowd({ webhooks: 600, hanging: 500 })
  for (let count = 0; count < 3; count += 1) world.trade()
  // The first three trades time out, so that the hanging endpoints count as failing.
  for (let second = 0; second < 40; second += 1) await passASecond(world)
  const isOpen = () => caller.openCount
  assert.ok(isOpen() <= attemptsOfFailingMax, `${isOpen()} open`)
  const before = caller.posts.length
  const from = world.clock.nowMs()
  for (let count = 0; count < 3; count += 1) world.trade()
  for (let step = 0; step < 10; step += 1) {
    await settle()
    world.clock.advance(50)
  }
  const well = caller.posts.slice(before).filter(({ url }) => url.includes('well'))
  assert.equal(well.length, 300)
  assert.ok(well.every(({ atMs }) => atMs - from < 1_000))
  const tried = new Set<string>()
  caller.onPost = ({ url }) => tried.add(url)
  for (let second = 0; second < 90; second += 1) await passASecond(world)
  assert.ok(
    [...tried].filter((url) => url.includes('hangs')).length === 500,
    'each hanging endpoint is attempted',
  )
  world.webhooks.stop()
})

async function passASecond({ clock }: WebhookWorld): Promise<void> {
  clock.advance(1_000)
  await settle()
}

/** Counts the rows that are read. */
class LongOutbox extends MemoryOutbox {
  readonly pendingCount: number
  readonly nowMs: TimeMs
  rowsRead = 0
  readCount = 0
  readonly #changed = new Map<number, StoredDelivery>()

  constructor(pendingCount: number, nowMs: TimeMs) {
    super()
    this.pendingCount = pendingCount
    this.nowMs = nowMs
  }

  override get(_: unknown, number: number): StoredDelivery {
    this.rowsRead += 1
    const made: StoredDelivery = {
      ...{ number, eventId: `evt_${number}` },
      eventType: 'trade.created',
      status: 'pending',
      ...{ createdAtMs: this.nowMs, dueAtMs: this.nowMs, attempts: 0, last: null },
      body: Buffer.from(`{"number":${number}}`),
    }
    return this.#changed.get(number) ?? made
  }

  override update(
    webhook: Parameters<OutboxTable['update']>[0],
    delivery: StoredDelivery,
  ): boolean {
    this.#changed.set(delivery.number, { ...this.get(webhook, delivery.number), ...delivery })
    return true
  }

  override due({ attemptKind: variant, limit }: Parameters<OutboxTable['due']>[0]) {
    this.readCount += 1
    const rows: { dueAtMs: TimeMs; number: number }[] = []
    if (variant === 'retry') return rows
    for (let number = 1; rows.length < limit && number <= this.pendingCount; number += 1) {
      const isPending = (this.#changed.get(number)?.status ?? 'pending') === 'pending'
      if (isPending) rows.push({ dueAtMs: this.nowMs, number })
    }
    this.rowsRead += rows.length
    return rows
  }

  override oldestPending() {
    return null
  }

  override state() {
    const ended = { delivered: 0, exhausted: 0, dropped: 0 }
    const counts = { created: this.pendingCount, ...ended, pending: this.pendingCount }
    return { counts, throttledCount: 0, pendingBytes: 0, failingSinceMs: null }
  }
}

test('reads a small part of a webhook’s 100,000 pending deliveries from storage at startup and at each attempt', async () => {
  const clock = new ManualClock()
  const outbox = new LongOutbox(100_000, clock.nowMs())
  const webhooks = new MemoryWebhooks()
  const box = new SecretBox('key')
  const caller = new FakeCaller(clock)
  caller.answer = () => ({ outcome: OK, afterMs: 10 })
  const { id, ...view } = await storedWebhook(webhooks, box)
  assert.equal(view.accountId, ALICE)
  const actor = new Webhooks({
    storage: { webhooks, outbox, committed: () => Promise.resolve() },
    ...{ clock, caller, box, bodies: new CountingBodies(), log: silentLog, metrics: new Metrics() },
    random: seededRandom('long'),
    market: () => null,
    isAccountActive: () => true,
    shareOf: () => webhookShareOf({ tier: 'enterprise' }),
  })
  actor.start()
  assert.equal(caller.posts.length, 16)
  assert.ok(outbox.rowsRead <= 100, `${outbox.rowsRead} rows at the start`)
  for (let step = 0; step < 250; step += 1) {
    await settle()
    clock.advance(10)
  }
  const sent = caller.posts.length
  assert.ok(sent >= 1_000)
  assert.ok(outbox.rowsRead < 5 * sent, `${outbox.rowsRead} rows for ${sent} posts`)
  assert.ok(outbox.readCount < sent / 16, `${outbox.readCount} reads`)
  assert.equal(new Set(caller.posts.map(({ body }) => body)).size, sent)
  assert.equal(await actor.remove(ALICE, id), true)
})

async function storedWebhook(webhooks: MemoryWebhooks, box: SecretBox) {
  const made = new Webhooks({
    storage: { webhooks, outbox: new MemoryOutbox(), committed: () => Promise.resolve() },
    ...{ clock: new ManualClock(), caller: new FakeCaller(new ManualClock()), box },
    ...{ bodies: new CountingBodies(), log: silentLog, metrics: new Metrics() },
    random: seededRandom('made'),
    market: () => null,
    isAccountActive: () => true,
    shareOf: () => webhookShareOf({ tier: 'enterprise' }),
  })
  return (await made.create(ALICE, request())).webhook
}

test('returns pending deliveries in order when deliveries are added before, within or after the window in memory', async () => {
  const { DeliveryWindow } = await import('../../../actors/webhooks/queue.ts')
  for (let seed = 0; seed < WINDOW_SEEDS; seed += 1) {
    const random = seededRandom('window', seed)
    const variant = new Map<number, number>()
    const taken = new Map<number, true>()
    const sorted = () =>
      [...variant]
        .map(([number, due]) => ({ number, dueAtMs: timeMs(due) }))
        .sort((one, other) => one.dueAtMs - other.dueAtMs || one.number - other.number)
    const window = new DeliveryWindow((limit) => sorted().slice(0, limit))
    let last = 0
    for (let step = 0; step < 1_500; step += 1) {
      const isGrowing = step % 600 < 300
      if (random.below(isGrowing ? 3 : 6) > 0 === isGrowing) {
        last += 1
        const dueAtMs = timeMs(random.below(50))
        variant.set(last, dueAtMs)
        window.add({ number: last, dueAtMs })
        continue
      }
      const [first] = sorted().filter(({ number }) => !taken.has(number))
      const head = window.head(taken)
      assert.deepEqual(head, first ?? null)
      if (head === null) continue
      window.shift()
      // A row stays in the table during its attempt, so `read` returns it again.
      taken.set(head.number, true)
      if (taken.size < 4) continue
      for (const number of taken.keys()) variant.delete(number)
      taken.clear()
    }
  }
})
