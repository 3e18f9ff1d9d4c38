// Subscriptions of one connection: at most one variant per market and channel. A subscription to a venue or `*`
// replaces the subscriptions to its single markets, so that no message is sent twice.

import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import {
  type ChannelName,
  type ChannelVariant,
  channelOfVariant,
  type WideKey,
} from '../fan-out/channel-variants.ts'

/** True if a wide subscription contains a venue or another wide subscription. */
export function contains(wide: WideKey, key: WideKey): boolean {
  return wide === '*' || wide === key
}

/** A wide key (a venue or `*`), or single markets if `key` is null. */
export interface Subscribed {
  readonly key: WideKey | null
  readonly refs: readonly MarketRef[]
}

/** Books of single markets are covered while a connection subscribes to them. */
export interface BookHolds {
  /** Returns false if the book is not held. `release` must then not be called. */
  hold(market: MarketRef): boolean
  release(market: MarketRef): void
}

interface Single {
  readonly ref: MarketRef
  readonly variant: ChannelVariant
}

interface HeldSingle extends Single {
  readonly isHeld: boolean
}

interface Taken {
  readonly variant: ChannelVariant
  readonly key: MarketNumber | WideKey
}

class ChannelSubscriptions {
  readonly wide = new Map<WideKey, ChannelVariant>()
  readonly #singles = new Map<MarketNumber, HeldSingle>()
  /** Null: the channel needs no books. */
  readonly #holds: BookHolds | null

  constructor(holds: BookHolds | null) {
    this.#holds = holds
  }

  get singles(): ReadonlyMap<MarketNumber, Single> {
    return this.#singles
  }

  /** Adds a single market, or changes its variant. */
  add(ref: MarketRef, variant: ChannelVariant): void {
    const existing = this.#singles.get(ref.number)
    const isHeld = existing?.isHeld ?? this.#holds?.hold(ref) ?? false
    this.#singles.set(ref.number, { ref, variant, isHeld })
  }

  #remove(market: MarketNumber): void {
    const single = this.#singles.get(market)
    this.#singles.delete(market)
    if (single?.isHeld === true) this.#holds?.release(single.ref)
  }

  clear(): void {
    this.wide.clear()
    for (const number of this.#singles.keys()) this.#remove(number)
  }

  get count(): number {
    return this.wide.size + this.#singles.size
  }

  /** The variant of the wide subscription that contains this key, or null. */
  wideVariant(key: WideKey): ChannelVariant | null {
    return this.wide.get('*') ?? this.wide.get(key) ?? null
  }

  covers(key: WideKey): boolean {
    return this.wide.has('*') || this.wide.has(key)
  }

  variantOf(market: MarketRef): ChannelVariant | null {
    return this.wideVariant(market.venue) ?? this.#singles.get(market.number)?.variant ?? null
  }

  /** True if a wide subscription contains the key or the markets. False for a key that is itself subscribed. */
  isPart({ key, refs }: Subscribed): boolean {
    return key === null
      ? refs.some(({ venue }) => this.covers(venue))
      : this.covers(key) && !this.wide.has(key)
  }

  /** Removes and returns the given single markets, or the wide key with all that it contains. */
  take({ key, refs }: Subscribed): readonly Taken[] {
    const taken: Taken[] = []
    if (key === null) {
      for (const { number } of refs) {
        const single = this.#singles.get(number)
        if (single !== undefined) taken.push({ variant: single.variant, key: number })
        this.#remove(number)
      }
      return taken
    }
    for (const [wideKey, variant] of this.wide) {
      if (contains(key, wideKey)) taken.push({ variant, key: wideKey })
    }
    for (const { ref, variant } of this.#singles.values()) {
      if (contains(key, ref.venue)) taken.push({ variant, key: ref.number })
    }
    for (const { key: takenKey } of taken) {
      if (typeof takenKey === 'number') this.#remove(takenKey)
      else this.wide.delete(takenKey)
    }
    return taken
  }
}

export class Subscriptions {
  readonly #channels = new Map<ChannelName, ChannelSubscriptions>()
  readonly #holdsOf: (channel: ChannelName) => BookHolds | null

  /** `holdsOf`: null for channels that need no books. */
  constructor(holdsOf: (channel: ChannelName) => BookHolds | null) {
    this.#holdsOf = holdsOf
  }

  of(channel: ChannelName): ChannelSubscriptions {
    let subscriptions = this.#channels.get(channel)
    if (subscriptions === undefined) {
      subscriptions = new ChannelSubscriptions(this.#holdsOf(channel))
      this.#channels.set(channel, subscriptions)
    }
    return subscriptions
  }

  ofVariant(variant: ChannelVariant): ChannelSubscriptions {
    return this.of(channelOfVariant(variant))
  }

  clear(): void {
    for (const subscriptions of this.#channels.values()) subscriptions.clear()
  }

  *all(): Iterable<Taken> {
    for (const { wide, singles } of this.#channels.values()) {
      for (const [key, variant] of wide) yield { variant, key }
      for (const { ref, variant } of singles.values()) yield { variant, key: ref.number }
    }
  }

  /** Number of subscriptions for the limit. A venue and `*` count as one each. */
  get count(): number {
    let sum = 0
    for (const { count } of this.#channels.values()) sum += count
    return sum
  }
}
