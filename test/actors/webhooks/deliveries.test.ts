import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Webhook as ReferenceWebhook } from 'standardwebhooks'
import { Webhooks } from '../../../actors/webhooks/webhooks.ts'
import { accountId } from '../../../engine/ids.ts'
import {
  attemptsMax,
  attemptsPerWebhookQuietMax,
  finishedRetainedMax,
} from '../../../engine/limits.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { systemRandom } from '../../../engine/random.ts'
import { priceMicros } from '../../../engine/units.ts'
import { SecretBox } from '../../../engine/webhooks/secret-box.ts'
import { webhookShareOf } from '../../../engine/webhooks/webhook-share.ts'
import type { OutboxTable, Storage } from '../../../storage/contract/storage.ts'
import { openLmdbStorage } from '../../../storage/lmdb/lmdb.ts'
import { answered, FakeCaller } from '../../support/fakes/caller.ts'
import { CrashingOutbox } from '../../support/fakes/crashing-outbox.ts'
import { noonClock } from '../../support/fakes/noon-clock.ts'
import { until } from '../../support/fakes/receivers.ts'
import { WITHOUT_CHECK } from '../../support/rigs/data-folder.ts'
import { marketRef } from '../../support/worlds/builders.ts'
import { NO_FILTERS } from '../../support/worlds/stored-webhooks.ts'
import {
  ALICE,
  BOB,
  CountingBodies,
  oneWebhook,
  request,
  settle,
  tradeUpdate,
  WebhookWorld,
} from '../../support/worlds/webhook-world.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const sum = ({ delivered, exhausted, dropped, pending }: ReturnType<WebhookWorld['counts']>) =>
  delivered + exhausted + dropped + pending

test('sends an event to a webhook at once after the event is committed, and never before', async () => {
  const { world } = await oneWebhook()
  world.isCommitting = false
  world.trade()
  world.trade()
  await world.pass(HOUR)
  assert.equal(world.caller.posts.length, 0)
  world.commit()
  await settle()
  assert.equal(world.caller.posts.length, 2)
})

test('commits the webhook events of each tick in a separate transaction', async () => {
  const { world, view } = await oneWebhook()
  world.isCommitting = false
  world.trade()
  await settle()
  world.trade()
  // The second tick's commit is not requested yet.
  world.commit()
  await settle()
  assert.equal(world.caller.posts.length, 1)
  world.commit()
  await settle()
  assert.equal(world.caller.posts.length, 2)
  assert.equal(world.counts(view.id).delivered, 2)
})

test('sends a requested test event after its commit, even if a manual retry wakes the webhook before the commit', async () => {
  const { world, view } = await oneWebhook(() => answered(500))
  world.trade()
  await settle()
  world.caller.answer = () => answered(200)
  world.isCommitting = false
  const types = () => world.caller.posts.map(({ body }) => JSON.parse(body).type)
  const requests = [world.webhooks.test(ALICE, view.id), world.webhooks.retry(ALICE, view.id, 1)]
  await settle()
  assert.deepEqual(types(), ['trade.created', 'trade.created'])
  world.commit()
  await Promise.all(requests)
  await settle()
  assert.deepEqual(types(), ['trade.created', 'trade.created', 'webhook.test'])
})

test('ignores a manual retry of a delivery while an attempt of the same delivery is running', async () => {
  const { world, view } = await oneWebhook(() => answered(500))
  world.trade()
  await settle()
  const isSent = () => world.caller.openCount > 0
  world.caller.answer = () => ({ outcome: ok, afterMs: 1_000 })
  while (!isSent()) await world.pass(100)
  const before = world.deliveries(view.id)
  assert.equal(before[0]?.attempts, 1)
  assert.deepEqual(await world.webhooks.retry(ALICE, view.id, 1), before[0])
  assert.deepEqual(world.deliveries(view.id), before)
  await world.pass(MINUTE)
  assert.equal(world.caller.posts.length, 2)
  assert.equal(world.counts(view.id).delivered, 1)
})

test('never sends an event that a crash removed before its commit', async () => {
  const { world, view } = await oneWebhook()
  world.isCommitting = false
  world.trade()
  await settle()
  await world.crash()
  await world.pass(HOUR)
  assert.equal(world.caller.posts.length, 0)
  assert.equal(world.counts(view.id).created, 0)
})

