// How a message reaches all who listen in a lane: the topics of its market, its venue and everything,
// and the wide subscriptions being filled. Encoded at most once per form, and not at all when nobody
// listens; lanes and forms that nobody uses cost one look. Never loops over connections.
// Not for: what is in a message, or when it goes. Upholds HUB1, HUB8, SUB3, FAN1.

import type { TemplatedApp } from 'uWebSockets.js'
import type { MarketRef } from '../../engine/market.ts'
import type { Count, Metrics } from '../../engine/metrics.ts'
import { CHANNEL_NAMES, type ChannelName, type Form } from './channels.ts'
import type { Encoder, Frame } from './encoder.ts'
import { LANES, type Lane, topicOf } from './lanes.ts'
import type { Row } from './row.ts'

/** What is needed of the library's app. */
export type Topics = Pick<TemplatedApp, 'publish' | 'numSubscribers'>

/** Frames of one message; null: there is nothing to tell after all. */
export type Frames = Frame | readonly Frame[] | null

/**
 * Of rows: 'change' only to those that have sent the market's state; 'state' to all, since after it
 * the row need not send the market's state itself.
 */
export type Weight = 'change' | 'state'

export class FanOut {
  readonly #topics: Topics
  readonly #encoders: readonly Encoder[]
  /** Connections of each form; a form without any is passed over. */
  readonly #users: Record<Form, number> = { j: 0, b: 0 }
  /** Lanes in which somebody listened since the last `restrict`; at most as many as there are. */
  readonly #awake = new Set<Lane>()
  /** Wide subscriptions being filled; usually none. */
  readonly #rows = new Set<Row>()
  readonly #encoded: ReadonlyMap<Lane, Count>
  /** What was published since the hub last set it to 0: at most so much came to any one connection, and
   * to all together. Characters count as bytes. */
  readonly growth = { bytes: 0, totalBytes: 0 }

  constructor(parts: { topics: Topics; encoders: readonly Encoder[]; metrics: Metrics }) {
    this.#topics = parts.topics
    this.#encoders = parts.encoders
    const help = 'Messages encoded, by channel.'
    const counted = (channel: ChannelName): [ChannelName, Count] => [
      channel,
      parts.metrics.count('stream_messages_encoded_total', help, { channel }),
    ]
    const counts = new Map(CHANNEL_NAMES.map(counted))
    this.#encoded = new Map(
      LANES.flatMap(({ channel, lane }) => {
        const count = counts.get(channel)
        return count === undefined ? [] : [[lane, count] as const]
      }),
    )
  }

  /** A connection came (1) or went (-1). */
  countUser(form: Form, difference: 1 | -1): void {
    this.#users[form] += difference
  }

  /** Somebody begins to listen in a lane. */
  awaken(lane: Lane): void {
    this.#awake.add(lane)
  }

  isAwake(lane: Lane): boolean {
    return this.#awake.has(lane)
  }

  /** Only these are listened to now. */
  restrict(lanes: ReadonlySet<Lane>): void {
    for (const lane of this.#awake) if (!lanes.has(lane)) this.#awake.delete(lane)
    for (const row of this.#rows) this.#awake.add(row.lane)
  }

  openRow(row: Row): void {
    this.#rows.add(row)
    this.#awake.add(row.lane)
  }

  closeRow(row: Row): void {
    this.#rows.delete(row)
  }

  /** Forgets the rows of a connection that is gone. */
  closeRowsOf(connection: unknown): void {
    for (const row of this.#rows) if (row.connection === connection) this.#rows.delete(row)
  }

  /** Whether a message of this market would reach anybody. */
  hasListeners(lane: Lane, market: MarketRef): boolean {
    if (!this.#awake.has(lane)) return false
    for (const row of this.#rows) if (row.isFor(lane, market)) return true
    return this.#encoders.some(
      ({ form }) =>
        this.#users[form] > 0 &&
        (this.#topics.numSubscribers(topicOf(form, lane, market.number)) > 0 ||
          this.#topics.numSubscribers(topicOf(form, lane, market.venue)) > 0 ||
          this.#topics.numSubscribers(topicOf(form, lane, '*')) > 0),
    )
  }

  /** Gives a message to all who listen, `make` writing it at most once per form. */
  send(lane: Lane, market: MarketRef, weight: Weight, make: (encoder: Encoder) => Frames): void {
    if (!this.#awake.has(lane)) return
    for (const encoder of this.#encoders) {
      if (this.#users[encoder.form] === 0) continue
      let frames = this.#publish(lane, market.number, encoder, make, undefined)
      frames = this.#publish(lane, market.venue, encoder, make, frames)
      frames = this.#publish(lane, '*', encoder, make, frames)
      for (const row of this.#rows) {
        if (row.connection.encoder !== encoder || !row.isFor(lane, market)) continue
        if (weight === 'state') row.sent.set(market.number, market)
        if (!row.sent.has(market.number)) continue
        frames ??= this.#make(lane, encoder, make)
        for (const frame of frames) row.connection.send(frame)
      }
    }
  }

  #publish(
    lane: Lane,
    key: Parameters<typeof topicOf>[2],
    encoder: Encoder,
    make: (encoder: Encoder) => Frames,
    known: readonly Frame[] | undefined,
  ): readonly Frame[] | undefined {
    const topic = topicOf(encoder.form, lane, key)
    const listenerCount = this.#topics.numSubscribers(topic)
    if (listenerCount === 0) return known
    const frames = known ?? this.#make(lane, encoder, make)
    for (const frame of frames) {
      this.#topics.publish(topic, frame, encoder.isBinary)
      this.growth.bytes += frame.length
      this.growth.totalBytes += frame.length * listenerCount
    }
    return frames
  }

  #make(lane: Lane, encoder: Encoder, make: (encoder: Encoder) => Frames): readonly Frame[] {
    const frames = make(encoder)
    if (frames === null) return []
    this.#encoded.get(lane)?.inc()
    return typeof frames === 'string' || frames instanceof Uint8Array ? [frames] : frames
  }
}
