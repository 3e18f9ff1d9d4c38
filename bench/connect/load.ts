// Client process of the connect bench: bare sockets that each follow the books and trades of a few markets, are
// disconnected, and resume from their position. A gap in a market's numbers, a snapshot instead of missed messages, or
// a missing message at the end is a loss.

import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { encodeIntoCompressedBase64, type Histogram } from 'hdr-histogram-js'
import { systemClock } from '../../engine/clock.ts'
import { Reports, takeCommands } from '../in-child.ts'
import { newTimes, record } from '../latency-recorder.ts'
import { openFrames, textFrame } from '../raw-frames.ts'
import {
  CHANNELS,
  type Channel,
  type LoadCommand,
  type LoadReport,
  type Published,
} from './messages.ts'

/** Concurrent handshakes: more would overflow the queue of a listening socket. */
const UNDER_WAY_MAX = 200
const MARKETS_PER_CLIENT = 4
/** Delay between connection attempts while nothing listens. */
const TRY_AGAIN_MS = 100
const COMPARE_MS_MAX = 20_000
const COMPARE_POLL_MS = 20
const READ_BYTES = 65_536

const { report, fail } = new Reports<LoadReport>()

interface Message {
  readonly type: string
  readonly channel?: Channel
  readonly market_id?: string
  readonly epoch?: string
  readonly offset?: number
  readonly seq?: number
  readonly replayed?: number
}

/** What a client has received of a market on a channel: all messages after `from` up to `offset`. */
interface Had {
  from: number | null
  offset: number
  seq: number | null
  count: number
}

/** One client across its connections. */
class Client {
  readonly #place: { readonly port: number; readonly apiKey: string }
  readonly #number: number
  readonly #markets: readonly string[]
  readonly #had: Record<Channel, Map<string, Had>>
  /** The offset up to which it has received everything, by channel. */
  readonly #position: Record<Channel, number | null> = { orderbook: null, trades: null }
  #epoch: string | null = null
  #socket: Socket | null = null
  #pending = new Set<Channel>()
  #onReady: () => void = () => undefined
  snapshotCount = 0
  replayedCount = 0

