// What one connection is subscribed to: on each channel at most one lane for a market. A whole venue
// or `*` replaces the single markets it contains, so that no message comes twice. Holds
// references of markets, never looks at them.

import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import {
  type ChannelName,
  type ChannelVariant,
  channelOfVariant,
  type WideKey,
} from '../fan-out/channel-variants.ts'

/** Whether a wide subscription contains a market's venue, or another wide one. */
export function contains(wide: WideKey, key: WideKey): boolean {
  return wide === '*' || wide === key
}

/** A single market and the lane in which it is subscribed to. */
interface Single {
  readonly ref: MarketRef
  readonly variant: ChannelVariant
}

/** A subscription that was taken out. */
interface Taken {
  readonly variant: ChannelVariant
  readonly key: MarketNumber | WideKey
}

/** One channel's subscriptions. */
class ChannelSubscriptions {
  /** Whole venues and `*`, with their lanes. */
  readonly wide = new Map<WideKey, ChannelVariant>()
  readonly singles = new Map<MarketNumber, Single>()

  get count(): number {
    return this.wide.size + this.singles.size
  }

  /** The lane of the wide subscription that contains this venue, or everything; null: none does. */
  wideVariant(key: WideKey): ChannelVariant | null {
    return this.wide.get('*') ?? this.wide.get(key) ?? null
  }

  /** Whether a wide subscription contains this venue, or everything. */
  covers(key: WideKey): boolean {
    return this.wide.has('*') || this.wide.has(key)
  }

  /** The lane in which messages of this market are wanted; null when they are not. */
  variantOf(market: MarketRef): ChannelVariant | null {
    return this.wideVariant(market.venue) ?? this.singles.get(market.number)?.variant ?? null
  }

  /** Whether messages of this market are wanted. */
  wants(market: MarketRef): boolean {
    return this.variantOf(market) !== null
  }

  /** Takes out what a wide subscription will contain; returns what was taken out. */
  takeContained(key: WideKey): readonly Taken[] {
    const taken: Taken[] = []
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

/** All subscriptions of a connection. */
export class Subscriptions {
  /** Of the channels that were asked for: at most as many as there are. */
  readonly #channels = new Map<ChannelName, ChannelSubscriptions>()

  of(channel: ChannelName): ChannelSubscriptions {
    let subscriptions = this.#channels.get(channel)
    if (subscriptions === undefined) {
      subscriptions = new ChannelSubscriptions()
      this.#channels.set(channel, subscriptions)
    }
    return subscriptions
  }

  /** The subscriptions of the channel to which a lane belongs. */
  ofVariant(variant: ChannelVariant): ChannelSubscriptions {
    return this.of(channelOfVariant(variant))
  }

  /** Every subscription of a connection, as what it listens to. */
  *all(): Iterable<Taken> {
    for (const { wide, singles } of this.#channels.values()) {
      for (const [key, variant] of wide) yield { variant, key }
      for (const { ref, variant } of singles.values()) yield { variant, key: ref.number }
    }
  }

  /** How many count against the limit: `*` and a venue are one each. */
  get count(): number {
    let sum = 0
    for (const { count } of this.#channels.values()) sum += count
    return sum
  }
}
