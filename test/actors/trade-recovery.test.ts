// Bringing back trades again and again: nothing of a recovery stays behind once it is over.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TradeRecovery } from '../../actors/trade-recovery.ts'
import { silentLog } from '../../engine/log.ts'
import { Metrics } from '../../engine/metrics.ts'
import { timeMs } from '../../engine/units.ts'
import { ManualClock } from '../support/manual-clock.ts'

const FEED = {
  start: () => undefined,
  stop: async () => undefined,
  watch: () => undefined,
  unwatch: () => undefined,
  resync: () => undefined,
  health: () => assert.fail('nobody asks'),
}

const QUIET = { isHandled: () => true, committed: async () => undefined }

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('[VEN4] a stream that breaks again and again leaves no listener and no timer of its recoveries', async () => {
  const clock = new ManualClock()
  const asked: { readonly fromMs: number; readonly toMs: number }[] = []
  const recovery = new TradeRecovery({
    feed: {
      ...FEED,
      fetchTrades: async (range) => {
        asked.push(range)
        return { completeFromMs: range.fromMs }
      },
    },
    ...{ clock, log: silentLog, metrics: new Metrics(), venue: 'a', ...QUIET },
    onLost: () => assert.fail('everything came'),
  })
  const warnings: string[] = []
  const note = (warning: Error) => void warnings.push(warning.name)
  process.on('warning', note)
  recovery.start()
  const firstMs = clock.nowMs()
  for (let round = 0; round < 400; round += 1) {
    recovery.recover(clock.nowMs())
    clock.advance(100)
    await turn()
    assert.ok(clock.timerCount <= 1 + 16, 'a second look a second, and the look once a minute')
  }
  const [lastMs, before] = [clock.nowMs(), asked.length]
  clock.advance(15_000)
  await turn()
  assert.equal(clock.timerCount, 1)
  const second = asked.slice(before)
  assert.ok(
    second.some(({ toMs }) => toMs >= lastMs - 100),
    'the last one too is looked at again',
  )
  const covered = asked.filter(({ fromMs }) => fromMs <= firstMs)
  assert.ok(covered.length >= 2, 'the first one was read twice')
  recovery.recover(clock.nowMs())
  await recovery.stop()
  process.off('warning', note)
  assert.equal(clock.timerCount, 0)
  assert.deepEqual(warnings, [])
})

test('[VEN13] a long range is read in parts, oldest first, and what was read is unread no more', async () => {
  const clock = new ManualClock()
  const asked: { readonly fromMs: number; readonly toMs: number; readonly done: () => void }[] = []
  const recovery = new TradeRecovery({
    feed: {
      ...FEED,
      fetchTrades: ({ fromMs, toMs }) =>
        new Promise((resolve) => {
          asked.push({ fromMs, toMs, done: () => resolve({ completeFromMs: fromMs }) })
        }),
    },
    ...{ clock, log: silentLog, metrics: new Metrics(), venue: 'a', ...QUIET },
    onLost: () => assert.fail('everything came'),
  })
  const nowMs = clock.nowMs()
  const fromMs = timeMs(nowMs - 3_600_000)
  recovery.recover(fromMs)
  const unread: number[] = []
  for (let part = 0; part < 20; part += 1) {
    await turn()
    const now = asked[part] ?? assert.fail(`part ${part} was not asked for`)
    assert.equal(asked.length, part + 1, 'a part at a time')
    assert.ok(recovery.unreadSinceMs !== null && recovery.unreadSinceMs <= now.fromMs)
    unread.push(recovery.unreadSinceMs)
    now.done()
  }
  assert.ok((asked[0]?.fromMs ?? nowMs) <= fromMs)
  for (const [part, { fromMs: begin }] of asked.slice(1).entries()) {
    assert.ok(begin <= (asked[part]?.toMs ?? 0), 'no hole between parts')
  }
  assert.deepEqual(
    unread,
    [...unread].sort((one, other) => one - other),
  )
  assert.ok((unread.at(-1) ?? 0) > nowMs - 1_500_000, 'it gets on')
  const stopped = recovery.stop()
  for (const { done } of asked) done()
  await stopped
})

test('[VEN13] what was read and still waits for its owner, or for the disk, is unread', async () => {
  const clock = new ManualClock()
  let isHandled = false
  let commit: () => void = () => undefined
  let asked = 0
  const recovery = new TradeRecovery({
    feed: {
      ...FEED,
      fetchTrades: async ({ fromMs }) => {
        asked += 1
        return { completeFromMs: fromMs }
      },
    },
    ...{ clock, log: silentLog, metrics: new Metrics(), venue: 'a' },
    onLost: () => assert.fail('everything came'),
    isHandled: () => isHandled,
    committed: () => new Promise((resolve) => (commit = resolve)),
  })
  const fromMs = timeMs(clock.nowMs() - 200_000)
  recovery.recover(fromMs)
  const steps = async (ms: number) => {
    for (let step = 0; step < ms / 50; step += 1) {
      await turn()
      clock.advance(50)
    }
    await turn()
  }
  await steps(5_000)
  assert.equal(asked, 1)
  // Owners that are busy for long hold up no reading, but what is known does not move.
  await steps(6_000)
  assert.equal(asked, 2)
  assert.ok((recovery.unreadSinceMs ?? 0) <= fromMs)
  isHandled = true
  await steps(100)
  assert.ok((recovery.unreadSinceMs ?? 0) <= fromMs, 'handled, and not yet on the disk')
  commit()
  await steps(100)
  assert.equal(recovery.unreadSinceMs === null || recovery.unreadSinceMs > fromMs, true)
  await recovery.stop()
})
