// Deliveries where there is no room: while the disk takes nothing (what is committed later is sent
// then, what was not written is neither counted nor answered as if it had been), and when all webhooks
// together have more than their disk should hold.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { finishedKeptMax } from '../../../engine/limits.ts'
import type { OutboxTable } from '../../../storage/contract/webhooks.ts'
import { CrashingOutbox } from '../../support/fakes/crashing-outbox.ts'
import { answered } from '../../support/fakes/fake-caller.ts'
import { ALICE, NO_FILTERS, settle, WebhookWorld } from '../../support/worlds/webhook-world.ts'

test('[DELIVER17] what could not be committed is sent once it is, also when no event follows', async () => {
  const world = new WebhookWorld()
  await world.create()
  world.isDiskFull = true
  world.trade()
  await world.pass(20_000)
  assert.equal(world.caller.posts.length, 0)
  world.isDiskFull = false
  await world.pass(20_000)
  assert.equal(world.caller.posts.length, 1)
})

/** Refuses changes while the disk is full. */
class FullOutbox extends CrashingOutbox {
  isFull = false

  override create(...given: Parameters<OutboxTable['create']>) {
    return this.isFull ? null : super.create(...given)
  }

  override update(...given: Parameters<OutboxTable['update']>) {
    return this.isFull ? false : super.update(...given)
  }
}

test('[DELIVER18] what the outbox did not take is not counted, and no test or retry is promised', async () => {
  const outbox = new FullOutbox()
  const world = new WebhookWorld({ outbox })
  const view = await world.create()
  world.caller.answer = () => answered(500)
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

test('[DELIVER19] beyond the bound of all webhooks each has its share, and who has less loses nothing', async () => {
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

test('[DELIVER14] a webhook at its bound keeps no more finished deliveries, however fast they come', async () => {
  const world = new WebhookWorld({ pendingMax: 10 })
  const view = await world.create()
  world.caller.answer = () => answered(500)
  for (let count = 0; count < finishedKeptMax + 200; count += 1) world.trade()
  await settle()
  const rows = world.deliveries(view.id).length
  assert.ok(rows < finishedKeptMax + 30, `${rows} rows`)
  assert.equal(world.counts(view.id).created, finishedKeptMax + 200)
})
