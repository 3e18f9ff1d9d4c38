import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { seededRandom } from '../../../engine/random.ts'
import { TokenBucket } from '../../../engine/venues/rate-limit.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'

describe('TokenBucket', () => {
  it('grants calls in order, and never more calls than rate × time + burst', async () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const random = seededRandom('rate', seed)
      const clock = new ManualClock()
      const tokensPerSecond = 1 + random.below(50)
      const burst = 1 + random.below(30)
      const bucket = new TokenBucket({ tokensPerSecond, burst, clock })
      const grants: { call: number; atMs: number }[] = []
      let callCount = 0
      for (let step = 0; step < 150; step += 1) {
        for (let calls = random.below(20); calls > 0; calls -= 1) {
          const call = callCount++
          void bucket.take().then(() => grants.push({ call, atMs: clock.monotonicMs() }))
        }
        await nextTurn()
        clock.advance(random.below(400))
        await nextTurn()
      }
      while (bucket.waitingCount > 0) {
        clock.advance(200)
        await nextTurn()
      }
      assert.equal(grants.length, callCount)
      for (const [position, { call, atMs }] of grants.entries()) {
        assert.equal(call, position, `seed ${seed}`)
        const grantsMax = burst + (atMs * tokensPerSecond) / 1_000 + 0.01
        assert.ok(position + 1 <= grantsMax, `seed ${seed}`)
      }
    }
  })

  it('grants a call when tokens for its cost are available, or a call above the burst when the bucket is full', async () => {
    const clock = new ManualClock()
    const bucket = new TokenBucket({ tokensPerSecond: 10, burst: 20, clock })
    const grantedAtMs: number[] = []
    for (const cost of [15, 15, 40, 1]) {
      void bucket.take(undefined, cost).then(() => grantedAtMs.push(clock.monotonicMs()))
    }
    for (let steps = 0; steps < 80; steps += 1) {
      await nextTurn()
      clock.advance(100)
    }
    await nextTurn()
    const [beganAtMs = 0] = grantedAtMs
    const delays = grantedAtMs.map((atMs) => atMs - beganAtMs)
    assert.deepEqual(delays, [0, 1_000, 3_000, 5_100])
  })

  it('grants calls at once while tokens are available, and does not refill spent tokens when the rate changes', async () => {
    const clock = new ManualClock()
    const bucket = new TokenBucket({ tokensPerSecond: 10, burst: 20, clock })
    assert.ok(bucket.tryTake(12))
    assert.deepEqual([bucket.tryTake(9), bucket.availableCount], [false, 8])
    bucket.setRate({ tokensPerSecond: 100, burst: 50 })
    assert.equal(bucket.availableCount, 38)
    clock.advance(100)
    assert.equal(bucket.availableCount, 48)
    void bucket.take(undefined, 50)
    assert.deepEqual([bucket.availableCount, bucket.tryTake(1)], [0, false])
  })

  it('rejects a call when too many calls wait', async () => {
    const clock = new ManualClock()
    const bucket = new TokenBucket({ tokensPerSecond: 1, burst: 1, clock, waitingCountMax: 2 })
    await bucket.take()
    const waiting = [bucket.take(), bucket.take()]
    await assert.rejects(bucket.take(), /too many/)
    clock.advance(2_100)
    await Promise.all(waiting)
    assert.equal(clock.timerCount, 0)
  })

  it('returns the token of an aborted call to the bucket', async () => {
    const clock = new ManualClock()
    const bucket = new TokenBucket({ tokensPerSecond: 1, burst: 1, clock })
    await bucket.take()
    const controller = new AbortController()
    const aborted = bucket.take(controller.signal)
    controller.abort()
    await assert.rejects(aborted, /aborted/)
    await assert.rejects(bucket.take(AbortSignal.abort()), /aborted/)
    const next = bucket.take()
    clock.advance(1_000)
    await next
    assert.equal(bucket.waitingCount, 0)
  })

  it('grants later calls earlier when a waiting call aborts', async () => {
    const clock = new ManualClock()
    const bucket = new TokenBucket({ tokensPerSecond: 1, burst: 1, clock })
    await bucket.take()
    const controller = new AbortController()
    const aborted = bucket.take(controller.signal)
    const granted: string[] = []
    void bucket.take().then(() => granted.push('second'))
    controller.abort()
    await assert.rejects(aborted, /aborted/)
    void bucket.take().then(() => granted.push('third'))
    clock.advance(1_000)
    await nextTurn()
    assert.deepEqual(granted, ['second'])
    clock.advance(1_000)
    await nextTurn()
    assert.deepEqual(granted, ['second', 'third'])
  })

  it('grants no more calls than the burst after a blocked event loop', async () => {
    const clock = new ManualClock()
    const bucket = new TokenBucket({ tokensPerSecond: 1, burst: 2, clock })
    let grantedCount = 0
    for (let call = 0; call < 8; call += 1) {
      void bucket.take().then(() => {
        grantedCount += 1
      })
    }
    await nextTurn()
    assert.equal(grantedCount, 2)
    clock.stall(10_000)
    await nextTurn()
    assert.equal(grantedCount, 4)
  })
})
