// Encodes the updates that come thousands of times a second as items of the cluster log, without temporary lists.

import type {
  BookUpdate,
  LevelChange,
  PriceUpdate,
  Trade,
  TradeUpdate,
  Update,
} from '../../engine/events.ts'
import type { MsgpackWriter } from '../../engine/msgpack-writer.ts'
import { priceMicros, sizeMicros, timeMs, usdMicros } from '../../engine/units.ts'
import type { FieldReader } from './records.ts'
import { SIDES } from './trade.ts'

const BOOK_SIDES = ['bid', 'ask'] as const

export type FrequentUpdate = BookUpdate | TradeUpdate | PriceUpdate

export const isFrequent = (update: Update): update is FrequentUpdate =>
  update.kind === 'book' || update.kind === 'price' || update.kind === 'trade'

/** Number of stamp fields. */
const HEAD_FIELDS = 6

/** Appends the update as a list that starts with this code of its kind. */
export function writeFrequent(to: MsgpackWriter, code: number, update: FrequentUpdate): void {
  const begin = (fieldCount: number): void => {
    to.array(HEAD_FIELDS + fieldCount)
    to.integer(code)
    to.integer(update.market.number)
    to.integer(update.venueTimeMs)
    to.integer(update.receivedAtMs)
    to.integer(update.offset)
    to.integer(update.seq)
  }
  switch (update.kind) {
    case 'book':
      begin(2)
      to.integerOrNil(update.checksum)
      to.array(update.changes.length * 3)
      for (const { side, price, size } of update.changes) {
        to.integer(side === 'bid' ? 0 : 1)
        to.integer(price)
        to.integer(size)
      }
      return
    case 'price': {
      const { price, source, bid, ask, observedAtMs } = update.price
      begin(5)
      to.integer(price)
      to.text(source)
      to.integerOrNil(bid)
      to.integerOrNil(ask)
      return to.integer(observedAtMs)
    }
    case 'trade': {
      const { trade } = update
      begin(12)
      to.text(trade.nativeId)
      to.integer(trade.timeMs)
      to.integer(trade.ordinal)
      to.integer(trade.price)
      to.integer(trade.size)
      to.text(trade.side)
      to.integer(trade.outcomeIndex)
      to.integer(trade.usd)
      to.textOrNil(trade.maker)
      to.textOrNil(trade.taker)
      to.textOrNil(trade.txHash)
      return to.boolean(trade.isBlock)
    }
  }
}

/** The level changes of a book. Throws a RangeError if they are invalid. */
export function readChanges(numbers: readonly number[]): readonly LevelChange[] {
  const changes: LevelChange[] = []
  for (let index = 0; index < numbers.length; index += 3) {
    const side = BOOK_SIDES[numbers[index] ?? -1]
    if (side === undefined) throw new RangeError('no side of a book')
    const [price, size] = [numbers[index + 1] ?? -1, numbers[index + 2] ?? Number.NaN]
    changes.push({ side, price: priceMicros(price), size: sizeMicros(size) })
  }
  return changes
}

/** Throws if the fields are not a trade. */
export function readTrade(fields: FieldReader): Trade {
  return {
    nativeId: fields.text(),
    timeMs: timeMs(fields.number()),
    ordinal: fields.number(),
    price: priceMicros(fields.number()),
    size: sizeMicros(fields.number()),
    side: fields.choice(SIDES),
    outcomeIndex: fields.number(),
    usd: usdMicros(fields.number()),
    maker: fields.textOrNull(),
    taker: fields.textOrNull(),
    txHash: fields.textOrNull(),
    isBlock: fields.boolean(),
  }
}
