// Unrecoverable trades, by the run and offset at which the gap was announced. A client that was disconnected then
// receives the announcement when it resumes. A handful a day.

import { VENUE_KEYS } from '../engine/ids.ts'
import { lossesOfRunMax } from '../engine/limits.ts'
import { timeMs } from '../engine/units.ts'
import type { LossTable, TradeLoss } from './contract/storage.ts'
import type { Environment } from './lmdb/environment.ts'
import type { Row, Table } from './lmdb/table.ts'
import { KEY_START, readInteger, tradeKey } from './records/keys.ts'
import type { FieldReader } from './records/records.ts'
import { TABLES } from './tables.ts'

const SCHEMA = 2

export class Losses implements LossTable {
  readonly #losses: Table
  /** Losses put in this process, by run: one entry, since a process is one run. */
  readonly #counts = new Map<number, number>()

  constructor(environment: Environment) {
    this.#losses = environment.table(TABLES.losses)
  }

  put({ run, offset, venue, market, fromMs, toMs, count: lostCount }: TradeLoss): void {
    const count = this.#counts.get(run) ?? 0
    if (count >= lossesOfRunMax) return
    this.#counts.set(run, count + 1)
    const key = tradeKey(run, offset, count)
    const fields = [venue, market, fromMs, toMs, lostCount]
    this.#losses.put(key, this.#losses.encode(key, SCHEMA, fields))
  }

  range({ run, offset }: { run: number; offset: number }): readonly TradeLoss[] {
    const losses: TradeLoss[] = []
    const [from, to] = [tradeKey(run, offset, 0), tradeKey(run + 1, 0, 0)]
    this.#losses.scan({ from, to }, (row) => {
      const loss = this.#read(row)
      if (loss !== null) losses.push(loss)
      return true
    })
    return losses
  }

  /** Removes at most `rowsMax` losses of the runs before `run`; returns their count. */
  prune(run: number, rowsMax: number): number {
    let removed = 0
    while (removed < rowsMax) {
      const row = this.#losses.first({ from: KEY_START, to: tradeKey(run, 0, 0) })
      if (row === null) break
      this.#losses.remove(row.key)
      removed += 1
    }
    return removed
  }

  #read(row: Row): TradeLoss | null {
    const { key } = row
    const read = (fields: FieldReader) => ({
      run: key.readUInt32BE(0),
      offset: readInteger(key, 4),
      venue: fields.choice(VENUE_KEYS),
      market: fields.numberOrNull(),
      fromMs: timeMs(fields.number()),
      toMs: timeMs(fields.number()),
    })
    return this.#losses.decode(row, {
      1: (fields) => ({ ...read(fields), count: null }),
      2: (fields) => ({ ...read(fields), count: fields.numberOrNull() }),
    })
  }
}
