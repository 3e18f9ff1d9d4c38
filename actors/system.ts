// Actors and their mailboxes. An actor owns state and handles one message per synchronous call. An idle engine handles
// a message in the tick that received its bytes. Otherwise the message waits in a mailbox. Three limits apply:
// - number of messages per mailbox
// - weight of all waiting messages: above the limit the venues are not read
// - age: `onLate` is called on an actor whose perishable messages wait too long
//
// Some calls bypass the mailbox. They run on the same thread, between messages or while another actor handles a message.
// They change no state that an unfinished handler depends on:
//   VenueActor.note            measures the delay of an event before the event waits
//   VenueActor.requestResync   must work with a full mailbox and while the system is on hold
//   VenueActor.backFillTrades  reports a trade that a full mailbox rejected
//   VenueActor.onDelay, read   run even while no messages are handled
//   MarketActor.onLate         runs even while no messages are handled
//   VenueActor.onUpdate, Whales.onMarketRemoved   publisher watchers run in the tick of the update
//   MarketActor.tick           every five seconds per market; messages would allocate 100,000 mailboxes
//   MarketActor.checkpoint     at shutdown, when no messages are handled
//   views (price, book, …)     reads of the current state

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

/** A handler that returns a promise does not compile. */
export type ReceiveResult = undefined

export interface Actor<Message> {
  readonly name: string
  /**
   * Handles one message synchronously. If this method throws, the system restarts the actor. `waitedMs`: time that the
   * message waited in the mailbox, 0 if it was handled at once.
   */
  receive(message: Message, waitedMs: number): ReceiveResult
  restart(): void
  /** Called for a message that is lost because the mailbox is full. The actor must request the lost data again. */
  onOverflow(lost: Message): void
  /** Perishable messages have a separate queue, which is handled first. Default: no message is perishable. */
  isPerishable?(message: Message): boolean
  /** Whether a perishable message may be dropped to make room. Default: no. */
  isDroppable?(message: Message): boolean
  /** Called about ten times a second while a perishable message has waited longer than `messageAgeMsMax`. */
  onLate?(): void
  /** The limit for all waiting messages counts weights. Default: 1, the weight of a small message. */
  weightOf?(message: Message): number
}

const HOLD_MS = 5
/**
 * Behind a backlog, handlers get this multiple of the time that was spent on reading sockets, because handling a
 * message takes longer than reading it.
 */
const WORK_PER_READ = 3
const PERISHABLE_PER_RETAINED = 4

export interface ActorRef<Message, Target = Actor<Message>> {
  readonly actor: Target
  readonly isIdle: boolean
  send(message: Message): void
}

interface Runnable {
  isQueued: boolean
  run(count: number, nowMs: number): boolean
  waitedMs(nowMs: number): Waits
  notifyLate(): void
}

export interface Waits {
  readonly perishableMs: number
  readonly retainedMs: number
}

/** While the test returns true, no messages are handled. Mailboxes fill up and may overflow. */
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
  /** Monotonic time at which the last batch of messages ended. 0 if no message waits. */
  #ranAtMs = 0
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
    this.#failures = metrics.count('actor_failures_total', 'Messages whose handler threw.')
    this.#overflows = metrics.count('mailbox_overflows_total', 'Messages lost at full mailboxes.')
    this.#waits = metrics.histogramMs('mailbox_wait_ms', 'Wait of a message in a mailbox.')
    metrics.gauge('actors_waiting', 'Actors with waiting messages.', () => this.waiting)
    metrics.gauge('messages_waiting_weight', 'Weight of all waiting messages.', () => this.#weight)
  }

  get waiting(): number {
    return this.#ready.length - this.#readyHead
  }

  /**
   * Whether the venues should not be read. True from `waitingWeightMax` until the weight falls to `waitingWeightLow`.
   */
  get isFull(): boolean {
    return this.#isFull
  }

  spawn<Message, Target extends Actor<Message> = Actor<Message>>(
    actor: Target & Actor<Message>,
  ): ActorRef<Message, Target> {
    return new MailboxActorRef(actor, this)
  }

  nowMs(): number {
    return this.#clock.monotonicMs()
  }

  /** Returns false if the message must be queued, because another message waits or is being handled. */
  handleNow<Message>(actor: Actor<Message>, message: Message): boolean {
    if (this.#isRunning || this.#isScheduled || this.#mustHold()) return false
    this.#isRunning = true
    this.deliver(actor, message, 0)
    this.#isRunning = false
    if (this.#ready.length > 0) this.#run()
    return true
  }

  enqueue(runnable: Runnable, weight: number): void {
    this.#weight += weight
    if (!runnable.isQueued) {
      runnable.isQueued = true
      this.#ready.push(runnable)
    }
    if (!this.#isRunning && !this.#isScheduled) this.#run()
    if (this.#weight >= waitingWeightMax) this.#isFull = true
  }

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

  stop(): void {
    this.#isStopped = true
  }

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

  noteWait(waitedMs: number, isPerishable: boolean): void {
    if (isPerishable) this.#perishableMsMax = Math.max(this.#perishableMsMax, waitedMs)
    else this.#retainedMsMax = Math.max(this.#retainedMsMax, waitedMs)
  }

  /**
   * Calls `onLate` of every actor whose oldest perishable message has waited longer than `messageAgeMsMax`. Returns the
   * longest waits since the last call, including messages that still wait.
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
   * Time budget of the handlers, in ms. Sockets are read for up to 100 ms between two budgets. Behind a backlog
   * handlers get a larger budget, so that the backlog cannot grow without end.
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
 * A class instead of closures, because there is an instance for each of a hundred thousand markets. A message that is
 * handled at once does not touch the mailbox, which is rarely in the processor cache.
 */
class MailboxActorRef<Message, Target extends Actor<Message>>
  implements ActorRef<Message, Target>, Runnable
{
  readonly actor: Target
  readonly #system: System
  isQueued = false
  /** Allocated when a message must wait for the first time. */
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

  /** Drops the actor's droppable messages and calls its `onOverflow`. Returns false if there were none. */
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

class Mailbox<Message> {
  readonly #capacity: number
  /** `atMs`: monotonic time of arrival. */
  #queue: { readonly message: Message; readonly atMs: number }[] = []

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get count(): number {
    return this.#queue.length
  }

  get oldestAtMs(): number | null {
    return this.#queue[0]?.atMs ?? null
  }

  push(message: Message, atMs: number): boolean {
    if (this.#queue.length >= this.#capacity) return false
    this.#queue.push({ message, atMs })
    return true
  }

  shift(): Message | undefined {
    return this.#queue.shift()?.message
  }

  remove(test: (message: Message) => boolean): readonly Message[] {
    const removed = this.#queue.filter(({ message }) => test(message))
    this.#queue = this.#queue.filter(({ message }) => !test(message))
    return removed.map(({ message }) => message)
  }
}
