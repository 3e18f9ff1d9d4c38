// Accounts that use more than their share of the deliveries, and a bystander whose deliveries come in time.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AccountId, accountId } from '../../../engine/ids.ts'
import {
  attemptsMax,
  attemptsPerAccountMax,
  attemptsPerHostMax,
  webhooksPerAccountMax,
} from '../../../engine/limits.ts'
import { answered, type Post } from '../../support/fakes/caller.ts'
import { BOB, settle, WebhookWorld } from '../../support/worlds/webhook-world.ts'

const OK = { kind: 'answered', status: 200, retryAfterMs: null } as const
const ATTACKERS = 12
const BYSTANDER = 'https://bystander.example.com/'
const attacker = (nth: number): AccountId => accountId(`acc_attacker_${nth}`)

/** Twelve accounts of 25 webhooks on every trade, and then the bystander. */
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

/** Trades at a rate for some seconds; returns when each was made, by id. */
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
    'a port each of one host',
    (account: number, nth: number) =>
      `https://tarpit.example.com:${2_000 + account * 25 + nth}/hook`,
  ],
] as const) {
  test(`delivers to a bystander at once while 300 webhooks of ${name} answer after 14 s`, async () => {
    const { world } = await attackedWorld(urlOf)
    world.caller.answer = ({ url }) =>
      url === BYSTANDER ? answered(200) : { outcome: OK, afterMs: 14_000 }
    let tarpitMax = 0
    world.caller.onPost = () => {
      tarpitMax = Math.max(tarpitMax, world.caller.openCount)
    }
    const madeAtMs = await trades(world, { perSecond: 2, seconds: 40 })
    const posts = world.caller.to(BYSTANDER)
    assert.equal(posts.length, madeAtMs.size)
    assert.ok(delaysOf(posts, madeAtMs).every((delayMs) => delayMs === 0))
    assert.ok(tarpitMax <= attemptsPerHostMax + 1, `${tarpitMax} attempts at once`)
    const seen = new Set(world.caller.posts.map(({ url }) => new URL(url).pathname.split('/')[1]))
    if (name === 'one host') assert.equal(seen.size, ATTACKERS + 1, 'each account has turns')
    world.webhooks.stop()
  })
}

test('leaves attempts to a bystander while accounts hold a slow host for each webhook', async () => {
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
  const madeAtMs = await trades(world, { perSecond: 2, seconds: 40 })
  const posts = world.caller.to(BYSTANDER)
  assert.equal(posts.length, madeAtMs.size)
  assert.ok(delaysOf(posts, madeAtMs).every((delayMs) => delayMs === 0))
  assert.ok(accountMax <= attemptsPerAccountMax, `${accountMax} attempts of one account`)
  assert.ok(openMax < attemptsMax)
  world.webhooks.stop()
})
