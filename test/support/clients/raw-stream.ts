// Frames with any bits and any split, which no client library would send.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export const OPCODES = { more: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** Every part of the frame can be made invalid. */
export function frame(
  opcode: number,
  payload: Uint8Array | string = '',
  set: { isLast?: boolean; reserved?: number; isMasked?: boolean; lengthForm?: 7 | 16 | 64 } = {},
): Buffer {
  const bytes = Buffer.from(payload)
  const { isLast = true, reserved = 0, isMasked = true } = set
  const form = set.lengthForm ?? (bytes.length < 126 ? 7 : bytes.length < 65_536 ? 16 : 64)
  const length = Buffer.alloc(form === 7 ? 0 : form / 8)
  if (form === 16) length.writeUInt16BE(bytes.length)
  if (form === 64) length.writeBigUInt64BE(BigInt(bytes.length))
  const short = form === 7 ? bytes.length : form === 16 ? 126 : 127
  const head = Buffer.from([
    (isLast ? 0x80 : 0) | (reserved << 4) | opcode,
    (isMasked ? 0x80 : 0) | short,
  ])
  if (!isMasked) return Buffer.concat([head, length, bytes])
  const mask = randomBytes(4)
  const masked = bytes.map((byte, index) => byte ^ (mask[index % 4] ?? 0))
  return Buffer.concat([head, length, mask, masked])
}

interface Received {
  readonly opcode: number
  readonly payload: Buffer
}

export class RawStream {
  readonly #socket: Socket
  readonly #frames: Received[] = []
  #buffer = Buffer.alloc(0)
  #isUpgraded = false
  #isOver = false
  #wake: (() => void) | null = null
  head = ''

  constructor(port: number, path: string, rest: Uint8Array = Buffer.alloc(0)) {
    this.#socket = connect(port, '127.0.0.1')
    this.#socket.on('data', (bytes) => this.#take(bytes))
    this.#socket.on('error', () => {})
    this.#socket.on('close', () => {
      this.#isOver = true
      this.#wake?.()
    })
    const key = randomBytes(16).toString('base64')
    const lines = [
      `GET ${path} HTTP/1.1`,
      'Host: x',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${key}`,
    ]
    this.write(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), rest]))
  }

  async opened(): Promise<void> {
    while (!this.#isUpgraded && !this.#isOver) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  write(bytes: Uint8Array): void {
    if (!this.#isOver) this.#socket.write(bytes)
  }

  /** Resolves with null if the connection ended before a matching frame. */
  async next(fits: (frame: Received) => boolean): Promise<Received | null> {
    for (;;) {
      for (let frame = this.#frames.shift(); frame !== undefined; frame = this.#frames.shift()) {
        if (fits(frame)) return frame
      }
      if (this.#isOver) return null
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  async end(): Promise<void> {
    if (this.#isOver) return
    const closed = once(this.#socket, 'close')
    this.#socket.destroy()
    await closed
  }

  #take(bytes: Uint8Array): void {
    this.#buffer = Buffer.concat([this.#buffer, bytes])
    if (!this.#isUpgraded) {
      const end = this.#buffer.indexOf('\r\n\r\n')
      if (end < 0) return
      this.head = this.#buffer.subarray(0, end).toString('latin1')
      this.#buffer = this.#buffer.subarray(end + 4)
      this.#isUpgraded = true
      this.#wake?.()
    }
    while (this.#takeFrame()) this.#wake?.()
  }

  #takeFrame(): boolean {
    const buffer = this.#buffer
    if (buffer.length < 2) return false
    const short = (buffer[1] ?? 0) & 0x7f
    const start = short < 126 ? 2 : short === 126 ? 4 : 10
    if (buffer.length < start) return false
    const length =
      short < 126
        ? short
        : short === 126
          ? buffer.readUInt16BE(2)
          : Number(buffer.readBigUInt64BE(2))
    const end = start + length
    if (buffer.length < end) return false
    this.#frames.push({ opcode: (buffer[0] ?? 0) & 0x0f, payload: buffer.subarray(start, end) })
    this.#buffer = buffer.subarray(end)
    return true
  }
}
