// The channels: how the messages of each come, whether it begins with a state, and the options that a
// subscription may choose. And how messages are written. Not for: what a command's options mean, or
// the topics of a channel (lanes.ts). Upholds LANE1.

import type { VenueKey } from '../../engine/ids.ts'
import { CANDLE_MS, type CandleInterval } from '../../engine/market/candle.ts'

/** A choice that a subscription makes; the default is taken when it does not. */
interface Choice<Value> {
  readonly allowed: readonly Value[]
  readonly default: Value
}

/** How the messages of a channel come. */
export type Delivery = 'every' | 'conflated' | 'everyOrConflated' | 'perSecond'

export const DEPTH_LEVELS = [5, 10, 20] as const
export const DEPTH_CONFLATE_MS = [100, 250, 1_000] as const
export const PRICE_CONFLATE_MS = [0, 250, 1_000] as const
export const INTERVALS: readonly CandleInterval[] = ['1m', '5m', '15m', '1h', '4h', '1d']
/** What an interval may also be called, as in the REST API. */
export const INTERVAL_OF_MINUTES: ReadonlyMap<unknown, CandleInterval> = new Map(
  INTERVALS.map((interval) => [CANDLE_MS[interval] / 60_000, interval]),
)

/** What each channel is; `hasState`: a subscription begins with the market's present state. */
export const CHANNELS = {
  orderbook: { hasState: true, delivery: 'every', options: {} },
  depth: {
    hasState: true,
    delivery: 'conflated',
    options: {
      levels: { allowed: DEPTH_LEVELS, default: 10 },
      conflate_ms: { allowed: DEPTH_CONFLATE_MS, default: 250 },
    },
  },
  prices: {
    hasState: true,
    delivery: 'everyOrConflated',
    options: { conflate_ms: { allowed: PRICE_CONFLATE_MS, default: 0 } },
  },
  trades: { hasState: false, delivery: 'every', options: {} },
  whales: { hasState: false, delivery: 'every', options: {} },
  lifecycle: { hasState: false, delivery: 'every', options: {} },
  candles: {
    hasState: true,
    delivery: 'perSecond',
    options: { interval: { allowed: INTERVALS, default: '1m' } },
  },
} as const satisfies Record<
  string,
  { hasState: boolean; delivery: Delivery; options: Readonly<Record<string, Choice<unknown>>> }
>

export type ChannelName = keyof typeof CHANNELS
export const CHANNEL_NAMES: readonly ChannelName[] = [
  'orderbook',
  'depth',
  'prices',
  'trades',
  'whales',
  'lifecycle',
  'candles',
]

/** A whole venue, or everything. */
export type WideKey = VenueKey | '*'

/** How messages are written: `j` is JSON text, `b` is MessagePack. */
export type Form = 'j' | 'b'
export const FORM_OF = { json: 'j', msgpack: 'b' } as const satisfies Record<string, Form>

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
