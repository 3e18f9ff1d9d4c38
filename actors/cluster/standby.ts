// Stores the leading engine's log on the disk of a standby. A standby assigns its own market numbers and finds markets
// by the venues' ids. Each shard's read position is stored with its rows, so a repeated read changes nothing.

import { type Clock, nextTick, pause } from '../../engine/clock.ts'
import { type Batch, decodeBatch, type RawItem } from '../../engine/cluster/batch.ts'
import {
  type Checkpoint,
  checkpointObject,
  decodeCheckpoint,
} from '../../engine/cluster/checkpoint.ts'
import type {
  ClusterLog,
  Delivered,
  LogSubscription,
  ShardName,
} from '../../engine/cluster/cluster-log.ts'
import type { TradeUpdate, Update } from '../../engine/events.ts'
import type { VenueKey } from '../../engine/ids.ts'
import { outstandingWritesMax } from '../../engine/limits.ts'
import type { MarketNumber, MarketRef } from '../../engine/market/market.ts'
import type { Log } from '../../engine/process/log.ts'
import type { Count, Metrics } from '../../engine/process/metrics.ts'
import { type TimeMs, timeMs } from '../../engine/units.ts'
import type { VenueTable } from '../../engine/venue-table.ts'
import type { ClusterWebhooks } from '../../storage/cluster-webhooks.ts'
import type { Storage } from '../../storage/contract/storage.ts'
import type { Posted, Posting } from '../../storage/records/log-items.ts'
import { isState, type LogItem, readItem } from '../../storage/records/log-items.ts'
import { MarketBars } from '../market/trades.ts'
import { takeBlocks } from './packed.ts'

interface StandbyParts {
  readonly log: ClusterLog
  readonly clock: Clock
  readonly logger: Log
  readonly metrics: Metrics
  readonly storage: Storage
  readonly names: VenueTable
  readonly webhooks: ClusterWebhooks
}

const RETRY_MS = 250
/** Minimum time between two reads of the checkpoint, which items of unknown markets cause. */
const LEARN_EVERY_MS = 10_000
const CATCH_UP_MS_MAX = 3_000
const PAGE_ROWS = 4_096
const END_OFFSET = Number.MAX_SAFE_INTEGER - 1

interface ReadPosition {
  readonly shard: ShardName
  sequence: number
  behind: number
  epoch: string | null
  term: number
  batch: number
  /**
   * While true, a gap in the log may hide trades. The stored time up to which all trades are known does not advance,
   * because a new leader requests the venues' trades from that time on.
   */
  isMarkHeld: boolean
}

interface Numbers {
  readonly term: number
  readonly markets: Map<MarketNumber, MarketRef>
}

export class Standby {
  readonly #parts: StandbyParts
  readonly #positions: readonly ReadPosition[]
  readonly #subscriptions: LogSubscription[] = []
  readonly #bars = new Map<MarketNumber, MarketBars>()
  readonly #unknownMarketItems: Count
  readonly #gaps: Count
  #numbers: Numbers = { term: 0, markets: new Map() }
  #learning: Promise<void> | null = null
  #learnedAtMs = Number.NEGATIVE_INFINITY
  #run: { readonly epoch: string; readonly number: number } | null = null
  #knownRuns: Checkpoint['runs'] = []
  #isEnding = false
  #lagMs = 0
  readonly #newestMs = new Map<VenueKey, TimeMs>()
  /**
   * Venues that may lack trades. A loss is stored with the venue's next trade, for clients that resume at that time.
   */
  readonly #venuesWithGaps = new Set<VenueKey>()

  constructor(parts: StandbyParts) {
    this.#parts = parts
    const { metrics } = parts
    const unknownMarketHelp = 'Items of the log whose market this standby does not know.'
    this.#unknownMarketItems = metrics.count('cluster_standby_unplaced_total', unknownMarketHelp)
    const gapsHelp = 'Gaps in the log: batches that this standby did not receive.'
    this.#gaps = metrics.count('cluster_standby_holes_total', gapsHelp)
    const position = (shard: ShardName): ReadPosition => ({
      ...{ shard, sequence: 0, behind: 0, epoch: null, term: 0, batch: 0, isMarkHeld: false },
    })
    this.#positions = [position('hooks'), position('trades')]
  }

  get behind(): number {
    return this.#positions.reduce((sum, { behind }) => sum + behind, 0)
  }

  /** Delay from the leader's receipt of the newest trade to its storage on this standby. */
  get lagMs(): number {
    return this.#lagMs
  }