  constructor(
    number: number,
    { port, apiKey, marketIds }: { port: number; apiKey: string; marketIds: readonly string[] },
  ) {
    this.#number = number
    this.#place = { port, apiKey }
    this.#markets = Array.from({ length: MARKETS_PER_CLIENT }, (_, index) => {
      return marketIds[(number * MARKETS_PER_CLIENT + index) % marketIds.length] ?? ''
    })
    const nothing = () =>
      new Map(
        this.#markets.map((id): [string, Had] => [
          id,
          { from: null, offset: 0, seq: null, count: 0 },
        ]),
      )
    this.#had = { orderbook: nothing(), trades: nothing() }
  }

  /**
   * Connects, with retries until a server listens, and subscribes, from its position if it has one. Resolves when it
   * is up to date.
   */
  open(shared: Buffer): Promise<void> {
    return new Promise((resolve) => {
      this.#onReady = resolve
      this.#pending = new Set(CHANNELS)
      let isOpen = false
      const { port, apiKey } = this.#place
      const location = { port, path: `/v1/ws?api_key=${apiKey}`, buffer: shared }
      const socket = openFrames(location, {
        onOpen: () => {
          isOpen = true
          this.#subscribe()
        },
        onText: (bytes, from, to) => this.#take(JSON.parse(bytes.toString('utf8', from, to))),
        onClose: (code) => this.#fail(`was closed with ${code}`),
        onFault: (why) => {
          if (!why.includes('ECONNREFUSED')) this.#fail(why)
        },
        onEnd: () => {
          if (this.#socket !== socket) return
          if (isOpen) return this.#fail('was cut off')
          setTimeout(() => this.open(shared).then(resolve), TRY_AGAIN_MS)
        },
      })
      this.#socket = socket
    })
  }

  /** Drops the connection without a close frame, like a broken network. */
  cut(): void {
    const socket = this.#socket
    this.#socket = null
    socket?.removeAllListeners('error').on('error', () => undefined)
    socket?.resetAndDestroy()
  }

  #subscribe(): void {
    for (const [index, channel] of CHANNELS.entries()) {
      const offset = this.#position[channel]
      const since = offset === null ? {} : { since: { epoch: this.#epoch, offset } }
      const target = { channel, market_ids: this.#markets }
      const command = { action: 'subscribe', id: index + 1, ...target, ...since }
      this.#socket?.write(textFrame(JSON.stringify(command)))
    }
  }

  #take(message: Message): void {
    const { type, channel } = message
    if (channel === undefined) {
      if (type === 'error' || type === 'gap') this.#fail(JSON.stringify(message))
      return
    }
    if (type === 'update' || type === 'trade') return this.#count(channel, message)
    if (type === 'snapshot') return this.#takeSnapshot(message)
    if (type === 'resync') return this.#fail(`got ${JSON.stringify(message)}`)
    if (type !== 'synced' && type !== 'resumed') return
    const isBack = this.#position[channel] !== null
    if (isBack !== (type === 'resumed')) return this.#fail(`was answered by ${type} on ${channel}`)
    this.replayedCount += message.replayed ?? 0
    this.#epoch = message.epoch ?? null
    const offset = message.offset ?? 0
    this.#position[channel] = offset
    for (const had of this.#had[channel].values()) {
      had.from ??= offset
      had.offset = Math.max(had.offset, offset)
    }
    if (this.#pending.delete(channel) && this.#pending.size === 0) this.#onReady()
  }

  #takeSnapshot({ market_id: id = '', offset = 0, seq = 0 }: Message): void {
    const had = this.#had.orderbook.get(id)
    if (had === undefined || had.from !== null) return this.#fail(`got a second snapshot of ${id}`)
    had.from = offset
    had.offset = offset
    had.seq = seq
    this.snapshotCount += 1
  }

  /** Ignores repeated messages; any other message must be the next one. */
  #count(channel: Channel, { market_id: id = '', offset = 0, seq = 0, epoch }: Message): void {
    const had = this.#had[channel].get(id)
    if (had === undefined) return this.#fail(`got a message of ${id}`)
    if (this.#epoch !== null && epoch !== this.#epoch) return this.#fail('met another epoch')
    // Live messages may arrive before the channel's `synced` only if they are newer.
    if (had.seq !== null && seq <= had.seq) return
    if (had.seq !== null && seq !== had.seq + 1) {
      return this.#fail(`${channel} of ${id}: ${seq} after ${had.seq}`)
    }
    had.seq = seq
    had.offset = offset
    had.count += 1
    if (this.#position[channel] !== null) this.#position[channel] = offset
  }

  /** Number of received messages if they are all that were due; null while some are missing. */
  complete(due: (channel: Channel, market: string, from: number) => number): number | null {
    let count = 0
    for (const channel of CHANNELS) {
      for (const [market, had] of this.#had[channel]) {
        const wanted = due(channel, market, had.from ?? 0)
        if (had.count > wanted) this.#fail(`had ${had.count} of ${wanted} ${channel} of ${market}`)
        if (had.count < wanted) return null
        count += had.count
      }
    }
    return count
  }

  #fail(why: string): void {
    fail(`client ${this.#number} ${why}`)
  }
}

let clients: readonly Client[] = []
let marketIds: readonly string[] = []
const shared = Buffer.alloc(READ_BYTES)

/** Opens every client's connection, some at a time; each is timed. */
async function openAll(): Promise<Histogram> {
  const times = newTimes()
  let next = 0
  const work = async (): Promise<void> => {
    for (let client = clients[next]; client !== undefined; client = clients[next]) {
      next += 1
      const startedMs = systemClock.monotonicMs()
      await client.open(shared)
      record(times, systemClock.monotonicMs() - startedMs)
    }
  }
  await Promise.all(Array.from({ length: UNDER_WAY_MAX }, work))
  return times
}

const sum = (figures: readonly number[]): number => figures.reduce((total, one) => total + one, 0)

async function compare(published: Published): Promise<void> {
  const locations = new Map(marketIds.map((id, location) => [id, location]))
  const due = (channel: Channel, market: string, from: number) => {
    const offsets = published[channel][locations.get(market) ?? -1] ?? []
    return offsets.length - countUpTo(offsets, from)
  }
  const endsAtMs = systemClock.monotonicMs() + COMPARE_MS_MAX
  for (;;) {
    const counts = clients.map((client) => client.complete(due))
    const missing = counts.filter((count) => count === null).length
    if (missing === 0) {
      return report({ kind: 'compared', messageCount: sum(counts.map((count) => count ?? 0)) })
    }
    if (systemClock.monotonicMs() > endsAtMs) {
      return fail(`${missing} of ${clients.length} clients have lost messages`)
    }
    await pause(COMPARE_POLL_MS)
  }
}

/** Number of ascending offsets that are at most `from`. */
function countUpTo(offsets: readonly number[], from: number): number {
  let [low, high] = [0, offsets.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((offsets[middle] ?? 0) <= from) low = middle + 1
    else high = middle
  }
  return low
}

takeCommands(async (command: LoadCommand) => {
  if (command.kind === 'connect') {
    const { clientCount, firstClient } = command
    marketIds = command.marketIds
    clients = Array.from(
      { length: clientCount },
      (_, index) => new Client(firstClient + index, command),
    )
    const times = encodeIntoCompressedBase64(await openAll())
    const snapshotCount = sum(clients.map((client) => client.snapshotCount))
    report({ kind: 'connected', snapshotCount, times })
  } else if (command.kind === 'cut') {
    for (const client of clients) client.cut()
    report({ kind: 'cut' })
  } else if (command.kind === 'resume') {
    const times = encodeIntoCompressedBase64(await openAll())
    report({ kind: 'resumed', replayedCount: sum(clients.map((one) => one.replayedCount)), times })
  } else await compare(command.published)
})
