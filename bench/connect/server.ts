// Server process of the connect bench: the whole engine over LMDB with two venues that send nothing, plus one book
// change or trade at each planned moment. Published messages are recorded at the publisher.

import { systemClock } from '../../engine/clock.ts'
import { timeMs } from '../../engine/units.ts'
import {
  ask,
  bid,
  change,
  level,
  listing,
  snapshot,
  trade,
} from '../../test/support/worlds/builders.ts'
import { openStorage } from '../harness.ts'
import { processorMicros, Reports, takeCommands } from '../in-child.ts'
import { type EngineAddress, type QuietEngine, startQuietEngine } from '../quiet-engine.ts'
import type { ServerCommand, ServerReport } from './messages.ts'

/** One in this many messages is a trade. */
const TRADE_EVERY = 5
const LEVELS = 10

const { report } = new Reports<ServerReport>()
const nameOf = (market: number): string => `connect-market-${market}-of-the-bench`
const now = () => {
  const nowMs = timeMs(systemClock.nowMs())
  return { venueTimeMs: nowMs, receivedAtMs: nowMs }
}

/** An engine with its markets' books, which publishes updates of the markets in rotation. */
class ConnectServer {
  readonly #quiet: QuietEngine
  readonly #published: Record<'orderbook' | 'trades', number[][]>
  readonly #marketCount: number
  #count = 0
  #isPublishing = false

  private constructor(quiet: QuietEngine, marketCount: number) {
    this.#quiet = quiet
    this.#marketCount = marketCount
    const lists = () => Array.from({ length: marketCount }, (): number[] => [])
    this.#published = { orderbook: lists(), trades: lists() }
    const locations = new Map(this.marketIds.map((id, position) => [id, position]))
    quiet.engine.publisher.watch({
      name: 'bench',
      onUpdate: (update) => {
        if (update.kind !== 'book' && update.kind !== 'trade') return
        const channel = update.kind === 'book' ? 'orderbook' : 'trades'
        this.#published[channel][locations.get(update.market.id) ?? -1]?.push(update.offset)
      },
    })
  }

  static async open(
    dataDir: string,
    marketCount: number,
    existing: EngineAddress | null,
  ): Promise<ConnectServer> {
    const storage = await openStorage(dataDir)
    for (let market = 0; market < marketCount; market += 1) {
      storage.markets.put(listing(nameOf(market)))
    }
    const quiet = await startQuietEngine(storage, systemClock, { existing })
    const server = new ConnectServer(quiet, marketCount)
    const side = (sign: 1 | -1) =>
      Array.from({ length: LEVELS }, (_, rank) => level(0.5 + sign * 0.01 * (rank + 1), 100 + rank))
    for (let market = 0; market < marketCount; market += 1) {
      quiet.emit(snapshot(nameOf(market), side(-1), side(1), now()))
    }
    return server
  }

  get port(): number {
    return this.#quiet.engine.port
  }

  get apiKey(): string {
    return this.#quiet.apiKey
  }

  /** Open streams of the engine. */
  async streamCount(): Promise<number> {
    const { registry } = this.#quiet.metrics
    const text = await registry.getSingleMetricAsString('stream_connections')
    return Number(/^stream_connections (\d+)$/m.exec(text)?.[1])
  }

  get marketIds(): string[] {
    const { catalog } = this.#quiet.engine
    return Array.from({ length: this.#marketCount }, (_, market) => {
      const name = nameOf(market)
      return catalog.findByOutcome('a', `${name}-yes`)?.ref.id ?? name
    })
  }

  /** Publishes each message at its planned moment; overdue ones at once. */
  publish(perSecond: number): void {
    this.#isPublishing = true
    const startedMs = systemClock.monotonicMs()
    const first = this.#count
    const step = (): void => {
      if (!this.#isPublishing) return
      const due = ((systemClock.monotonicMs() - startedMs) * perSecond) / 1_000
      while (this.#count - first < due) this.#publishOne()
      setTimeout(step, Math.max(1, ((this.#count - first + 1 - due) * 1_000) / perSecond))
    }
    step()
  }

  #publishOne(): void {
    const number = this.#count
    this.#count += 1
    const name = nameOf(number % this.#marketCount)
    const round = Math.floor(number / this.#marketCount)
    const times = now()
    if ((number + round) % TRADE_EVERY === 0) {
      this.#quiet.emit(trade(name, `bench-${number}`, times))
      return
    }
    const rank = 2 + (round % (LEVELS - 1))
    const size = 200 + number
    const changed = round % 2 === 0 ? bid(0.5 - 0.01 * rank, size) : ask(0.5 + 0.01 * rank, size)
    this.#quiet.emit(change(name, [changed], times))
  }

  stop(): Record<'orderbook' | 'trades', number[][]> {
    this.#isPublishing = false
    return this.#published
  }
}

let server: ConnectServer | null = null

takeCommands(async (command: ServerCommand) => {
  if (command.kind === 'open') {
    server = await ConnectServer.open(command.dataDir, command.marketCount, command.existing)
    const { port, apiKey, marketIds } = server
    report({ kind: 'listening', port, apiKey, marketIds })
  } else if (server === null) throw new Error('the server was not opened')
  else if (command.kind === 'publish') {
    server.publish(command.perSecond)
    report({ kind: 'publishing' })
  } else if (command.kind === 'stop') report({ kind: 'stopped', published: server.stop() })
  else {
    const streamCount = await server.streamCount()
    const residentBytes = process.memoryUsage.rss()
    report({ kind: 'looked', processorMicros: processorMicros(), streamCount, residentBytes })
  }
})
