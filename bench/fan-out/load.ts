// Process for the subscribers of one publisher of the fan-out bench. They are bare sockets that parse WebSocket frames
// themselves, so that thousands of them cost little. The time of a delivery starts at the planned time of its message.
// Each delivery is counted and its type checked. The contents of one delivery in a hundred, and of each subscriber's
// last one, are compared.

import type { Socket } from 'node:net'
import { encodeIntoCompressedBase64 } from 'hdr-histogram-js'
import { decodeMessagePack, decodeMessagePackSequence } from '../../http/client/msgpack.ts'
import { fail, serve } from '../in-child.ts'
import { newTimes, record, sharedMs } from '../latency-recorder.ts'
import { openFrames, subscribe } from '../raw-frames.ts'
import type { ContestantName, Encoding, Plan } from './server.ts'

const CONNECTS_AT_ONCE = 100
const COMPARED_EVERY = 100
const READ_BYTES = 262_144
/**
 * Byte offset of a message's type: after `{"type":"` in JSON, or after the headers of map, key and string in
 * MessagePack.
 */
const TYPE_AT = { json: 9, msgpack: 7 } as const

type Expectation = Plan & { readonly publishedCount: number }

interface Setup {
  readonly contestant: ContestantName
  readonly encoding: Encoding
  readonly isBatched: boolean
  readonly port: number
  readonly subscriberCount: number
  readonly frame: string
  readonly marketIds: readonly string[]
}

const shared = Buffer.alloc(READ_BYTES)
let subscribers: Subscriber[] = []
let run: Run | null = null

class Run {
  readonly expected: Expectation
  readonly times = newTimes()
  readonly #total: number
  readonly done: Promise<void>
  #finish: () => void = () => undefined
  /** Milliseconds from the plan's start to the last delivery. */
  tookMs = 0
  deliveryCount = 0
  comparedCount = 0
  /** Batch frames that were compared, by the index of their first delivery. All subscribers receive the same frames. */
  readonly frames = new Map<number, Compared[]>()

  constructor(expected: Expectation) {
    this.expected = expected
    this.#total = expected.tickCount * expected.perRound * subscribers.length
    this.done = new Promise((resolve) => {
      this.#finish = resolve
    })
  }

  take(index: number, atMs: number): void {
    const { startMs, perRound, intervalMs } = this.expected
    record(this.times, atMs - startMs - Math.floor(index / perRound) * intervalMs)
    this.deliveryCount += 1
    if (this.deliveryCount < this.#total) return
    this.tookMs = atMs - startMs
    this.#finish()
  }
}

interface Compared {
  readonly bytes: Buffer
  readonly count: number
}

class Subscriber {
  readonly #number: number
  readonly #setup: Setup
  readonly #frame: Buffer
  readonly #onReady: () => void
  readonly #socket: Socket
  #atMs = 0
  #run: Run | null = null
  #count = 0

  constructor(number: number, setup: Setup, onReady: () => void) {
    this.#number = number
    this.#setup = setup
    this.#frame = Buffer.from(setup.frame, 'base64')
    this.#onReady = onReady
    const { port, encoding, isBatched } = setup
    const batch = isBatched ? 'on' : 'off'
    const path = `/v1/ws?api_key=bench-key&encoding=${encoding}&batch=${batch}`
    this.#socket = openFrames(
      { port, path, buffer: shared },
      {
        onRead: () => {
          this.#atMs = sharedMs()
        },
        onOpen: () => this.#begin(),
        onText: (bytes, from, to) => this.#message(bytes, from, to),
        onFault: (why) => fail(`subscriber ${number} got ${why}`),
        onEnd: () => fail(`subscriber ${number} was cut off`),
      },
    )
  }

