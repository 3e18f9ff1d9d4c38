import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accountId } from '../../../engine/ids.ts'
import { answered } from '../../support/fakes/caller.ts'
import { BOB, settle, WebhookWorld } from '../../support/worlds/webhook-world.ts'

const GROUP = 'https://api.telegram.org/bot12:secret/sendMessage?chat_id=-100'
const POSTED = 'https://api.telegram.org/bot12:secret/sendMessage'
const SLACK = 'https://hooks.slack.com/services/T/B/X'

const countsOf = (body: string): number[] => JSON.parse(body).counts

async function chatWorld(set: { format?: 'slack' | 'discord' | 'telegram'; url?: string } = {}) {
  const world = new WebhookWorld()
  const view = await world.create({ format: 'telegram', url: GROUP, ...set })
  return { world, view }
}

test('sends the first event of a chat at once, and combines the events of the next three seconds', async () => {
  const { world, view } = await chatWorld()
  world.trade()
  await settle()
  assert.deepEqual(
    world.caller.posts.map(({ url }) => url),
    [POSTED],
  )
  for (let count = 0; count < 5; count += 1) world.trade()
  await settle()
  await world.pass(2_999)
  assert.equal(world.caller.posts.length, 1)
  await world.pass(1)
  assert.deepEqual(
    world.caller.posts.map(({ body }) => countsOf(body)),
    [[1], [2, 3, 4, 5, 6]],
  )
  assert.deepEqual(world.counts(view.id), {
    ...{ created: 6, delivered: 6, exhausted: 0, dropped: 0, pending: 0 },
  })
})

test('does not sign chat messages', async () => {
  const { world } = await chatWorld({ format: 'slack', url: SLACK })
  world.trade()
  await settle()
  assert.deepEqual(Object.keys(world.caller.posts[0]?.headers ?? {}), [
    'content-type',
    'user-agent',
  ])
})

test('repeats all events of a message that failed, in one message', async () => {
  const { world, view } = await chatWorld({ format: 'slack', url: SLACK })
  world.trade()
  await settle()
  world.caller.answer = () => answered(500)
  for (let count = 0; count < 3; count += 1) world.trade()
  await world.pass(1_000)
  assert.equal(world.counts(view.id).pending, 3)
  world.caller.answer = () => answered(200)
  await world.pass(10_000)
  const sent = world.caller.posts.slice(2).map(({ body }) => countsOf(body))
  assert.deepEqual(sent, [[2, 3, 4]])
  assert.equal(world.counts(view.id).delivered, 4)
})

test('sends nothing to a chat while the service requests a pause, and everything afterwards', async () => {
  const { world, view } = await chatWorld()
  const body = Buffer.from('{"ok":false,"parameters":{"retry_after":60}}')
  world.caller.answer = () => ({
    outcome: {
      ...{ kind: 'answered', status: 429, retryAfterMs: null },
      answer: { headers: [], body, isCut: false },
    },
  })
  world.trade()
  await settle()
  world.caller.answer = () => answered(200)
  world.trade()
  await world.pass(59_000)
  assert.equal(world.caller.posts.length, 1)
  await world.pass(1_000)
  assert.deepEqual(countsOf(world.caller.posts[1]?.body ?? ''), [1, 2])
  assert.equal(world.counts(view.id).delivered, 2)
})

test('sends each event alone after a service did not accept the content of a message', async () => {
  const { world, view } = await chatWorld({ format: 'slack', url: SLACK })
  world.trade()
  await settle()
  world.caller.answer = ({ body }) => answered(countsOf(body).includes(3) ? 400 : 200)
  for (let count = 0; count < 3; count += 1) world.trade()
  for (let second = 0; second < 20; second += 1) await world.pass(1_000)
  assert.equal(world.counts(view.id).delivered, 3)
  assert.equal(world.counts(view.id).pending, 1)
})

test('ends the pause of a chat when the URL changes', async () => {
  const { world, view } = await chatWorld({ format: 'slack', url: SLACK })
  world.caller.answer = () => answered(429, 3_600_000)
  world.trade()
  await settle()
  world.caller.answer = () => answered(200)
  await world.webhooks.change(accountId('acc_alice'), view.id, { url: `${SLACK}2` })
  world.trade()
  await world.pass(1_000)
  assert.deepEqual(
    world.caller.posts.map(({ url }) => url),
    [SLACK, `${SLACK}2`],
  )
})

test('combines at most 100 events in one message', async () => {
  const { world, view } = await chatWorld({ format: 'slack', url: SLACK })
  for (let count = 0; count < 250; count += 1) world.trade()
  await world.pass(5_000)
  assert.deepEqual(
    world.caller.posts.map(({ body }) => countsOf(body).length),
    [100, 100, 50],
  )
  assert.equal(world.counts(view.id).delivered, 250)
})

test('aborts a chat message when its webhook is removed, and sends every event again after a crash', async () => {
  const { world, view } = await chatWorld({ format: 'slack', url: SLACK })
  world.caller.answer = () => 'hang'
  world.trade()
  world.trade()
  await settle()
  world.caller.answer = () => answered(200)
  await world.crash()
  await world.pass(2_000)
  assert.deepEqual(countsOf(world.caller.posts.at(-1)?.body ?? ''), [1, 2])
  assert.equal(world.counts(view.id).delivered, 2)
  world.caller.answer = () => 'hang'
  world.trade()
  await world.pass(1_000)
  await world.webhooks.remove(accountId('acc_alice'), view.id)
  await settle()
  assert.equal(world.caller.posts.at(-1)?.isAborted, true)
})

test('does not delay another account’s chat on the same host', async () => {
  const { world } = await chatWorld({ format: 'slack', url: SLACK })
  world.caller.answer = ({ url }) => (url === SLACK ? 'hang' : answered(200))
  const other = await world.create({ format: 'slack', url: `${SLACK}2` }, BOB)
  for (let count = 0; count < 50; count += 1) world.trade()
  await world.pass(3_000)
  assert.equal(world.counts(other.id).delivered, 50)
  assert.equal(world.caller.to(SLACK).length, 1)
})

test('requires a chat in the URL of a Telegram webhook, also when the URL changes', async () => {
  const { world, view } = await chatWorld()
  const refused = { code: 'BAD_REQUEST', message: /sendMessage\?chat_id=/ }
  await assert.rejects(world.create({ format: 'telegram', url: SLACK }), refused)
  const change = world.webhooks.change(accountId('acc_alice'), view.id, { url: POSTED })
  await assert.rejects(change, refused)
})
