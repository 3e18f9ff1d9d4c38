// Applies the level changes of one action to a book and collects them. An action changes each level at most once.

import type { BookSide, LevelChange } from '../../../events.ts'
import type { PriceMicros, SizeMicros, TimeMs } from '../../../units.ts'
import type { SimMarket, WorldChange } from '../model.ts'
import type { LiveBook } from './sim-book.ts'

type ChangingMarket = SimMarket & { updatedMs: TimeMs }

export class BookChanges {
  readonly #market: ChangingMarket
  readonly #book: LiveBook
  readonly #changes: LevelChange[] = []
  readonly #previousSizes: SizeMicros[] = []

  constructor(market: ChangingMarket, book: LiveBook) {
    this.#market = market
    this.#book = book
  }

  get count(): number {
    return this.#changes.length
  }

  /** Sets a level unless this action has already set it. Ignores a change without effect. */
  set(side: BookSide, price: PriceMicros, size: SizeMicros): void {
    for (const change of this.#changes) if (change.price === price && change.side === side) return
    if (this.#book.sizeAt(side, price) === size) return
    this.#previousSizes.push(this.#book.set(side, price, size))
    this.#changes.push({ side, price, size })
  }

  /** Emits the collected changes, if there are any. `isLost`: venue b's stream does not send them. */
  emit(atMs: TimeMs, emit: (change: WorldChange) => void, isLost = false): void {
    if (this.#changes.length === 0) return
    this.#market.updatedMs = atMs
    emit({
      kind: 'levels',
      market: this.#market,
      changes: this.#changes,
      previousSizes: this.#previousSizes,
      isLost,
      atMs,
    })
  }
}
