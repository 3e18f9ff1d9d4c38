// Publishes a market's changes as Updates with their stream offsets. One function per kind, so that a stamp is taken
// only when it is published.

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

/** Every nth update of a book carries its checksum. */
const CHECKSUM_EVERY = 50

/** Publishes a full book. It takes no offset in the stream. */
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

/** Publishes that the book is stale. */
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

/** Publishes that the book equals the venue's. */
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

/** Publishes changed levels; `levels` is the book after the change. */
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

/** Publishes a trade with the stamp under which it was stored. */
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

/** Publishes the current status of a market. */
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
 * `changed`: the market's question, close time, outcomes, fees or resolution status. `settled`: a resolved market's
 * payout became known or was corrected.
 */
export function publishChanged(
  publisher: Publisher,
  market: MarketRef,
  times: BothTimes,
  { event, facts }: { event: 'changed' | 'settled'; facts: MarketFacts },
): void {
  publishLifecycle(publisher, market, times, { event, facts, matchedMarket: null })
}

/** Publishes that a pair of high confidence began or ended. Call it for each of the two markets. */
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
