// Simulated order flow of a market: makers place, cancel, resize and move quotes, and takers trade.

import type { BookSide } from '../../../events.ts'
import type { Random } from '../../../random.ts'
import {
  MICROS,
  type PriceMicros,
  priceMicros,
  SIZE_ZERO,
  type SizeMicros,
  sizeMicros,
  type TimeMs,
} from '../../../units.ts'
import type { WorldChange } from '../model.ts'
import { BookChanges } from './book-changes.ts'
import type { LiveMarket } from './live-market.ts'
import { isQuotable, levelSize, wantedAsk, wantedBid } from './quotes.ts'
import type { LiveBook } from './sim-book.ts'
import type { Trading } from './trading.ts'

const TRADE_SHARE = 0.12
const LEVELS_MAX = 60
/** If the best price is more than this many ticks worse than makers want, a new quote is placed at the wanted price. */
const LAG_TICKS = 2

interface Action {
  readonly market: LiveMarket
  readonly book: LiveBook
  readonly changes: BookChanges
  readonly fair: PriceMicros
  /** The best prices at which makers want to quote. No quote if the bid is 0, or the ask a dollar or more. */
  readonly bid: number
  readonly ask: number
}

export class OrderFlow {
  readonly #random: Random
  readonly #trading: Trading
  readonly #emit: (change: WorldChange) => void

  constructor(options: {
    random: Random
    trading: Trading
    emit: (change: WorldChange) => void
  }) {
    this.#random = options.random
    this.#trading = options.trading
    this.#emit = options.emit
  }

  act(market: LiveMarket, atMs: TimeMs): void {
    const action = this.#actionOn(market, atMs)
    if (action === null) return
    const { book, changes, fair } = action
    this.#follow(action)
    if (changes.count === 0) {
      const isTrade = this.#random.next() < TRADE_SHARE
      if (isTrade && this.#trading.trade({ market, book, fair, atMs })) return
      this.#requote(action)
    }
    changes.emit(atMs, this.#emit)
  }

  /** Cancels quotes of an open market that the price has passed. Leaves at least one quote on each side. */
  settle(market: LiveMarket, atMs: TimeMs): void {
    const action = this.#actionOn(market, atMs)
    if (action === null) return
    const { book, changes, bid, ask } = action
    this.#takeBack(action)
    if (book.bestBid === null) this.#quote(action, 'bid', bid, 0)
    if (book.bestAsk === null) this.#quote(action, 'ask', ask, 0)
    changes.emit(atMs, this.#emit)
  }

  /** Cancels quotes of an open market that the price has passed, and the makers' best quotes. */
  requote(
    market: LiveMarket,
    atMs: TimeMs,
    how: { size?: SizeMicros; isLost?: boolean } = {},
  ): void {
    const action = this.#actionOn(market, atMs)
    if (action === null) return
    const { book, changes, bid, ask } = action
    this.#takeBack(action)
    if ((book.bestBid ?? 0) < bid) this.#quote(action, 'bid', bid, 0, how.size)
    if ((book.bestAsk ?? MICROS) > ask) this.#quote(action, 'ask', ask, 0, how.size)
    changes.emit(atMs, this.#emit, how.isLost)
  }

  #actionOn(market: LiveMarket, atMs: TimeMs): Action | null {
    const book = market.liveBook()
    if (book === null) return null
    const fair = market.quotedPrice(atMs)
    const changes = new BookChanges(market, book)
    const bid = wantedBid(fair, market.tickMicros, market.spread)
    const ask = wantedAsk(fair, market.tickMicros, market.spread)
    return { market, book, changes, fair, bid, ask }
  }

  #takeBack({ book, changes, fair }: Action): void {
    for (let best = book.bestAsk; best !== null && best < fair; best = book.bestAsk)
      changes.set('ask', best, SIZE_ZERO)
    for (let best = book.bestBid; best !== null && best > fair; best = book.bestBid)
      changes.set('bid', best, SIZE_ZERO)
  }

  /** Cancels quotes that the price has passed. Then moves the best price towards the price that makers want. */
  #follow(action: Action): void {
    const { book, bid, ask } = action
    this.#takeBack(action)
    const lagMicros = action.market.gap === null ? LAG_TICKS * action.market.tickMicros : 0
    const { bestBid, bestAsk } = book
    if (bestBid === null || bid - bestBid > lagMicros) this.#quote(action, 'bid', bid, 0)
    if (bestAsk === null || bestAsk - ask > lagMicros) this.#quote(action, 'ask', ask, 0)
  }

  #requote(action: Action): void {
    const random = this.#random
    const levelCount = random.next() < 0.85 ? 1 : 2 + random.below(3)
    for (let level = 0; level < levelCount; level += 1) {
      const side: BookSide = random.next() < 0.5 ? 'bid' : 'ask'
      const count = action.book.count(side)
      const chance = random.next()
      // The number of levels varies around the target: a side with few levels gains some, and a side with many loses
      // some.
      const placing = count >= LEVELS_MAX ? 0 : count > action.market.depth ? 0.2 : 0.45
      if (chance < placing || count < 3) this.#place(action, side)
      else if (chance < 0.65) this.#cancel(action, side)
      else this.#resize(action, side)
    }
  }

  /** Places a new order a few ticks behind the best price that makers want. */
  #place(action: Action, side: BookSide): void {
    const { market } = action
    const spreadOut = Math.max(3, market.depth / 2)
    const behind = Math.floor(-Math.log(1 - this.#random.next()) * spreadOut)
    const away = behind * market.tickMicros
    const price = side === 'bid' ? action.bid - away : action.ask + away
    this.#quote(action, side, price, behind)
  }

  /** Removes a level but leaves at least two per side. Levels far from the best are removed slightly more often. */
  #cancel({ book, changes }: Action, side: BookSide): void {
    const count = book.count(side)
    if (count < 3) return
    const price = book.priceAt(side, Math.floor(this.#random.next() ** 0.8 * count))
    if (price !== null) changes.set(side, price, SIZE_ZERO)
  }

  #resize({ book, changes }: Action, side: BookSide): void {
    const depth = Math.floor(this.#random.next() ** 2 * book.count(side))
    const price = book.priceAt(side, depth)
    if (price !== null) changes.set(side, price, levelSize(this.#random, depth))
  }

  #quote(
    { book, changes }: Action,
    side: BookSide,
    micros: number,
    behind: number,
    size = levelSize(this.#random, behind),
  ): void {
    if (!isQuotable(micros)) return
    const price: PriceMicros = priceMicros(micros)
    const opposite = side === 'bid' ? book.bestAsk : book.bestBid
    if (opposite !== null && (side === 'bid' ? price >= opposite : price <= opposite)) return
    changes.set(side, price, sizeMicros(book.sizeAt(side, price) + size))
  }
}
