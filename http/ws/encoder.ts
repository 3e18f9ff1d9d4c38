// What an encoder of the stream must be able to write: one method per message. JSON is
// encode-json.ts; a second form writes the same fields and values. Every message is encoded once per
// form however many receive it. Upholds HUB1.

import type { BookView, MarketView } from '../../actors/views.ts'
import type {
  BookUpdate,
  FeedState,
  MarketPrice,
  PriceUpdate,
  Stamp,
  TradeUpdate,
} from '../../engine/events.ts'
import type { MarketNumber, MarketRef } from '../../engine/market.ts'
import type { TimeMs } from '../../engine/units.ts'
import type { ChannelName, Form } from './channels.ts'

/** One message as it goes on the wire. */
export type Frame = string | Uint8Array

export type ResyncReason = 'venue_gap' | 'slow_consumer' | 'restart'

/** What was lost: a market's messages, or a whole venue's. `fromMs` null: since we do not know when. */
export interface Gap {
  readonly channel: ChannelName
  readonly where: { readonly marketId: string } | { readonly platform: string }
  readonly fromMs: TimeMs | null
  readonly toMs: TimeMs
}

/** A heartbeat; `offsets` null while the connection is being caught up. */
export interface Heartbeat {
  readonly timestampMs: TimeMs
  readonly counter: number
  readonly offsets: Readonly<Record<string, number>> | null
}

/** Replies are rare and small, and given as finished objects. */
export type Reply = { readonly type: string; readonly [field: string]: unknown }

export interface Encoder {
  readonly form: Form
  readonly isBinary: boolean
  bookUpdate(update: BookUpdate): Frame
  snapshot(view: MarketView, book: BookView): Frame
  resync(channel: ChannelName, market: MarketRef, reason: ResyncReason): Frame
  trade(update: TradeUpdate): Frame
  priceUpdate(update: PriceUpdate): Frame
  /** The present price with the newest stamp, using none up. */
  priceState(market: MarketRef, price: MarketPrice, stamp: Stamp): Frame
  gap(gap: Gap): Frame
  status(status: { platform: string; state: FeedState; lagMs: number | null }): Frame
  heartbeat(beat: Heartbeat): Frame
  reply(reply: Reply): Frame
  /** Forgets what it remembers of a market's texts. */
  forget(market: MarketNumber): void
}
