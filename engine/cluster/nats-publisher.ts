// Appends to streams with many pending appends. One inbox and one timer serve all acknowledgements, because the
// client's `publish` allocates several objects per message. A batch requests an acknowledgement only every few
// milliseconds. Each batch states its required predecessor, so an acknowledgement confirms all earlier batches.

import { type Msg, MsgHdrsImpl } from '@nats-io/transport-node'
import type { Clock, StopTimer } from '../clock.ts'
import { isCount } from '../codec.ts'
import { isRecord } from '../json-record.ts'
import { type Append, LogError } from './cluster-log.ts'

/** Minimum interval of acknowledgement requests of a subject. A request costs the engine about as much as a batch. */
export const ackEveryMs = 5
const TIMEOUT_CHECK_MS = 250
const NO_RESPONDERS = 503
/** JetStream error codes: another batch is the last one, or another sequence. */
const WRONG_LAST = [10_070, 10_071]
/** JetStream error codes: no space for the message, in the stream or on the disk. */
const STORAGE_FULL = [10_023, 10_047, 10_077, 10_122]

interface Sent extends Append {
  /** If false, the acknowledgement of a later batch confirms this batch. */
  readonly isAckRequested: boolean
}

interface Waiting extends Sent {
  isAckRequested: boolean
  readonly dueAtMs: number
  readonly resolve: (sequence: number) => void
  readonly reject: (error: LogError) => void
}

interface SubjectState {
  readonly subject: string
  readonly waiting: Map<number, Waiting>
  newest: number
  ackRequestedAtMs: number
  isCheckScheduled: boolean
}

type Acknowledgement = Pick<Msg, 'subject' | 'headers' | 'json'>

export interface Connection {
  publish(
    subject: string,
    bytes: Uint8Array,
    options: { readonly reply?: string; readonly headers: MsgHdrsImpl },
  ): void
  subscribe(
    subject: string,
    options: { readonly callback: (error: Error | null, message: Acknowledgement) => void },
  ): unknown
}

export class NatsPublisher {
  readonly #connection: Connection
  readonly #clock: Clock
  readonly #timeoutMs: number
  readonly #inbox: string
  readonly #stopTimer: StopTimer
  readonly #subjects = new Map<string, SubjectState>()
  /** Keyed by the last token of the reply subject. */
  readonly #ackRequests = new Map<
    number,
    { readonly state: SubjectState; readonly number: number }
  >()
  readonly #headers = new AppendHeaders()
  #count = 0

