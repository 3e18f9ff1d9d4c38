// Prices by second, packed as pairs of varints: seconds since the previous price, and signed price difference. Used for
// ticks (an hour) and past prices (a day).

import { bytes, single } from '../../engine/codec.ts'
import { assert } from '../../engine/errors.ts'
import { type PriceMicros, priceMicros } from '../../engine/units.ts'
import { VarintReader, writeSigned, writeVarint } from '../../engine/varints.ts'

/** Three bytes for the seconds within a day, four for the price difference. */
const PAIR_BYTES_MAX = 7

/** The seconds ascend. Both lists have equal length. */
export interface PriceSeries {
  readonly seconds: readonly number[]
  readonly prices: readonly PriceMicros[]
}

/** Throws unless the seconds are ascending and within 0..86399. */
function packSeries({ seconds, prices }: PriceSeries): Buffer {
  const packed = Buffer.allocUnsafe(seconds.length * PAIR_BYTES_MAX)
  let position = 0
  let second = 0
  let price = 0
  for (let index = 0; index < seconds.length; index += 1) {
    const nextSecond = seconds[index] ?? 0
    const nextPrice = prices[index]
    assert(nextPrice !== undefined, 'each second has its price')
    assert(index === 0 ? nextSecond >= 0 : nextSecond > second, 'seconds ascend')
    assert(nextSecond < 86_400, 'seconds lie within a day')
    position = writeVarint(packed, position, nextSecond - second)
    position = writeSigned(packed, position, nextPrice - price)
    second = nextSecond
    price = nextPrice
  }
  return packed.subarray(0, position)
}

/** Throws RangeError if the bytes are invalid. */
function unpackSeries(packed: Uint8Array): PriceSeries {
  const seconds: number[] = []
  const prices: PriceMicros[] = []
  const reader = new VarintReader(packed)
  let second = 0
  let price = 0
  while (!reader.isAtEnd) {
    second += reader.next()
    price += reader.nextSigned()
    seconds.push(second)
    prices.push(priceMicros(price))
  }
  return { seconds, prices }
}

export const series = single<PriceSeries>(
  (value, context) => unpackSeries(bytes.decode(value, context)),
  packSeries,
)
