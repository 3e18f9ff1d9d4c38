// Ticks: one row per market and hour, with the last price of each second (two to four bytes a tick).

import type { MarketNumber } from '../engine/market/market.ts'
import { HOUR_MS, type PriceMicros, type TimeMs, timeMs } from '../engine/units.ts'
import type { HourTicks, TickTable } from './contract/storage.ts'
import type { Hours } from './hours.ts'
import type { Environment } from './lmdb/environment.ts'
import type { Removed, Row, Table } from './lmdb/table.ts'
import { groupKey, readInteger } from './records/keys.ts'
import { packSeries, unpackSeries } from './records/price-series.ts'
import { TABLES } from './tables.ts'

const SCHEMA = 1

export class Ticks implements TickTable {
  readonly #ticks: Table
  readonly #hours: Hours

  constructor(environment: Environment, hours: Hours) {
    this.#ticks = environment.table(TABLES.ticks)
    this.#hours = hours
  }

  put(market: MarketNumber, hour: number, ticks: HourTicks): void {
    const key = groupKey(market, hour)
    this.#ticks.put(key, this.#ticks.encode(key, SCHEMA, [packSeries(ticks)]))
    this.#hours.add('ticks', market, hour)
  }

  get(market: MarketNumber, hour: number): HourTicks | null {
    const key = groupKey(market, hour)
    const value = this.#ticks.get(key)
    return value === null ? null : this.#decode({ key, value })
  }

  at(market: MarketNumber, time: TimeMs): { price: PriceMicros; timeMs: TimeMs } | null {
    const last = Math.floor(time / HOUR_MS)
    let found: { price: PriceMicros; timeMs: TimeMs } | null = null
    const range = {
      from: groupKey(market, -Number.MAX_SAFE_INTEGER),
      to: groupKey(market, last + 1),
    }
    this.#ticks.scan({ ...range, isReverse: true }, (row) => {
      const startMs = readInteger(row.key, 4) * HOUR_MS
      found = lastAtOrBefore(this.#decode(row), startMs, time)
      return found === null
    })
    return found
  }

  oldestHour(market: MarketNumber): number | null {
    const from = groupKey(market, -Number.MAX_SAFE_INTEGER)
    const row = this.#ticks.first({ from, to: groupKey(market, Number.MAX_SAFE_INTEGER) })
    return row === null ? null : readInteger(row.key, 4)
  }

  /** Removes one hour. */
  removeHour(market: MarketNumber, hour: number): Removed {
    const [from, to] = [groupKey(market, hour), groupKey(market, hour + 1)]
    return this.#ticks.removeRange({ from, to }, 1)
  }

  #decode(row: Row): HourTicks | null {
    return this.#ticks.decode(row, { 1: (fields) => unpackSeries(fields.bytes()) })
  }
}

function lastAtOrBefore(
  ticks: HourTicks | null,
  startMs: number,
  time: TimeMs,
): { price: PriceMicros; timeMs: TimeMs } | null {
  if (ticks === null) return null
  for (let index = ticks.seconds.length - 1; index >= 0; index -= 1) {
    const tickMs = startMs + (ticks.seconds[index] ?? 0) * 1000
    const price = ticks.prices[index]
    if (tickMs <= time && price !== undefined) return { price, timeMs: timeMs(tickMs) }
  }
  return null
}