test('sends the same bytes and id with each attempt of a delivery, and a new time and signature', async (t) => {
  const world = new WebhookWorld()
  // The reference library compares signatures with the system time.
  t.mock.timers.enable({ apis: ['Date'], now: world.clock.nowMs() })
  const { secret } = await world.webhooks.create(ALICE, request())
  const validator = new ReferenceWebhook(secret)
  world.caller.onPost = ({ body, headers }) => validator.verify(body, headers)
  world.caller.answer = () => answered(500)
  world.trade()
  await world.pass(3 * MINUTE)
  assert.equal(world.caller.posts.length, 4)
  const [first] = world.caller.posts
  for (const { body, headers, atMs } of world.caller.posts) {
    assert.equal(body, first?.body)
    assert.equal(headers['webhook-id'], first?.headers['webhook-id'])
    assert.equal(headers['webhook-timestamp'], String(Math.floor(atMs / 1_000)))
    assert.equal(headers['content-type'], 'application/json')
  }
})

test('treats a 2xx status and no other status as success, and waits at least the time of Retry-After', async () => {
  const cases = [
    { answer: answered(429, 90_000), fromMs: 90_000, toMs: 90_000 },
    { answer: answered(503, 1_000), fromMs: 4_000, toMs: 6_000 },
    { answer: answered(301), fromMs: 4_000, toMs: 6_000 },
    { answer: answered(429, DAY), fromMs: DAY, toMs: DAY },
  ]
  for (const { answer, fromMs, toMs } of cases) {
    const { world } = await oneWebhook()
    world.caller.answer = () => (world.caller.posts.length === 1 ? answer : answered(200))
    world.trade()
    await world.pass(2 * DAY)
    const [first, second] = world.caller.posts
    const waited = (second?.atMs ?? 0) - (first?.atMs ?? 0)
    assert.ok(waited >= fromMs && waited <= toMs, `${waited}`)
    assert.equal(world.caller.posts.length, 2)
  }
})

test('disables a webhook with the reason `gone` and ends the delivery as exhausted when the receiver answers 410', async () => {
  const { world, view } = await oneWebhook(() => answered(410))
  world.trade()
  await settle()
  world.trade()
  await world.pass(HOUR)
  assert.equal(world.caller.posts.length, 1)
  const shown = world.webhooks.get(ALICE, view.id)
  assert.deepEqual([shown?.isActive, shown?.disabledReason], [false, 'gone'])
  assert.deepEqual([shown?.counts.exhausted, shown?.counts.created], [1, 1])
  await world.crash()
  assert.equal(world.webhooks.get(ALICE, view.id)?.disabledReason, 'gone')
  world.caller.answer = () => answered(200)
  const active = await world.webhooks.change(ALICE, view.id, { isActive: true })
  assert.deepEqual([active?.disabledReason, active?.failingSinceMs], [null, null])
  world.trade()
  await settle()
  assert.equal(world.counts(view.id).delivered, 1)
})

test('drops a price event that is over 15 minutes old at its attempt, except on a manual retry', async () => {
  const world = new WebhookWorld()
  const view = await world.create({ eventTypes: ['price.changed'] })
  world.caller.answer = () => answered(500)
  for (const price of [400_000, 500_000]) publishPrice(world, price)
  await world.pass(DAY)
  // Attempts run after 0 s, 5 s, 30 s, 2 min and 10 min. The sixth is due after more than an hour.
  assert.equal(world.caller.posts.length, 5)
  const counts = { created: 1, delivered: 0, exhausted: 0, dropped: 1, pending: 0 }
  assert.deepEqual(world.counts(view.id), counts)
  world.caller.answer = () => answered(200)
  await world.webhooks.retry(ALICE, view.id, 1)
  await settle()
  assert.deepEqual(world.counts(view.id), { ...counts, dropped: 0, delivered: 1 })
})

function publishPrice(world: WebhookWorld, price: number): void {
  const atMs = world.clock.nowMs()
  world.webhooks.watcher.onUpdate({
    kind: 'price',
    market: marketRef('m', 1),
    ...{ offset: 1, seq: 1, venueTimeMs: atMs, receivedAtMs: atMs },
    price: {
      ...{ price: priceMicros(price), source: 'midpoint', bid: null, ask: null },
      observedAtMs: atMs,
    },
  })
}

