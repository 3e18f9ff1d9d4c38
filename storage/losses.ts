// Unrecoverable trades by run and offset. A client that was disconnected when the gap was sent receives the gap when it
// resumes.

import { number, orNull, record, since, stated, time } from '../engine/codec.ts'
import { lossesOfRunMax } from '../engine/limits.ts'
import type { TradeLoss } from './contract/rows.ts'
import type { Environment } from './lmdb/environment.ts'
import { RecordTable } from './lmdb/record-table.ts'
import { EVERY_KEY } from './lmdb/table.ts'
import { readInteger, tradeKey } from './records/keys.ts'
import { venue } from './records/listings.ts'
import { listed } from './records/records.ts'
import { TABLES } from './tables.ts'

const lossCodec = listed(
  2,
  record<TradeLoss>({
    run: stated(({ key }) => key.readUInt32BE(0)),
    offset: stated(({ key }) => readInteger(key, 4)),
    venue,
    market: orNull(number),
    fromMs: time,
    toMs: time,
    count: since(2, orNull(number), null),
  }),
)

export class Losses {
  readonly #losses: RecordTable<TradeLoss>
  readonly #counts = new Map<number, number>()

  constructor(environment: Environment) {
    this.#losses = new RecordTable(environment.table(TABLES.losses), lossCodec)
  }

  /** Stores a loss until its run is removed. Ignores losses after the first 10,000 of a run. */
  put(loss: TradeLoss): void {
    const { run, offset } = loss
    const count = this.#counts.get(run) ?? 0
    if (count >= lossesOfRunMax) return
    this.#counts.set(run, count + 1)
    this.#losses.put(tradeKey(run, offset, count), loss)
  }

  /** Losses of a run at or after an offset, in order of offset. */
  range({ run, offset }: { run: number; offset: number }): readonly TradeLoss[] {
    const range = { from: tradeKey(run, offset, 0), to: tradeKey(run + 1, 0, 0) }
    return this.#losses.range(range, Number.POSITIVE_INFINITY)
  }

  /** Removes at most `rowsMax` losses of runs before `run`. Returns their number. */
  prune(run: number, rowsMax: number): number {
    const range = { from: EVERY_KEY.from, to: tradeKey(run, 0, 0) }
    return this.#losses.rows.removeRange(range, rowsMax).rowCount
  }
}
