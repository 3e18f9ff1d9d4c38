import assert from 'node:assert/strict'
import { once } from 'node:events'
import { WebSocket } from 'ws'
import { decodeWires, plain } from './stream-wire.ts'

export type Message = Readonly<Record<string, unknown>>

export class StreamClient {
  readonly socket: WebSocket
  readonly messages: Message[] = []
  readonly closed: Promise<{ code: number; reason: string }>
  #read = 0
  #wake: (() => void)[] = []

  constructor(port: number, query: string) {
    this.socket = new WebSocket(`ws://127.0.0.1:${port}/v1/ws?${query}`)
    this.socket.on('message', (bytes, isBinary) => {
      assert.ok(Buffer.isBuffer(bytes))
      const value: unknown = isBinary
        ? decodeWires(bytes).map((wire) => recordOf(plain(wire)))
        : JSON.parse(String(bytes))
      const messages: Message[] = Array.isArray(value) ? value : [value]
      this.messages.push(...messages)
      this.#wakeAll()
    })
    this.closed = new Promise((resolve) => {
      this.socket.once('close', (code, reason) => {
        resolve({ code, reason: String(reason) })
        this.#wakeAll()
      })
    })
    this.socket.on('error', () => this.#wakeAll())
  }

  /** Resolves after the server's first message. */
  static async open(port: number, query = 'api_key=ann-key'): Promise<StreamClient> {
    const client = new StreamClient(port, query)
    await client.next((message) => message.type === 'connected')
    return client
  }

  #wakeAll(): void {
    const waiting = this.#wake
    this.#wake = []
    for (const wake of waiting) wake()
  }

  send(command: unknown): void {
    this.socket.send(typeof command === 'string' ? command : JSON.stringify(command))
  }

  /** Resolves with the next unread matching message, and marks earlier messages as read. */
  async next(fits: (message: Message) => boolean): Promise<Message> {
    for (;;) {
      while (this.#read < this.messages.length) {
        const message = this.messages[this.#read]
        this.#read += 1
        if (message !== undefined && fits(message)) return message
      }
      assert.notEqual(this.socket.readyState, WebSocket.CLOSED, 'closed before the message came')
      await new Promise<void>((resolve) => this.#wake.push(resolve))
    }
  }

  ofType(type: string): Promise<Message> {
    return this.next((message) => message.type === type)
  }

  /** Resolves with the reply of this type to the command. */
  ask(command: Readonly<Record<string, unknown>>, type: string): Promise<Message> {
    this.send(command)
    return this.next((message) => message.type === type && message.id === command.id)
  }

  async close(): Promise<void> {
    if (this.socket.readyState === WebSocket.CLOSED) return
    const closed = once(this.socket, 'close')
    this.socket.terminate()
    await closed
  }
}

function recordOf(value: unknown): Message {
  assert.ok(typeof value === 'object' && value !== null)
  return { ...value }
}

export async function refusedUpgrade(port: number, query: string) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/ws?${query}`)
  socket.on('error', () => {})
  const [, response] = await once(socket, 'unexpected-response')
  let body = ''
  for await (const chunk of response) body += String(chunk)
  const status: number = response.statusCode
  const headers: Readonly<Record<string, string>> = response.headers
  return { status, headers, body }
}

/** Rebuilds each market's book from messages and records every defect. */
export class RebuiltBooks {
  readonly books = new Map<string, { bids: Map<number, number>; asks: Map<number, number> }>()
  readonly seqs = new Map<string, number>()
  readonly defects: string[] = []
  snapshotCount = 0
  resyncCount = 0

  read(message: Message): void {
    if (message.channel !== 'orderbook') return
    const id = String(message.market_id)
    if (message.type === 'resync') {
      this.resyncCount += 1
      this.books.delete(id)
    }
    if (message.type === 'snapshot') {
      this.snapshotCount += 1
      this.books.set(id, { bids: new Map(), asks: new Map() })
    }
    if (message.type !== 'snapshot' && message.type !== 'update') return
    const book = this.books.get(id)
    const seq = Number(message.seq)
    if (book === undefined) return void this.defects.push(`${id}: update ${seq} before a snapshot`)
    if (message.type === 'update' && seq !== (this.seqs.get(id) ?? 0) + 1) {
      this.defects.push(`${id}: seq ${seq} after ${this.seqs.get(id)}`)
    }
    this.seqs.set(id, seq)
    const sides = message.data
    assert.ok(typeof sides === 'object' && sides !== null)
    apply(book.bids, 'bids' in sides ? sides.bids : null)
    apply(book.asks, 'asks' in sides ? sides.asks : null)
  }

  /** Best first, in millionths. */
  levels(id: string) {
    const book = this.books.get(id)
    const list = (side: Map<number, number> | undefined, sign: number) =>
      [...(side ?? [])]
        .map(([price, size]) => ({ price, size }))
        .sort((one, two) => sign * (one.price - two.price))
    return { bids: list(book?.bids, -1), asks: list(book?.asks, 1) }
  }
}

function apply(side: Map<number, number>, levels: unknown): void {
  assert.ok(Array.isArray(levels))
  for (const { price, size } of levels) {
    const micros = Math.round(price * 1e6)
    if (size === 0) side.delete(micros)
    else side.set(micros, Math.round(size * 1e6))
  }
}
