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
    const known = this.#things.get(venue)
    if (known !== undefined) return known
    const made = this.#make(venue)
    this.#things.set(venue, made)
    return made
  }

  /** Those made so far. */
  values(): Iterable<Thing> {
    return this.#things.values()
  }

  entries(): Iterable<readonly [VenueKey, Thing]> {
    return this.#things
  }
}
