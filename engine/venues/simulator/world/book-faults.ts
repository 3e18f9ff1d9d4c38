// Faults of books: the tick changes, or the quotes of one or both sides are withdrawn for ten seconds. A market with
// withdrawn quotes has no order flow. Each open market with a book has one opportunity per minute.

import type { BookSide, Level } from '../../../events.ts'
import {
  MICROS,
  type PriceMicros,
  priceMicros,
  SIZE_ZERO,
  sizeMicros,
  type TimeMs,
} from '../../../units.ts'
import type { Faults } from '../faults.ts'
import type { WorldChange } from '../model.ts'
import type { ActivityTree } from './activity-tree.ts'
import { BookChanges } from './book-changes.ts'
import type { LiveMarket } from './live-market.ts'

export const WITHDRAWN_MS = 10_000
const TICK_COARSE = priceMicros(10_000)
const TICK_FINE = priceMicros(1_000)
const SECONDS_PER_MINUTE = 60

export interface Withdrawal {
  readonly market: LiveMarket
  readonly bids: readonly Level[]
  readonly asks: readonly Level[]
}

export class BookFaults {
  readonly #faults: Faults
  readonly #emit: (change: WorldChange) => void

  constructor(options: { faults: Faults; emit: (change: WorldChange) => void }) {
    this.#faults = options.faults
    this.#emit = options.emit
  }

  /**
   * Checks the sixtieth of the open markets that belongs to `second`. Returns the withdrawals. The caller must remove
   * those markets from the order flow and call `restore` later.
   */
  sweep(open: ActivityTree<LiveMarket>, second: number, atMs: TimeMs): Withdrawal[] {
    const withdrawals: Withdrawal[] = []
    for (
      let slot = second % SECONDS_PER_MINUTE;
      slot < open.slotCount;
      slot += SECONDS_PER_MINUTE
    ) {
      const market = open.memberAt(slot)
      if (market === null || !market.isTouched) continue
      if (this.#faults.strikes('tick_size')) this.#changeTick(market, atMs)
      if (this.#faults.strikes('empty_book')) {
        withdrawals.push(this.#withdraw(market, ['bid', 'ask'], atMs))
      } else if (this.#faults.strikes('one_sided')) {
        const side = (slot + second) % 2 === 0 ? 'bid' : 'ask'
        withdrawals.push(this.#withdraw(market, [side], atMs))
      }
    }
    return withdrawals
  }

  restore({ market, bids, asks }: Withdrawal, atMs: TimeMs): void {
    const book = market.liveBook()
    if (book === null) return
    const changes = new BookChanges(market, book)
    for (const { price, size } of bids) changes.set('bid', price, size)
    for (const { price, size } of asks) changes.set('ask', price, size)
    changes.emit(atMs, this.#emit)
  }

  #withdraw(market: LiveMarket, sides: readonly BookSide[], atMs: TimeMs): Withdrawal {
    const bids = sides.includes('bid') ? market.book.bids : []
    const asks = sides.includes('ask') ? market.book.asks : []
    const book = market.liveBook()
    if (book !== null) {
      const changes = new BookChanges(market, book)
      for (const { price } of bids) changes.set('bid', price, SIZE_ZERO)
      for (const { price } of asks) changes.set('ask', price, SIZE_ZERO)
      changes.emit(atMs, this.#emit)
    }
    return { market, bids, asks }
  }

  /** Changes a tick of one cent to a tenth of a cent. Changes it back if the book is valid with cents. */
  #changeTick(market: LiveMarket, atMs: TimeMs): void {
    const oldTick = market.tickMicros
    const fair = market.fairPrice(atMs)
    const isTail = fair < 4 * TICK_COARSE || fair > MICROS - 4 * TICK_COARSE
    const newTick = oldTick === TICK_COARSE ? TICK_FINE : TICK_COARSE
    if (newTick === TICK_COARSE && isTail) return
    market.tickMicros = newTick
    market.updatedMs = atMs
    this.#emit({ kind: 'tick', market, oldTick, newTick, atMs })
    if (newTick > oldTick) this.#regrid(market, newTick, atMs)
  }

  /** Moves quotes that are not on the coarser grid away from the middle, so that they cannot cross. */
  #regrid(market: LiveMarket, tick: PriceMicros, atMs: TimeMs): void {
    const book = market.liveBook()
    if (book === null) return
    const changes = new BookChanges(market, book)
    for (const side of ['bid', 'ask'] as const) {
      const totals = new Map<number, number>()
      for (const { price, size } of side === 'bid' ? book.bids : book.asks) {
        const steps = side === 'bid' ? Math.floor(price / tick) : Math.ceil(price / tick)
        totals.set(steps * tick, (totals.get(steps * tick) ?? 0) + size)
        if (price % tick !== 0) changes.set(side, price, SIZE_ZERO)
      }
      for (const [price, size] of totals) {
        if (price > 0 && price < MICROS) changes.set(side, priceMicros(price), sizeMicros(size))
      }
    }
    changes.emit(atMs, this.#emit)
  }
}
