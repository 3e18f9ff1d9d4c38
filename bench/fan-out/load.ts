// The subscribers of the fan-out bench, all of one contestant in one process: bare sockets that read
// WebSocket frames themselves, so that thousands of them cost little. Each delivery's time counts from
// the moment its message was planned for. Every delivery is counted and its kind looked at; of one in
// a hundred, and of each subscriber's last, the contents are compared. Not for: publishing.

import { connect, type Socket } from 'node:net'
import { encodeIntoCompressedBase64 } from 'hdr-histogram-js'
import { decodeMessagePack } from '../../http/client/msgpack.ts'
import { newTimes, record } from '../harness.ts'
import { type LoadCommand, type LoadReport, type Plan, sharedMs } from './messages.ts'

const CONNECTS_AT_ONCE = 100
const COMPARED_EVERY = 100
const READ_BYTES = 262_144
const TEXT = 1
const BINARY = 2
const PING = 9
/** Where the name of a message's type begins, in each encoding: `{"type":"` and map, key, head. */
const TYPE_AT = { json: 9, msgpack: 7 } as const

type Expectation = Plan & { readonly publishedCount: number }
type Setup = LoadCommand & { kind: 'connect' }

const shared = Buffer.alloc(READ_BYTES)
let subscribers: Subscriber[] = []
let run: Run | null = null

const report = (message: LoadReport): void => void process.send?.(message)
const fail = (why: string): void => report({ kind: 'failed', why })

/** One run of messages, from the plan's start to the last delivery. */
class Run {
  readonly expected: Expectation
  readonly times = newTimes()
  readonly #total: number
  deliveryCount = 0
  comparedCount = 0

  constructor(expected: Expectation) {
    this.expected = expected
    this.#total = expected.turnCount * expected.perTurn * subscribers.length
  }

  /** Notes a subscriber's `index`-th delivery of this run. */
  take(index: number, atMs: number): void {
    const { startMs, perTurn, intervalMs } = this.expected
    record(this.times, atMs - startMs - Math.floor(index / perTurn) * intervalMs)
    this.deliveryCount += 1
    if (this.deliveryCount < this.#total) return
    const { deliveryCount, comparedCount } = this
    const times = encodeIntoCompressedBase64(this.times)
    report({ kind: 'done', deliveryCount, comparedCount, tookMs: atMs - startMs, times })
  }
}

class Subscriber {
  readonly #number: number
  readonly #setup: Setup
  readonly #frame: Buffer
  readonly #onReady: () => void
  readonly #socket: Socket
  #isOpen = false
  #rest: Buffer | null = null
  #run: Run | null = null
  #count = 0

  constructor(number: number, setup: Setup, onReady: () => void) {
    this.#number = number
    this.#setup = setup
    this.#frame = Buffer.from(setup.frame, 'base64')
    this.#onReady = onReady
    const { port, encoding } = setup
    const callback = (count: number): boolean => {
      this.#read(count)
      return true
    }
    this.#socket = connect({ host: '127.0.0.1', port, onread: { buffer: shared, callback } })
    this.#socket.setNoDelay(true)
    this.#socket.on('error', (error) => fail(String(error)))
    this.#socket.on('close', () => fail(`subscriber ${number} was cut off`))
    this.#socket.write(
      [
        `GET /v1/ws?api_key=bench-key&encoding=${encoding} HTTP/1.1`,
        'Host: 127.0.0.1',
        'Upgrade: websocket',
        'Connection: Upgrade',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
        '\r\n',
      ].join('\r\n'),
    )
  }

