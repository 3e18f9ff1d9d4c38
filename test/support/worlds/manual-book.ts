// Shared by stub-world.ts and kalshi-world.ts.

import type { BookSide, Level, LevelChange } from '../../../engine/events.ts'
import { type PriceMicros, SIZE_ZERO, type SizeMicros, type TimeMs } from '../../../engine/units.ts'
import type {
  SimBook,
  SimEvent,
  SimMarket,
  SimTrade,
  SimVenue,
  WorldChange,
} from '../../../engine/venues/simulator/model.ts'
import type { ManualClock } from '../fakes/manual-clock.ts'

/** A book in two maps, sorted when read. */
export class ManualBook implements SimBook {
  readonly #sides = {
    bid: new Map<PriceMicros, SizeMicros>(),
    ask: new Map<PriceMicros, SizeMicros>(),
  }

  get bids(): readonly Level[] {
    return this.#levels('bid').sort((one, other) => other.price - one.price)
  }

  get asks(): readonly Level[] {
    return this.#levels('ask').sort((one, other) => one.price - other.price)
  }

  get bestBid(): PriceMicros | null {
    return this.bids[0]?.price ?? null
  }

  get bestAsk(): PriceMicros | null {
    return this.asks[0]?.price ?? null
  }

  sizeAt(side: BookSide, at: PriceMicros): SizeMicros {
    return this.#sides[side].get(at) ?? SIZE_ZERO
  }

  apply(change: LevelChange): SizeMicros {
    const previous = this.sizeAt(change.side, change.price)
    if (change.size === 0) this.#sides[change.side].delete(change.price)
    else this.#sides[change.side].set(change.price, change.size)
    return previous
  }

  #levels(side: BookSide): Level[] {
    return [...this.#sides[side]].map(([at, amount]) => ({ price: at, size: amount }))
  }
}

/** A world of one venue that changes only when a test calls its methods. */
export abstract class HandMovedWorld<Market extends SimMarket> {
  readonly seed = 1
  readonly startedMs: TimeMs
  protected readonly eventList: SimEvent[] = []
  protected readonly marketList: Market[] = []
  protected readonly tradeList: SimTrade[] = []
  readonly #clock: ManualClock
  readonly #venue: SimVenue
  readonly #listeners = new Set<(change: WorldChange) => void>()

  constructor(clock: ManualClock, venue: SimVenue) {
    this.#clock = clock
    this.#venue = venue
    this.startedMs = clock.nowMs()
  }

  nowMs(): TimeMs {
    return this.#clock.nowMs()
  }

  tradesFromMs(): TimeMs {
    return this.startedMs
  }

  events(venue: SimVenue): readonly SimEvent[] {
    return venue === this.#venue ? this.eventList : []
  }

  markets(venue: SimVenue): readonly Market[] {
    return venue === this.#venue ? this.marketList : []
  }

  trades(venue: SimVenue): readonly SimTrade[] {
    return venue === this.#venue ? this.tradeList : []
  }

  market(venue: SimVenue, nativeId: string): Market | null {
    return this.markets(venue).find((each) => each.listing.nativeId === nativeId) ?? null
  }

  event(venue: SimVenue, nativeId: string): SimEvent | null {
    return this.events(venue).find((each) => each.nativeId === nativeId) ?? null
  }

  onChange(listener: (change: WorldChange) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  get listenerCount(): number {
    return this.#listeners.size
  }

  step(): void {}

  tell(change: WorldChange): void {
    for (const listener of this.#listeners) listener(change)
  }
}
