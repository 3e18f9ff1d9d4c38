import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Quotas } from '../../../actors/accounts/quotas.ts'
import { seededRandom } from '../../../engine/random.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { openQuickAccounts } from '../../support/fakes/quick-accounts.ts'

const RUNS = process.env.TEST_LONG === '1' ? 10_000 : 200

function windowOf(log: readonly number[], nowMs: number): { startMs: number; used: number } {
  let [startMs, used] = [Number.NEGATIVE_INFINITY, 0]
  for (const atMs of log) {
    if (atMs - startMs >= 60_000) [startMs, used] = [atMs, 0]
    used += 1
  }
  return nowMs - startMs >= 60_000 ? { startMs: nowMs, used: 0 } : { startMs, used }
}

test('admits and counts the same requests as the reference implementation in random runs', () => {
  for (let seed = 0; seed < RUNS; seed += 1) {
    const random = seededRandom('quotas', seed)
    const clock = new ManualClock(Date.UTC(2026, 10, 20, 12) + random.below(5_000))
    const quotas = new Quotas<number>(clock)
    const limit = 1 + random.below(8)
    const logs = new Map<number, number[]>()
    for (let step = 0; step < 60; step += 1) {
      const longest = [200, 5_000, 30_000, 59_999][random.below(4)] ?? 0
      clock.advance(random.below(longest + 1))
      // Quota windows use monotonic time, so jumps of the calendar have no effect.
      if (random.below(20) === 0) clock.jumpCalendar(random.below(7_200_000) - 3_600_000)
      const key = random.below(3)
      const log = logs.get(key) ?? []
      logs.set(key, log)
      const nowMs = clock.monotonicMs()
      const { startMs, used } = windowOf(log, nowMs)
      const isAllowed = used < limit
      if (isAllowed) log.push(nowMs)
      const left = limit - used - (isAllowed ? 1 : 0)
      const endsAtMs = (used === 0 ? nowMs : startMs) + 60_000
      const resetSeconds = Math.ceil((clock.nowMs() + endsAtMs - nowMs) / 1_000)
      const label = `seed ${seed} step ${step}`
      assert.deepEqual(
        quotas.take(key, limit),
        { isAllowed, limit, remaining: left, resetSeconds },
        label,
      )
      const aheadMs = resetSeconds * 1_000 - clock.nowMs()
      assert.ok(aheadMs > 0 && aheadMs < 61_000, label)
      assert.deepEqual(quotas.peek(key, limit), {
        isAllowed: true,
        limit,
        remaining: left,
        resetSeconds,
      })
    }
  }
})

test('shares a request quota between all API keys and tokens of an account', async () => {
  const { accounts } = openQuickAccounts()
  const ann = { email: 'ann@example.com', password: 'correct horse', address: '10.0.0.1' }
  const { caller, accessToken } = await accounts.signUp(ann)
  const other = await accounts.signUp({ ...ann, email: 'bob@example.com' })
  const keys = await Promise.all(
    Array.from({ length: 20 }, (_, index) => accounts.createKey(caller.accountId, `k${index}`)),
  )
  let passed = 0
  for (let round = 0; round < 10; round += 1) {
    for (const { key } of keys) {
      const id = accounts.callerOfKey(key)?.accountId ?? other.caller.accountId
      if (accounts.takeAccountRequest(id).isAllowed) passed += 1
    }
    const id = accounts.callerOfToken(accessToken)?.accountId ?? other.caller.accountId
    if (accounts.takeAccountRequest(id).isAllowed) passed += 1
  }
  assert.equal(passed, 60)
  assert.equal(accounts.takeAccountRequest(other.caller.accountId).remaining, 59)
})

test('admits the request that exceeds the byte limit, then refuses the client’s requests until the minute ends', () => {
  const clock = new ManualClock()
  const quotas = new Quotas<string>(clock)
  assert.deepEqual(take(40), { isAllowed: true, remaining: 60 })
  assert.deepEqual(take(70), { isAllowed: true, remaining: 0 })
  assert.deepEqual(take(1), { isAllowed: false, remaining: 0 })
  clock.advance(60_000)
  assert.deepEqual(take(1), { isAllowed: true, remaining: 99 })

  function take(byteCount: number) {
    const { isAllowed, remaining } = quotas.take('address', 100, byteCount)
    return { isAllowed, remaining }
  }
})

test('evicts the quota window of the oldest client when more than 100,000 clients have a window', () => {
  const quotas = new Quotas<number>(new ManualClock())
  quotas.take(1, 2)
  assert.equal(quotas.peek(1, 2).remaining, 1)
  for (let key = 2; key < 100_100; key += 1) quotas.take(key, 2)
  assert.equal(quotas.peek(1, 2).remaining, 2)
  assert.equal(quotas.peek(100_050, 2).remaining, 1)
})