  #read(count: number): void {
    const atMs = sharedMs()
    const fresh = shared.subarray(0, count)
    const bytes = this.#rest === null ? fresh : Buffer.concat([this.#rest, fresh])
    let at = this.#isOpen ? 0 : this.#handshake(bytes)
    while (this.#isOpen) {
      const next = this.#frameAt(bytes, at, atMs)
      if (next === at) break
      at = next
    }
    this.#rest = at === bytes.length ? null : Buffer.from(bytes.subarray(at))
  }

  #handshake(bytes: Buffer): number {
    const end = bytes.indexOf('\r\n\r\n')
    if (end < 0) return 0
    const answer = bytes.toString('latin1', 0, end)
    if (!answer.startsWith('HTTP/1.1 101')) fail(answer)
    this.#isOpen = true
    if (this.#setup.contestant !== 'ours') this.#onReady()
    else {
      const command = { action: 'subscribe', id: 1, channel: 'orderbook', market_ids: ['*'] }
      this.#send(TEXT, Buffer.from(JSON.stringify(command)))
    }
    return end + 4
  }

  /** Reads the frame that begins here; returns where the next does, or `at` when it is not whole. */
  #frameAt(bytes: Buffer, at: number, atMs: number): number {
    if (bytes.length < at + 2) return at
    const short = bytes[at + 1] ?? 0
    const head = short < 126 ? 2 : short === 126 ? 4 : 10
    if (bytes.length < at + head) return at
    const length =
      short < 126
        ? short
        : short === 126
          ? bytes.readUInt16BE(at + 2)
          : Number(bytes.readBigUInt64BE(at + 2))
    const from = at + head
    const to = from + length
    if (bytes.length < to) return at
    const code = (bytes[at] ?? 0) & 0x0f
    if (code === PING) this.#send(0x0a, Buffer.from(bytes.subarray(from, to)))
    else if (code === TEXT || code === BINARY) this.#message(bytes, from, to, atMs)
    else fail(`subscriber ${this.#number} got a frame of kind ${code}`)
    return to
  }

  /** `update` and `synced` are told apart from the rest by two letters. */
  #message(bytes: Buffer, from: number, to: number, atMs: number): void {
    const place = from + TYPE_AT[this.#setup.encoding]
    const first = bytes[place]
    const second = bytes[place + 1]
    if (first === 0x75 && second === 0x70) this.#update(bytes, from, to, atMs)
    else if (first === 0x73 && second === 0x79) this.#onReady()
  }

  #update(bytes: Buffer, from: number, to: number, atMs: number): void {
    if (run === null) return fail(`subscriber ${this.#number} got an update before the run`)
    if (this.#run !== run) {
      this.#run = run
      this.#count = 0
    }
    const index = this.#count
    this.#count += 1
    const { expected } = run
    const total = expected.turnCount * expected.perTurn
    if (index >= total) return fail(`subscriber ${this.#number} got ${index + 1} of ${total}`)
    if ((index + this.#number) % COMPARED_EVERY === 0 || index === total - 1) {
      this.#compare(bytes.subarray(from, to), expected.publishedCount + index + 1)
      run.comparedCount += 1
    }
    run.take(index, atMs)
  }

  /** Our messages by their counters, a constant one byte by byte. */
  #compare(payload: Buffer, offset: number): void {
    const { contestant, encoding, marketIds } = this.#setup
    if (contestant !== 'ours') {
      if (!payload.equals(this.#frame)) fail(`${contestant} changed its message`)
      return
    }
    const message: unknown =
      encoding === 'json' ? JSON.parse(String(payload)) : decodeMessagePack(payload)
    const id = marketIds[(offset - 1) % marketIds.length]
    const seq = Math.floor((offset - 1) / marketIds.length) + 1
    const wanted = `${id} ${offset} ${seq}`
    const found = ['market_id', 'offset', 'seq'].map((name) => Reflect.get(Object(message), name))
    if (found.join(' ') !== wanted) fail(`${found.join(' ')} where ${wanted} was due`)
  }

  #send(code: number, payload: Buffer): void {
    if (payload.length > 125) return fail('a frame of a client of this bench is short')
    // A mask of zeros leaves the payload as it is.
    const head = Buffer.from([0x80 | code, 0x80 | payload.length, 0, 0, 0, 0])
    this.#socket.write(Buffer.concat([head, payload]))
  }
}

/** Connects in small waves, so that no queue of handshakes overflows. */
async function connectAll(setup: Setup): Promise<void> {
  subscribers = []
  while (subscribers.length < setup.subscriberCount) {
    const left = setup.subscriberCount - subscribers.length
    const wave = Array.from({ length: Math.min(CONNECTS_AT_ONCE, left) }, () => {
      return new Promise<void>((resolve) => {
        subscribers.push(new Subscriber(subscribers.length, setup, resolve))
      })
    })
    await Promise.all(wave)
  }
  report({ kind: 'connected' })
}

process.on('disconnect', () => process.exit(0))
process.on('message', async (command: LoadCommand) => {
  if (command.kind === 'connect') return connectAll(command)
  run = new Run(command)
  report({ kind: 'expecting' })
})
