// What one connection is subscribed to. A whole venue or `*` replaces the single markets it contains,
// so that nobody receives a message twice. Holds references of markets, never looks at them.
// Upholds SUB1 and SUB2.

import type { MarketNumber, MarketRef } from '../../engine/market.ts'
import type { ChannelName, WideKey } from './channels.ts'

/** Whether a wide subscription contains a market's venue, or another wide one. */
export function contains(wide: WideKey, key: WideKey): boolean {
  return wide === '*' || wide === key
}

/** One channel's subscriptions. */
export class ChannelSubscriptions {
  readonly wide = new Set<WideKey>()
  readonly singles = new Map<MarketNumber, MarketRef>()

  get count(): number {
    return this.wide.size + this.singles.size
  }

  /** Whether a wide subscription contains this venue, or everything. */
  covers(key: WideKey): boolean {
    return this.wide.has('*') || this.wide.has(key)
  }

  /** Whether messages of this market are wanted. */
  wants(market: MarketRef): boolean {
    return this.covers(market.venue) || this.singles.has(market.number)
  }

  /** Takes out what a wide subscription will contain; returns what was taken out. */
  takeContained(key: WideKey): { readonly wide: WideKey[]; readonly singles: MarketRef[] } {
    const wide = [...this.wide].filter((known) => contains(key, known))
    const singles = [...this.singles.values()].filter((ref) => contains(key, ref.venue))
    for (const known of wide) this.wide.delete(known)
    for (const { number } of singles) this.singles.delete(number)
    return { wide, singles }
  }
}

/** All subscriptions of a connection. */
export class Subscriptions {
  readonly #channels: Readonly<Record<ChannelName, ChannelSubscriptions>> = {
    orderbook: new ChannelSubscriptions(),
    prices: new ChannelSubscriptions(),
    trades: new ChannelSubscriptions(),
  }

  of(channel: ChannelName): ChannelSubscriptions {
    return this.#channels[channel]
  }

  /** How many count against the limit: `*` and a venue are one each. */
  get count(): number {
    const { orderbook, prices, trades } = this.#channels
    return orderbook.count + prices.count + trades.count
  }
}
