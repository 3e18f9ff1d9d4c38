import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Random, seededRandom } from '../../../engine/random.ts'
import { timeMs } from '../../../engine/units.ts'
import { ATTEMPTS_MAX, nextAttemptMs } from '../../../engine/webhooks/retry-schedule.ts'

const nowMs = timeMs(1_790_000_000_000)
const dayMs = 86_400_000
const waitsSeconds = [0, 5, 30, 120, 600, 3_600, 21_600, 86_400]
const always = (value: number): Random => ({ ...seededRandom(1), next: () => value })

test('schedules eight attempts: at once, then 5 s, 30 s, 2 min, 10 min, 1 h, 6 h, 24 h, each ± 20 %', () => {
  assert.equal(ATTEMPTS_MAX, 8)
  waitsSeconds.forEach((seconds, attempts) => {
    const waitMs = (draw: number) => {
      const random = always(draw)
      return (nextAttemptMs({ attempts, nowMs, retryAfterMs: null, random }) ?? 0) - nowMs
    }
    assert.equal(waitMs(0), seconds * 800)
    assert.equal(waitMs(0.5), seconds * 1_000)
    assert.ok(Math.abs(waitMs(1 - 2 ** -32) - seconds * 1_200) <= 1)
  })
})

test('schedules no attempt after the eighth, even when the receiver requests a retry', () => {
  const random = seededRandom(1)
  for (const attempts of [8, 9, 100]) {
    for (const retryAfterMs of [null, 0, 5_000]) {
      assert.equal(nextAttemptMs({ attempts, nowMs, retryAfterMs, random }), null)
    }
  }
})

test('lengthens the wait before a retry by Retry-After up to 24 h, and never shortens the wait', () => {
  const random = seededRandom('asked')
  for (let round = 0; round < 2_000; round += 1) {
    const attempts = 1 + random.below(7)
    const retryAfterMs = random.below(3 * dayMs)
    const draw = always(random.next())
    const plain = nextAttemptMs({ attempts, nowMs, retryAfterMs: null, random: draw }) ?? 0
    const requested = nextAttemptMs({ attempts, nowMs, retryAfterMs, random: draw }) ?? 0
    assert.equal(requested, Math.max(plain, nowMs + Math.min(retryAfterMs, dayMs)))
  }
})
