// A market's prices of one UTC day as its venue reports them, packed like ticks. Days have no age limit: they are
// deleted with their market, or under size pressure in the order of their reading, which a second index stores.

import type { MarketNumber } from '../engine/market/market.ts'
import { HOUR_MS, timeMs } from '../engine/units.ts'
import type { PastDay, PastPriceTable } from './contract/storage.ts'
import type { Environment } from './lmdb/environment.ts'
import type { Removed, Schemas, Table } from './lmdb/table.ts'
import { groupKey, KEY_END, KEY_START, readInteger, readKey } from './records/keys.ts'
import { packSeries, unpackSeries } from './records/price-series.ts'
import { TABLES } from './tables.ts'

const SCHEMA = 1
const PRESENT = Buffer.of(1)

const schemas: Schemas<PastDay> = {
  1: (fields) => {
    const readAtMs = timeMs(fields.number())
    const completeToMs = timeMs(fields.number())
    const { seconds, prices } = unpackSeries(fields.bytes())
    return { readAtMs, completeToMs, seconds, prices }
  },
}

/** A market's day, by the hour in which it was read. */
export interface ReadDay {
  readonly kind: 'pastPrices'
  readonly hour: number
  readonly market: MarketNumber
  readonly day: number
}

export class PastPrices implements PastPriceTable {
  readonly #days: Table
  readonly #reads: Table

  constructor(environment: Environment) {
    this.#days = environment.table(TABLES.pastPrices)
    this.#reads = environment.table(TABLES.pastPriceReads)
  }

  put(market: MarketNumber, day: number, past: PastDay): void {
    const { readAtMs, completeToMs } = past
    const before = this.get(market, day)
    const hour = hourOf(past)
    if (before === null || hourOf(before) !== hour) {
      if (before !== null) this.#reads.remove(readKey(hourOf(before), market, day))
      this.#reads.put(readKey(hour, market, day), PRESENT)
    }
    const key = groupKey(market, day)
    const fields = [readAtMs, completeToMs, packSeries(past)]
    this.#days.put(key, this.#days.encode(key, SCHEMA, fields))
  }

  get(market: MarketNumber, day: number): PastDay | null {
    return this.#days.getRecord(groupKey(market, day), schemas)
  }

  /** The day that was read longest ago, to the hour. */
  oldestRead(): ReadDay | null {
    const row = this.#reads.first({ from: KEY_START, to: KEY_END })
    if (row === null) return null
    const { key } = row
    const [market, day] = [key.readUInt32BE(8), readInteger(key, 12)]
    return { kind: 'pastPrices', hour: readInteger(key, 0), market, day }
  }

  /** Removes a day that `oldestRead` returned. */
  removeRead({ hour, market, day }: ReadDay): Removed {
    this.#reads.remove(readKey(hour, market, day))
    const past = this.get(market, day)
    // A damaged record may have left its index row when a later record replaced it.
    if (past !== null && hourOf(past) !== hour) return { rowCount: 0, byteCount: 0 }
    return this.#days.removeRange({ from: groupKey(market, day), to: groupKey(market, day + 1) }, 1)
  }

  /** Removes all days of a market. */
  removeMarket(market: MarketNumber): void {
    const from = groupKey(market, -Number.MAX_SAFE_INTEGER)
    const range = { from, to: groupKey(market, Number.MAX_SAFE_INTEGER) }
    const reads: Buffer[] = []
    this.#days.scan(range, (row) => {
      const past = this.#days.decode(row, schemas)
      if (past !== null) reads.push(readKey(hourOf(past), market, readInteger(row.key, 4)))
      return true
    })
    for (const key of reads) this.#reads.remove(key)
    this.#days.removeRange(range, Number.POSITIVE_INFINITY)
  }
}

function hourOf({ readAtMs }: PastDay): number {
  return Math.floor(readAtMs / HOUR_MS)
}
