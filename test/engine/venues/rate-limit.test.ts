import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { seededRandom } from '../../../engine/random.ts'
import { TokenBucket } from '../../../engine/venues/rate-limit.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'

describe('TokenBucket', () => {
  it('grants at most rate × time + burst in any time window', async () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const random = seededRandom('rate', seed)
      const clock = new ManualClock()
      const tokensPerSecond = 1 + random.below(50)
      const burst = 1 + random.below(30)
      const bucket = new TokenBucket({ tokensPerSecond, burst, clock })
      const grants: { atMs: number; cost: number }[] = []
      let requested = 0
      for (let step = 0; step < 150; step += 1) {
        for (let calls = random.below(4); calls > 0; calls -= 1) {
          const cost = 1 + random.below(burst)
          requested += 1
          void bucket.take(cost).then(() => grants.push({ atMs: clock.monotonicMs(), cost }))
        }
        await nextTurn()
        clock.advance(random.below(400))
        await nextTurn()
      }
      // Every millisecond of advance runs all due timers, so a grant is noted within its turn.
      while (bucket.waitingCount > 0) {
        clock.advance(200)
        await nextTurn()
      }
      assert.equal(grants.length, requested)
      let total = 0
      for (const { atMs, cost } of grants) {
        total += cost
        assert.ok(total <= burst + (atMs * tokensPerSecond) / 1_000 + 0.01, `seed ${seed}`)
      }
    }
  })

  it('grants calls in their order of arrival', async () => {
    const clock = new ManualClock()
    const bucket = new TokenBucket({ tokensPerSecond: 10, burst: 5, clock })
    const order: number[] = []
    for (const [position, cost] of [5, 4, 1, 1, 3].entries()) {
      void bucket.take(cost).then(() => order.push(position))
    }
    for (let ticks = 0; ticks < 30; ticks += 1) {
      clock.advance(50)
      await nextTurn()
    }
    assert.deepEqual(order, [0, 1, 2, 3, 4])
  })

  it('refuses a call when the queue is full', async () => {
    const clock = new ManualClock()
    const bucket = new TokenBucket({ tokensPerSecond: 1, burst: 1, clock, waitingCountMax: 2 })
    await bucket.take(1)
    const waiting = [bucket.take(1), bucket.take(1)]
    await assert.rejects(bucket.take(1), /too many/)
    clock.advance(2_100)
    await Promise.all(waiting)
    assert.equal(clock.timerCount, 0)
  })

  it('releases the slot and tokens of an aborted call', async () => {
    const clock = new ManualClock()
    const bucket = new TokenBucket({ tokensPerSecond: 1, burst: 4, clock })
    await bucket.take(4)
    const controller = new AbortController()
    const large = bucket.take(4, controller.signal)
    const small = bucket.take(1)
    controller.abort()
    await assert.rejects(large, /aborted/)
    clock.advance(1_000)
    await small
    await assert.rejects(bucket.take(1, AbortSignal.abort()), /aborted/)
    assert.equal(bucket.waitingCount, 0)
  })

  it('grants a cost above the burst when the bucket is full', async () => {
    const clock = new ManualClock()
    const bucket = new TokenBucket({ tokensPerSecond: 10, burst: 5, clock })
    await bucket.take(1)
    const large = bucket.take(1_000)
    clock.advance(100)
    await large
  })
})
