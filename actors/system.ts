// The actors and their mailboxes. An actor owns state and takes one message in one synchronous turn. The system puts
// each message into its owner's mailbox, gives owners turns within a time budget, and restarts an owner whose turn
// threw. On an idle engine a message is handled within `tell` itself, in the same turn of the event loop as its bytes;
// behind a backlog it waits. Waiting messages are bounded by count in each mailbox, by weight over all mailboxes (above
// the bound the venues are not read), and by age: `onLate` calls an owner whose perishable messages wait too long.
//
// Calls that go past a mailbox. All run on the one thread, between turns or within the turn of another actor, and change
// nothing that a turn holds half changed:
//   VenueActor.note            measures how late an event came: before it waits, or it would measure the wait as well
//   VenueActor.requestResync   a market asks for a snapshot, also at a full mailbox or while turns are held, when no message would come
//   VenueActor.backFillTrades  a market lost a trade at its full mailbox: a message for it could be lost in the same way
//   VenueActor.lookAtDelay, read, MarketActor.onLate   the delay watch must have its answer while no turn runs
//   VenueActor.onUpdate, Whales.onForget               a watcher of the publisher acts within the turn of the update
//   MarketActor.tick           a checkpoint every five seconds of each of 100,000 markets: as messages they would wake every mailbox
//   MarketActor.checkpoint     at the end, when no turn runs any more
//   views (price, book, trades, …)                     looks; they answer as of this moment

import type { Clock } from '../engine/clock.ts'
import {
  actorSliceMessagesMax,
  mailboxMessagesMax,
  messageAgeMsMax,
  systemRunMsLateMax,
  systemRunMsMax,
  waitingWeightLow,
  waitingWeightMax,
} from '../engine/limits.ts'
import type { Log } from '../engine/process/log.ts'
import type { Count, Durations, Metrics } from '../engine/process/metrics.ts'

/** The only thing a turn may return; a promise is a type error, so nothing is awaited in one. */
export type ReceiveResult = undefined

/** An owner of changing state. */
export interface Actor<Message> {
  /** For logs: the noun and its id. */
  readonly name: string
  /**
   * Handles one message, synchronously. A throw is our bug: the system restarts the actor.
   * `waitedMs`: how long the message waited in the mailbox, 0 when it was handled at once.
   */
  receive(message: Message, waitedMs: number): ReceiveResult
  /** Comes back with clean state after a throw, and asks for what it needs. */
  restart(): void
  /**
   * The mailbox was full and this message is lost: the actor resynchronises, or has the message brought back.
   */
  onOverflow(lost: Message): void
  /**
   * Whether a message is soon worth nothing. Perishable messages wait in a queue of their own, ahead of the kept ones.
   * Absent: all are kept.
   */
  isPerishable?(message: Message): boolean
  /** Whether a perishable message may be dropped to make room; absent: none may. */
  isDroppable?(message: Message): boolean
  /** A perishable message waits for longer than `messageAgeMsMax`. Called about ten times a second while one does. */
  onLate?(): void
  /** What a message weighs in the bound of all that wait, 1 being a small one; absent: 1. */
  weightOf?(message: Message): number
}

/** While `mustHold` is true, the system asks again after this long. */
const HOLD_MS = 5
/** Behind a backlog turns get so many times as long as reading took: a turn takes that much longer than the reading of
 * its message (bench `ingest`). */
const WORK_PER_READ = 3
/** For each kept message so many perishable ones have their turns. */
const PERISHABLE_PER_RETAINED = 4

/** An actor, and the handle through which messages are sent to it. */
export interface ActorRef<Message, Target = Actor<Message>> {
  readonly actor: Target
  /** Whether no message waits. */
  readonly isIdle: boolean
  /** Queues a message, and runs it now when nothing waits before it. */
  send(message: Message): void
}

/** An actor with its mailbox, as the system sees it. */
interface Runnable {
  isQueued: boolean
  /** Handles at most `count` messages; true when more wait. */
  run(count: number, nowMs: number): boolean
  /** How long its oldest message of each kind has waited by now. */
  waitedMs(nowMs: number): Waits
  /** Calls the actor's `onLate`. */
  notifyLate(): void
}

