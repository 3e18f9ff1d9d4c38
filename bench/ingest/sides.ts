// The two sides of the ingest bench: the complete engine and the limit, each with a subscriber process.

import { nativeMarketId } from '../../engine/ids.ts'
import type { Storage } from '../../storage/contract/storage.ts'
import { openBroadcast } from '../bare-app.ts'
import { Child } from '../child.ts'
import { check } from '../harness.ts'
import { startQuietEngine } from '../quiet-engine.ts'
import { bookLine } from '../sim-load.ts'
import type { api as subscribersApi } from '../subscribers.ts'
import { clockOfFrames } from '../venue-path.ts'
import { type IngestLoad, ingestPath, isCounted } from './load.ts'

const CHANNELS = ['orderbook', 'trades', 'prices']

export interface Side {
  readonly subscriber: Child<typeof subscribersApi>
  readonly sentCount: () => number
  take(from: number, to: number): void
  /** Resolves when all deferred work is done. */
  settle(): Promise<void>
  close(): Promise<void>
}

async function connected(port: number, apiKey: string | null): Promise<Side['subscriber']> {
  const subscriber: Side['subscriber'] = new Child('subscribers.ts')
  try {
    await subscriber.call('connect', { port, apiKey, channels: CHANNELS, subscriberCount: 1 })
    return subscriber
  } catch (error) {
    await subscriber.end()
    throw error
  }
}

/** The subscriber connects when every market has its book. */
export async function openOurs(
  load: IngestLoad,
  storage: Storage,
): Promise<Side & { checked(): Promise<readonly string[]> }> {
  const { engine, emit, apiKey } = await startQuietEngine(storage, clockOfFrames())
  const path = ingestPath(load.world, emit)
  for (const { venue, text } of load.world.snapshots) path({ stream: venue, text })
  const subscriber = await connected(engine.port, apiKey)
  let sentCount = 0
  engine.publisher.watch({
    name: 'bench',
    onUpdate: (update) => {
      if (isCounted(update)) sentCount += 1
    },
  })
  return {
    subscriber,
    sentCount: () => sentCount,
    take(from, to) {
      for (const frame of load.frames.slice(from, to)) path(frame)
    },
    settle: () => storage.committed(),
    /** Each book as a line. Throws unless engine, subscriber and world have equal books. */
    async checked() {
      const { deliveryCount, tradeCount, books, resyncCount } = await subscriber.call('received')
      check(deliveryCount === sentCount, `${deliveryCount} of ${sentCount} messages arrived`)
      check(resyncCount === 0, `${resyncCount} books were sent again`)
      check(tradeCount === load.tradeCount, `${tradeCount} of ${load.tradeCount} trades arrived`)
      const stored = storage.trades.count()
      check(stored === load.tradeCount, `${stored} of ${load.tradeCount} trades are stored`)
      const rebuilt = new Set(books)
      const { catalog } = engine
      return load.world.markets.map(({ listing: { venue, nativeId }, book }) => {
        const id = catalog.names.marketId(venue, nativeMarketId(nativeId))
        const line = bookLine(id, book)
        const view = catalog.find(id)
        const held = view === null ? 'none' : bookLine(id, view.book())
        check(held === line, `the engine's book is\n${held}\nbut it must be\n${line}`)
        check(rebuilt.has(line), `the subscriber's book of ${id} differs`)
        return line
      })
    },
    async close() {
      await subscriber.end()
      await engine.stop()
    },
  }
}

export async function openLimit(
  { frames }: IngestLoad,
  messages: readonly (readonly unknown[])[],
): Promise<Side> {
  const { app, listen } = await openBroadcast()
  const subscriber = await connected(await listen(), null)
  let [readCount, sentCount] = [0, 0]
  return {
    subscriber,
    sentCount: () => sentCount,
    take(from, to) {
      for (let index = from; index < to; index += 1) {
        if (JSON.parse(frames[index]?.text ?? 'null') !== null) readCount += 1
        for (const message of messages[index] ?? []) {
          app.publish('all', JSON.stringify(message))
          sentCount += 1
        }
      }
    },
    settle: async () => check(readCount > 0, 'frames were read'),
    async close() {
      await subscriber.end()
      app.close()
    },
  }
}
