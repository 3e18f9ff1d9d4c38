import { WebSocket } from 'ws'
import { systemClock } from '../../engine/clock.ts'
import { TargetError } from '../arguments.ts'
import type { StreamMessage } from '../received.ts'
import type { Target } from './target.ts'

const WAIT_MS_MAX = 30_000
const WAVE = 50

type Address = Pick<Target, 'origin' | 'apiKey'>

export class TargetStream {
  readonly #socket: WebSocket
  readonly #place: string
  readonly #onMessage: (message: StreamMessage, atMs: number) => void
  readonly #waiting = new Map<number, (message: StreamMessage) => void>()
  readonly #failed: Promise<never>
  #fail: (error: Error) => void = () => undefined
  #isOver = false
  #commandCount = 0
  #broken: TargetError | null = null

  private constructor(target: Address, onMessage: (message: StreamMessage, atMs: number) => void) {
    const { origin, apiKey } = target
    this.#place = origin
    this.#onMessage = onMessage
    const url = `${origin.replace(/^http/, 'ws')}/v1/ws?api_key=${encodeURIComponent(apiKey)}`
    this.#socket = new WebSocket(url, { perMessageDeflate: false, handshakeTimeout: WAIT_MS_MAX })
    this.#failed = new Promise((_, reject) => {
      this.#fail = reject
    })
    this.#failed.catch(() => undefined)
  }

  /** Rejects with TargetError if the deployment refuses the connection. */
  static async open(
    target: Address,
    onMessage: (message: StreamMessage, atMs: number) => void,
  ): Promise<TargetStream> {
    const stream = new TargetStream(target, onMessage)
    await stream.#opened()
    return stream
  }

  async #opened(): Promise<void> {
    const socket = this.#socket
    socket.on('message', (bytes) => this.#take(String(bytes)))
    socket.on('unexpected-response', (_, response) => {
      const { statusCode, headers } = response
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const wait = headers['retry-after']
        const when = wait === undefined ? '' : `, retry after ${wait} s`
        const why = Buffer.concat(chunks).toString().slice(0, 200)
        this.#break(`${this.#place} refuses a stream with ${statusCode}${when}: ${why}`)
      })
    })
    socket.on('error', (error) => this.#break(`no stream at ${this.#place}: ${error.message}`))
    socket.on('close', (code, reason) =>
      this.#break(`${this.#place} closed a stream with ${code} ${String(reason)}`.trimEnd()),
    )
    await this.#within('the connection', new Promise((resolve) => socket.once('open', resolve)))
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

  /** Resolves when the server has sent `synced` or `resumed`. */
  subscribe(command: Readonly<Record<string, unknown>>): Promise<StreamMessage> {
    this.#commandCount += 1
    const id = this.#commandCount
    const answer = new Promise<StreamMessage>((resolve) => this.#waiting.set(id, resolve))
    this.#socket.send(JSON.stringify({ action: 'subscribe', id, ...command }))
    return this.#within('the answer to a subscription', answer)
  }

  /** Throws TargetError if the connection has ended unexpectedly. */
  assertOpen(): void {
    if (this.#broken !== null) throw this.#broken
  }

  async #within<Value>(what: string, work: Promise<Value>): Promise<Value> {
    const stop = systemClock.after(WAIT_MS_MAX, () =>
      this.#break(`${this.#place}: no ${what} in ${WAIT_MS_MAX / 1_000} s`),
    )
    try {
      return await Promise.race([this.#failed, work])
    } finally {
      stop()
    }
  }

  #break(why: string): void {
    if (this.#isOver) return
    this.#broken = new TargetError(why)
    this.#isOver = true
    this.#fail(this.#broken)
    this.#socket.terminate()
  }

  /** Closes the connection without a close frame, like a network failure. */
  cut(): void {
    this.#isOver = true
    this.#socket.terminate()
  }

  close(): void {
    this.#isOver = true
    this.#socket.close(1000)
  }
}

/** Opens this many streams, in small groups. If the deployment refuses one, the open ones are closed. */
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
