// Publishes a message to every subscriber of a variant: the topics of its market, its venue and `*`, and the wildcard
// subscriptions that are being filled. Encodes at most once per form, and not at all without subscribers. Never
// iterates over connections.

import { VENUE_KEYS } from '../../../engine/ids.ts'
import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import type { Count, Metrics } from '../../../engine/process/metrics.ts'
import type { Encoder, Frame } from '../encode/encoder.ts'
import type { WildcardSubscription } from '../session/wildcard-subscription.ts'
import {
  type ChannelName,
  type ChannelVariant,
  channelOfVariant,
  type Form,
  topicOf,
  type WideKey,
} from './channel-variants.ts'
import type { Topics } from './library.ts'

/** Frames of one message; null: nothing to send. */
type Frames = Frame | readonly Frame[] | null

/**
 * For wildcard subscriptions: 'change' goes only to those that have sent the market's state. 'state' goes to all, and
 * replaces the state that they would send.
 */
type Weight = 'change' | 'state'

/** Key of a topic: a market, a venue or everything. */
type TopicKey = MarketNumber | WideKey

/**
 * The topics of a variant in one form: their names, and which are unsubscribed. Counting a topic's subscribers in the
 * library takes as long as writing half a message. An unsubscribed topic is therefore counted once, and again only
 * after `markSubscribed`.
 */
class VariantTopics {
  readonly encoded: Count
  readonly #form: Form
  readonly #variant: ChannelVariant
  readonly #wideNames: ReadonlyMap<WideKey, string>
  readonly #unsubscribedWide = new Set<WideKey>()
  /** One bit per market number. Numbers are dense: 100,000 markets take at most 25 KB. */
  #unsubscribedMarkets = new Uint8Array(0)

