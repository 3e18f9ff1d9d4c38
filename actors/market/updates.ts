// What a market publishes: each change as an Update with its place in the streams. One function for each kind, so that a
// stamp is taken exactly when something is published with it.

import type {
  BookReplaced,
  BookStale,
  BookUpdate,
  LevelChange,
  LifecycleUpdate,
  MarketPrice,
  Stamp,
  Trade,
} from '../../engine/events.ts'
import type { MarketFacts, MarketRef } from '../../engine/market/market.ts'
import type { OrderBook } from '../../engine/market/order-book.ts'
import type { Publisher } from '../../engine/publisher.ts'
import type { BothTimes } from './parts.ts'

/** Every so many updates of a book one carries its checksum. */
const CHECKSUM_EVERY = 50

/** A whole new book; it uses up no place in the stream. */
export function publishReplaced(
  publisher: Publisher,
  market: MarketRef,
  { venueTimeMs, receivedAtMs }: BothTimes,
  reason: BookReplaced['reason'],
): void {
  const { offset, seq } = publisher.latest('orderbook', market.number)
  const kind = 'bookReplaced'
  publisher.publish({ kind, market, venueTimeMs, receivedAtMs, reason, offset, seq })
}

/** The book is stale from now on. */
export function publishStale(
  publisher: Publisher,
  market: MarketRef,
  { venueTimeMs, receivedAtMs }: BothTimes,
  { reason, sinceMs, isOfVenue }: Pick<BookStale, 'reason' | 'sinceMs' | 'isOfVenue'>,
): void {
  const { offset, seq } = publisher.latest('orderbook', market.number)
  const stamped = { market, venueTimeMs, receivedAtMs, offset, seq }
  publisher.publish({ kind: 'bookStale', ...stamped, reason, sinceMs, isOfVenue })
}

/** The book was found to be as the venue has it. */
export function publishConfirmed(
  publisher: Publisher,
  market: MarketRef,
  { venueTimeMs, receivedAtMs }: BothTimes,
  wasStale: boolean,
): void {
  const stamp = publisher.latest('orderbook', market.number)
  const kind = 'bookConfirmed'
  publisher.publish({ kind, market, venueTimeMs, receivedAtMs, ...stamp, wasStale })
}

/** Changed levels; `levels` is the book after the change. */
export function publishBook(
  publisher: Publisher,
  market: MarketRef,
  { venueTimeMs, receivedAtMs }: BothTimes,
  { changes, levels }: { changes: readonly LevelChange[]; levels: OrderBook },
): void {
  const { offset, seq } = publisher.stamp('orderbook', market.number)
  const checksum = seq % CHECKSUM_EVERY === 0 ? levels.checksum() : null
  const times = { venueTimeMs, receivedAtMs }
  const update: BookUpdate = { kind: 'book', market, offset, seq, ...times, changes, checksum }
  publisher.publish(update)
}

/** A trade, with the stamp under which it was stored. */
export function publishTrade(
  publisher: Publisher,
  market: MarketRef,
  { venueTimeMs, receivedAtMs }: BothTimes,
  { trade, stamp }: { trade: Trade; stamp: Stamp },
): void {
  const { offset, seq } = stamp
  publisher.publish({ kind: 'trade', market, offset, seq, venueTimeMs, receivedAtMs, trade })
}

export function publishPrice(
  publisher: Publisher,
  market: MarketRef,
  { venueTimeMs, receivedAtMs }: BothTimes,
  price: MarketPrice,
): void {
  const { offset, seq } = publisher.stamp('prices', market.number)
  publisher.publish({ kind: 'price', market, offset, seq, venueTimeMs, receivedAtMs, price })
}

/** The status that a market has now. */
export function publishStatus(
  publisher: Publisher,
  market: MarketRef,
  times: BothTimes,
  facts: MarketFacts,
): void {
  publishLifecycle(publisher, market, times, {
    event: facts.status === 'open' ? 'opened' : facts.status,
    facts,
    matchedMarket: null,
  })
}

/**
 * `changed`: the market's question, close time, outcomes, fees or resolution status. `settled`: what a resolved market
 * pays is known now, or is corrected.
 */
export function publishChanged(
  publisher: Publisher,
  market: MarketRef,
  times: BothTimes,
  { event, facts }: { event: 'changed' | 'settled'; facts: MarketFacts },
): void {
  publishLifecycle(publisher, market, times, { event, facts, matchedMarket: null })
}

/** A pair of high confidence began or ended. Publish one for each of the two markets. */
export function publishPairing(
  publisher: Publisher,
  market: MarketRef,
  times: BothTimes,
  life: { event: 'matched' | 'unmatched'; facts: MarketFacts; matchedMarket: MarketRef },
): void {
  publishLifecycle(publisher, market, times, life)
}

function publishLifecycle(
  publisher: Publisher,
  market: MarketRef,
  { venueTimeMs, receivedAtMs }: BothTimes,
  life: Pick<LifecycleUpdate, 'event' | 'facts' | 'matchedMarket'>,
): void {
  const { offset, seq } = publisher.stamp('lifecycle', market.number)
  const times = { venueTimeMs, receivedAtMs }
  publisher.publish({ kind: 'lifecycle', market, offset, seq, ...times, ...life })
}
