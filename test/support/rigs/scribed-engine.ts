// An engine with silent venues whose events a test emits, and a scribe that writes all it publishes into a log, as the engine of
// a cluster does: the engine's own views and face are the judge of every gateway over that log.

import type { MarketView } from '../../../actors/views.ts'
import type { Clock } from '../../../engine/clock.ts'
import { decodeAsked, encodeAnswer } from '../../../engine/cluster/asked.ts'
import { type BatchHeader, encodeBatch } from '../../../engine/cluster/batch.ts'
import { checkpointObject, encodeCheckpoint } from '../../../engine/cluster/checkpoint.ts'
import {
  type ClusterLog,
  LogError,
  type ShardKind,
  type ShardName,
  shardOf,
  shardsOf,
} from '../../../engine/cluster/log.ts'
import { createEngine, type Engine } from '../../../engine/engine.ts'
import type { Update, VenueEvent } from '../../../engine/events.ts'
import type { VenueKey } from '../../../engine/ids.ts'
import type { MarketListing } from '../../../engine/market/market.ts'
import { MsgpackWriter } from '../../../engine/msgpack-writer.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import type { CountedChannel } from '../../../engine/publisher.ts'
import { seededRandom } from '../../../engine/random.ts'
import type { Storage } from '../../../storage/contract/storage.ts'
import { type LogItem, SEQ_CHANNELS, writeItem } from '../../../storage/records/log-items.ts'
import { quietVenue } from '../fakes/quiet-venue.ts'
import { openMemoryStorage } from '../twins/memory.ts'
import { eventListing, NAMES } from '../worlds/builders.ts'

export const SECRET = 'x'.repeat(32)
export const SETTINGS = {
  ...{ host: '127.0.0.1', port: 0, venueNames: {}, corsOrigins: ['*'], trustedProxies: [] },
  ...{ isMetricsPublic: false, retentionDays: 30, dataBytesMax: 1e10 },
  ...{ jwtSecret: SECRET, jwtSecretPrevious: null, secretsKey: SECRET },
  webhookPolicy: { allowsHttp: true, allowsPrivate: true },
}

const KINDS: Readonly<Record<string, ShardKind>> = {
  ...{ book: 'books', bookReplaced: 'books', bookLate: 'books', price: 'books' },
}
const COUNTED: readonly CountedChannel[] = ['orderbook', ...SEQ_CHANNELS]

interface Written {
  sequence: number
  batch: number
  items: Uint8Array[]
  /** Batches that the log did not take. */
  lost: number
}

export class ScribedEngine {
  readonly engine: Engine
  readonly storage: Storage
  readonly epoch: string
  readonly term: number
  /** Every update, in the order of publishing. */
  readonly told: Update[] = []
  #log: ClusterLog | null = null
  #emit: (event: VenueEvent) => void = () => undefined
  readonly #clock: Clock
  readonly #shards = new Map<ShardName, Written>()
  #version = 0
  readonly #stale = new Map<number, boolean>()
  #publishing: Promise<void> = Promise.resolve()

  constructor(set: {
    clock: Clock
    markets: readonly MarketListing[]
    epoch?: string
    term?: number
    storage?: Storage
  }) {
    const { clock, epoch = 'e1', term = 1, storage = openMemoryStorage() } = set
    this.epoch = epoch
    this.term = term
    this.#clock = clock
    this.storage = storage
    this.engine = createEngine(
      { ...SETTINGS, trustedProxies: ['127.0.0.1'] },
      {
        ...{
          clock,
          storage,
          random: seededRandom('scribed'),
          log: silentLog,
          metrics: new Metrics(),
        },
        ...{ epoch, version: '0' },
        venues: (parts) => {
          this.#emit = parts.emit
          return NAMES.keys.map((key) => {
            const markets = set.markets.filter(({ venue }) => venue === key)
            const events = markets.map(({ nativeId, venue }) => eventListing(nativeId, { venue }))
            const quiet = quietVenue(key, clock)
            const crawl = async (onPage: Parameters<typeof quiet.catalog.crawl>[0]) =>
              onPage({ markets, events })
            return { ...quiet, catalog: { ...quiet.catalog, crawl } }
          })
        },
      },
    )
    for (const shard of shardsOf(NAMES.keys)) {
      this.#shards.set(shard, { sequence: 0, batch: 0, items: [], lost: 0 })
    }
  }

