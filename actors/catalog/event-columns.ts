// Filter and sort columns for lists of events. Each market change updates the sums of its event, so a list needs no
// summation.

import type { VenueKey } from '../../engine/ids.ts'
import type { MarketStatus } from '../../engine/market/market.ts'
import { type UsdMicros, usdMicros } from '../../engine/units.ts'
import type { EventSummary } from '../../storage/contract/storage.ts'
import { Columns } from '../rows/columns.ts'
import { SortedRows } from '../rows/sorted-rows.ts'
import type { EventFilter } from '../views.ts'
import { TermSets, Terms } from './terms.ts'

export interface MarketShare {
  readonly status: MarketStatus
  readonly volume24h: number
  /** 0 if unknown. */
  readonly volumeTotal: number
}

const UNKNOWN = 0

export class EventColumns {
  readonly #rows = new Columns()
  /** UNKNOWN until the event's own listing is read. Lists omit such events. */
  readonly #venues = this.#rows.bytes()
  readonly #marketCounts = this.#rows.integers()
  readonly #openCounts = this.#rows.integers()
  readonly #resolvedCounts = this.#rows.integers()
  readonly #volumes24h = this.#rows.floats()
  readonly #volumesTotal = this.#rows.floats()
  readonly #categories = this.#rows.integers()
  readonly #tagSets = this.#rows.integers()
  readonly #terms = new Terms()
  readonly #sets = new TermSets()
  readonly #byVolume = new SortedRows(this.#rows, this.#volumes24h)
  #isChosen = new Uint8Array(0)
  #selected = new Uint32Array(0)

  /** Numbers must be added in ascending order. */
  add(number: number): void {
    const slot = this.#rows.add(number)
    this.#venues.values[slot] = UNKNOWN
    this.#marketCounts.values[slot] = 0
    this.#openCounts.values[slot] = 0
    this.#resolvedCounts.values[slot] = 0
    this.#volumes24h.values[slot] = 0
    this.#volumesTotal.values[slot] = 0
    this.#categories.values[slot] = 0
    this.#tagSets.values[slot] = 0
    this.#byVolume.touch(slot)
  }

  describe(number: number, { venue, category, tags }: EventSummary): void {
    const slot = this.#rows.slot(number)
    if (slot < 0) return
    this.#release(slot)
    this.#venues.values[slot] = venueByte(venue)
    this.#categories.values[slot] = this.#terms.take(category)
    this.#tagSets.values[slot] = this.#sets.take(tags)
  }

  remove(number: number): void {
    const slot = this.#rows.slot(number)
    if (slot < 0) return
    this.#release(slot)
    this.#byVolume.touch(slot)
    this.#rows.remove(number)
  }

  #release(slot: number): void {
    this.#terms.release(this.#categories.values[slot] ?? 0)
    this.#sets.release(this.#tagSets.values[slot] ?? 0)
  }

  addMarket(number: number, share: MarketShare): void {
    this.#move(number, share, 1)
  }

  removeMarket(number: number, share: MarketShare): void {
    this.#move(number, share, -1)
  }

  moveVolumes(number: number, by: { volume24h: number; volumeTotal: number }): void {
    const slot = this.#rows.slot(number)
    if (slot < 0) return
    const { values: volumes24h } = this.#volumes24h
    const { values: volumesTotal } = this.#volumesTotal
    if (by.volume24h !== 0) {
      volumes24h[slot] = (volumes24h[slot] ?? 0) + by.volume24h
      this.#byVolume.touch(slot)
    }
    volumesTotal[slot] = (volumesTotal[slot] ?? 0) + by.volumeTotal
  }

  #move(number: number, { status, volume24h, volumeTotal }: MarketShare, sign: 1 | -1): void {
    const slot = this.#rows.slot(number)
    if (slot < 0) return
    const counts = [this.#marketCounts.values]
    if (status === 'open') counts.push(this.#openCounts.values)
    if (status === 'resolved') counts.push(this.#resolvedCounts.values)
    for (const count of counts) count[slot] = (count[slot] ?? 0) + sign
    this.moveVolumes(number, { volume24h: volume24h * sign, volumeTotal: volumeTotal * sign })
  }

  marketCount(number: number): number {
    return this.#marketCounts.values[this.#rows.slot(number)] ?? 0
  }

  volume24h(number: number): UsdMicros {
    return usdMicros(this.#volumes24h.values[this.#rows.slot(number)] ?? 0)
  }

  volumeTotal(number: number): UsdMicros {
    return usdMicros(this.#volumesTotal.values[this.#rows.slot(number)] ?? 0)
  }

  status(number: number): MarketStatus {
    return this.#statusAt(this.#rows.slot(number))
  }

  #statusAt(slot: number): MarketStatus {
    if ((this.#openCounts.values[slot] ?? 0) > 0) return 'open'
    const count = this.#marketCounts.values[slot] ?? 0
    return count > 0 && this.#resolvedCounts.values[slot] === count ? 'resolved' : 'closed'
  }

  /**
   * Returns the numbers of the matching events, sorted by 24-hour volume (descending), then by number. The next call
   * overwrites the result. `isTitled`: 1 at the number of each event whose title matches; null accepts any title.
   */
  select(filter: EventFilter, isTitled: Uint8Array | null): Uint32Array {
    const { length, numbers } = this.#rows
    if (this.#isChosen.length < length) {
      this.#isChosen = new Uint8Array(length * 2)
      this.#selected = new Uint32Array(length * 2)
    }
    const isChosen = this.#isChosen
    const passes = this.#test(filter)
    let count = 0
    for (let slot = 0; slot < length; slot += 1) {
      const isOne = (isTitled === null || isTitled[numbers[slot] ?? 0] === 1) && passes(slot)
      isChosen[slot] = isOne ? 1 : 0
      if (isOne) count += 1
    }
    this.#byVolume.select(isChosen, 'desc', this.#selected)
    return this.#selected.subarray(0, count)
  }

  #test(filter: EventFilter): (slot: number) => boolean {
    const { isRemoved } = this.#rows
    const venues = this.#venues.values
    const volumes24h = this.#volumes24h.values
    const volumesTotal = this.#volumesTotal.values
    const categories = this.#categories.values
    const tagSets = this.#tagSets.values
    const venue = filter.venue === null ? null : venueByte(filter.venue)
    const least24h = filter.volume24hMin ?? Number.NEGATIVE_INFINITY
    const leastTotal = filter.volumeTotalMin ?? Number.NEGATIVE_INFINITY
    const category = filter.category === null ? null : this.#terms.find(filter.category)
    const isTagged = filter.tags.length === 0 ? null : this.#sets.having(filter.tags)
    const { status } = filter
    return (slot) =>
      isRemoved[slot] !== 1 &&
      venues[slot] !== UNKNOWN &&
      (venue === null || venues[slot] === venue) &&
      (volumes24h[slot] ?? 0) >= least24h &&
      (volumesTotal[slot] ?? 0) >= leastTotal &&
      (category === null || categories[slot] === category) &&
      (isTagged === null || isTagged[tagSets[slot] ?? 0] === 1) &&
      (status === null || this.#statusAt(slot) === status)
  }
}

/** Greater than UNKNOWN for every venue. */
function venueByte(venue: VenueKey): number {
  return venue.charCodeAt(0)
}
