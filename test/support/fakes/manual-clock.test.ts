import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from './manual-clock.ts'

test('runs due timers in order at their due times, including timers added meanwhile', () => {
  const clock = new ManualClock(1_000_000)
  const ran: string[] = []
  const note = (name: string) => () => ran.push(`${name} ${clock.nowMs() - 1_000_000}`)
  clock.after(30, note('late'))
  clock.after(10, note('first'))
  clock.after(10, note('second'))
  const stopTicks = clock.every(20, note('tick'))
  clock.after(15, () => clock.after(5, note('made on the way')))
  const stopNever = clock.after(25, note('never'))
  stopNever()
  clock.advance(40)
  assert.deepEqual(ran, [
    'first 10',
    'second 10',
    'tick 20',
    'made on the way 20',
    'late 30',
    'tick 40',
  ])
  stopTicks()
  stopTicks()
  assert.equal(clock.timerCount, 0)
  clock.advance(1_000)
  assert.equal(ran.length, 6)
  assert.equal(clock.monotonicMs(), 1_040)
})

test('lets the wall clock jump back while monotonic time continues', () => {
  const clock = new ManualClock(1_000_000)
  clock.advance(5)
  clock.jumpCalendar(-3_000)
  assert.equal(clock.nowMs(), 997_005)
  assert.equal(clock.monotonicMs(), 5)
})

test('runs each overdue timer once after a stall, and continues from there', () => {
  const clock = new ManualClock(1_000_000)
  const ran: string[] = []
  clock.every(20, () => ran.push(`tick ${clock.monotonicMs()}`))
  clock.after(30, () => ran.push(`once ${clock.monotonicMs()}`))
  clock.stall(100)
  assert.deepEqual(ran, ['tick 100', 'once 100'])
  clock.advance(20)
  assert.deepEqual(ran.slice(2), ['tick 120'])
})
