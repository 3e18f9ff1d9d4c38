// What the owner of webhooks asks of whoever writes bodies: one method for each event type. The face
// implements it with the records of REST and stream (http/webhooks/bodies.ts), so that an event says
// what they say; tests bring their own. Not for: who is told (actors/webhooks/events.ts).

import type { LifecycleUpdate, PriceUpdate, TradeUpdate, WhaleUpdate } from '../events.ts'
import type { WebhookId } from '../ids.ts'
import type { PriceMicros, TimeMs } from '../units.ts'

/**
 * Bodies of `{"type","timestamp","data"}`, UTF-8 JSON of at most 20 KB; the timestamp is when the
 * event happened. Called on the path of an update, and only when a webhook wants the event: they are
 * synchronous, and do not throw for anything that an update may hold.
 */
export interface WebhookBodies {
  tradeCreated(update: TradeUpdate): Uint8Array
  whaleAlert(update: Pick<WhaleUpdate, 'market' | 'whale'>): Uint8Array
  /** `base` is the price last sent to the webhook. */
  priceChanged(update: PriceUpdate, base: PriceMicros): Uint8Array
  /** Of an update whose `event` is 'resolved'. */
  marketResolved(update: LifecycleUpdate): Uint8Array
  /** Of an update whose `event` is 'matched', so that it has a `twin`. */
  matchCreated(update: LifecycleUpdate): Uint8Array
  test(test: { readonly webhook: WebhookId; readonly timeMs: TimeMs }): Uint8Array
}
