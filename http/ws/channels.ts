// The channels: their names, what a subscription begins with, and the topics they are published to.
// One topic per form, channel and market, one per venue, and one for everything; a connection is on
// at most one of those that carry a given market. Upholds HUB1.

import type { VenueKey } from '../../engine/ids.ts'
import type { MarketNumber } from '../../engine/market.ts'

/** What each channel is; `hasState`: a subscription begins with the market's present state. */
export const CHANNELS = {
  orderbook: { letter: 'o', hasState: true },
  prices: { letter: 'p', hasState: true },
  trades: { letter: 't', hasState: false },
} as const satisfies Record<string, { letter: string; hasState: boolean }>

export type ChannelName = keyof typeof CHANNELS
export const CHANNEL_NAMES: readonly ChannelName[] = ['orderbook', 'prices', 'trades']
export const STATE_CHANNELS: readonly ChannelName[] = CHANNEL_NAMES.filter(
  (name) => CHANNELS[name].hasState,
)

/** A whole venue, or everything. */
export type WideKey = VenueKey | '*'

/** How messages are written: JSON text is `j`. */
export type Form = 'j'

/** The topic of a market, a venue or everything in a channel. */
export function topicOf(form: Form, channel: ChannelName, key: MarketNumber | WideKey): string {
  return `${form}:${CHANNELS[channel].letter}:${key}`
}

/** Everybody on a form: status messages. Never left, so that no socket loses its last topic with
 * messages pending in it: uWebSockets.js frees those unsent. */
export function statusTopic(form: Form): string {
  return `${form}:status`
}

/** Heartbeats with offsets: left while a connection lags or is caught up. */
export function heartbeatTopic(form: Form): string {
  return `${form}:heartbeat`
}

/** The channel of a name from outside; null for one we do not have. */
export function channelOf(name: string): ChannelName | null {
  return CHANNEL_NAMES.find((known) => known === name) ?? null
}
