// Subscriber process of the benches ingest, end-to-end, peak and cluster. The subscribers are bare sockets that count
// messages. Each message is timed at one of them, in rotation. Its time field contains the index of its frame
// (end-to-end/venue.ts), from which the planned time follows. The messages of the first subscriber are stored. After
// the measurement they are used to rebuild the books.

import { setTimeout as pause } from 'node:timers/promises'
import { encodeIntoCompressedBase64, type Histogram } from 'hdr-histogram-js'
import { FollowedBook } from '../test/support/clients/stream-follower.ts'
import { frameIndex, type SendPlan } from './end-to-end/frames.ts'
import { fail, processorMicros, serve } from './in-child.ts'
import { newTimes, record, sharedMs } from './latency-recorder.ts'
import { openEach, openFrames, subscribe } from './raw-frames.ts'

const READ_BYTES = 262_144
/** If no message arrives for this time, none is in transit. */
const QUIET_MS = 200
const POLL_MS = 25
const WARM_UP_SHARE = 0.2
/** Text before the time in our updates and in the venues' frames. */
const TIME_MARKS = ['"timestamp_ms":', '"ts_ms":', '"timestamp":"'].map((mark) => Buffer.from(mark))
const TIME_DIGITS = 13
/** Position of a message's type, after `{"type":"`, and number of letters that are compared. */
const [TYPE_AT, TYPE_LETTERS] = [9, 5]
/** Beginnings of types that are counted, and of types that make the bench fail. */
const [COUNTED, WRONG] = [
  ['updat', 'trade', 'price'],
  ['error', 'gap",'],
]

interface Target {
  readonly port: number
  /** Null for a bare publisher, which sends without a subscription. */
  readonly apiKey: string | null
  readonly channels: readonly string[]
  readonly subscriberCount: number
  /** Each subscriber follows one of these markets, in rotation. Default: all markets. */
  readonly marketIds?: readonly string[]
}

/**
 * Each subscriber times one of this many messages. The number has no common divisor with 100 markets, so the
 * subscribers of one market time different messages.
 */
const TIMED_EVERY_MAX = 11
const SEQ_MARK = Buffer.from('"seq":')
const [DIGIT_ZERO, DIGIT_NINE] = [0x30, 0x39]

let subscriberCount = 0
let plan: SendPlan | null = null
let times: Histogram = newTimes()
let deliveryCount = 0
let resyncCount = 0
let lostCount = 0
let lastMs = 0
let microsBefore = 0
let awaited: { readonly total: number; readonly resolve: () => void } | null = null
/** Larger than the messages of one run. The system allocates only pages that are written. */
const STORED_BYTES = 2 ** 27
const LINE_END = 0x0a
/**
 * Messages of the first subscriber, one per line. They are outside of the heap, because young-generation collections
 * would copy strings and slow only our side.
 */
const stored = Buffer.allocUnsafeSlow(STORED_BYTES)
let storedBytes = 0

function store(bytes: Buffer, from: number, to: number): void {
  bytes.copy(stored, storedBytes, from, to)
  storedBytes = stored.writeUInt8(LINE_END, storedBytes + to - from)
}

function takeStored(): readonly string[] {
  const text = stored.toString('utf8', 0, storedBytes)
  storedBytes = 0
  return text.split('\n').filter((line) => line !== '')
}

const books = new Map<string, FollowedBook>()
const seqs = new Map<string, number>()
let tradeCount = 0

/** Connects one subscriber to everything or to one market. Resolves when its channels are synced. */
function open(number: number, target: Target, buffer: Buffer): Promise<void> {
  const { port, apiKey, channels, marketIds } = target
  const marketId = marketIds?.[number % marketIds.length]
  const lastSeqs = { trade: 0, book: 0 }
  return new Promise((resolve) => {
    let syncedCount = 0
    let count = 0
    const path = apiKey === null ? '/' : `/v1/ws?api_key=${apiKey}`
    const socket = openFrames(
      { port, path, buffer },
      {
        onOpen() {
          if (apiKey === null) return resolve()
          for (const channel of channels) {
            subscribe(socket, { channel, market_ids: [marketId ?? '*'] })
          }
        },
        onText(bytes, from, to) {
          if (apiKey !== null) {
            const type = bytes.toString('latin1', from + TYPE_AT, from + TYPE_AT + TYPE_LETTERS)
            if (type === 'synce' && ++syncedCount === channels.length) return resolve()
            if (type === 'resyn') resyncCount += 1
            if (WRONG.includes(type)) fail(bytes.toString('utf8', from, to))
            const isCounted = COUNTED.includes(type)
            if (marketId !== undefined && (isCounted || type === 'snaps')) {
              noteSeq(lastSeqs, type, bytes.subarray(from, to))
            }
            if (number === 0 && (isCounted || type === 'snaps')) store(bytes, from, to)
            if (!isCounted || syncedCount < channels.length) return
          }
          count += 1
          note(number, count, bytes.subarray(from, to))
        },
        onFault: fail,
        onEnd: () => fail(`subscriber ${number} was cut off after ${count} messages`),
      },
    )
  })
}

