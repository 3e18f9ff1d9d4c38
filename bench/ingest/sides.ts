// The two sides of the ingest bench, each with a subscriber process: the whole engine, and the limit. The limit only
// parses the frames' JSON, writes the updates' JSON and publishes it through a bare uWebSockets.js app. Both run on the
// bench's thread.

import type { TemplatedApp } from 'uWebSockets.js'
import type { Engine } from '../../engine/app/engine.ts'
import { nativeMarketId } from '../../engine/ids.ts'
import type { Storage } from '../../storage/contract/storage.ts'
import { openBroadcast } from '../bare-app.ts'
import { Child } from '../child.ts'
import { check } from '../harness.ts'
import { startQuietEngine } from '../quiet-engine.ts'
import { bookLine } from '../sim-load.ts'
import { clockOfFrames } from '../venue-path.ts'
import { type IngestLoad, ingestPath, isCounted } from './load.ts'
import type { ReaderCommand, ReaderReport } from './reader.ts'

/** A side that processes frames and counts the messages it has sent. */
export interface Side {
  readonly reader: Child<ReaderCommand, ReaderReport>
  readonly sentCount: number
  /** Processes frames by index, in this event-loop tick. */
  take(from: number, to: number): void
  /** Resolves when all deferred work is done. */
  settle(): Promise<void>
}

/** The engine and its subscriber. */
export class Ours implements Side {
  readonly reader: Child<ReaderCommand, ReaderReport> = new Child('ingest/reader.ts')
  readonly #load: IngestLoad
  readonly #storage: Storage
  readonly #engine: Engine
  readonly #path: ReturnType<typeof ingestPath>
  sentCount = 0

  private constructor(
    load: IngestLoad,
    storage: Storage,
    { engine, emit }: Awaited<ReturnType<typeof startQuietEngine>>,
  ) {
    this.#load = load
    this.#storage = storage
    this.#engine = engine
    this.#path = ingestPath(load.world, emit)
    engine.publisher.watch({
      name: 'bench',
      onUpdate: (update) => {
        if (isCounted(update)) this.sentCount += 1
      },
    })
  }

  /** Resolves when every market has its book, before the subscriber connects. */
  static async open(load: IngestLoad, storage: Storage): Promise<Ours> {
    const quiet = await startQuietEngine(storage, clockOfFrames())
    const ours = new Ours(load, storage, quiet)
    try {
      for (const { venue, text } of load.world.snapshots) ours.#path({ stream: venue, text })
      const { apiKey, engine } = quiet
      await ours.reader.ask({ kind: 'connect', port: engine.port, apiKey }, 'connected')
      ours.sentCount = 0
      return ours
    } catch (error) {
      await ours.close()
      throw error
    }
  }

  take(from: number, to: number): void {
    const { frames } = this.#load
    for (let index = from; index < to; index += 1) {
      const frame = frames[index]
      if (frame !== undefined) this.#path(frame)
    }
  }

  settle(): Promise<void> {
    return this.#storage.committed()
  }

  /** Each book as a line, once engine, subscriber and world are equal. */
  async checked(): Promise<readonly string[]> {
    const published = await this.reader.ask({ kind: 'tell' }, 'told')
    const { tradeCount, world } = this.#load
    check(
      published.messageCount === this.sentCount,
      `${published.messageCount} of ${this.sentCount} came`,
    )
    check(
      published.tradeCount === tradeCount,
      `${published.tradeCount} trades came of ${tradeCount}`,
    )
    const stored = this.#storage.trades.count()
    check(stored === tradeCount, `${stored} trades are stored of ${tradeCount}`)
    const rebuilt = new Set(published.books)
    const { catalog } = this.#engine
    return world.markets.map(({ listing: { venue, nativeId }, book }) => {
      const id = catalog.names.marketId(venue, nativeMarketId(nativeId))
      const line = bookLine(id, book)
      const view = catalog.find(id)
      const held = view === null ? 'none' : bookLine(id, view.book())
      check(held === line, `the engine's book is\n${held}\nand truly\n${line}`)
      check(rebuilt.has(line), `the subscriber's book of ${id} differs`)
      return line
    })
  }

  async close(): Promise<void> {
    await this.reader.end()
    await this.#engine.stop()
  }
}

/** The minimum work of any server for this task. */
export class Limit implements Side {
  readonly reader: Child<ReaderCommand, ReaderReport> = new Child('ingest/reader.ts')
  readonly #load: IngestLoad
  readonly #messages: readonly (readonly unknown[])[]
  readonly #app: TemplatedApp
  #readCount = 0
  sentCount = 0

  private constructor(
    load: IngestLoad,
    messages: readonly (readonly unknown[])[],
    app: TemplatedApp,
  ) {
    this.#load = load
    this.#messages = messages
    this.#app = app
  }

  static async open(load: IngestLoad, messages: readonly (readonly unknown[])[]): Promise<Limit> {
    const { app, listen } = await openBroadcast()
    const limit = new Limit(load, messages, app)
    try {
      const port = await listen()
      await limit.reader.ask({ kind: 'connect', port, apiKey: null }, 'connected')
      return limit
    } catch (error) {
      await limit.close()
      throw error
    }
  }

  take(from: number, to: number): void {
    const { frames } = this.#load
    for (let index = from; index < to; index += 1) {
      if (JSON.parse(frames[index]?.text ?? 'null') !== null) this.#readCount += 1
      for (const message of this.#messages[index] ?? []) {
        this.#app.publish('all', JSON.stringify(message))
        this.sentCount += 1
      }
    }
  }

  async settle(): Promise<void> {
    check(this.#readCount > 0, 'frames were read')
  }

  async close(): Promise<void> {
    await this.reader.end()
    this.#app.close()
  }
}
