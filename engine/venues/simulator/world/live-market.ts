// A market of the world, alive: status, book, trades and figures. A market without a book read or event costs
// one object; its book is made at the first look and depends on nothing but seed and start, so that
// who looks when changes nothing.

import { hash32, seededRandom } from '../../../random.ts'
import {
  DAY_MS,
  MICROS,
  notionalMicros,
  type PriceMicros,
  priceMicros,
  type SizeMicros,
  sizeMicros,
  type TimeMs,
  timeMs,
  type UsdMicros,
  usdMicros,
} from '../../../units.ts'
import type { PlannedMarket } from '../calendar.ts'
import type { SimBook, SimEvent, SimListing, SimMarket, SimStatus, SimTrade } from '../model.ts'
import type { FairPrice } from './fair-price.ts'
import { bookDepth, seedBook, spreadTicks } from './quotes.ts'
import { EMPTY_BOOK, LiveBook } from './sim-book.ts'
import { TradedVolume, type VolumeSums } from './traded-volume.ts'

const CENT = priceMicros(10_000)
const TENTH_CENT = priceMicros(1_000)
const CONTRACTS_PER_DAY = 1_500
const NO_TRADES: readonly SimTrade[] = []

/** What every market knows of the run it lives in. */
interface RunContext {
  readonly seed: number
  readonly startedMs: TimeMs
  /** When the world was first started, in whichever run. */
  readonly bornMs: TimeMs
  nowMs(): TimeMs
}

/** What a planned gap makes of a market. */
interface MarketGap {
  /** What makers add to the fair price, in micros. */
  readonly skew: number
  /** Whether the book stands still meanwhile. */
  readonly isHeld: boolean
}

/** One market; the world and its order flow are the only writers. */
export class LiveMarket implements SimMarket {
  readonly listing: SimListing
  readonly event: SimEvent
  status: SimStatus
  tickMicros: PriceMicros
  lastTrade: SimTrade | null = null
  updatedMs: TimeMs
  /** Place in the activity tree; −1 while there is no order flow. */
  slot = -1
  /** Markets whose prices hang together, this one among them: one array for all of them (world.ts). */
  linked: LiveMarket[]
  /** The planned gap that is open here (gaps.ts). */
  gap: MarketGap | null = null
  /** A hash that gives the market its habits: spread, depth, share of whole sizes. */
  readonly traitHash: number
  readonly #context: RunContext
  readonly #fair: FairPrice
  #book: LiveBook | null = null
  #trades: SimTrade[] | null = null
  #traded: TradedVolume | null = null

  constructor(options: {
    planned: PlannedMarket
    event: SimEvent
    fair: FairPrice
    context: RunContext
  }) {
    const { planned, event, context } = options
    const { listing } = planned
    this.listing = listing
    this.event = event
    this.#context = context
    this.#fair = options.fair
    this.linked = [this]
    this.traitHash = hash32('temper', context.seed, listing.chanceKey)
    this.status = statusAt(listing, context.nowMs())
    this.updatedMs = lastChangeMs(listing, context.nowMs())
    // Fine ticks where Polymarket has them (near 0 and 1), and in a fifth of the other markets.
    const isTail = planned.prior < 0.04 || planned.prior > 0.96
    this.tickMicros = isTail || this.traitHash % 5 === 0 ? TENTH_CENT : CENT
  }

  fairPrice(atMs: TimeMs): PriceMicros {
    return this.#fair.at(atMs)
  }

  /** What makers quote around: the fair price, but for a planned gap. */
  quotedPrice(atMs: TimeMs): PriceMicros {
    const fair = this.#fair.at(atMs)
    if (this.gap === null) return fair
    return priceMicros(Math.min(Math.max(fair + this.gap.skew, TENTH_CENT), MICROS - TENTH_CENT))
  }

  /** The spread makers keep here, in ticks. */
  get spread(): number {
    return this.gap === null ? spreadTicks(this.traitHash, this.listing.activity) : 1
  }