/** Counts the messages that are missing before this one, by the `seq` of a subscriber's only market. */
function noteSeq(last: { trade: number; book: number }, type: string, message: Buffer): void {
  let seq = 0
  for (let at = message.indexOf(SEQ_MARK) + SEQ_MARK.length; ; at += 1) {
    const digit = message[at] ?? 0
    if (digit < DIGIT_ZERO || digit > DIGIT_NINE) break
    seq = seq * 10 + digit - DIGIT_ZERO
  }
  const channel = type === 'trade' ? 'trade' : 'book'
  if (type !== 'snaps' && last[channel] > 0) lostCount += seq - last[channel] - 1
  last[channel] = seq
}

/** Counts a delivery. Times it if the rotation has reached this subscriber. */
function note(number: number, count: number, message: Buffer): void {
  deliveryCount += 1
  if (awaited !== null && deliveryCount >= awaited.total) awaited.resolve()
  if (plan === null) return
  lastMs = sharedMs()
  const every = Math.min(subscriberCount, TIMED_EVERY_MAX)
  if (count % every !== number % every) return
  const index = indexOf(message)
  if (index === null || index < plan.from || index >= plan.to) return
  const { startMs, perSecond, from, to } = plan
  if (index < from + (to - from) * WARM_UP_SHARE) return
  record(times, lastMs - startMs - ((index - from) * 1_000) / perSecond)
}

function indexOf(message: Buffer): number | null {
  for (const mark of TIME_MARKS) {
    const at = message.indexOf(mark)
    if (at < 0) continue
    const digits = at + mark.length
    return frameIndex(Number(message.toString('latin1', digits, digits + TIME_DIGITS)))
  }
  return null
}

interface Message {
  readonly type: string
  readonly channel: string
  readonly market_id: string
  readonly seq: number
  readonly data: Readonly<Record<'bids' | 'asks', readonly { price: number; size: number }[]>>
}

/** Applies the stored messages. A missing number on a channel, or an update without a snapshot, is a failure. */
function follow(): void {
  for (const text of takeStored()) {
    const { type, channel, market_id: id, seq, data }: Message = JSON.parse(text)
    const name = `${channel} ${id}`
    const before = seqs.get(name)
    if (type !== 'snapshot' && before !== undefined && seq !== before + 1)
      return fail(`${name}: ${seq} after ${before}`)
    seqs.set(name, seq)
    if (type === 'trade') tradeCount += 1
    if (channel !== 'orderbook') continue
    if (type === 'snapshot') books.set(id, new FollowedBook())
    const book = books.get(id)
    if (book === undefined) return fail(`${id}: an update before its snapshot`)
    for (const side of ['bids', 'asks'] as const) {
      for (const { price, size } of data[side]) {
        if (size === 0) book[side].delete(price)
        else book[side].set(price, size)
      }
    }
  }
}

export const api = serve({
  async connect(target: Target): Promise<void> {
    subscriberCount = target.subscriberCount
    const buffer = Buffer.alloc(READ_BYTES)
    const numbers = Array.from({ length: subscriberCount }, (_, number) => number)
    await openEach(numbers, (number) => open(number, target, buffer))
  },
  expect(sent: SendPlan): void {
    plan = sent
    times = newTimes()
    deliveryCount = 0
    resyncCount = 0
    lostCount = 0
    microsBefore = processorMicros()
  },
  /** Resolves when this many messages were delivered since the connection, or since the last call of `expect`. */
  reached(total: number): Promise<void> {
    return new Promise((resolve) => {
      awaited = { total, resolve }
      if (deliveryCount >= total) resolve()
    })
  },
  /** Must be called when all frames were sent. Waits until no more messages arrive. */
  async finish() {
    lastMs = Math.max(lastMs, sharedMs())
    while (sharedMs() - lastMs < QUIET_MS) await pause(POLL_MS)
    const used = processorMicros() - microsBefore
    plan = null
    follow()
    return {
      ...{ deliveryCount, resyncCount, lostCount, processorMicros: used },
      /** Times of one delivery of each message that contains the index of a frame. */
      times: encodeIntoCompressedBase64(times),
    }
  },
  /** The books that the first subscriber has, each as a line in the format of `bookLine` (sim-load.ts), and counts. */
  received() {
    follow()
    const lines = [...books].map(([id, book]) => {
      const side = (name: 'bids' | 'asks') =>
        book
          .levels(name)
          .map(([price, size]) => `${price}:${size}`)
          .join(',')
      return `${id} ${side('bids')} | ${side('asks')}`
    })
    return { books: lines, tradeCount, deliveryCount, resyncCount }
  },
})
