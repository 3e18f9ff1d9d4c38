import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TokenLevel, webhookShareOf } from '../../../engine/webhooks/webhook-share.ts'

test('assigns each account the delivery rate of its tier, or the rate that an operator set', () => {
  const rates = (['free', 'pro', 'enterprise'] as const).map(
    (tier) => webhookShareOf({ tier }).deliveriesPerSecond,
  )
  assert.deepEqual(rates, [5, 50, 1_000_000])
  assert.equal(webhookShareOf({ tier: 'pro' }).mayTakeAll, true)
  assert.equal(webhookShareOf({ tier: 'free' }).mayTakeAll, false)
  const own = webhookShareOf({ tier: 'enterprise', deliveriesPerSecond: 9 })
  assert.equal(own.deliveriesPerSecond, 9)
  assert.equal(own.mayTakeAll, true)
})

test('allows a full burst of deliveries, then the rate, and returns the wait until the next token', () => {
  const level = new TokenLevel()
  let taken = 0
  for (let ms = 0; ms <= 10_000; ms += 10) {
    while (level.at(ms, 3, 6) >= 1) {
      level.take()
      taken += 1
    }
    const waitMs = level.waitMs(3, 6)
    assert.ok(waitMs > 0 && waitMs <= 334)
  }
  assert.equal(taken, 6 + 30)
  assert.equal(level.at(100_000, 3, 6), 6)
  assert.equal(level.waitMs(3, 6), 0)
})

test('has one token after the returned wait has passed, at every delivery rate', () => {
  for (const rate of [0.2, 1, 3, 5, 7, 50, 333]) {
    const level = new TokenLevel()
    let nowMs = 1_234
    for (let count = 0; count < 500; count += 1) {
      if (level.at(nowMs, rate, 2) < 1) {
        const waitMs = level.waitMs(rate, 2)
        assert.equal(level.at(nowMs + waitMs - 1, rate, 2), 0)
        nowMs += waitMs
        assert.ok(level.at(nowMs, rate, 2) >= 1)
      }
      level.take()
    }
  }
})
