// Command queue: ids, pacing below the server's rate limit, and pending commands.
// The server processes commands in order, so a `pong` shows which earlier commands were rate limited or lost
// their reply. Those are sent again.

import type { ClientClock, StopTimer } from './ambient.ts'
import type { Channel, Position, ReplyMessage } from './messages.ts'
import type { Key } from './subscription-keys.ts'

/** Queued and pending commands; `hasCapacity` is false at this number. */
const COMMANDS_MAX = 4096
/** Share of the server's rate limit that is used. The one-second windows of server and client are not aligned. */
const PACE = 0.8
const SECOND_MS = 1000
/** A `list` counts as this many commands, and a `snapshot` as one for each started group of this many markets. */
const HEAVY = 10
/** Times that a command is sent before the connection is cut. */
const ATTEMPTS_MAX = 5

export interface Command {
  id: number
  readonly action: 'subscribe' | 'unsubscribe' | 'snapshot' | 'list' | 'ping'
  readonly channel: Channel | null
  keys: readonly Key[]
  since: Position | null
  /** The fields other than `action` and `id`. */
  fields: Readonly<Record<string, unknown>>
  /** Messages received for a `since` command so far. */
  received: number
  /** Position of the newest of them. */
  newest: Position | null
  attempts: number
  /** Receives the final reply; null if the connection ended first or the server refused the command. */
  readonly onEnd: ((reply: ReplyMessage | null) => void) | null
}

/** How many commands the server counts it as. */
function weightOf({ action, fields }: Pick<Command, 'action' | 'fields'>): number {
  if (action === 'list') return HEAVY
  const ids = fields.market_ids
  return action === 'snapshot' && Array.isArray(ids) ? Math.ceil(ids.length / HEAVY) : 1
}

interface CommandQueueParts {
  readonly clock: ClientClock
  readonly send: (text: string) => void
  /** Called when a command was sent `ATTEMPTS_MAX` times without a final reply. */
  readonly onStuck: (reason: string) => void
}

/** Ids increase across connections, so that a late reply never matches a new command. */
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

  /** The connection accepts commands: starts to send, at a share of this rate. */
  open(commandsPerSecond: number): void {
    this.#perSecond = Math.max(1, Math.floor(commandsPerSecond * PACE))
    this.#isOpen = true
    this.#sentMs = []
    this.#pauseUntilMs = 0
    this.#pump()
  }

  /** Handles a disconnect: fails and removes all commands. */
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

  /** Sends the command again, ahead of all queued commands. */
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

  /** Handles `RATE_LIMITED`. `command` is null if the error names none. */
  slowDown(command: Command | null): void {
    this.#pauseUntilMs = this.#parts.clock.monotonicMs() + SECOND_MS * 1.1
    if (command === null) this.#needsProbe = true
    else this.resend(command)
    this.#arm()
  }

  /** Requests a `ping` that shows whether the server has processed all sent commands. */
  probe(): void {
    if (this.#open.size > 0 && this.#probe === null) this.#needsProbe = true
    this.#pump()
  }

  /** Handles a `pong`: commands that were sent before its ping and are still pending are lost. */
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
      // Assigns the id at the time of sending, so that a lower id than a pong's means sent before its ping.
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

  /** Milliseconds until the next command may be sent. */
  #nextDelayMs(): number {
    const nowMs = this.#parts.clock.monotonicMs()
    this.#sentMs = this.#sentMs.filter((sentMs) => nowMs - sentMs < SECOND_MS)
    const [next] = this.#waiting
    const excess = this.#sentMs.length + (next === undefined ? 1 : weightOf(next)) - this.#perSecond
    // The command fits once the oldest `excess` entries are a second old.
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