  /** `inbox`: a subject for acknowledgements that only this process uses. */
  constructor(connection: Connection, clock: Clock, timeoutMs: number, inbox: string) {
    this.#inbox = inbox
    this.#connection = connection
    this.#clock = clock
    this.#timeoutMs = timeoutMs
    connection.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => {
        if (error === null) this.#take(message)
      },
    })
    this.#stopTimer = clock.every(TIMEOUT_CHECK_MS, () => this.#giveUp(this.#clock.monotonicMs()))
  }

  /** Resolves with the sequence. Rejects with LogError, or with the client's error. */
  publish(subject: string, append: Append): Promise<number> {
    return new Promise((resolve, reject) => {
      const { bytes, id, after, isAckedSeparately } = append
      const state = this.#stateOf(subject)
      // The new batch does not directly follow the previous batch, so its acknowledgement cannot confirm the previous
      // batch.
      if (state.waiting.get(state.newest)?.after !== after - 1) this.#requestAck(state)
      const nowMs = this.#clock.monotonicMs()
      const isAckRequested =
        isAckedSeparately === true || nowMs - state.ackRequestedAtMs >= ackEveryMs
      const number = state.newest + 1
      this.#send(state, number, { bytes, id, after, isAckRequested })
      state.newest = number
      const dueAtMs = nowMs + this.#timeoutMs
      state.waiting.set(number, { bytes, id, after, dueAtMs, isAckRequested, resolve, reject })
      if (!isAckRequested) this.#scheduleCheck(state)
    })
  }

  /** Rejects all pending batches: a lost connection delivers no more acknowledgements. */
  giveUpAll(): void {
    this.#giveUp(Number.POSITIVE_INFINITY)
  }

  stop(): void {
    this.#stopTimer()
    this.giveUpAll()
  }

  #stateOf(subject: string): SubjectState {
    let state = this.#subjects.get(subject)
    if (state === undefined) {
      const ackRequestedAtMs = Number.NEGATIVE_INFINITY
      state = { subject, waiting: new Map(), newest: 0, ackRequestedAtMs, isCheckScheduled: false }
      this.#subjects.set(subject, state)
    }
    return state
  }

  /** `number` is the batch's number within the subject. */
  #send(state: SubjectState, number: number, { bytes, id, after, isAckRequested }: Sent): void {
    const before = state.waiting.get(number - 1)
    // The acknowledgement also confirms the previous batch if that batch requested none.
    const behind = before === undefined || before.isAckRequested ? null : before.id
    const headers = this.#headers.of(id, after, behind)
    if (!isAckRequested) return this.#connection.publish(state.subject, bytes, { headers })
    const token = this.#count
    this.#count += 1
    this.#connection.publish(state.subject, bytes, { reply: `${this.#inbox}.${token}`, headers })
    this.#ackRequests.set(token, { state, number })
    state.ackRequestedAtMs = this.#clock.monotonicMs()
  }

  /** Schedules a check that requests an acknowledgement if no later batch has requested one. */
  #scheduleCheck(state: SubjectState): void {
    if (state.isCheckScheduled) return
    state.isCheckScheduled = true
    this.#clock.after(ackEveryMs, () => {
      state.isCheckScheduled = false
      if (state.waiting.get(state.newest)?.isAckRequested !== false) return
      if (this.#clock.monotonicMs() - state.ackRequestedAtMs >= ackEveryMs) this.#requestAck(state)
      else this.#scheduleCheck(state)
    })
  }

  /** Sends the newest batch again with an acknowledgement request. The log detects the duplicate by its id. */
  #requestAck(state: SubjectState): void {
    const newest = state.waiting.get(state.newest)
    if (newest === undefined || newest.isAckRequested) return
    newest.isAckRequested = true
    try {
      this.#send(state, state.newest, newest)
    } catch {
      // The connection was closed. Pending batches are rejected.
    }
  }

  #giveUp(beforeMs: number): void {
    for (const state of this.#subjects.values()) {
      for (const [number, { dueAtMs, reject }] of state.waiting) {
        if (dueAtMs > beforeMs) break
        state.waiting.delete(number)
        reject(new LogError('down', 'a batch was not acknowledged'))
      }
    }
    for (const [token, { state, number }] of this.#ackRequests) {
      if (!state.waiting.has(number)) this.#ackRequests.delete(token)
    }
  }

  #take(message: Acknowledgement): void {
    const token = Number(message.subject.slice(this.#inbox.length + 1))
    const ackRequest = this.#ackRequests.get(token)
    if (ackRequest === undefined) return
    this.#ackRequests.delete(token)
    const { state, number } = ackRequest
    const sequence = sequenceIn(message)
    if (typeof sequence === 'number') this.#settle(state, number, sequence)
    else this.#refuse(state, number, sequence)
  }

  /** Confirms a batch and the preceding batches that requested no acknowledgement. */
  #settle(state: SubjectState, number: number, sequence: number): void {
    const acked = state.waiting.get(number)
    if (acked === undefined) return
    state.waiting.delete(number)
    acked.resolve(sequence)
    for (let each = number - 1; ; each -= 1) {
      const waiting = state.waiting.get(each)
      if (waiting === undefined || waiting.isAckRequested) return
      state.waiting.delete(each)
      if (sequence === acked.after + 1) waiting.resolve(waiting.after + 1)
      else waiting.reject(new LogError('down', 'the log has the batch at another sequence'))
    }
  }

  /**
   * Rejects a batch and the preceding batches that requested no acknowledgement. Whether the log has the preceding
   * batches is unknown.
   */
  #refuse(state: SubjectState, number: number, why: LogError): void {
    for (let each = number; ; each -= 1) {
      const waiting = state.waiting.get(each)
      if (waiting === undefined || (waiting.isAckRequested && each !== number)) return
      state.waiting.delete(each)
      waiting.reject(why)
    }
  }
}

/** Encodes the headers in one step, which is faster than the client's encoding of each character. */
class AppendHeaders extends MsgHdrsImpl {
  #bytes = new Uint8Array()

  /** Sets the headers of one message. `behind`: the id of the preceding message. No argument may contain a line break. */
  of(id: string, after: number, behind: string | null): this {
    const last = `Nats-Expected-Last-Sequence: ${after}\r\n`
    const follows = behind === null ? '' : `Nats-Expected-Last-Msg-Id: ${behind}\r\n`
    this.#bytes = Buffer.from(`NATS/1.0\r\nNats-Msg-Id: ${id}\r\n${last}${follows}\r\n`)
    return this
  }

  override encode(): Uint8Array {
    return this.#bytes
  }
}

function sequenceIn(message: Acknowledgement): number | LogError {
  if (message.headers?.code === NO_RESPONDERS) {
    return new LogError('unanswered', 'no stream accepts batches of this shard')
  }
  try {
    const ack: unknown = message.json()
    if (isRecord(ack)) {
      const { error, seq } = ack
      if (isRecord(error)) return refusalOf(error.err_code, String(error.description))
      if (isCount(seq)) return seq
    }
  } catch {
    // A payload that is not JSON is no acknowledgement.
  }
  return new LogError('down', 'an acknowledgement cannot be read')
}

export function refusalOf(code: unknown, message: string, cause?: unknown): LogError {
  if (WRONG_LAST.some((candidate) => candidate === code))
    return new LogError('fenced', message, cause)
  const isFull = STORAGE_FULL.some((candidate) => candidate === code)
  return new LogError(isFull ? 'full' : 'down', message, cause)
}
