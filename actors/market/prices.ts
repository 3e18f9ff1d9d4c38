// The current price of a market, its recent prices, and the ticks of the current hour. Recent prices and ticks are in
// memory only while the market is active.

import type { MarketPrice, PriceSource, Trade } from '../../engine/events.ts'
import { priceRingCount } from '../../engine/limits.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import { type PriceFacts, priceOf } from '../../engine/market/price.ts'
import { PriceRing } from '../../engine/market/price-ring.ts'
import { HOUR_MS, type PriceMicros, type TimeMs, timeMs } from '../../engine/units.ts'
import type {
  Checkpoint,
  MarketSummary,
  StoredTrade,
  TickTable,
} from '../../storage/contract/storage.ts'
import type { PricePoint } from '../views.ts'
import type { MarketBook } from './book.ts'
import type { BothTimes } from './parts.ts'

export interface PriceInputs {
  readonly summary: MarketSummary
  readonly book: MarketBook
  /** Without a subscribed book, the price is that of the listing or of a newer trade. */
  readonly isCovered: boolean
  readonly listedAtMs: number
}

export class MarketPrices {
  readonly #market: MarketNumber
  readonly #ticks: TickTable
  #lastTradePrice: PriceMicros | null = null
  #lastTradeMs: TimeMs | null = null
  #present: MarketPrice | null = null
  #isRecalled = false
  #recent: PriceRing | null = null
  #hour: OpenHour | null = null
  #isHourDirty = false
  #mustNoteTick = true

  constructor(market: MarketNumber, ticks: TickTable) {
    this.#market = market
    this.#ticks = ticks
  }

  get source(): PriceSource | null {
    return this.#present?.source ?? null
  }

  /** Returns false if a newer last price is known. */
  noteTrade(trade: Trade, receivedAtMs: TimeMs): boolean {
    return this.noteLastPrice(trade.price, { venueTimeMs: trade.timeMs, receivedAtMs })
  }

