// Index of the hours in which each market has rows of a kind: one small row per hour, kind and market. Retention uses
// it to find the oldest rows of all markets without reading them. Rows that expire at the same age share one table.

import type { MarketNumber } from '../engine/market/market.ts'
import type { Environment } from './lmdb/environment.ts'
import type { Table } from './lmdb/table.ts'
import { hourKey, KEY_END, KEY_START, readInteger } from './records/keys.ts'
import type { TABLES } from './tables.ts'

type HourKind = 'trades' | 'ticks' | 'minuteBars' | 'snapshots'
/** Key byte of each kind. */
const CODES: Readonly<Record<HourKind, number>> = {
  trades: 0,
  ticks: 1,
  minuteBars: 2,
  snapshots: 4,
}
const KINDS = new Map<number, HourKind>([
  [CODES.trades, 'trades'],
  [CODES.ticks, 'ticks'],
  [CODES.minuteBars, 'minuteBars'],
  [CODES.snapshots, 'snapshots'],
])

const PRESENT = Buffer.of(1)
/** Maximum number of markets in the cache; above it the cache is cleared. */
const CACHED_MAX = 40_000

export interface MarketHour {
  readonly hour: number
  readonly kind: HourKind
  readonly market: MarketNumber
  /** The row's key; it allows removal of a row whose kind is unknown. */
  readonly key: Buffer
}

export function kindCode(kind: HourKind): number {
  return CODES[kind]
}

export class Hours {
  readonly #hours: Table
  /** The last hour added for each market, by kind: most puts repeat the hour of the one before. */
  readonly #lastHours: Readonly<Record<HourKind, Map<MarketNumber, number>>> = {
    trades: new Map(),
    ticks: new Map(),
    minuteBars: new Map(),
    snapshots: new Map(),
  }

  constructor(environment: Environment, layout: typeof TABLES.hours | typeof TABLES.snapshotHours) {
    this.#hours = environment.table(layout)
  }

  add(kind: HourKind, market: MarketNumber, hour: number): void {
    const lastHours = this.#lastHours[kind]
    if (lastHours.get(market) === hour) return
    const key = hourKey(hour, kindCode(kind), market)
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
    const row = this.#hours.first({ from: KEY_START, to: KEY_END })
    if (row === null) return null
    return {
      hour: readInteger(row.key, 0),
      kind: KINDS.get(row.key.readUInt8(8)) ?? 'ticks',
      market: row.key.readUInt32BE(9),
      key: row.key,
    }
  }
}
