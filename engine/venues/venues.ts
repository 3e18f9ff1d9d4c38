// The table of venues: their facts, which connector speaks for which of them, and at which addresses.

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

/** In the order of their letters, which is the order of the sides of a pair of markets. */
export const VENUES: readonly VenueFacts[] = [POLYMARKET, KALSHI]

/** The venues of labelled pairs and of recorded dumps. */
export const PAIRED_VENUES = [POLYMARKET, KALSHI] as const

/** The table with configured names; venues without one keep their own. */
export function venueTable(
  names: Readonly<Partial<Record<VenueKey, string>>> = {},
  venues: readonly VenueFacts[] = VENUES,
): VenueTable {
  return new VenueTable(venues.map((facts) => ({ ...facts, name: names[facts.key] ?? facts.name })))
}

/** Where both venues are reached, and how we sign at Kalshi (null: its public REST is polled). */
export interface VenueAddresses {
  readonly polymarket: PolymarketUrls
  readonly kalshi: {
    readonly restUrl: string
    readonly wsUrl: string
    readonly keyId: string | null
    readonly privateKeyPem: string | null
  }
}

/** Opens both connectors; nothing is contacted before they are started. */
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
