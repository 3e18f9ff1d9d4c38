// Subscriptions of one connection: per channel at most one variant per market. A venue or `*` replaces the single
// markets that it contains, so that no message is sent twice. Stores market references without reading them.

import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import {
  type ChannelName,
  type ChannelVariant,
  channelOfVariant,
  type WideKey,
} from '../fan-out/channel-variants.ts'

/** Whether a wide subscription contains a market's venue or another wide one. */
export function contains(wide: WideKey, key: WideKey): boolean {
  return wide === '*' || wide === key
}

/** What a command subscribes to: a wide key, or single markets. */
export interface Subscribed {
  readonly key: WideKey | null
  readonly refs: readonly MarketRef[]
}

interface Single {
  readonly ref: MarketRef
  readonly variant: ChannelVariant
}

interface Taken {
  readonly variant: ChannelVariant
  readonly key: MarketNumber | WideKey
}

class ChannelSubscriptions {
  readonly wide = new Map<WideKey, ChannelVariant>()
  readonly singles = new Map<MarketNumber, Single>()

  get count(): number {
    return this.wide.size + this.singles.size
  }

  /** The variant of the wide subscription that contains this key; null: none does. */
  wideVariant(key: WideKey): ChannelVariant | null {
    return this.wide.get('*') ?? this.wide.get(key) ?? null
  }

  covers(key: WideKey): boolean {
    return this.wide.has('*') || this.wide.has(key)
  }

  /** The subscribed variant of this market; null: not subscribed. */
  variantOf(market: MarketRef): ChannelVariant | null {
    return this.wideVariant(market.venue) ?? this.singles.get(market.number)?.variant ?? null
  }

  /** Whether it is a part of a wide subscription, and not one itself. */
  isPart({ key, refs }: Subscribed): boolean {
    return key === null
      ? refs.some(({ venue }) => this.covers(venue))
      : this.covers(key) && !this.wide.has(key)
  }

  /** Removes and returns these markets, or what a wide subscription contains. */
  take({ key, refs }: Subscribed): readonly Taken[] {
    const taken: Taken[] = []
    if (key === null) {
      for (const { number } of refs) {
        const single = this.singles.get(number)
        if (single !== undefined) taken.push({ variant: single.variant, key: number })
        this.singles.delete(number)
      }
      return taken
    }
    for (const [wideKey, variant] of this.wide) {
      if (contains(key, wideKey)) taken.push({ variant, key: wideKey })
    }
    for (const { ref, variant } of this.singles.values()) {
      if (contains(key, ref.venue)) taken.push({ variant, key: ref.number })
    }
    for (const { key: takenKey } of taken) {
      if (typeof takenKey === 'number') this.singles.delete(takenKey)
      else this.wide.delete(takenKey)
    }
    return taken
  }
}

export class Subscriptions {
  /** Of the requested channels; at most one entry per channel. */
  readonly #channels = new Map<ChannelName, ChannelSubscriptions>()

  of(channel: ChannelName): ChannelSubscriptions {
    let subscriptions = this.#channels.get(channel)
    if (subscriptions === undefined) {
      subscriptions = new ChannelSubscriptions()
      this.#channels.set(channel, subscriptions)
    }
    return subscriptions
  }

  ofVariant(variant: ChannelVariant): ChannelSubscriptions {
    return this.of(channelOfVariant(variant))
  }

  *all(): Iterable<Taken> {
    for (const { wide, singles } of this.#channels.values()) {
      for (const [key, variant] of wide) yield { variant, key }
      for (const { ref, variant } of singles.values()) yield { variant, key: ref.number }
    }
  }

  /** Number that counts against the limit: `*` and a venue are one each. */
  get count(): number {
    let sum = 0
    for (const { count } of this.#channels.values()) sum += count
    return sum
  }
}