test('resumes pending webhook deliveries after a crash', async () => {
  const { world, view } = await oneWebhook(() => answered(500))
  world.trade()
  await world.pass(40_000)
  assert.equal(world.deliveries(view.id)[0]?.attempts, 3)
  world.caller.answer = () => 'hang'
  world.trade()
  world.trade()
  await settle()
  const [before] = world.deliveries(view.id)
  await world.crash()
  assert.deepEqual(world.deliveries(view.id)[0], before)
  world.caller.answer = () => answered(200)
  await world.pass(10 * MINUTE)
  const counts = { created: 3, delivered: 3, exhausted: 0, dropped: 0, pending: 0 }
  assert.deepEqual(world.counts(view.id), counts)
})

test('repeats a successful delivery with the same id and bytes when a crash removed the record of the success', async () => {
  const { world, view } = await oneWebhook()
  world.isCommitting = false
  world.trade()
  await settle()
  world.commit()
  await settle()
  assert.equal(world.counts(view.id).delivered, 1)
  await world.crash()
  assert.equal(world.counts(view.id).delivered, 1)
  const [first, second] = world.caller.posts
  assert.equal(second?.body, first?.body)
  assert.equal(second?.headers['webhook-id'], first?.headers['webhook-id'])
})

test('runs one attempt at a time for a failing webhook, alternating between new events and due retries', async () => {
  const { world, view } = await oneWebhook(() => answered(500))
  for (let count = 0; count < 20; count += 1) world.trade()
  await settle()
  assert.equal(world.counts(view.id).pending, 20)
  world.caller.answer = () => 'hang'
  const retried = world.caller.posts.length
  world.clock.advance(6_000)
  await settle()
  for (let count = 0; count < 20; count += 1) world.trade()
  await settle()
  assert.equal(world.caller.openCount, 1)
  await world.pass(40 * 15_000)
  const existing = new Set(world.caller.posts.slice(0, retried).map(({ body }) => body))
  const later = world.caller.posts
    .slice(retried + 1, retried + 21)
    .map(({ body }) => existing.has(body))
  assert.deepEqual(new Set(later.filter((_, position) => position % 2 === 0)).size, 1)
  assert.deepEqual(new Set(later.filter((_, position) => position % 2 === 1)).size, 1)
  assert.notEqual(later[0], later[1])
  assert.ok(world.caller.posts.length > retried + 30)
})

test('runs at most 16 attempts of one webhook at once, and at most four while half of all slots are busy', async () => {
  const { world } = await oneWebhook()
  world.caller.answer = () => ({ outcome: ok, afterMs: 100 })
  for (let count = 0; count < 40; count += 1) world.trade()
  let openMax = 0
  world.caller.onPost = () => {
    openMax = Math.max(openMax, world.caller.openCount)
  }
  for (let step = 0; step < 10; step += 1) {
    await settle()
    world.clock.advance(100)
  }
  assert.equal(openMax, 16)
  assert.equal(world.caller.posts.length, 40)
  // 32 webhooks on 32 hanging hosts use half of all slots.
  const crowd = new WebhookWorld()
  for (let nth = 0; nth < 32; nth += 1) {
    const url = `https://host-${nth}.example.com/`
    await crowd.create({ url }, accountId(`acc_${Math.floor(nth / 2)}`))
  }
  crowd.caller.answer = () => 'hang'
  for (let count = 0; count < 20; count += 1) crowd.trade()
  await crowd.pass(100)
  assert.equal(crowd.caller.openCount, attemptsMax / 2)
  await crowd.create({}, BOB)
  for (let count = 0; count < 20; count += 1) crowd.trade()
  await crowd.pass(100)
  assert.equal(crowd.caller.openCount, attemptsMax / 2 + 4)
})

const ok = { kind: 'answered', status: 200, retryAfterMs: null } as const

test('drops the oldest pending deliveries of a webhook when their number exceeds the limit', async () => {
  const { world, view } = await oneWebhook(() => answered(500), { pendingMax: 10 })
  for (let count = 0; count < 25; count += 1) {
    world.trade()
    await settle()
  }
  const counts = { created: 25, delivered: 0, exhausted: 0, dropped: 15, pending: 10 }
  assert.deepEqual(world.counts(view.id), counts)
  const statuses = world.deliveries(view.id).map(({ status }) => status)
  assert.deepEqual(new Set(statuses.slice(0, 15)), new Set(['dropped']))
  world.caller.answer = () => answered(200)
  await world.pass(HOUR)
  assert.deepEqual(world.counts(view.id), { ...counts, delivered: 10, pending: 0 })
})

