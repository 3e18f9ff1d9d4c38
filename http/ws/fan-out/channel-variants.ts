// A lane is a channel with one set of options: what a subscription chooses, what topics are made of,
// and what is encoded once. A lane's name is its channel's, followed by the chosen values
// (`depth:10:250`); the lane of a channel without options is the channel's name. The topics made of
// lanes stand here too.

import { assert } from '../../../engine/errors.ts'
import type { VenueKey } from '../../../engine/ids.ts'
import type { MarketNumber } from '../../../engine/market/market.ts'

/** The name of a lane, made by {@link variantOf} only. */
export type ChannelVariant = string

/** The name of a channel, as its descriptor gives it. */
export type ChannelName = string

/** A whole venue, or everything. */
export type WideKey = VenueKey | '*'

/** How messages are written: `j` is JSON text, `b` is MessagePack. */
export type Form = 'j' | 'b'
export const FORM_OF = { json: 'j', msgpack: 'b' } as const satisfies Record<string, Form>

/** A value that an option can have. */
export type OptionValue = string | number

/** A choice that a subscription makes; the default is taken when it makes none. */
interface Option {
  readonly allowed: readonly OptionValue[]
  readonly default: OptionValue
  /** Other values that clients may send, with the allowed value that each means. */
  readonly synonyms?: ReadonlyMap<unknown, OptionValue>
}

/** A lane with the options that it stands for, by the names that commands give them. */
interface VariantFacts<Options = Readonly<Record<string, OptionValue>>> {
  readonly variant: ChannelVariant
  readonly options: Options
}

/** What lanes need to know of a channel. */
export interface ChannelWithVariants {
  readonly name: ChannelName
  /** Whether a subscription begins with the market's present state. */
  readonly hasState: boolean
  /** In the order in which their values stand in the names of lanes. */
  readonly options: Readonly<Record<string, Option>>
  /** Every combination of options. */
  readonly variants: readonly VariantFacts[]
}

/** The lane of a channel with these options, which stand in the order of the channel's options. */
export function variantOf<Options extends Readonly<Record<string, OptionValue>>>(
  channel: ChannelName,
  options: Options,
): VariantFacts<Options> {
  return { variant: [channel, ...Object.values(options)].join(':'), options }
}

/** The channel to which a lane belongs. */
export function channelOfVariant(variant: ChannelVariant): ChannelName {
  const end = variant.indexOf(':')
  return end < 0 ? variant : variant.slice(0, end)
}

/**
 * The topic of a market, a venue or everything in a lane: `j:depth:10:250:77`. A connection is on at
 * most one of those that carry a given market in a channel.
 */
export function topicOf(form: Form, variant: ChannelVariant, key: MarketNumber | WideKey): string {
  return `${form}:${variant}:${key}`
}

/** The topic of status messages, which a socket joins at its beginning and never leaves: it must not
 * lose its last topic while messages are pending in it, as uWebSockets.js frees those unsent. */
export function statusTopic(form: Form): string {
  return `${form}:status`
}

/** The topic of heartbeats with offsets, left while a connection lags or is caught up. */
export function heartbeatTopic(form: Form): string {
  return `${form}:heartbeat`
}

/** The lanes of a set of channels, and what commands may say of them. */
export class VariantTable {
  /** In the order in which the channels were given. */
  readonly names: readonly ChannelName[]
  /** The names of all options, each once. */
  readonly optionNames: readonly string[]
  readonly #channels: ReadonlyMap<ChannelName, ChannelWithVariants>
  readonly #facts: ReadonlyMap<ChannelVariant, VariantFacts>

  constructor(channels: readonly ChannelWithVariants[]) {
    this.names = channels.map(({ name }) => name)
    this.optionNames = [...new Set(channels.flatMap(({ options }) => Object.keys(options)))]
    this.#channels = new Map(channels.map((channel) => [channel.name, channel]))
    assert(this.#channels.size === channels.length, 'each channel has a name of its own')
    this.#facts = new Map(
      channels.flatMap(({ variants }) => variants.map((facts) => [facts.variant, facts])),
    )
  }

  /** Every lane, channel by channel. */
  get variants(): Iterable<ChannelVariant> {
    return this.#facts.keys()
  }

  /** Whether there is a channel of this name. */
  has(channel: ChannelName): boolean {
    return this.#channels.has(channel)
  }

  /** Whether a subscription to the channel begins with the market's present state. */
  hasState(channel: ChannelName): boolean {
    return this.#channels.get(channel)?.hasState === true
  }

  /** The options of a lane, by the names that replies give them. */
  optionsOf(variant: ChannelVariant): VariantFacts['options'] {
    const facts = this.#facts.get(variant)
    assert(facts !== undefined, `${variant} is a lane`)
    return facts.options
  }

  /** The values that any channel allows for an option, each once. */
  valuesOf(option: string): readonly OptionValue[] {
    const values = [...this.#channels.values()].flatMap(
      ({ options }) => options[option]?.allowed ?? [],
    )
    return [...new Set(values)]
  }

  /**
   * The lanes that channels and options mean together: each option counts for the channels that have
   * it. Refused, in words that name what is accepted: a value that one of them does not take, and an
   * option that none of them has.
   */
  variantsOf(
    channels: readonly ChannelName[],
    given: Readonly<Record<string, unknown>>,
  ): readonly ChannelVariant[] | { readonly message: string } {
    for (const name of this.optionNames) {
      if (given[name] === undefined) continue
      const takers = this.names.filter((channel) => this.#takes(channel, name))
      if (!channels.some((channel) => takers.includes(channel))) {
        return { message: `${name} is an option of ${takers.join(' and ')} only` }
      }
    }
    const variants: ChannelVariant[] = []
    for (const channel of channels) {
      const options: Record<string, OptionValue> = {}
      for (const [name, option] of Object.entries(this.#channels.get(channel)?.options ?? {})) {
        const value = chosen(option, given[name])
        if (value === null) {
          return { message: `${name} of ${channel} is one of ${option.allowed.join(', ')}` }
        }
        options[name] = value
      }
      variants.push(variantOf(channel, options).variant)
    }
    return variants
  }

  #takes(channel: ChannelName, option: string): boolean {
    return Object.hasOwn(this.#channels.get(channel)?.options ?? {}, option)
  }
}

/** The allowed value that is given, or the default; null when what is given is not allowed. */
function chosen(option: Option, given: unknown): OptionValue | null {
  if (given === undefined || given === null) return option.default
  const meant = option.synonyms?.get(given) ?? given
  return option.allowed.find((value) => value === meant) ?? null
}
