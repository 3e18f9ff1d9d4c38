// Index of the hours in which each market has rows of a kind, with one small row per hour, kind and market. Retention
// uses it to find the oldest rows of all markets without reading the rows themselves. Kinds that expire at the same age
// share one table.

import type { MarketNumber } from '../engine/market/market.ts'
import { EVERY_KEY, type Table } from './lmdb/table.ts'
import { hourKey, readInteger } from './records/keys.ts'

/** The position of a kind in this list is its byte in keys. */
const KINDS = ['trades', 'ticks', 'minuteBars', null, 'snapshots'] as const
type HourKind = NonNullable<(typeof KINDS)[number]>

const PRESENT = Buffer.of(1)
/** Maximum number of markets in the cache; above it the cache is cleared. */
const CACHED_MAX = 40_000

export interface MarketHour {
  readonly hour: number
  readonly kind: HourKind
  readonly market: MarketNumber
  /** The row's key, by which a row of an unknown kind can be removed. */
  readonly key: Buffer
}

export class Hours {
  readonly #hours: Table
  /** The last hour added for each market, by kind. Most calls add the same hour again, which needs no read. */
  readonly #lastHours: Readonly<Record<HourKind, Map<MarketNumber, number>>> = {
    trades: new Map(),
    ticks: new Map(),
    minuteBars: new Map(),
    snapshots: new Map(),
  }

  constructor(table: Table) {
    this.#hours = table
  }

  add(kind: HourKind, market: MarketNumber, hour: number): void {
    const lastHours = this.#lastHours[kind]
    if (lastHours.get(market) === hour) return
    const key = hourKey(hour, KINDS.indexOf(kind), market)
    if (!this.#hours.has(key)) this.#hours.put(key, PRESENT)
    if (lastHours.size >= CACHED_MAX) lastHours.clear()
    lastHours.set(market, hour)
  }

  remove(entry: MarketHour): void {
    this.#hours.remove(entry.key)
    this.#lastHours[entry.kind].delete(entry.market)
  }

  /** The oldest hour in which any market has rows. */
  oldest(): MarketHour | null {
    const row = this.#hours.first(EVERY_KEY)
    if (row === null) return null
    return {
      hour: readInteger(row.key, 0),
      kind: KINDS[row.key.readUInt8(8)] ?? 'ticks',
      market: row.key.readUInt32BE(9),
      key: row.key,
    }
  }
}
