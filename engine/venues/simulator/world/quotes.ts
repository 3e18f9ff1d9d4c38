// Prices and sizes of makers' quotes around a fair price. The functions depend only on their arguments.

import type { BookSide } from '../../../events.ts'
import type { Random } from '../../../random.ts'
import {
  MICROS,
  type PriceMicros,
  priceMicros,
  type SizeMicros,
  sizeMicros,
} from '../../../units.ts'
import type { LiveBook } from './sim-book.ts'

const DEPTH_MIN = 5
const DEPTH_MAX = 40
const HUNDREDTH = 10_000
const LEVEL_CONTRACTS_MAX = 60_000

/** 1 to 4 ticks. Busy markets have narrow spreads. */
export function spreadTicks(traitHash: number, activity: number): number {
  return 1 + ((traitHash >>> 16) % (activity > 2 ? 2 : 4))
}

/** Target number of levels per side, 5 to 40. Busy markets are deep. */
export function bookDepth(traitHash: number, activity: number): number {
  const range = (DEPTH_MAX - DEPTH_MIN) * Math.min(1, 0.4 + activity / 4)
  return DEPTH_MIN + Math.floor((((traitHash >>> 8) % 256) / 256) * range)
}

/** The makers' best bid in micros. 0: they do not bid. */
export function wantedBid(fair: PriceMicros, tick: PriceMicros, spread: number): number {
  return Math.max(Math.round(fair / tick - spread / 2), 0) * tick
}

/** The makers' best ask in micros. A dollar or more: they do not ask. */
export function wantedAsk(fair: PriceMicros, tick: PriceMicros, spread: number): number {
  return wantedBid(fair, tick, spread) + spread * tick
}

export function isQuotable(price: number): boolean {
  return price > 0 && price < MICROS
}

/**
 * Size of one level, from a heavy-tailed distribution. Most sizes are integers. The others have two decimals. Sizes
 * increase with the distance from the best level.
 */
export function levelSize(random: Random, depth: number): SizeMicros {
  const contracts = 10 * (1 - random.next()) ** -0.85 * (1 + 0.12 * Math.min(depth, 20))
  return contractsToMicros(
    random,
    Math.min(contracts * (1 + 4 * random.next()), LEVEL_CONTRACTS_MAX),
  )
}

/** Size of an ordinary order, with two decimals, from a heavy-tailed distribution. */
export function orderSize(random: Random): SizeMicros {
  return contractsToMicros(random, Math.min(2 * (1 - random.next()) ** -1.05, 4_000))
}

/** An integer number of contracts worth about `usd` dollars at a price, at most a level's maximum. */
export function sizeWorth(usd: number, price: PriceMicros): SizeMicros {
  return sizeMicros(Math.max(Math.ceil((usd * MICROS) / price), 1) * MICROS)
}

export function seedBook(options: {
  book: LiveBook
  fair: PriceMicros
  tick: PriceMicros
  spread: number
  depth: number
  random: Random
}): void {
  const { book, fair, tick, spread, random } = options
  const isTail = fair < 50_000 || fair > MICROS - 50_000
  const depth = isTail ? Math.max(Math.ceil(options.depth / 2), DEPTH_MIN) : options.depth
  const fill = (side: BookSide, best: number, step: number): void => {
    let price = best
    for (let level = 0; level < depth && isQuotable(price); level += 1) {
      book.set(side, priceMicros(price), levelSize(random, level))
      const gap = random.next() < 0.25 ? 2 + random.below(2) : 1
      price += step * gap
    }
  }
  fill('bid', wantedBid(fair, tick, spread), -tick)
  fill('ask', wantedAsk(fair, tick, spread), tick)
}

function contractsToMicros(random: Random, contracts: number): SizeMicros {
  const isInteger = random.next() < 0.6
  const count = isInteger ? Math.ceil(contracts) * 100 : Math.max(Math.round(contracts * 100), 1)
  return sizeMicros(count * HUNDREDTH)
}
