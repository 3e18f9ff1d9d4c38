// One row per market and hour, with the last price of each second.

import type { MarketNumber } from '../engine/market/market.ts'
import { HOUR_MS, type PriceMicros, type TimeMs, timeMs } from '../engine/units.ts'
import type { HourTicks } from './contract/rows.ts'
import type { Hours } from './hours.ts'
import type { Environment } from './lmdb/environment.ts'
import { RecordTable } from './lmdb/record-table.ts'
import type { Removed } from './lmdb/table.ts'
import { FIRST, groupKey, groupRange, readInteger } from './records/keys.ts'
import { series } from './records/price-series.ts'
import { listed } from './records/records.ts'
import { TABLES } from './tables.ts'

const ticksCodec = listed<HourTicks>(1, series)

export class Ticks {
  readonly #ticks: RecordTable<HourTicks>
  readonly #hours: Hours

  constructor(environment: Environment, hours: Hours) {
    this.#ticks = new RecordTable(environment.table(TABLES.ticks), ticksCodec)
    this.#hours = hours
  }

  /** Replaces the hour's ticks. `hour` is floor(timeMs / 3,600,000). */
  put(market: MarketNumber, hour: number, ticks: HourTicks): void {
    this.#ticks.put(groupKey(market, hour), ticks)
    this.#hours.add('ticks', market, hour)
  }

  get(market: MarketNumber, hour: number): HourTicks | null {
    return this.#ticks.get(groupKey(market, hour))
  }

  /** The newest tick at or before `time`. Null if none is stored. */
  at(market: MarketNumber, time: TimeMs): { price: PriceMicros; timeMs: TimeMs } | null {
    const to = groupKey(market, Math.floor(time / HOUR_MS) + 1)
    let found: { price: PriceMicros; timeMs: TimeMs } | null = null
    this.#ticks.rows.scan({ from: groupKey(market, FIRST), to, isReverse: true }, (row) => {
      const startMs = readInteger(row.key, 4) * HOUR_MS
      found = lastAtOrBefore(this.#ticks.decode(row), startMs, time)
      return found === null
    })
    return found
  }

  /** Null if no tick is stored. */
  oldestHour(market: MarketNumber): number | null {
    const row = this.#ticks.rows.first(groupRange(market))
    return row === null ? null : readInteger(row.key, 4)
  }

  removeHour(market: MarketNumber, hour: number): Removed {
    const range = { from: groupKey(market, hour), to: groupKey(market, hour + 1) }
    return this.#ticks.rows.removeRange(range, 1)
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
