// Finds the owner of an event: one map look-up from outcome to market. A trade of an unknown market goes to the venue's
// actor, which has the market fetched. Each event ends in exactly one counter, routed or unowned.

import type { VenueEvent, WalletFillEvent } from '../../engine/events.ts'
import type { VenueKey } from '../../engine/ids.ts'
import type { Count, Metrics } from '../../engine/process/metrics.ts'
import type { Venue } from '../../engine/venues/venue.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Cell } from '../system.ts'
import type { VenueActor, VenueMessage } from './venue.ts'

/** A venue, its actor, and the cell of that actor. */
export interface OpenVenue {
  readonly venue: Venue
  readonly actor: VenueActor
  readonly cell: Cell<VenueMessage>
}

export class EventRoutes {
  readonly #catalog: Catalog
  readonly #onWalletFill: (event: WalletFillEvent) => void
  readonly #venues = new Map<VenueKey, OpenVenue>()
  readonly #routed: Count
  readonly #unowned: Count

  constructor(parts: {
    catalog: Catalog
    metrics: Metrics
    onWalletFill: (event: WalletFillEvent) => void
  }) {
    this.#catalog = parts.catalog
    this.#onWalletFill = parts.onWalletFill
    this.#routed = parts.metrics.count('events_routed_total', 'Venue events given to an owner.')
    this.#unowned = parts.metrics.count('events_unowned_total', 'Venue events of unknown markets.')
  }

  add(venue: OpenVenue): void {
    this.#venues.set(venue.actor.venue, venue)
  }

  /** Gives an event to its owner. */
  route(event: VenueEvent): void {
    const venue = this.#venues.get(event.venue)
    venue?.actor.note(event)
    switch (event.kind) {
      case 'feedUp':
      case 'feedDown':
      case 'feedGap':
      case 'marketSeen':
        this.#routed.inc()
        venue?.cell.tell(event)
        return
      case 'marketStatus': {
        const market = this.#catalog.knownOfNative(event.venue, event.market)
        if (market === null) return this.#unowned.inc()
        this.#routed.inc()
        return market.tell(event)
      }
      case 'walletFill':
        this.#routed.inc()
        return this.#onWalletFill(event)
      default: {
        const market = this.#catalog.knownOfOutcome(event.venue, event.outcome)
        if (market !== null) {
          this.#routed.inc()
          return market.tell(event)
        }
        this.#unowned.inc()
        if (event.kind === 'trade') venue?.cell.tell(event)
      }
    }
  }
}
