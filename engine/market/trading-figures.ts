// A market's volumes, open interest and last price: the venue's figures plus the recorded trades that they do not
// contain yet.

import {
  type PriceMicros,
  type SizeMicros,
  type TimeMs,
  timeMs,
  type UsdMicros,
  usdMicros,
} from '../units.ts'
import type { VolumeUnit } from '../venue-table.ts'
import type { MarketListing } from './market.ts'

/** Volumes are in the venue's unit. */
export type Figures = Pick<
  MarketListing,
  | 'lastPrice'
  | 'previousPrice'
  | 'volume24h'
  | 'volumeTotal'
  | 'openInterest'
  | 'figuresAtMs'
  | 'dayFiguresAtMs'
>

export interface FiguresState extends Figures {
  /**
   * Amount by which `volumeTotal` exceeds the venue's figure plus the trades recorded since. New trades reduce the
   * excess before they increase the total.
   */
  readonly excess: number
  /** Venue time of the trade with `lastPrice`. Null: unknown. */
  readonly lastPriceAtMs: TimeMs | null
}

/** Figures that the venue returned at `atMs`. Null: not stated. */
export interface FiguresRead {
  /** The figures contain all trades up to this time. */
  readonly atMs: TimeMs
  readonly lastPrice: PriceMicros | null
  readonly lastPriceAtMs: TimeMs
  readonly previousPrice: PriceMicros | null
  readonly volume24h: UsdMicros | null
  readonly volumeTotal: UsdMicros | null
  readonly openInterest: SizeMicros | null
}

interface CountedTrade {
  readonly timeMs: TimeMs
  readonly price: PriceMicros
  readonly size: SizeMicros
  readonly usd: UsdMicros
  readonly isBlock: boolean
}

/** A total below the venue's earlier total is outdated, unless it arrives at least this much later. */
const LOWER_AFTER_MS = 600_000
/** The last price in a REST response may be this much older than the response. */
const ANSWER_MS_MAX = 15_000

/** The figures of one market. `volumeTotal` never decreases. */
export class MarketFigures implements FiguresState {
  lastPrice: PriceMicros | null
  lastPriceAtMs: TimeMs | null = null
  previousPrice: PriceMicros | null
  volume24h: UsdMicros
  volumeTotal: UsdMicros | null
  openInterest: SizeMicros | null
  figuresAtMs: TimeMs | null
  dayFiguresAtMs: TimeMs | null
  excess = 0
  #venueTotal: UsdMicros | null
  readonly #unit: VolumeUnit

  /** `venueTotal`: the newest total that the venue stated. Null: unknown, as after a restart. */
  constructor(summary: Figures, unit: VolumeUnit, venueTotal: UsdMicros | null = null) {
    this.lastPrice = summary.lastPrice
    this.previousPrice = summary.previousPrice
    this.volume24h = summary.volume24h
    this.volumeTotal = summary.volumeTotal
    this.openInterest = summary.openInterest
    this.figuresAtMs = summary.figuresAtMs
    this.dayFiguresAtMs = summary.dayFiguresAtMs
    this.#venueTotal = venueTotal
    this.#unit = unit
  }

  /** Applies the venue's figures. Returns false if they are older than the current figures. */
  take(read: FiguresRead): boolean {
    if (this.#isOlder(read)) return false
    const { atMs, volumeTotal, volume24h, openInterest, previousPrice } = read
    if (volumeTotal !== null) this.#takeTotal(volumeTotal)
    if (volume24h !== null) {
      this.volume24h = volume24h
      this.dayFiguresAtMs = atMs
    }
    this.previousPrice = previousPrice ?? this.previousPrice
    this.openInterest = openInterest ?? this.openInterest
    if (read.lastPrice !== null) this.#notePrice(read.lastPrice, read.lastPriceAtMs)
    this.figuresAtMs = timeMs(Math.max(atMs, this.figuresAtMs ?? 0))
    return true
  }

  #isOlder({ atMs, volumeTotal }: FiguresRead): boolean {
    const currentAtMs = this.figuresAtMs
    if (currentAtMs === null) return false
    if (volumeTotal === null || this.#venueTotal === null) return atMs < currentAtMs
    return volumeTotal < this.#venueTotal && atMs - currentAtMs < LOWER_AFTER_MS
  }

  /** The venue's total contains trades that this process missed. They are added to the 24-hour volume as well. */
  #takeTotal(total: UsdMicros): void {
    this.#venueTotal = total
    const shown = this.volumeTotal
    this.volumeTotal = shown === null || total > shown ? total : shown
    this.excess = this.volumeTotal - total
    if (shown !== null) this.#addToDay(this.volumeTotal - shown)
  }

