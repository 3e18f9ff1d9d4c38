// A market of the world. Its book is created when it is first read or changed, and depends only on seed and start.

import { hash32, seededRandom } from '../../../random.ts'
import {
  DAY_MS,
  MICROS,
  notionalMicros,
  type PriceMicros,
  priceMicros,
  SIZE_ZERO,
  type SizeMicros,
  sizeMicros,
  type TimeMs,
  timeMs,
  type UsdMicros,
  usdMicros,
} from '../../../units.ts'
import type {
  SimBook,
  SimEvent,
  SimListing,
  SimMarket,
  SimStatus,
  SimTrade,
  WorldChange,
} from '../model.ts'
import { BookChanges } from './book-changes.ts'
import type { FairPrice } from './fair-price.ts'
import { bookDepth, seedBook, spreadTicks } from './quotes.ts'
import { EMPTY_BOOK, LiveBook } from './sim-book.ts'
import { TradedVolume, type VolumeSums } from './traded-volume.ts'

const CENT = priceMicros(10_000)
const TENTH_CENT = priceMicros(1_000)
const CONTRACTS_PER_DAY = 1_500
const NO_TRADES: readonly SimTrade[] = []

export interface RunContext {
  readonly seed: number
  readonly startedMs: TimeMs
  /** Time of the first start of the world, in any run. */
  readonly bornMs: TimeMs
  nowMs(): TimeMs
  /** Called after a book was created, so that the number of books without changes can be limited. */
  bookCreated(market: LiveMarket): void
}

export interface MarketFacts {
  readonly prior: number
  readonly fair: FairPrice
}

interface MarketGap {
  /** Difference between the makers' price and the fair price, in micros. */
  readonly skew: number
  /** True: the book does not change while the gap is open. */
  readonly isHeld: boolean
}

export class LiveMarket implements SimMarket {
  readonly listing: SimListing
  readonly event: SimEvent
  status: SimStatus
  lastTrade: SimTrade | null = null
  updatedMs: TimeMs
  /** Slot in the activity tree. −1 while the market has no order flow. */
  slot = -1
  gap: MarketGap | null = null
  readonly #context: RunContext
  readonly #factsOf: (market: LiveMarket) => MarketFacts
  #traitHash: number | null = null
  #tick: PriceMicros | null = null
  #linked: LiveMarket[] | null = null
  #isTouched = false
  #book: LiveBook | null = null
  #trades: SimTrade[] | null = null
  #traded: TradedVolume | null = null

  constructor(options: {
    listing: SimListing
    event: SimEvent
    factsOf: (market: LiveMarket) => MarketFacts
    context: RunContext
  }) {
    const { listing, context } = options
    this.listing = listing
    this.event = options.event
    this.#context = context
    this.#factsOf = options.factsOf
    this.status = statusAt(listing, context.nowMs())
    this.updatedMs = lastChangeMs(listing, context.nowMs())
  }

  /** Hash from which the market's spread, depth and share of integer sizes are derived. */
  get traitHash(): number {
    this.#traitHash ??= hash32('temper', this.#context.seed, this.listing.chanceKey)
    return this.#traitHash
  }

  /** Ticks are fine near 0 and 1, as at Polymarket, and in a fifth of the other markets. */
  get tickMicros(): PriceMicros {
    return this.#tick ?? this.#firstTick
  }

