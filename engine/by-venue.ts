import type { VenueKey } from './ids.ts'

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

  values(): Iterable<Thing> {
    return this.#things.values()
  }

  entries(): Iterable<readonly [VenueKey, Thing]> {
    return this.#things
  }
}
