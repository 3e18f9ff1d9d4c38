// What an encoder of the stream must be able to write: one method per message. JSON is
// http/ws/encode/json.ts; a second form writes the same fields and values. Every message is encoded once per
// form however many receive it. Upholds HUB1.

import type { BookView, CatalogView, MarketView } from '../../../actors/views.ts'
import type {
  BookUpdate,
  FeedState,
  LifecycleUpdate,
  MarketPrice,
  PriceUpdate,
  Stamp,
  TradeUpdate,
  WhaleUpdate,
} from '../../../engine/events.ts'
import type { Bar, CandleInterval } from '../../../engine/market/candle.ts'
import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import type { TimeMs } from '../../../engine/units.ts'
import type { ChannelName, Form } from '../channels.ts'

/** One message as it goes on the wire. */
export type Frame = string | Uint8Array

export type ResyncReason = 'venue_gap' | 'slow_consumer' | 'restart' | 'delayed'

/** What was lost: a market's messages, or a whole venue's. `fromMs` null: since we do not know when. */
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
export function statusMessage({ platform, state, ...times }: Status): Reply {
  const { lagMs, delayMs, completeToMs } = times
  const complete = completeToMs === null ? {} : { complete_to_ms: completeToMs }
  return { type: 'status', platform, state, lag_ms: lagMs, delay_ms: delayMs, ...complete }
}

/** A heartbeat; `offsets` null while the connection is being caught up. */
export interface Heartbeat {
  readonly timestampMs: TimeMs
  readonly counter: number
  readonly offsets: Readonly<Record<string, number>> | null
}

/** How a venue's feed is. */
export interface Status {
  readonly platform: string
  readonly state: FeedState
  /** Milliseconds from the venue to us, and the longest within us during the last two seconds. */
  readonly lagMs: number | null
  readonly delayMs: number
  /** See VenueView; null: not said. */
  readonly completeToMs: TimeMs | null
}

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

/** The best `levels` of each side of a book, which may hold more. */
export interface Depth {
  readonly market: MarketRef
  readonly levels: number
  readonly book: Pick<BookView, 'bids' | 'asks' | 'isStale'>
  readonly stamp: Dated
}

/** One bar; it is closed when its end is not later than `nowMs`. */
export interface Candle {
  readonly market: MarketRef
  readonly interval: CandleInterval
  readonly lengthMs: number
  readonly bar: Bar
  readonly nowMs: TimeMs
  readonly stamp: Dated
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
  bookUpdate(update: BookUpdate): Frame
  snapshot(view: MarketView, book: BookView): Frame
  resync(channel: ChannelName, market: MarketRef, reason: ResyncReason): Frame
  /** `epoch` of the run that told it first, when it is told again by a later one. */
  trade(update: TradeUpdate, epoch?: string): Frame
  priceUpdate(update: PriceUpdate): Frame
  /** The present price with the newest stamp, using none up. */
  priceState(market: MarketRef, price: MarketPrice, stamp: Stamp): Frame
  depth(depth: Depth): Frame
  candle(candle: Candle): Frame
  whale(update: WhaleUpdate, epoch?: string): Frame
  lifecycle(update: LifecycleUpdate, epoch?: string): Frame
  gap(gap: Gap): Frame
  status(status: Status): Frame
  heartbeat(beat: Heartbeat): Frame
  reply(reply: Reply): Frame
  /** Forgets what it remembers of a market's texts. */
  forget(market: MarketNumber): void
}
