// A lane is a channel with one set of options: what a subscription chooses, what topics are made of,
// and what is encoded once. There are 23 of them, so each is a string made here and nowhere else; the
// lane of a channel without options is the channel's name. Upholds HUB1, LANE1, LANE2.

import { assert } from '../../../engine/errors.ts'
import { CANDLE_MS, type CandleInterval } from '../../../engine/market/candle.ts'
import type { MarketNumber } from '../../../engine/market/market.ts'
import {
  CHANNEL_NAMES,
  CHANNELS,
  type ChannelName,
  DEPTH_CONFLATE_MS,
  DEPTH_LEVELS,
  type Form,
  INTERVAL_OF_MINUTES,
  INTERVALS,
  PRICE_CONFLATE_MS,
  type WideKey,
} from '../channels.ts'

type DepthLevels = (typeof DEPTH_LEVELS)[number]
type DepthMs = (typeof DEPTH_CONFLATE_MS)[number]
type PriceMs = (typeof PRICE_CONFLATE_MS)[number]

export type DepthLane = `depth:${DepthLevels}:${DepthMs}`
export type PriceLane = `prices:${PriceMs}`
export type CandleLane = `candles:${CandleInterval}`
export type Lane =
  | 'orderbook'
  | 'trades'
  | 'whales'
  | 'lifecycle'
  | DepthLane
  | PriceLane
  | CandleLane

/** What a lane's name says. */
export type LaneFacts =
  | { readonly channel: 'orderbook' | 'trades' | 'whales' | 'lifecycle'; readonly lane: Lane }
  | {
      readonly channel: 'depth'
      readonly lane: DepthLane
      readonly levels: DepthLevels
      readonly conflateMs: DepthMs
    }
  | { readonly channel: 'prices'; readonly lane: PriceLane; readonly conflateMs: PriceMs }
  | {
      readonly channel: 'candles'
      readonly lane: CandleLane
      readonly interval: CandleInterval
      readonly lengthMs: number
    }

export const DEPTH_LANES = DEPTH_LEVELS.flatMap((levels) =>
  DEPTH_CONFLATE_MS.map((conflateMs) => {
    const lane: DepthLane = `depth:${levels}:${conflateMs}`
    return { channel: 'depth', lane, levels, conflateMs } as const
  }),
)
export const PRICE_LANES = PRICE_CONFLATE_MS.map((conflateMs) => {
  const lane: PriceLane = `prices:${conflateMs}`
  return { channel: 'prices', lane, conflateMs } as const
})
export const CANDLE_LANES = INTERVALS.map((interval) => {
  const lane: CandleLane = `candles:${interval}`
  return { channel: 'candles', lane, interval, lengthMs: CANDLE_MS[interval] } as const
})
const PLAIN_LANES = (['orderbook', 'trades', 'whales', 'lifecycle'] as const).map(
  (channel) => ({ channel, lane: channel }) as const,
)

/** Every lane, by channel in the order of the table. */
export const LANES: readonly LaneFacts[] = [
  ...PLAIN_LANES,
  ...DEPTH_LANES,
  ...PRICE_LANES,
  ...CANDLE_LANES,
].sort((one, other) => CHANNEL_NAMES.indexOf(one.channel) - CHANNEL_NAMES.indexOf(other.channel))
const FACTS: ReadonlyMap<Lane, LaneFacts> = new Map(LANES.map((facts) => [facts.lane, facts]))

/**
 * The topic of a market, a venue or everything in a lane: `j:depth:10:250:77`. A connection is on at
 * most one of those that carry a given market in a channel.
 */
export function topicOf(form: Form, lane: Lane, key: MarketNumber | WideKey): string {
  return `${form}:${lane}:${key}`
}

/** The channel and options of a lane. */
export function factsOf(lane: Lane): LaneFacts {
  const facts = FACTS.get(lane)
  assert(facts !== undefined, `${lane} is a lane`)
  return facts
}

export function channelOfLane(lane: Lane): ChannelName {
  return factsOf(lane).channel
}

/** Whether a subscription begins with the market's present state. */
export function hasState(lane: Lane): boolean {
  return CHANNELS[channelOfLane(lane)].hasState
}

/** The options of a lane as replies name them. */
export function optionsOf(lane: Lane): Readonly<Record<string, unknown>> {
  const facts = factsOf(lane)
  if (facts.channel === 'depth') return { levels: facts.levels, conflate_ms: facts.conflateMs }
  if (facts.channel === 'prices') return { conflate_ms: facts.conflateMs }
  return facts.channel === 'candles' ? { interval: facts.interval } : {}
}

/** Options as a command gives them; undefined: the channel's default. */
export interface GivenOptions {
  readonly levels?: unknown
  readonly conflate_ms?: unknown
  readonly interval?: unknown
}

export const OPTION_NAMES = ['levels', 'conflate_ms', 'interval'] as const
type OptionName = (typeof OPTION_NAMES)[number]

/**
 * The lanes that channels and options mean together: each option counts for the channels that have
 * it. Refused, in words that name what is accepted: a value that one of them does not take, and an
 * option that none of them has.
 */
export function lanesOf(
  channels: readonly ChannelName[],
  given: GivenOptions,
): readonly Lane[] | { readonly message: string } {
  for (const name of OPTION_NAMES) {
    if (given[name] === undefined) continue
    if (!channels.some((channel) => name in CHANNELS[channel].options)) {
      const takers = CHANNEL_NAMES.filter((channel) => name in CHANNELS[channel].options)
      return { message: `${name} is an option of ${takers.join(' and ')} only` }
    }
  }
  const lanes: Lane[] = []
  for (const channel of channels) {
    const lane = laneOf(channel, given)
    if (typeof lane !== 'string') return lane
    lanes.push(lane)
  }
  return lanes
}

function laneOf(channel: ChannelName, given: GivenOptions): Lane | { readonly message: string } {
  switch (channel) {
    case 'depth': {
      const { options } = CHANNELS.depth
      const levels = chosen(options.levels, given.levels)
      if (levels === null) return badOption(channel, 'levels', options.levels.allowed)
      const conflateMs = chosen(options.conflate_ms, given.conflate_ms)
      if (conflateMs === null) return badOption(channel, 'conflate_ms', options.conflate_ms.allowed)
      return `depth:${levels}:${conflateMs}`
    }
    case 'prices': {
      const option = CHANNELS.prices.options.conflate_ms
      const conflateMs = chosen(option, given.conflate_ms)
      if (conflateMs === null) return badOption(channel, 'conflate_ms', option.allowed)
      return `prices:${conflateMs}`
    }
    case 'candles': {
      const named = INTERVAL_OF_MINUTES.get(given.interval) ?? given.interval
      const interval = chosen(CHANNELS.candles.options.interval, named)
      return interval === null ? badOption(channel, 'interval', INTERVALS) : `candles:${interval}`
    }
    default:
      return channel
  }
}

/** The allowed value that is given, or the default; null when what is given is not allowed. */
function chosen<Value>(
  option: { readonly allowed: readonly Value[]; readonly default: Value },
  given: unknown,
): Value | null {
  if (given === undefined || given === null) return option.default
  return option.allowed.find((value) => value === given) ?? null
}

function badOption(channel: ChannelName, name: OptionName, allowed: readonly unknown[]) {
  return { message: `${name} of ${channel} is one of ${allowed.join(', ')}` }
}
