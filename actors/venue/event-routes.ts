// Routes an event to its actor with one map lookup from outcome to market. The venue's actor receives trades of unknown
// markets and requests these markets.

import type { VenueEvent, WalletFillEvent } from '../../engine/events.ts'
import type { VenueKey } from '../../engine/ids.ts'
import type { Count, Metrics } from '../../engine/process/metrics.ts'
import type { Venue } from '../../engine/venues/venue.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { ActorRef } from '../system.ts'
import type { VenueActor, VenueMessage } from './venue.ts'

export interface OpenVenue {
  readonly venue: Venue
  readonly actor: VenueActor
  readonly actorRef: ActorRef<VenueMessage>
}

export class EventRoutes {
  readonly #catalog: Catalog
  readonly #onWalletFill: (event: WalletFillEvent) => void
  readonly #venues = new Map<VenueKey, OpenVenue>()
  readonly #routed: Count
  readonly #unrouted: Count

  constructor(parts: {
    catalog: Catalog
    metrics: Metrics
    onWalletFill: (event: WalletFillEvent) => void
  }) {
    this.#catalog = parts.catalog
    this.#onWalletFill = parts.onWalletFill
    this.#routed = parts.metrics.count('events_routed_total', 'Venue events routed to an actor.')
    this.#unrouted = parts.metrics.count('events_unowned_total', 'Venue events of unknown markets.')
  }

  add(venue: OpenVenue): void {
    this.#venues.set(venue.actor.venue, venue)
  }

  route(event: VenueEvent): void {
    const venue = this.#venues.get(event.venue)
    venue?.actor.note(event)
    switch (event.kind) {
      case 'feedUp':
      case 'feedDown':
      case 'feedGap':
      case 'marketSeen':
        this.#routed.inc()
        venue?.actorRef.send(event)
        return
      case 'marketStatus': {
        const market = this.#catalog.entryOfNative(event.venue, event.market)
        if (market === null) return this.#unrouted.inc()
        this.#routed.inc()
        return market.send(event)
      }
      case 'walletFill':
        this.#routed.inc()
        return this.#onWalletFill(event)
      default: {
        const market = this.#catalog.entryOfOutcome(event.venue, event.outcome)
        if (market !== null) {
          this.#routed.inc()
          return market.send(event)
        }
        this.#unrouted.inc()
        if (event.kind === 'trade') venue?.actorRef.send(event)
      }
    }
  }
}
