// Index of the hours in which each market has rows of a kind. Retention finds the oldest rows of all markets without
// reading the rows themselves. Kinds that expire at the same age share one table.

import type { MarketNumber } from '../engine/market/market.ts'
import { EVERY_KEY, type Table } from './lmdb/table.ts'
import { hourKey, readInteger } from './records/keys.ts'

/** Never reorder: the position of a kind is its byte in keys. */
const KINDS = ['trades', 'ticks', 'minuteBars', null, 'snapshots'] as const
type HourKind = NonNullable<(typeof KINDS)[number]>

const PRESENT = Buffer.of(1)
const CACHED_MAX = 40_000

export interface MarketHour {
  readonly hour: number
  readonly kind: HourKind
  readonly market: MarketNumber
  /** Identifies rows of unknown kinds, so that they can be removed. */
  readonly key: Buffer
}

export class Hours {
  readonly #hours: Table
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
