import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Webhook as ReferenceWebhook } from 'standardwebhooks'
import { previousSecretsMax, rotationMs } from '../../../actors/webhooks/webhooks.ts'
import { EngineError } from '../../../engine/errors.ts'
import { webhooksPerAccountMax } from '../../../engine/limits.ts'
import { usdMicros } from '../../../engine/units.ts'
import { isSecret, makeSecret } from '../../../engine/webhooks/signature.ts'
import { answered, type Post } from '../../support/fakes/caller.ts'
import { NO_FILTERS } from '../../support/worlds/stored-webhooks.ts'
import {
  ALICE,
  BOB,
  oneWebhook,
  request,
  settle,
  WebhookWorld,
} from '../../support/worlds/webhook-world.ts'

function isSignedWith({ headers, body, atMs }: Post, secret: string): boolean {
  // The library's `verify` compares with the system time, so the test creates a signature for the post's time.
  const sent = (headers['webhook-signature'] ?? '').split(' ')
  return sent.includes(
    new ReferenceWebhook(secret).sign(headers['webhook-id'] ?? '', new Date(atMs), body),
  )
}

test('returns a webhook to its account and to no other account, and lists webhooks in order of creation', async () => {
  const { webhooks } = new WebhookWorld()
  const first = (await webhooks.create(ALICE, request())).webhook
  const second = (await webhooks.create(ALICE, request({ url: 'https://example.com/2' }))).webhook
  assert.deepEqual(
    webhooks.list(ALICE).map(({ id }) => id),
    [first.id, second.id],
  )
  assert.deepEqual(webhooks.list(BOB), [])
  assert.equal(webhooks.get(BOB, first.id), null)
  assert.equal(await webhooks.change(BOB, first.id, { isActive: false }), null)
  assert.equal(await webhooks.rotateSecret(BOB, first.id, null), null)
  assert.equal(await webhooks.test(BOB, first.id), null)
  assert.equal(await webhooks.retry(BOB, first.id, 1), null)
  assert.equal(webhooks.deliveries(BOB, first.id, { status: null, before: null, limit: 1 }), null)
  assert.equal(await webhooks.remove(BOB, first.id), false)
  assert.deepEqual(webhooks.get(ALICE, first.id), first)
})

test('limits an account to 25 webhooks, even if clients create the webhooks concurrently', async () => {
  const { webhooks } = new WebhookWorld()
  const requested = Array.from({ length: 40 }, () => webhooks.create(ALICE, request()))
  const results = await Promise.allSettled(requested)
  const refused = results.filter(({ status }) => status === 'rejected')
  assert.equal(webhooks.list(ALICE).length, webhooksPerAccountMax)
  assert.equal(refused.length, 40 - webhooksPerAccountMax)
  await assert.rejects(webhooks.create(ALICE, request()), { code: 'BAD_REQUEST' })
  await webhooks.create(BOB, request())
  const [first] = webhooks.list(ALICE)
  assert.equal(await webhooks.remove(ALICE, first?.id ?? ''), true)
  await webhooks.create(ALICE, request())
})

test('returns a webhook’s secret once, stores the secret encrypted, and accepts a secret from the client', async () => {
  const world = new WebhookWorld()
  const made = await world.webhooks.create(ALICE, request())
  assert.ok(isSecret(made.secret))
  const given = makeSecret()
  const taken = await world.webhooks.create(ALICE, request({ secret: given }))
  assert.equal(taken.secret, given)
  const rotated = await world.webhooks.rotateSecret(ALICE, made.webhook.id, null)
  const texts = JSON.stringify([[...world.table.all()], world.webhooks.list(ALICE)])
  for (const secret of [made.secret, given, rotated?.secret ?? '']) {
    assert.ok(!texts.includes(secret.slice(6, 20)))
  }
  assert.ok(!JSON.stringify(world.webhooks.list(ALICE)).includes('ecret"'))
})

