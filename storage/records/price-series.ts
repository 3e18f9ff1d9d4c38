// Prices by the second, packed: pairs of varints, the seconds since the price before and the price's
// signed difference; two to four bytes a price. For ticks (an hour) and past prices (a day).

import { assert } from '../../engine/errors.ts'
import { type PriceMicros, priceMicros } from '../../engine/units.ts'
import { VarintReader, writeSigned, writeVarint } from './varints.ts'

/** A pair never takes more: three bytes of a day's seconds, four of a price's difference. */
const PAIR_BYTES_MAX = 7

/** Prices at ascending seconds, as many of the one as of the other. */
interface PriceSeries {
  readonly seconds: readonly number[]
  readonly prices: readonly PriceMicros[]
}

/** Seconds are 0..86399 and ascend; anything else is our bug and throws. */
export function packSeries({ seconds, prices }: PriceSeries): Buffer {
  const bytes = Buffer.allocUnsafe(seconds.length * PAIR_BYTES_MAX)
  let position = 0
  let second = 0
  let price = 0
  for (let index = 0; index < seconds.length; index += 1) {
    const nextSecond = seconds[index] ?? 0
    const nextPrice = prices[index]
    assert(nextPrice !== undefined, 'each second has its price')
    assert(index === 0 ? nextSecond >= 0 : nextSecond > second, 'seconds ascend')
    assert(nextSecond < 86_400, 'seconds lie within a day')
    position = writeVarint(bytes, position, nextSecond - second)
    position = writeSigned(bytes, position, nextPrice - price)
    second = nextSecond
    price = nextPrice
  }
  return bytes.subarray(0, position)
}

/** Throws RangeError when the bytes are no series. */
export function unpackSeries(bytes: Uint8Array): PriceSeries {
  const seconds: number[] = []
  const prices: PriceMicros[] = []
  const reader = new VarintReader(bytes)
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
