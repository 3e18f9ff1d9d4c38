// How a message reaches every listener of a lane: the topics of its market, its venue and everything,
// and the wide subscriptions being filled. Encoded at most once per form, and not at all without a
// listener; lanes, forms and topics without one cost one look. Never loops over
// connections.

import { VENUE_KEYS } from '../../../engine/ids.ts'
import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import type { Count, Metrics } from '../../../engine/process/metrics.ts'
import type { Encoder, Frame } from '../encode/encoder.ts'
import type { Row } from '../session/row.ts'
import {
  type ChannelName,
  channelOfLane,
  type Form,
  type Lane,
  topicOf,
  type WideKey,
} from './lanes.ts'
import type { Topics } from './library.ts'

/** Frames of one message; null: there is nothing to send after all. */
type Frames = Frame | readonly Frame[] | null

/**
 * Of rows: 'change' only to those that have sent the market's state; 'state' to all, since after it
 * the row need not send the market's state itself.
 */
type Weight = 'change' | 'state'

/** What a topic is for: a market, a venue or everything. */
type TopicKey = MarketNumber | WideKey

/**
 * The topics of a lane in a form: their names, and which of them are silent. To ask the library for a
 * topic's listeners takes as long as writing half a message, so one without any is asked for once, and
 * again only when a connection begins to listen to it (`awaken`).
 */
class LaneTopics {
  readonly encoded: Count
  readonly #form: Form
  readonly #lane: Lane
  readonly #wideNames: ReadonlyMap<WideKey, string>
  readonly #silentWide = new Set<WideKey>()
  /** A bit a market number; those are dense, so that 100,000 markets are 25 KB at most. */
  #silentMarkets = new Uint8Array(0)

