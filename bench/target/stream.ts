// One subscriber of a deployment: connects, subscribes, counts messages and checks sequence numbers. A market whose
// `seq` does not increase by one has lost a message. The state of one connection can be passed to the next, which
// resumes there.

import { WebSocket } from 'ws'
import { systemClock } from '../../engine/clock.ts'
import { TargetError } from '../arguments.ts'
import type { Target } from './target.ts'

const WAIT_MS_MAX = 30_000

/** The fields that are checked in any message of the stream. */
export interface StreamMessage {
  readonly type: string
  readonly id?: number
  readonly channel?: string
  readonly market_id?: string
  readonly epoch?: string
  readonly offset?: number
  readonly seq?: number
  readonly timestamp_ms?: number
  readonly received_ms?: number
  readonly code?: string
  readonly message?: string
  readonly replayed?: number
  readonly accepted?: readonly string[]
}

/** The position up to which a client has everything of a channel. */
interface Position {
  readonly epoch: string
  readonly offset: number
}

/** State of a client across its connections. */
export class Received {
  /** By channel and market. */
  readonly #seqs = new Map<string, Position>()
  readonly #positions = new Map<string, Position>()
  deliveryCount = 0
  repeatCount = 0
  /** Announced: books that had to restart from a snapshot. */
  resyncCount = 0
  /** Announced: messages that could not be recovered. */
  gapCount = 0
  /** Unannounced: protocol violations. */
  readonly holes: string[] = []

  position(channel: string): Position | null {
    return this.#positions.get(channel) ?? null
  }

  /** Whether it is a live or replayed message received for the first time. */
  take(message: StreamMessage): boolean {
    const { type, channel = '', market_id: market = '', epoch, offset, seq } = message
    const key = `${channel} ${market}`
    if (type === 'resync') {
      this.resyncCount += 1
      this.#seqs.delete(key)
    } else if (type === 'gap') this.gapCount += 1
    if (epoch === undefined || offset === undefined) return false
    if (type === 'synced' || type === 'resumed') {
      this.#positions.set(channel, { epoch, offset })
      return false
    }
    if (seq === undefined || market === '') return false
    const last = this.#seqs.get(key)
    if (type === 'snapshot') {
      this.#seqs.set(key, { epoch, offset: seq })
      return false
    }
    if (last !== undefined && last.epoch === epoch && seq <= last.offset) {
      this.repeatCount += 1
      return false
    }
    this.#look(channel, key, last, { epoch, seq })
    this.#seqs.set(key, { epoch, offset: seq })
    const position = this.#positions.get(channel)
    if (position !== undefined) this.#positions.set(channel, { epoch, offset })
    this.deliveryCount += 1
    return true
  }

  #look(
    channel: string,
    key: string,
    last: Position | undefined,
    now: { readonly epoch: string; readonly seq: number },
  ): void {
    if (last === undefined) {
      if (channel === 'orderbook') this.holes.push(`${key}: ${now.seq} before its snapshot`)
      return
    }
    const isNext = last.epoch !== now.epoch || now.seq === last.offset + 1
    if (!isNext) this.holes.push(`${key}: ${now.seq} after ${last.offset}`)
  }
}

/** One connection. */
export class TargetStream {
  readonly #socket: WebSocket
  readonly #place: string
  readonly #onMessage: (message: StreamMessage, atMs: number) => void
  readonly #waiting = new Map<number, (message: StreamMessage) => void>()
  #fail: ((error: Error) => void) | null = null
  #isOver = false
  #commandCount = 0
  #broken: TargetError | null = null

  private constructor(target: Target, onMessage: (message: StreamMessage, atMs: number) => void) {
    const { origin, apiKey } = target
    this.#place = origin
    this.#onMessage = onMessage
    const url = `${origin.replace(/^http/, 'ws')}/v1/ws?api_key=${encodeURIComponent(apiKey)}`
    this.#socket = new WebSocket(url, { perMessageDeflate: false, handshakeTimeout: WAIT_MS_MAX })
  }

