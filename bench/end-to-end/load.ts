// Subscriber process of one side of the end-to-end bench: bare sockets that count messages. Each message is timed at
// one of the ten subscribers in rotation. Its time field contains the frame's index, which gives the planned moment to
// the microsecond. Our first subscriber rebuilds the books.

import { setTimeout as pause } from 'node:timers/promises'
import { encodeIntoCompressedBase64, type Histogram } from 'hdr-histogram-js'
import { sharedMs } from '../fan-out/messages.ts'
import { FollowedBooks } from '../followed-books.ts'
import { processorMicros, Reports, takeCommands } from '../in-child.ts'
import { newTimes, record } from '../latency-recorder.ts'
import { openFrames, textFrame } from '../raw-frames.ts'
import { frameIndex, type LoadCommand, type LoadReport, type SendPlan } from './messages.ts'

const CHANNELS = ['orderbook', 'trades'] as const
const READ_BYTES = 262_144
/** No message is in transit after this much silence. */
const QUIET_MS = 200
const POLL_MS = 25
/** The first part of each run is not recorded. */
const WARM_UP_SHARE = 0.2
/** Prefixes of the time in our updates and in the venues' frames. */
const TIME_MARKS = ['"timestamp_ms":', '"ts_ms":', '"timestamp":"'].map((mark) => Buffer.from(mark))
const TIME_DIGITS = 13

const { report, fail } = new Reports<LoadReport>()

let subscriberCount = 0
let plan: SendPlan | null = null
let times: Histogram = newTimes()
let deliveryCount = 0
let resyncCount = 0
let lastMs = 0
let microsBefore = 0
/** Bytes retained of a run. */
const CACHED_BYTES = 4 * 2 ** 20
const LINE_END = 0x0a

/**
 * Messages of our first subscriber in a run, one per line, in a reused buffer. As strings they would be copied by each
 * young-generation collection, and the pauses would slow our side but not the relay's.
 */
class PendingFrame {
  readonly #pages: Buffer[] = []
  readonly #ends: number[] = []

  add(bytes: Buffer, from: number, to: number): void {
    let page = this.#ends.length - 1
    const end = this.#ends[page] ?? CACHED_BYTES
    if (end + to - from + 1 > CACHED_BYTES) {
      page += 1
      this.#pages[page] ??= Buffer.allocUnsafeSlow(CACHED_BYTES)
      this.#ends[page] = 0
    }
    const at = this.#ends[page] ?? 0
    bytes.copy(this.#pages[page] ?? bytes, at, from, to)
    this.#pages[page]?.writeUInt8(LINE_END, at + to - from)
    this.#ends[page] = at + to - from + 1
  }

  /** Returns and removes all lines. */
  take(): readonly string[] {
    const ends = this.#ends.splice(0)
    return ends.flatMap((end, page) => {
      const text = this.#pages[page]?.toString('utf8', 0, end) ?? ''
      return text.split('\n').filter((line) => line !== '')
    })
  }
}

const stored = new PendingFrame()
const books = new FollowedBooks()

/** One subscriber to everything. */
function open(
  number: number,
  { port, apiKey }: LoadCommand & { kind: 'connect' },
  shared: Buffer,
): Promise<void> {
  return new Promise((resolve) => {
    let syncedCount = 0
    let count = 0
    const isOurs = apiKey !== null
    const position = { port, path: isOurs ? `/v1/ws?api_key=${apiKey}` : '/', buffer: shared }
    const socket = openFrames(position, {
      onOpen() {
        if (!isOurs) return resolve()
        for (const channel of CHANNELS) {
          const command = { action: 'subscribe', id: 1, channel, market_ids: ['*'] }
          socket.write(textFrame(JSON.stringify(command)))
        }
      },
      onText(bytes, from, to) {
        if (isOurs) {
          const head = bytes.toString('latin1', from + 9, from + 14)
          if (number === 0 && (head === 'updat' || head === 'snaps')) {
            stored.add(bytes, from, to)
          }
          if (head === 'synce' && ++syncedCount === CHANNELS.length) return resolve()
          if (head === 'resyn') resyncCount += 1
          if (head === 'error' || head === 'gap",') fail(bytes.toString('utf8', from, to))
          if (head !== 'updat' && head !== 'trade') return
        }
        count += 1
        note(number, count, bytes.subarray(from, to))
      },
      onFault: fail,
      onEnd: () => fail(`subscriber ${number} was cut off`),
    })
  })
}

/** Counts a delivery, and times it if it is this subscriber's turn. */
function note(number: number, count: number, message: Buffer): void {
  deliveryCount += 1
  lastMs = sharedMs()
  if (plan === null || count % subscriberCount !== number) return
  const index = indexOf(message)
  if (index === null || index < plan.from || index >= plan.to) return
  const { startMs, perSecond, from, to } = plan
  if (index < from + (to - from) * WARM_UP_SHARE) return
  record(times, lastMs - startMs - ((index - from) * 1_000) / perSecond)
}

/** The index of the message's frame; null if the message has no time of its own. */
function indexOf(message: Buffer): number | null {
  for (const mark of TIME_MARKS) {
    const at = message.indexOf(mark)
    if (at < 0) continue
    const digits = at + mark.length
    return frameIndex(Number(message.toString('latin1', digits, digits + TIME_DIGITS)))
  }
  return null
}

async function finish(): Promise<void> {
  lastMs = Math.max(lastMs, sharedMs())
  while (sharedMs() - lastMs < QUIET_MS) await pause(POLL_MS)
  const counts = { deliveryCount, resyncCount, processorMicros: processorMicros() - microsBefore }
  const done = { ...counts, times: encodeIntoCompressedBase64(times) }
  plan = null
  follow()
  report({ kind: 'finished', ...done })
}

/** Reads the first subscriber's messages, off the clock. */
function follow(): void {
  for (const text of stored.take()) {
    const wrong = books.take(JSON.parse(text))
    if (wrong !== null) return fail(wrong)
  }
}

takeCommands(async (command: LoadCommand) => {
  if (command.kind === 'connect') {
    subscriberCount = command.subscriberCount
    const shared = Buffer.alloc(READ_BYTES)
    const numbers = Array.from({ length: subscriberCount }, (_, number) => number)
    await Promise.all(numbers.map((number) => open(number, command, shared)))
    report({ kind: 'connected' })
  } else if (command.kind === 'expect') {
    plan = command
    times = newTimes()
    deliveryCount = 0
    resyncCount = 0
    microsBefore = processorMicros()
    report({ kind: 'expecting' })
  } else if (command.kind === 'finish') await finish()
  else report({ kind: 'books', books: books.lines() })
})
