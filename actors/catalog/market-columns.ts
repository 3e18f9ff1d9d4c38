// Filter and sort columns for lists of markets. Each listing, status change and trade updates a market's row and the
// sums of its event.

import { VENUE_KEYS, type VenueKey } from '../../engine/ids.ts'
import {
  MARKET_STATUSES,
  type MarketNumber,
  type MarketStatus,
  type ResolutionStatus,
} from '../../engine/market/market.ts'
import type { SlicedWork } from '../../engine/time-slices.ts'
import type { MarketSummary } from '../../storage/contract/storage.ts'
import { type Column, Columns } from '../rows/columns.ts'
import { sortedPositions } from '../rows/sort.ts'
import { SortedRows } from '../rows/sorted-rows.ts'
import type { MarketFilter, MarketOrder, MarketPhase, MarketView } from '../views.ts'
import type { EventColumns, MarketShare } from './event-columns.ts'
import { TermSets, Terms } from './terms.ts'

/** Up to this number, candidates are sorted. For more candidates, the presorted rows of all markets are scanned. */
const SORTED_CANDIDATES_MAX = 1_024

/** Rows that a sliced scan reads between two yields, about 0.1 ms of work. */
const ROWS_PER_STEP = 8_192
/** Maximum number of markets of several classes that are sorted at once, about 1 ms of work. */
const SORTED_MAX = 16_384

/** Classes of volumes: the upper 16 bits of the floating-point number, which ascend like the number if it is not negative. */
const VOLUME_CLASSES = 2 ** 15
const volumeBits = new DataView(new ArrayBuffer(8))

function volumeClassOf(volume: number): number {
  volumeBits.setFloat64(0, Math.max(volume, 0))
  return volumeBits.getUint16(0)
}

/** The first `count` markets by volume, and every market with at least `volumeMin`. */
export interface VolumeRange {
  readonly count: number
  readonly volumeMin: number
}

type RankedMarket = Pick<MarketView, 'ref' | 'summary' | 'volume24h' | 'volumeTotal'>

