// A channel variant is a channel with one set of options. Clients subscribe to variants, and each message is encoded
// once per variant. The name of a variant is the channel's name, followed by its option values: `depth:10:250`.

import { assert } from '../../../engine/errors.ts'
import type { VenueKey } from '../../../engine/ids.ts'
import type { MarketNumber } from '../../../engine/market/market.ts'

/** Name of a channel variant. Only {@link variantOf} makes such names. */
export type ChannelVariant = string

export type ChannelName = string

export type WideKey = VenueKey | '*'

/** Encoding of messages: `j` is JSON text, `b` is MessagePack. */
export type Form = 'j' | 'b'
export const FORM_OF = { json: 'j', msgpack: 'b' } as const satisfies Record<string, Form>

export type OptionValue = string | number

interface Option {
  readonly allowed: readonly OptionValue[]
  readonly default: OptionValue
  /** Alternative values that clients may send, each mapped to an allowed value. */
  readonly synonyms?: ReadonlyMap<unknown, OptionValue>
}

interface VariantFacts<Options = Readonly<Record<string, OptionValue>>> {
  readonly variant: ChannelVariant
  readonly options: Options
}

export interface ChannelWithVariants {
  readonly name: ChannelName
  /** True if a subscription starts with the current state of the market. */
  readonly hasState: boolean
  /** True if the messages of a market come from its book. The book is then covered for subscribers of the market. */
  readonly needsBook?: true
  /** Options in the order in which their values appear in variant names. */
  readonly options: Readonly<Record<string, Option>>
  readonly variants: readonly VariantFacts[]
}

/** `options` must be in the order of the channel's `options`. */
export function variantOf<Options extends Readonly<Record<string, OptionValue>>>(
  channel: ChannelName,
  options: Options,
): VariantFacts<Options> {
  return { variant: [channel, ...Object.values(options)].join(':'), options }
}

export function channelOfVariant(variant: ChannelVariant): ChannelName {
  const end = variant.indexOf(':')
  return end < 0 ? variant : variant.slice(0, end)
}

/**
 * The topic of a market, a venue or `*` in a variant: `j:depth:10:250:77`. A connection receives each market of a
 * channel through one topic only.
 */
export function topicOf(form: Form, variant: ChannelVariant, key: MarketNumber | WideKey): string {
  return `${form}:${variant}:${key}`
}

/**
 * The topic of status messages. A socket subscribes to it until it closes: when a socket leaves its last topic,
 * uWebSockets.js frees its pending messages unsent.
 */
export function statusTopic(form: Form): string {
  return `${form}:status`
}

/** The topic of heartbeats with offsets. A connection is not subscribed to it while it lags or catches up. */
export function heartbeatTopic(form: Form): string {
  return `${form}:heartbeat`
}

export class VariantTable {
  readonly names: readonly ChannelName[]
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

  get variants(): Iterable<ChannelVariant> {
    return this.#facts.keys()
  }

  has(channel: ChannelName): boolean {
    return this.#channels.has(channel)
  }

  hasState(channel: ChannelName): boolean {
    return this.#channels.get(channel)?.hasState === true
  }

  needsBook(channel: ChannelName): boolean {
    return this.#channels.get(channel)?.needsBook === true
  }

  optionsOf(variant: ChannelVariant): VariantFacts['options'] {
    const facts = this.#facts.get(variant)
    assert(facts !== undefined, `${variant} is not a channel variant`)
    return facts.options
  }

  valuesOf(option: string): readonly OptionValue[] {
    const values = [...this.#channels.values()].flatMap(
      ({ options }) => options[option]?.allowed ?? [],
    )
    return [...new Set(values)]
  }

  /**
   * Each option applies to the channels that have it. Rejects an option that no channel has, and a value that one of
   * the channels does not allow. The message lists the accepted values.
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

/** The allowed value that the client chose, or the default. Null if the value is not allowed. */
function chosen(option: Option, given: unknown): OptionValue | null {
  if (given === undefined || given === null) return option.default
  const meant = option.synonyms?.get(given) ?? given
  return option.allowed.find((value) => value === meant) ?? null
}
