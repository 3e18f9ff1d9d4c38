import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Actor, System } from '../../actors/system.ts'
import {
  mailboxMessagesMax,
  messageAgeMsMax,
  waitingWeightLow,
  waitingWeightMax,
} from '../../engine/limits.ts'
import { silentLog } from '../../engine/process/log.ts'
import { Metrics } from '../../engine/process/metrics.ts'
import { ManualClock } from '../support/fakes/manual-clock.ts'

class Recorder implements Actor<number> {
  readonly name = 'recorder'
  readonly seen: number[] = []
  readonly waits: number[] = []
  readonly lost: number[] = []
  restarts = 0
  lates = 0
  perishableFrom = 0
  droppableFrom = Number.POSITIVE_INFINITY
  weight = 1
  onReceive: (message: number) => void = () => undefined

  receive(message: number, waitedMs: number): undefined {
    this.onReceive(message)
    this.seen.push(message)
    this.waits.push(waitedMs)
  }

  isPerishable(message: number): boolean {
    return message >= this.perishableFrom
  }

  isDroppable(message: number): boolean {
    return message >= this.droppableFrom
  }

  onLate(): void {
    this.lates += 1
  }

  weightOf(): number {
    return this.weight
  }

  restart(): void {
    this.restarts += 1
  }

  onOverflow(lost: number): void {
    this.lost.push(lost)
  }
}

function openSystem(mustHold = () => false) {
  const clock = new ManualClock()
  const system = new System({ clock, log: silentLog, metrics: new Metrics(), mustHold })
  return { clock, system }
}

const nextTick = () => new Promise((resolve) => setImmediate(resolve))

test('handles a message inside `send` when no other message is queued', () => {
  const actor = new Recorder()
  openSystem().system.spawn(actor).send(7)
  assert.deepEqual(actor.seen, [7])
})

test('handles a message that an actor sends during a tick after that tick, in order', () => {
  const actor = new Recorder()
  const actorRef = openSystem().system.spawn(actor)
  let depth = 0
  actor.onReceive = (message) => {
    assert.equal(depth, 0, 'receive calls do not nest')
    depth += 1
    if (message < 100) actorRef.send(message + 1)
    depth -= 1
  }
  actorRef.send(1)
  assert.deepEqual(
    actor.seen,
    Array.from({ length: 100 }, (_, index) => index + 1),
  )
})

test('restarts an actor when its handler throws, and handles the next message', () => {
  const actor = new Recorder()
  const actorRef = openSystem().system.spawn(actor)
  actor.onReceive = (message) => {
    if (message === 1) throw new Error('our bug')
  }
  actorRef.send(1)
  actorRef.send(2)
  assert.equal(actor.restarts, 1)
  assert.deepEqual(actor.seen, [2])
})

test('queues messages in mailboxes while the system is on hold, reports overflow to the actor, and handles messages on release', () => {
  let isHeld = true
  const { clock, system } = openSystem(() => isHeld)
  const actor = new Recorder()
  const actorRef = system.spawn(actor)
  for (let message = 0; message < mailboxMessagesMax + 3; message += 1) actorRef.send(message)
  assert.equal(actor.seen.length, 0)
  assert.deepEqual(actor.lost, [mailboxMessagesMax, mailboxMessagesMax + 1, mailboxMessagesMax + 2])
  isHeld = false
  clock.advance(10)
  assert.equal(actor.seen.length, mailboxMessagesMax)
})

test('alternates between an actor with many messages and the other actors', async () => {
  let isHeld = true
  const { clock, system } = openSystem(() => isHeld)
  const order: string[] = []
  const [hot, quiet] = [new Recorder(), new Recorder()]
  hot.onReceive = () => order.push('hot')
  quiet.onReceive = () => order.push('quiet')
  const [hotCell, quietCell] = [system.spawn(hot), system.spawn(quiet)]
  for (let message = 0; message < 1_000; message += 1) hotCell.send(message)
  quietCell.send(1)
  isHeld = false
  clock.advance(10)
  while (quiet.seen.length === 0) await nextTick()
  assert.ok(
    order.indexOf('quiet') <= 64,
    `the quiet actor waited for ${order.indexOf('quiet')} turns`,
  )
  while (hot.seen.length < 1_000) await nextTick()
})

test('spends more time on queued messages than on reading new messages', async () => {
  let isHeld = true
  const { clock, system } = openSystem(() => isHeld)
  const actor = new Recorder()
  actor.onReceive = () => clock.advance(1)
  const actorRefs = Array.from({ length: 200 }, () => system.spawn(actor))
  for (const actorRef of actorRefs) actorRef.send(0)
  isHeld = false
  clock.advance(5)
  for (let tick = 0; tick < 50; tick += 1) {
    clock.advance(20)
    for (let published = 0; published < 20; published += 1)
      actorRefs[(tick * 20 + published) % 200]?.send(published)
    await nextTick()
  }
  assert.ok(system.waiting <= 20, `${system.waiting} owners wait`)
})

