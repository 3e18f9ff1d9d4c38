// How long from a venue's message to a subscriber's socket? Real processes as `npm start` runs them;
// one subscriber follows every book and every trade. Each message carries the venue's time and the
// time at which we received it; the subscriber notes when it came, in the same machine's clock.
// The venue's time is when the world made the change, which waits for nobody: a message that the
// venue's process, the engine or the subscriber leaves lying counts from then, not from when it left.
// Excluded: networks (loopback), more than one subscriber, what a subscriber does with a message.
// Precision: stamps are whole milliseconds, so venue → received may be off by one either way, and
// received → subscriber is too high by up to one.

import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { systemClock } from '../engine/clock.ts'
import { FollowedBook } from '../test/support/stream-follower.ts'
import {
  type Bench,
  type BenchSetting,
  check,
  figureRow,
  hashOf,
  inFolder,
  newTimes,
  type Row,
  record,
  timesRow,
} from './harness.ts'
import { equalLines, LiveService } from './live-service.ts'

/** What is left out at the beginning: the compiler, and markets that were just subscribed. */
const WARM_UP_SHARE = 0.2

export const bench: Bench = {
  name: 'end-to-end',
  question: 'How long from a venue’s message to our receiving it, and from there to a subscriber?',
  excludes: 'networks beyond loopback, more than one subscriber, the subscriber’s own work',
  async run(setting) {
    const rows: Row[] = []
    const lines: string[] = []
    for (const perSecond of setting.isSmall ? [200] : [50, 500, 2_000, 5_000]) {
      const measured = await inFolder((folder) => follow(perSecond, folder, setting))
      rows.push(...measured.rows)
      lines.push(...measured.lines)
    }
    const checked = `${lines.length} books rebuilt by the subscriber equal the simulator's own, no hole in any seq`
    return { rows, state: { hash: hashOf(lines), checked, isRepeatable: false } }
  },
}

async function follow(
  perSecond: number,
  dataDir: string,
  { isSmall, say }: BenchSetting,
): Promise<{ rows: readonly Row[]; lines: readonly string[] }> {
  const marketsPerVenue = isSmall ? 20 : 200
  const service = await LiveService.start({
    dataDir,
    marketsPerVenue,
    messagesPerSecond: perSecond,
  })
  try {
    await service.catalogsLoaded()
    await service.booksLive(0)
    const subscriber = await Subscriber.open(service)
    const fromSeconds = service.processorSeconds()
    const startedMs = systemClock.monotonicMs()
    await pause(isSmall ? 1_500 : 15_000)
    const elapsedSeconds = (systemClock.monotonicMs() - startedMs) / 1_000
    const busySeconds = service.processorSeconds() - fromSeconds
    const measuredCount = subscriber.arrivals.length
    await service.pauseWorld()
    const truth = await service.truthBooks()
    const lines = await equalLines(truth, async (id) => subscriber.book(id))
    subscriber.close()
    await service.stop()
    const busy = Math.round((100 * busySeconds) / elapsedSeconds)
    const rows = rowsOf(`${perSecond}/s`, subscriber.arrivals.slice(0, measuredCount))
    const rate = Math.round(measuredCount / elapsedSeconds)
    const load = `${rate} messages/s to the subscriber, engine ${busy} % of a core`
    say(`${perSecond} venue messages/s: ${load}`)
    return { rows: [...rows, figureRow(`${perSecond} venue messages/s`, load)], lines }
  } finally {
    await service.kill()
  }
}

