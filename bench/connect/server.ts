// Server process of the connect bench: the complete engine with LMDB. The process publishes one book change or trade at
// each planned time and records the offsets.

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
import { processorMicros, serve } from '../in-child.ts'
import { type EngineAddress, type QuietEngine, startQuietEngine } from '../quiet-engine.ts'

/** The published offsets by channel and market, ascending. Markets are in the order of the server's list. */
export type Published = Readonly<Record<'orderbook' | 'trades', readonly number[][]>>

const TRADE_EVERY = 5
const LEVELS = 10

const nameOf = (market: number): string => `connect-market-${market}-of-the-bench`
const now = () => {
  const nowMs = timeMs(systemClock.nowMs())
  return { venueTimeMs: nowMs, receivedAtMs: nowMs }
}

let quiet: QuietEngine | null = null
let published: Published = { orderbook: [], trades: [] }
let marketCount = 0
let count = 0
let isPublishing = false

function publishOne({ emit }: QuietEngine): void {
  const number = count
  count += 1
  const name = nameOf(number % marketCount)
  const round = Math.floor(number / marketCount)
  if ((number + round) % TRADE_EVERY === 0) return emit(trade(name, `bench-${number}`, now()))
  const rank = 2 + (round % (LEVELS - 1))
  const size = 200 + number
  const changed = round % 2 === 0 ? bid(0.5 - 0.01 * rank, size) : ask(0.5 + 0.01 * rank, size)
  emit(change(name, [changed], now()))
}

function opened(): QuietEngine {
  if (quiet === null) throw new Error('the server was not opened')
  return quiet
}

export const api = serve({
  /** `existing`: the previous server on this folder, to which the clients reconnect. Null: there was none. */
  async open(dataDir: string, markets: number, existing: EngineAddress | null) {
    marketCount = markets
    const names = Array.from({ length: markets }, (_, market) => nameOf(market))
    const storage = await openStorage(dataDir)
    for (const name of names) storage.markets.put(listing(name))
    quiet = await startQuietEngine(storage, systemClock, { existing })
    const { engine, apiKey, emit } = quiet
    const marketIds = names.map((name) => {
      return engine.catalog.findByOutcome('a', `${name}-yes`)?.ref.id ?? name
    })
    const positions = new Map(marketIds.map((id, position) => [id, position]))
    const lists = () => names.map((): number[] => [])
    published = { orderbook: lists(), trades: lists() }
    engine.publisher.watch({
      name: 'bench',
      onUpdate: (update) => {
        if (update.kind !== 'book' && update.kind !== 'trade') return
        const channel = update.kind === 'book' ? 'orderbook' : 'trades'
        published[channel][positions.get(update.market.id) ?? -1]?.push(update.offset)
      },
    })
    const side = (sign: 1 | -1) =>
      Array.from({ length: LEVELS }, (_, rank) => level(0.5 + sign * 0.01 * (rank + 1), 100 + rank))
    for (const name of names) emit(snapshot(name, side(-1), side(1), now()))
    return { port: engine.port, apiKey, marketIds }
  },
  publish(perSecond: number): void {
    isPublishing = true
    const startedMs = systemClock.monotonicMs()
    const first = count
    const step = (): void => {
      if (!isPublishing) return
      const due = ((systemClock.monotonicMs() - startedMs) * perSecond) / 1_000
      while (count - first < due) publishOne(opened())
      setTimeout(step, Math.max(1, ((count - first + 1 - due) * 1_000) / perSecond))
    }
    step()
  },
  stop(): Published {
    isPublishing = false
    return published
  },
  async look() {
    const text = await opened().metrics.registry.getSingleMetricAsString('stream_connections')
    const streamCount = Number(/^stream_connections (\d+)$/m.exec(text)?.[1])
    const residentBytes = process.memoryUsage.rss()
    return { processorMicros: processorMicros(), streamCount, residentBytes }
  },
})