test('measures how long messages wait, and calls onLate even if no handler runs', () => {
  let isHeld = true
  const { clock, system } = openSystem(() => isHeld)
  const [late, quiet] = [new Recorder(), new Recorder()]
  const actorRef = system.spawn(late)
  system.spawn(quiet)
  actorRef.send(1)
  clock.advance(messageAgeMsMax)
  assert.deepEqual(system.sampleAges(), { perishableMs: messageAgeMsMax, retainedMs: 0 })
  assert.equal(late.lates, 0)
  actorRef.send(2)
  clock.advance(1)
  assert.equal(system.sampleAges().perishableMs, messageAgeMsMax + 1)
  assert.deepEqual([late.lates, quiet.lates, late.seen.length], [1, 0, 0])
  isHeld = false
  clock.advance(5)
  const [first = 0, second = 0] = late.waits
  assert.ok(first > messageAgeMsMax && second < 10, `${late.waits}`)
  assert.equal(system.sampleAges().perishableMs, first, 'the longest wait of the handled messages')
  assert.equal(system.sampleAges().perishableMs, 0)
  actorRef.send(3)
  assert.equal(late.waits.at(-1), 0)
})

test('stops reading from the venues when queued messages reach the limit, and resumes at half the limit', () => {
  let isHeld = true
  const { clock, system } = openSystem(() => isHeld)
  const actor = new Recorder()
  actor.weight = 1_024
  const count = waitingWeightMax / actor.weight
  const actorRef = system.spawn(actor)
  for (let message = 1; message < count; message += 1) actorRef.send(message)
  assert.equal(system.isFull, false)
  actorRef.send(count)
  actorRef.send(count + 1)
  assert.equal(system.isFull, true)
  actor.onReceive = () => {
    const left = count + 1 - actor.seen.length - 1
    assert.equal(system.isFull, left * actor.weight > waitingWeightLow)
  }
  isHeld = false
  while (actor.seen.length < count + 1) clock.advance(5)
  assert.equal(system.isFull, false)
})

test('drops droppable messages from a full mailbox to make space, and calls onOverflow', () => {
  let isHeld = true
  const { clock, system } = openSystem(() => isHeld)
  const actor = new Recorder()
  actor.droppableFrom = 10
  const actorRef = system.spawn(actor)
  for (let message = 0; message < mailboxMessagesMax; message += 1) actorRef.send(message)
  actorRef.send(5)
  assert.deepEqual(actor.lost, [10], 'onOverflow is called once')
  isHeld = false
  clock.advance(5)
  assert.deepEqual(actor.seen, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 5])
})

test('does not count the weight of messages that a full mailbox dropped', () => {
  let isHeld = true
  const { clock, system } = openSystem(() => isHeld)
  const actor = new Recorder()
  actor.droppableFrom = 1
  actor.weight = waitingWeightMax / mailboxMessagesMax
  const actorRef = system.spawn(actor)
  for (let message = 1; message <= mailboxMessagesMax; message += 1) actorRef.send(message)
  assert.equal(system.isFull, true)
  actorRef.send(mailboxMessagesMax + 1)
  assert.deepEqual([actor.lost, system.isFull], [[1], false])
  for (let message = 2; message < mailboxMessagesMax; message += 1) actorRef.send(message)
  assert.equal(system.isFull, false)
  isHeld = false
  clock.advance(5)
})

test('handles droppable messages before retained messages without delaying either kind too long', () => {
  let isHeld = true
  const { clock, system } = openSystem(() => isHeld)
  const actor = new Recorder()
  actor.perishableFrom = 100
  const actorRef = system.spawn(actor)
  for (let message = 1; message <= 8; message += 1) actorRef.send(message)
  clock.advance(2 * messageAgeMsMax)
  for (let message = 100; message < 110; message += 1) actorRef.send(message)
  assert.deepEqual(system.sampleAges(), { perishableMs: 0, retainedMs: 2 * messageAgeMsMax })
  assert.equal(actor.lates, 0)
  isHeld = false
  clock.advance(5)
  assert.deepEqual(
    actor.seen,
    [100, 101, 102, 103, 1, 104, 105, 106, 107, 2, 108, 109, 3, 4, 5, 6, 7, 8],
  )
  assert.equal(actorRef.isIdle, true)
})
