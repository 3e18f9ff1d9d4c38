import { flat, orNull, price, record, size, text, time } from '../engine/codec.ts'
import type { Level } from '../engine/events.ts'
import type { MarketNumber } from '../engine/market/market.ts'
import type { Checkpoint } from './contract/rows.ts'
import type { Environment } from './lmdb/environment.ts'
import { RecordTable } from './lmdb/record-table.ts'
import { numberKey } from './records/keys.ts'
import { listed } from './records/records.ts'
import { TABLES } from './tables.ts'

const levels = flat(record<Level>({ price, size }))

const checkpointCodec = listed(
  1,
  record<Checkpoint>({
    writtenAtMs: time,
    price: orNull(price),
    priceSource: text,
    lastTradePrice: orNull(price),
    lastTradeMs: orNull(time),
    bookTimeMs: orNull(time),
    bids: levels,
    asks: levels,
  }),
)

export class Checkpoints {
  readonly #checkpoints: RecordTable<Checkpoint>

  constructor(environment: Environment) {
    this.#checkpoints = new RecordTable(environment.table(TABLES.checkpoints), checkpointCodec)
  }

  put(market: MarketNumber, checkpoint: Checkpoint): void {
    this.#checkpoints.put(numberKey(market), checkpoint)
  }

  get(market: MarketNumber): Checkpoint | null {
    return this.#checkpoints.get(numberKey(market))
  }
}
