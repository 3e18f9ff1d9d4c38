import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PostOutcome } from '../../../engine/webhooks/post.ts'
import { type Answer, answered, type Post } from '../../support/fakes/caller.ts'
import { ALICE, WebhookWorld } from '../../support/worlds/webhook-world.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const SEEDS = process.env.TEST_LONG === '1' ? 3 : 1

const failed = (reason: 'refused' | 'timeout' | 'network' | 'tls', afterMs = 0): Answer => {
  const outcome: PostOutcome = { kind: 'failed', reason, detail: `${reason}: ${'x'.repeat(300)}` }
  return { outcome, afterMs }
}

/** Name, answers, final status of each delivery, and number of attempts of each delivery. */
const RECEIVERS: readonly (readonly [
  name: string,
  answer: (post: Post, nth: number) => Answer,
  ends: 'delivered' | 'exhausted',
  attempts: number,
])[] = [
  ['204', () => answered(204), 'delivered', 1],
  ['301', () => answered(301), 'exhausted', 8],
  ['401', () => answered(401), 'exhausted', 8],
  ['410', () => answered(410), 'exhausted', 1],
  ['429 once', (_, nth) => (nth === 1 ? answered(429, 60_000) : answered(200)), 'delivered', 2],
  ['502 three times', (_, nth) => answered(nth < 4 ? 502 : 200), 'delivered', 4],
  ['103', () => answered(103), 'exhausted', 8],
  ['no answer', () => 'hang', 'exhausted', 8],
  ['a time-out', () => failed('timeout', 15_000), 'exhausted', 8],
  ['a connection reset', () => failed('network'), 'exhausted', 8],
  ['invalid TLS', () => failed('tls', 20), 'exhausted', 8],
  ['a refusal because of a private address', () => failed('refused'), 'exhausted', 8],
  [
    'a time-out once',
    (_, nth) => (nth === 1 ? failed('timeout', 15_000) : answered(200)),
    'delivered',
    2,
  ],
]

for (const [name, answer, ends, attempts] of RECEIVERS) {
  test(`ends a webhook delivery as ${ends} after ${attempts} attempt(s) when the receiver’s answer is: ${name}`, async () => {
    for (let seed = 0; seed < SEEDS; seed += 1) {
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
      // The first 410 disables the webhook.
      const created = name === '410' ? 1 : 3
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
      assert.equal(shown?.disabledReason, name === '410' ? 'gone' : null)
      assert.equal(shown?.failingSinceMs === null, ends === 'delivered')
      world.webhooks.stop()
      assert.equal(world.clock.timerCount, 0)
    }
  })
}
