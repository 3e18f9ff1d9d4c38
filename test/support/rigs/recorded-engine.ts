// An engine of a cluster with its feeder and checkpoints. Its own views and API server are the reference for every
// gateway that reads the log.

import { Checkpoints } from '../../../actors/cluster/checkpoints.ts'
import { Feeder } from '../../../actors/cluster/feeder.ts'
import { answerBars } from '../../../actors/mirror/bars.ts'
import { answerBookDemand } from '../../../actors/mirror/book-demand.ts'
import { QuotaServer } from '../../../actors/mirror/quota-shares.ts'
import { createEngine, type Engine } from '../../../engine/app/engine.ts'
import type { Clock } from '../../../engine/clock.ts'
import { type BatchHeader, encodeBatch } from '../../../engine/cluster/batch.ts'
import {
  type ClusterLog,
  idOfBatch,
  LogError,
  marketShards,
  type ShardName,
} from '../../../engine/cluster/cluster-log.ts'
import { answerBatches } from '../../../engine/cluster/gateway-messages.ts'
import { Loopback } from '../../../engine/cluster/loopback.ts'
import type { Update, VenueEvent } from '../../../engine/events.ts'
import type { EventListing, MarketListing } from '../../../engine/market/market.ts'
import { MsgpackWriter } from '../../../engine/msgpack-writer.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { seededRandom } from '../../../engine/random.ts'
import type { TeamListing } from '../../../engine/team-listing.ts'
import type { Storage } from '../../../storage/contract/storage.ts'
import { type LogItem, writeItem } from '../../../storage/records/log-items.ts'
import { quietVenue } from '../fakes/quiet-venue.ts'
import { openMemoryStorage } from '../reference/memory.ts'
import { eventListing, NAMES } from '../worlds/builders.ts'

export const SECRET = 'x'.repeat(32)
export const SETTINGS = {
  ...{ host: '127.0.0.1', port: 0, venueNames: {}, corsOrigins: ['*'], trustedProxies: [] },
  ...{ isMetricsPublic: false, retentionDays: 30, dataBytesMax: 1e10 },
  ...{ jwtSecret: SECRET, jwtSecretPrevious: null, secretsKey: SECRET },
  webhookPolicy: { allowsHttp: true, allowsPrivate: true },
}

interface Written {
  sequence: number
  batch: number
  items: Uint8Array[]
  lost: number
}

export class RecordedEngine {
  readonly engine: Engine
  readonly storage: Storage
  readonly epoch: string
  readonly term: number
  readonly published: Update[] = []
  /** Batches by id. A gateway can request a batch that the log did not deliver. */
  readonly batches = new Map<string, Uint8Array>()
  #log: ClusterLog | null = null
  #emit: (event: VenueEvent) => void = () => undefined
  readonly #clock: Clock
  readonly #shards = new Map<ShardName, Written>()
  #feeder: Feeder | null = null
  #checkpoints: Checkpoints | null = null
  #loopback: Loopback | null = null
  #publishing: Promise<void> = Promise.resolve()

