// Views are computed on each read.

import { crc32 } from 'node:zlib'
import type { BookLevels, BookView, MarketView, SliceQuery } from '../../../actors/views.ts'
import type { Clock } from '../../../engine/clock.ts'
import type {
  BookReplaced,
  Level,
  LevelChange,
  MarketPrice,
  StaleReason,
  Trade,
} from '../../../engine/events.ts'
import { type Bar, type BarSize, barOf, joined } from '../../../engine/market/candle.ts'
import type { MarketListing, MarketRef } from '../../../engine/market/market.ts'
import type { Publisher } from '../../../engine/publisher.ts'
import { notionalMicros, priceMicros, sizeMicros, type TimeMs } from '../../../engine/units.ts'
import type { VenueTable } from '../../../engine/venue-table.ts'
import { NaiveBook } from '../reference/naive/book.ts'

type StoredTrade = ReturnType<MarketView['trades']>[number]
type Snapshot = ReturnType<MarketView['snapshots']>[number]

/** Number of the run that publishes the fake trades. */
export const presentRun = 9

interface FakeWorld {
  readonly clock: Clock
  readonly publisher: Publisher
  readonly catalog: { readonly names: VenueTable }
}

interface JoinedBars {
  readonly first: StoredTrade | undefined
  count: number
  readonly bars: Map<number, Bar>
}

export class FakeMarket implements MarketView {
  readonly ref: MarketRef
  summary: MarketView['summary']
  volume24h: MarketView['volume24h']
  volumeTotal: MarketView['volumeTotal']
  readonly naive = new NaiveBook()
  isStale = true
  /** The reason while `isStale` is true. */
  staleReason: StaleReason = 'messages_lost'
  now: MarketPrice
  /** In the order in which they were stored. */
  readonly stored: StoredTrade[] = []
  /** Ordinal of the next trade, by millisecond. */
  readonly #tradesAt = new Map<TimeMs, number>()
  /** In any order. */
  readonly storedBooks: Snapshot[] = []
  /** Ticks in order of time. */
  readonly past: { price: MarketPrice['price']; timeMs: TimeMs }[] = []
  readonly #details: { description: string | null; native: MarketListing['native'] }
  readonly #world: FakeWorld
  readonly #onStored: (row: StoredTrade) => void
  #bookTimeMs: TimeMs | null = null
  #version = 0
  #seen = ''
  #tradesVersion = 0
  #tradesSeen: readonly StoredTrade[] = []

  readonly #barsBySize = new Map<BarSize, JoinedBars>()

  constructor(
    world: FakeWorld,
    market: MarketListing,
    number: number,
    onStored: (market: FakeMarket, row: StoredTrade) => void = () => {},
  ) {
    const { description, native, ...summary } = market
    this.#world = world
    this.#onStored = (row) => onStored(this, row)
    this.#details = { description, native }
    this.summary = summary
    this.volume24h = market.volume24h
    this.volumeTotal = market.volumeTotal
    const { venue, nativeId } = market
    const { names } = world.catalog
    const platform = names.platform(venue)
    this.ref = { id: names.marketId(venue, nativeId), number, venue, platform, nativeId }
    this.now = {
      price: priceMicros(500_000),
      source: 'none',
      bid: null,
      ask: null,
      observedAtMs: world.clock.nowMs(),
    }
  }

  get volumeUnit(): MarketView['volumeUnit'] {
    return this.#world.catalog.names.of(this.ref.venue).volumeUnit
  }

  get figures(): MarketView['figures'] {
    const { volume24h, volumeTotal } = this
    return { ...this.summary, volume24h, volumeTotal, lastPriceAtMs: null, excess: 0 }
  }

  price(): MarketPrice {
    return this.now
  }

  priceAt(atMs: TimeMs) {
    return this.past.filter((tick) => tick.timeMs <= atMs).at(-1) ?? null
  }

  book(): BookView {
    const { publisher } = this.#world
    const bids = this.naive.levels('bid')
    const asks = this.naive.levels('ask')
    const { seq, offset } = publisher.latest('orderbook', this.ref.number)
    return {
      bids,
      asks,
      seq,
      offset,
      isStale: this.isStale,
      staleReason: this.isStale ? this.staleReason : null,
      venueTimeMs: this.#bookTimeMs,
      receivedAtMs: this.#bookTimeMs,
      checksum: bookChecksum(bids, asks),
    }
  }

  levels(levelsMax: number): BookLevels {
    const { bids, asks, ...rest } = this.book()
    return { ...rest, bids: bids.slice(0, levelsMax), asks: asks.slice(0, levelsMax) }
  }

