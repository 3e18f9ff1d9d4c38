// Read interface of a market's actor for the API server: its book, prices, trades and bars.

import type { CountedChannel, Level, MarketPrice } from '../../engine/events.ts'
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

/** The current best levels of a book, best first. The caller owns the arrays. */
export interface BookLevels {
  readonly bids: readonly Level[]
  readonly asks: readonly Level[]
  /** Of the `orderbook` channel. A new subscriber's first update has seq + 1. */
  readonly seq: number
  readonly offset: number
  /** No snapshot yet, or a gap since. */
  readonly isStale: boolean
  /** The venue's time of the newest change; null before the first snapshot. */
  readonly venueTimeMs: TimeMs | null
  readonly receivedAtMs: TimeMs | null
}

export interface BookView extends BookLevels {
  readonly checksum: number
}

/** Read access to one market. Reads wake a sleeping market and are cheap. */
export interface MarketView {
  readonly ref: MarketRef
  readonly summary: MarketSummary
  /** 24-hour and total volume, as in `figures`. */
  readonly volume24h: UsdMicros
  readonly volumeTotal: UsdMicros | null
  /** Volumes, open interest and last price: the venue's figures plus our trades since. */
  readonly figures: FiguresState
  /** Unit of the volumes. */
  readonly volumeUnit: VolumeUnit
  /** Increases when price(), book(), summary or the figures change. */
  readonly version: number
  /** Increases when trades(), bars() or oldestTradeMs() change. */
  readonly tradesVersion: number
  price(): MarketPrice
  /** The newest price at or before a time, from our ticks; null if none is stored. */
  priceAt(atMs: TimeMs): PricePoint | null
  /** The venue's messages stay unread for too long: its books here are older than their times state. */
  readonly isBehind: boolean
  /**
   * When the book was last confirmed, by a message of its subscription or an equal REST read. Null before the first.
   */
  readonly bookConfirmedAtMs: TimeMs | null
  book(): BookView
  /** At most `levelsMax` levels of each side, best first. */
  levels(levelsMax: number): BookLevels
  /** A slice of the trades in [fromMs, toMs] after `after`. Fewer than `limit` only at the end. */
  trades(query: SliceQuery): readonly StoredTrade[]
  /** A slice of the stored books, with the same rules. Their ordinals are all 0. */
  snapshots(query: SliceQuery): readonly BookSnapshot[]
  /** Bars that start in [fromMs, toMs], newest or oldest first, at most `limit`. */
  bars(query: BarQuery): readonly Bar[]
  /** Gateways only: resolves when bars() has the current candles, or never will. Null: it has them. */
  barsArrival?(): Promise<void> | null
  /** Start of our records; null if there are none. */
  oldestTradeMs(): TimeMs | null
  oldestSnapshotMs(): TimeMs | null
  /** The newest seq of this market's messages in a channel; 0 without a message. */
  seq(channel: CountedChannel): number
  details(): ListingDetails
}

export interface PricePoint {
  readonly price: MarketPrice['price']
  readonly timeMs: TimeMs
}
