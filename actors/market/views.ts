// What a market's actor lets the face see: its book, prices, trades and bars. Part of views.ts, which shows these to http/.

import type { Level, MarketPrice } from '../../engine/events.ts'
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

/** The best levels of a book as of now, best first; the arrays are the caller's to keep. */
export interface BookLevels {
  readonly bids: readonly Level[]
  readonly asks: readonly Level[]
  /** Of the `orderbook` channel; the first update a new subscriber sees is seq + 1. */
  readonly seq: number
  readonly offset: number
  /** No snapshot yet, or a gap since. */
  readonly isStale: boolean
  /** The venue's time of the newest change; null before the first snapshot. */
  readonly venueTimeMs: TimeMs | null
  readonly receivedAtMs: TimeMs | null
}

/** A whole book. */
export interface BookView extends BookLevels {
  readonly checksum: number
}

/** One market, seen through its actor. Looking wakes a sleeping market; looking is cheap. */
export interface MarketView {
  readonly ref: MarketRef
  readonly summary: MarketSummary
  /** 24-hour and total volume, as in `figures`. */
  readonly volume24h: UsdMicros
  readonly volumeTotal: UsdMicros | null
  /** Volumes, open interest and last price: the venue's figures, moved on by our trades since. */
  readonly figures: FiguresState
  /** What the volumes count. */
  readonly volumeUnit: VolumeUnit
  /** Grows when anything changes that price(), book(), summary or the figures show. */
  readonly version: number
  /** Grows when anything changes that trades(), bars() and oldestTradeMs() show. */
  readonly tradesVersion: number
  price(): MarketPrice
  /** The newest price at or before a time, from our own ticks; null when none is kept. */
  priceAt(atMs: TimeMs): PricePoint | null
  /** What the venue sends lies unread for too long: its books here are older than they look. */
  readonly isBehind: boolean
  /**
   * When the book itself was last known to be right: by a message of its subscription, or by a reading over REST that
   * equals it. Null before the first.
   */
  readonly bookConfirmedAtMs: TimeMs | null
  book(): BookView
  /** At most `levelsMax` of the best levels of each side. */
  levels(levelsMax: number): BookLevels
  /** A slice of the trades in [fromMs, toMs] behind `after`: fewer than `limit` only at the end. */
  trades(query: SliceQuery): readonly StoredTrade[]
  /** A slice of the kept books likewise; their ordinals are all 0. */
  snapshots(query: SliceQuery): readonly BookSnapshot[]
  /** Bars of trades that start in [fromMs, toMs], newest or oldest first, at most `limit`. */
  bars(query: BarQuery): readonly Bar[]
  /** In a gateway: when bars() has those of the present candles, or never will; null: it has. */
  barsArrival?(): Promise<void> | null
  /** Where our records begin; null when there are none. */
  oldestTradeMs(): TimeMs | null
  oldestSnapshotMs(): TimeMs | null
  /** Counters of the `trades` and `prices` channels of this market. */
  seq(channel: StreamChannel): number
  details(): ListingDetails
}

/** A price and when it was observed. */
export interface PricePoint {
  readonly price: MarketPrice['price']
  readonly timeMs: TimeMs
}

export type StreamChannel = 'orderbook' | 'trades' | 'prices' | 'lifecycle'
