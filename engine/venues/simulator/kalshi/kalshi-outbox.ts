// What one client of venue b's stream is sent, and in what order: answers, stream messages and the
// faults between them. Frames of one turn leave together.

import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { Clock } from '../../../clock.ts'
import type { Faults } from '../faults.ts'
import type { MessageKind } from './messages.ts'

/** Above this backlog a new batch closes the socket: a slow reader must not fill our memory. */
const BACKLOG_BYTES_MAX = 64 * 1024 * 1024
/** How long the fault `silence` lasts. */
const SILENCE_MS = 20_000

/** The sending half of a connection. */
export class KalshiOutbox {
  readonly #socket: WebSocket
  /** The stream under the socket: corking it turns the frames of one turn into one system call. */
  readonly #raw: Duplex
  readonly #faults: Faults
  readonly #clock: Clock
  readonly #uncork: () => void
  #isCorked = false
  #silencedUntilMs = Number.NEGATIVE_INFINITY
  /** A delta that the next one overtakes (the fault `reorder`). */
  #held: string | null = null

  constructor(parts: { socket: WebSocket; raw: Duplex; faults: Faults; clock: Clock }) {
    this.#socket = parts.socket
    this.#raw = parts.raw
    this.#faults = parts.faults
    this.#clock = parts.clock
    this.#uncork = () => {
      this.#isCorked = false
      this.#raw.uncork()
    }
  }

  /** Once a second: the faults that are drawn per connection and second. */
  tick(): void {
    this.#releaseHeld()
    if (this.#faults.strikes('disconnect')) this.#socket.terminate()
    if (this.#faults.strikes('silence')) {
      this.#silencedUntilMs = this.#clock.monotonicMs() + SILENCE_MS
    }
  }

  /** An answer to a command: never lost, and never overtaken by a held delta. */
  reply(text: string): void {
    this.#releaseHeld()
    this.#write(text)
  }

  /** A stream message, already numbered; what is lost keeps its number, so a hole is seen later. */
  stream(kind: MessageKind, text: string): void {
    if (this.#clock.monotonicMs() < this.#silencedUntilMs) return
    if (kind === 'orderbook_delta') {
      if (this.#faults.strikes('lost_delta')) return
      if (this.#held === null && this.#faults.strikes('reorder')) {
        this.#held = text
        return
      }
      this.#write(text)
      this.#releaseHeld()
    } else {
      this.#write(text)
    }
    if (this.#faults.strikes('duplicate')) this.#write(text)
  }

  #releaseHeld(): void {
    if (this.#held === null) return
    const text = this.#held
    this.#held = null
    this.#write(text)
  }

  #write(text: string) {
    const socket = this.#socket
    if (socket.readyState !== socket.OPEN) return
    if (!this.#isCorked) {
      // Looked at once a batch, before it: a first snapshot of many markets is no slow reader.
      if (socket.bufferedAmount > BACKLOG_BYTES_MAX) return socket.terminate()
      this.#isCorked = true
      this.#raw.cork()
      queueMicrotask(this.#uncork)
    }
    for (const sent of this.#faults.changes.editFrame(text)) socket.send(sent)
  }
}