test('signs deliveries with both secrets for 24 hours after a rotation, then with the new secret alone', async () => {
  const world = new WebhookWorld()
  const { webhook, secret } = await world.webhooks.create(ALICE, request())
  await world.pass(1_000)
  const rotated = await world.webhooks.rotateSecret(ALICE, webhook.id, null)
  assert.ok(rotated !== null)
  assert.equal(rotated.webhook.previousSecretUntilMs, world.clock.nowMs() + rotationMs)
  for (const [afterMs, isOldAccepted] of [
    [0, true],
    [rotationMs - 1, true],
    [1, false],
  ] as const) {
    await world.pass(afterMs)
    world.trade()
    await settle()
    const post = world.caller.posts.at(-1)
    assert.ok(post !== undefined)
    assert.equal(isSignedWith(post, secret), isOldAccepted, `after ${afterMs}`)
    assert.ok(isSignedWith(post, rotated.secret))
  }
  assert.equal(world.webhooks.get(ALICE, webhook.id)?.previousSecretUntilMs, null)
  assert.equal(world.caller.posts.length, 3)
})

test('signs deliveries with the newest eight earlier secrets for 24 hours after repeated rotations', async () => {
  const world = new WebhookWorld()
  const { webhook, secret } = await world.webhooks.create(ALICE, request())
  const secrets = [secret]
  const rotate = async () => {
    await world.pass(1_000)
    const rotated = await world.webhooks.rotateSecret(ALICE, webhook.id, null)
    assert.ok(rotated !== null)
    secrets.push(rotated.secret)
    return rotated.webhook.previousSecretUntilMs
  }
  const signing = async () => {
    world.trade()
    await settle()
    const post = world.caller.posts.at(-1)
    assert.ok(post !== undefined)
    assert.equal(
      post.headers['webhook-signature']?.split(' ').length,
      secrets.filter((each) => isSignedWith(post, each)).length,
    )
    return secrets.map((each) => isSignedWith(post, each))
  }
  await rotate()
  assert.equal(await rotate(), world.clock.nowMs() + rotationMs)
  assert.deepEqual(await signing(), [true, true, true])
  await world.pass(rotationMs - 1_000)
  assert.deepEqual(await signing(), [false, true, true])
  await world.pass(1_000)
  assert.deepEqual(await signing(), [false, false, true])
  for (let times = 0; times < 10; times += 1) await rotate()
  const newest = (await signing()).lastIndexOf(false)
  assert.equal(secrets.length - 1 - newest, previousSecretsMax + 1)
})

test('rejects a request to change a webhook and reverts the change when the change cannot be stored', async () => {
  const { world, view } = await oneWebhook()
  const full = () => Promise.reject(new Error('disk full'))
  const { table } = world
  const { create, put, remove } = table
  Object.assign(table, { create: full, put: full, remove: full })
  const isOurs = (error: unknown) => error instanceof EngineError && error.code === 'INTERNAL'
  await assert.rejects(world.webhooks.create(ALICE, request()), isOurs)
  await assert.rejects(world.webhooks.change(ALICE, view.id, { description: 'new' }), isOurs)
  await assert.rejects(world.webhooks.rotateSecret(ALICE, view.id, null), isOurs)
  await assert.rejects(world.webhooks.remove(ALICE, view.id), isOurs)
  assert.deepEqual(world.webhooks.list(ALICE), [view])
  Object.assign(table, { create, put, remove })
  world.trade()
  await settle()
  assert.equal(world.counts(view.id).delivered, 1)
  assert.equal(await world.webhooks.remove(ALICE, view.id), true)
})

test('aborts running attempts of a removed webhook and deletes the webhook’s rows', async () => {
  const { world, view } = await oneWebhook()
  const number = world.numberOf(view.id)
  world.caller.answer = () => answered(500)
  world.trade()
  await settle()
  world.caller.answer = () => 'hang'
  world.trade()
  await settle()
  assert.equal(world.caller.posts.length, 2)
  const removed = world.webhooks.remove(ALICE, view.id)
  assert.equal(world.caller.posts[1]?.isAborted, true)
  world.trade()
  assert.equal(await removed, true)
  await world.pass(10 * 60_000)
  assert.equal(world.caller.posts.length, 2)
  assert.equal(world.caller.openCount, 0)
  assert.deepEqual([...world.outbox.webhooks()], [])
  assert.equal(world.outbox.get(number, 1), null)
})

