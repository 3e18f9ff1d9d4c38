// Each message is encoded at most once as JSON and once as MessagePack for all receivers. A channel defines a
// `MessageKind` for each of its messages.

import type { MarketView } from '../../../actors/views.ts'
import type { BookStale, FeedStatus, Stamp } from '../../../engine/events.ts'
import type { MarketRef } from '../../../engine/market/market.ts'
import { encoded, type MsgpackWriter, writeValue } from '../../../engine/msgpack-writer.ts'
import type { TimeMs } from '../../../engine/units.ts'
import type { ChannelName, Form } from '../fan-out/channel-variants.ts'

export type Frame = string | Uint8Array

/** `seek`: a replay continues at another time. */
export type ResyncReason = 'venue_gap' | 'slow_consumer' | 'restart' | 'delayed' | 'seek'

/** Listings of the markets of messages. */
export interface ListedMarkets {
  find(id: string): Pick<MarketView, 'ref' | 'summary'> | null
}

/** Writes the fields of a counted message after its first fields. JSON and MessagePack have equal names and values. */
interface MessageFields<Content> {
  /** The fields as JSON text without braces: `"data":{…}`. */
  json(content: Content, market: MarketRef, catalog: ListedMarkets): string
  count(content: Content): number
  /** Writes each key followed by its value. */
  msgpack(to: MsgpackWriter, content: Content, market: MarketRef, catalog: ListedMarkets): void
}

/** Writes the single field `data` from an object. Slower, for rare messages. */
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

/** A type of counted message: its first fields in encoded form, and a writer for the remaining fields. */
export class MessageKind<Content> {
  readonly jsonHead: string
  /** The fields `type` and `channel` and the key `market_id`. */
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

/** Both times are null before the first book. */
export interface Dated extends Stamp {
  readonly venueTimeMs: TimeMs | null
  readonly receivedAtMs: TimeMs | null
}

export interface EncoderParts {
  readonly epoch: string
  readonly catalog: ListedMarkets
  readonly nowMs: () => TimeMs
}

/** A message without counters. Such messages are rare and small, so objects are fast enough. */
export type Reply = { readonly type: string; readonly [field: string]: unknown }

/**
 * The bytes of a counted message stay valid until the next counted message, and the bytes of a reply until the next
 * reply. Sending copies the bytes. A `resync` therefore stays valid while the state after it is encoded.
 */
export interface Encoder {
  readonly form: Form
  readonly isBinary: boolean
  /** `epoch`: the epoch of the run that first sent the message. Required if a later run sends it again. */
  message<Content>(
    kind: MessageKind<Content>,
    market: MarketRef,
    stamp: Dated,
    content: Content,
    epoch?: string,
  ): Frame
  /** Adds the time of writing to the reply. */
  reply(reply: Reply): Frame
}

export interface Gap {
  /** Null if unknown. */
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

export function resyncMessage(
  channel: ChannelName,
  market: MarketRef,
  reason: ResyncReason,
): Reply {
  return { type: 'resync', channel, market_id: market.id, reason }
}

export type Status = Omit<FeedStatus, 'venue'>

export function statusMessage(status: Status): Reply {
  // A rest pattern would omit these properties, because they are getters in a venue's view.
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

export function staleMessage(channel: ChannelName, { market, reason, sinceMs }: BookStale): Reply {
  return { type: 'stale', channel, market_id: market.id, reason, since_ms: sinceMs }
}

export function freshMessage(channel: ChannelName, market: MarketRef, seq: number): Reply {
  return { type: 'fresh', channel, market_id: market.id, seq }
}

/** `offsets` is null while the connection is catching up. */
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