  /** From now on everything is written into a log, behind what it has already. */
  async start(log: ClusterLog): Promise<void> {
    await this.engine.start()
    this.#log = log
    for (const [shard, written] of this.#shards) written.sequence = await log.head(shard)
    const { publisher, catalog } = this.engine
    publisher.watch({ name: 'scribe', onUpdate: (update) => this.#note(update) })
    catalog.watch({
      onListed: (market) => this.#row(market.ref.venue, this.#listed(market)),
      onForgotten: ({ ref }) =>
        this.#row(ref.venue, { kind: 'forgotten', version: this.#next(), market: ref.number }),
    })
    log.answer('checkpoint', async () => {
      await this.checkpoint()
      return new Uint8Array(0)
    })
    log.answer('http', async (body) => {
      const asked = decodeAsked(body)
      if (asked === null) throw new Error('not a request')
      const { method, path, headers } = asked
      const response = await fetch(`http://127.0.0.1:${this.engine.port}${path}`, {
        ...{
          method,
          headers: Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'host')),
        },
        ...(asked.body.length === 0 ? {} : { body: new Uint8Array(asked.body) }),
      })
      const bytes = new Uint8Array(await response.arrayBuffer())
      return encodeAnswer({
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: bytes,
      })
    })
    await this.flush()
  }

  emit(event: VenueEvent): void {
    this.#emit(event)
  }

  /** Writes what was published since the last time, as one turn of the loop. `loses`: these shards' batches never arrive. */
  async flush(loses: readonly ShardName[] = []): Promise<void> {
    const log = this.#log
    if (log === null) return
    this.#noteDoubts()
    for (const [shard, written] of this.#shards) {
      if (written.items.length === 0) continue
      const { items } = written
      written.items = []
      written.batch += 1
      const { epoch, term } = this
      const header: BatchHeader = {
        epoch,
        term,
        batch: written.batch,
        offsets: [],
        count: items.length,
      }
      const bytes = encodeBatch(header, Buffer.concat(items))
      if (loses.includes(shard)) continue
      const id = `${epoch}:${shard}:${written.batch}`
      // As a writer does: what was not heard of is sent again until the log has it.
      const publish = async (): Promise<void> => {
        for (let tries = 0; tries < 20; tries += 1) {
          try {
            written.sequence = await log.publish(shard, { bytes, id, after: written.sequence })
            return
          } catch (error) {
            if (!(error instanceof LogError) || error.reason === 'fenced') break
          }
        }
        written.lost += 1
      }
      this.#publishing = this.#publishing.then(publish)
    }
    await this.#publishing
  }

  /** Says how the venues stand, by which gateways know that the engine lives. */
  feeds(): void {
    for (const view of this.engine.view.venues()) {
      const { venue, platform, state, lagMs, delayMs, completeToMs, tradesSource } = view
      const { connectionsOpen, connectionsWanted } = view
      const status = { venue, platform, state, lagMs, delayMs, completeToMs, tradesSource }
      const feed = { ...status, connectionsOpen, connectionsWanted }
      this.#push(shardOf(venue, 'trades', 0), { kind: 'feed', feed })
    }
  }

  async checkpoint(): Promise<void> {
    await this.flush()
    const { catalog, publisher, view } = this.engine
    const items: LogItem[] = []
    const seen = new Set<string>()
    for (const market of catalog.markets(null)) {
      const { venue, event } = market.summary
      const summary = event === null ? null : catalog.event(venue, event)
      if (summary !== null && !seen.has(`${venue}${event}`)) {
        seen.add(`${venue}${event}`)
        items.push({ kind: 'event', version: this.#next(), event: summary })
      }
      items.push(this.#listed(market), this.#state(market))
    }
    const shards = [...this.#shards].map(([shard, { sequence, batch }]) => ({
      shard,
      sequence,
      batch,
    }))
    const offsets = Object.fromEntries(
      COUNTED.map((channel) => [channel, publisher.offset(channel)]),
    )
    const header = {
      ...{ epoch: this.epoch, term: this.term, takenAtMs: this.#clock.nowMs(), shards, offsets },
      ...{ version: this.#version, count: items.length, recordsSinceMs: catalog.recordsSinceMs },
      runs: view.tradeLog.runs(),
      names: NAMES.all.map(({ key: venue, name: platform }) => ({ venue, platform })),
    }
    await this.#log?.putObject(checkpointObject, encodeCheckpoint(header, items.map(bytesOf)))
  }

  stop(): Promise<void> {
    return this.engine.stop()
  }

  #note(update: Update): void {
    this.told.push(update)
    const venue =
      update.kind === 'status' || update.kind === 'gap' ? update.venue : update.market.venue
    const market = 'market' in update ? (update.market?.number ?? 0) : 0
    const view = update.kind === 'bookReplaced' ? this.engine.catalog.byNumber(market) : null
    const item: LogItem = { kind: 'update', update, book: view === null ? null : view.book() }
    this.#push(shardOf(venue, KINDS[update.kind] ?? 'trades', market), item)
  }

  /** A book that became doubtful is told by no update. */
  #noteDoubts(): void {
    for (const market of this.engine.catalog.markets(null)) {
      const { number, venue } = market.ref
      const { isStale } = market.levels(1)
      if (this.#stale.get(number) === isStale) continue
      this.#stale.set(number, isStale)
      this.#push(shardOf(venue, 'books', number), this.#state(market))
    }
  }

  #row(venue: VenueKey, item: LogItem): void {
    for (const kind of ['books', 'trades'] as const) this.#push(shardOf(venue, kind, 0), item)
  }

  #push(shard: ShardName, item: LogItem): void {
    this.#shards.get(shard)?.items.push(bytesOf(item))
  }

  #next(): number {
    this.#version += 1
    return this.#version
  }

  #listed(market: MarketView): Extract<LogItem, { kind: 'listed' }> {
    const { ref, summary, volume24h, volumeTotal } = market
    const seqs = { tradesSeq: market.seq('trades'), pricesSeq: market.seq('prices') }
    const quoted = { price: market.price(), volume24h, volumeTotal, ...seqs }
    return { kind: 'listed', version: this.#next(), market: ref.number, quoted, summary }
  }

  #state(market: MarketView): Extract<LogItem, { kind: 'state' }> {
    const { number } = market.ref
    const { publisher } = this.engine
    const seq = (channel: CountedChannel) => publisher.latest(channel, number).seq
    const seqs = {
      ...{ trades: seq('trades'), prices: seq('prices'), whales: seq('whales') },
      ...{ lifecycle: seq('lifecycle'), arbitrage: seq('arbitrage') },
    }
    const { volume24h, volumeTotal } = market
    const state = {
      market: number,
      book: market.book(),
      price: market.price(),
      volume24h,
      volumeTotal,
      seqs,
    }
    return { kind: 'state', state }
  }
}

function bytesOf(item: LogItem): Uint8Array {
  const writer = new MsgpackWriter()
  writer.begin()
  writeItem(writer, item)
  return Uint8Array.from(writer.end())
}
