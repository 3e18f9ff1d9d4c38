// Bringing back trades again and again: nothing of a recovery stays behind once it is over.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TradeRecovery } from '../../actors/trade-recovery.ts'
import { silentLog } from '../../engine/log.ts'
import { Metrics } from '../../engine/metrics.ts'
import { ManualClock } from '../support/manual-clock.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('[VEN4] a stream that breaks again and again leaves no listener and no timer of its recoveries', async () => {
  const clock = new ManualClock()
  const asked: { readonly fromMs: number; readonly toMs: number }[] = []
  const recovery = new TradeRecovery({
    feed: {
      start: () => undefined,
      stop: async () => undefined,
      watch: () => undefined,
      unwatch: () => undefined,
      resync: () => undefined,
      fetchTrades: async (range) => {
        asked.push(range)
        return { completeFromMs: range.fromMs }
      },
      health: () => assert.fail('nobody asks'),
    },
    ...{ clock, log: silentLog, metrics: new Metrics(), venue: 'a' },
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
