// What an encoder of the stream writes. A counted message is of a kind, which a channel describes: what
// stands behind the head, in both forms. The other messages are the connection's and few. Every message
// is encoded once per form however many receive it.

import type { CatalogView } from '../../../actors/views.ts'
import type { BookStale, FeedStatus, Stamp } from '../../../engine/events.ts'
import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import { encoded, type MsgpackWriter } from '../../../engine/msgpack-writer.ts'
import type { TimeMs } from '../../../engine/units.ts'
import type { MarketTexts } from '../../records/render.ts'
import type { ChannelName, Form } from '../fan-out/channel-variants.ts'

/** One message as it goes on the wire. */
export type Frame = string | Uint8Array

export type ResyncReason = 'venue_gap' | 'slow_consumer' | 'restart' | 'delayed'

/** How what stands behind the head of a counted message is written. Both forms have the same fields
 * and values in the same order; neither may make objects only to throw them away. */
export interface MessageWriting<Content> {
  /** The message as JSON text: the head as it is, the fields, the brace that closes: `${head},"data":{…}}`. */
  json(head: string, content: Content, market: MarketTexts): string
  /** How many fields `msgpack` writes; one (`data`) unless said. */
  fieldCount?(content: Content): number
  /** Writes the same fields, key and value by turns. */
  msgpack(to: MsgpackWriter, content: Content, market: MarketRef, catalog: CatalogView): void
}

/** A kind of counted message: its writing, and what it begins with in both forms. */
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

/** A key of frequent messages, as it is written in MessagePack. */
export function keyOf(name: string): Uint8Array {
  return encoded((to) => to.text(name))
}

/** What was lost: a market's messages, or a whole venue's. `fromMs` null: it is not known since when. */
export interface Gap {
  /** How many messages of the channel; null: not known. */
  readonly count: number | null
  readonly channel: ChannelName
  readonly where: { readonly marketId: string } | { readonly platform: string }
  readonly fromMs: TimeMs | null
  readonly toMs: TimeMs
}

/** `gap` as it goes out. */
export function gapMessage({ channel, where, fromMs, toMs, count }: Gap): Reply {
  const named = 'marketId' in where ? { market_id: where.marketId } : where
  const counted = count === null ? {} : { count }
  return { type: 'gap', channel, ...named, from_ms: fromMs, to_ms: toMs, ...counted }
}

/** `status` as it goes out. */
export function statusMessage(status: Status): Reply {
  // By name: a venue's own view has them as getters, which a rest would leave behind.
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

/** `stale` as it goes out: what was sent of the market may be wrong. */
export function staleMessage(channel: ChannelName, { market, reason, sinceMs }: BookStale): Reply {
  return { type: 'stale', channel, market_id: market.id, reason, since_ms: sinceMs }
}

/** `fresh` as it goes out: what was sent of the market up to `seq` of the channel is right. */
export function freshMessage(channel: ChannelName, market: MarketRef, seq: number): Reply {
  return { type: 'fresh', channel, market_id: market.id, seq }
}

/** A heartbeat; `offsets` null while the connection is being caught up. */
export interface Heartbeat {
  readonly timestampMs: TimeMs
  readonly counter: number
  readonly offsets: Readonly<Record<string, number>> | null
}

/** How a venue's feed is. */
export type Status = Omit<FeedStatus, 'venue'>

/** What an encoder needs; the clock says when a message is written, which every message carries. */
export interface EncoderParts {
  readonly epoch: string
  readonly catalog: CatalogView
  readonly nowMs: () => TimeMs
}

/** Counters and times of a message; times are null before a first book. */
export interface Dated extends Stamp {
  readonly venueTimeMs: TimeMs | null
  readonly receivedAtMs: TimeMs | null
}

/** Replies are rare and small, and given as finished objects. */
export type Reply = { readonly type: string; readonly [field: string]: unknown }

/**
 * Bytes of a counted message stay as they are only until the encoder writes the next counted one, bytes
 * of any other until the next other: they are sent (the library copies them) or copied before. So
 * `resync` may be kept beside the state that follows it.
 */
export interface Encoder {
  readonly form: Form
  readonly isBinary: boolean
  /** A counted message. `epoch`: of the run that sent it first, when a later run repeats it. */
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
  /** Forgets what it remembers of a market's texts. */
  removeMarket(market: MarketNumber): void
}
