import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../../../engine/process/metrics.ts'
import { HandlerTimes } from '../../../http/request/handler-times.ts'
import { etagOf } from '../../../http/request/reply.ts'
import { mapInSlices, partsAnswer } from '../../../http/request/sliced-rows.ts'
import { countTicks } from '../../support/fakes/loop-ticks.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'

const rows = Array.from({ length: 200 }, (_, index) => index)

test('handles fast rows synchronously', () => {
  const done = mapInSlices(new ManualClock(), rows, (row) => row * 2)
  assert.deepEqual(
    done,
    rows.map((row) => row * 2),
  )
})

test('handles slow rows in order in time slices of 2.5 ms', async () => {
  const clock = new ManualClock()
  const loop = countTicks()
  const ticks: number[] = []
  const done = mapInSlices(clock, rows, (row) => {
    clock.advance(0.5)
    ticks[loop.count()] = (ticks[loop.count()] ?? 0) + 1
    return row * 2
  })
  assert.ok(done instanceof Promise)
  assert.deepEqual(
    await done,
    rows.map((row) => row * 2),
  )
  loop.stop()
  assert.equal(ticks.filter((rowCount) => rowCount > 0).length, 40)
  assert.ok(ticks.every((rowCount) => rowCount <= 5))
})

test('shortens the first time slice by the time already spent in the tick', async () => {
  const clock = new ManualClock()
  const times = new HandlerTimes({ clock, metrics: new Metrics() })
  times.begin()
  clock.advance(4)
  let rowCount = 0
  const done = mapInSlices(clock, rows, () => {
    clock.advance(0.5)
    rowCount += 1
  })
  assert.equal(rowCount, 2)
  times.end()
  await done
  assert.equal(times.largestMs(), 5)
})

test('fails when a row fails in any time slice', async () => {
  const clock = new ManualClock()
  const fails = (at: number) => (row: number) => {
    clock.advance(1)
    if (row === at) throw new Error('no such row')
  }
  assert.throws(() => mapInSlices(clock, rows, fails(1)))
  await assert.rejects(async () => mapInSlices(clock, rows, fails(150)))
})

test('hashes a body of megabytes over several event-loop ticks', async () => {
  const clock = new ManualClock()
  const body = 'x'.repeat(2 ** 21)
  const slow = { monotonicMs: () => clock.advance(0.5) ?? clock.monotonicMs() }
  const loop = countTicks()
  const answer = await partsAnswer(Object.assign(Object.create(clock), slow), [body], String)
  loop.stop()
  assert.equal(answer.etag, etagOf(body))
  assert.ok(loop.count() >= 6, `${loop.count()} ticks`)
})
