// Attackers are accounts that exceed their share of deliveries. The bystander is an account that must not be delayed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AccountId, accountId } from '../../../engine/ids.ts'
import {
  attemptsMax,
  attemptsPerAccountMax,
  attemptsPerHostMax,
  webhooksPerAccountMax,
} from '../../../engine/limits.ts'
import { usdMicros } from '../../../engine/units.ts'
import { webhookShareOf } from '../../../engine/webhooks/webhook-share.ts'
import { answered, type Post } from '../../support/fakes/caller.ts'
import { NO_FILTERS } from '../../support/worlds/stored-webhooks.ts'
import { ALICE, BOB, oneWebhook, settle, WebhookWorld } from '../../support/worlds/webhook-world.ts'

const OK = { kind: 'answered', status: 200, retryAfterMs: null } as const
const ATTACKERS = 12
const SECONDS = process.env.TEST_LONG === '1' ? 40 : 10
const BYSTANDER = 'https://bystander.example.com/'
const attacker = (nth: number): AccountId => accountId(`acc_attacker_${nth}`)

/** Each of the twelve attackers has 25 webhooks that match all trades. */
async function attackedWorld(urlOf: (account: number, nth: number) => string) {
  const world = new WebhookWorld()
  for (let account = 0; account < ATTACKERS; account += 1) {
    for (let nth = 0; nth < webhooksPerAccountMax; nth += 1) {
      await world.create({ url: urlOf(account, nth) }, attacker(account))
    }
  }
  const bystander = await world.create({ url: BYSTANDER }, BOB)
  return { world, bystander }
}

async function trades(world: WebhookWorld, { perSecond, seconds }: Record<string, number>) {
  const madeAtMs = new Map<string, number>()
  const stepMs = 1_000 / (perSecond ?? 1)
  for (let count = 0; count < (perSecond ?? 1) * (seconds ?? 1); count += 1) {
    madeAtMs.set(world.trade(), world.clock.nowMs())
    await settle()
    world.clock.advance(stepMs)
  }
  await settle()
  return madeAtMs
}

const delaysOf = (posts: readonly Post[], madeAtMs: ReadonlyMap<string, number>) =>
  posts.map(({ body, atMs }) => atMs - (madeAtMs.get(JSON.parse(body).data.id) ?? 0))

for (const [name, urlOf] of [
  ['one host', (account: number, nth: number) => `https://tarpit.example.com/${account}/${nth}`],
  [
    'one host with a port for each webhook',
    (account: number, nth: number) =>
      `https://tarpit.example.com:${2_000 + account * 25 + nth}/hook`,
  ],
] as const) {
  test(`delivers to a second account at once while 300 webhooks on ${name} answer after 14 s`, async () => {
    const { world } = await attackedWorld(urlOf)
    world.caller.answer = ({ url }) =>
      url === BYSTANDER ? answered(200) : { outcome: OK, afterMs: 14_000 }
    let tarpitMax = 0
    world.caller.onPost = () => {
      tarpitMax = Math.max(tarpitMax, world.caller.openCount)
    }
    const madeAtMs = await trades(world, { perSecond: 2, seconds: SECONDS })
    const posts = world.caller.to(BYSTANDER)
    assert.equal(posts.length, madeAtMs.size)
    assert.ok(delaysOf(posts, madeAtMs).every((delayMs) => delayMs === 0))
    assert.ok(tarpitMax <= attemptsPerHostMax + 1, `${tarpitMax} attempts at once`)
    const seen = new Set(world.caller.posts.map(({ url }) => new URL(url).pathname.split('/')[1]))
    if (name === 'one host') assert.equal(seen.size, ATTACKERS + 1, 'each account gets attempts')
    world.webhooks.stop()
  })
}

