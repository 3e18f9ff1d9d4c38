// Which markets have trades or ticks in which hour: one small row an hour, kind and market, so that
// retention finds the oldest rows of all markets in order without reading them.

import type { MarketNumber } from '../engine/market.ts'
import type { Environment } from './environment.ts'
import { hourKey, KEY_END, KEY_START, readInteger } from './keys.ts'
import type { Table } from './table.ts'
import { TABLES } from './tables.ts'

/** Kinds by the byte that stands for them in a key. */
const KINDS = ['trades', 'ticks'] as const
export type HourKind = (typeof KINDS)[number]

const PRESENT = Buffer.of(1)
/** Markets whose last hour is remembered; above it the memory starts afresh. */
const KNOWN_MAX = 40_000

export interface MarketHour {
  readonly hour: number
  readonly kind: HourKind
  readonly market: MarketNumber
}

export class Hours {
  readonly #hours: Table
  /**
   * The last hour added for a market, by kind: most puts are for the same hour as the one before.
   */
  readonly #known: Readonly<Record<HourKind, Map<MarketNumber, number>>> = {
    trades: new Map(),
    ticks: new Map(),
  }

  constructor(environment: Environment) {
    this.#hours = environment.table(TABLES.hours)
  }

  add(kind: HourKind, market: MarketNumber, hour: number): void {
    const known = this.#known[kind]
    if (known.get(market) === hour) return
    const key = hourKey(hour, KINDS.indexOf(kind), market)
    if (!this.#hours.has(key)) this.#hours.put(key, PRESENT)
    if (known.size >= KNOWN_MAX) known.clear()
    known.set(market, hour)
  }

  remove(entry: MarketHour): void {
    this.#hours.remove(hourKey(entry.hour, KINDS.indexOf(entry.kind), entry.market))
    this.#known[entry.kind].delete(entry.market)
  }

  /** The oldest hour that any market has rows of. */
  oldest(): MarketHour | null {
    const row = this.#hours.first({ from: KEY_START, to: KEY_END })
    if (row === null) return null
    return {
      hour: readInteger(row.key, 0),
      kind: KINDS[row.key.readUInt8(8)] ?? 'trades',
      market: row.key.readUInt32BE(9),
    }
  }
}