  /**
   * Returns false if a newer last price is known. Limits the venue's time to the receive time, so that a time in the
   * future does not block later prices.
   */
  noteLastPrice(price: PriceMicros, { venueTimeMs, receivedAtMs }: BothTimes): boolean {
    const atMs = venueTimeMs < receivedAtMs ? venueTimeMs : receivedAtMs
    if (this.#lastTradeMs !== null && atMs < this.#lastTradeMs) return false
    this.#lastTradePrice = price
    this.#lastTradeMs = atMs
    return true
  }

  isMovedBy(before: PriceInputs, after: PriceInputs): boolean {
    const [old, now] = [priceOf(this.#facts(before)), priceOf(this.#facts(after))]
    return old.price !== now.price || old.source !== now.source
  }

  /**
   * Returns the price if it is this run's first price, or if the price, its source or the best levels changed.
   * Otherwise null.
   */
  settle(inputs: PriceInputs, observedAtMs: TimeMs): MarketPrice | null {
    const facts = this.#facts(inputs)
    const { price, source } = priceOf(facts)
    const before = this.#present
    if (source !== 'none' && (this.#mustNoteTick || before?.price !== price)) {
      this.#record(price, observedAtMs)
    }
    if (
      before !== null &&
      !this.#isRecalled &&
      before.price === price &&
      before.source === source &&
      before.bid === facts.bid &&
      before.ask === facts.ask
    ) {
      return null
    }
    this.#isRecalled = false
    this.#present = { price, source, bid: facts.bid, ask: facts.ask, observedAtMs }
    return this.#present
  }

  /**
   * Makes the next price a tick even if the price is unchanged. The tick records that the price is known again after a
   * time without a live book.
   */
  noteNext(): void {
    this.#mustNoteTick = true
  }

  /** Records no tick. Before any book or trade, the price is the listing's, observed at `listedAtMs`. */
  present(inputs: PriceInputs, observedAtMs: TimeMs): MarketPrice {
    if (this.#present !== null) return this.#present
    const facts = this.#facts(inputs)
    return { ...priceOf(facts), bid: facts.bid, ask: facts.ask, observedAtMs }
  }

  #facts({ summary, book, isCovered, listedAtMs }: PriceInputs): PriceFacts {
    const { hasBook, levels } = book
    return {
      status: summary.status,
      settlement: summary.settlementPrice,
      bid: hasBook ? levels.bestBid : summary.bestBid,
      ask: hasBook ? levels.bestAsk : summary.bestAsk,
      isListed: !isCovered,
      lastTrade: this.#lastTradePrice,
      isTradeNewer: this.#lastTradeMs !== null && this.#lastTradeMs > listedAtMs,
      venuePrice: summary.lastPrice,
    }
  }

  /** The newest known price at or before a time, or null. */
  before(atMs: TimeMs): PricePoint | null {
    return (
      this.#recent?.before(atMs) ?? this.#hour?.before(atMs) ?? this.#ticks.at(this.#market, atMs)
    )
  }

  #record(price: PriceMicros, atMs: TimeMs): void {
    this.#mustNoteTick = false
    this.#recent ??= new PriceRing(priceRingCount)
    this.#recent.push(price, atMs)
    // Rounds up to the next full second, because ticks have a resolution of one second. No query then returns a price
    // from its future.
    const asOfMs = timeMs(Math.ceil(atMs / 1_000) * 1_000)
    const hour = hourOf(asOfMs)
    if (this.#hour === null || this.#hour.hour < hour) {
      this.save()
      this.#hour = new OpenHour(hour, this.#ticks.get(this.#market, hour))
    }
    this.#hour.push(price, asOfMs)
    this.#isHourDirty = true
  }

  save(): void {
    if (this.#hour === null || !this.#isHourDirty) return
    this.#isHourDirty = false
    const { hour, seconds, prices } = this.#hour
    this.#ticks.put(this.#market, hour, { seconds: [...seconds], prices: [...prices] })
  }

  release(): void {
    this.save()
    this.#recent = null
    this.#hour = null
  }

  /** Called after an exception, when the prices in memory may be wrong. Stored ticks are unchanged. */
  reset(): void {
    this.#recent = null
    this.#hour = null
    this.#isHourDirty = false
    this.#present = null
  }

  checkpointFields(): Pick<Checkpoint, 'price' | 'priceSource' | 'lastTradePrice' | 'lastTradeMs'> {
    return {
      price: this.#present?.price ?? null,
      priceSource: this.#present?.source ?? 'none',
      lastTradePrice: this.#lastTradePrice,
      lastTradeMs: this.#lastTradeMs,
    }
  }

  /**
   * Restores the last run's price and last trade. Must run before this run's first price. `newest`: the newest stored
   * trade that sets the price. Without a subscribed book, only the trade is restored.
   */
  recall(checkpoint: Checkpoint | null, newest: StoredTrade | null, isCovered: boolean): void {
    if (checkpoint !== null) {
      this.#lastTradePrice = checkpoint.lastTradePrice
      this.#lastTradeMs = checkpoint.lastTradeMs
    }
    const isNewer = newest !== null && newest.timeMs >= (this.#lastTradeMs ?? 0)
    if (isNewer) this.noteTrade(newest, newest.receivedAtMs)
    if (checkpoint === null || checkpoint.price === null || !isCovered) return
    const source = sourceOf(checkpoint.priceSource)
    const isByTrade = isNewer && source !== 'midpoint' && source !== 'settlement'
    this.#isRecalled = true
    this.#present = {
      price: isByTrade ? newest.price : checkpoint.price,
      source: isByTrade ? 'last_trade' : source,
      bid: checkpoint.bids[0]?.price ?? null,
      ask: checkpoint.asks[0]?.price ?? null,
      observedAtMs: isByTrade ? newest.receivedAtMs : checkpoint.writtenAtMs,
    }
  }
}

const SOURCES: readonly PriceSource[] = [
  'midpoint',
  'last_trade',
  'venue',
  'one_side',
  'none',
  'history',
  'settlement',
]

function sourceOf(text: string): PriceSource {
  return SOURCES.find((source) => source === text) ?? 'venue'
}

function hourOf(atMs: TimeMs): number {
  return Math.floor(atMs / HOUR_MS)
}

/** At most one price per second. Written to disk as one record. */
class OpenHour {
  readonly hour: number
  readonly seconds: number[]
  readonly prices: PriceMicros[]

  constructor(
    hour: number,
    stored: { readonly seconds: readonly number[]; readonly prices: readonly PriceMicros[] } | null,
  ) {
    this.hour = hour
    this.seconds = stored === null ? [] : [...stored.seconds]
    this.prices = stored === null ? [] : [...stored.prices]
  }

  push(price: PriceMicros, atMs: TimeMs): void {
    const second = Math.floor((atMs % HOUR_MS) / 1_000)
    const last = this.seconds.at(-1)
    if (last !== undefined && last >= second) {
      this.prices[this.prices.length - 1] = price
      return
    }
    this.seconds.push(second)
    this.prices.push(price)
  }

  before(atMs: TimeMs): PricePoint | null {
    for (let position = this.seconds.length - 1; position >= 0; position -= 1) {
      const second = this.seconds[position] ?? 0
      const price = this.prices[position]
      const tickMs = this.hour * HOUR_MS + second * 1_000
      if (price !== undefined && tickMs <= atMs) return { price, timeMs: timeMs(tickMs) }
    }
    return null
  }
}
