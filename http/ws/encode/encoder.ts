// Interfaces of the stream's encoders. A counted message has a kind, which a channel describes: the fields after the
// head, in both forms. All other messages belong to a connection and are rare. Every message is encoded once per form,
// however many subscribers receive it.

import type { CatalogView } from '../../../actors/views.ts'
import type { BookStale, FeedStatus, Stamp } from '../../../engine/events.ts'
import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import { encoded, type MsgpackWriter } from '../../../engine/msgpack-writer.ts'
import type { TimeMs } from '../../../engine/units.ts'
import type { MarketTexts } from '../../records/render.ts'
import type { ChannelName, Form } from '../fan-out/channel-variants.ts'

/** One encoded message. */
export type Frame = string | Uint8Array

export type ResyncReason = 'venue_gap' | 'slow_consumer' | 'restart' | 'delayed'

/**
 * Writes the fields after the head of a counted message. Both forms must have the same fields and values in the same
 * order. Neither should allocate temporary objects.
 */
export interface MessageWriting<Content> {
  /** Returns the message as JSON text: the given head, the fields and the closing brace: `${head},"data":{…}}`. */
  json(head: string, content: Content, market: MarketTexts): string
  /** Number of fields that `msgpack` writes. Default: one (`data`). */
  fieldCount?(content: Content): number
  /** Writes the same fields as alternating keys and values. */
  msgpack(to: MsgpackWriter, content: Content, market: MarketRef, catalog: CatalogView): void
}

/** A kind of counted message: its writer and its encoded start in both forms. */
export class MessageKind<Content> {
  /** `{"type":…,"channel":…,` */
  readonly jsonHead: string
  /** The same two fields and the key of the market's id. */
  readonly msgpackHead: Uint8Array
  readonly json: MessageWriting<Content>['json']
  readonly fieldCount: (content: Content) => number
  readonly msgpack: MessageWriting<Content>['msgpack']

  constructor(type: string, channel: ChannelName, writing: MessageWriting<Content>) {
    this.jsonHead = `{"type":"${type}","channel":"${channel}",`
    this.msgpackHead = encoded((to) => {
      for (const text of ['type', type, 'channel', channel, 'market_id']) to.text(text)
    })
    this.json = writing.json
    this.fieldCount = writing.fieldCount ?? (() => 1)
    this.msgpack = writing.msgpack
  }
}

/** A MessagePack key, encoded once for frequent messages. */
export function keyOf(name: string): Uint8Array {
  return encoded((to) => to.text(name))
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

/** The `gap` reply. */
export function gapMessage({ channel, where, fromMs, toMs, count }: Gap): Reply {
  const named = 'marketId' in where ? { market_id: where.marketId } : where
  const counted = count === null ? {} : { count }
  return { type: 'gap', channel, ...named, from_ms: fromMs, to_ms: toMs, ...counted }
}

/** The `status` reply. */
export function statusMessage(status: Status): Reply {
  // By name: in a venue's view these are getters, which a rest pattern would skip.
  const { platform, state, lagMs, delayMs, completeToMs, tradesSource, reason, staleBooks } = status
  const source = tradesSource === null ? {} : { trades_source: tradesSource }
  const complete = completeToMs === null ? {} : { complete_to_ms: completeToMs }
  return {
    type: 'status',
    platform,
    state,
    lag_ms: lagMs,
    delay_ms: delayMs,
    ...(reason === null ? {} : { reason, books: staleBooks }),
    ...source,
    ...complete,
  }
}

/** The `stale` reply: what was sent of the market may be wrong. */
export function staleMessage(channel: ChannelName, { market, reason, sinceMs }: BookStale): Reply {
  return { type: 'stale', channel, market_id: market.id, reason, since_ms: sinceMs }
}

/** The `fresh` reply: what was sent of the market up to `seq` of the channel is correct. */
export function freshMessage(channel: ChannelName, market: MarketRef, seq: number): Reply {
  return { type: 'fresh', channel, market_id: market.id, seq }
}

/** A heartbeat; `offsets` is null while the connection is catching up. */
export interface Heartbeat {
  readonly timestampMs: TimeMs
  readonly counter: number
  readonly offsets: Readonly<Record<string, number>> | null
}

/** Feed status of a venue. */
export type Status = Omit<FeedStatus, 'venue'>

/** Dependencies of an encoder. The clock supplies the time of writing in every message. */
export interface EncoderParts {
  readonly epoch: string
  readonly catalog: CatalogView
  readonly nowMs: () => TimeMs
}

/** Counters and times of a message. Times are null before the first book. */
export interface Dated extends Stamp {
  readonly venueTimeMs: TimeMs | null
  readonly receivedAtMs: TimeMs | null
}

/** Replies are rare and small, so they are passed as complete objects. */
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
  resync(channel: ChannelName, market: MarketRef, reason: ResyncReason): Frame
  gap(gap: Gap): Frame
  status(status: Status): Frame
  heartbeat(beat: Heartbeat): Frame
  reply(reply: Reply): Frame
  /** Drops cached texts of a market. */
  removeMarket(market: MarketNumber): void
}