test('leaves attempt slots for a second account while 300 webhooks use a slow host each', async () => {
  const { world } = await attackedWorld(
    (account, nth) => `https://slow-${account}-${nth}.example.com/`,
  )
  world.caller.answer = ({ url }) =>
    url === BYSTANDER ? answered(200) : { outcome: OK, afterMs: 14_000 }
  const open = new Map<string, number>()
  const { post } = world.caller
  let accountMax = 0
  world.caller.post = (request) => {
    const [, account = ''] = /slow-(\d+)-/.exec(request.url) ?? []
    if (account === '') return post.call(world.caller, request)
    open.set(account, (open.get(account) ?? 0) + 1)
    accountMax = Math.max(accountMax, open.get(account) ?? 0)
    const posted = post.call(world.caller, request)
    posted.then(() => open.set(account, (open.get(account) ?? 1) - 1))
    return posted
  }
  let openMax = 0
  world.caller.onPost = () => {
    openMax = Math.max(openMax, world.caller.openCount)
  }
  const madeAtMs = await trades(world, { perSecond: 2, seconds: SECONDS })
  const posts = world.caller.to(BYSTANDER)
  assert.equal(posts.length, madeAtMs.size)
  assert.ok(delaysOf(posts, madeAtMs).every((delayMs) => delayMs === 0))
  assert.ok(accountMax <= attemptsPerAccountMax, `${accountMax} attempts of one account`)
  assert.ok(openMax < attemptsMax)
  world.webhooks.stop()
})

/** Twelve accounts of the tier free whose webhooks have no filter, as earlier releases allowed. */
async function freeWorld() {
  const { world, bystander } = await attackedWorld(
    (account, nth) => `https://victim.example.com/${account}/${nth}`,
  )
  for (let account = 0; account < ATTACKERS; account += 1) {
    world.tiers.set(attacker(account), 'free')
  }
  world.tiers.set(BOB, 'free')
  const filters = { ...NO_FILTERS, minUsd: usdMicros(1_000_000_000) }
  await world.webhooks.change(BOB, bystander.id, { filters })
  return { world, bystander }
}

function totals(world: WebhookWorld, account: AccountId) {
  const sum = { created: 0, delivered: 0, exhausted: 0, dropped: 0, pending: 0, throttled: 0 }
  for (const { counts, throttledCount } of world.webhooks.list(account)) {
    const { created, delivered, exhausted, dropped, pending } = counts
    assert.equal(created, delivered + exhausted + dropped + pending)
    sum.created += created
    sum.delivered += delivered
    sum.exhausted += exhausted
    sum.dropped += dropped
    sum.pending += pending
    sum.throttled += throttledCount
  }
  return sum
}

test('limits deliveries to twelve accounts of tier free while 50 trades a second arrive, and delivers to a different account at once', async () => {
  const { world, bystander } = await freeWorld()
  world.caller.answer = () => ({ outcome: OK, afterMs: 20 })
  const seconds = 15
  const madeAtMs = new Map<string, number>()
  for (let count = 0; count < 50 * seconds; count += 1) {
    const isLarge = count % 50 === 0
    const id = world.trade(isLarge ? { usd: usdMicros(2_000_000_000) } : {})
    if (isLarge) madeAtMs.set(id, world.clock.nowMs())
    await settle()
    world.clock.advance(20)
  }
  await settle()
  const posts = world.caller.to(BYSTANDER)
  assert.equal(posts.length, seconds)
  assert.ok(delaysOf(posts, madeAtMs).every((delayMs) => delayMs === 0))
  assert.equal(world.webhooks.get(BOB, bystander.id)?.throttledCount, 0)
  const rate = webhookShareOf({ tier: 'free' }).deliveriesPerSecond
  for (let nth = 0; nth < ATTACKERS; nth += 1) {
    const { created, throttled, dropped, delivered, pending } = totals(world, attacker(nth))
    assert.equal(created, 25 * 50 * seconds)
    assert.equal(dropped, throttled)
    // The first minute may be a burst.
    assert.ok(created - throttled <= rate * (60 + seconds), `${created - throttled} rows`)
    assert.ok(delivered <= rate * (5 + seconds) + 1, `${delivered} delivered`)
    assert.ok(delivered >= rate * seconds)
    assert.ok(pending <= rate * 60)
  }
  const victim = world.caller.posts.filter(({ url }) => url !== BYSTANDER)
  assert.ok(victim.length <= ATTACKERS * (rate * (5 + seconds) + 1))
  // The pending deliveries are sent within a minute.
  for (let step = 0; step < 650; step += 1) {
    world.clock.advance(100)
    await settle()
  }
  assert.equal(totals(world, attacker(0)).pending, 0)
  world.webhooks.stop()
})

