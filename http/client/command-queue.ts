// Sends commands below the server's rate limit and tracks pending ones. The server processes commands in order: when a
// `pong` arrives, earlier commands without a reply are lost and are sent again.

import type { ClientClock, StopTimer } from './ambient.ts'
import type { Channel, Position, ReplyMessage } from './messages.ts'
import type { Key } from './subscription-keys.ts'

const COMMANDS_MAX = 4096
/** Fraction of the server's rate limit to use, because the one-second windows of server and client are not aligned. */
const PACE = 0.8
const SECOND_MS = 1000
/**
 * In the server's rate limit, a `list` counts as this many commands. A `snapshot` counts as one command per group of
 * this many markets.
 */
const HEAVY = 10
/** After this many attempts at a command, the client closes the connection. */
const ATTEMPTS_MAX = 5

export interface Command {
  id: number
  readonly action: 'subscribe' | 'unsubscribe' | 'snapshot' | 'list' | 'ping'
  readonly channel: Channel | null
  keys: readonly Key[]
  since: Position | null
  fields: Readonly<Record<string, unknown>>
  /** Only for a `since` command: number of messages received so far. */
  received: number
  /** Only for a `since` command: position of the newest message received. */
  newest: Position | null
  attempts: number
  readonly onEnd: ((reply: ReplyMessage | null) => void) | null
}

function weightOf({ action, fields }: Pick<Command, 'action' | 'fields'>): number {
  if (action === 'list') return HEAVY
  const ids = fields.market_ids
  return action === 'snapshot' && Array.isArray(ids) ? Math.ceil(ids.length / HEAVY) : 1
}

interface CommandQueueParts {
  readonly clock: ClientClock
  readonly send: (text: string) => void
  /** Called if a command got no final reply after `ATTEMPTS_MAX` attempts. */
  readonly onStuck: (reason: string) => void
}

/** Ids keep increasing across connections, so that a late reply never matches a newer command. */
export class CommandQueue {
  readonly #parts: CommandQueueParts
  #waiting: Command[] = []
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

  /** Starts to send commands on a new connection, at a fraction of `commandsPerSecond`. */
  open(commandsPerSecond: number): void {
    this.#perSecond = Math.max(1, Math.floor(commandsPerSecond * PACE))
    this.#isOpen = true
    this.#sentMs = []
    this.#pauseUntilMs = 0
    this.#pump()
  }

  /** Fails and removes all commands after a disconnect. */
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

  find(id: unknown): Command | null {
    return (typeof id === 'number' ? this.#open.get(id) : undefined) ?? null
  }

  end(command: Command, reply: ReplyMessage | null): void {
    this.#open.delete(command.id)
    command.onEnd?.(reply)
  }

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

  /** Handles `RATE_LIMITED`. `command` is null if the error has no id. */
  slowDown(command: Command | null): void {
    this.#pauseUntilMs = this.#parts.clock.monotonicMs() + SECOND_MS * 1.1
    if (command === null) this.#needsProbe = true
    else this.resend(command)
    this.#arm()
  }

  probe(): void {
    if (this.#open.size > 0 && this.#probe === null) this.#needsProbe = true
    this.#pump()
  }

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
      if (this.#nextDelayMs() > 0) return this.#arm()
      if (this.#needsProbe && this.#waiting.length === 0) {
        this.#needsProbe = false
        this.#probe = this.#newId()
        this.#write({ action: 'ping', id: this.#probe }, 1)
        continue
      }
      const command = this.#waiting.shift()
      if (command === undefined) return
      // Ids are assigned when sending, so that ids lower than a pong's id belong to commands sent before its ping.
      command.id = this.#newId()
      command.attempts += 1
      this.#open.set(command.id, command)
      this.#write({ action: command.action, id: command.id, ...command.fields }, weightOf(command))
      if (!this.#isOpen) return
    }
  }

  #write(fields: Readonly<Record<string, unknown>>, weight: number): void {
    const nowMs = this.#parts.clock.monotonicMs()
    for (let count = 0; count < weight; count += 1) this.#sentMs.push(nowMs)
    this.#parts.send(JSON.stringify(fields))
  }

  #nextDelayMs(): number {
    const nowMs = this.#parts.clock.monotonicMs()
    this.#sentMs = this.#sentMs.filter((sentMs) => nowMs - sentMs < SECOND_MS)
    const [next] = this.#waiting
    const excess = this.#sentMs.length + (next === undefined ? 1 : weightOf(next)) - this.#perSecond
    // The next command may be sent one second after the oldest `excess` commands.
    const blocking = this.#sentMs.slice(0, Math.max(0, excess)).at(-1)
    const freeAtMs = blocking === undefined ? nowMs : blocking + SECOND_MS
    return Math.max(freeAtMs, this.#pauseUntilMs) - nowMs
  }

  #arm(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = this.#parts.clock.after(Math.max(1, this.#nextDelayMs()), () => {
      this.#cancelTimer = null
      this.#pump()
    })
  }
}
