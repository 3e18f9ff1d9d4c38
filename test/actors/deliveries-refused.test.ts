// Deliveries while the disk takes nothing: what is committed later is sent then, and what was not
// written is neither counted nor answered as if it had been.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OutboxTable } from '../../storage/webhook-contract.ts'
import { CrashingOutbox } from '../support/crashing-outbox.ts'
import { answered } from '../support/fake-caller.ts'
import { ALICE, settle, WebhookWorld } from '../support/webhook-world.ts'

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
