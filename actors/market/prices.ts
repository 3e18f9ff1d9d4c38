// A market's price over time: the current price, recent prices, and the current hour's ticks. Recent prices and ticks
// are in memory only while the market is awake.

import type { MarketPrice, PriceSource, Trade } from '../../engine/events.ts'
import { priceRingCount } from '../../engine/limits.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import { type PriceFacts, priceOf } from '../../engine/market/price.ts'
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

export class MarketPrices {
  readonly #market: MarketNumber
  readonly #ticks: TickTable
  #lastTradePrice: PriceMicros | null = null
  #lastTradeMs: TimeMs | null = null
  #present: MarketPrice | null = null
  /** The current price is the last run's. This run has not published it to subscribers and webhooks. */
  #isRecalled = false
  /** The newest prices, oldest first, at most `priceRingCount`. */
  #recent: PricePoint[] = []
  #hour: OpenHour | null = null
  #isHourDirty = false
  #mustNoteTick = true

  constructor(market: MarketNumber, ticks: TickTable) {
    this.#market = market
    this.#ticks = ticks
  }

  /** Takes a trade as last price unless a newer one exists; returns whether it did. */
  noteTrade(trade: Trade, receivedAtMs: TimeMs): boolean {
    return this.noteLastPrice(trade.price, { venueTimeMs: trade.timeMs, receivedAtMs })
  }

  /** Caps the venue's time at the receive time, so that a time in the far future does not block later prices. */
  noteLastPrice(price: PriceMicros, { venueTimeMs, receivedAtMs }: BothTimes): boolean {
    const atMs = venueTimeMs < receivedAtMs ? venueTimeMs : receivedAtMs
    if (this.#lastTradeMs !== null && atMs < this.#lastTradeMs) return false
    this.#lastTradePrice = price
    this.#lastTradeMs = atMs
    return true
  }

  /** Returns whether a new listing moves the price, if the price comes from the listing. */
  isMovedBy(before: MarketSummary, after: MarketSummary, book: MarketBook): boolean {
    const [old, now] = [priceOf(this.#facts(before, book)), priceOf(this.#facts(after, book))]
    return old.price !== now.price || old.source !== now.source
  }

  /**
   * Recomputes the price. Returns it if it is this run's first, or if price, source or best levels changed; else null.
   */
  settle(market: MarketSummary, book: MarketBook, observedAtMs: TimeMs): MarketPrice | null {
    const facts = this.#facts(market, book)
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
   * The next price makes a tick even if it is equal: after a time without a live book, the tick marks when the price is
   * known again.
   */
  noteNext(): void {
    this.#mustNoteTick = true
  }

  /** The current price, without a tick. Before any book or trade it is the listing's, observed at `listedAtMs`. */
  present(market: MarketSummary, book: MarketBook, listedAtMs: TimeMs): MarketPrice {
    if (this.#present !== null) return this.#present
    const facts = this.#facts(market, book)
    return { ...priceOf(facts), bid: facts.bid, ask: facts.ask, observedAtMs: listedAtMs }
  }

  /** Inputs of the price. The listing's best levels are used only while there is no book. */
  #facts(market: MarketSummary, { hasBook, levels }: MarketBook): PriceFacts {
    return {
      status: market.status,
      settlement: market.settlementPrice,
      bid: hasBook ? levels.bestBid : market.bestBid,
      ask: hasBook ? levels.bestAsk : market.bestAsk,
      lastTrade: this.#lastTradePrice,
      venuePrice: market.lastPrice,
    }
  }

  /** The newest stored price at or before a time; memory first. */
  before(atMs: TimeMs): PricePoint | null {
    return (
      this.#recent.findLast((point) => point.timeMs <= atMs) ??
      this.#hour?.before(atMs) ??
      this.#ticks.at(this.#market, atMs)
    )
  }

  #record(price: PriceMicros, atMs: TimeMs): void {
    this.#mustNoteTick = false
    const lastMs = this.#recent.at(-1)?.timeMs ?? atMs
    this.#recent.push({ price, timeMs: lastMs > atMs ? lastMs : atMs })
    if (this.#recent.length > priceRingCount) this.#recent.shift()
    // A tick holds from the beginning of its second. A price within a second counts from the next second, so that no
    // answer for a second contains a later price.
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

  /** Releases the memory; its content is in storage. */
  release(): void {
    this.save()
    this.#recent = []
    this.#hour = null
  }

  /** Discards memory that may be wrong after an exception; the disk is unchanged. */
  reset(): void {
    this.#recent = []
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
   * Restores the last run's price and trade, before this run has any. `newest` is the newest stored trade that counts.
   * Trades of one millisecond count in order of storage, so it may be newer than the checkpoint.
   */
  recall(checkpoint: Checkpoint | null, newest: StoredTrade | null): void {
    if (checkpoint !== null) {
      this.#lastTradePrice = checkpoint.lastTradePrice
      this.#lastTradeMs = checkpoint.lastTradeMs
    }
    const isNewer = newest !== null && newest.timeMs >= (this.#lastTradeMs ?? 0)
    if (isNewer) this.noteTrade(newest, newest.receivedAtMs)
    if (checkpoint === null || checkpoint.price === null) return
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

/** The hour number of a time: whole hours since 1970-01-01 UTC. */
function hourOf(atMs: TimeMs): number {
  return Math.floor(atMs / HOUR_MS)
}

/** The prices of the current hour, the last of each second, before they are written to disk as one record. */
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

  /** Records a price of this hour. It replaces an earlier price of the same second. */
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

  /** The newest tick at or before a time. Null when the hour has none that early. */
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
