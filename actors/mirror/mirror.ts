// The engine's state at a gateway: a checkpoint and all later items of the log, published with the engine's stamps and
// in its order. Each shard delivers its items in order. An item whose predecessor by offset is in another shard waits
// for that item. A mirror ends when an item is missing, and a new mirror replaces it.

import type { Clock } from '../../engine/clock.ts'
import type { RawItem } from '../../engine/cluster/batch.ts'
import type { Checkpoint, CheckpointHeader } from '../../engine/cluster/checkpoint.ts'
import type { ShardName } from '../../engine/cluster/cluster-log.ts'
import {
  COUNTED_CHANNELS,
  type CountedChannel,
  countedChannelOf,
  type FeedState,
  type Update,
} from '../../engine/events.ts'
import type { VenueKey } from '../../engine/ids.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import type { Log } from '../../engine/process/log.ts'
import type { Metrics } from '../../engine/process/metrics.ts'
import { Publisher } from '../../engine/publisher.ts'
import type { TeamListing } from '../../engine/team-listing.ts'
import type { VenueTable } from '../../engine/venue-table.ts'
import type { StoredMatch } from '../../storage/contract/matches.ts'
import type { EngineFigures } from '../../storage/records/log-items.ts'
import { type LogItem, readItem } from '../../storage/records/log-items.ts'
import type { SearchIndex } from '../catalog/lists.ts'
import { takeBlocks } from '../cluster/packed.ts'
import { pairScoreOf } from '../matches/match-results.ts'
import { Matches } from '../matches/matches.ts'
import { Sports } from '../sports/sports.ts'
import type { RunView, VenueView } from '../views.ts'
import { MirrorBars } from './bars.ts'
import { MirrorCatalog } from './catalog.ts'
import { MirrorDescriptions } from './descriptions.ts'
import { MirrorTradeLog, MirrorWhaleLog } from './logs.ts'
import type { MirrorMarket } from './market.ts'
import { OlderTrades } from './older-trades.ts'

export type MirrorFault =
  /** An item cannot be decoded. */
  | 'damaged_item'
  /** A book differs from the engine's. */
  | 'checksum'
  /** The engine reports that it could not write an item. */
  | 'said_missing'
  /** An item waited too long for its predecessor. */
  | 'stalled'

const STALL_MS = 2_000
/** Maximum waiting items of one shard. Beyond it the reader of the shard is paused. */
const WAITING_ITEMS_MAX = 65_536

const NO_FIGURES: EngineFigures = {
  trades: 0,
  snapshots: 0,
  databaseBytes: 0,
  wallets: 0,
  coverage: {},
  books: {},
  data: 'live',
}

class ItemQueue {
  #items: RawItem[] = []
  #next = 0
  #head: LogItem | null = null
  #resume: (() => void) | null = null

  get count(): number {
    return this.#items.length - this.#next
  }

  get first(): RawItem | undefined {
    return this.#items[this.#next]
  }

  /** Returns a promise if there are too many items. The promise resolves when there is room again. */
  push(items: readonly RawItem[]): void | Promise<void> {
    for (const item of items) this.#items.push(item)
    if (this.count <= WAITING_ITEMS_MAX) return
    return new Promise((resolve) => {
      this.#resume = resolve
    })
  }

