// Turns, budgets, full mailboxes and failing actors.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Actor } from '../../actors/actor.ts'
import { Mailbox } from '../../actors/mailbox.ts'
import { System } from '../../actors/system.ts'
import { mailboxMessagesMax } from '../../engine/limits.ts'
import { silentLog } from '../../engine/log.ts'
import { Metrics } from '../../engine/metrics.ts'
import { ManualClock } from '../support/manual-clock.ts'

class Recorder implements Actor<number> {
  readonly name = 'recorder'
  readonly seen: number[] = []
  readonly lost: number[] = []
  restarts = 0
  onReceive: (message: number) => void = () => undefined

  receive(message: number): undefined {
    this.onReceive(message)
    this.seen.push(message)
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

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

test('[SYS1] on an idle system a message is handled within tell itself', () => {
  const actor = new Recorder()
  openSystem().system.spawn(actor).tell(7)
  assert.deepEqual(actor.seen, [7])
})

test('[SYS2] a message told during a turn is handled after it, in order, not inside it', () => {
  const actor = new Recorder()
  const cell = openSystem().system.spawn(actor)
  let depth = 0
  actor.onReceive = (message) => {
    assert.equal(depth, 0, 'turns do not nest')
    depth += 1
    if (message < 100) cell.tell(message + 1)
    depth -= 1
  }
  cell.tell(1)
  assert.deepEqual(
    actor.seen,
    Array.from({ length: 100 }, (_, index) => index + 1),
  )
})

test('[SYS3] a throw restarts the actor, and its next message is handled', () => {
  const actor = new Recorder()
  const cell = openSystem().system.spawn(actor)
  actor.onReceive = (message) => {
    if (message === 1) throw new Error('our bug')
  }
  cell.tell(1)
  cell.tell(2)
  assert.equal(actor.restarts, 1)
  assert.deepEqual(actor.seen, [2])
})

test('[SYS4] a held system fills mailboxes, tells the actor what did not fit, and goes on after', () => {
  let isHeld = true
  const { clock, system } = openSystem(() => isHeld)
  const actor = new Recorder()
  const cell = system.spawn(actor)
  for (let message = 0; message < mailboxMessagesMax + 3; message += 1) cell.tell(message)
  assert.equal(actor.seen.length, 0)
  assert.deepEqual(actor.lost, [mailboxMessagesMax, mailboxMessagesMax + 1, mailboxMessagesMax + 2])
  isHeld = false
  clock.advance(10)
  assert.equal(actor.seen.length, mailboxMessagesMax)
})

test('[SYS5] a hot actor gives the others their turn', async () => {
  let isHeld = true
  const { clock, system } = openSystem(() => isHeld)
  const order: string[] = []
  const [hot, quiet] = [new Recorder(), new Recorder()]
  hot.onReceive = () => order.push('hot')
  quiet.onReceive = () => order.push('quiet')
  const [hotCell, quietCell] = [system.spawn(hot), system.spawn(quiet)]
  for (let message = 0; message < 1_000; message += 1) hotCell.tell(message)
  quietCell.tell(1)
  isHeld = false
  clock.advance(10)
  while (quiet.seen.length === 0) await nextTurn()
  assert.ok(
    order.indexOf('quiet') <= 64,
    `the quiet actor waited for ${order.indexOf('quiet')} turns`,
  )
  while (hot.seen.length < 1_000) await nextTurn()
})

test('[MAIL1] a mailbox keeps order, refuses beyond its capacity, and holds nothing when empty', () => {
  const mailbox = new Mailbox<number>(3)
  assert.deepEqual(
    [1, 2, 3, 4].map((message) => mailbox.push(message)),
    [true, true, true, false],
  )
  assert.deepEqual([mailbox.shift(), mailbox.shift()], [1, 2])
  assert.equal(mailbox.push(5), true)
  assert.deepEqual([mailbox.shift(), mailbox.shift(), mailbox.shift()], [3, 5, undefined])
  assert.equal(mailbox.count, 0)
})