  /**
   * Adds a trade that the venue's figures do not contain yet. `receivedAtMs` is its time of arrival. Returns false if
   * nothing changed.
   */
  count(trade: CountedTrade, receivedAtMs: TimeMs): boolean {
    if (!trade.isBlock) this.#notePrice(trade.price, trade.timeMs)
    if (!this.#isLater(trade.timeMs, receivedAtMs)) return false
    const amount = this.#unit === 'usd_notional' ? trade.size : trade.usd
    const rise = Math.max(amount - this.excess, 0)
    this.excess = Math.max(this.excess - amount, 0)
    if (this.volumeTotal !== null) this.volumeTotal = sum(this.volumeTotal, rise)
    this.#addToDay(rise)
    return true
  }

  /** Polymarket's times are whole seconds. Within the second of the figures, the order of arrival decides. */
  #isLater(atMs: TimeMs, receivedAtMs: TimeMs): boolean {
    const currentAtMs = this.figuresAtMs
    if (currentAtMs === null || atMs > currentAtMs) return true
    const isOfSecond = this.#unit === 'usd_traded' && atMs % 1_000 === 0
    return isOfSecond && atMs + 1_000 > currentAtMs && receivedAtMs > currentAtMs
  }

  #addToDay(amount: number): void {
    this.volume24h = sum(this.volume24h, amount)
  }

  #notePrice(price: PriceMicros, atMs: TimeMs): void {
    if (this.lastPriceAtMs !== null && atMs < this.lastPriceAtMs) return
    this.lastPrice = price
    this.lastPriceAtMs = atMs
  }

  restore(state: FiguresState): void {
    this.lastPrice = state.lastPrice
    this.lastPriceAtMs = state.lastPriceAtMs
    this.previousPrice = state.previousPrice
    this.volume24h = state.volume24h
    this.volumeTotal = state.volumeTotal
    this.openInterest = state.openInterest
    this.figuresAtMs = state.figuresAtMs
    this.dayFiguresAtMs = state.dayFiguresAtMs
    this.excess = state.excess
  }
}

export function figuresOfListing(listed: Figures, nowMs: TimeMs): FiguresRead {
  const { lastPrice, previousPrice, volume24h, volumeTotal, openInterest } = listed
  const atMs = listed.figuresAtMs ?? nowMs
  const lastPriceAtMs = timeMs(Math.max(atMs - ANSWER_MS_MAX, 0))
  return {
    ...{ atMs, lastPrice, lastPriceAtMs, previousPrice, volume24h, volumeTotal, openInterest },
  }
}

export function withFigures<Summary extends Figures>(summary: Summary, figures: Figures): Summary {
  return {
    ...summary,
    lastPrice: figures.lastPrice,
    previousPrice: figures.previousPrice,
    volume24h: figures.volume24h,
    volumeTotal: figures.volumeTotal,
    openInterest: figures.openInterest,
    figuresAtMs: figures.figuresAtMs,
    dayFiguresAtMs: figures.dayFiguresAtMs,
  }
}

/** Clamped to the largest safe integer. */
function sum(volume: UsdMicros, amount: number): UsdMicros {
  return usdMicros(Math.min(volume + amount, Number.MAX_SAFE_INTEGER))
}
