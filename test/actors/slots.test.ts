import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { FairSlots, Slots, SlotsFull } from '../../actors/slots.ts'
import type { Requester } from '../../engine/fair-queue.ts'
import { ManualClock } from '../support/fakes/manual-clock.ts'

const FLOOD: Requester = ['flood', '10.0.0.1']
const OTHER: Requester = ['other', '10.0.0.2']

test('leaves a slot free for a second client when the first client requests ten times its share of slots', async () => {
  const slots = new Slots({ runningMax: 4, waitingMax: 64, runningOfOneMax: 2 })
  const { signal } = new AbortController()
  const began: string[] = []
  const held = (name: string) => () => {
    began.push(name)
    return new Promise<void>(() => undefined)
  }
  for (let number = 1; number <= 20; number += 1) {
    void slots.run(signal, held(`flood ${number}`), FLOOD)
  }
  void slots.run(signal, held('other 1'), OTHER)
  await nextTurn()
  assert.deepEqual(began, ['flood 1', 'flood 2', 'other 1'])
})

test('rejects the newest task of the client with the most tasks when the queue is full', async () => {
  const slots = new Slots({ runningMax: 1, waitingMax: 2 })
  const { signal } = new AbortController()
  let end = (): void => undefined
  const held = new Promise<void>((resolve) => {
    end = resolve
  })
  const done: string[] = []
  const run = (name: string, requester: Requester) =>
    slots
      .run(signal, () => held, requester)
      .then(() => done.push(name))
      .catch((error: unknown) => error)
  const flood = [run('flood 1', FLOOD), run('flood 2', FLOOD), run('flood 3', FLOOD)]
  assert.deepEqual([slots.isFull(FLOOD), slots.isFull(OTHER)], [true, false])
  const other = run('other 1', OTHER)
  assert.ok((await flood[2]) instanceof SlotsFull)
  end()
  await Promise.all([...flood, other])
  assert.deepEqual(done, ['flood 1', 'other 1', 'flood 2'])
})

test('takes a slot from a long task for a client with fewer slots, and for no other client', async () => {
  const clock = new ManualClock()
  const slots = new FairSlots({
    ...{ runningMax: 2, waitingMax: 8 },
    ...{ heldMs: 20, heldAnywayMs: Number.POSITIVE_INFINITY },
  })
  const { signal } = new AbortController()
  const order: string[] = []
  const work = (name: string, requester: Requester) =>
    slots.run({ clock, signal, requester }, async (pass) => {
      for (let piece = 0; piece < 4; piece += 1) {
        order.push(name)
        await nextTurn()
        clock.advance(20)
        await pass()
      }
    })
  const flood = ['one', 'two', 'three'].map((name) => work(name, FLOOD))
  await nextTurn()
  const other = work('other', OTHER)
  await Promise.all([...flood, other])
  assert.ok(order.indexOf('other') <= 3, order.join(' '))
  assert.ok(order.lastIndexOf('other') < order.indexOf('three') + 4, order.join(' '))
  assert.ok(order.lastIndexOf('other') <= 10, order.join(' '))
})

test('queues a long task behind waiting tasks when it yields its slot, and removes an aborted task from the queue', async () => {
  const clock = new ManualClock()
  const slots = new FairSlots({
    ...{ runningMax: 1, waitingMax: 2 },
    ...{ heldMs: 1_000, heldAnywayMs: 5_000 },
  })
  const run = { clock, signal: new AbortController().signal }
  const done: string[] = []
  const long = slots.run(run, async (pass) => {
    for (let piece = 1; piece <= 4; piece += 1) {
      clock.advance(3_000)
      await nextTurn()
      done.push(`long ${piece}`)
      await pass()
    }
  })
  const abort = new AbortController()
  const aborted = slots.run({ clock, signal: abort.signal }, async () => void done.push('aborted'))
  const short = slots.run(run, async () => void done.push('short'))
  assert.equal(slots.isFull(), true)
  abort.abort()
  await assert.rejects(aborted, /aborted/)
  assert.equal(slots.isFull(), false)
  await Promise.all([long, short])
  assert.deepEqual(done, ['long 1', 'long 2', 'short', 'long 3', 'long 4'])
})
