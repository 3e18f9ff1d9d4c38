import type { PolymarketUrls } from '../config.ts'
import type { VenueKey } from '../ids.ts'
import { type VenueFacts, VenueTable } from '../venue-table.ts'
import { KALSHI } from './kalshi/facts.ts'
import { openKalshi } from './kalshi/kalshi.ts'
import { POLYMARKET } from './polymarket/facts.ts'
import { openPolymarket } from './polymarket/polymarket.ts'
import type { FrameTap } from './socket-feed.ts'
import type { Venue, VenueParts } from './venue.ts'
import { withCleanText } from './venue-text.ts'

/** Sorted by key. Matched pairs list their sides in the same order. */
export const VENUES: readonly VenueFacts[] = [POLYMARKET, KALSHI]

/** The venues whose rows occur in labelled pairs and recorded dumps. */
export const PAIRED_VENUES = [POLYMARKET, KALSHI] as const

export function venueTable(
  names: Readonly<Partial<Record<VenueKey, string>>> = {},
  venues: readonly VenueFacts[] = VENUES,
): VenueTable {
  return new VenueTable(venues.map((facts) => ({ ...facts, name: names[facts.key] ?? facts.name })))
}

/** Addresses of both venues and the key for Kalshi. If the key is null, Kalshi's public REST API is polled. */
export interface VenueAddresses {
  readonly polymarket: PolymarketUrls
  readonly kalshi: {
    readonly restUrl: string
    readonly wsUrl: string
    readonly keyId: string | null
    readonly privateKeyPem: string | null
  }
}

/** The venues send no request before they are started. */
export function openVenues(
  parts: VenueParts,
  addresses: VenueAddresses,
  tap?: FrameTap,
): readonly Venue[] {
  const tapped = tap === undefined ? {} : { tap }
  return [
    openPolymarket(parts, addresses.polymarket, tapped),
    openKalshi(parts, { ...addresses.kalshi, ...tapped }),
  ].map(withCleanText)
}
