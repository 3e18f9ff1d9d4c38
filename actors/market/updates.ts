// Publishes what several actors publish about a market: each update with the market's stamp in its channel.

import type { BookStale, LifecycleUpdate } from '../../engine/events.ts'
import type { MarketFacts, MarketRef } from '../../engine/market/market.ts'
import type { Publisher } from '../../engine/publisher.ts'
import type { BothTimes } from './parts.ts'

/** Publishes that the book is stale. It takes no offset in the stream. */
export function publishStale(
  publisher: Publisher,
  market: MarketRef,
  { venueTimeMs, receivedAtMs }: BothTimes,
  { reason, sinceMs, isOfVenue }: Pick<BookStale, 'reason' | 'sinceMs' | 'isOfVenue'>,
): void {
  const stamp = publisher.latest('orderbook', market.number)
  const stale = { reason, sinceMs, isOfVenue }
  publisher.publish({ kind: 'bookStale', market, venueTimeMs, receivedAtMs, ...stamp, ...stale })
}

/**
 * Publishes an event of the market itself, with the market right after it. A pair of high confidence that begins or
 * ends is published for each of its markets.
 */
export function publishLifecycle(
  publisher: Publisher,
  market: MarketRef,
  { venueTimeMs, receivedAtMs }: BothTimes,
  {
    event,
    facts,
    matchedMarket = null,
  }: Pick<LifecycleUpdate, 'event' | 'facts'> & {
    readonly matchedMarket?: MarketRef | null
  },
): void {
  const stamp = publisher.stamp('lifecycle', market.number)
  const life = { event, facts, matchedMarket }
  publisher.publish({ kind: 'lifecycle', market, ...stamp, venueTimeMs, receivedAtMs, ...life })
}

/** The lifecycle event of a market's new status. */
export function statusEvent({ status }: Pick<MarketFacts, 'status'>): LifecycleUpdate['event'] {
  return status === 'open' ? 'opened' : status
}