export class MarketColumns {
  readonly #eventColumns: EventColumns
  readonly #rows = new Columns()
  readonly #summaries = this.#rows.objects<MarketSummary | null>(null)
  readonly #states = this.#rows.bytes()
  readonly #volumes24h = this.#rows.floats()
  /** NaN if unknown, also in the next two columns. */
  readonly #volumesTotal = this.#rows.floats()
  readonly #createdAtMs = this.#rows.floats()
  readonly #closeAtMs = this.#rows.floats()
  readonly #categories = this.#rows.integers()
  readonly #eventSlugs = this.#rows.integers()
  readonly #tagSets = this.#rows.integers()
  readonly #events = this.#rows.integers()
  readonly #terms = new Terms()
  readonly #sets = new TermSets()
  readonly #keys: Readonly<Record<MarketOrder, Column<Float64Array>>> = {
    volume: this.#volumes24h,
    created_at: this.#createdAtMs,
    close_time: this.#closeAtMs,
  }
  readonly #orders: Readonly<Record<MarketOrder, SortedRows>> = {
    volume: new SortedRows(this.#rows, this.#volumes24h),
    created_at: new SortedRows(this.#rows, this.#createdAtMs),
    close_time: new SortedRows(this.#rows, this.#closeAtMs),
  }
  #selected = new Uint32Array(0)
  #isChosen = new Uint8Array(0)

  constructor(eventColumns: EventColumns) {
    this.#eventColumns = eventColumns
  }

  put(market: RankedMarket, event: number): void {
    const { summary } = market
    const { number } = market.ref
    let slot = this.#rows.slot(number)
    if (slot < 0) {
      slot = this.#rows.add(number)
      this.#clear(slot)
    } else {
      this.#eventColumns.removeMarket(this.#events.values[slot] ?? 0, this.#share(slot))
    }
    this.#putTerms(slot, summary)
    this.#summaries.values[slot] = summary
    this.#states.values[slot] = marketState(summary)
    this.#setKey('volume', slot, market.volume24h)
    this.#setKey('created_at', slot, summary.createdAtMs ?? Number.NaN)
    this.#setKey('close_time', slot, summary.closeAtMs ?? Number.NaN)
    this.#volumesTotal.values[slot] = market.volumeTotal ?? Number.NaN
    this.#events.values[slot] = event
    this.#eventColumns.addMarket(event, this.#share(slot))
  }

  #clear(slot: number): void {
    this.#summaries.values[slot] = null
    this.#categories.values[slot] = 0
    this.#eventSlugs.values[slot] = 0
    this.#tagSets.values[slot] = 0
    this.#touchAll(slot)
  }

  /** Sorts the rows now, so that the first list does not have to. Each step takes some 20 ms for 430,000 markets. */
  *sorting(): SlicedWork<void> {
    for (const order of Object.values(this.#orders)) {
      order.sort()
      yield
    }
  }

  #touchAll(slot: number): void {
    for (const order of Object.values(this.#orders)) order.touch(slot)
  }

  #setKey(sortBy: MarketOrder, slot: number, key: number): void {
    const { values } = this.#keys[sortBy]
    if (Object.is(values[slot], key)) return
    values[slot] = key
    this.#orders[sortBy].touch(slot)
  }

  #putTerms(slot: number, summary: MarketSummary): void {
    const before = this.#summaries.values[slot] ?? null
    if (before === null || before.category !== summary.category) {
      this.#terms.release(this.#categories.values[slot] ?? 0)
      this.#categories.values[slot] = this.#terms.take(summary.category)
    }
    if (before === null || before.eventSlug !== summary.eventSlug) {
      this.#terms.release(this.#eventSlugs.values[slot] ?? 0)
      this.#eventSlugs.values[slot] = this.#terms.take(summary.eventSlug)
    }
    if (before === null || before.tags.join('\n') !== summary.tags.join('\n')) {
      const earlier = this.#tagSets.values[slot] ?? 0
      this.#tagSets.values[slot] = this.#sets.take(summary.tags)
      this.#sets.release(earlier)
    }
  }

  moveVolumes(market: RankedMarket): void {
    const slot = this.#rows.slot(market.ref.number)
    if (slot < 0) return
    const { values: volumes24h } = this.#volumes24h
    const { values: volumesTotal } = this.#volumesTotal
    const total = market.volumeTotal ?? Number.NaN
    this.#eventColumns.moveVolumes(this.#events.values[slot] ?? 0, {
      volume24h: market.volume24h - (volumes24h[slot] ?? 0),
      volumeTotal: orZero(total) - orZero(volumesTotal[slot]),
    })
    volumesTotal[slot] = total
    this.#setKey('volume', slot, market.volume24h)
  }

  remove(number: MarketNumber): void {
    const slot = this.#rows.slot(number)
    if (slot < 0) return
    this.#eventColumns.removeMarket(this.#events.values[slot] ?? 0, this.#share(slot))
    this.#terms.release(this.#categories.values[slot] ?? 0)
    this.#terms.release(this.#eventSlugs.values[slot] ?? 0)
    this.#sets.release(this.#tagSets.values[slot] ?? 0)
    this.#summaries.values[slot] = null
    this.#touchAll(slot)
    this.#rows.remove(number)
  }

  #share(slot: number): MarketShare {
    return {
      status: statusInEvent(this.#states.values[slot] ?? 0),
      volume24h: this.#volumes24h.values[slot] ?? 0,
      volumeTotal: orZero(this.#volumesTotal.values[slot]),
    }
  }

  summary(number: MarketNumber): MarketSummary | null {
    return this.#summaries.values[this.#rows.slot(number)] ?? null
  }

  volume24h(number: MarketNumber): number {
    return this.#volumes24h.values[this.#rows.slot(number)] ?? 0
  }

  counts(venues: readonly VenueKey[]): Partial<Record<VenueKey, Record<MarketStatus, number>>> {
    const counts: Partial<Record<VenueKey, Record<MarketStatus, number>>> = {}
    for (const venue of venues) counts[venue] = { open: 0, closed: 0, resolved: 0 }
    const byState = new Uint32Array(256)
    const { length, isRemoved } = this.#rows
    const states = this.#states.values
    for (let slot = 0; slot < length; slot += 1) {
      const state = states[slot] ?? 0
      if (isRemoved[slot] === 0) byState[state] = (byState[state] ?? 0) + 1
    }
    for (const [state, count] of byState.entries()) {
      if (count === 0) continue
      const ofVenue = counts[venueOf(state)]
      if (ofVenue !== undefined) ofVenue[statusOf(state)] += count
    }
    return counts
  }

  /**
   * Unknown values are last in both directions. Equal values are sorted by number. `candidates` null selects from all
   * markets. The next call overwrites the result.
   */
  select(
    query: { filter: MarketFilter; sortBy: MarketOrder; order: 'asc' | 'desc' },
    candidates: ArrayLike<MarketNumber> | null,
  ): Uint32Array {
    const { filter, sortBy, order } = query
    if (candidates !== null && candidates.length <= SORTED_CANDIDATES_MAX)
      return this.#sortFew(this.#slotsOf(candidates).filter(this.#test(filter)), sortBy, order)
    const count = this.#mark(filter, candidates)
    if (this.#selected.length < count) this.#selected = new Uint32Array(count * 2)
    const selected = this.#selected.subarray(0, count)
    this.#orders[sortBy].select(this.#isChosen, order, selected)
    return selected
  }

  /** Open markets of a venue by 24-hour volume, descending. Markets that change during the work may have their old rank. */
  *openByVolume(venue: VenueKey, { count, volumeMin }: VolumeRange): SlicedWork<Uint32Array> {
    const counts = new Uint32Array(VOLUME_CLASSES)
    yield* this.#forEachOpen(venue, (_, volume) => {
      const volumeClass = volumeClassOf(volume)
      counts[volumeClass] = (counts[volumeClass] ?? 0) + 1
    })
    const classMin = volumeClassOf(volumeMin)
    const ends = new Uint32Array(VOLUME_CLASSES)
    let first = VOLUME_CLASSES
    let size = 0
    while (first > 0 && (size < count || first > classMin)) {
      first -= 1
      size += counts[first] ?? 0
      ends[first] = size
    }
    const numbers = new Uint32Array(size)
    const volumes = new Float64Array(size)
    yield* this.#forEachOpen(venue, (number, volume) => {
      const volumeClass = volumeClassOf(volume)
      const left = counts[volumeClass] ?? 0
      if (volumeClass < first || left === 0) return
      counts[volumeClass] = left - 1
      numbers[(ends[volumeClass] ?? 0) - left] = number
      volumes[(ends[volumeClass] ?? 0) - left] = volume
    })
    yield* sortSections(numbers, volumes, ends.subarray(first))
    // A market may have left its class between the two scans.
    const found = numbers.includes(0) ? numbers.filter((number) => number !== 0) : numbers
    return found.subarray(0, Math.max(count, this.#countFrom(found, volumeMin)))
  }

  /** Number of leading markets with at least this volume. `sorted` is sorted by volume, descending. */
  #countFrom(sorted: Uint32Array, volumeMin: number): number {
    let low = 0
    let high = sorted.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.volume24h(sorted[middle] ?? 0) < volumeMin) high = middle
      else low = middle + 1
    }
    return low
  }

  *#forEachOpen(
    venue: VenueKey,
    act: (number: MarketNumber, volume24h: number) => void,
  ): SlicedWork<void> {
    const open = marketState({ venue, status: 'open', isUnopened: false })
    const last = this.#rows.numbers[this.#rows.length - 1] ?? 0
    // By number, because slots change when holes are compacted between two slices.
    for (let number = 1; number <= last; number += 1) {
      if (number % ROWS_PER_STEP === 0) yield
      const slot = this.#rows.slot(number)
      if (slot < 0 || this.#states.values[slot] !== open) continue
      act(number, this.#volumes24h.values[slot] ?? 0)
    }
  }

  #sortFew(slots: Uint32Array, sortBy: MarketOrder, order: 'asc' | 'desc'): Uint32Array {
    const { values } = this.#keys[sortBy]
    const keys = Float64Array.from(slots, (slot) => values[slot] ?? Number.NaN)
    const positions = sortedPositions(keys, slots.length, order)
    return positions.map((position) => this.#rows.numbers[slots[position] ?? 0] ?? 0)
  }

  #mark(filter: MarketFilter, candidates: ArrayLike<MarketNumber> | null): number {
    const { length } = this.#rows
    if (this.#isChosen.length < length) this.#isChosen = new Uint8Array(length * 2)
    const isChosen = this.#isChosen.fill(candidates === null ? 1 : 0, 0, length)
    for (let index = 0; index < (candidates?.length ?? 0); index += 1) {
      const slot = this.#rows.slot(candidates?.[index] ?? 0)
      if (slot >= 0) isChosen[slot] = 1
    }
    const passes = this.#test(filter)
    let count = 0
    for (let slot = 0; slot < length; slot += 1) {
      if (isChosen[slot] !== 1) continue
      if (passes(slot)) count += 1
      else isChosen[slot] = 0
    }
    return count
  }

  /** Returns the first `countMax` matching numbers in their given order. The next call overwrites the result. */
  filtered(numbers: ArrayLike<MarketNumber>, filter: MarketFilter, countMax: number): Uint32Array {
    const passes = this.#test(filter)
    const isAmong = filter.among === null ? null : new Set(filter.among.markets)
    const countMost = Math.min(numbers.length, countMax)
    if (this.#selected.length < countMost) this.#selected = new Uint32Array(countMost * 2)
    const found = this.#selected
    let count = 0
    for (let index = 0; index < numbers.length && count < countMax; index += 1) {
      const number = numbers[index] ?? 0
      const slot = this.#rows.slot(number)
      if (slot < 0 || !passes(slot)) continue
      if (isAmong !== null && !isAmong.has(number)) continue
      found[count] = number
      count += 1
    }
    return found.subarray(0, count)
  }

  #slotsOf(numbers: ArrayLike<MarketNumber>): Uint32Array {
    const slots = new Set<number>()
    for (let index = 0; index < numbers.length; index += 1) {
      const slot = this.#rows.slot(numbers[index] ?? 0)
      if (slot >= 0) slots.add(slot)
    }
    return Uint32Array.from(slots).sort()
  }

  #test(filter: MarketFilter): (slot: number) => boolean {
    const { isRemoved } = this.#rows
    const states = this.#states.values
    const volumes24h = this.#volumes24h.values
    const volumesTotal = this.#volumesTotal.values
    const createdAtMs = this.#createdAtMs.values
    const categories = this.#categories.values
    const eventSlugs = this.#eventSlugs.values
    const tagSets = this.#tagSets.values
    const isAdmitted = admittedStates(filter)
    const least24h = filter.volume24hMin ?? Number.NEGATIVE_INFINITY
    const leastTotal = filter.volumeTotalMin
    const isCreatedAnytime = filter.createdFromMs === null && filter.createdToMs === null
    const fromMs = filter.createdFromMs ?? Number.NEGATIVE_INFINITY
    const toMs = filter.createdToMs ?? Number.POSITIVE_INFINITY
    const category = filter.category === null ? null : this.#terms.find(filter.category)
    const eventSlug = filter.eventSlug === null ? null : this.#terms.find(filter.eventSlug)
    const { resolution } = filter
    const summaries = this.#summaries.values
    const isTagged = filter.tags.length === 0 ? null : this.#sets.having(filter.tags)
    // NaN, for an unknown total or time, fails every comparison below.
    return (slot) => {
      if (isRemoved[slot] === 1 || isAdmitted[states[slot] ?? 0] !== 1) return false
      if ((volumes24h[slot] ?? 0) < least24h) return false
      if (leastTotal !== null && !((volumesTotal[slot] ?? 0) >= leastTotal)) return false
      if (category !== null && categories[slot] !== category) return false
      if (eventSlug !== null && eventSlugs[slot] !== eventSlug) return false
      if (isTagged !== null && isTagged[tagSets[slot] ?? 0] !== 1) return false
      if (resolution !== null && resolutionOf(summaries[slot]) !== resolution) return false
      const created = createdAtMs[slot] ?? 0
      return isCreatedAnytime || (created >= fromMs && created <= toMs)
    }
  }
}

