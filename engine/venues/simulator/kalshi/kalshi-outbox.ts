// Outgoing queue of one client of venue b's stream: answers, stream messages and the faults between them. Frames of one
// event-loop tick are sent together.

import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { Clock } from '../../../clock.ts'
import type { Faults } from '../faults.ts'
import type { MessageKind } from './messages.ts'

/** Above this backlog a new batch closes the socket, so that a slow reader does not exhaust memory. */
const BACKLOG_BYTES_MAX = 64 * 1024 * 1024
const SILENCE_MS = 20_000

/** The sending half of a connection. */
export class KalshiOutbox {
  readonly #socket: WebSocket
  /** The stream under the socket. Corking it sends the frames of one event-loop tick in one system call. */
  readonly #raw: Duplex
  readonly #faults: Faults
  readonly #clock: Clock
  readonly #uncork: () => void
  #isCorked = false
  #silencedUntilMs = Number.NEGATIVE_INFINITY
  /** A delta that is sent after the next one (the fault `reorder`). */
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

  /** Call once a second. Draws the faults per connection and second. */
  tick(): void {
    this.#releaseHeld()
    if (this.#faults.strikes('disconnect')) this.#socket.terminate()
    if (this.#faults.strikes('silence')) {
      this.#silencedUntilMs = this.#clock.monotonicMs() + SILENCE_MS
    }
  }

  /** Sends an answer to a command. It is never lost and never precedes a held delta. */
  reply(text: string): void {
    this.#releaseHeld()
    this.#write(text)
  }

  /** Sends a numbered stream message. A lost one still consumes its number, so the gap is visible. */
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
      // Checked once per batch, before it: the first snapshot of many markets does not indicate a slow reader.
      if (socket.bufferedAmount > BACKLOG_BYTES_MAX) return socket.terminate()
      this.#isCorked = true
      this.#raw.cork()
      queueMicrotask(this.#uncork)
    }
    for (const sent of this.#faults.changes.editFrame(text)) socket.send(sent)
  }
}