  read(read: (item: RawItem) => ReturnType<typeof readItem>): ReturnType<typeof readItem> | null {
    if (this.#head !== null) return this.#head
    const raw = this.first
    if (raw === undefined) return null
    const item = read(raw)
    if (typeof item !== 'string') this.#head = item
    return item
  }

  shift(): void {
    this.#head = null
    this.#next += 1
    if (this.#next === this.#items.length) {
      this.#items = []
      this.#next = 0
    } else if (this.#next > 4_096) {
      this.#items.splice(0, this.#next)
      this.#next = 0
    }
    if (this.#resume === null || this.count > WAITING_ITEMS_MAX / 2) return
    this.#resume()
    this.#resume = null
  }

  release(): void {
    this.#resume?.()
    this.#resume = null
  }
}

export class Mirror {
  readonly epoch: string
  readonly publisher: Publisher
  readonly catalog: MirrorCatalog
  readonly matches: Matches
  readonly sports: Sports
  readonly tradeLog: MirrorTradeLog
  readonly whaleLog: MirrorWhaleLog
  readonly #clock: Clock
  readonly #names: VenueTable
  readonly #onFault: (fault: MirrorFault) => void
  readonly #bars: MirrorBars | null
  readonly #venues = new Map<VenueKey, VenueView>()
  readonly #shards = new Map<ShardName, ItemQueue>()
  readonly #run: number
  #fault: MirrorFault | null = null
  #isDisconnected = false
  #disconnectCount = 0
  /** Monotonic. Null: no item waits. */
  #waitsSinceMs: number | null = null
  #figures: EngineFigures = NO_FIGURES
  #lagMs = 0

  /**
   * The caller must `load` the checkpoint next. Throws if the venues of the checkpoint differ from `names`, or if the
   * checkpoint lacks its own run.
   */
  constructor(
    checkpoint: CheckpointHeader,
    parts: {
      readonly names: VenueTable
      readonly clock: Clock
      readonly log: Log
      readonly metrics: Metrics
      readonly index: SearchIndex
      /** Requests older trades or bars from the engine. Without this function, older trades count as lost. */
      readonly request?: (subject: 'trades' | 'bars', body: Uint8Array) => Promise<Uint8Array>
      /** Called once. The mirror takes no items afterwards. */
      readonly onFault: (fault: MirrorFault) => void
    },
  ) {
    const { names, clock, log, metrics } = parts
    for (const { venue, platform } of checkpoint.names) {
      if (names.platform(venue) !== platform) {
        throw new Error(
          `the engine names venue ${venue} ${platform}, here it is ${names.platform(venue)}`,
        )
      }
    }
    const present: RunView | undefined = checkpoint.runs.find(
      (run) => run.epoch === checkpoint.epoch,
    )
    if (present === undefined)
      throw new Error('the list of runs in the checkpoint lacks its own run')
    this.epoch = checkpoint.epoch
    this.#clock = clock
    this.#names = names
    this.#onFault = parts.onFault
    this.#run = present.number
    this.publisher = new Publisher({ epoch: checkpoint.epoch, log, metrics })
    const { request } = parts
    this.#bars =
      request === undefined
        ? null
        : new MirrorBars({ clock, request: (body) => request('bars', body) })
    this.catalog = new MirrorCatalog({
      ...{ names, clock, index: parts.index, publisher: this.publisher },
      recordsSinceMs: checkpoint.recordsSinceMs,
      descriptions: new MirrorDescriptions(() => this.#fail('damaged_item')),
      market: {
        publisher: this.publisher,
        isDisconnected: () => this.#isDisconnected,
        disconnectCount: () => this.#disconnectCount,
        bars: this.#bars,
      },
    })
    this.matches = new Matches({
      clock,
      eventTitle: ({ ref, summary }) =>
        summary.event === null
          ? null
          : (this.catalog.event(ref.venue, summary.event)?.title ?? null),
    })
    this.catalog.watch(this.matches)
    this.sports = new Sports({ catalog: this.catalog, clock })
    this.catalog.watch(this.sports)
    const refOf = (number: MarketNumber) => this.catalog.refOf(number)
    const older =
      request === undefined
        ? null
        : new OlderTrades({ clock, request: (body) => request('trades', body), refOf })
    this.tradeLog = new MirrorTradeLog(checkpoint.runs, present, older)
    for (const loss of checkpoint.losses) this.tradeLog.addLoss(loss)
    this.whaleLog = new MirrorWhaleLog(present)
  }

  venues(): readonly VenueView[] {
    return this.#names.keys.flatMap((key) => {
      const view = this.#venues.get(key)
      return view === undefined ? [] : [this.#shown(view)]
    })
  }

  /** Figures of the engine's database, at most some seconds old. */
  get figures(): EngineFigures {
    return this.#figures
  }

  get waiting(): number {
    let count = 0
    for (const { count: some } of this.#shards.values()) count += some
    return count
  }

  get lagMs(): number {
    return this.#lagMs
  }

  get isDisconnected(): boolean {
    return this.#isDisconnected
  }

  setDisconnected(isDisconnected: boolean): void {
    if (isDisconnected === this.#isDisconnected) return
    this.#isDisconnected = isDisconnected
    this.#disconnectCount += 1
    for (const view of this.venues()) this.#publishStatus(view)
  }

  /**
   * Applies the items of a batch, or queues those that must wait. Returns a promise if too many wait. The promise
   * resolves when there is room.
   */
  take(shard: ShardName, items: readonly RawItem[]): void | Promise<void> {
    if (this.#fault !== null) return
    let waiting = this.#shards.get(shard)
    if (waiting === undefined) {
      waiting = new ItemQueue()
      this.#shards.set(shard, waiting)
    }
    const backlog = waiting.push(items)
    this.#advance()
    return backlog
  }

  /** Records trades and whales from before the checkpoint, for streams that resume. Ignores unknown epochs. */
  recall(epoch: string, items: readonly RawItem[]): void {
    const run = this.tradeLog.runs().find((candidate) => candidate.epoch === epoch)
    if (run === undefined) return
    for (const raw of items) {
      const item = readItem(raw, (number) => this.catalog.refOf(number))
      if (typeof item === 'string' || item.kind !== 'update') continue
      const { update } = item
      if (update.kind === 'trade') this.tradeLog.push(run.number, update)
      else if (update.kind === 'whale' && run.number === this.#run) {
        this.whaleLog.push(run.number, update)
      }
    }
  }

  /** Must be called a few times a second. */
  checkStall(): void {
    const nowMs = this.#clock.monotonicMs()
    if (this.waiting === 0) this.#waitsSinceMs = null
    else this.#waitsSinceMs ??= nowMs
    if (this.#waitsSinceMs !== null && nowMs - this.#waitsSinceMs > STALL_MS) this.#fail('stalled')
  }

  close(): void {
    this.#fault ??= 'stalled'
    for (const waiting of this.#shards.values()) waiting.release()
  }

  /** Rejects with an Error for unreadable items. Works in time slices. */
  async load({ items, offsets }: Checkpoint): Promise<void> {
    const later: LogItem[] = []
    const teams: TeamListing[] = []
    for (const channel of COUNTED_CHANNELS) {
      this.publisher.follow(channel, { offset: offsets[channel] ?? 0, market: 0, seq: 0 })
    }
    const refOf = (number: MarketNumber) => this.catalog.refOf(number)
    const take = (raw: RawItem): void => {
      const item = readItem(raw, refOf)
      if (item === 'unknown_market') return
      if (item === 'damaged') throw new Error('the checkpoint has an item that cannot be read')
      if (item.kind === 'matched') later.push(item)
      else if (item.kind === 'teams') teams.push(...item.listings)
      else this.#applyItem(item)
    }
    const { descriptions } = this.catalog
    await takeBlocks(items, this.#clock, take, (texts) => descriptions.addBlock(texts))
    for (const item of later) this.#applyItem(item)
    void this.sports.learnTeams(teams)
    this.catalog.isLoaded = true
  }

  #restore(item: Extract<LogItem, { kind: 'state' }>): void {
    const { market: number, book, seqs } = item.state
    const market = this.catalog.mirrorOf(number)
    if (market === null) return
    const at = (channel: CountedChannel, seq: number): void => {
      this.publisher.follow(channel, { offset: 0, market: number, seq })
    }
    for (const channel of COUNTED_CHANNELS) {
      at(channel, channel === 'orderbook' ? book.seq : seqs[channel])
    }
    market.restore(item.state)
    this.catalog.moved(market)
  }

  #advance(): void {
    let hasMoved = false
    for (let hasProgress = true; hasProgress && this.#fault === null; ) {
      hasProgress = false
      for (const waiting of this.#shards.values()) {
        while (this.#takeFirst(waiting)) hasProgress = true
        if (this.#fault !== null) return
      }
      hasMoved ||= hasProgress
    }
    if (hasMoved) this.#waitsSinceMs = null
  }

  #takeFirst(waiting: ItemQueue): boolean {
    const item = waiting.read((raw) => readItem(raw, (number) => this.catalog.refOf(number)))
    if (item === null || item === 'unknown_market') return false
    if (item === 'damaged') {
      this.#fail('damaged_item')
      return false
    }
    if (item.kind === 'update' && this.#mustWait(item.update)) return false
    if (item.kind === 'matched' && !this.#areListed(item.match)) return false
    waiting.shift()
    if (item.kind === 'update') this.#takeUpdate(item.update, item)
    else this.#applyItem(item)
    return this.#fault === null
  }

  /** The row of a pair's second market may arrive later, in another shard. */
  #areListed({ a, b }: StoredMatch): boolean {
    return this.catalog.hasSeen(a) && this.catalog.hasSeen(b)
  }

  #mustWait(update: Update): boolean {
    if (update.kind === 'status' || update.kind === 'gap') return false
    const channel = countedChannelOf(update.kind)
    if (channel !== null) return update.offset > this.publisher.offset(channel) + 1
    return update.offset > this.publisher.offset('orderbook')
  }

  #applyItem(item: LogItem): void {
    switch (item.kind) {
      case 'listed':
        return this.catalog.takeListed(item)
      case 'quoted':
        return this.catalog.takeQuoted(item)
      case 'forgotten':
        this.#bars?.remove(item.market)
        return this.catalog.takeRemoved(item)
      case 'text':
        return this.catalog.descriptions.take(item)
      case 'packed':
        return
      case 'event':
        return this.catalog.takeEventRow(item)
      case 'teams':
        void this.sports.learnTeams(item.listings)
        return
      case 'past':
        return this.#bars?.renew(item.markets)
      case 'figures':
        this.#figures = item.figures
        return
      case 'matched':
        return this.#match(item.match)
      case 'unmatched': {
        const market = this.catalog.refOf(item.market)
        return market === null ? undefined : this.matches.remove(market)
      }
      case 'feed':
        return this.#takeFeed(item.feed)
      case 'state':
        return this.#restore(item)
      case 'missing':
        return this.#fail('said_missing')
      case 'update':
        return
    }
  }

  #match(match: StoredMatch): void {
    const [one, other] = [this.catalog.mirrorOf(match.a), this.catalog.mirrorOf(match.b)]
    const pairScore = pairScoreOf(match)
    if (one === null || other === null || pairScore === null) return
    this.matches.put(one, other, pairScore, match.matchedAtMs)
  }

  #takeFeed(feed: Extract<LogItem, { kind: 'feed' }>['feed']): void {
    this.#venues.set(feed.venue, { ...feed, drift: [] })
  }

  #takeUpdate(update: Update, { book }: Extract<LogItem, { kind: 'update' }>): void {
    if (update.kind === 'status') {
      const current = this.#venues.get(update.venue)
      const { kind: _, ...feed } = update
      const open = { connectionsOpen: 0, connectionsWanted: 0, drift: [] }
      const view = { ...open, ...current, ...feed }
      this.#venues.set(update.venue, view)
      return this.#publishStatus(this.#shown(view))
    }
    if (update.kind === 'gap') {
      const { market, venue, fromMs, toMs, count } = update
      const at = { run: this.#run, offset: this.publisher.offset('trades') }
      this.tradeLog.addLoss({ ...at, venue, market: market?.number ?? null, fromMs, toMs, count })
      return this.publisher.publish(update)
    }
    this.#lagMs = Math.max(0, this.#clock.nowMs() - update.receivedAtMs)
    const market = this.catalog.mirrorOf(update.market.number)
    const channel = countedChannelOf(update.kind)
    if (channel === null) {
      if (
        market === null ||
        update.seq < this.publisher.latest('orderbook', update.market.number).seq
      )
        return
      if (update.kind === 'bookStale') market.markStale(update.reason)
      else if (update.kind === 'bookConfirmed') market.confirm(update)
      else if (book !== null) market.replace(book)
      return this.publisher.publish(update)
    }
    if (update.kind === 'trade') this.tradeLog.push(this.#run, update)
    if (update.kind === 'whale') this.whaleLog.push(this.#run, update)
    // Skips updates that the checkpoint contains. The engine continues to write log items while it writes a checkpoint.
    const isAlreadyApplied = update.seq <= this.publisher.latest(channel, update.market.number).seq
    const isAlreadyPublished = update.offset <= this.publisher.offset(channel)
    this.publisher.follow(channel, {
      ...{ offset: update.offset, market: update.market.number },
      seq: isAlreadyApplied ? 0 : update.seq,
    })
    if (market !== null && !isAlreadyApplied) this.#apply(market, update)
    if (!isAlreadyPublished && this.#fault === null) this.publisher.publish(update)
  }

  #apply(market: MirrorMarket, update: Update): void {
    if (update.kind === 'book') {
      if (!market.change(update)) this.#fail('checksum')
    } else if (update.kind === 'price') market.reprice(update)
    else if (update.kind === 'trade') {
      market.noteTrade(update)
      this.#bars?.note(update)
      this.catalog.moved(market)
    }
  }

  #shown(view: VenueView): VenueView {
    if (!this.#isDisconnected || view.state === 'down') return view
    const staleBooks = this.catalog.bookCount(view.venue)
    return { ...view, state: 'stale' satisfies FeedState, reason: 'no_leader', staleBooks }
  }

  #publishStatus(view: VenueView): void {
    const { venue, platform, state, lagMs, delayMs, completeToMs, tradesSource } = view
    const facts = { venue, platform, state, lagMs, delayMs, completeToMs, tradesSource }
    const { reason, staleBooks } = view
    this.publisher.publish({ kind: 'status', ...facts, reason, staleBooks })
  }

  #fail(fault: MirrorFault): void {
    if (this.#fault !== null) return
    this.#fault = fault
    for (const waiting of this.#shards.values()) waiting.release()
    this.#onFault(fault)
  }
}
