// Compares deliveries with naive/deliveries.ts through random events, outcomes, clock jumps and crashes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WebhookView } from '../../../actors/webhooks/views.ts'
import { type Random, seededRandom } from '../../../engine/random.ts'
import type { PostOutcome, PostRequest } from '../../../engine/webhooks/post.ts'
import { type Answer, answered } from '../../support/fakes/caller.ts'
import { NaiveWebhook } from '../../support/reference/naive/deliveries.ts'
import { ALICE, settle, WebhookWorld } from '../../support/worlds/webhook-world.ts'

const SEEDS = process.env.TEST_LONG === '1' ? 200 : 4
const STEPS = 40
const PENDING_MAX = 8
const MINUTE = 60_000
const HOUR = 60 * MINUTE

class RandomRun {
  readonly random: Random
  readonly world: WebhookWorld
  readonly twins = new Map<string, { view: WebhookView; naive: NaiveWebhook }>()
  readonly bodies = new Map<string, string>()
  isWell = false
  readonly #failures: unknown[] = []
  #made = 0

  constructor(seed: number) {
    this.random = seededRandom('deliveries', seed)
    this.world = new WebhookWorld({ seed, pendingMax: PENDING_MAX })
    const { caller } = this.world
    caller.answer = () => this.#answer()
    const post = caller.post.bind(caller)
    caller.post = (request) => {
      const reference = this.#begin(request)
      const posted = post(request)
      // This callback runs before the callback of the deliveries, which is registered later.
      posted.then((outcome) => this.#guard(() => reference?.(outcome)))
      return posted
    }
  }

  /** Reports a post to the reference implementation. The returned function reports the outcome. */
  #begin(request: PostRequest): ((outcome: PostOutcome) => void) | null {
    const { world, twins: references, bodies } = this
    return this.#guard(() => {
      const reference = references.get(request.url)
      assert.ok(reference !== undefined)
      const eventId = request.headers['webhook-id'] ?? ''
      const row = world.deliveries(reference.view.id).find((one) => one.eventId === eventId)
      assert.ok(row !== undefined)
      const key = `${request.url} ${eventId}`
      const body = Buffer.from(request.body).toString('utf8')
      assert.equal(bodies.get(key) ?? body, body, 'equal bytes at every attempt')
      bodies.set(key, body)
      reference.naive.begin(row.number, world.clock.nowMs())
      return (outcome) => reference.naive.end(row.number, outcome, world.clock.nowMs())
    })
  }

  /** Stores an error for the end of the test, because the deliveries would count it as a failed attempt. */
  #guard<Result>(check: () => Result): Result | null {
    try {
      return check()
    } catch (error) {
      this.#failures.push(error)
      return null
    }
  }

  #answer(): Answer {
    if (this.isWell) return answered(200)
    const afterMs = this.random.pick([0, 0, 100, 3_000])
    const kind = this.random.below(20)
    if (kind < 6) return { ...withDelay(answered(200), afterMs) }
    if (kind < 12) return { ...withDelay(answered(500), afterMs) }
    if (kind < 14) return withDelay(answered(429, this.random.below(3 * HOUR)), afterMs)
    if (kind < 15) return this.random.below(8) === 0 ? answered(410) : answered(302)
    if (kind < 18) return 'hang'
    return { outcome: { kind: 'failed', reason: 'network', detail: 'reset' }, afterMs }
  }

  async create(): Promise<void> {
    this.#made += 1
    const view = await this.world.create({ url: `https://example.com/${this.#made}` })
    this.twins.set(view.url, { view, naive: new NaiveWebhook(PENDING_MAX) })
  }

  present() {
    return [...this.twins.values()].filter(({ naive }) => !naive.isRemoved)
  }

  trade(): void {
    const nowMs = this.world.clock.nowMs()
    this.world.trade()
    for (const { naive } of this.present()) if (naive.isActive) naive.create(nowMs)
  }

  async step(): Promise<void> {
    const { world, random } = this
    const kind = random.below(24)
    const [first] = this.present()
    const reference = first === undefined ? null : random.pick(this.present())
    if (kind < 10) for (let count = random.below(4); count >= 0; count -= 1) this.trade()
    else if (kind < 16) {
      await world.pass(random.pick([100, 6_000, 40_000, 5 * MINUTE, 2 * HOUR, 9 * HOUR, 40 * HOUR]))
    } else if (kind < 18) await this.crash(random.below(2) === 0)
    else if (kind < 19) world.clock.jumpCalendar(random.pick([-HOUR, -1_000, 1_000, HOUR]))
    else if (kind < 20) await this.create()
    else if (reference !== null) await this.#requestSomething(reference, kind)
    world.isCommitting = random.below(4) > 0
    if (world.isCommitting) world.commit()
    await settle()
    this.check()
  }

  async #requestSomething(reference: { view: WebhookView; naive: NaiveWebhook }, kind: number) {
    const { world, random } = this
    const { view, naive } = reference
    const nowMs = world.clock.nowMs()
    world.isCommitting = true
    world.commit()
    if (kind < 21) {
      const tested = world.webhooks.test(ALICE, view.id)
      naive.asked.add(naive.create(nowMs))
      await tested
    } else if (kind < 22) {
      const number = random.below(naive.deliveries.size + 1)
      if (naive.deliveries.has(number)) naive.ask(number, nowMs)
      await world.webhooks.retry(ALICE, view.id, number)
    } else if (kind < 23) {
      const isActive = random.below(3) > 0
      naive.setActive(isActive)
      await world.webhooks.change(ALICE, view.id, { isActive })
    } else if (random.below(3) === 0) {
      naive.isRemoved = true
      await world.webhooks.remove(ALICE, view.id)
    }
  }

  async crash(isLossy: boolean): Promise<void> {
    await settle()
    this.check()
    const { world } = this
    const outboxAtCrash = world.outbox
    const began = world.crash(isLossy)
    for (const { view, naive } of this.present()) {
      const number = world.numberOf(view.id)
      const left = isLossy ? outboxAtCrash.crash() : outboxAtCrash
      const query = { webhook: number, status: null, before: null, limit: 10_000 }
      naive.comeBack(left.list(query).toReversed(), left.state(number).failingSinceMs)
    }
    await began
  }

  check(): void {
    const [failure] = this.#failures
    if (failure !== undefined) throw failure
    const nowMs = this.world.clock.nowMs()
    for (const { view, naive } of this.present()) {
      const rows = this.world.deliveries(view.id)
      naive.compare(rows, nowMs)
      const counts = this.world.counts(view.id)
      assert.deepEqual(counts, naive.counts())
      const { created, delivered, exhausted, dropped, pending } = counts
      assert.equal(created, delivered + exhausted + dropped + pending)
      const shown = this.world.webhooks.get(ALICE, view.id)
      assert.deepEqual(
        [shown?.isActive, shown?.disabledReason, shown?.failingSinceMs],
        [naive.isActive, naive.reason, naive.failingSinceMs],
      )
    }
  }

  /** After this call all receivers answer 200. */
  async finish(): Promise<void> {
    const { world } = this
    this.isWell = true
    world.isCommitting = true
    world.commit()
    for (const { view, naive } of this.present()) {
      naive.setActive(true)
      await world.webhooks.change(ALICE, view.id, { isActive: true })
    }
    await world.pass(30 * HOUR)
    this.check()
    const numbers = new Set(this.present().map(({ view }) => world.numberOf(view.id)))
    for (const { view } of this.present()) assert.equal(world.counts(view.id).pending, 0)
    for (const number of world.outbox.webhooks()) assert.ok(numbers.has(number))
    world.webhooks.stop()
    assert.equal(world.clock.timerCount, 0)
  }
}

function withDelay(answer: Answer, afterMs: number): Exclude<Answer, 'hang'> {
  assert.ok(answer !== 'hang')
  return { ...answer, afterMs }
}

test(`stores the same deliveries and counts as the reference implementation in ${SEEDS} random runs`, async () => {
  let posts = 0
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const run = new RandomRun(seed)
    try {
      for (let count = 0; count < 3; count += 1) await run.create()
      for (let step = 0; step < STEPS; step += 1) await run.step()
      await run.finish()
    } catch (cause) {
      const shown = cause instanceof Error ? cause.stack : cause
      throw new Error(`seed ${seed}: ${shown}`, { cause })
    }
    posts += run.world.caller.posts.length
  }
  assert.ok(posts > SEEDS * 50, `${posts} posts`)
})