test('does not change the status of a dropped delivery when its running attempt succeeds', async () => {
  const { world, view } = await oneWebhook(undefined, { pendingMax: 1 })
  world.caller.answer = () => ({ outcome: ok, afterMs: 100 })
  world.trade()
  await settle()
  world.trade()
  await settle()
  await world.pass(1_000)
  const counts = { created: 2, delivered: 1, exhausted: 0, dropped: 1, pending: 0 }
  assert.deepEqual(world.counts(view.id), counts)
})

test('drops pending deliveries of an inactive webhook after 72 hours', async () => {
  const { world, view } = await oneWebhook(() => answered(500))
  world.trade()
  await settle()
  await world.webhooks.change(ALICE, view.id, { isActive: false })
  world.clock.stall(70 * HOUR)
  await world.pass(HOUR)
  assert.equal(world.counts(view.id).pending, 1)
  await world.crash()
  await world.pass(HOUR + 2 * MINUTE)
  const counts = { created: 1, delivered: 0, exhausted: 0, dropped: 1, pending: 0 }
  assert.deepEqual(world.counts(view.id), counts)
  assert.equal(world.caller.posts.length, 1)
})

test('disables a webhook with a reason after five days of failed attempts, unless an attempt succeeds in these days', async () => {
  const { world, view } = await oneWebhook(() => answered(500))
  const failAFor = async (days: number) => {
    for (let hours = 0; hours < days * 24; hours += 12) {
      world.trade()
      await world.pass(12 * HOUR)
    }
  }
  await failAFor(4)
  assert.equal(world.webhooks.get(ALICE, view.id)?.isActive, true)
  world.caller.answer = () => answered(200)
  world.trade()
  await settle()
  assert.equal(world.webhooks.get(ALICE, view.id)?.failingSinceMs, null)
  world.clock.stall(2 * DAY)
  await world.pass(MINUTE)
  const failingFromMs = world.clock.nowMs()
  world.caller.answer = () => answered(500)
  await failAFor(4)
  await world.crash()
  assert.equal(world.webhooks.get(ALICE, view.id)?.failingSinceMs, failingFromMs)
  assert.equal(world.webhooks.get(ALICE, view.id)?.isActive, true)
  await failAFor(2)
  const shown = world.webhooks.get(ALICE, view.id)
  assert.deepEqual([shown?.isActive, shown?.disabledReason], [false, 'failing'])
  assert.equal(sum(world.counts(view.id)), world.counts(view.id).created)
  const attempts = world.caller.posts.length
  world.clock.stall(3.9 * DAY)
  await world.pass(0.1 * DAY)
  assert.equal(world.caller.posts.length, attempts)
  assert.equal(world.counts(view.id).pending, 0)
})

test('records a failed attempt with a reason when the webhook’s secret cannot be decrypted', async () => {
  const { world, view } = await oneWebhook()
  const [stored] = world.table.all()
  assert.ok(stored !== undefined)
  await world.table.put({ ...stored, secret: stored.secret.slice(0, -8) })
  await world.crash()
  world.trade()
  await settle()
  assert.equal(world.caller.posts.length, 0)
  assert.match(world.deliveries(view.id)[0]?.last?.error ?? '', /secret/)
  const rotated = await world.webhooks.rotateSecret(ALICE, view.id, null)
  assert.equal(world.counts(view.id).pending, 1)
  assert.equal(
    rotated?.webhook.previousSecretUntilMs,
    null,
    'a webhook with an unreadable secret sends nothing',
  )
  await world.pass(6_001)
  assert.equal(world.counts(view.id).delivered, 1, 'delivered after the rotation')
})

