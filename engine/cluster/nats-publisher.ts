// Appends to streams, with many appends under way: one inbox and one timer for all acknowledgements, where the client's own
// `publish` makes a race of promises, a timer and two stacks for each.
// Not for: which batch comes behind which (writer.ts), or streams themselves (nats.ts). Upholds CLUSTER1, CLUSTER3.

import { createInbox, type Msg, MsgHdrsImpl, type NatsConnection } from '@nats-io/transport-node'
import type { Clock, StopTimer } from '../clock.ts'
import { isRecord } from '../json-record.ts'
import { isCount } from './batch.ts'
import { LogError } from './log.ts'

/** How often it is looked whether an acknowledgement is late. */
const LOOK_MS = 250
const NO_RESPONDERS = 503
const WRONG_LAST_SEQUENCE = 10_071
/** Of the server: no room for the message, in the stream or on the disk. */
const NO_ROOM = [10_023, 10_047, 10_077, 10_122]

interface Waiting {
  readonly dueAtMs: number
  readonly resolve: (sequence: number) => void
  readonly reject: (error: LogError) => void
}

export class NatsPublisher {
  readonly #connection: NatsConnection
  readonly #clock: Clock
  readonly #timeoutMs: number
  readonly #inbox = createInbox()
  readonly #stopTimer: StopTimer
  /** In the order in which they are due. */
  readonly #waiting = new Map<number, Waiting>()
  #count = 0

  constructor(connection: NatsConnection, clock: Clock, timeoutMs: number) {
    this.#connection = connection
    this.#clock = clock
    this.#timeoutMs = timeoutMs
    connection.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => {
        if (error === null) this.#take(message)
      },
    })
    this.#stopTimer = clock.every(LOOK_MS, () => this.#giveUp(this.#clock.monotonicMs()))
  }

  /** Resolves with the sequence; rejects with LogError, or whatever the client throws. */
  publish(
    subject: string,
    { bytes, id, after }: { bytes: Uint8Array; id: string; after: number },
  ): Promise<number> {
    return new Promise((resolve, reject) => {
      const token = this.#count
      this.#count += 1
      const headers = new BatchHeaders(id, after)
      this.#connection.publish(subject, bytes, { reply: `${this.#inbox}.${token}`, headers })
      const dueAtMs = this.#clock.monotonicMs() + this.#timeoutMs
      this.#waiting.set(token, { dueAtMs, resolve, reject })
    })
  }

  /** What is under way on a lost connection is not acknowledged any more. */
  giveUpAll(): void {
    this.#giveUp(Number.POSITIVE_INFINITY)
  }

  stop(): void {
    this.#stopTimer()
    this.giveUpAll()
  }

  #giveUp(beforeMs: number): void {
    for (const [token, { dueAtMs, reject }] of this.#waiting) {
      if (dueAtMs > beforeMs) return
      this.#waiting.delete(token)
      reject(new LogError('down', 'a batch was not acknowledged'))
    }
  }

  #take(message: Msg): void {
    const token = Number(message.subject.slice(this.#inbox.length + 1))
    const waiting = this.#waiting.get(token)
    if (waiting === undefined) return
    this.#waiting.delete(token)
    const sequence = sequenceIn(message)
    if (typeof sequence === 'number') waiting.resolve(sequence)
    else waiting.reject(sequence)
  }
}

/** Headers as their bytes at once: the client's own are spelled letter by letter, each time. */
class BatchHeaders extends MsgHdrsImpl {
  readonly #bytes: Uint8Array

  /** Neither has a line's end in it. */
  constructor(id: string, after: number) {
    super()
    const lines = ['NATS/1.0', `Nats-Msg-Id: ${id}`, `Nats-Expected-Last-Sequence: ${after}`]
    this.#bytes = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`)
  }

  override encode(): Uint8Array {
    return this.#bytes
  }
}

/** The sequence that a server acknowledged, or why it did not. */
function sequenceIn(message: Msg): number | LogError {
  if (message.headers?.code === NO_RESPONDERS) {
    return new LogError('unanswered', 'no stream takes batches of this shard')
  }
  try {
    const said: unknown = message.json()
    if (isRecord(said)) {
      const { error, seq } = said
      if (isRecord(error)) return refusalOf(error.err_code, String(error.description))
      if (isCount(seq)) return seq
    }
  } catch {
    // It is no acknowledgement.
  }
  return new LogError('down', 'an acknowledgement cannot be read')
}

/** What a refusal of JetStream means to us, by its code. */
export function refusalOf(code: unknown, message: string, cause?: unknown): LogError {
  if (code === WRONG_LAST_SEQUENCE) return new LogError('fenced', message, cause)
  const isFull = NO_ROOM.some((known) => known === code)
  return new LogError(isFull ? 'full' : 'down', message, cause)
}
