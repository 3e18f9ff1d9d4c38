// A market of the engine at a gateway: book, price and figures from the log. Its history is limited to the current
// candles. Routes that need more history are forwarded (http/request/forwarding.ts).

import type {
  BookConfirmed,
  BookUpdate,
  CountedChannel,
  MarketPrice,
  PriceUpdate,
  StaleReason,
  TradeUpdate,
} from '../../engine/events.ts'
import type { VenueKey } from '../../engine/ids.ts'
import type { Bar } from '../../engine/market/candle.ts'
import type { MarketRef } from '../../engine/market/market.ts'
import { OrderBook } from '../../engine/market/order-book.ts'
import { type FiguresState, MarketFigures } from '../../engine/market/trading-figures.ts'
import type { Publisher } from '../../engine/publisher.ts'
import type { TimeMs, UsdMicros } from '../../engine/units.ts'
import type { VolumeUnit } from '../../engine/venue-table.ts'
import type { BarQuery, ListingDetails, MarketSummary } from '../../storage/contract/storage.ts'
import type { BookState, MarketState, Quoted } from '../../storage/records/log-items.ts'
import type { BookLevels, BookView, MarketView } from '../views.ts'
import type { MirrorBars } from './bars.ts'

export interface MirrorParts {
  readonly publisher: Pick<Publisher, 'latest'>
  /** True while the engine has sent nothing for too long, so that the state may be stale. */
  readonly isDisconnected: () => boolean
  readonly disconnectCount: () => number
  readonly description: (market: MarketRef) => string | null
  readonly volumeUnit: (venue: VenueKey) => VolumeUnit
  readonly bars: Pick<MirrorBars, 'range' | 'arrival'> | null
}

const NOTHING: readonly never[] = []
/** Shared by all markets without a book. Must not be changed. */
const NO_BOOK = new OrderBook()

export class MirrorMarket implements MarketView {
  readonly ref: MarketRef
  summary: MarketSummary
  readonly #parts: MirrorParts
  #levels = NO_BOOK
  /** Null: the book is live. */
  #staleReason: StaleReason | null = 'not_covered'
  #venueTimeMs: TimeMs | null = null
  #receivedAtMs: TimeMs | null = null
  #confirmedAtMs: TimeMs | null = null
  #price: MarketPrice
  #pricesSeq = 0
  #tradesSeq = 0
  readonly #figures: MarketFigures
  #version = 1
  #tradesVersion = 0

  constructor(
    ref: MarketRef,
    listed: { readonly summary: MarketSummary; readonly quoted: Quoted },
    parts: MirrorParts,
  ) {
    const { summary, quoted } = listed
    this.ref = ref
    this.summary = summary
    this.#parts = parts
    this.#price = quoted.price
    this.#pricesSeq = quoted.pricesSeq
    this.#tradesSeq = quoted.tradesSeq
    this.#figures = new MarketFigures(summary, parts.volumeUnit(ref.venue))
    this.#figures.restore(quoted.figures)
  }

  list(summary: MarketSummary, quoted: Quoted): void {
    this.summary = summary
    this.quote(quoted)
  }