  /** Time at which the test last confirmed the book; null before the first time. */
  confirmedAtMs: TimeMs | null = null

  get bookConfirmedAtMs(): TimeMs | null {
    const [confirmed, changed] = [this.confirmedAtMs, this.#bookTimeMs]
    if (confirmed === null || changed === null) return confirmed ?? changed
    return confirmed > changed ? confirmed : changed
  }

  /** Tests set it to simulate venue data that was not read yet. */
  isBehind = false

  /** Incremented if any view changed since the last read. */
  get version(): number {
    const { summary, volume24h, volumeTotal } = this
    const seen = JSON.stringify([
      ...[this.price(), this.book(), this.isBehind, this.confirmedAtMs],
      ...[summary, volume24h, volumeTotal],
    ])
    if (seen !== this.#seen) this.#version += 1
    this.#seen = seen
    return this.#version
  }

  /** Incremented if the stored trades changed since the last read. Trades are replaced and never modified. */
  get tradesVersion(): number {
    const { stored } = this
    const isSame =
      stored.length === this.#tradesSeen.length &&
      stored.every((row, index) => row === this.#tradesSeen[index])
    if (!isSame) this.#tradesVersion += 1
    this.#tradesSeen = [...stored]
    return this.#tradesVersion
  }

  trades(query: SliceQuery): readonly StoredTrade[] {
    return slice(this.stored, query, (row) => row.ordinal)
  }

  snapshots(query: SliceQuery): readonly Snapshot[] {
    return slice(this.storedBooks, query, () => 0)
  }

  bars(query: Parameters<MarketView['bars']>[0]): readonly Bar[] {
    const { bars } = this.#joinedBars(query.size)
    const sign = query.order === 'asc' ? 1 : -1
    return [...bars.values()]
      .filter(({ startMs }) => startMs >= query.fromMs && startMs <= query.toMs)
      .sort((one, two) => sign * (one.startMs - two.startMs))
      .slice(0, query.limit)
  }

  /** Rows of an earlier call are not aggregated again, because an hour may have a million. */
  #joinedBars(size: BarSize): JoinedBars {
    const existing = this.#barsBySize.get(size)
    const [first] = this.stored
    const isPart =
      existing?.first === first && existing !== undefined && existing.count <= this.stored.length
    const all = isPart ? existing : { first, count: 0, bars: new Map<number, Bar>() }
    for (const row of this.stored.slice(all.count)) {
      const bar = barOf(size, row)
      const before = all.bars.get(bar.startMs)
      all.bars.set(bar.startMs, before === undefined ? bar : joined(before, bar))
    }
    all.count = this.stored.length
    this.#barsBySize.set(size, all)
    return all
  }

  oldestTradeMs(): TimeMs | null {
    return oldest(this.stored)
  }

  oldestSnapshotMs(): TimeMs | null {
    return oldest(this.storedBooks)
  }

  seq(channel: 'orderbook' | 'trades' | 'prices' | 'lifecycle'): number {
    return this.#world.publisher.latest(channel, this.ref.number).seq
  }

  details() {
    return this.#details
  }

  #stamped(channel: 'orderbook' | 'trades' | 'prices') {
    const nowMs = this.#world.clock.nowMs()
    const stamp = this.#world.publisher.stamp(channel, this.ref.number)
    return { ...stamp, market: this.ref, venueTimeMs: nowMs, receivedAtMs: nowMs }
  }

  replace(
    bids: readonly Level[],
    asks: readonly Level[],
    reason: BookReplaced['reason'] = 'first',
  ) {
    this.naive.replace(bids, asks)
    this.isStale = false
    this.#bookTimeMs = this.#world.clock.nowMs()
    const { publisher } = this.#world
    publisher.publish({
      kind: 'bookReplaced',
      market: this.ref,
      venueTimeMs: this.#bookTimeMs,
      receivedAtMs: this.#bookTimeMs,
      reason,
      ...publisher.latest('orderbook', this.ref.number),
    })
  }

  markStale(reason: StaleReason, isOfVenue = false): void {
    const nowMs = this.#world.clock.nowMs()
    const times = { venueTimeMs: nowMs, receivedAtMs: nowMs }
    this.isStale = true
    this.staleReason = reason
    const stale = { reason, sinceMs: this.bookConfirmedAtMs ?? nowMs, isOfVenue }
    const stamp = this.#world.publisher.latest('orderbook', this.ref.number)
    this.#world.publisher.publish({
      kind: 'bookStale',
      market: this.ref,
      ...times,
      ...stamp,
      ...stale,
    })
  }

  /** Marks the book live, even if it was not stale. */
  confirm(): void {
    const nowMs = this.#world.clock.nowMs()
    const wasStale = this.isStale
    this.isStale = false
    this.confirmedAtMs = nowMs
    const times = { venueTimeMs: nowMs, receivedAtMs: nowMs }
    const stamp = this.#world.publisher.latest('orderbook', this.ref.number)
    this.#world.publisher.publish({
      kind: 'bookConfirmed',
      market: this.ref,
      ...times,
      ...stamp,
      wasStale,
    })
  }

  change(...changes: readonly LevelChange[]): void {
    for (const change of changes) this.naive.set(change)
    this.#bookTimeMs = this.#world.clock.nowMs()
    const stamped = this.#stamped('orderbook')
    const checksum = stamped.seq % 50 === 0 ? this.book().checksum : null
    this.#world.publisher.publish({ kind: 'book', ...stamped, changes, checksum })
  }

  /** Published unless `isPublished` is false. */
  trade(set: Partial<Trade> = {}, isPublished = true): StoredTrade {
    const at = set.timeMs ?? this.#world.clock.nowMs()
    const price = set.price ?? priceMicros(420_000)
    const size = set.size ?? sizeMicros(10_000_000)
    const trade: Trade = {
      nativeId: `t-${this.ref.number}-${this.stored.length + 1}`,
      timeMs: at,
      ordinal: set.ordinal ?? this.#tradesAt.get(at) ?? 0,
      price,
      size,
      side: 'buy',
      outcomeIndex: 0,
      usd: notionalMicros({ price, size }),
      maker: null,
      taker: '0xtaker',
      txHash: null,
      isBlock: false,
      ...set,
    }
    this.#tradesAt.set(at, trade.ordinal + 1)
    const stamped = isPublished ? this.#stamped('trades') : null
    const { offset, seq } = stamped ?? { offset: null, seq: null }
    const row = { ...trade, receivedAtMs: at, run: isPublished ? presentRun : null, offset, seq }
    this.stored.push(row)
    this.#onStored(row)
    if (stamped !== null) this.#world.publisher.publish({ kind: 'trade', ...stamped, trade })
    return row
  }

  /** Stores the current book and its depths. */
  keepBook(timeMs = this.#world.clock.nowMs()): Snapshot {
    const [bids, asks] = [this.naive.levels('bid'), this.naive.levels('ask')]
    const depth = (levels: readonly Level[]) =>
      sizeMicros(levels.reduce((sum, { size }) => sum + size, 0))
    const row = {
      timeMs,
      bids: bids.slice(0, 20),
      asks: asks.slice(0, 20),
      bidDepth: depth(bids),
      askDepth: depth(asks),
    }
    this.storedBooks.push(row)
    return row
  }

  reprice(micros: number): void {
    const observedAtMs = this.#world.clock.nowMs()
    this.now = { ...this.now, price: priceMicros(micros), source: 'midpoint', observedAtMs }
    this.past.push({ price: this.now.price, timeMs: observedAtMs })
    this.#world.publisher.publish({ kind: 'price', ...this.#stamped('prices'), price: this.now })
  }
}

