// Commands on their way: ids, pacing below the server's limit, and which are still without their end.
// A command the server refused for its rate, or whose answer is lost, is found by a `ping`, since
// commands are carried out one after another, and is sent again.

import type { ClientClock, StopTimer } from './ambient.ts'
import type { Channel, Position, ReplyMessage } from './messages.ts'
import type { Key } from './subscription-keys.ts'

/** Commands that wait or are unanswered; above it `add` refuses. */
const COMMANDS_MAX = 4096
/** Part of the server's limit that is used: its seconds and ours begin at different moments. */
const PACE = 0.8
const SECOND_MS = 1000
/** Sendings of one command before the connection is given up. */
const ATTEMPTS_MAX = 5

/** A command. */
export interface Command {
  id: number
  readonly action: 'subscribe' | 'unsubscribe' | 'snapshot' | 'list' | 'ping'
  readonly channel: Channel | null
  keys: readonly Key[]
  since: Position | null
  /** The fields besides action and id. */
  fields: Readonly<Record<string, unknown>>
  /** Messages that came for a `since` command so far. */
  received: number
  /** The newest of them. */
  newest: Position | null
  attempts: number
  /** The reply that ends it; null: the connection ended first, or it was refused. */
  readonly onEnd: ((reply: ReplyMessage | null) => void) | null
}

interface CommandQueueParts {
  readonly clock: ClientClock
  readonly send: (text: string) => void
  /** A command was sent too often in vain. */
  readonly onStuck: (reason: string) => void
}

/** The commands of a client; numbers go on over connections, so that no old reply fits a new one. */
export class CommandQueue {
  readonly #parts: CommandQueueParts
  #waiting: Command[] = []
  /** Sent and not ended, in the order of sending. */
  readonly #open = new Map<number, Command>()
  #sentMs: number[] = []
  #perSecond = 16
  #isOpen = false
  #ids = 0
  #cancelTimer: StopTimer | null = null
  #pauseUntilMs = 0
  #probe: number | null = null
  #needsProbe = false

  constructor(parts: CommandQueueParts) {
    this.#parts = parts
  }

  get hasCapacity(): boolean {
    return this.#waiting.length + this.#open.size < COMMANDS_MAX
  }

  get openCount(): number {
    return this.#open.size
  }

  /** The connection takes commands, this many a second. */
  open(commandsPerSecond: number): void {
    this.#perSecond = Math.max(1, Math.floor(commandsPerSecond * PACE))
    this.#isOpen = true
    this.#sentMs = []
    this.#pauseUntilMs = 0
    this.#pump()
  }

  /** The connection is over: commands under way fail, and are forgotten. */
  close(): void {
    this.#isOpen = false
    this.#cancelTimer?.()
    this.#cancelTimer = null
    this.#probe = null
    this.#needsProbe = false
    const failed = [...this.#open.values(), ...this.#waiting]
    this.#open.clear()
    this.#waiting = []
    for (const { onEnd } of failed) onEnd?.(null)
  }

  add(command: Omit<Command, 'id' | 'received' | 'newest' | 'attempts'>): Command {
    const added = { ...command, id: this.#newId(), received: 0, newest: null, attempts: 0 }
    this.#waiting.push(added)
    this.#pump()
    return added
  }

  /** A command that is sent and not ended. */
  find(id: unknown): Command | null {
    return (typeof id === 'number' ? this.#open.get(id) : undefined) ?? null
  }

  /** Commands that are sent and not ended. */
  all(): Iterable<Command> {
    return this.#open.values()
  }

  end(command: Command, reply: ReplyMessage | null): void {
    this.#open.delete(command.id)
    command.onEnd?.(reply)
  }

  /** Sends it once more, before all others. */
  resend(command: Command): void {
    this.#open.delete(command.id)
    if (command.attempts >= ATTEMPTS_MAX) {
      return this.#parts.onStuck(`no end of a ${command.action} after ${ATTEMPTS_MAX} sendings`)
    }
    command.id = this.#newId()
    command.received = 0
    this.#waiting.unshift(command)
    this.#pump()
  }

  /** The server refused a command for its rate: null when it does not say which. */
  slowDown(command: Command | null): void {
    this.#pauseUntilMs = this.#parts.clock.monotonicMs() + SECOND_MS * 1.1
    if (command === null) this.#needsProbe = true
    else this.resend(command)
    this.#arm()
  }

  /** Asks the server whether it has come to the end of what was sent. */
  probe(): void {
    if (this.#open.size > 0 && this.#probe === null) this.#needsProbe = true
    this.#pump()
  }

  /** A pong: everything sent before that ping, and still without its end, is lost. */
  pong(id: number): void {
    if (id !== this.#probe) return
    this.#probe = null
    const lost = [...this.#open.values()].filter((command) => command.id < id)
    for (const command of lost.reverse()) this.resend(command)
  }

  #newId(): number {
    this.#ids += 1
    return this.#ids
  }

  #pump(): void {
    if (!this.#isOpen || this.#cancelTimer !== null) return
    for (;;) {
      if (this.#waiting.length === 0 && !this.#needsProbe) return
      if (this.#waitMs() > 0) return this.#arm()
      if (this.#needsProbe && this.#waiting.length === 0) {
        this.#needsProbe = false
        this.#probe = this.#newId()
        this.#write({ action: 'ping', id: this.#probe })
        continue
      }
      const command = this.#waiting.shift()
      if (command === undefined) return
      // Numbered as they leave, so that a pong's number says what was sent before it.
      command.id = this.#newId()
      command.attempts += 1
      this.#open.set(command.id, command)
      this.#write({ action: command.action, id: command.id, ...command.fields })
      if (!this.#isOpen) return
    }
  }

  #write(fields: Readonly<Record<string, unknown>>): void {
    this.#sentMs.push(this.#parts.clock.monotonicMs())
    this.#parts.send(JSON.stringify(fields))
  }

  /** Milliseconds until a command may leave. */
  #waitMs(): number {
    const nowMs = this.#parts.clock.monotonicMs()
    this.#sentMs = this.#sentMs.filter((sentMs) => nowMs - sentMs < SECOND_MS)
    const first = this.#sentMs[0]
    const isFull = first !== undefined && this.#sentMs.length >= this.#perSecond
    return Math.max(isFull ? first + SECOND_MS - nowMs : 0, this.#pauseUntilMs - nowMs)
  }

  #arm(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = this.#parts.clock.after(Math.max(1, this.#waitMs()), () => {
      this.#cancelTimer = null
      this.#pump()
    })
  }
}
