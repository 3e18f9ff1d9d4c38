import type { CountedChannel, Level, MarketPrice, StaleReason } from '../../engine/events.ts'
import type { Bar } from '../../engine/market/candle.ts'
import type { MarketRef } from '../../engine/market/market.ts'
import type { FiguresState } from '../../engine/market/trading-figures.ts'
import type { TimeMs, UsdMicros } from '../../engine/units.ts'
import type { VolumeUnit } from '../../engine/venue-table.ts'
import type {
  BarQuery,
  BookSnapshot,
  ListingDetails,
  MarketSummary,
  SliceQuery,
  StoredTrade,
} from '../../storage/contract/storage.ts'

/** Best levels first. The caller may modify the arrays. */
export interface BookLevels {
  readonly bids: readonly Level[]
  readonly asks: readonly Level[]
  /** Sequence number in the `orderbook` channel. A new subscriber's first update has seq + 1. */
  readonly seq: number
  readonly offset: number
  /** False if the book is live or the market is resolved. */
  readonly isStale: boolean
  readonly staleReason: StaleReason | null
  /** The venue's time of the newest change. Null before the first snapshot. */
  readonly venueTimeMs: TimeMs | null
  readonly receivedAtMs: TimeMs | null
}

export interface BookView extends BookLevels {
  readonly checksum: number
}

/** Reading an idle market loads data from storage. */
export interface MarketView {
  readonly ref: MarketRef
  readonly summary: MarketSummary
  readonly volume24h: UsdMicros
  readonly volumeTotal: UsdMicros | null
  /** The venue's figures plus the trades recorded since. */
  readonly figures: FiguresState
  readonly volumeUnit: VolumeUnit
  /** Increases when price(), book(), summary or the figures change. */
  readonly version: number
  /** Increases when trades(), bars() or oldestTradeMs() change. */
  readonly tradesVersion: number
  price(): MarketPrice
  priceAt(atMs: TimeMs): PricePoint | null
  /** Whether the venue's messages wait unread in this process. The book is then older than its times state. */
  readonly isBehind: boolean
  /** Time of the last message for the book, or of the last REST read that equalled the book. Null before the first. */
  readonly bookConfirmedAtMs: TimeMs | null
  book(): BookView
  levels(levelsMax: number): BookLevels
  /** The trades in [fromMs, toMs] that follow `after`. Returns fewer than `limit` only at the end. */
  trades(query: SliceQuery): readonly StoredTrade[]
  /** The stored books in [fromMs, toMs] that follow `after`. Their ordinals are all 0. */
  snapshots(query: SliceQuery): readonly BookSnapshot[]
  /** At most `limit` bars that start in [fromMs, toMs], in the query's order. */
  bars(query: BarQuery): readonly Bar[]
  /**
   * Exists only in gateways. Resolves when bars() has the current candles, or when loading them failed. Null: bars()
   * has them.
   */
  barsArrival?(): Promise<void> | null
  /** Null if no trade is recorded. */
  oldestTradeMs(): TimeMs | null
  oldestSnapshotMs(): TimeMs | null
  /** Newest sequence number of this market in a channel. 0 before the first message. */
  seq(channel: CountedChannel): number
  details(): ListingDetails
}

export interface PricePoint {
  readonly price: MarketPrice['price']
  readonly timeMs: TimeMs
}
