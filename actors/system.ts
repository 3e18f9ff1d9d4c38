// Runs the actors: gives each message to its owner's mailbox, lets owners take turns within a time
// budget, and restarts an owner whose turn threw. On an idle engine a message is handled within
// `tell` itself, in the same turn of the event loop as its bytes; behind a backlog it waits.
// Not for: whose message it is (actors/router.ts). Upholds SYS1 to SYS5.

import type { Clock } from '../engine/clock.ts'
import { actorTurnMessagesMax, mailboxMessagesMax, systemRunMsMax } from '../engine/limits.ts'
import type { Log } from '../engine/log.ts'
import type { Count, Metrics } from '../engine/metrics.ts'
import type { Actor } from './actor.ts'
import { Mailbox } from './mailbox.ts'

/** While told to hold, the system asks again after this long. */
const holdMs = 5

/** What others hold of an actor, to tell it something. */
export interface Cell<Message> {
  /** Whether no message waits. */
  readonly isIdle: boolean
  /** Queues a message, and runs it now when nothing waits before it. */
  tell(message: Message): void
}

/** An actor with its mailbox, as the system sees it. */
interface Runnable {
  isQueued: boolean
  /** Handles at most `count` messages; true when more wait. */
  run(count: number): boolean
}

/** When told to hold, no turns run: mailboxes fill, and say so when they are full. */
export type HoldTest = () => boolean

export class System {
  readonly #clock: Clock
  readonly #log: Log
  readonly #mustHold: HoldTest
  readonly #ready: Runnable[] = []
  #readyHead = 0
  #isRunning = false
  #isScheduled = false
  #isStopped = false
  readonly #turns: Count
  readonly #failures: Count
  readonly #overflows: Count

  constructor(parts: { clock: Clock; log: Log; metrics: Metrics; mustHold: HoldTest }) {
    this.#clock = parts.clock
    this.#log = parts.log
    this.#mustHold = parts.mustHold
    this.#turns = parts.metrics.count('actor_turns_total', 'Messages handled by actors.')
    this.#failures = parts.metrics.count('actor_failures_total', 'Turns that threw.')
    this.#overflows = parts.metrics.count('mailbox_overflows_total', 'Messages a mailbox refused.')
    parts.metrics.gauge('actors_waiting', 'Actors with messages.', () => this.waiting)
  }

  /** Actors that have messages waiting. */
  get waiting(): number {
    return this.#ready.length - this.#readyHead
  }

  /** Puts an actor to work. */
  spawn<Message>(actor: Actor<Message>): Cell<Message> {
    return new Seat(actor, this)
  }

  /** A seat's mailbox took a message: its turn comes, now when nothing else waits. */
  enqueue(runnable: Runnable): void {
    if (!runnable.isQueued) {
      runnable.isQueued = true
      this.#ready.push(runnable)
    }
    if (!this.#isRunning && !this.#isScheduled) this.#run()
  }

  noteOverflow(): void {
    this.#overflows.inc()
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  /** No turn runs after this. */
  stop(): void {
    this.#isStopped = true
  }

  /** One message, one turn; a throw restarts the actor and harms nobody else. */
  takeTurn<Message>(actor: Actor<Message>, message: Message): void {
    this.#turns.inc()
    try {
      actor.receive(message)
    } catch (error) {
      this.#failures.inc()
      this.#log.error({ err: error, actor: actor.name }, 'an actor failed and is restarted')
      this.#restart(actor)
    }
  }

  #restart<Message>(actor: Actor<Message>): void {
    try {
      actor.restart()
    } catch (error) {
      this.#log.error({ err: error, actor: actor.name }, 'an actor failed to restart')
    }
  }

  #run(): void {
    this.#isScheduled = false
    if (this.#isStopped) return
    if (this.#mustHold()) return this.#runAfterHold()
    this.#isRunning = true
    const endsAtMs = this.#clock.monotonicMs() + systemRunMsMax
    while (this.#readyHead < this.#ready.length) {
      const runnable = this.#ready[this.#readyHead]
      this.#readyHead += 1
      if (runnable === undefined) continue
      if (runnable.run(actorTurnMessagesMax)) this.#ready.push(runnable)
      else runnable.isQueued = false
      if (this.waiting > 0 && this.#clock.monotonicMs() >= endsAtMs) break
    }
    if (this.waiting === 0) this.#ready.length = 0
    else if (this.#readyHead > 0) this.#ready.splice(0, this.#readyHead)
    this.#readyHead = 0
    this.#isRunning = false
    if (this.#ready.length > 0) this.#runSoon()
  }

  #runSoon(): void {
    this.#isScheduled = true
    setImmediate(() => this.#run())
  }

  #runAfterHold(): void {
    this.#isScheduled = true
    this.#clock.after(holdMs, () => this.#run())
  }
}

/** A class and not a pair of closures: there is one for each of a hundred thousand markets. */
class Seat<Message> implements Cell<Message>, Runnable {
  isQueued = false
  readonly #actor: Actor<Message>
  readonly #system: System
  readonly #mailbox = new Mailbox<Message>(mailboxMessagesMax)

  constructor(actor: Actor<Message>, system: System) {
    this.#actor = actor
    this.#system = system
  }

  get isIdle(): boolean {
    return this.#mailbox.count === 0
  }

  tell(message: Message): void {
    if (this.#system.isStopped) return
    if (this.#mailbox.push(message)) return this.#system.enqueue(this)
    this.#system.noteOverflow()
    this.#actor.onOverflow(message)
  }

  run(count: number): boolean {
    for (let handled = 0; handled < count; handled += 1) {
      const message = this.#mailbox.shift()
      if (message === undefined) return false
      this.#system.takeTurn(this.#actor, message)
    }
    return this.#mailbox.count > 0
  }
}
