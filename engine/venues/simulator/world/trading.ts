// Trades of the simulated world. Each fill is emitted together with the level changes that it causes.

import type { BookSide, TradeSide } from '../../../events.ts'
import type { Random } from '../../../random.ts'
import {
  complement,
  type PriceMicros,
  priceMicros,
  type SizeMicros,
  sizeMicros,
  type TimeMs,
} from '../../../units.ts'
import type { SimTrade, SimVenue, SimWallet, WorldChange } from '../model.ts'
import { BookChanges } from './book-changes.ts'
import type { LiveMarket } from './live-market.ts'
import { isQuotable, orderSize, sizeWorth, wantedAsk, wantedBid } from './quotes.ts'
import type { RunIds } from './run-ids.ts'
import type { LiveBook } from './sim-book.ts'
import { LiveTrade } from './sim-trade.ts'
import type { WalletPool } from './wallets.ts'

const HUNDREDTH = 10_000
const FILLS_MAX = 8
/** Maximum distance from the best price, in ticks, at which a taker still trades. */
const REACH_TICKS = 15
const WHALE_SHARE = 0.01
const WHALE_USD_MIN = 5_100
const WHALE_USD_MAX = 80_000
/** Probability that a fill is reported as two equal fills of one order, with two makers. */
const SPLIT_FILL_SHARE = 0.06

type Maker = SimTrade['makers'][number]

/** The parts of a taker's order that a trade reports. */
interface Deal {
  readonly market: LiveMarket
  readonly outcomeIndex: 0 | 1
  readonly side: TradeSide
  readonly taker: SimWallet
  readonly orderCount: number
  readonly atMs: TimeMs
}

interface Order extends Deal {
  readonly book: LiveBook
  /** The side of the book whose levels the order removes. */
  readonly taken: BookSide
}

export class Trading {
  readonly #random: Random
  readonly #wallets: WalletPool
  readonly #ids: RunIds
  readonly #emit: (change: WorldChange) => void
  #orderCount = 0
  #fillCount = 0

  constructor(options: {
    random: Random
    wallets: WalletPool
    ids: RunIds
    emit: (change: WorldChange) => void
  }) {
    this.#random = options.random
    this.#wallets = options.wallets
    this.#ids = options.ids
    this.#emit = options.emit
  }

  /**
   * Executes one taker's order. Returns false if the book has nothing to take. Takers prefer the direction towards
   * `fair`.
   */
  trade(at: { market: LiveMarket; book: LiveBook; fair: PriceMicros; atMs: TimeMs }): boolean {
    const { market, book, fair, atMs } = at
    const taken = this.#direction(book, fair)
    const best = taken === null ? null : book.priceAt(taken, 0)
    if (taken === null || best === null) return false
    const { deal, size, isWhale } = this.#deal({ market, taken, best, atMs })
    const order = { ...deal, book, taken }
    if (isWhale) this.#restLarge(order, best, size)
    return this.#take(order, best, size)
  }

  /**
   * Creates the trade of one taker's order for a time without a book, at the makers' best price around `fair`. Does
   * nothing if that price is not valid.
   */
  invent(at: { market: LiveMarket; fair: PriceMicros; atMs: TimeMs }): void {
    const { market, fair, atMs } = at
    const taken = this.#random.next() < 0.5 ? 'ask' : 'bid'
    const wanted = taken === 'ask' ? wantedAsk : wantedBid
    const micros = wanted(fair, market.tickMicros, market.spread)
    if (!isQuotable(micros)) return
    const best = priceMicros(micros)
    const { deal, size } = this.#deal({ market, taken, best, atMs })
    for (const maker of this.#makers(deal.taker, size)) {
      const trade = this.#trade(deal, best, maker)
      this.#emit({ kind: 'trade', market, trade, changes: [], previousSizes: [], atMs })
    }
  }