test('deletes the rows of a webhook that was removed before a crash, and sends nothing to the webhook', async () => {
  const { world, view } = await oneWebhook(() => answered(500))
  world.trade()
  await settle()
  await world.webhooks.remove(ALICE, view.id)
  await world.crash()
  await world.pass(3_600_000)
  assert.equal(world.caller.posts.length, 1)
  assert.deepEqual([...world.outbox.webhooks()], [])
})

test('delivers requested test events and manual retries like other deliveries', async () => {
  const world = new WebhookWorld()
  const { webhook, secret } = await world.webhooks.create(ALICE, request())
  const tested = await world.webhooks.test(ALICE, webhook.id)
  await settle()
  assert.equal(tested?.eventType, 'webhook.test')
  assert.equal(tested?.status, 'pending')
  const [post] = world.caller.posts
  assert.ok(post !== undefined && isSignedWith(post, secret))
  assert.equal(post.headers['webhook-id'], tested?.eventId)
  assert.deepEqual(
    world.deliveries(webhook.id).map(({ status, attempts }) => [status, attempts]),
    [['delivered', 1]],
  )
  const again = await world.webhooks.retry(ALICE, webhook.id, tested?.number ?? 0)
  assert.deepEqual([again?.status, again?.attempts], ['pending', 0])
  await settle()
  const counts = { created: 1, delivered: 1, exhausted: 0, dropped: 0, pending: 0 }
  assert.deepEqual(world.counts(webhook.id), counts)
  assert.equal(world.caller.posts.length, 2)
  assert.equal(world.caller.posts[1]?.body, post.body)
  assert.equal(await world.webhooks.retry(ALICE, webhook.id, 99), null)
})

test('sends a waiting delivery at once on a manual retry, and restarts the delivery’s count of attempts', async () => {
  const { world, view } = await oneWebhook(() => answered(500))
  world.trade()
  await world.pass(60_000)
  assert.equal(world.deliveries(view.id)[0]?.attempts, 3)
  const before = world.caller.posts.length
  await world.webhooks.retry(ALICE, view.id, 1)
  await settle()
  assert.equal(world.caller.posts.length, before + 1)
  assert.equal(world.deliveries(view.id)[0]?.attempts, 1)
  await world.pass(6_001)
  assert.equal(world.caller.posts.length, before + 2)
})

test('sends requested test events and manual retries of an inactive webhook', async () => {
  const { world, view } = await oneWebhook()
  await world.webhooks.change(ALICE, view.id, { isActive: false })
  const tested = await world.webhooks.test(ALICE, view.id)
  await settle()
  assert.equal(world.counts(view.id).delivered, 1)
  await world.webhooks.retry(ALICE, view.id, tested?.number ?? 0)
  await settle()
  assert.equal(world.caller.posts.length, 2)
})

test('creates no events for an inactive webhook, and delays the webhook’s pending deliveries until it is active', async () => {
  const { world, view } = await oneWebhook(() => answered(500))
  world.trade()
  await settle()
  await world.webhooks.change(ALICE, view.id, { isActive: false })
  world.trade()
  await world.pass(3_600_000)
  assert.equal(world.caller.posts.length, 1)
  assert.equal(world.counts(view.id).created, 1)
  assert.notEqual(world.webhooks.get(ALICE, view.id)?.failingSinceMs, null)
  world.caller.answer = () => answered(204)
  const active = await world.webhooks.change(ALICE, view.id, { isActive: true })
  assert.equal(active?.failingSinceMs, null)
  await settle()
  assert.equal(world.counts(view.id).delivered, 1)
})

