// A market's prices of one UTC day as its venue reports them. Days are deleted with their market, or above the storage
// size limit in the order of their last read from the venue.

import { mapped, record, time } from '../engine/codec.ts'
import type { MarketNumber } from '../engine/market/market.ts'
import { HOUR_MS } from '../engine/units.ts'
import type { PastDay } from './contract/rows.ts'
import type { Environment } from './lmdb/environment.ts'
import { RecordTable } from './lmdb/record-table.ts'
import { EVERY_KEY, type Removed, type Table } from './lmdb/table.ts'
import { groupKey, groupRange, readInteger, readKey } from './records/keys.ts'
import { type PriceSeries, series } from './records/price-series.ts'
import { listed } from './records/records.ts'
import { TABLES } from './tables.ts'

const PRESENT = Buffer.of(1)

type StoredDay = Omit<PastDay, keyof PriceSeries> & { readonly series: PriceSeries }

const dayCodec = listed(
  1,
  mapped<StoredDay, PastDay>(
    record<StoredDay>({ readAtMs: time, completeToMs: time, series }),
    ({ seconds, prices, ...day }) => ({ ...day, series: { seconds, prices } }),
    ({ series: { seconds, prices }, ...day }) => ({ ...day, seconds, prices }),
  ),
)

export interface ReadDay {
  readonly kind: 'pastPrices'
  readonly hour: number
  readonly market: MarketNumber
  readonly day: number
}

export class PastPrices {
  readonly #days: RecordTable<PastDay>
  readonly #reads: Table

  constructor(environment: Environment) {
    this.#days = new RecordTable(environment.table(TABLES.pastPrices), dayCodec)
    this.#reads = environment.table(TABLES.pastPriceReads)
  }

  /** Replaces a day's prices. `day` is floor(timeMs / 86,400,000). */
  put(market: MarketNumber, day: number, past: PastDay): void {
    const before = this.get(market, day)
    const hour = hourOf(past)
    if (before === null || hourOf(before) !== hour) {
      if (before !== null) this.#reads.remove(readKey(hourOf(before), market, day))
      this.#reads.put(readKey(hour, market, day), PRESENT)
    }
    this.#days.put(groupKey(market, day), past)
  }

  get(market: MarketNumber, day: number): PastDay | null {
    return this.#days.get(groupKey(market, day))
  }

  /** The day that was read from the venue the longest time ago, by hours. */
  oldestRead(): ReadDay | null {
    const row = this.#reads.first(EVERY_KEY)
    if (row === null) return null
    const { key } = row
    const [market, day] = [key.readUInt32BE(8), readInteger(key, 12)]
    return { kind: 'pastPrices', hour: readInteger(key, 0), market, day }
  }

  removeRead({ hour, market, day }: ReadDay): Removed {
    this.#reads.remove(readKey(hour, market, day))
    const past = this.get(market, day)
    // The index row may be obsolete: a record that replaces a damaged record cannot remove the old index row.
    if (past !== null && hourOf(past) !== hour) return { rowCount: 0, byteCount: 0 }
    const range = { from: groupKey(market, day), to: groupKey(market, day + 1) }
    return this.#days.rows.removeRange(range, 1)
  }

  removeMarket(market: MarketNumber): void {
    for (const row of [...this.#days.rows.all(groupRange(market))]) {
      const past = this.#days.decode(row)
      const day = readInteger(row.key, 4)
      if (past !== null) this.#reads.remove(readKey(hourOf(past), market, day))
      this.#days.rows.remove(row.key)
    }
  }
}

function hourOf({ readAtMs }: PastDay): number {
  return Math.floor(readAtMs / HOUR_MS)
}
