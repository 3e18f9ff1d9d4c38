// The table of venues: which connector speaks for which key, and at which addresses.
// Not for: what the addresses are by default (engine/config.ts).

import type { PolymarketUrls } from '../config.ts'
import type { FrameTap } from './feed.ts'
import { openKalshi } from './kalshi/kalshi.ts'
import { openPolymarket } from './polymarket/polymarket.ts'
import type { Venue, VenueParts } from './venue.ts'

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
  ]
}