/** The longest waits, in milliseconds: of perishable messages, and of kept ones. */
export interface Waits {
  readonly perishableMs: number
  readonly retainedMs: number
}

/** True: no turns run. Mailboxes fill meanwhile, and overflow when they are full. */
type HoldTest = () => boolean

interface SystemParts {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly mustHold: HoldTest
}

export class System {
  readonly #clock: Clock
  readonly #log: Log
  readonly #mustHold: HoldTest
  readonly #ready: Runnable[] = []
  #readyHead = 0
  #isRunning = false
  #isScheduled = false
  #isStopped = false
  #isFull = false
  #weight = 0
  /** When the last turns ended. */
  #ranAtMs = 0
  /** The longest that messages waited for their turns since the last `lookAtAges`. */
  #perishableMsMax = 0
  #retainedMsMax = 0
  readonly #handled: Count
  readonly #failures: Count
  readonly #overflows: Count
  readonly #waits: Durations

  constructor({ clock, log, metrics, mustHold }: SystemParts) {
    this.#clock = clock
    this.#log = log
    this.#mustHold = mustHold
    this.#handled = metrics.count('actor_turns_total', 'Messages handled by actors.')
    this.#failures = metrics.count('actor_failures_total', 'Turns that threw.')
    this.#overflows = metrics.count('mailbox_overflows_total', 'Messages lost at full mailboxes.')
    this.#waits = metrics.histogramMs('mailbox_wait_ms', 'From tell to the turn.')
    metrics.gauge('actors_waiting', 'Actors with messages.', () => this.waiting)
    metrics.gauge('messages_waiting_weight', 'What all waiting messages weigh.', () => this.#weight)
  }

  /** Actors that have messages waiting. */
  get waiting(): number {
    return this.#ready.length - this.#readyHead
  }

  /** Whether so much waits that the venues should not be read: from the bound on, until half of it is done. */
  get isFull(): boolean {
    return this.#isFull
  }

  /** Puts an actor to work. */
  spawn<Message, Target extends Actor<Message> = Actor<Message>>(
    actor: Target & Actor<Message>,
  ): ActorRef<Message, Target> {
    return new MailboxActorRef(actor, this)
  }

  nowMs(): number {
    return this.#clock.monotonicMs()
  }

  /** Handles a message at once when nothing waits; false: it must wait. */
  handleNow<Message>(actor: Actor<Message>, message: Message): boolean {
    if (this.#isRunning || this.#isScheduled || this.#mustHold()) return false
    this.#isRunning = true
    this.deliver(actor, message, 0)
    this.#isRunning = false
    if (this.#ready.length > 0) this.#run()
    return true
  }

  /** A mailbox took a message of this weight: plans its turn. */
  enqueue(runnable: Runnable, weight: number): void {
    this.#weight += weight
    if (!runnable.isQueued) {
      runnable.isQueued = true
      this.#ready.push(runnable)
    }
    if (!this.#isRunning && !this.#isScheduled) this.#run()
    if (this.#weight >= waitingWeightMax) this.#isFull = true
  }

  /** A message of this weight waits no more. */
  unload(weight: number): void {
    this.#weight -= weight
    if (this.#weight <= waitingWeightLow) this.#isFull = false
  }

  noteOverflow(count: number): void {
    this.#overflows.inc(count)
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  /** No turn runs after this. */
  stop(): void {
    this.#isStopped = true
  }

  /** One message, one turn; a throw restarts the actor and harms no other. */
  deliver<Message>(actor: Actor<Message>, message: Message, waitedMs: number): void {
    this.#handled.inc()
    this.#waits.observe(waitedMs)
    try {
      actor.receive(message, waitedMs)
    } catch (error) {
      this.#failures.inc()
      this.#log.error({ err: error, actor: actor.name }, 'an actor failed and is restarted')
      this.#restart(actor)
    }
  }

  /** A message that had to wait has its turn now. */
  noteWait(waitedMs: number, isPerishable: boolean): void {
    if (isPerishable) this.#perishableMsMax = Math.max(this.#perishableMsMax, waitedMs)
    else this.#retainedMsMax = Math.max(this.#retainedMsMax, waitedMs)
  }

  /**
   * Calls `onLate` of every actor whose oldest perishable message has waited for longer than `messageAgeMsMax`. Returns
   * the longest waits since the last call, of handled messages and of waiting ones. Goes over all actors that wait.
   */
  sampleAges(): Waits {
    const nowMs = this.#clock.monotonicMs()
    let perishableMs = this.#perishableMsMax
    let retainedMs = this.#retainedMsMax
    this.#perishableMsMax = 0
    this.#retainedMsMax = 0
    for (let index = this.#readyHead; index < this.#ready.length; index += 1) {
      const runnable = this.#ready[index]
      if (runnable === undefined) continue
      const own = runnable.waitedMs(nowMs)
      if (own.perishableMs > messageAgeMsMax) runnable.notifyLate()
      perishableMs = Math.max(perishableMs, own.perishableMs)
      retainedMs = Math.max(retainedMs, own.retainedMs)
    }
    return { perishableMs, retainedMs }
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
    let nowMs = this.#clock.monotonicMs()
    const endsAtMs = nowMs + this.#budgetMs(nowMs)
    while (this.#readyHead < this.#ready.length) {
      const runnable = this.#ready[this.#readyHead]
      this.#readyHead += 1
      if (runnable === undefined) continue
      if (runnable.run(actorSliceMessagesMax, nowMs)) this.#ready.push(runnable)
      else runnable.isQueued = false
      if (this.waiting === 0) break
      nowMs = this.#clock.monotonicMs()
      if (nowMs >= endsAtMs) break
    }
    if (this.waiting === 0) this.#ready.length = 0
    else if (this.#readyHead > 0) this.#ready.splice(0, this.#readyHead)
    this.#readyHead = 0
    this.#isRunning = false
    if (this.#ready.length === 0) return
    this.#ranAtMs = this.#clock.monotonicMs()
    this.#runSoon()
  }

  /**
   * How long turns may take now. A backlog grows without end when sockets are read for 100 ms between
   * turns of 2 ms: behind one, turns take the greater part of the time, up to a bound.
   */
  #budgetMs(nowMs: number): number {
    const isBehind = this.#ranAtMs > 0
    const readMs = nowMs - this.#ranAtMs
    this.#ranAtMs = 0
    if (!isBehind) return systemRunMsMax
    return Math.min(Math.max(WORK_PER_READ * readMs, systemRunMsMax), systemRunMsLateMax)
  }

  #runSoon(): void {
    this.#isScheduled = true
    setImmediate(() => this.#run())
  }

  #runAfterHold(): void {
    this.#isScheduled = true
    this.#clock.after(HOLD_MS, () => this.#run())
  }
}

/**
 * A class and not a pair of closures: there is one for each of a hundred thousand markets. A message that is handled at
 * once touches no mailbox, which is memory that no cache holds.
 */
class MailboxActorRef<Message, Target extends Actor<Message>>
  implements ActorRef<Message, Target>, Runnable
{
  readonly actor: Target
  readonly #system: System
  isQueued = false
  /** Each made when the first message of its kind must wait. */
  #retained: Mailbox<Message> | null = null
  #perishable: Mailbox<Message> | null = null

  constructor(actor: Target, system: System) {
    this.actor = actor
    this.#system = system
  }

  get isIdle(): boolean {
    return (this.#retained?.count ?? 0) === 0 && (this.#perishable?.count ?? 0) === 0
  }

  send(message: Message): void {
    const { actor } = this
    const system = this.#system
    if (system.isStopped || system.handleNow(actor, message)) return
    const nowMs = system.nowMs()
    const mailbox = this.#mailboxOf(message)
    const isTaken =
      mailbox.push(message, nowMs) || (this.#dropDroppable(mailbox) && mailbox.push(message, nowMs))
    if (isTaken) return system.enqueue(this, this.#weightOf(message))
    system.noteOverflow(1)
    actor.onOverflow(message)
  }

  #mailboxOf(message: Message): Mailbox<Message> {
    if (this.actor.isPerishable?.(message) !== true) {
      this.#retained ??= new Mailbox<Message>(mailboxMessagesMax)
      return this.#retained
    }
    this.#perishable ??= new Mailbox<Message>(mailboxMessagesMax)
    return this.#perishable
  }

  /** Drops the actor's droppable messages and calls its `onOverflow`; false when there were none. */
  #dropDroppable(mailbox: Mailbox<Message>): boolean {
    const dropped = mailbox.remove((message) => this.actor.isDroppable?.(message) === true)
    const [first] = dropped
    if (first === undefined) return false
    this.#system.noteOverflow(dropped.length)
    for (const message of dropped) this.#system.unload(this.#weightOf(message))
    this.actor.onOverflow(first)
    return true
  }

  #weightOf(message: Message): number {
    return this.actor.weightOf?.(message) ?? 1
  }

  run(count: number, nowMs: number): boolean {
    for (let handled = 0; handled < count; handled += 1) {
      const isRetainedDue = handled % (PERISHABLE_PER_RETAINED + 1) === PERISHABLE_PER_RETAINED
      const perishable = this.#perishable
      const hasPerishable = perishable !== null && perishable.count > 0
      const isPerishable = hasPerishable && !(isRetainedDue && (this.#retained?.count ?? 0) > 0)
      const mailbox = isPerishable ? perishable : this.#retained
      const waitedMs = Math.max(0, nowMs - (mailbox?.oldestAtMs ?? nowMs))
      const message = mailbox?.shift()
      if (message === undefined) return false
      this.#system.unload(this.#weightOf(message))
      this.#system.noteWait(waitedMs, isPerishable)
      this.#system.deliver(this.actor, message, waitedMs)
    }
    return !this.isIdle
  }

  waitedMs(nowMs: number): Waits {
    const ageMs = (mailbox: Mailbox<Message> | null) =>
      Math.max(0, nowMs - (mailbox?.oldestAtMs ?? nowMs))
    return { perishableMs: ageMs(this.#perishable), retainedMs: ageMs(this.#retained) }
  }

  notifyLate(): void {
    this.actor.onLate?.()
  }
}

/** Handled messages at the front of the queue are cut off once they are so many. */
const CUT_COUNT = 1_024

/**
 * A first-in-first-out queue of at most `capacity` messages, each with the time at which it came. An idle mailbox
 * allocates nothing, so that forty thousand of them cost little.
 */
export class Mailbox<Message> {
  readonly #capacity: number
  #queue: Message[] | null = null
  /** When each message of the queue came, in milliseconds of the monotonic clock. */
  #times: number[] = []
  #head = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get count(): number {
    return this.#queue === null ? 0 : this.#queue.length - this.#head
  }

  /** When the oldest message came; null when empty. */
  get oldestAtMs(): number | null {
    return this.#queue === null ? null : (this.#times[this.#head] ?? null)
  }

  /** False when full: the message was not taken. */
  push(message: Message, nowMs: number): boolean {
    if (this.#queue === null) {
      this.#queue = [message]
      this.#times = [nowMs]
      this.#head = 0
      return true
    }
    if (this.count >= this.#capacity) return false
    this.#queue.push(message)
    this.#times.push(nowMs)
    return true
  }

  /** The oldest message, or undefined when empty. */
  shift(): Message | undefined {
    if (this.#queue === null) return undefined
    const message = this.#queue[this.#head]
    this.#head += 1
    if (this.#head >= this.#queue.length) {
      this.#queue = null
      this.#times = []
    } else if (this.#head >= CUT_COUNT) {
      this.#queue = this.#queue.slice(this.#head)
      this.#times = this.#times.slice(this.#head)
      this.#head = 0
    }
    return message
  }

  /** Removes all messages that pass the test, and returns them; the others keep their order. */
  remove(test: (message: Message) => boolean): readonly Message[] {
    const removed: Message[] = []
    const [queue, times, head] = [this.#queue ?? [], this.#times, this.#head]
    this.#queue = null
    for (let index = head; index < queue.length; index += 1) {
      const message = queue[index]
      if (message === undefined) continue
      if (test(message)) removed.push(message)
      else this.push(message, times[index] ?? 0)
    }
    return removed
  }
}
