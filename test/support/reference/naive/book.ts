// Reference implementation of engine/market/order-book.ts: two Maps, sorted when read after a change.

import type { BookSide, Level, LevelChange } from '../../../../engine/events.ts'
import type { PriceMicros, SizeMicros } from '../../../../engine/units.ts'

export class NaiveBook {
  readonly #sides = {
    bid: new Map<PriceMicros, SizeMicros>(),
    ask: new Map<PriceMicros, SizeMicros>(),
  }
  readonly #sorted: { bid: readonly Level[] | null; ask: readonly Level[] | null } = {
    bid: null,
    ask: null,
  }

  set(change: LevelChange): void {
    this.#sorted[change.side] = null
    if (change.size > 0) this.#sides[change.side].set(change.price, change.size)
    else this.#sides[change.side].delete(change.price)
  }

  replace(bids: readonly Level[], asks: readonly Level[]): void {
    for (const side of ['bid', 'ask'] as const) {
      this.#sides[side].clear()
      this.#sorted[side] = null
    }
    for (const level of bids) this.set({ side: 'bid', ...level })
    for (const level of asks) this.set({ side: 'ask', ...level })
  }

  sizeAt(side: BookSide, price: PriceMicros): number {
    return this.#sides[side].get(price) ?? 0
  }

  levels(side: BookSide): readonly Level[] {
    const levels = this.#sorted[side] ?? this.#sort(side)
    this.#sorted[side] = levels
    return levels
  }

  #sort(side: BookSide): readonly Level[] {
    const levels = [...this.#sides[side]].map(([price, size]) => ({ price, size }))
    return levels.sort((one, other) =>
      side === 'bid' ? other.price - one.price : one.price - other.price,
    )
  }
}