  /** Rejects with TargetError if the deployment refuses the connection. */
  static async open(
    target: Target,
    onMessage: (message: StreamMessage, atMs: number) => void,
  ): Promise<TargetStream> {
    const stream = new TargetStream(target, onMessage)
    await stream.#opened()
    return stream
  }

  #opened(): Promise<void> {
    const socket = this.#socket
    return this.#within('the connection', (resolve) => {
      socket.on('open', resolve)
      socket.on('message', (bytes) => this.#take(String(bytes)))
      socket.on('unexpected-response', (_, response) => {
        const { statusCode, headers } = response
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => {
          const wait = headers['retry-after']
          const when = wait === undefined ? '' : `, come back after ${wait} s`
          const why = Buffer.concat(chunks).toString().slice(0, 200)
          this.#break(`${this.#place} refuses a stream with ${statusCode}${when}: ${why}`)
        })
      })
      socket.on('error', (error) => this.#break(`no stream at ${this.#place}: ${error.message}`))
      socket.on('close', (code, reason) =>
        this.#break(`${this.#place} closed a stream with ${code} ${String(reason)}`.trimEnd()),
      )
    })
  }

  #take(text: string): void {
    const atMs = performance.timeOrigin + systemClock.monotonicMs()
    const message: StreamMessage = JSON.parse(text)
    if (message.type === 'error') {
      return this.#break(
        `${this.#place} answers a command with ${message.code}: ${message.message}`,
      )
    }
    this.#onMessage(message, atMs)
    if (message.type !== 'synced' && message.type !== 'resumed') return
    const take = this.#waiting.get(message.id ?? -1)
    if (take === undefined) return
    this.#waiting.delete(message.id ?? -1)
    take(message)
  }

  /** Resolves with `synced` or `resumed`. */
  subscribe(command: Readonly<Record<string, unknown>>): Promise<StreamMessage> {
    this.#commandCount += 1
    const id = this.#commandCount
    return this.#within(`the answer to a subscription`, (resolve) => {
      this.#waiting.set(id, resolve)
      this.#socket.send(JSON.stringify({ action: 'subscribe', id, ...command }))
    })
  }

  /** Throws TargetError if the connection has ended unexpectedly. */
  assertOpen(): void {
    if (this.#broken !== null) throw this.#broken
  }

  #within<Value>(what: string, work: (resolve: (value: Value) => void) => void): Promise<Value> {
    return new Promise((resolve, reject) => {
      const stop = systemClock.after(WAIT_MS_MAX, () =>
        this.#break(`${this.#place}: no ${what} in ${WAIT_MS_MAX / 1_000} s`),
      )
      this.#fail = (error) => {
        stop()
        reject(error)
      }
      if (this.#broken !== null) return this.#fail(this.#broken)
      work((value) => {
        stop()
        this.#fail = null
        resolve(value)
      })
    })
  }

  #break(why: string): void {
    if (this.#isOver) return
    this.#broken = new TargetError(why)
    this.#isOver = true
    this.#fail?.(this.#broken)
    this.#socket.terminate()
  }

  /** Drops the connection without a close frame, like a network failure. */
  cut(): void {
    this.#isOver = true
    this.#socket.terminate()
  }

  close(): void {
    this.#isOver = true
    this.#socket.close(1000)
  }
}

/** This many streams, opened in small groups; on a refusal the open ones are dropped. */
export async function openStreams(
  count: number,
  open: (index: number) => Promise<TargetStream>,
): Promise<TargetStream[]> {
  const streams: TargetStream[] = []
  while (streams.length < count) {
    const wave = Array.from({ length: Math.min(WAVE, count - streams.length) }, (_, index) =>
      open(streams.length + index),
    )
    const settled = await Promise.allSettled(wave)
    for (const one of settled) if (one.status === 'fulfilled') streams.push(one.value)
    const refused = settled.find((one) => one.status === 'rejected')
    if (refused === undefined) continue
    for (const stream of streams) stream.cut()
    throw refused.reason
  }
  return streams
}

const WAVE = 50
