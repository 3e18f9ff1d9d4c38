import type { BookStale, LifecycleUpdate } from '../../engine/events.ts'
import type { MarketFacts, MarketRef } from '../../engine/market/market.ts'
import type { Publisher } from '../../engine/publisher.ts'
import type { BothTimes } from './parts.ts'

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

/** `matchedMarket`: the second market of a pair of high confidence that begins or ends. */
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

export function statusEvent({ status }: Pick<MarketFacts, 'status'>): LifecycleUpdate['event'] {
  return status === 'open' ? 'opened' : status
}
