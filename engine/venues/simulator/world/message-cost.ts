// What one change of the world costs in venue stream messages, for a client subscribed to all: the rate
// setting counts these. The forms are the venues' own: Market channel and Activity stream of
// engine/venues/polymarket/README.md, Messages of engine/venues/kalshi/README.md.

import type { WorldChange } from '../model.ts'

/** Messages at both streams of venue a, or the one of venue b. Lifecycle is not counted. */
export function messageCost(change: WorldChange): number {
  const isPolymarket = change.market.listing.venue === 'a'
  if (change.kind === 'levels') return isPolymarket ? 1 : change.changes.length
  if (change.kind !== 'trade') return 0
  // a: last_trade_price, the books of both tokens, orders_matched, a `trades` row a participant.
  if (isPolymarket) return 1 + 2 + 1 + 1 + change.trade.makers.length
  // b: the trade and a delta for each level.
  return 1 + change.changes.length
}