test('applies a change of a webhook from the next event on, even after a restart', async () => {
  const world = new WebhookWorld()
  const view = await world.create({ eventTypes: ['whale.alert'] })
  world.trade()
  const url = 'https://example.com/other'
  await world.webhooks.change(ALICE, view.id, { eventTypes: ['trade.created'], url })
  world.trade()
  await settle()
  await world.crash()
  world.trade()
  await settle()
  assert.deepEqual(
    world.caller.posts.map((post) => post.url),
    [url, url],
  )
  const { disabledReason, description, isActive } = world.webhooks.list(ALICE)[0] ?? view
  assert.deepEqual([disabledReason, description, isActive], [null, null, true])
})

test('pauses the webhooks of a disabled account, even after a restart, and removes the webhooks of a deleted account', async () => {
  const { world, view } = await oneWebhook(() => answered(500))
  world.trade()
  await settle()
  world.inactiveAccounts.add(ALICE)
  world.webhooks.onAccountDeactivated(ALICE, 'disabled')
  world.trade()
  await world.pass(3_600_000)
  await world.crash()
  world.trade()
  await world.pass(3_600_000)
  assert.equal(world.caller.posts.length, 1, 'neither new events nor retries')
  assert.deepEqual([world.counts(view.id).created, world.counts(view.id).pending], [1, 1])
  world.caller.answer = () => answered(204)
  world.inactiveAccounts.delete(ALICE)
  world.webhooks.onAccountEnabled(ALICE)
  world.trade()
  await settle()
  assert.equal(world.counts(view.id).delivered, 2, 'the pending and the new delivery')
  assert.equal(world.webhooks.get(ALICE, view.id)?.isActive, true, 'unchanged by the account')
  const sent = world.caller.posts.length
  const other = await world.create({}, BOB)
  world.inactiveAccounts.add(ALICE)
  world.webhooks.onAccountDeactivated(ALICE, 'deleted')
  await settle()
  world.trade()
  await settle()
  assert.deepEqual(
    [...world.table.all()].map(({ id }) => id),
    [other.id],
  )
  assert.equal(world.caller.posts.length, sent + 1, 'only the delivery of the other account')
})

test('removes a webhook when its account is deleted while the webhook is being stored', async () => {
  const world = new WebhookWorld()
  const making = world.webhooks.create(ALICE, request())
  world.inactiveAccounts.add(ALICE)
  world.webhooks.onAccountDeactivated(ALICE, 'deleted')
  await assert.rejects(making, { code: 'UNAUTHORIZED' })
  assert.deepEqual([...world.table.all()], [])
  assert.deepEqual(world.webhooks.list(ALICE), [])
  // A webhook of a disabled account is stored but gets no deliveries.
  const other = world.webhooks.create(BOB, request())
  world.inactiveAccounts.add(BOB)
  world.webhooks.onAccountDeactivated(BOB, 'disabled')
  await other
  world.trade()
  await world.pass(1)
  assert.equal(world.caller.posts.length, 0)
  world.inactiveAccounts.delete(BOB)
  world.webhooks.onAccountEnabled(BOB)
  world.trade()
  await world.pass(1)
  assert.equal(world.caller.posts.length, 1)
})

