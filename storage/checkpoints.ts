// Checkpoints: the state from which a market actor is restored, one compact record a market.

import type { Level } from '../engine/events.ts'
import type { MarketNumber } from '../engine/market/market.ts'
import { priceMicros, sizeMicros, timeMs } from '../engine/units.ts'
import type { Checkpoint, CheckpointTable } from './contract/storage.ts'
import type { Environment } from './lmdb/environment.ts'
import type { Schemas, Table } from './lmdb/table.ts'
import { numberKey } from './records/keys.ts'
import { TABLES } from './tables.ts'

const SCHEMA = 1

const schemas: Schemas<Checkpoint> = {
  1: (fields) => ({
    writtenAtMs: timeMs(fields.number()),
    price: fields.orNull(priceMicros),
    priceSource: fields.text(),
    lastTradePrice: fields.orNull(priceMicros),
    lastTradeMs: fields.orNull(timeMs),
    bookTimeMs: fields.orNull(timeMs),
    bids: levels(fields.numbers()),
    asks: levels(fields.numbers()),
  }),
}

export class Checkpoints implements CheckpointTable {
  readonly #checkpoints: Table

  constructor(environment: Environment) {
    this.#checkpoints = environment.table(TABLES.checkpoints)
  }

  put(market: MarketNumber, checkpoint: Checkpoint): void {
    const key = numberKey(market)
    const fields = [
      checkpoint.writtenAtMs,
      checkpoint.price,
      checkpoint.priceSource,
      checkpoint.lastTradePrice,
      checkpoint.lastTradeMs,
      checkpoint.bookTimeMs,
      flatten(checkpoint.bids),
      flatten(checkpoint.asks),
    ]
    this.#checkpoints.put(key, this.#checkpoints.encode(key, SCHEMA, fields))
  }

  get(market: MarketNumber): Checkpoint | null {
    return this.#checkpoints.getRecord(numberKey(market), schemas)
  }
}

/** price, size, price, size, …: takes a third of the bytes of a list of objects. */
function flatten(levels: readonly Level[]): readonly number[] {
  const numbers: number[] = []
  for (const level of levels) numbers.push(level.price, level.size)
  return numbers
}

function levels(numbers: readonly number[]): readonly Level[] {
  if (numbers.length % 2 !== 0) throw new RangeError('a level is a price and a size')
  const list: Level[] = []
  for (let index = 0; index < numbers.length; index += 2) {
    const price = priceMicros(numbers[index] ?? Number.NaN)
    list.push({ price, size: sizeMicros(numbers[index + 1] ?? Number.NaN) })
  }
  return list
}