test('signs a delivery with the current secret alone when the previous secret cannot be decrypted', async () => {
  const { world, view } = await oneWebhook()
  await world.webhooks.rotateSecret(ALICE, view.id, null)
  const [stored] = world.table.all()
  const [previous] = stored?.previousSecrets ?? []
  assert.ok(stored !== undefined && previous !== undefined)
  const damaged = { ...previous, secret: previous.secret.slice(0, -8) }
  await world.table.put({ ...stored, previousSecrets: [damaged, previous] })
  await world.crash()
  world.trade()
  await settle()
  assert.equal(world.counts(view.id).delivered, 1)
  const signatures = world.caller.posts[0]?.headers['webhook-signature']?.split(' ')
  assert.equal(signatures?.length, 2)
})

test('records a failed attempt when the HTTP client throws, and sends the next delivery', async () => {
  const { world, view } = await oneWebhook()
  const { caller } = world
  const post = caller.post.bind(caller)
  caller.post = () => Promise.reject(new Error('our bug'))
  world.trade()
  await settle()
  caller.post = post
  await world.pass(6_001)
  assert.equal(world.counts(view.id).delivered, 1)
})

test('aborts running attempts on stop, retains their deliveries as pending and leaves no timer', async () => {
  const { world, view } = await oneWebhook(() => 'hang')
  for (let count = 0; count < 18; count += 1) world.trade()
  await settle()
  const before = world.deliveries(view.id)
  world.webhooks.stop()
  await settle()
  assert.equal(world.caller.openCount, 0)
  assert.equal(world.clock.timerCount, 0)
  assert.deepEqual(world.deliveries(view.id), before)
  world.trade()
  await settle()
  assert.equal(world.caller.posts.length, 16)
  assert.equal(world.counts(view.id).pending, 19)
  assert.equal(world.clock.timerCount, 0)
})

test('deletes finished deliveries that are older than a week or older than the newest thousand', async () => {
  const { world, view } = await oneWebhook()
  for (let count = 0; count < finishedRetainedMax + 150; count += 1) {
    world.trade()
    if (count % 50 === 0) await settle()
  }
  await world.pass(5 * MINUTE)
  assert.equal(world.deliveries(view.id).length, finishedRetainedMax)
  world.clock.stall(8 * DAY)
  await world.pass(DAY)
  assert.equal(world.deliveries(view.id).length, 0)
  assert.equal(world.counts(view.id).delivered, finishedRetainedMax + 150)
})

test('counts webhook deliveries and attempts in metrics by event type and outcome, without webhook ids', async () => {
  const { world } = await oneWebhook()
  world.caller.answer = () => answered(world.caller.posts.length === 1 ? 500 : 200)
  world.trade()
  await world.pass(10_000)
  const text = await world.metrics.registry.metrics()
  assert.match(text, /webhook_deliveries_total\{type="trade.created",outcome="created"\} 1/)
  assert.match(text, /webhook_deliveries_total\{type="trade.created",outcome="delivered"\} 1/)
  assert.match(text, /webhook_attempts_total\{outcome="5xx"\} 1/)
  assert.match(text, /webhook_attempts_total\{outcome="2xx"\} 1/)
  assert.match(text, /webhook_deliveries_pending 0/)
  assert.match(text, /webhook_event_to_send_ms_count 1/)
  assert.ok(!text.includes('wh_'))
})

test('sends an event after a failed commit when a later commit succeeds, even if no other event arrives', async () => {
  const { world } = await oneWebhook()
  world.isDiskFull = true
  world.trade()
  await world.pass(20_000)
  assert.equal(world.caller.posts.length, 0)
  world.isDiskFull = false
  await world.pass(20_000)
  assert.equal(world.caller.posts.length, 1)
})

class FullOutbox extends CrashingOutbox {
  isFull = false

  override create(...given: Parameters<OutboxTable['create']>) {
    return this.isFull ? null : super.create(...given)
  }

  override update(...given: Parameters<OutboxTable['update']>) {
    return this.isFull ? false : super.update(...given)
  }
}

test('does not count refused events, and rejects test events and manual retries when the outbox is full', async () => {
  const outbox = new FullOutbox()
  const { world, view } = await oneWebhook(() => answered(500), { outbox })
  world.trade()
  await world.pass(1)
  outbox.isFull = true
  await assert.rejects(world.webhooks.test(ALICE, view.id), { code: 'INTERNAL' })
  await assert.rejects(world.webhooks.retry(ALICE, view.id, 1), { code: 'INTERNAL' })
  await world.webhooks.change(ALICE, view.id, { isActive: false })
  await world.pass(73 * 3_600_000)
  const text = await world.metrics.registry.metrics()
  assert.match(text, /webhook_deliveries_pending 1\n/)
  assert.doesNotMatch(text, /outcome="dropped"/)
  outbox.isFull = false
  await world.pass(200_000)
  assert.deepEqual(world.counts(view.id), {
    ...{ created: 1, delivered: 0, exhausted: 0, dropped: 1, pending: 0 },
  })
  await settle()
})