function resolutionOf(summary: MarketSummary | null | undefined): ResolutionStatus | null {
  return summary?.status === 'resolved' ? 'resolved' : (summary?.resolutionStatus ?? null)
}

function orZero(value: number | undefined): number {
  return value === undefined || Number.isNaN(value) ? 0 : value
}

/** Bits 0-1: index of the status. Bit 2: unopened. Bits 3 and above: index of the venue in VENUE_KEYS. */
type MarketState = number

const UNOPENED = 4
const VENUE_SHIFT = 3
const STATES = VENUE_KEYS.length << VENUE_SHIFT

function marketState(market: {
  readonly venue: VenueKey
  readonly status: MarketStatus
  readonly isUnopened: boolean
}): MarketState {
  const unopened = market.isUnopened ? UNOPENED : 0
  const venue = VENUE_KEYS.indexOf(market.venue) << VENUE_SHIFT
  return MARKET_STATUSES.indexOf(market.status) + unopened + venue
}

function venueOf(state: MarketState): VenueKey {
  const venue = VENUE_KEYS[state >> VENUE_SHIFT]
  if (venue === undefined) throw new Error(`${state} is not the state of a market`)
  return venue
}

function statusOf(state: MarketState): MarketStatus {
  return MARKET_STATUSES[state & 3] ?? 'closed'
}

