// Client process of the connect bench. Each client subscribes to the books and trades of a few markets, is
// disconnected, and resumes from its position. A client reports a loss if a market's numbers have a gap, if it gets a
// snapshot instead of missed messages, or if a message is missing at the end.

import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { encodeIntoCompressedBase64 } from 'hdr-histogram-js'
import { systemClock } from '../../engine/clock.ts'
import { fail, serve } from '../in-child.ts'
import { newTimes, record } from '../latency-recorder.ts'
import type { EngineAddress } from '../quiet-engine.ts'
import { openEach, openFrames, subscribe } from '../raw-frames.ts'
import { Received, type StreamMessage } from '../received.ts'
import type { Published } from './server.ts'

const CHANNELS = ['orderbook', 'trades'] as const
const MARKETS_PER_CLIENT = 4
const TRY_AGAIN_MS = 100
const COMPARE_MS_MAX = 20_000
const COMPARE_POLL_MS = 20
const READ_BYTES = 65_536

export interface ServerAddress extends EngineAddress {
  readonly marketIds: readonly string[]
}

const buffer = Buffer.alloc(READ_BYTES)

class Client {
  readonly received = new Received()
  readonly markets: readonly string[]
  readonly #path: string
  readonly #port: number
  readonly #number: number
  #socket: Socket | null = null
  #pending = new Set<string>()
  #onReady: () => void = () => undefined

  constructor(number: number, { port, apiKey, marketIds }: ServerAddress) {
    this.#number = number
    this.#port = port
    this.#path = `/v1/ws?api_key=${apiKey}`
    this.markets = Array.from({ length: MARKETS_PER_CLIENT }, (_, index) => {
      return marketIds[(number * MARKETS_PER_CLIENT + index) % marketIds.length] ?? ''
    })
  }

  /**
   * Subscribes from the client's position, if any. Retries until a server listens. Resolves when the client is up to
   * date.
   */
  open(): Promise<void> {
    return new Promise((resolve) => {
      this.#onReady = resolve
      this.#pending = new Set(CHANNELS)
      let isOpen = false
      const socket = openFrames(
        { port: this.#port, path: this.#path, buffer },
        {
          onOpen: () => {
            isOpen = true
            for (const channel of CHANNELS) {
              const since = this.received.position(channel)
              const command = { channel, market_ids: this.markets }
              subscribe(socket, since === null ? command : { ...command, since })
            }
          },
          onText: (bytes, from, to) => this.#take(JSON.parse(bytes.toString('utf8', from, to))),
          onClose: (code) => this.fail(`was closed with ${code}`),
          onFault: (why) => {
            if (!why.includes('ECONNREFUSED')) this.fail(why)
          },
          onEnd: () => {
            if (this.#socket !== socket) return
            if (isOpen) return this.fail('was cut off')
            setTimeout(() => this.open().then(resolve), TRY_AGAIN_MS)
          },
        },
      )
      this.#socket = socket
    })
  }

  cut(): void {
    const socket = this.#socket
    this.#socket = null
    socket?.removeAllListeners('error').on('error', () => undefined)
    socket?.resetAndDestroy()
  }

  #take(message: StreamMessage): void {
    const { type, channel = '' } = message
    const { received } = this
    const isBack = received.position(channel) !== null
    received.take(message)
    const isLoss = ['error', 'gap', 'resync'].includes(type) || (isBack && type === 'snapshot')
    if (isLoss) return this.fail(`got ${JSON.stringify(message)}`)
    if (received.holes.length > 0) return this.fail(`lost a message: ${received.holes.join()}`)
    if (type !== 'synced' && type !== 'resumed') return
    if (isBack !== (type === 'resumed')) return this.fail(`was answered by ${type} on ${channel}`)
    if (this.#pending.delete(channel) && this.#pending.size === 0) this.#onReady()
  }

  /** Number of received messages. Null: some due messages are missing. */
  complete(due: (channel: keyof Published, market: string, from: number) => number): number | null {
    let all = 0
    for (const channel of CHANNELS) {
      for (const market of this.markets) {
        const { count, from } = this.received.countOf(channel, market)
        const wanted = due(channel, market, from)
        if (count > wanted) this.fail(`had ${count} of ${wanted} ${channel} of ${market}`)
        if (count < wanted) return null
        all += count
      }
    }
    return all
  }

  fail(why: string): void {
    fail(`client ${this.#number} ${why}`)
  }
}

let clients: readonly Client[] = []
let marketIds: readonly string[] = []

async function openAll(): Promise<string> {
  const times = newTimes()
  await openEach(clients, async (client) => {
    const startedMs = systemClock.monotonicMs()
    await client.open()
    record(times, systemClock.monotonicMs() - startedMs)
  })
  return encodeIntoCompressedBase64(times)
}

const sumOf = (value: (client: Client) => number): number =>
  clients.reduce((total, client) => total + value(client), 0)

function countUpTo(offsets: readonly number[], from: number): number {
  const index = offsets.findIndex((offset) => offset > from)
  return index < 0 ? offsets.length : index
}

export const api = serve({
  /** Connects new clients, which retry until a server listens. `firstClient` determines their markets. */
  async connect(server: ServerAddress, clientCount: number, firstClient: number) {
    marketIds = server.marketIds
    clients = Array.from(
      { length: clientCount },
      (_, index) => new Client(firstClient + index, server),
    )
    const times = await openAll()
    return { times, messageCount: sumOf(({ received }) => received.snapshotCount) }
  },
  cut(): void {
    for (const client of clients) client.cut()
  },
  async resume() {
    const times = await openAll()
    return { times, messageCount: sumOf(({ received }) => received.replayedCount) }
  },
  /** Waits until every client has all messages published since it connected. Returns the number of messages. */
  async compare(published: Published): Promise<number> {
    const positions = new Map(marketIds.map((id, position) => [id, position]))
    const due = (channel: keyof Published, market: string, from: number) => {
      const offsets = published[channel][positions.get(market) ?? -1] ?? []
      return offsets.length - countUpTo(offsets, from)
    }
    const endsAtMs = systemClock.monotonicMs() + COMPARE_MS_MAX
    for (;;) {
      const counts = clients.map((client) => client.complete(due))
      const missing = counts.filter((count) => count === null).length
      if (missing === 0) return counts.reduce<number>((total, count) => total + (count ?? 0), 0)
      if (systemClock.monotonicMs() > endsAtMs) {
        throw new Error(`${missing} of ${clients.length} clients have lost messages`)
      }
      await pause(COMPARE_POLL_MS)
    }
  },
})