test('requires a filter for trade.created events in tiers below pro, except for existing webhooks', async () => {
  const world = new WebhookWorld()
  const { webhooks, tiers } = world
  tiers.set(ALICE, 'pro')
  const before = await world.create()
  tiers.set(ALICE, 'free')
  const refused = (error: unknown) =>
    error instanceof EngineError &&
    error.code === 'BAD_REQUEST' &&
    /tier pro or enterprise.*market_ids, event_slugs, .*min_usd above 0/.test(error.message)
  const filters = (set: Partial<typeof NO_FILTERS>) => ({ filters: { ...NO_FILTERS, ...set } })
  const wide = [{}, { minUsd: usdMicros(0) }, { venue: 'a' as const }, { side: 'buy' as const }]
  for (const set of [...wide, { categories: ['Politics'] }]) {
    await assert.rejects(world.create(filters(set)), refused)
  }
  const eventTypes = ['market.resolved', 'trade.created']
  await assert.rejects(world.create({ eventTypes }), refused)
  const narrow = [
    { marketIds: ['venue_a_1'] },
    { eventSlugs: ['one'] },
    { minUsd: usdMicros(1) },
    { wallets: ['0xaa'] },
    { takerWallets: ['0xaa'] },
  ]
  for (const set of narrow) await world.create(filters(set))
  await world.create({ eventTypes: ['market.resolved'] })
  await webhooks.change(ALICE, before.id, { description: 'as before', isActive: true })
  await assert.rejects(webhooks.change(ALICE, before.id, { eventTypes }), refused)
  world.trade({ usd: usdMicros(20) })
  await settle()
  assert.equal(world.counts(before.id).delivered, 1)
  const [first] = narrow
  const changed = await webhooks.change(ALICE, before.id, filters(first ?? {}))
  assert.deepEqual(changed?.filters.marketIds, ['venue_a_1'])
  await assert.rejects(webhooks.change(ALICE, before.id, filters({})), refused)
})

test('sends no events to a host until the host answered a test event of the account with 2xx', async () => {
  const world = new WebhookWorld({ mustVerify: true })
  world.caller.answer = () => answered(500)
  const types = () => world.caller.posts.map(({ body }) => JSON.parse(body).type)
  const view = await world.create({ url: 'https://one.example.com/a' })
  const sibling = await world.create({ url: 'https://one.example.com:8443/b' })
  assert.deepEqual([view.isVerified, view.isActive], [false, true])
  await settle()
  world.trade()
  await world.pass(3_600_000)
  assert.deepEqual(types(), ['webhook.test', 'webhook.test'])
  assert.equal(world.counts(view.id).created, 1, 'only the test')
  await world.crash()
  world.trade()
  await settle()
  assert.equal(world.counts(view.id).created, 1)
  world.caller.answer = () => answered(200)
  await world.webhooks.test(ALICE, view.id)
  await settle()
  assert.equal(world.webhooks.get(ALICE, view.id)?.isVerified, true)
  assert.equal(world.webhooks.get(ALICE, sibling.id)?.isVerified, true, 'the host is verified')
  world.trade()
  await settle()
  assert.equal(types().filter((type) => type === 'trade.created').length, 2)
  // A second account must verify the host again. A second webhook of the same account need not.
  const [other, third] = [
    await world.create({ url: view.url }, BOB),
    await world.create({ url: view.url }),
  ]
  assert.deepEqual([other.isVerified, third.isVerified], [false, true])
  await world.crash()
  assert.equal(world.webhooks.get(ALICE, view.id)?.isVerified, true)
})

test('requires a test of a webhook’s new host, and ignores test answers of the previous host', async () => {
  const world = new WebhookWorld({ mustVerify: true })
  const view = await world.create({ url: 'https://one.example.com/' })
  await settle()
  assert.equal(world.webhooks.get(ALICE, view.id)?.isVerified, true)
  world.caller.answer = ({ url }) => ({
    outcome: { kind: 'answered', status: url.includes('one') ? 200 : 404, retryAfterMs: null },
    afterMs: 1_000,
  })
  await world.webhooks.test(ALICE, view.id)
  await settle()
  const moved = await world.webhooks.change(ALICE, view.id, { url: 'https://two.example.com/' })
  assert.equal(moved?.isVerified, false)
  await world.pass(5_000)
  world.trade()
  await settle()
  assert.equal(world.webhooks.get(ALICE, view.id)?.isVerified, false)
  assert.deepEqual(
    world.caller.to('https://two.example.com/').map(({ body }) => JSON.parse(body).type),
    ['webhook.test'],
  )
  const path = await world.webhooks.change(ALICE, view.id, { url: 'https://one.example.com/path' })
  assert.equal(path?.isVerified, false)
  await world.pass(5_000)
  assert.equal(world.webhooks.get(ALICE, view.id)?.isVerified, true)
})
