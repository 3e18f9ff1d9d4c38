// HTTP/1.1 on a bare socket, because a test may send invalid bytes. Sends one request at a time and reconnects when the
// peer closes the connection.

import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'

export interface RawAnswer {
  readonly status: number
  /** Status line and headers, unchanged. */
  readonly head: string
  /** Names are lower case. A repeated header has its last value. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

/** `target` is sent unchanged. */
interface RawRequest {
  readonly method: string
  readonly target: string
  readonly headers?: readonly (readonly [name: string, value: string])[]
  readonly body?: Buffer | string | null
}

const DEADLINE_MS = 600_000
const BODILESS: readonly number[] = [101, 204, 304]

/** Text is written as Latin-1. A body gets a Content-Length header. */
export function requestBytes({ method, target, headers = [], body = null }: RawRequest): Buffer {
  const bytes = body === null ? Buffer.alloc(0) : Buffer.from(body)
  const lines = [`${method} ${target} HTTP/1.1`, 'Host: localhost']
  for (const [name, value] of headers) lines.push(`${name}: ${value}`)
  if (body !== null) lines.push(`Content-Length: ${bytes.length}`)
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), bytes])
}

export class RawConnection {
  readonly #port: number
  #socket: Socket | null = null
  #received: Buffer[] = []
  #isHead = false
  #settle: ((answer: RawAnswer | null | Error) => void) | null = null

  constructor(port: number) {
    this.#port = port
  }

  /**
   * Resolves with null if the peer closed without a response. Rejects at the deadline. `isLast` half-closes the
   * connection, so that the peer does not wait for more bytes.
   */
  async exchange(request: RawRequest | Buffer, isLast = false): Promise<RawAnswer | null> {
    const bytes = Buffer.isBuffer(request) ? request : requestBytes(request)
    this.#isHead = bytes.subarray(0, 5).toString() === 'HEAD '
    this.#received = []
    const socket = this.#socket ?? (await this.#open())
    return new Promise((resolve, reject) => {
      this.#settle = (answer) => {
        this.#settle = null
        if (answer instanceof Error) reject(answer)
        else resolve(answer)
      }
      if (isLast) socket.end(bytes)
      else socket.write(bytes)
    })
  }

  close(): void {
    this.#socket?.destroy()
    this.#socket = null
  }

  #open(): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect(this.#port, '127.0.0.1', () => resolve(socket))
      this.#socket = socket
      socket.setNoDelay(true)
      socket.setTimeout(DEADLINE_MS, () => {
        this.#settle?.(new Error(`no complete answer within ${DEADLINE_MS} ms`))
        socket.destroy()
      })
      socket.on('error', (error: NodeJS.ErrnoException) => {
        // The peer may close while it still receives. The data so far is its response.
        if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error)
      })
      socket.on('data', (chunk) => {
        if (this.#settle === null) return
        this.#received.push(chunk)
        const answer = this.#read(false)
        if (answer === null) return
        if (answer.headers.get('connection') === 'close' || answer.status === 101) this.close()
        this.#settle(answer)
      })
      socket.on('close', () => {
        if (this.#socket === socket) this.#socket = null
        this.#settle?.(this.#read(true))
      })
    })
  }

  /** A response without a length is complete when the connection ends. */
  #read(isEnd: boolean): RawAnswer | null {
    const all = this.#received.length === 1 ? this.#received[0] : Buffer.concat(this.#received)
    if (all === undefined) return null
    this.#received = [all]
    const split = all.indexOf('\r\n\r\n')
    if (split < 0) return null
    const head = all.subarray(0, split).toString('latin1')
    const [first = '', ...lines] = head.split('\r\n')
    const headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const
      }),
    )
    const status = Number(first.split(' ')[1])
    if (status === 100) {
      // Interim response: the final one follows.
      this.#received = [all.subarray(split + 4)]
      return this.#read(isEnd)
    }
    if (headers.get('transfer-encoding') === 'chunked' && !this.#isHead) {
      const body = unchunked(all.subarray(split + 4))
      if (body === null) return null
      return { status, head, headers, body: decoded(body, headers.get('content-encoding')) }
    }
    const length = headers.get('content-length')
    const isBodiless = this.#isHead || BODILESS.includes(status)
    if (length === undefined && !isBodiless && !isEnd) return null
    const wanted = isBodiless ? 0 : length === undefined ? all.length : Number(length)
    const body = all.subarray(split + 4, split + 4 + wanted)
    if (!isEnd && body.length < wanted) return null
    return { status, head, headers, body: decoded(body, headers.get('content-encoding')) }
  }
}

/** The body of RFC 9112, section 7.1, without trailers. Null while its last chunk is missing. Throws for a malformed size. */
function unchunked(bytes: Buffer): Buffer | null {
  const chunks: Buffer[] = []
  for (let at = 0; ; ) {
    const end = bytes.indexOf('\r\n', at)
    if (end < 0) return null
    const size = Number.parseInt(bytes.subarray(at, end).toString('latin1'), 16)
    if (Number.isNaN(size)) throw new Error('a chunk has no size')
    if (bytes.length < end + size + 4) return null
    if (size === 0) return Buffer.concat(chunks)
    chunks.push(bytes.subarray(end + 2, end + 2 + size))
    at = end + size + 4
  }
}

function decoded(body: Buffer, coding: string | undefined): string {
  if (body.length === 0 || coding === undefined) return body.toString('utf8')
  if (coding === 'gzip') return gunzipSync(body).toString('utf8')
  if (coding === 'br') return brotliDecompressSync(body).toString('utf8')
  throw new Error(`an answer is coded in ${coding}`)
}

/** Requires 404 for every target, without file contents in the response. */
export async function assertNotServed(
  port: number,
  targets: readonly string[],
  leak: RegExp,
): Promise<void> {
  const connection = new RawConnection(port)
  for (const target of targets) {
    const answer = await connection.exchange({ method: 'GET', target })
    assert.equal(answer?.status, 404, target)
    assert.doesNotMatch(answer.body, leak)
  }
  connection.close()
}