  /** How many levels a side has in quiet times. */
  get depth(): number {
    return bookDepth(this.traitHash, this.listing.activity)
  }

  /** Whether the book was made: by a first read or a first event. */
  get isTouched(): boolean {
    return this.#book !== null
  }

  get book(): SimBook {
    return this.liveBook() ?? EMPTY_BOOK
  }

  /** The book to change; null unless the market is open. */
  liveBook(): LiveBook | null {
    if (this.status !== 'open') return null
    if (this.#book === null) {
      const { seed, startedMs } = this.#context
      this.#book = new LiveBook()
      seedBook({
        book: this.#book,
        fair: this.fairPrice(timeMs(Math.max(startedMs, this.listing.openMs))),
        tick: this.tickMicros,
        spread: this.spread,
        depth: this.depth,
        random: seededRandom('book', seed, startedMs, this.listing.venue, this.listing.chanceKey),
      })
    }
    return this.#book
  }

  /** Lets go of the book, at the close. */
  dropBook(): void {
    this.#book = null
  }

  get trades(): readonly SimTrade[] {
    return this.#trades ?? NO_TRADES
  }

  /** Takes a trade into the market's figures. */
  addTrade(trade: SimTrade): void {
    this.#trades ??= []
    this.#trades.push(trade)
    this.#traded ??= new TradedVolume()
    const usd = notionalMicros({ price: trade.price, size: trade.size })
    this.#traded.add({ usd, contracts: trade.size, atMs: trade.atMs })
    this.lastTrade = trade
    if (trade.atMs > this.updatedMs) this.updatedMs = trade.atMs
  }

  /** Sums over all trades, those that are no longer kept too; null when nothing was traded. */
  tradedSums(): VolumeSums | null {
    return this.#traded?.sums() ?? null
  }

  /** Begins with the sums and the last of the trades that are no longer kept. */
  restoreTraded(sums: VolumeSums, lastTrade: SimTrade | null): void {
    this.#traded = new TradedVolume()
    this.#traded.restore(sums)
    this.lastTrade = lastTrade
  }

  /** Forgets the oldest `count` trades; the figures keep them. */
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

  /** About a third of what was ever traded, to whole hundredths of a contract. */
  get openInterest(): SizeMicros {
    const share = 0.25 + ((this.traitHash >>> 4) % 256) / 1_024
    return hundredths(this.volumeTotalContracts * share)
  }

  #tradedMsBy(atMs: number): number {
    return Math.max(Math.min(atMs, this.listing.closeMs) - this.listing.openMs, 0)
  }

  /** Contracts from before there was this world: a pure figure, linear in the time traded until a moment. */
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

  /** Dollars of the base contracts, at a price between 0.2 and 0.8 that the market keeps. */
  #baseUsd(contracts: SizeMicros): number {
    return Math.floor(contracts * (0.2 + ((this.traitHash >>> 12) % 601) / 1_000))
  }
}

/** The status a listing has at a time, by the calendar alone. */
export function statusAt(listing: SimListing, atMs: number): SimStatus {
  if (atMs >= listing.resolveMs) return 'resolved'
  if (atMs >= listing.determineMs) return 'determined'
  if (atMs >= listing.closeMs) return 'closed'
  return atMs >= listing.openMs ? 'open' : 'unopened'
}

/** The latest moment of the calendar not after `atMs`. */
function lastChangeMs(listing: SimListing, atMs: number): TimeMs {
  const { createdMs, openMs, closeMs, determineMs, resolveMs } = listing
  let latest = createdMs
  for (const moment of [openMs, closeMs, determineMs, resolveMs]) {
    if (moment <= atMs && moment > latest) latest = moment
  }
  return latest
}

/** Cut to hundredths of a contract, as Kalshi counts. */
function hundredths(micros: number): SizeMicros {
  return sizeMicros(Math.floor(micros / 10_000) * 10_000)
}