  /** Default: one event for each market. */
  constructor(set: {
    clock: Clock
    markets: readonly MarketListing[]
    events?: readonly EventListing[]
    teams?: readonly TeamListing[]
    epoch?: string
    term?: number
    storage?: Storage
  }) {
    const { clock, epoch = 'e1', term = 1, storage = openMemoryStorage() } = set
    const own = ({ nativeId, venue }: MarketListing) => eventListing(nativeId, { venue })
    const listed = set.events ?? set.markets.map(own)
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
            const events = listed.filter(({ venue }) => venue === key)
            const quiet = quietVenue(key, clock)
            const crawl = async (onPage: Parameters<typeof quiet.catalog.crawl>[0]) =>
              onPage({ markets, events })
            const teams = async () => (set.teams ?? []).filter(({ venue }) => venue === key)
            return { ...quiet, teams, catalog: { ...quiet.catalog, crawl } }
          })
        },
        cluster: {
          ...{ accounts: storage.accounts, webhooks: storage.webhooks, outbox: storage.outbox },
          feeder: (owners) => {
            const put = (shard: ShardName, item: LogItem) =>
              void this.#shards.get(shard)?.items.push(bytesOf(item))
            this.#feeder = new Feeder({ ...owners, put })
            return this.#feeder
          },
        },
      },
    )
    for (const shard of marketShards) {
      this.#shards.set(shard, { sequence: 0, batch: 0, items: [], lost: 0 })
    }
  }

  /** Writes into a log, after its existing contents. */
  async start(log: ClusterLog): Promise<void> {
    await this.engine.start()
    this.#log = log
    for (const [shard, written] of this.#shards) written.sequence = await log.head(shard)
    const { engine } = this
    const { publisher, view } = engine
    publisher.watch({ name: 'scribe', onUpdate: (update) => this.published.push(update) })
    const feeder = this.#feeder
    if (feeder === null) throw new Error('the engine was made without its feeder')
    feeder.isOpen = true
    this.#checkpoints = new Checkpoints({
      ...{ log, clock: this.#clock, logger: silentLog, metrics: new Metrics() },
      ...{ term: this.term, view, publisher, feeder },
      events: () => engine.catalog.listedEvents(),
      pairs: () => engine.matches.allListed(),
      opportunities: () => engine.arbitrage.open(),
      shardPositions: () =>
        [...this.#shards].map(([shard, { sequence, batch }]) => ({ shard, sequence, batch })),
    })
    log.answer('checkpoint', async () => {
      await this.checkpoint()
      return new Uint8Array(0)
    })
    const loopback = new Loopback(engine.port)
    this.#loopback = loopback
    log.answer('http', (body) => loopback.answer(body))
    log.answer(
      'batch',
      answerBatches((id) => this.batches.get(id) ?? null),
    )
    log.answer('quota', new QuotaServer(engine.accounts, this.#clock).answer)
    log.answer('coverage', answerBookDemand({ ...engine.view, clock: this.#clock }))
    log.answer('bars', answerBars({ clock: this.#clock, catalog: engine.catalog }))
    await this.flush()
  }

  emit(event: VenueEvent): void {
    this.#emit(event)
  }

  /**
   * Writes all updates since the last call, as in one event-loop tick. The batches of the shards in `loses` do not
   * arrive.
   */
  async flush(loses: readonly ShardName[] = []): Promise<void> {
    const log = this.#log
    if (log === null) return
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
      const id = idOfBatch(epoch, shard, written.batch)
      this.batches.set(id, bytes)
      if (loses.includes(shard)) continue
      // Repeats unacknowledged batches until the log has them, like the real writer.
      const publish = async (): Promise<void> => {
        for (let tries = 0; tries < 20; tries += 1) {
          try {
            written.sequence = await log.publish(shard, { bytes, id, after: written.sequence })
            return
          } catch (error) {
            if (!(error instanceof LogError)) break
            // Continues after the batches of another engine, because this engine is now the leader.
            if (error.reason === 'fenced') written.sequence = await log.head(shard)
          }
        }
        written.lost += 1
      }
      this.#publishing = this.#publishing.then(publish)
    }
    await this.#publishing
  }

  /** Publishes the venues' status, which shows gateways that the engine is alive. */
  feeds(): void {
    this.#feeder?.beat()
  }

  async checkpoint(): Promise<void> {
    await this.flush()
    await this.#checkpoints?.make()
  }

  stop(): Promise<void> {
    this.#loopback?.close()
    this.#checkpoints?.stop()
    return this.engine.stop()
  }
}

export function bytesOf(item: LogItem): Uint8Array {
  const writer = new MsgpackWriter()
  writer.begin()
  writeItem(writer, item)
  return Uint8Array.from(writer.end())
}