  #deal(at: { market: LiveMarket; taken: BookSide; best: PriceMicros; atMs: TimeMs }): {
    readonly deal: Deal
    readonly size: SizeMicros
    readonly isWhale: boolean
  } {
    const { market, taken, best, atMs } = at
    const { outcomeIndex, side } = this.#outcomeAndSide(market.listing.venue, taken)
    const paid = outcomeIndex === 0 ? best : complement(best)
    const isWhale = paid >= 50_000 && this.#random.next() < WHALE_SHARE
    const taker = isWhale ? this.#wallets.pickWhale() : this.#wallets.pick()
    const orderCount = this.#orderCount
    this.#orderCount += 1
    const size = isWhale ? this.#whaleSize(paid) : orderSize(this.#random)
    return { deal: { market, outcomeIndex, side, taker, orderCount, atMs }, size, isWhale }
  }

  #direction(book: LiveBook, fair: PriceMicros): BookSide | null {
    const { bestBid, bestAsk } = book
    if (bestAsk === null) return bestBid === null ? null : 'bid'
    if (bestBid === null) return 'ask'
    const lean = fair * 2 > bestBid + bestAsk ? 0.58 : 0.42
    return this.#random.next() < lean ? 'ask' : 'bid'
  }

  /** Taking an ask means buying the first outcome or selling the second. At Kalshi both are purchases. */
  #outcomeAndSide(venue: SimVenue, taken: BookSide): { outcomeIndex: 0 | 1; side: TradeSide } {
    const isSeller = venue === 'a' && this.#random.next() < (taken === 'ask' ? 0.2 : 0.45)
    if (taken === 'ask') {
      return isSeller ? { outcomeIndex: 1, side: 'sell' } : { outcomeIndex: 0, side: 'buy' }
    }
    return isSeller ? { outcomeIndex: 0, side: 'sell' } : { outcomeIndex: 1, side: 'buy' }
  }

  #whaleSize(paid: PriceMicros): SizeMicros {
    const usd = WHALE_USD_MIN * (1 - this.#random.next()) ** -0.8
    return sizeWorth(Math.min(usd, WHALE_USD_MAX), paid)
  }

  /** Places a large resting order at the best price. The whale's order then takes it. */
  #restLarge(order: Order, best: PriceMicros, size: SizeMicros): void {
    const changes = new BookChanges(order.market, order.book)
    const held = order.book.sizeAt(order.taken, best)
    changes.set(order.taken, best, sizeMicros(held + size))
    changes.emit(order.atMs, this.#emit)
  }

  #take(order: Order, best: PriceMicros, size: SizeMicros): boolean {
    const { book, taken, market } = order
    let rest: number = size
    let hasTraded = false
    for (let fill = 0; fill < FILLS_MAX && rest > 0; fill += 1) {
      const price = book.priceAt(taken, 0)
      if (price === null || Math.abs(price - best) > REACH_TICKS * market.tickMicros) break
      const held = book.sizeAt(taken, price)
      // The last level of a side is never removed by a trade, because only the faults create an empty side.
      const open = book.count(taken) === 1 ? held - HUNDREDTH : held
      const filled = Math.min(rest, open)
      if (filled <= 0) break
      const isSplit = filled % (2 * HUNDREDTH) === 0 && this.#random.next() < SPLIT_FILL_SHARE
      for (const part of isSplit ? [filled / 2, filled / 2] : [filled]) {
        const makers = this.#makers(order.taker, sizeMicros(part))
        for (const maker of makers) this.#fill(order, price, maker)
      }
      rest -= filled
      hasTraded = true
    }
    return hasTraded
  }

  #fill(order: Order, price: PriceMicros, maker: Maker): void {
    const { market, book, taken, atMs } = order
    const previous = book.sizeAt(taken, price)
    const left = sizeMicros(previous - maker.size)
    book.set(taken, price, left)
    const trade = this.#trade(order, price, maker)
    this.#emit({
      kind: 'trade',
      market,
      trade,
      changes: [{ side: taken, price, size: left }],
      previousSizes: [previous],
      atMs,
    })
  }

  #trade(deal: Deal, price: PriceMicros, maker: Maker): LiveTrade {
    const { market, outcomeIndex, side, taker, orderCount, atMs } = deal
    const trade = new LiveTrade({
      market,
      outcomeIndex,
      side,
      price: outcomeIndex === 0 ? price : complement(price),
      size: maker.size,
      atMs,
      taker,
      makers: [maker],
      ids: this.#ids,
      fillCount: this.#fillCount,
      orderCount,
    })
    this.#fillCount += 1
    market.addTrade(trade)
    return trade
  }

  /** One to three different wallets as makers. Their sizes add up to the fill's. */
  #makers(taker: SimWallet, size: SizeMicros): readonly Maker[] {
    const first = this.#wallets.pick(taker)
    const chance = this.#random.next()
    const second = chance < 0.25 ? this.#wallets.pick(taker) : first
    const third = chance < 0.06 ? this.#wallets.pick(taker) : first
    const makers: Maker[] = []
    let rest: number = size
    for (const wallet of new Set([second, third])) {
      const part = Math.floor((rest / HUNDREDTH) * (0.2 + 0.4 * this.#random.next())) * HUNDREDTH
      if (wallet === first || part === 0) continue
      makers.push({ wallet, size: sizeMicros(part) })
      rest -= part
    }
    makers.push({ wallet: first, size: sizeMicros(rest) })
    return makers
  }
}