  get #firstTick(): PriceMicros {
    const { prior } = this.#factsOf(this)
    const isTail = prior < 0.04 || prior > 0.96
    return isTail || this.traitHash % 5 === 0 ? TENTH_CENT : CENT
  }

  set tickMicros(tick: PriceMicros) {
    this.#tick = tick
  }

  /** Markets whose prices depend on each other, including this one. They share one array (world.ts). */
  get linked(): LiveMarket[] {
    // `factsOf` also sets the links.
    if (this.#linked === null) this.#factsOf(this)
    this.#linked ??= [this]
    return this.#linked
  }

  set linked(markets: LiveMarket[]) {
    this.#linked = markets
  }

  fairPrice(atMs: TimeMs): PriceMicros {
    return this.#factsOf(this).fair.at(atMs)
  }

  /** The price around which makers quote: the fair price plus the difference of a planned gap. */
  quotedPrice(atMs: TimeMs): PriceMicros {
    const fair = this.fairPrice(atMs)
    if (this.gap === null) return fair
    return priceMicros(Math.min(Math.max(fair + this.gap.skew, TENTH_CENT), MICROS - TENTH_CENT))
  }

  get spread(): number {
    return this.gap === null ? spreadTicks(this.traitHash, this.listing.activity) : 1
  }

  get depth(): number {
    return bookDepth(this.traitHash, this.listing.activity)
  }

  get isTouched(): boolean {
    return this.#isTouched
  }

  get book(): SimBook {
    return this.liveBook() ?? EMPTY_BOOK
  }

  /** The book for changes. Null: the market is not open. */
  liveBook(): LiveBook | null {
    if (this.status !== 'open') return null
    if (this.#book === null) {
      const { seed, startedMs } = this.#context
      this.#isTouched = true
      this.#book = new LiveBook()
      seedBook({
        book: this.#book,
        fair: this.fairPrice(timeMs(Math.max(startedMs, this.listing.openMs))),
        tick: this.#firstTick,
        spread: this.spread,
        depth: this.depth,
        random: seededRandom('book', seed, startedMs, this.listing.venue, this.listing.chanceKey),
      })
      this.#book.isChanged = false
      this.#context.bookCreated(this)
    }
    return this.#book
  }

  dropBook(): void {
    this.#book = null
    this.#isTouched = false
  }

  /** The next read creates an equal book. */
  releaseBook(): void {
    if (this.#book?.isChanged === false) this.#book = null
  }

  get trades(): readonly SimTrade[] {
    return this.#trades ?? NO_TRADES
  }

  addTrade(trade: SimTrade): void {
    this.#trades ??= []
    this.#trades.push(trade)
    this.#traded ??= new TradedVolume()
    const usd = notionalMicros({ price: trade.price, size: trade.size })
    this.#traded.add({ usd, contracts: trade.size, atMs: trade.atMs })
    this.lastTrade = trade
    if (trade.atMs > this.updatedMs) this.updatedMs = trade.atMs
  }

  tradedSums(): VolumeSums | null {
    return this.#traded?.sums() ?? null
  }

  restoreTraded(sums: VolumeSums, lastTrade: SimTrade | null): void {
    this.#traded = new TradedVolume()
    this.#traded.restore(sums)
    this.lastTrade = lastTrade
  }

  /** Drops the oldest `count` trades from the list. Volume and trade count still include them. */
  dropTrades(count: number): void {
    this.#trades?.splice(0, count)
  }

  get volumeTotal(): UsdMicros {
    return usdMicros(this.#baseUsd(this.#baseContracts()) + (this.#traded?.usd ?? 0))
  }

  get volume24h(): UsdMicros {
    const base = this.#baseUsd(this.#baseContracts24h())
    return usdMicros(base + (this.#traded?.usd24h(this.#context.nowMs()) ?? 0))
  }

  get volumeTotalContracts(): SizeMicros {
    return sizeMicros(this.#baseContracts() + (this.#traded?.contracts ?? 0))
  }

  get volume24hContracts(): SizeMicros {
    const traded = this.#traded?.contracts24h(this.#context.nowMs()) ?? 0
    return sizeMicros(this.#baseContracts24h() + traded)
  }

  /** About a third of the total volume, in whole hundredths of a contract. */
  get openInterest(): SizeMicros {
    const share = 0.25 + ((this.traitHash >>> 4) % 256) / 1_024
    return hundredths(this.volumeTotalContracts * share)
  }

  #tradedMsBy(atMs: number): number {
    return Math.max(Math.min(atMs, this.listing.closeMs) - this.listing.openMs, 0)
  }

  /** Contracts traded before the world existed. They grow linearly with the trading time until `byMs`. */
  #baseContracts(byMs: number = this.#context.bornMs): SizeMicros {
    const tradedMs = this.#tradedMsBy(Math.min(byMs, this.#context.bornMs))
    const perDay =
      CONTRACTS_PER_DAY * this.listing.activity * (0.5 + (this.traitHash % 1_024) / 1_024)
    return hundredths((tradedMs / DAY_MS) * perDay * MICROS)
  }

  #baseContracts24h(): SizeMicros {
    const dayAgoMs = this.#context.nowMs() - DAY_MS
    return hundredths(this.#baseContracts() - this.#baseContracts(dayAgoMs))
  }

  /** Dollars of the contracts before the world existed. Each market has a fixed price between 0.2 and 0.8 for them. */
  #baseUsd(contracts: SizeMicros): number {
    return Math.floor(contracts * (0.2 + ((this.traitHash >>> 12) % 601) / 1_000))
  }
}

export function statusAt(listing: SimListing, atMs: number): SimStatus {
  if (atMs >= listing.resolveMs) return 'resolved'
  if (atMs >= listing.determineMs) return 'determined'
  if (atMs >= listing.closeMs) return 'closed'
  return atMs >= listing.openMs ? 'open' : 'unopened'
}

function lastChangeMs(listing: SimListing, atMs: number): TimeMs {
  const { createdMs, openMs, closeMs, determineMs, resolveMs } = listing
  let latest = createdMs
  for (const moment of [openMs, closeMs, determineMs, resolveMs]) {
    if (moment <= atMs && moment > latest) latest = moment
  }
  return latest
}

/** Truncated to hundredths of a contract, Kalshi's unit. */
function hundredths(micros: number): SizeMicros {
  return sizeMicros(Math.floor(micros / 10_000) * 10_000)
}

/** For each status: the next status, and the kind of change that is emitted. */
export const LIFE: Readonly<
  Record<SimStatus, { readonly next: SimStatus; readonly moment: SimMoment } | null>
> = {
  unopened: { next: 'open', moment: 'opened' },
  open: { next: 'closed', moment: 'closed' },
  closed: { next: 'determined', moment: 'determined' },
  determined: { next: 'resolved', moment: 'resolved' },
  resolved: null,
}

/** Time of the market's next status change. Null: the status is final. */
export function nextMomentMs({ status, listing }: LiveMarket): TimeMs | null {
  if (status === 'unopened') return listing.openMs
  if (status === 'open') return listing.closeMs
  if (status === 'closed') return listing.determineMs
  return status === 'determined' ? listing.resolveMs : null
}

/** Removes all quotes and emits the changes, because venues cancel resting orders at the close. */
export function endTrading(
  market: LiveMarket,
  atMs: TimeMs,
  emit: (change: WorldChange) => void,
): void {
  if (market.isTouched) {
    const book = market.liveBook()
    if (book !== null) {
      const changes = new BookChanges(market, book)
      for (const { price } of book.bids) changes.set('bid', price, SIZE_ZERO)
      for (const { price } of book.asks) changes.set('ask', price, SIZE_ZERO)
      changes.emit(atMs, emit)
    }
  }
  market.dropBook()
}

type SimMoment = 'opened' | 'closed' | 'determined' | 'resolved'
