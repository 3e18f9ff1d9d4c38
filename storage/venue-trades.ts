// The index of trades by venue: every trade of every market in the order of time, with an ordinal among
// the venue's trades of the same millisecond. A row leads to the trade; the trade's record names the row,
// so that both are removed together. Not for: the trades themselves (trades.ts, which writes here).
// Upholds STORE3, STORE5, STORE22.

import type { VenueKey } from '../engine/ids.ts'
import { VENUE_KEYS } from '../engine/ids.ts'
import { type TimeMs, timeMs } from '../engine/units.ts'
import type { SliceQuery } from './contract/storage.ts'
import type { Environment } from './lmdb/environment.ts'
import { PackedTable } from './lmdb/packed-table.ts'
import { readInteger, VENUE_TRADE_KEY_BYTES, venueTradeKey } from './records/keys.ts'
import { keyOfVenueRow, PLACE_BYTES_MAX, writeVenueRow } from './records/places.ts'
import { TABLES } from './tables.ts'
import { rangeOfTrades } from './trade-range.ts'

/** Milliseconds whose next ordinal is remembered for a venue; the older half of them goes when full. */
const RECENT_MAX = 4_096

/** Where a trade stands among its venue's. */
export interface VenuePlace {
  readonly venue: VenueKey
  readonly ordinal: number
}

/** The next ordinals of a venue's recent milliseconds. */
interface Recent {
  /** A millisecond above this that has no entry has no trade. */
  floorMs: number
  readonly next: Map<number, number>
}

export class VenueTrades {
  readonly #index: PackedTable
  /** Reused by each put. */
  readonly #row = Buffer.alloc(PLACE_BYTES_MAX)
  readonly #key = Buffer.allocUnsafe(VENUE_TRADE_KEY_BYTES)
  readonly #recent = new Map<VenueKey, Recent>()

  constructor(environment: Environment) {
    this.#index = new PackedTable(environment.table(TABLES.venueTrades))
  }

  /** Gives the trade under this key its ordinal among the venue's, and indexes it. */
  put(venue: VenueKey, key: Buffer): VenuePlace {
    const time = readInteger(key, 4)
    const ordinal = this.#nextOrdinal(venue, time)
    const end = writeVenueRow(this.#row, key)
    this.#index.put(venueTradeKey(venue, time, ordinal, this.#key), this.#row, end)
    return { venue, ordinal }
  }

  /** Removes the row of a trade, which its record names, or which is looked for (format 1). */
  remove(key: Buffer, known: VenuePlace | null): void {
    const place = known ?? this.find(key)
    if (place === null) return
    const time = readInteger(key, 4)
    this.#index.remove(venueTradeKey(place.venue, time, place.ordinal))
    const recent = this.#recentOf(place.venue)
    recent.next.delete(time)
    recent.floorMs = Math.max(recent.floorMs, time)
  }

  /** The row that leads to this trade, by a look at every row of its millisecond. */
  find(key: Buffer): VenuePlace | null {
    const time = readInteger(key, 4)
    for (const venue of VENUE_KEYS) {
      let found: VenuePlace | null = null
      this.#index.scan(millisecond(venue, time), (row) => {
        if (keyOfVenueRow(row.value, time).equals(key))
          found = { venue, ordinal: row.key.readUInt32BE(9) }
        return found === null
      })
      if (found !== null) return found
    }
    return null
  }

  /** Visits the keys of trades, with their ordinals among the venue's, until `visit` gives false. */
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
    const oldest = this.#index.first(wholeVenue(venue))
    const newest = this.#index.first({ ...wholeVenue(venue), isReverse: true })
    if (oldest === null || newest === null) return null
    return {
      oldestMs: timeMs(readInteger(oldest.key, 1)),
      newestMs: timeMs(readInteger(newest.key, 1)),
    }
  }

  /** One past the last ordinal of that millisecond; without a read where trades are not late. */
  #nextOrdinal(venue: VenueKey, time: number): number {
    const recent = this.#recentOf(venue)
    let ordinal = recent.next.get(time)
    if (ordinal === undefined) {
      ordinal = 0
      if (time <= recent.floorMs) {
        const last = this.#index.first({ ...millisecond(venue, time), isReverse: true })
        if (last !== null) ordinal = last.key.readUInt32BE(9) + 1
      }
      if (recent.next.size >= RECENT_MAX) forgetOlderHalf(recent)
    }
    recent.next.set(time, ordinal + 1)
    return ordinal
  }

  #recentOf(venue: VenueKey): Recent {
    const known = this.#recent.get(venue)
    if (known !== undefined) return known
    const newest = this.#index.first({ ...wholeVenue(venue), isReverse: true })
    const floorMs = newest === null ? Number.NEGATIVE_INFINITY : readInteger(newest.key, 1)
    const recent = { floorMs, next: new Map<number, number>() }
    this.#recent.set(venue, recent)
    return recent
  }
}

function forgetOlderHalf(recent: Recent): void {
  const times = [...recent.next.keys()].sort((one, other) => one - other)
  for (const time of times.slice(0, RECENT_MAX / 2)) {
    recent.next.delete(time)
    recent.floorMs = Math.max(recent.floorMs, time)
  }
}

function millisecond(venue: VenueKey, time: number) {
  return { from: venueTradeKey(venue, time, 0), to: venueTradeKey(venue, time + 1, 0) }
}

function wholeVenue(venue: VenueKey) {
  const end = Number.MAX_SAFE_INTEGER
  return { from: venueTradeKey(venue, -end, 0), to: venueTradeKey(venue, end, 0) }
}
