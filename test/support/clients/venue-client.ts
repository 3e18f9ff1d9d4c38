import { WebSocket } from 'ws'

interface Answer {
  readonly status: number
  readonly text: string
  readonly headers: Headers
  readonly body: unknown
}

/** Sends POST if `body` is given, otherwise GET. */
export async function request(url: string, body?: unknown): Promise<Answer> {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const response = await fetch(url, init)
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  return {
    status: response.status,
    text,
    headers: response.headers,
    body: isJson ? JSON.parse(text) : null,
  }
}

export function record(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new TypeError(`not an object: ${JSON.stringify(value)}`)
  }
  return Object.fromEntries(Object.entries(value))
}

export function records(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(value)) throw new TypeError(`not an array: ${JSON.stringify(value)}`)
  return value.map(record)
}

/** `next` returns the oldest unread frame. */
export class FrameReader {
  readonly #ws: WebSocket
  readonly #frames: string[] = []
  readonly #waiting: ((frame: string) => void)[] = []
  readonly closed: Promise<void>
  pingCount = 0

  private constructor(ws: WebSocket) {
    this.#ws = ws
    this.closed = new Promise((resolve) => ws.once('close', () => resolve()))
    ws.on('error', () => {})
    ws.on('ping', () => {
      this.pingCount += 1
    })
    ws.on('message', (data) => {
      const frame = data.toString()
      const waiting = this.#waiting.shift()
      if (waiting === undefined) this.#frames.push(frame)
      else waiting(frame)
    })
  }

  static async open(url: string, options: { autoPong?: boolean } = {}): Promise<FrameReader> {
    const ws = new WebSocket(url, options)
    const reader = new FrameReader(ws)
    await new Promise((resolve, reject) => {
      ws.once('open', resolve)
      ws.once('error', reject)
    })
    return reader
  }

  send(message: unknown): void {
    this.#ws.send(typeof message === 'string' ? message : JSON.stringify(message))
  }

  next(): Promise<string> {
    const frame = this.#frames.shift()
    if (frame !== undefined) return Promise.resolve(frame)
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  async nextJson(): Promise<unknown> {
    return JSON.parse(await this.next())
  }

  /** Returns all frames that the server sent before its answer to a PING. */
  async drain(): Promise<readonly string[]> {
    this.send('PING')
    const frames: string[] = []
    for (;;) {
      const frame = await this.next()
      if (frame === 'PONG') return frames
      frames.push(frame)
    }
  }

  close(): void {
    this.#ws.terminate()
  }
}
