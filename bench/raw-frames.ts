// WebSocket frames on a bare socket, so that thousands of subscribers cost as little as possible.

import { connect, type Socket } from 'node:net'

const TEXT = 1
const BINARY = 2
const CLOSE = 8
const PING = 9
const PONG = 10

interface FrameReader {
  onOpen(): void
  /** A message was received. It is in `bytes` from `from` to `to`, which are overwritten later. */
  onText(bytes: Buffer, from: number, to: number): void
  onClose?(code: number): void
  onFault(why: string): void
  /** The connection has ended. Either side may have closed it. */
  onEnd(): void
  onRead?(): void
}

/** More concurrent handshakes would overflow the queue of a listening socket. */
const UNDER_WAY_MAX = 200

/** Opens a connection for each client, a limited number at a time. Resolves when all are open. */
export async function openEach<Client>(
  clients: readonly Client[],
  open: (client: Client) => Promise<void>,
): Promise<void> {
  let next = 0
  const work = async (): Promise<void> => {
    for (let client = clients[next]; client !== undefined; client = clients[next]) {
      next += 1
      await open(client)
    }
  }
  await Promise.all(Array.from({ length: UNDER_WAY_MAX }, work))
}

/** Opens a connection to a loopback port. All sockets of a process may share the read buffer `buffer`. */
export function openFrames(
  { port, path, buffer }: { readonly port: number; readonly path: string; readonly buffer: Buffer },
  reader: FrameReader,
): Socket {
  const take = readFrames(reader, (answer) => void socket.write(answer))
  const callback = (count: number): boolean => {
    reader.onRead?.()
    take(buffer.subarray(0, count))
    return true
  }
  const socket = connect({ host: '127.0.0.1', port, onread: { buffer, callback } })
  socket.setNoDelay(true)
  socket.on('error', (error) => reader.onFault(String(error)))
  socket.on('close', () => reader.onEnd())
  socket.write(upgradeRequest(path))
  return socket
}

function upgradeRequest(path: string): string {
  return [
    `GET ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    '\r\n',
  ].join('\r\n')
}

/** Sends a subscription of at most 65,535 bytes. The mask is zero, so the text is unchanged. */
export function subscribe(socket: Socket, command: Readonly<Record<string, unknown>>): void {
  const text = JSON.stringify({ action: 'subscribe', id: 1, ...command })
  socket.write(frame(TEXT, Buffer.from(text)))
}

function frame(code: number, payload: Buffer): Buffer {
  const { length } = payload
  const head =
    length < 126
      ? Buffer.from([0x80 | code, 0x80 | length, 0, 0, 0, 0])
      : Buffer.from([0x80 | code, 0x80 | 126, length >> 8, length & 0xff, 0, 0, 0, 0])
  return Buffer.concat([head, payload])
}

/** Parses the data of a socket in pieces. Stores an incomplete frame for the next call. */
function readFrames(reader: FrameReader, pong: (answer: Buffer) => void): (fresh: Buffer) => void {
  let rest: Buffer | null = null
  let isOpen = false
  return (fresh) => {
    const bytes: Buffer = rest === null ? fresh : Buffer.concat([rest, fresh])
    let at = 0
    if (!isOpen) {
      const end = bytes.indexOf('\r\n\r\n')
      if (end < 0) {
        rest = Buffer.from(bytes)
        return
      }
      const answer = bytes.toString('latin1', 0, end)
      if (!answer.startsWith('HTTP/1.1 101')) return reader.onFault(answer)
      isOpen = true
      at = end + 4
      reader.onOpen()
    }
    for (let before = -1; before < at; ) {
      before = at
      at = readFrame(bytes, at, reader, pong)
    }
    rest = at === bytes.length ? null : Buffer.from(bytes.subarray(at))
  }
}

/** Returns the position after the frame at `at`, or `at` if the frame is incomplete. */
function readFrame(
  bytes: Buffer,
  at: number,
  reader: FrameReader,
  pong: (answer: Buffer) => void,
): number {
  if (bytes.length < at + 2) return at
  const short = bytes[at + 1] ?? 0
  const from = at + (short < 126 ? 2 : short === 126 ? 4 : 10)
  if (bytes.length < from) return at
  const length =
    short < 126
      ? short
      : short === 126
        ? bytes.readUInt16BE(at + 2)
        : Number(bytes.readBigUInt64BE(at + 2))
  const to = from + length
  if (bytes.length < to) return at
  const code = (bytes[at] ?? 0) & 0x0f
  if (code === TEXT || code === BINARY) reader.onText(bytes, from, to)
  else if (code === PING) pong(frame(PONG, Buffer.from(bytes.subarray(from, to))))
  else if (code === CLOSE) reader.onClose?.(length >= 2 ? bytes.readUInt16BE(from) : 1005)
  else reader.onFault(`a frame of kind ${code}`)
  return to
}