for (const isLossy of [false, true]) {
  test(`retains the counts of throttled events after a ${isLossy ? 'crash that loses the last writes' : 'crash'}`, async () => {
    const { world, view } = await oneWebhook()
    world.tiers.set(ALICE, 'free')
    for (let count = 0; count < 1_000; count += 1) world.trade()
    await settle()
    assert.equal(world.webhooks.get(ALICE, view.id)?.throttledCount, 700)
    const { created } = totals(world, ALICE)
    assert.equal(created, 1_000)
    await settle()
    world.outbox.commit()
    for (let count = 0; count < 500; count += 1) world.trade()
    // Throttle counts are stored within a second.
    if (!isLossy) world.clock.advance(1_000)
    await settle()
    await world.crash(isLossy)
    const after = totals(world, ALICE)
    assert.ok(after.throttled >= 700 && after.throttled <= 1_200)
    assert.equal(after.created, after.delivered + after.pending + after.dropped)
    if (!isLossy) assert.equal(after.throttled, 1_200)
    for (let second = 0; second < 70; second += 1) {
      world.clock.advance(1_000)
      await settle()
    }
    assert.deepEqual(
      { ...totals(world, ALICE), throttled: 0 },
      { ...after, throttled: 0, delivered: after.delivered + after.pending, pending: 0 },
    )
    world.webhooks.stop()
    assert.equal(world.clock.timerCount, 0)
  })
}

test('stores the counts of throttled events within a second, and not the events', async () => {
  const { world, view } = await oneWebhook()
  world.tiers.set(ALICE, 'free')
  for (let count = 0; count < 400; count += 1) world.trade()
  assert.equal(world.bodies.count, 300)
  await settle()
  world.clock.advance(1_000)
  assert.equal(world.outbox.state(world.numberOf(view.id)).throttledCount, 100)
  assert.equal(world.deliveries(view.id).length, 300)
  world.webhooks.stop()
})

test('does not throttle a webhook with few events when a second webhook of its account exceeds the delivery rate', async () => {
  const world = new WebhookWorld()
  const busy = await world.create({ url: 'https://busy.example.com/' })
  const quiet = await world.create({ filters: { ...NO_FILTERS, minUsd: usdMicros(1_000_000_000) } })
  world.tiers.set(ALICE, 'free')
  for (let count = 0; count < 2_400; count += 1) {
    world.trade(count % 80 === 79 ? { usd: usdMicros(2_000_000_000) } : {})
    await settle()
    world.clock.advance(20)
  }
  const shown = world.webhooks.get(ALICE, quiet.id)
  assert.deepEqual([shown?.counts.created, shown?.throttledCount], [30, 0])
  assert.ok((world.webhooks.get(ALICE, busy.id)?.throttledCount ?? 0) > 1_000)
  world.webhooks.stop()
})

test('limits an account’s pending deliveries by count and by bytes without delaying a healthy webhook', async () => {
  const bytesOf = (world: WebhookWorld, id: string) =>
    world.outbox.state(world.numberOf(id)).pendingBytes
  for (const [bound, set] of [
    ['count', { pendingMax: 100 }],
    ['bytes', { pendingBytesMax: 8_000 }],
  ] as const) {
    const world = new WebhookWorld()
    const failing = await world.create({ url: 'https://failing.example.com/' })
    const well = await world.create({ url: 'https://well.example.com/' })
    world.shares.set(ALICE, { ...webhookShareOf({ tier: 'enterprise' }), ...set })
    world.caller.answer = ({ url }) => answered(url.includes('failing') ? 500 : 200)
    for (let count = 0; count < 500; count += 1) {
      world.trade()
      await settle()
      world.clock.advance(10)
    }
    const { counts, throttledCount } = world.webhooks.get(ALICE, failing.id) ?? failing
    assert.ok(throttledCount > 0 && counts.pending + throttledCount === 500, bound)
    if (bound === 'count') assert.ok(counts.pending <= 100)
    else assert.ok(bytesOf(world, failing.id) <= 8_200)
    assert.equal(world.webhooks.get(ALICE, well.id)?.counts.delivered, 500)
    world.webhooks.stop()
  }
})

test('applies the delivery rate of an account’s new tier at once', async () => {
  const { world, view } = await oneWebhook()
  world.tiers.set(ALICE, 'free')
  for (let count = 0; count < 300; count += 1) world.trade()
  await settle()
  const delivered = () => world.webhooks.get(ALICE, view.id)?.counts.delivered ?? 0
  assert.equal(delivered(), 25)
  world.tiers.set(ALICE, 'pro')
  world.clock.advance(200)
  await settle()
  world.clock.advance(2_000)
  await settle()
  assert.ok(delivered() > 100, `${delivered()}`)
  world.webhooks.stop()
})