  constructor(form: Form, variant: ChannelVariant, encoded: Count) {
    this.encoded = encoded
    this.#form = form
    this.#variant = variant
    this.#wideNames = new Map(
      ([...VENUE_KEYS, '*'] as const).map((key) => [key, topicOf(form, variant, key)]),
    )
  }

  /** Null if it is known to have no subscriber. */
  nameOf(key: TopicKey): string | null {
    if (typeof key !== 'number') {
      return this.#unsubscribedWide.has(key) ? null : (this.#wideNames.get(key) ?? null)
    }
    const bits = this.#unsubscribedMarkets[key >>> 3] ?? 0
    return (bits & (1 << (key & 7))) === 0 ? topicOf(this.#form, this.#variant, key) : null
  }

  markUnsubscribed(key: TopicKey): void {
    if (typeof key !== 'number') {
      this.#unsubscribedWide.add(key)
      return
    }
    const at = key >>> 3
    if (at >= this.#unsubscribedMarkets.length) {
      const longer = new Uint8Array(2 * (at + 1))
      longer.set(this.#unsubscribedMarkets)
      this.#unsubscribedMarkets = longer
    }
    this.#unsubscribedMarkets[at] = (this.#unsubscribedMarkets[at] ?? 0) | (1 << (key & 7))
  }

  /** A connection subscribes to the topic. */
  markSubscribed(key: TopicKey): void {
    if (typeof key !== 'number') this.#unsubscribedWide.delete(key)
    else if (key >>> 3 < this.#unsubscribedMarkets.length) {
      this.#unsubscribedMarkets[key >>> 3] =
        (this.#unsubscribedMarkets[key >>> 3] ?? 0) & ~(1 << (key & 7))
    }
  }
}

export class FanOut {
  readonly #topics: Topics
  readonly #encoders: readonly Encoder[]
  /** Connections per form; forms without connections are skipped. */
  readonly #users: Record<Form, number> = { j: 0, b: 0 }
  /** Variants with a subscriber since the last `restrict`. */
  readonly #active = new Set<ChannelVariant>()
  /** Wildcard subscriptions whose initial messages are still being sent; usually none. */
  readonly #wildcards = new Set<WildcardSubscription>()
  readonly #variants: Readonly<Record<Form, ReadonlyMap<ChannelVariant, VariantTopics>>>
  /** The channels of active variants. */
  readonly #activeChannels = new Set<ChannelName>()
  /**
   * Bytes published since the hub last reset them: an upper bound per connection, and for all together. Characters
   * count as bytes.
   */
  readonly growth = { bytes: 0, totalBytes: 0 }
  /**
   * Called once, when a message goes to a topic of at least half of the connections. What it sends joins the same
   * socket write.
   */
  onBroadcast: (() => void) | null = null

  constructor(parts: {
    topics: Topics
    variants: Iterable<ChannelVariant>
    encoders: readonly Encoder[]
    metrics: Metrics
  }) {
    this.#topics = parts.topics
    this.#encoders = parts.encoders
    const help = 'Messages encoded, by channel.'
    const variants = Array.from(parts.variants, (variant) => {
      const labels = { channel: channelOfVariant(variant) }
      return {
        variant,
        encoded: parts.metrics.count('stream_messages_encoded_total', help, labels),
      }
    })
    const topicsOf = (form: Form) =>
      new Map(
        variants.map(({ variant, encoded }) => [
          variant,
          new VariantTopics(form, variant, encoded),
        ]),
      )
    this.#variants = { j: topicsOf('j'), b: topicsOf('b') }
  }

  /** A connection opened (1) or closed (-1). */
  countUser(form: Form, difference: 1 | -1): void {
    this.#users[form] += difference
  }

  /** A connection subscribes to a topic of a variant. */
  markSubscribed(variant: ChannelVariant, key: TopicKey): void {
    this.#active.add(variant)
    this.#activeChannels.add(channelOfVariant(variant))
    this.#variants.j.get(variant)?.markSubscribed(key)
    this.#variants.b.get(variant)?.markSubscribed(key)
  }

  isActive(variant: ChannelVariant): boolean {
    return this.#active.has(variant)
  }

  /** Whether any variant of a channel is active. */
  isChannelActive(channel: ChannelName): boolean {
    return this.#activeChannels.has(channel)
  }

  /** Sets the active variants. */
  restrict(variants: ReadonlySet<ChannelVariant>): void {
    for (const variant of this.#active) if (!variants.has(variant)) this.#active.delete(variant)
    for (const wildcard of this.#wildcards) this.#active.add(wildcard.variant)
    this.#activeChannels.clear()
    for (const variant of this.#active) this.#activeChannels.add(channelOfVariant(variant))
  }

  openWildcard(wildcard: WildcardSubscription): void {
    this.#wildcards.add(wildcard)
    this.#active.add(wildcard.variant)
    this.#activeChannels.add(channelOfVariant(wildcard.variant))
  }

  closeWildcard(wildcard: WildcardSubscription): void {
    this.#wildcards.delete(wildcard)
  }

  /** Removes the wildcard subscriptions of a closed connection. */
  closeWildcardsOf(connection: unknown): void {
    for (const wildcard of this.#wildcards)
      if (wildcard.connection === connection) this.#wildcards.delete(wildcard)
  }

  /** Whether a message of this market would reach a connection. */
  hasSubscribers(variant: ChannelVariant, market: MarketRef): boolean {
    if (!this.#active.has(variant)) return false
    for (const wildcard of this.#wildcards) if (wildcard.isFor(variant, market)) return true
    return this.#encoders.some(({ form }) => {
      const topics = this.#variants[form].get(variant)
      if (this.#users[form] === 0 || topics === undefined) return false
      return (
        this.#subscriberCount(topics, market.number) > 0 ||
        this.#subscriberCount(topics, market.venue) > 0 ||
        this.#subscriberCount(topics, '*') > 0
      )
    })
  }

  /** Publishes a message to every subscriber. Calls `make` at most once per form. */
  send(
    variant: ChannelVariant,
    market: MarketRef,
    weight: Weight,
    make: (encoder: Encoder) => Frames,
  ): void {
    if (!this.#active.has(variant)) return
    for (const encoder of this.#encoders) {
      const topics = this.#variants[encoder.form].get(variant)
      if (this.#users[encoder.form] === 0 || topics === undefined) continue
      let frames = this.#publish(topics, market.number, encoder, make, undefined)
      frames = this.#publish(topics, market.venue, encoder, make, frames)
      frames = this.#publish(topics, '*', encoder, make, frames)
      for (const wildcard of this.#wildcards) {
        if (wildcard.connection.encoder !== encoder || !wildcard.isFor(variant, market)) continue
        if (weight === 'state') wildcard.sent.set(market.number, market)
        if (!wildcard.sent.has(market.number)) continue
        frames ??= this.#make(topics, encoder, make)
        for (const frame of frames) wildcard.connection.send(frame)
      }
    }
  }

  #publish(
    topics: VariantTopics,
    key: TopicKey,
    encoder: Encoder,
    make: (encoder: Encoder) => Frames,
    existing: readonly Frame[] | undefined,
  ): readonly Frame[] | undefined {
    const name = topics.nameOf(key)
    if (name === null) return existing
    const subscriberCount = this.#topics.numSubscribers(name)
    if (subscriberCount === 0) {
      topics.markUnsubscribed(key)
      return existing
    }
    const frames = existing ?? this.#make(topics, encoder, make)
    for (const frame of frames) {
      this.#topics.publish(name, frame, encoder.isBinary)
      this.growth.bytes += frame.length
      this.growth.totalBytes += frame.length * subscriberCount
    }
    if (this.onBroadcast !== null && frames.length > 0) this.#runOnBroadcast(subscriberCount)
    return frames
  }

  #runOnBroadcast(subscriberCount: number): void {
    if (2 * subscriberCount < this.#users.j + this.#users.b) return
    const { onBroadcast } = this
    this.onBroadcast = null
    onBroadcast?.()
  }

  #subscriberCount(topics: VariantTopics, key: TopicKey): number {
    const name = topics.nameOf(key)
    if (name === null) return 0
    const count = this.#topics.numSubscribers(name)
    if (count === 0) topics.markUnsubscribed(key)
    return count
  }

  #make(
    topics: VariantTopics,
    encoder: Encoder,
    make: (encoder: Encoder) => Frames,
  ): readonly Frame[] {
    const frames = make(encoder)
    if (frames === null) return []
    topics.encoded.inc()
    return typeof frames === 'string' || frames instanceof Uint8Array ? [frames] : frames
  }
}