  start(): void {
    const { log, storage } = this.#parts
    for (const position of this.#positions) {
      position.sequence = storage.marks.get(markOf(position)) ?? 0
      const onBatch = (batch: Delivered) => this.#take(position, batch)
      const onRefused = (batch: Pick<Delivered, 'sequence' | 'behind'>) =>
        this.#pass(position, batch)
      this.#subscriptions.push(
        log.read(position.shard, position.sequence + 1, { onBatch, onRefused }),
      )
    }
  }

  /**
   * Called when this engine becomes leader. Resolves when the remaining log is read, or after {@link CATCH_UP_MS_MAX}.
   * Reads nothing afterwards.
   */
  async takeOver(): Promise<void> {
    const { log, clock, logger } = this.#parts
    const endsAtMs = clock.monotonicMs() + CATCH_UP_MS_MAX
    try {
      const heads = await Promise.all(this.#positions.map(({ shard }) => log.head(shard)))
      const isRead = () =>
        this.#positions.every(({ sequence }, index) => sequence >= (heads[index] ?? 0))
      while (!isRead() && clock.monotonicMs() < endsAtMs) await pause(clock, 5)
      if (!isRead()) logger.warn({ behind: this.behind }, 'not all of the log was read in time')
    } catch (error) {
      logger.warn({ err: error }, 'the position of the log is unknown')
    }
    await this.stop()
  }

  async stop(): Promise<void> {
    this.#isEnding = true
    await Promise.all(this.#subscriptions.map((subscription) => subscription.stop()))
  }

  async #take(position: ReadPosition, { sequence, bytes, behind }: Delivered): Promise<void> {
    if (this.#isEnding) return
    const { storage, clock } = this.#parts
    const batch = decodeBatch(bytes)
    if (batch === null) this.#noteGap(position)
    else if (batch.term >= position.term) await this.#takeBatch(position, batch)
    // The rows are stored first, because callers that wait for this sequence number read them.
    this.#pass(position, { sequence, behind })
    while (storage.outstandingWrites() > outstandingWritesMax) await pause(clock, RETRY_MS)
  }

  #pass(
    position: ReadPosition,
    { sequence, behind }: Pick<Delivered, 'sequence' | 'behind'>,
  ): void {
    this.#parts.storage.marks.put(markOf(position), sequence)
    Object.assign(position, { sequence, behind })
  }

  async #takeBatch(position: ReadPosition, batch: Batch): Promise<void> {
    const { epoch, term } = batch
    const isNext = position.epoch === epoch ? batch.batch <= position.batch + 1 : batch.batch === 1
    // After a start, the number of the previous batch is unknown.
    if (!isNext && (position.epoch !== null || position.sequence === 0)) this.#noteGap(position)
    position.batch = position.epoch === epoch ? Math.max(position.batch, batch.batch) : batch.batch
    Object.assign(position, { epoch, term })
    if (position.shard !== 'hooks') {
      if (this.#numbers.term < term) await this.#learn(term)
      if (this.#run?.epoch !== epoch) await this.#begin(batch)
    }
    for (const raw of batch.items) {
      const item = await this.#read(raw, term)
      if (item === null) this.#unknownMarketItems.inc()
      else if (item.kind === 'posting' || item.kind === 'posted') await this.#takeDelivery(item)
      else if (item.kind === 'missing') this.#noteGap(position)
      else if (item.kind === 'feed') this.#takeFeed(position, item)
      else if (this.#numbers.term !== term) this.#unknownMarketItems.inc()
      else if (item.kind === 'update') this.#takeUpdate(item.update, batch)
      else this.#storeItem(item)
    }
  }

  async #read(raw: RawItem, term: number): Promise<LogItem | null> {
    const find = (number: MarketNumber) =>
      this.#numbers.term === term ? (this.#numbers.markets.get(number) ?? null) : null
    let item = readItem(raw, find)
    const isDue = this.#parts.clock.monotonicMs() - this.#learnedAtMs > LEARN_EVERY_MS
    if (item === 'unknown_market' && this.#numbers.term === term && isDue) {
      await this.#learn(term, true)
      item = readItem(raw, find)
    }
    return typeof item === 'string' ? null : item
  }

  #storeItem(item: LogItem): void {
    const { storage } = this.#parts
    const { markets } = this.#numbers
    switch (item.kind) {
      case 'listed':
        return this.#list(item)
      case 'event': {
        const { venue, nativeId } = item.event
        const stored = storage.events.details(venue, nativeId)
        return storage.events.put({ description: null, native: {}, ...stored, ...item.event })
      }
      case 'matched': {
        const [a, b] = [markets.get(item.match.a), markets.get(item.match.b)]
        if (a === undefined || b === undefined) return
        return storage.matches.put({ ...item.match, a: a.number, b: b.number })
      }
      case 'unmatched': {
        const market = markets.get(item.market)
        return market === undefined ? undefined : storage.matches.remove(market.number)
      }
      default:
        return
    }
  }

  #takeFeed(position: ReadPosition, { feed }: Extract<LogItem, { kind: 'feed' }>): void {
    const newestMs = feed.completeToMs ?? this.#newestMs.get(feed.venue)
    if (newestMs === undefined || position.isMarkHeld) return
    this.#parts.storage.marks.put(`newest_trade_ms_${feed.venue}`, newestMs)
  }

  /** Omits the description and the native listing. The first crawl as leader adds both. */
  #list({ market, summary }: Extract<LogItem, { kind: 'listed' }>): void {
    const { storage, names } = this.#parts
    const { venue, nativeId } = summary
    if (!names.has(venue)) return
    const existing = storage.markets.number(venue, nativeId)
    if (existing !== null) storage.markets.putSummary(existing, summary)
    const number = existing ?? storage.markets.put({ ...summary, description: null, native: {} })
    const [id, platform] = [names.marketId(venue, nativeId), names.platform(venue)]
    this.#numbers.markets.set(market, { id, number, venue, platform, nativeId })
  }

  #takeUpdate(update: Update, batch: Batch): void {
    const { storage, clock } = this.#parts
    if (update.kind !== 'gap' && update.kind !== 'trade' && update.kind !== 'whale') return
    const run = this.#runOf(batch)
    if (update.kind === 'gap') {
      const { market, venue, fromMs, toMs, count } = update
      const offset = storage.trades.newestOffset(run)
      storage.losses.put({
        run,
        offset,
        venue,
        market: market?.number ?? null,
        fromMs,
        toMs,
        count,
      })
    } else if (update.kind === 'trade') {
      const { market, trade, receivedAtMs, offset, seq } = update
      this.#storeLoss(market.venue, trade.timeMs, { run, offset })
      const newestMs = timeMs(Math.max(this.#newestMs.get(market.venue) ?? 0, trade.timeMs))
      this.#newestMs.set(market.venue, newestMs)
      this.#lagMs = Math.max(0, clock.nowMs() - receivedAtMs)
      if (storage.trades.has(market.number, trade.nativeId)) return this.#noteDuplicate(update, run)
      const stored = storage.trades.put(market, { ...trade, receivedAtMs, run, offset, seq })
      if (!stored.isBlock) this.#barsOf(market.number).add(stored)
    } else {
      const { market, whale, receivedAtMs, offset, seq } = update
      if (storage.whales.get(market.number, whale.nativeId) !== null) return
      storage.whales.put(market, { ...whale, receivedAtMs, run, offset, seq })
    }
  }

  /**
   * The trade is already stored. If an earlier run stored it, the current run lacks it, so a loss is recorded for
   * clients that resume in the current run.
   */
  #noteDuplicate({ market, trade, offset }: TradeUpdate, run: number): void {
    const { trades, losses } = this.#parts.storage
    if (trades.get(market.number, trade.nativeId)?.run === run) return
    const scope = { venue: market.venue, market: market.number }
    const times = { fromMs: trade.timeMs, toMs: trade.timeMs }
    losses.put({ run, offset: Math.max(0, offset - 1), ...scope, ...times, count: 1 })
  }

  #barsOf(market: MarketNumber): MarketBars {
    let bars = this.#bars.get(market)
    if (bars === undefined) {
      bars = new MarketBars(market, this.#parts.storage.bars)
      this.#bars.set(market, bars)
    }
    return bars
  }

  async #takeDelivery(item: Posting | Posted): Promise<void> {
    const { webhooks, storage } = this.#parts
    const { outbox } = storage
    const webhook = await webhooks.numberOf(item.webhook)
    if (webhook === null) return
    if (item.kind === 'posting') {
      outbox.create(webhook, item)
      return
    }
    const number = outbox.numberOf(webhook, item.eventId)
    const stored = number === null ? null : outbox.get(webhook, number)
    if (stored === null) return
    const { status, dueAtMs, attempts } = item
    outbox.update(webhook, { ...stored, status, dueAtMs, attempts })
  }

  #noteGap(position: ReadPosition): void {
    this.#gaps.inc()
    if (position.shard !== 'hooks')
      for (const venue of this.#parts.names.keys) this.#venuesWithGaps.add(venue)
    if (position.epoch !== null) position.isMarkHeld = true
    this.#parts.logger.warn({ shard: position.shard }, 'batches of the log are missing')
  }

  /**
   * Records for the venue's next trade that earlier trades may be missing. Clients that resume on this engine then
   * receive a gap.
   */
  #storeLoss(
    venue: VenueKey,
    toMs: TimeMs,
    { run, offset }: { run: number; offset: number },
  ): void {
    if (!this.#venuesWithGaps.delete(venue)) return
    const fromMs = timeMs(Math.min(this.#newestMs.get(venue) ?? toMs, toMs))
    const loss = { venue, market: null, fromMs, toMs, count: null }
    this.#parts.storage.losses.put({ run, offset: Math.max(0, offset - 1), ...loss })
  }

  /**
   * If this engine was the leader before, the new leader may lack its last trades. A loss is then recorded for clients
   * that resume from the new leader's run.
   */
  async #begin(batch: Batch): Promise<void> {
    const { storage, clock, names } = this.#parts
    const { runs, trades, losses, markets } = storage
    const last = runs.all().at(-1)
    const isOpen = last !== undefined && last.endOffset === null && last.epoch !== batch.epoch
    const times = new Map<VenueKey, { fromMs: TimeMs; toMs: TimeMs; count: number }>()
    const venues = new Map<MarketNumber, VenueKey>()
    let offset = this.#knownRuns.find(({ epoch }) => epoch === last?.epoch)?.endOffset ?? 0
    while (isOpen && !this.#isEnding) {
      const rows = trades.locationsByOffset({ run: last.number, offset, limit: PAGE_ROWS })
      if (rows.length > 0 && venues.size === 0) {
        for (const { number, summary } of markets.all()) venues.set(number, summary.venue)
      }
      for (const { market, timeMs: atMs } of rows) {
        const venue = venues.get(market)
        if (venue === undefined) continue
        const { fromMs = atMs, toMs = atMs, count = 0 } = times.get(venue) ?? {}
        const extent = {
          fromMs: timeMs(Math.min(fromMs, atMs)),
          toMs: timeMs(Math.max(toMs, atMs)),
        }
        times.set(venue, { ...extent, count: count + 1 })
      }
      offset = rows.at(-1)?.offset ?? offset
      if (rows.length < PAGE_ROWS) break
      await nextTick(clock)
    }
    const run = this.#runOf(batch)
    for (const [venue, lost] of times) {
      if (names.has(venue)) losses.put({ run, offset: END_OFFSET, venue, market: null, ...lost })
    }
  }

  #runOf({ epoch, term }: Batch): number {
    if (this.#run?.epoch === epoch) return this.#run.number
    const { runs, trades } = this.#parts.storage
    const all = runs.all()
    let run = all.findLast((other) => other.epoch === epoch)
    if (run === undefined) {
      const last = all.at(-1)
      if (last?.endOffset === null) runs.end(last.number, trades.newestOffset(last.number))
      run = runs.begin(epoch, this.#parts.clock.nowMs())
      this.#parts.logger.info({ epoch, term }, 'this engine follows the one that leads')
    }
    this.#run = { epoch, number: run.number }
    return run.number
  }

  #learn(term: number, isAnew = false): Promise<void> {
    this.#learning ??= this.#learnOnce(term, isAnew).finally(() => {
      this.#learning = null
      this.#learnedAtMs = this.#parts.clock.monotonicMs()
    })
    return this.#learning
  }

  async #learnOnce(term: number, isAnew: boolean): Promise<void> {
    const { log, clock, logger } = this.#parts
    if (isAnew) await log.request('checkpoint', new Uint8Array(0)).catch(() => undefined)
    while (!this.#isEnding) {
      try {
        const bytes = await log.getObject(checkpointObject)
        const checkpoint = bytes === null ? null : decodeCheckpoint(bytes)
        if (checkpoint !== null && checkpoint.term >= term)
          return await this.#storeItems(checkpoint)
      } catch (error) {
        logger.debug({ err: error }, 'no checkpoint can be read yet')
      }
      await pause(clock, RETRY_MS)
    }
  }

  async #storeItems({ term, items, runs }: Checkpoint): Promise<void> {
    this.#knownRuns = runs
    if (this.#numbers.term !== term) this.#numbers = { term, markets: new Map() }
    const find = (number: MarketNumber) => this.#numbers.markets.get(number) ?? null
    await takeBlocks(items, this.#parts.clock, (raw) => {
      if (isState(raw)) return
      const item = readItem(raw, find)
      if (typeof item !== 'string' && item.kind !== 'update' && item.kind !== 'feed') {
        this.#storeItem(item)
      }
    })
  }
}

const markOf = ({ shard }: ReadPosition): string => `cluster_read_${shard}`
