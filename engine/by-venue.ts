// A thing for each venue, made when the venue is first asked for.

import type { VenueKey } from './ids.ts'

/** At most one thing a venue. */
export class ByVenue<Thing> {
  readonly #things = new Map<VenueKey, Thing>()
  readonly #make: (venue: VenueKey) => Thing

  constructor(make: (venue: VenueKey) => Thing) {
    this.#make = make
  }

  of(venue: VenueKey): Thing {
    const existing = this.#things.get(venue)
    if (existing !== undefined) return existing
    const created = this.#make(venue)
    this.#things.set(venue, created)
    return created
  }

  /** Those made so far. */
  values(): Iterable<Thing> {
    return this.#things.values()
  }

  entries(): Iterable<readonly [VenueKey, Thing]> {
    return this.#things
  }
}
