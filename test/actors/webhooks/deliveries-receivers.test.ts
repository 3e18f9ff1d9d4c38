// A zoo of receivers: each misbehaves in its own way for days, and the sums, the bytes and the end of it are
// as they should be.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PostOutcome } from '../../../engine/webhooks/post.ts'
import { type Answer, answered, type Post } from '../../support/fakes/caller.ts'
import { ALICE, WebhookWorld } from '../../support/worlds/webhook-world.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const failed = (reason: 'refused' | 'timeout' | 'network' | 'tls', afterMs = 0): Answer => {
  const outcome: PostOutcome = { kind: 'failed', reason, detail: `${reason}: ${'x'.repeat(300)}` }
  return { outcome, afterMs }
}

interface Receiver {
  readonly name: string
  readonly answer: (post: Post, nth: number) => Answer
  /** What became of each of the deliveries in the end. */
  readonly ends: 'delivered' | 'exhausted'
  readonly attempts: number
  readonly disabled?: 'gone'
}

const RECEIVERS: readonly Receiver[] = [
  { name: '200', answer: () => answered(200), ends: 'delivered', attempts: 1 },
  { name: '204', answer: () => answered(204), ends: 'delivered', attempts: 1 },
  { name: '301', answer: () => answered(301), ends: 'exhausted', attempts: 8 },
  { name: '302 to loopback', answer: () => answered(302), ends: 'exhausted', attempts: 8 },
  { name: '400', answer: () => answered(400), ends: 'exhausted', attempts: 8 },
  { name: '401', answer: () => answered(401), ends: 'exhausted', attempts: 8 },
  {
    ...{ name: '410', answer: () => answered(410), ends: 'exhausted', attempts: 1 },
    disabled: 'gone',
  },
  {
    ...{ name: '429 for a minute', ends: 'delivered', attempts: 2 },
    answer: (_, nth) => (nth === 1 ? answered(429, 60_000) : answered(200)),
  },
  { name: '500', answer: () => answered(500), ends: 'exhausted', attempts: 8 },
  {
    ...{ name: '502, then well', ends: 'delivered', attempts: 4 },
    answer: (_, nth) => (nth < 4 ? answered(502) : answered(200)),
  },
  { name: '103', answer: () => answered(103), ends: 'exhausted', attempts: 8 },
  { name: 'hangs before headers', answer: () => 'hang', ends: 'exhausted', attempts: 8 },
  {
    name: 'hangs in its body',
    answer: () => failed('timeout', 15_000),
    ends: 'exhausted',
    attempts: 8,
  },
  {
    name: 'a byte a second',
    answer: () => failed('timeout', 15_000),
    ends: 'exhausted',
    attempts: 8,
  },
  {
    name: 'body without end',
    answer: () => failed('network', 3_000),
    ends: 'exhausted',
    attempts: 8,
  },
  { name: 'resets', answer: () => failed('network'), ends: 'exhausted', attempts: 8 },
  { name: 'bad TLS', answer: () => failed('tls', 20), ends: 'exhausted', attempts: 8 },
  { name: 'a private address', answer: () => failed('refused'), ends: 'exhausted', attempts: 8 },
  {
    ...{ name: 'took it, answered late, then 200', ends: 'delivered', attempts: 2 },
    answer: (_, nth) => (nth === 1 ? failed('timeout', 15_000) : answered(200)),
  },
]

for (const { name, answer, ends, attempts, disabled } of RECEIVERS) {
  test(`ends a delivery to receiver “${name}” as ${ends} after ${attempts} attempt(s)`, async () => {
    for (let seed = 0; seed < 3; seed += 1) {
      const world = new WebhookWorld({ seed: `${name} ${seed}` })
      const view = await world.create()
      const nth = new Map<string, number>()
      world.caller.answer = (post) => {
        const count = (nth.get(post.body) ?? 0) + 1
        nth.set(post.body, count)
        return answer(post, count)
      }
      for (let count = 0; count < 3; count += 1) {
        world.trade()
        await world.pass(1_000)
      }
      await world.pass(2 * DAY)
      // A receiver that is gone is told nothing after its first answer.
      const created = disabled === undefined ? 3 : 1
      const counts = { created, delivered: 0, exhausted: 0, dropped: 0, pending: 0 }
      assert.deepEqual(world.counts(view.id), { ...counts, [ends]: created })
      for (const delivery of world.deliveries(view.id)) {
        assert.equal(delivery.attempts, attempts)
        assert.equal(delivery.dueAtMs, null)
        assert.ok((delivery.last?.error?.length ?? 0) <= 200)
        assert.equal(delivery.last?.error === null, ends === 'delivered')
        const posts = world.caller.posts.filter(
          ({ headers }) => headers['webhook-id'] === delivery.eventId,
        )
        assert.equal(posts.length, attempts)
        assert.equal(new Set(posts.map(({ body }) => body)).size, 1)
      }
      const shown = world.webhooks.get(ALICE, view.id)
      assert.equal(shown?.disabledReason, disabled ?? null)
      assert.equal(shown?.failingSinceMs === null, ends === 'delivered')
      world.webhooks.stop()
      assert.equal(world.clock.timerCount, 0)
    }
  })
}