  #begin(): void {
    if (this.#setup.contestant !== 'ours') return this.#onReady()
    subscribe(this.#socket, { channel: 'orderbook', market_ids: ['*'] })
  }

  /** The first two letters of a type distinguish `update` and `synced` from other types. */
  #message(bytes: Buffer, from: number, to: number): void {
    if (this.#setup.isBatched) return this.#batch(bytes.subarray(from, to))
    const position = from + TYPE_AT[this.#setup.encoding]
    const first = bytes[position]
    const second = bytes[position + 1]
    if (first === 0x75 && second === 0x70) this.#update(bytes, from, to)
    else if (first === 0x73 && second === 0x79) this.#onReady()
  }

  /** Parses the first subscriber's frame, and compares the frames of all other subscribers with it. */
  #batch(payload: Buffer): void {
    if (run === null) {
      if (
        messagesOf(this.#setup.encoding, payload).some((message) => typeOf(message) === 'synced')
      ) {
        this.#onReady()
      }
      return
    }
    this.#enter(run)
    const start = this.#count
    const existing = run.frames.get(start) ?? []
    let compared = existing.find(({ bytes }) => bytes.equals(payload))
    if (compared === undefined) {
      const { contestant, encoding } = this.#setup
      let count = 0
      for (const message of messagesOf(encoding, payload)) {
        if (typeOf(message) !== 'update') continue
        count += 1
        if (contestant === 'ours') this.#check(message, run.expected.publishedCount + start + count)
      }
      compared = { bytes: Buffer.from(payload), count }
      run.frames.set(start, [...existing, compared])
    }
    this.#count += compared.count
    for (let index = start; index < this.#count; index += 1) {
      run.comparedCount += 1
      run.take(index, this.#atMs)
    }
  }

  #enter(present: Run): void {
    if (this.#run === present) return
    this.#run = present
    this.#count = 0
  }

  #update(bytes: Buffer, from: number, to: number): void {
    if (run === null) return fail(`subscriber ${this.#number} got an update before the run`)
    this.#enter(run)
    const index = this.#count
    this.#count += 1
    const { expected } = run
    const total = expected.tickCount * expected.perRound
    if (index >= total) return fail(`subscriber ${this.#number} got ${index + 1} of ${total}`)
    if ((index + this.#number) % COMPARED_EVERY === 0 || index === total - 1) {
      this.#compare(bytes.subarray(from, to), expected.publishedCount + index + 1)
      run.comparedCount += 1
    }
    run.take(index, this.#atMs)
  }

  /** Compares a message of our server by its counters, and a constant message byte by byte. */
  #compare(payload: Buffer, offset: number): void {
    const { contestant, encoding } = this.#setup
    if (contestant !== 'ours') {
      if (!payload.equals(this.#frame)) fail(`${contestant} changed its message`)
      return
    }
    const message: unknown =
      encoding === 'json' ? JSON.parse(String(payload)) : decodeMessagePack(payload)
    this.#check(message, offset)
  }

  #check(message: unknown, offset: number): void {
    const { marketIds } = this.#setup
    const id = marketIds[(offset - 1) % marketIds.length]
    const seq = Math.floor((offset - 1) / marketIds.length) + 1
    const wanted = `${id} ${offset} ${seq}`
    const found = ['market_id', 'offset', 'seq'].map((name) => Reflect.get(Object(message), name))
    if (found.join(' ') !== wanted) fail(`${found.join(' ')} where ${wanted} was due`)
  }
}

function messagesOf(encoding: Encoding, payload: Buffer): readonly unknown[] {
  return encoding === 'json' ? JSON.parse(String(payload)) : decodeMessagePackSequence(payload)
}

function typeOf(message: unknown): unknown {
  return Reflect.get(Object(message), 'type')
}

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
}

export const api = serve({
  connect: connectAll,
  expect(expected: Expectation): void {
    run = new Run(expected)
  },
  /** Resolves at the last delivery. Returns the number of deliveries and of compared contents. */
  async done() {
    if (run === null) throw new Error('nothing is expected')
    await run.done
    const { deliveryCount, comparedCount, tookMs, times } = run
    return { deliveryCount, comparedCount, tookMs, times: encodeIntoCompressedBase64(times) }
  },
})
