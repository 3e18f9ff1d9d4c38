import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../../../engine/process/metrics.ts'
import { etagOf } from '../../../http/request/reply.ts'
import {
  HandlerTimes,
  mapInSlices,
  nextMeasuredTick,
  partsAnswer,
  RequestTurns,
} from '../../../http/request/time-slices.ts'
import { countTicks } from '../../support/fakes/loop-ticks.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'

const rows = Array.from({ length: 200 }, (_, index) => index)

test('processes all rows in the same tick when processing is fast', () => {
  const done = mapInSlices(new ManualClock(), rows, (row) => row * 2)
  assert.deepEqual(
    done,
    rows.map((row) => row * 2),
  )
})

test('processes rows in order in time slices of 2.5 ms when processing is slow', async () => {
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

test('shortens the first time slice by the time that the event-loop tick has already used', async () => {
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

test('rejects when processing of a row throws in any time slice', async () => {
  const clock = new ManualClock()
  const fails = (at: number) => (row: number) => {
    clock.advance(1)
    if (row === at) throw new Error('no such row')
  }
  assert.throws(() => mapInSlices(clock, rows, fails(1)))
  await assert.rejects(async () => mapInSlices(clock, rows, fails(150)))
})

test('hashes a body of several megabytes over several event-loop ticks', async () => {
  const clock = new ManualClock()
  const body = 'x'.repeat(2 ** 21)
  const slow = { monotonicMs: () => clock.advance(0.5) ?? clock.monotonicMs() }
  const loop = countTicks()
  const answer = await partsAnswer(Object.assign(Object.create(clock), slow), [body], String)
  loop.stop()
  assert.equal(answer.etag, etagOf(body))
  assert.ok(loop.count() >= 6, `${loop.count()} ticks`)
})

test('counts each synchronous run of a handler, and reports the longest run of the last minute', async () => {
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

test('counts the time of a resumed handler until its continuations in the event-loop tick end', async () => {
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

const nextTick = () => new Promise((resolve) => setImmediate(resolve))

test('queues requests when earlier requests have used up the time slice of the event-loop tick', async () => {
  const turns = new RequestTurns(new ManualClock())
  assert.equal(turns.mustWait, false)
  turns.noteHandled(3)
  assert.equal(turns.mustWait, false)
  turns.noteHandled(2)
  assert.equal(turns.mustWait, true)
  await nextTick()
  assert.equal(turns.mustWait, false, 'in the next tick')
})

test('handles the only request of one account before the many queued requests of another account', async () => {
  const clock = new ManualClock()
  const turns = new RequestTurns(clock)
  const served: string[] = []
  const add = (account: string, name: string) => {
    const run = () => {
      served.push(name)
      clock.advance(5)
    }
    turns.add([account, `address of ${account}`], {
      run,
      refuse: () => served.push(`refused ${name}`),
    })
  }
  for (const name of ['ann 1', 'ann 2', 'ann 3']) add('ann', name)
  await nextTick()
  assert.deepEqual(served, ['ann 1'], 'one slice a tick')
  assert.equal(turns.mustWait, true, 'while others wait')
  add('bob', 'bob 1')
  for (let tick = 0; tick < 3; tick += 1) await nextTick()
  assert.deepEqual(served, ['ann 1', 'bob 1', 'ann 2', 'ann 3'])
})

test('refuses the newest request of the account with most waiting requests when the queue is full', () => {
  const turns = new RequestTurns(new ManualClock(), 3)
  const refused: string[] = []
  for (const [account, name] of [
    ['ann', 'ann 1'],
    ['ann', 'ann 2'],
    ['ann', 'ann 3'],
    ['bob', 'bob 1'],
    ['ann', 'ann 4'],
  ] as const) {
    turns.add([account], { run: () => {}, refuse: () => refused.push(name) })
  }
  assert.deepEqual(refused, ['ann 3', 'ann 4'])
})