/** Live messages only: snapshots carry the time of their book's last change. */
function rowsOf(rate: string, arrivals: readonly Arrival[]): readonly Row[] {
  const bookInbound = newTimes()
  const bookOutbound = newTimes()
  const tradeOutbound = newTimes()
  for (const { text, atMs } of arrivals.slice(Math.floor(arrivals.length * WARM_UP_SHARE))) {
    const message: Message = JSON.parse(text)
    const { timestamp_ms: venueMs, received_ms: receivedMs } = message
    if (venueMs === undefined || receivedMs === undefined) continue
    if (message.type === 'update') {
      record(bookInbound, receivedMs - venueMs)
      record(bookOutbound, atMs - receivedMs)
    } else if (message.type === 'trade') {
      record(tradeOutbound, atMs - receivedMs)
    }
  }
  check(bookInbound.totalCount > 0, `${rate}: no book update came`)
  return [
    timesRow(`${rate}: book, venue → received`, bookInbound),
    timesRow(`${rate}: book, received → subscriber`, bookOutbound),
    timesRow(`${rate}: trade, received → subscriber`, tradeOutbound),
  ]
}

interface Level {
  readonly price: number
  readonly size: number
}
interface Message {
  readonly type: string
  readonly channel?: string
  readonly market_id?: string
  readonly seq?: number
  readonly timestamp_ms?: number
  readonly received_ms?: number
  readonly data?: { readonly bids: readonly Level[]; readonly asks: readonly Level[] }
}
interface Arrival {
  readonly text: string
  readonly atMs: number
}

/** Notes when each message came and reads it only when asked, so that it is never late itself. */
class Subscriber {
  readonly arrivals: Arrival[] = []
  readonly #socket: WebSocket
  readonly #books = new Map<string, FollowedBook>()
  #readCount = 0

  private constructor(socket: WebSocket) {
    this.#socket = socket
  }

  /** Resolves once both channels are in sync; what came before is not among the arrivals. */
  static async open({ api, key }: LiveService): Promise<Subscriber> {
    const socket = new WebSocket(`${api.replace('http', 'ws')}/v1/ws?api_key=${key}`)
    const subscriber = new Subscriber(socket)
    const nowMs = calendarWithFractions()
    let syncedCount = 0
    await new Promise<void>((resolve, reject) => {
      socket.on('error', reject)
      socket.on('close', (code) => reject(new Error(`the stream was closed with ${code}`)))
      socket.on('message', (bytes) => {
        const atMs = nowMs()
        const text = String(bytes)
        subscriber.arrivals.push({ text, atMs })
        if (syncedCount < 2 && text.startsWith('{"type":"synced"')) {
          syncedCount += 1
          if (syncedCount === 2) resolve()
        }
      })
      socket.on('open', () => {
        for (const channel of ['orderbook', 'trades']) {
          socket.send(JSON.stringify({ action: 'subscribe', id: 1, channel, market_ids: ['*'] }))
        }
      })
    })
    return subscriber
  }

  /** A book as rebuilt from everything that has come; null before its snapshot. */
  book(id: string) {
    for (; this.#readCount < this.arrivals.length; this.#readCount += 1) {
      this.#take(JSON.parse(this.arrivals[this.#readCount]?.text ?? 'null'))
    }
    const book = this.#books.get(id)
    return book === undefined ? null : { bids: book.levels('bids'), asks: book.levels('asks') }
  }

  #take(message: Message): void {
    const { market_id: id, seq, data } = message
    if (id === undefined || data === undefined || message.channel !== 'orderbook') return
    if (message.type === 'snapshot') this.#books.set(id, new FollowedBook())
    const book = this.#books.get(id)
    if (book === undefined) return check(false, `${id}: an update before its snapshot`)
    check(message.type === 'snapshot' || seq === book.seq + 1, `${id}: ${seq} after ${book.seq}`)
    book.seq = seq ?? -1
    for (const side of ['bids', 'asks'] as const) {
      for (const { price, size } of data[side]) {
        if (size === 0) book[side].delete(price)
        else book[side].set(price, size)
      }
    }
  }

  close(): void {
    this.#socket.removeAllListeners('close')
    this.#socket.close()
  }
}

/** The calendar with fractions: the monotonic clock, set by the moment of a calendar tick. */
function calendarWithFractions(): () => number {
  const beforeMs = systemClock.nowMs()
  let tickMs = beforeMs
  while (tickMs === beforeMs) tickMs = systemClock.nowMs()
  const offsetMs = tickMs - systemClock.monotonicMs()
  return () => systemClock.monotonicMs() + offsetMs
}