function oldest(rows: readonly { readonly timeMs: TimeMs }[]): TimeMs | null {
  return [...rows].sort((one, two) => one.timeMs - two.timeMs)[0]?.timeMs ?? null
}

/** Reference implementation of history queries. */
export function slice<Row extends { readonly timeMs: TimeMs }>(
  all: readonly Row[],
  { fromMs, toMs, after, order, limit }: SliceQuery,
  ordinalOf: (row: Row) => number,
): Row[] {
  const sign = order === 'asc' ? 1 : -1
  const isBehind = (row: Row) => {
    if (after === null) return true
    if (row.timeMs !== after.timeMs) return sign * (row.timeMs - after.timeMs) > 0
    return after.ordinal !== null && sign * (ordinalOf(row) - after.ordinal) > 0
  }
  return all
    .filter((row) => row.timeMs >= fromMs && row.timeMs <= toMs && isBehind(row))
    .sort((one, two) => sign * (one.timeMs - two.timeMs || ordinalOf(one) - ordinalOf(two)))
    .slice(0, limit)
}

/** CRC-32 of the ten best levels per side, in millionths, as http/ws/README.md defines it. */
export function bookChecksum(
  bids: readonly { price: number; size: number }[],
  asks: readonly { price: number; size: number }[],
): number {
  const pairs = [...bids.slice(0, 10), ...asks.slice(0, 10)]
  return crc32(pairs.map(({ price, size }) => `${price}:${size}`).join(':'))
}