  constructor(form: Form, lane: Lane, encoded: Count) {
    this.encoded = encoded
    this.#form = form
    this.#lane = lane
    this.#wideNames = new Map(
      ([...VENUE_KEYS, '*'] as const).map((key) => [key, topicOf(form, lane, key)]),
    )
  }

  /** Null when it is known to have no listener. */
  nameOf(key: TopicKey): string | null {
    if (typeof key !== 'number') {
      return this.#silentWide.has(key) ? null : (this.#wideNames.get(key) ?? null)
    }
    const bits = this.#silentMarkets[key >>> 3] ?? 0
    return (bits & (1 << (key & 7))) === 0 ? topicOf(this.#form, this.#lane, key) : null
  }

  /** It has no listener. */
  silence(key: TopicKey): void {
    if (typeof key !== 'number') {
      this.#silentWide.add(key)
      return
    }
    const at = key >>> 3
    if (at >= this.#silentMarkets.length) {
      const longer = new Uint8Array(2 * (at + 1))
      longer.set(this.#silentMarkets)
      this.#silentMarkets = longer
    }
    this.#silentMarkets[at] = (this.#silentMarkets[at] ?? 0) | (1 << (key & 7))
  }

  /** A connection begins to listen to it. */
  wake(key: TopicKey): void {
    if (typeof key !== 'number') this.#silentWide.delete(key)
    else if (key >>> 3 < this.#silentMarkets.length) {
      this.#silentMarkets[key >>> 3] = (this.#silentMarkets[key >>> 3] ?? 0) & ~(1 << (key & 7))
    }
  }
}

export class FanOut {
  readonly #topics: Topics
  readonly #encoders: readonly Encoder[]
  /** Connections of each form; a form without any is passed over. */
  readonly #users: Record<Form, number> = { j: 0, b: 0 }
  /** Lanes with a listener since the last `restrict`; at most as many as there are. */
  readonly #awake = new Set<Lane>()
  /** Wide subscriptions being filled; usually none. */
  readonly #rows = new Set<Row>()
  readonly #lanes: Readonly<Record<Form, ReadonlyMap<Lane, LaneTopics>>>
  /** The channels of the lanes that are awake. */
  readonly #awakeChannels = new Set<ChannelName>()
  /** What was published since the hub last set it to 0: at most so much came to any one connection, and
   * to all together. Characters count as bytes. */
  readonly growth = { bytes: 0, totalBytes: 0 }
  /** Called once, when a topic that half of the connections or more listen to gets a message: what it sends goes with that. */
  rider: (() => void) | null = null

  constructor(parts: {
    topics: Topics
    lanes: Iterable<Lane>
    encoders: readonly Encoder[]
    metrics: Metrics
  }) {
    this.#topics = parts.topics
    this.#encoders = parts.encoders
    const help = 'Messages encoded, by channel.'
    const lanes = Array.from(parts.lanes, (lane) => {
      const labels = { channel: channelOfLane(lane) }
      return { lane, encoded: parts.metrics.count('stream_messages_encoded_total', help, labels) }
    })
    const topicsOf = (form: Form) =>
      new Map(lanes.map(({ lane, encoded }) => [lane, new LaneTopics(form, lane, encoded)]))
    this.#lanes = { j: topicsOf('j'), b: topicsOf('b') }
  }

  /** A connection came (1) or went (-1). */
  countUser(form: Form, difference: 1 | -1): void {
    this.#users[form] += difference
  }

  /** A connection begins to listen to a topic of a lane. */
  awaken(lane: Lane, key: TopicKey): void {
    this.#awake.add(lane)
    this.#awakeChannels.add(channelOfLane(lane))
    this.#lanes.j.get(lane)?.wake(key)
    this.#lanes.b.get(lane)?.wake(key)
  }

  isAwake(lane: Lane): boolean {
    return this.#awake.has(lane)
  }

  /** Whether any lane of a channel is awake. */
  isChannelAwake(channel: ChannelName): boolean {
    return this.#awakeChannels.has(channel)
  }

  /** Only these are listened to now. */
  restrict(lanes: ReadonlySet<Lane>): void {
    for (const lane of this.#awake) if (!lanes.has(lane)) this.#awake.delete(lane)
    for (const row of this.#rows) this.#awake.add(row.lane)
    this.#awakeChannels.clear()
    for (const lane of this.#awake) this.#awakeChannels.add(channelOfLane(lane))
  }

  openRow(row: Row): void {
    this.#rows.add(row)
    this.#awake.add(row.lane)
    this.#awakeChannels.add(channelOfLane(row.lane))
  }

  closeRow(row: Row): void {
    this.#rows.delete(row)
  }

  /** Forgets the rows of a connection that is gone. */
  closeRowsOf(connection: unknown): void {
    for (const row of this.#rows) if (row.connection === connection) this.#rows.delete(row)
  }

  /** Whether a message of this market would reach a connection. */
  hasListeners(lane: Lane, market: MarketRef): boolean {
    if (!this.#awake.has(lane)) return false
    for (const row of this.#rows) if (row.isFor(lane, market)) return true
    return this.#encoders.some(({ form }) => {
      const topics = this.#lanes[form].get(lane)
      if (this.#users[form] === 0 || topics === undefined) return false
      return (
        this.#listenerCount(topics, market.number) > 0 ||
        this.#listenerCount(topics, market.venue) > 0 ||
        this.#listenerCount(topics, '*') > 0
      )
    })
  }

  /** Gives a message to every listener, `make` writing it at most once per form. */
  send(lane: Lane, market: MarketRef, weight: Weight, make: (encoder: Encoder) => Frames): void {
    if (!this.#awake.has(lane)) return
    for (const encoder of this.#encoders) {
      const topics = this.#lanes[encoder.form].get(lane)
      if (this.#users[encoder.form] === 0 || topics === undefined) continue
      let frames = this.#publish(topics, market.number, encoder, make, undefined)
      frames = this.#publish(topics, market.venue, encoder, make, frames)
      frames = this.#publish(topics, '*', encoder, make, frames)
      for (const row of this.#rows) {
        if (row.connection.encoder !== encoder || !row.isFor(lane, market)) continue
        if (weight === 'state') row.sent.set(market.number, market)
        if (!row.sent.has(market.number)) continue
        frames ??= this.#make(topics, encoder, make)
        for (const frame of frames) row.connection.send(frame)
      }
    }
  }

  #publish(
    topics: LaneTopics,
    key: TopicKey,
    encoder: Encoder,
    make: (encoder: Encoder) => Frames,
    known: readonly Frame[] | undefined,
  ): readonly Frame[] | undefined {
    const name = topics.nameOf(key)
    if (name === null) return known
    const listenerCount = this.#topics.numSubscribers(name)
    if (listenerCount === 0) {
      topics.silence(key)
      return known
    }
    const frames = known ?? this.#make(topics, encoder, make)
    for (const frame of frames) {
      this.#topics.publish(name, frame, encoder.isBinary)
      this.growth.bytes += frame.length
      this.growth.totalBytes += frame.length * listenerCount
    }
    if (this.rider !== null && frames.length > 0) this.#ride(listenerCount)
    return frames
  }

  #ride(listenerCount: number): void {
    if (2 * listenerCount < this.#users.j + this.#users.b) return
    const { rider } = this
    this.rider = null
    rider?.()
  }

  #listenerCount(topics: LaneTopics, key: TopicKey): number {
    const name = topics.nameOf(key)
    if (name === null) return 0
    const count = this.#topics.numSubscribers(name)
    if (count === 0) topics.silence(key)
    return count
  }

  #make(
    topics: LaneTopics,
    encoder: Encoder,
    make: (encoder: Encoder) => Frames,
  ): readonly Frame[] {
    const frames = make(encoder)
    if (frames === null) return []
    topics.encoded.inc()
    return typeof frames === 'string' || frames instanceof Uint8Array ? [frames] : frames
  }
}
