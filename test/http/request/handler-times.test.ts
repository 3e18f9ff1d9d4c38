// What /metrics says of how long requests hold the loop.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../../../engine/process/metrics.ts'
import { HandlerTimes, nextMeasuredTick } from '../../../http/request/handler-times.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'

test('counts each synchronous run of a handler and reports the longest of the last minute', async () => {
  const clock = new ManualClock()
  const metrics = new Metrics()
  const times = new HandlerTimes({ clock, metrics })
  const pass = (ms: number) => {
    times.begin()
    clock.advance(ms)
    times.end()
  }
  assert.equal(times.largestMs(), 0)
  for (const ms of [0.2, 7, 12, 0.4]) pass(ms)
  assert.equal(times.largestMs(), 12)
  const text = await metrics.registry.metrics()
  assert.match(text, /http_handler_sync_ms_count 4/)
  assert.match(text, /http_handler_sync_ms_bucket\{le="10"\} 3/)
  assert.match(text, /http_handler_sync_max_ms 12/)
  clock.advance(30_000)
  pass(3)
  assert.equal(times.largestMs(), 12)
  clock.advance(31_000)
  assert.equal(times.largestMs(), 3)
  clock.advance(10_000_000)
  assert.equal(times.largestMs(), 0)
  pass(1)
  assert.equal(times.largestMs(), 1)
})

test('counts the event-loop tick in which a handler resumes until its continuations end', async () => {
  const clock = new ManualClock()
  const times = new HandlerTimes({ clock, metrics: new Metrics() })
  const later = async () => {
    await Promise.resolve()
    clock.advance(3)
  }
  const work = async () => {
    await nextMeasuredTick(clock)
    assert.equal(times.isInTick, true)
    clock.advance(4)
    await later()
    clock.advance(1)
  }
  const done = work()
  clock.advance(100)
  await done
  await nextMeasuredTick(clock)
  assert.equal(times.largestMs(), 8)
  await nextMeasuredTick(new ManualClock())
  assert.equal(times.isInTick, false)
})
