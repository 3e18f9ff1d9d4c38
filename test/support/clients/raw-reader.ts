// Reads a stream slowly on purpose: never, with pauses, or a kilobyte a second.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { frame, OPCODES } from './raw-stream.ts'

type ReadBehaviour = 'quick' | 'pausing' | 'trickling' | 'byHand' | 'dead'

const TRICKLE_BYTES = 1_024
const TRICKLE_EVERY_MS = 1_000

export class RawReader {
  readonly closed: Promise<void>
  bytes = 0
  isClosed = false
  status = 0
  /** Code of the close frame at the end of the data; 1006 without a close frame. */
  closeCode = 1006
  readonly #socket: Socket
  #tail = Buffer.alloc(0)
  #timer: NodeJS.Timeout | null = null
  #onStatus: (() => void) | null = null

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    socket.on('error', () => {})
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.isClosed = true
        this.closeCode = closeCodeIn(this.#tail)
        if (this.#timer !== null) clearInterval(this.#timer)
        this.#onStatus?.()
        resolve()
      })
    })
  }

  static async connect(port: number): Promise<RawReader> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    await once(socket, 'connect')
    return new RawReader(socket)
  }

  static async open(
    port: number,
    query: string,
    commands: readonly Readonly<Record<string, unknown>>[],
  ): Promise<RawReader> {
    const reader = await RawReader.connect(port)
    reader.ask(query)
    await reader.answered()
    for (const command of commands)
      reader.#socket.write(frame(OPCODES.text, JSON.stringify(command)))
    return reader
  }

  /** Sends the handshake. */
  ask(query: string): void {
    const key = randomBytes(16).toString('base64')
    this.#socket.write(
      `GET /v1/ws?${query} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        `Sec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
    )
  }

  async answered(): Promise<number> {
    if (this.status === 0 && !this.isClosed) {
      await new Promise<void>((resolve) => {
        this.#onStatus = resolve
      })
    }
    return this.status
  }

  read(manner: ReadBehaviour, pauseMs = 0): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    if (manner === 'quick') this.#socket.resume()
    else this.#socket.pause()
    if (manner === 'pausing') setTimeout(() => this.#socket.resume(), pauseMs).unref()
    if (manner !== 'trickling' && manner !== 'byHand') return
    // Without a data listener, `read` takes only the requested bytes, and the kernel buffers the remaining bytes.
    this.#socket.removeAllListeners('data')
    if (manner === 'byHand') return
    this.#timer = setInterval(() => this.takeUpTo(TRICKLE_BYTES), TRICKLE_EVERY_MS)
  }

  /** Only after `read('byHand')`. */
  takeUpTo(count: number): void {
    const chunk: Buffer | null = this.#socket.read(Math.min(count, this.#socket.readableLength))
    if (chunk !== null) this.#take(chunk)
  }

  /** A reset leaves no port in TIME_WAIT, even after thousands of connections. */
  destroy(): void {
    this.#socket.resetAndDestroy()
  }

  #take(chunk: Buffer): void {
    this.bytes += chunk.length
    this.#tail = Buffer.concat([this.#tail.subarray(-16), chunk]).subarray(-128)
    if (this.status !== 0) return
    this.status = Number(/^HTTP\/1\.1 (\d{3})/.exec(chunk.toString('latin1', 0, 32))?.[1] ?? 0)
    this.#onStatus?.()
  }
}

/** A close frame is the last data of a server: 0x88, length, code, reason. */
function closeCodeIn(tail: Buffer): number {
  for (let at = tail.length - 4; at >= 0; at -= 1) {
    const length = tail[at + 1] ?? 0
    if (tail[at] === 0x88 && at + 2 + length === tail.length) return tail.readUInt16BE(at + 2)
  }
  return 1006
}
