// Publishes a message to the topics of its market, its venue and `*`, and to wildcard subscriptions that are still
// receiving initial states. Encodes a message at most once per encoding, and only if it has subscribers. Never iterates
// over connections.

import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import type { Count, Metrics } from '../../../engine/process/metrics.ts'
import type { Encoder, Frame } from '../encode/encoder.ts'
import type { WildcardSubscription } from '../session/wildcard-subscription.ts'
import type { Topics } from './batches.ts'
import {
  type ChannelVariant,
  channelOfVariant,
  type Form,
  topicOf,
  type WideKey,
} from './channel-variants.ts'

type Frames = Frame | readonly Frame[] | null

/**
 * Applies to wildcard subscriptions that are still receiving initial states. 'change': send the message only if the
 * market's state was sent before. 'state': send it instead of the market's initial state.
 */
type Weight = 'change' | 'state'

type TopicKey = MarketNumber | WideKey

export interface Topic {
  readonly name: string
  readonly form: Form
  readonly variant: ChannelVariant
  readonly key: TopicKey
  subscriberCount: number
}
const NONE: readonly Topic[] = []

type TopicsOfVariant = Map<TopicKey, Topic>

export class FanOut {
  readonly #library: Pick<Topics, 'publish'>
  readonly #encoders: readonly Encoder[]
  readonly #encoded: ReadonlyMap<ChannelVariant, Count>
  /** Topics with subscribers. Asking the library for the number of subscribers is slower. */
  readonly #topics: Readonly<Record<Form, ReadonlyMap<ChannelVariant, TopicsOfVariant>>>
  /** Wildcard subscriptions that are still receiving initial states. Usually empty. */
  readonly #wildcards = new Set<WildcardSubscription>()

  constructor(parts: {
    topics: Pick<Topics, 'publish'>
    variants: Iterable<ChannelVariant>
    encoders: readonly Encoder[]
    metrics: Metrics
  }) {
    this.#library = parts.topics
    this.#encoders = parts.encoders
    const variants = [...parts.variants]
    const help = 'Messages encoded, by channel.'
    this.#encoded = new Map(
      variants.map((variant) => {
        const labels = { channel: channelOfVariant(variant) }
        return [variant, parts.metrics.count('stream_messages_encoded_total', help, labels)]
      }),
    )
    const topics = () => new Map(variants.map((variant) => [variant, new Map<TopicKey, Topic>()]))
    this.#topics = { j: topics(), b: topics() }
  }

  /** Counts a connection as a subscriber. The caller must call {@link removeSubscriber} later. */
  addSubscriber(form: Form, variant: ChannelVariant, key: TopicKey): Topic {
    const topics = this.#topics[form].get(variant)
    const name = topicOf(form, variant, key)
    const topic = topics?.get(key) ?? { name, form, variant, key, subscriberCount: 0 }
    topic.subscriberCount += 1
    topics?.set(key, topic)
    return topic
  }

  removeSubscriber(topic: Topic): void {
    topic.subscriberCount -= 1
    if (topic.subscriberCount > 0) return
    this.#topics[topic.form].get(topic.variant)?.delete(topic.key)
  }

  isActive(variant: ChannelVariant): boolean {
    if (this.#topics.j.get(variant)?.size !== 0 || this.#topics.b.get(variant)?.size !== 0)
      return true
    for (const wildcard of this.#wildcards) if (wildcard.variant === variant) return true
    return false
  }

  openWildcard(wildcard: WildcardSubscription): void {
    this.#wildcards.add(wildcard)
  }

  closeWildcard(wildcard: WildcardSubscription): void {
    this.#wildcards.delete(wildcard)
  }

  closeWildcardsOf(connection: unknown): void {
    for (const wildcard of this.#wildcards)
      if (wildcard.connection === connection) this.#wildcards.delete(wildcard)
  }

  hasSubscribers(variant: ChannelVariant, market: MarketRef): boolean {
    for (const wildcard of this.#wildcards) if (wildcard.isFor(variant, market)) return true
    return this.#encoders.some(({ form }) => this.#reached(form, variant, market).length > 0)
  }

  #reached(form: Form, variant: ChannelVariant, { number, venue }: MarketRef): readonly Topic[] {
    const topics = this.#topics[form].get(variant)
    if (topics === undefined || topics.size === 0) return NONE
    return [topics.get(number), topics.get(venue), topics.get('*')].filter(
      (topic) => topic !== undefined,
    )
  }

  /** Calls `make` at most once per form. */
  send(
    variant: ChannelVariant,
    market: MarketRef,
    weight: Weight,
    make: (encoder: Encoder) => Frames,
  ): void {
    for (const encoder of this.#encoders) {
      let frames: readonly Frame[] | null = null
      for (const { name } of this.#reached(encoder.form, variant, market)) {
        frames ??= this.#make(variant, encoder, make)
        for (const frame of frames) this.#library.publish(name, frame, encoder.isBinary)
      }
      for (const wildcard of this.#wildcards) {
        if (wildcard.connection.encoder !== encoder || !wildcard.isFor(variant, market)) continue
        if (weight === 'state') wildcard.sent.set(market.number, market)
        if (!wildcard.sent.has(market.number)) continue
        frames ??= this.#make(variant, encoder, make)
        for (const frame of frames) wildcard.connection.send(frame)
      }
    }
  }

  #make(
    variant: ChannelVariant,
    encoder: Encoder,
    make: (encoder: Encoder) => Frames,
  ): readonly Frame[] {
    const frames = make(encoder)
    if (frames === null) return []
    this.#encoded.get(variant)?.inc()
    return typeof frames === 'string' || frames instanceof Uint8Array ? [frames] : frames
  }
}
