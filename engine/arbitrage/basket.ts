// What buying one contract of each of several outcomes earns, when exactly so many of them must win: the best asks of
// every leg are taken level by level, as long as the next contract earns anything after the fees. Pure integers.
// A pair of venues that ask the same is two legs of which one wins; the outcomes of an exclusive event are n legs of
// which one wins, their other sides n legs of which n − 1 win.
// Not for: which markets are bought together (pairs and events: actors/arbitrage/), nor what is not in a book: the time
// between reading and trading, settlement that differs, capital tied up, withdrawal. Upholds ARB1 to ARB5.

import type { Level } from '../events.ts'
import { exceedsFees, type FeeModel, type Fill, feeOfOrder } from '../market/fees.ts'
import type { BasketStep, BoughtLeg } from '../opportunity.ts'
import {
  complement,
  MICROS,
  PRICE_ONE,
  type PriceMicros,
  type SizeMicros,
  sizeMicros,
  type UsdMicros,
  usdMicros,
} from '../units.ts'

/** Both venues trade in hundredths of a contract. */
export const CONTRACT_STEP = sizeMicros(10_000)

/** One outcome that is bought as a taker. */
export interface Leg {
  /** What it is offered for, cheapest first; read as far as it is bought. */
  readonly asks: Iterable<Level>
  readonly fees: FeeModel
}

export interface Basket {
  /** Of every leg; whole steps of CONTRACT_STEP. */
  readonly contracts: SizeMicros
  readonly legs: readonly BoughtLeg[]
  /** The levels that are taken, from the best. */
  readonly steps: readonly BasketStep[]
  /** What the legs that win pay. */
  readonly payout: UsdMicros
  /** Payout less cost and fees; negative only where a size was asked for. */
  readonly profit: UsdMicros
  /** Of every leg the price at which buying ended: no change of a dearer offer changes what is bought. */
  readonly reach: readonly PriceMicros[]
}

/**
 * Why nothing is bought. `no_depth`: a book offers nothing, or less than was asked for. `fee_unknown`: a venue does not
 * say what it takes. `no_profit`: the first contract earns nothing, or rounding of the fees eats what all of them earn.
 */
export type NoBasket = 'no_depth' | 'fee_unknown' | 'no_profit'

export interface BasketOrder {
  readonly legs: readonly Leg[]
  /** So many of the legs win, whatever happens. */
  readonly winners: number
  /** So many contracts, whether they earn or not; null: as long as the next one earns. */
  readonly contracts: SizeMicros | null
}

/** What an outcome of a market is offered for: its asks, or its bids seen from the other outcome; cheapest first. */
export function asksOf(
  { bids, asks }: { readonly bids: readonly Level[]; readonly asks: readonly Level[] },
  outcome: 'first' | 'second',
): readonly Level[] {
  if (outcome === 'first') return asks
  return bids.map(({ price, size }) => ({ price: complement(price), size }))
}

/**
 * Buys from the best levels. A level's size counts in whole hundredths of a contract. Whether the next contract earns is
 * decided by its exact fees, so that the size does not hang on where rounding falls; the profit is after rounding.
 */
export function buyBasket({ legs, winners, contracts: wanted }: BasketOrder): Basket | NoBasket {
  const curves = legs.map(({ fees }) => fees.taker)
  if (legs.some(({ fees }) => fees.taker === null || fees.rounding === null)) return 'fee_unknown'
  const books = legs.map(({ asks }) => new Taking(asks))
  const payoutOfOne = winners * PRICE_ONE
  const steps: BasketStep[] = []
  let bought = 0
  while (wanted === null || bought < wanted) {
    let contracts = wanted === null ? Number.MAX_SAFE_INTEGER : wanted - bought
    for (const { left } of books) contracts = Math.min(contracts, left)
    const prices = books.map(({ price }) => price)
    if (contracts <= 0) break
    if (wanted === null) {
      const gain = payoutOfOne - prices.reduce((sum, price) => sum + price, 0)
      if (!exceedsFees(gain, curves, prices)) break
    }
    for (const book of books) book.take(contracts)
    steps.push({ contracts: sizeMicros(contracts), prices })
    bought += contracts
  }
  if (bought < (wanted ?? CONTRACT_STEP)) {
    return wanted === null && books.every(({ left }) => left > 0) ? 'no_profit' : 'no_depth'
  }
  const reach = books.map(({ left, price }) => (left > 0 ? price : PRICE_ONE))
  const contracts = sizeMicros(bought)
  return settle(legs, { steps, contracts, reach }, { winners, isWanted: wanted !== null })
}

function settle(
  legs: readonly Leg[],
  taken: Pick<Basket, 'steps' | 'contracts' | 'reach'>,
  { winners, isWanted }: { winners: number; isWanted: boolean },
): Basket | NoBasket {
  const { steps, contracts } = taken
  let profit = winners * contracts
  const bought: BoughtLeg[] = []
  for (const [index, { fees }] of legs.entries()) {
    const fills = fillsOf(steps, index)
    const fee = feeOfOrder(fees, 'taker', fills)
    if (fee === null) return 'fee_unknown'
    const cost = costOf(fills)
    profit -= cost + fee
    bought.push({ cost, fee })
  }
  if (!isWanted && profit <= 0) return 'no_profit'
  const payout = usdMicros(winners * contracts)
  return { ...taken, legs: bought, payout, profit: usdMicros(profit) }
}

/** One leg's fills: neighbouring steps at one price are one. */
function fillsOf(steps: readonly BasketStep[], leg: number): Fill[] {
  const fills: { price: PriceMicros; size: SizeMicros }[] = []
  for (const { contracts, prices } of steps) {
    const price = prices[leg] ?? PRICE_ONE
    const last = fills.at(-1)
    if (last?.price === price) last.size = sizeMicros(last.size + contracts)
    else fills.push({ price, size: contracts })
  }
  return fills
}

/** Rounded up: prices finer than a hundredth of a cent times hundredths of a contract are no whole micro-dollars. */
function costOf(fills: readonly Fill[]): UsdMicros {
  let cost = 0n
  for (const { price, size } of fills) cost += BigInt(price) * BigInt(size)
  const scale = BigInt(MICROS)
  return usdMicros(Number((cost + scale - 1n) / scale))
}

/** One leg's book while it is taken. */
class Taking {
  readonly #asks: Iterator<Level>
  /** At the present level; 0 only behind the last one. */
  left = 0
  price: PriceMicros = PRICE_ONE

  constructor(asks: Iterable<Level>) {
    this.#asks = asks[Symbol.iterator]()
    this.#advance()
  }

  take(contracts: number): void {
    this.left -= contracts
    if (this.left <= 0) this.#advance()
  }

  #advance(): void {
    for (this.left = 0; this.left <= 0; ) {
      const { done, value: level } = this.#asks.next()
      if (done === true) return
      this.price = level.price
      this.left = level.size - (level.size % CONTRACT_STEP)
    }
  }
}
