// Reads a shard's stream with the client's ordered consumer. Restarts the consumer at the current position if:
// - the connection was lost, or the consumer ended;
// - nothing arrives although the stream has more batches;
// - the stream lost its newest batches.

import type { Consumer, ConsumerMessages } from '@nats-io/jetstream'
import { type Clock, pause, type StopTimer } from '../clock.ts'
import type { Log } from '../process/log.ts'
import {
  type LogSubscription,
  readAheadMax,
  type ShardName,
  type ShardReader,
} from './cluster-log.ts'

interface ReaderParts {
  readonly clock: Clock
  readonly log: Log
  readonly shard: ShardName
  readonly reader: ShardReader
  readonly ends: () => Promise<{ readonly first: number; readonly last: number }>
  readonly open: (next: number) => Promise<Consumer>
}

const RETRY_MS = 250
const STALL_CHECK_MS = 5_000

export class NatsReader implements LogSubscription {
  readonly #parts: ReaderParts
  readonly #abort = new AbortController()
  readonly #stopChecks: StopTimer
  readonly #done: Promise<void>
  #next: number
  #messages: ConsumerMessages | null = null
  #checkedNext = 0
  #isChecking = false

  constructor(parts: ReaderParts, from: number) {
    this.#parts = parts
    this.#next = Math.max(from, 1)
    this.#done = this.#run()
    this.#stopChecks = parts.clock.every(STALL_CHECK_MS, () => void this.#checkStall())
  }

  /** Restarts the consumer, because messages in flight on a lost connection may never arrive. */
  restart(): void {
    this.#messages?.stop()
  }

  async stop(): Promise<void> {
    this.#abort.abort()
    this.#stopChecks()
    this.#messages?.stop()
    await this.#done
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort
    while (!signal.aborted) {
      try {
        await this.#readOn()
      } catch (error) {
        this.#parts.log.debug(
          { err: error, shard: this.#parts.shard },
          'the reader of a shard restarts',
        )
      }
      if (!signal.aborted) await pause(this.#parts.clock, RETRY_MS, signal)
    }
  }

  async #readOn(): Promise<void> {
    const { signal } = this.#abort
    const consumer = await this.#parts.open(this.#next)
    const messages = await consumer.consume({ max_messages: readAheadMax })
    this.#messages = messages
    if (signal.aborted) messages.stop()
    try {
      for await (const message of messages) {
        if (signal.aborted) break
        const { seq, data, info } = message
        if (seq < this.#next) continue
        this.#next = seq + 1
        await this.#parts.reader.onBatch({ sequence: seq, bytes: data, behind: info.pending })
      }
    } finally {
      this.#messages = null
      messages.stop()
      // The server removes an unused ordered consumer by itself. Deleting the consumer frees resources sooner.
      void consumer.delete().catch(() => undefined)
    }
  }

  /** Restarts the consumer if its position has not changed between two checks while the stream has more messages. */
  async #checkStall(): Promise<void> {
    if (this.#isChecking) return
    this.#isChecking = true
    // Read before the request: messages that arrive meanwhile may be newer than the response.
    const next = this.#next
    try {
      const { first, last } = await this.#parts.ends()
      if (last < next - 1) {
        this.#parts.log.warn({ shard: this.#parts.shard }, 'NATS has lost batches of a shard')
        this.#next = Math.max(first, 1)
        this.restart()
      } else if (last >= this.#next && this.#checkedNext === this.#next) this.restart()
      this.#checkedNext = this.#next
    } catch {
    } finally {
      this.#isChecking = false
    }
  }
}