/** Sorts numbers by volume, descending. `ends`: end of each class in `numbers`, whose order is the highest class first. */
function* sortSections(
  numbers: Uint32Array,
  volumes: Float64Array,
  ends: Uint32Array,
): SlicedWork<void> {
  let start = 0
  let end = 0
  for (let index = ends.length - 1; index >= 0; index -= 1) {
    const next = ends[index] ?? 0
    if (next - start > SORTED_MAX && end > start) {
      sortByVolume(numbers.subarray(start, end), volumes.subarray(start, end))
      yield
      start = end
    }
    end = next
  }
  sortByVolume(numbers.subarray(start, end), volumes.subarray(start, end))
}

function sortByVolume(numbers: Uint32Array, volumes: Float64Array): void {
  const positions = sortedPositions(volumes, numbers.length, 'desc')
  numbers.set(positions.map((position) => numbers[position] ?? 0))
}

/** An unopened market counts as closed. */
function statusInEvent(state: MarketState): MarketStatus {
  return (state & UNOPENED) === 0 ? statusOf(state) : 'closed'
}

function admittedStates(filter: MarketFilter): Uint8Array {
  const admitted = new Uint8Array(STATES)
  for (let state = 0; state < STATES; state += 1) {
    const isVenue = filter.venue === null || filter.venue === venueOf(state)
    const isStatus = filter.status === null || filter.status === statusOf(state)
    if (isVenue && isStatus && isInPhase(state, filter)) admitted[state] = 1
  }
  return admitted
}

/** Unopened markets are listed only if the status or phase filter includes them. */
function isInPhase(state: MarketState, { phase, status }: MarketFilter): boolean {
  const isUnopened = (state & UNOPENED) !== 0
  if (phase === null) return !isUnopened || status === 'closed'
  if (phase === 'any') return true
  if (isUnopened) return phase === 'unopened'
  return PHASES[statusOf(state)].includes(phase)
}

const PHASES: Readonly<Record<MarketStatus, readonly MarketPhase[]>> = {
  open: ['open'],
  closed: ['closed', 'ended'],
  resolved: ['settled', 'ended'],
}