test('limits each webhook to its share of pending deliveries when all webhooks together exceed the limit', async () => {
  const world = new WebhookWorld({ pendingTotalMax: 100 })
  const quiet = { ...NO_FILTERS, marketIds: ['venue_a_quiet'] }
  const greedy = await world.create({ url: 'https://example.com/greedy' })
  const modest = await world.create({ url: 'https://example.com/modest', filters: quiet })
  world.caller.answer = () => answered(500)
  for (let count = 0; count < 20; count += 1) world.trade({ market: 'quiet' })
  for (let count = 0; count < 90; count += 1) world.trade()
  assert.equal(world.counts(greedy.id).pending, 110)
  await world.pass(60_000)
  for (let count = 0; count < 40; count += 1) world.trade()
  const { created, pending, dropped } = world.counts(greedy.id)
  assert.deepEqual([created, pending, dropped], [150, 50, 100])
  assert.equal(world.counts(modest.id).pending, 20)
})

test('limits the stored finished deliveries of a webhook, however fast deliveries finish', async () => {
  const { world, view } = await oneWebhook(() => answered(500), { pendingMax: 10 })
  for (let count = 0; count < finishedRetainedMax + 200; count += 1) world.trade()
  await settle()
  const rows = world.deliveries(view.id).length
  assert.ok(rows < finishedRetainedMax + 30, `${rows} rows`)
  assert.equal(world.counts(view.id).created, finishedRetainedMax + 200)
})

const EVENT_COUNT = 300

function openOn(storage: Storage, caller: FakeCaller): Webhooks {
  const webhooks = new Webhooks({
    ...{ storage, caller, clock: noonClock, random: systemRandom(), log: silentLog },
    ...{ metrics: new Metrics(), box: new SecretBox('key'), bodies: new CountingBodies() },
    market: () => null,
    isAccountActive: () => true,
    shareOf: () => webhookShareOf({ tier: 'enterprise' }),
  })
  webhooks.start()
  return webhooks
}

test('sends deliveries from LMDB that were pending when the previous process ended', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'deliveries-'))
  const nowMs = noonClock.nowMs()
  const notify = (webhooks: Webhooks) => {
    for (let count = 0; count < EVENT_COUNT; count += 1) {
      const nativeId = `t${count}`
      webhooks.watcher.onUpdate(tradeUpdate({ market: marketRef('m'), atMs: nowMs, nativeId }))
    }
  }
  try {
    const options = { dataDir, clock: noonClock, log: silentLog, ...WITHOUT_CHECK }
    const openStorage = () => openLmdbStorage({ ...options, metrics: new Metrics() })
    let storage = await openStorage()
    const hanging = new FakeCaller(noonClock)
    hanging.answer = () => 'hang'
    let webhooks = openOn(storage, hanging)
    const { webhook } = await webhooks.create(ALICE, request())
    notify(webhooks)
    await until(
      () => hanging.posts.length === attemptsPerWebhookQuietMax,
      'all attempts are running',
    )
    webhooks.stop()
    await storage.close()
    storage = await openStorage()
    const caller = new FakeCaller(noonClock)
    webhooks = openOn(storage, caller)
    notify(webhooks)
    const counts = () => webhooks.get(ALICE, webhook.id)?.counts
    await until(() => counts()?.delivered === EVENT_COUNT, 'all are delivered')
    const ended = { exhausted: 0, dropped: 0, pending: 0 }
    assert.deepEqual(counts(), { created: EVENT_COUNT, delivered: EVENT_COUNT, ...ended })
    assert.equal(caller.posts.length, EVENT_COUNT)
    assert.equal(new Set(caller.posts.map(({ body }) => body)).size, EVENT_COUNT)
    webhooks.stop()
    await storage.close()
  } finally {
    rmSync(dataDir, { recursive: true })
  }
})
