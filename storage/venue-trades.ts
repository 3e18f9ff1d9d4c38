// Index of the trades of all markets of a venue, in order of time and of an ordinal within the millisecond. Index row
// and trade record refer to each other and are removed together.

import type { VenueKey } from '../engine/ids.ts'
import { VENUE_KEYS } from '../engine/ids.ts'
import { type TimeMs, timeMs } from '../engine/units.ts'
import type { SliceQuery } from './contract/rows.ts'
import type { Environment } from './lmdb/environment.ts'
import { PackedTable } from './lmdb/packed-table.ts'
import { FIRST, LAST, readInteger, venueTradeKey } from './records/keys.ts'
import { keyOfVenueRow, type TradeLocation, venueRow } from './records/trade-locations.ts'
import { TABLES } from './tables.ts'
import { nextOrdinal, rangeOfTrades } from './trade-range.ts'

const RECENT_MS = 4_096

export interface VenuePosition {
  readonly venue: VenueKey
  readonly ordinal: number
}

export class VenueTrades {
  readonly #index: PackedTable
  readonly #recent = new Map<VenueKey, Recent>()

  constructor(environment: Environment) {
    this.#index = new PackedTable(environment.table(TABLES.venueTrades))
  }

  /** Assigns the trade's ordinal among the venue's trades of the millisecond. */
  put(venue: VenueKey, location: TradeLocation): VenuePosition {
    const ordinal = this.#nextOrdinal(venue, location.timeMs)
    this.#index.put(venueTradeKey(venue, location.timeMs, ordinal), venueRow(location))
    return { venue, ordinal }
  }

  /**
   * Removes the index row of a trade. `recorded` is the position in the trade's record. If the record is damaged
   * (null), the row is searched.
   */
  remove(key: Buffer, recorded: VenuePosition | null): void {
    const position = recorded ?? this.#find(key)
    if (position === null) return
    const time = readInteger(key, 4)
    this.#index.remove(venueTradeKey(position.venue, time, position.ordinal))
    this.#recentOf(position.venue).invalidate(time)
  }

  /** Checks every row of the trade's millisecond. */
  #find(key: Buffer): VenuePosition | null {
    const time = readInteger(key, 4)
    for (const venue of VENUE_KEYS) {
      let found: VenuePosition | null = null
      const [from, to] = [venueTradeKey(venue, time, 0), venueTradeKey(venue, time + 1, 0)]
      this.#index.scan({ from, to }, (row) => {
        if (keyOfVenueRow(row.value, time).equals(key))
          found = { venue, ordinal: row.key.readUInt32BE(9) }
        return found === null
      })
      if (found !== null) return found
    }
    return null
  }

  /** Calls `visit` with keys of trades and their venue ordinals until `visit` returns false. */
  scan(
    query: SliceQuery & { readonly venue: VenueKey },
    visit: (key: Buffer, venueOrdinal: number) => boolean,
  ): void {
    const { venue } = query
    const range = rangeOfTrades(query, (time, ordinal) => venueTradeKey(venue, time, ordinal))
    if (range === null) return
    this.#index.scan(range, ({ key, value }) => {
      const time = readInteger(key, 1)
      return visit(keyOfVenueRow(value, time), key.readUInt32BE(9))
    })
  }

  extent(venue: VenueKey): { readonly oldestMs: TimeMs; readonly newestMs: TimeMs } | null {
    const oldest = this.#index.first(venueRange(venue))
    const newest = this.#index.first({ ...venueRange(venue), isReverse: true })
    if (oldest === null || newest === null) return null
    return {
      oldestMs: timeMs(readInteger(oldest.key, 1)),
      newestMs: timeMs(readInteger(newest.key, 1)),
    }
  }

  #nextOrdinal(venue: VenueKey, time: number): number {
    const recent = this.#recentOf(venue)
    const keyOf = (atMs: number, one: number) => venueTradeKey(venue, atMs, one)
    const ordinal = recent.next(time) ?? nextOrdinal(this.#index, keyOf, time)
    recent.assign(time, ordinal)
    return ordinal
  }

  #recentOf(venue: VenueKey): Recent {
    const cached = this.#recent.get(venue)
    if (cached !== undefined) return cached
    const newest = this.#index.first({ ...venueRange(venue), isReverse: true })
    const recent = new Recent(
      newest === null ? Number.NEGATIVE_INFINITY : readInteger(newest.key, 1),
    )
    this.#recent.set(venue, recent)
    return recent
  }
}

/** Caches the next ordinals of a venue's recent milliseconds. */
class Recent {
  /** A later millisecond without an entry has no trades. */
  #floorMs: number
  readonly #next = new Map<number, number>()

  constructor(floorMs: number) {
    this.#floorMs = floorMs
  }

  /** Null if the millisecond is not cached. */
  next(time: number): number | null {
    return this.#next.get(time) ?? (time > this.#floorMs ? 0 : null)
  }

  assign(time: number, ordinal: number): void {
    // The cache is cleared as a whole: evicting the oldest entry is slow, because a map's iterator passes all removed
    // entries first.
    if (this.#next.size >= RECENT_MS)
      for (const cached of this.#next.keys()) this.invalidate(cached)
    this.#next.set(time, ordinal + 1)
  }

  invalidate(time: number): void {
    this.#next.delete(time)
    this.#floorMs = Math.max(this.#floorMs, time)
  }
}

function venueRange(venue: VenueKey) {
  return { from: venueTradeKey(venue, FIRST, 0), to: venueTradeKey(venue, LAST, 0) }
}