  quote({ price, pricesSeq, tradesSeq, figures }: Quoted): void {
    this.#version += 1
    if (pricesSeq >= this.#pricesSeq) {
      this.#price = price
      this.#pricesSeq = pricesSeq
    }
    if (tradesSeq < this.#tradesSeq) return
    const isOlder = (figures.figuresAtMs ?? 0) < (this.#figures.figuresAtMs ?? 0)
    if (tradesSeq === this.#tradesSeq && isOlder) return
    this.#tradesSeq = tradesSeq
    this.#figures.restore(figures)
  }

  restore({ book, price, figures, seqs }: MarketState): void {
    this.#version += 1
    this.replace(book)
    this.#price = price
    this.#pricesSeq = seqs.prices
    this.#tradesSeq = seqs.trades
    this.#figures.restore(figures)
  }

  replace({ bids, asks, staleReason, venueTimeMs, receivedAtMs }: BookState): void {
    this.#version += 1
    if (bids.length + asks.length > 0) this.#ownLevels().replace(bids, asks)
    else this.#levels = NO_BOOK
    this.#staleReason = staleReason
    this.#venueTimeMs = venueTimeMs
    this.#receivedAtMs = receivedAtMs
    this.#confirmedAtMs = receivedAtMs
  }

  /** Returns false if the checksum of the resulting book differs from the engine's. */
  change({ changes, checksum, venueTimeMs, receivedAtMs }: BookUpdate): boolean {
    this.#version += 1
    for (const change of changes) this.#ownLevels().set(change)
    this.#venueTimeMs = venueTimeMs
    this.#receivedAtMs = receivedAtMs
    this.#confirmedAtMs = receivedAtMs
    return checksum === null || checksum === this.#levels.checksum()
  }

  #ownLevels(): OrderBook {
    if (this.#levels === NO_BOOK) this.#levels = new OrderBook()
    return this.#levels
  }

  markStale(reason: StaleReason): void {
    this.#version += 1
    this.#staleReason = reason
    if (reason !== 'not_covered') return
    this.#levels = NO_BOOK
    this.#venueTimeMs = null
    this.#receivedAtMs = null
    this.#confirmedAtMs = null
  }

  confirm({ receivedAtMs }: BookConfirmed): void {
    this.#version += 1
    this.#staleReason = null
    this.#confirmedAtMs = receivedAtMs
  }

  reprice({ price, seq }: PriceUpdate): void {
    if (seq < this.#pricesSeq) return
    this.#version += 1
    this.#pricesSeq = seq
    this.#price = price
  }

  noteTrade({ trade, seq, receivedAtMs }: TradeUpdate): void {
    this.#tradesVersion += 1
    if (seq <= this.#tradesSeq) return
    this.#tradesSeq = seq
    this.#version += 1
    this.#figures.count(trade, receivedAtMs)
  }

  get volume24h(): UsdMicros {
    return this.#figures.volume24h
  }

  get volumeTotal(): UsdMicros | null {
    return this.#figures.volumeTotal
  }

  get volumeUnit(): VolumeUnit {
    return this.#parts.volumeUnit(this.ref.venue)
  }

  get figures(): FiguresState {
    return this.#figures
  }

  get version(): number {
    return this.#version + this.#parts.disconnectCount()
  }

  get tradesVersion(): number {
    return this.#tradesVersion
  }

  get isBehind(): boolean {
    return this.#parts.isDisconnected()
  }

  get bookConfirmedAtMs(): TimeMs | null {
    return this.#confirmedAtMs
  }

  get hasFreshBook(): boolean {
    return this.#staleReason === null
  }

  price(): MarketPrice {
    return this.#price
  }

  book(): BookView {
    return { ...this.#view(), checksum: this.#levels.checksum() }
  }

  levels(levelsMax: number): BookLevels {
    return this.#view(levelsMax)
  }

  #view(levelsMax?: number): BookLevels {
    const { offset, seq } = this.#parts.publisher.latest('orderbook', this.ref.number)
    const staleReason = this.#parts.isDisconnected() ? 'no_leader' : this.#staleReason
    return {
      bids: this.#levels.levels('bid', levelsMax),
      asks: this.#levels.levels('ask', levelsMax),
      seq,
      offset,
      isStale: staleReason !== null,
      staleReason,
      venueTimeMs: this.#venueTimeMs,
      receivedAtMs: this.#receivedAtMs,
    }
  }

  seq(channel: CountedChannel): number {
    return this.#parts.publisher.latest(channel, this.ref.number).seq
  }

  details(): ListingDetails {
    return { description: this.#parts.description(this.ref), native: {} }
  }

  bars(query: BarQuery): readonly Bar[] {
    return this.#parts.bars?.range(this.ref.number, query) ?? NOTHING
  }

  barsArrival(): Promise<void> | null {
    return this.#parts.bars?.arrival(this.ref.number) ?? null
  }

  priceAt(): null {
    return null
  }

  trades(): readonly never[] {
    return NOTHING
  }

  snapshots(): readonly never[] {
    return NOTHING
  }

  oldestTradeMs(): null {
    return null
  }

  oldestSnapshotMs(): null {
    return null
  }
}
