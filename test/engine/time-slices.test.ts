import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInSlices, runSlice, runToEnd, type SlicedWork } from '../../engine/time-slices.ts'
import { countTicks } from '../support/fakes/loop-ticks.ts'
import { ManualClock } from '../support/fakes/manual-clock.ts'

test('ends a time slice at its limit, continues in the next tick, and processes all items', async () => {
  const clock = new ManualClock()
  let stepsOfTurn = 0
  let most = 0
  function* count(to: number): SlicedWork<number> {
    let sum = 0
    for (let step = 1; step <= to; step += 1) {
      sum += step
      stepsOfTurn += 1
      clock.advance(0.1)
      yield
    }
    return sum
  }
  assert.equal(runToEnd(count(100)), 5_050)
  assert.deepEqual(runSlice(clock, count(3)), { result: 6 })
  assert.equal(runSlice(clock, count(100)), null)
  stepsOfTurn = 0
  let isOn = true
  const check = () => {
    most = Math.max(most, stepsOfTurn)
    stepsOfTurn = 0
    if (isOn) setImmediate(check)
  }
  const sum = runInSlices(clock, count(1_000))
  assert.equal(stepsOfTurn, 0)
  check()
  assert.equal(await sum, 500_500)
  isOn = false
  assert.ok(most >= 10 && most <= 11, `${most} steps in a tick`)
  function* failing(): SlicedWork<void> {
    yield
    throw new Error('no')
  }
  await assert.rejects(runInSlices(clock, failing()), /no/)
})

test('runs concurrent tasks in separate event-loop ticks', async () => {
  const clock = new ManualClock()
  const loop = countTicks()
  const ticks: number[][] = []
  function* work(): SlicedWork<void> {
    const seen: number[] = []
    ticks.push(seen)
    for (let step = 0; step < 30; step += 1) {
      if (seen.at(-1) !== loop.count()) seen.push(loop.count())
      clock.advance(0.5)
      yield
    }
  }
  await Promise.all([work(), work(), work()].map((steps) => runInSlices(clock, steps)))
  loop.stop()
  const all = ticks.flat()
  assert.ok(ticks.every((seen) => seen.length >= 10))
  assert.equal(new Set(all).size, all.length)
})
