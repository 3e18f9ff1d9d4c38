// Interfaces of the stream's encoders, and builders of messages without counters. A counted message has a `MessageKind`,
// by which its channel defines the fields after the head. Each message is encoded once per form for all receivers.

import type { CatalogView } from '../../../actors/views.ts'
import type { BookStale, FeedStatus, Stamp } from '../../../engine/events.ts'
import type { MarketRef } from '../../../engine/market/market.ts'
import { encoded, type MsgpackWriter, writeValue } from '../../../engine/msgpack-writer.ts'
import type { TimeMs } from '../../../engine/units.ts'
import type { ChannelName, Form } from '../fan-out/channel-variants.ts'

export type Frame = string | Uint8Array

export type ResyncReason = 'venue_gap' | 'slow_consumer' | 'restart' | 'delayed'

/** Writes the fields of a counted message after its head: equal names and values in both forms. */
interface MessageFields<Content> {
  /** The fields as JSON text without braces: `"data":{…}`. */
  json(content: Content, market: MarketRef, catalog: CatalogView): string
  /** The number of fields. */
  count(content: Content): number
  /** Writes keys and values in turn. */
  msgpack(to: MsgpackWriter, content: Content, market: MarketRef, catalog: CatalogView): void
}

/** The single field `data` of a rare message, written from an object. */
export function dataFields<Content>(data: (content: Content) => object): MessageFields<Content> {
  return {
    json: (content) => `"data":${JSON.stringify(data(content))}`,
    count: () => 1,
    msgpack(to, content) {
      to.text('data')
      writeValue(to, data(content))
    },
  }
}

/** A kind of counted message: its fields and its encoded start in both forms. */
export class MessageKind<Content> {
  /** `{"type":…,"channel":…,` */
  readonly jsonHead: string
  /** The same two fields and the key of the market's id. */
  readonly msgpackHead: Uint8Array
  readonly fields: MessageFields<Content>

  constructor(type: string, channel: ChannelName, fields: MessageFields<Content>) {
    this.jsonHead = `{"type":"${type}","channel":"${channel}",`
    this.msgpackHead = encoded((to) => {
      for (const text of ['type', type, 'channel', channel, 'market_id']) to.text(text)
    })
    this.fields = fields
  }
}

/** A MessagePack key, encoded once for frequent messages. */
export function keyOf(name: string): Uint8Array {
  return encoded((to) => to.text(name))
}

/** Counters and times of a message. Times are null before the first book. */
export interface Dated extends Stamp {
  readonly venueTimeMs: TimeMs | null
  readonly receivedAtMs: TimeMs | null
}

/** Dependencies of an encoder. The clock supplies the time of writing in every message. */
export interface EncoderParts {
  readonly epoch: string
  readonly catalog: CatalogView
  readonly nowMs: () => TimeMs
}

/** A message without counters. They are rare and small, so they are passed as objects. */
export type Reply = { readonly type: string; readonly [field: string]: unknown }

/**
 * Encodes messages. Bytes of a counted message are valid until the next counted one, bytes of any other until the next
 * other one: send them (the library copies them) or copy them first. So a `resync` stays valid while the state that
 * follows it is encoded.
 */
export interface Encoder {
  readonly form: Form
  readonly isBinary: boolean
  /** A counted message. `epoch`: of the run that first sent it, if a later run replays it. */
  message<Content>(
    kind: MessageKind<Content>,
    market: MarketRef,
    stamp: Dated,
    content: Content,
    epoch?: string,
  ): Frame
  /** Appends the time of writing. */
  reply(reply: Reply): Frame
}

/** Lost messages of a market or a venue. `fromMs` null: the start is unknown. */
export interface Gap {
  /** Number of lost messages of the channel; null: unknown. */
  readonly count: number | null
  readonly channel: ChannelName
  readonly where: { readonly marketId: string } | { readonly platform: string }
  readonly fromMs: TimeMs | null
  readonly toMs: TimeMs
}

export function gapMessage({ channel, where, fromMs, toMs, count }: Gap): Reply {
  const named = 'marketId' in where ? { market_id: where.marketId } : where
  const counted = count === null ? {} : { count }
  return { type: 'gap', channel, ...named, from_ms: fromMs, to_ms: toMs, ...counted }
}

/** The state sent before is out of sync; a new state follows. */
export function resyncMessage(
  channel: ChannelName,
  market: MarketRef,
  reason: ResyncReason,
): Reply {
  return { type: 'resync', channel, market_id: market.id, reason }
}

/** Feed status of a venue. */
export type Status = Omit<FeedStatus, 'venue'>

export function statusMessage(status: Status): Reply {
  // A rest pattern would skip these properties, because they are getters in a venue's view.
  const { platform, state, lagMs, delayMs, completeToMs, tradesSource, reason, staleBooks } = status
  return {
    type: 'status',
    platform,
    state,
    lag_ms: lagMs,
    delay_ms: delayMs,
    ...(reason === null ? {} : { reason, books: staleBooks }),
    ...(tradesSource === null ? {} : { trades_source: tradesSource }),
    ...(completeToMs === null ? {} : { complete_to_ms: completeToMs }),
  }
}

/** Earlier messages of the market may be wrong. */
export function staleMessage(channel: ChannelName, { market, reason, sinceMs }: BookStale): Reply {
  return { type: 'stale', channel, market_id: market.id, reason, since_ms: sinceMs }
}

/** All messages of the market up to `seq` of the channel are correct. */
export function freshMessage(channel: ChannelName, market: MarketRef, seq: number): Reply {
  return { type: 'fresh', channel, market_id: market.id, seq }
}

/** A heartbeat; `offsets` is null while the connection is catching up. */
export interface Heartbeat {
  readonly timestampMs: TimeMs
  readonly counter: number
  readonly epoch: string
  readonly offsets: Readonly<Record<string, number>> | null
}

export function heartbeatMessage({ timestampMs, counter, epoch, offsets }: Heartbeat): Reply {
  const rest = offsets === null ? { catching_up: true } : { offsets }
  return { type: 'heartbeat', timestamp_ms: timestampMs, counter, epoch, ...rest }
}
