// Computes the profit from buying one contract of each of several outcomes of which a fixed number wins. A matched pair
// has two legs and one winner. An exclusive event has n outcomes and one winner, or their n opposites and n − 1
// winners.

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
import { CONTRACT_STEP, downToStep, type OrderRule, upToStep } from './order-rule.ts'

/** Minimum profit of an opportunity: one cent. */
export const PROFIT_MIN = usdMicros(10_000)

export interface Leg {
  /** Cheapest first. The iterator is read only as far as needed. */
  readonly asks: Iterable<Level>
  readonly fees: FeeModel
  readonly order: OrderRule
}

export interface Basket {
  /** Contracts of every leg, a multiple of CONTRACT_STEP. */
  readonly contracts: SizeMicros
  /** The smallest size that every venue accepts at these offers. */
  readonly minContracts: SizeMicros
  readonly legs: readonly BoughtLeg[]
  /** Best first. */
  readonly steps: readonly BasketStep[]
  readonly payout: UsdMicros
  /** Payout minus cost and fees. Negative only if a size was requested. */
  readonly profit: UsdMicros
  /** For each leg, the price at which buying ended. A change of a more expensive offer does not affect the basket. */
  readonly worstPrices: readonly PriceMicros[]
}

/**
 * Why nothing is bought.
 * - `no_depth`: a book has no offers, or fewer than requested.
 * - `fee_unknown`: a venue does not state its fee.
 * - `no_profit`: the first contract earns nothing, or all contracts earn less than PROFIT_MIN after rounding.
 * - `below_minimum`: a venue accepts no order of the requested size, or of a size that earns PROFIT_MIN.
 */
export type NoBasket = 'no_depth' | 'fee_unknown' | 'no_profit' | 'below_minimum'

export interface BasketOrder {
  readonly legs: readonly Leg[]
  readonly winners: number
  /** The requested size, profitable or not. Null: buy as long as the next contract is profitable. */
  readonly contracts: SizeMicros | null
}

/** Cheapest first. For the second outcome, these are the complements of the market's bids. */
export function asksOf(
  { bids, asks }: { readonly bids: readonly Level[]; readonly asks: readonly Level[] },
  outcome: 'first' | 'second',
): readonly Level[] {
  if (outcome === 'first') return asks
  return bids.map(({ price, size }) => ({ price: complement(price), size }))
}

/**
 * Buys from the best levels. Sizes are rounded down to hundredths of a contract. Exact fees decide whether the next
 * contract is profitable, so rounding does not affect the size. The returned profit is after rounding.
 */
export function buyBasket({ legs, winners, contracts: wanted }: BasketOrder): Basket | NoBasket {
  if (legs.some(({ fees }) => fees.taker === null || fees.rounding === null)) return 'fee_unknown'
  const walk = new Walk(legs)
  if (wanted !== null) {
    walk.take(wanted)
    if (walk.bought < wanted) return 'no_depth'
    const minContracts = walk.minimum()
    const isAccepted = wanted >= minContracts && wanted === walk.downToStep(wanted)
    return isAccepted ? settle(legs, walk, wanted, { winners, minContracts }) : 'below_minimum'
  }
  walk.takeWhileEarning(winners * PRICE_ONE)
  const earning = walk.bought
  if (earning < CONTRACT_STEP) return walk.isExhausted ? 'no_depth' : 'no_profit'
  const minContracts = walk.minimum()
  // Contracts up to `earning` are profitable and further contracts are not. The best accepted size is therefore next to
  // `earning`.
  const amounts = [walk.downToStep(earning), Math.max(walk.upToStep(earning), minContracts)]
  let best: Basket | null = null
  for (const amount of new Set(amounts)) {
    if (amount < minContracts) continue
    walk.take(amount)
    if (walk.bought < amount) continue
    const basket = settle(legs, walk, sizeMicros(amount), { winners, minContracts })
    if (typeof basket === 'string') return basket
    if (best === null || basket.profit > best.profit) best = basket
  }
  if (best !== null && best.profit >= PROFIT_MIN) return best
  return earning < minContracts ? 'below_minimum' : 'no_profit'
}

/** The smallest size that every venue accepts at these offers. It may exceed the offered size. */
export function minimumOf(legs: readonly Leg[]): SizeMicros {
  return new Walk(legs).minimum()
}

function settle(
  legs: readonly Leg[],
  walk: Walk,
  contracts: SizeMicros,
  { winners, minContracts }: { readonly winners: number; readonly minContracts: SizeMicros },
): Basket | 'fee_unknown' {
  const steps = firstOf(walk.steps, contracts)
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
  return {
    ...{ contracts, minContracts, legs: bought, steps, worstPrices: walk.worstPrices() },
    payout: usdMicros(winners * contracts),
    profit: usdMicros(profit),
  }
}

function firstOf(steps: readonly BasketStep[], contracts: SizeMicros): readonly BasketStep[] {
  const first: BasketStep[] = []
  let left: number = contracts
  for (const step of steps) {
    if (left <= 0) break
    first.push(step.contracts <= left ? step : { ...step, contracts: sizeMicros(left) })
    left -= step.contracts
  }
  return first
}

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

/** Rounds up to whole micro-dollars. */
function costOf(fills: readonly Fill[]): UsdMicros {
  let cost = 0n
  for (const { price, size } of fills) cost += BigInt(price) * BigInt(size)
  const scale = BigInt(MICROS)
  return usdMicros(Number((cost + scale - 1n) / scale))
}

class Walk {
  readonly #legs: readonly Leg[]
  readonly #rules: readonly OrderRule[]
  readonly #books: readonly BookCursor[]
  readonly steps: BasketStep[] = []
  bought = 0

  constructor(legs: readonly Leg[]) {
    this.#legs = legs
    this.#rules = legs.map(({ order }) => order)
    this.#books = legs.map(({ asks }) => new BookCursor(asks))
  }

  get isExhausted(): boolean {
    return this.#books.some(({ left }) => left <= 0)
  }

  downToStep(size: number): SizeMicros {
    return downToStep(size, this.#rules)
  }

  upToStep(size: number): SizeMicros {
    return upToStep(size, this.#rules)
  }

  take(total: number): void {
    while (this.bought < total && this.#takeStep(total - this.bought));
  }

  takeWhileEarning(payoutOfOne: number): void {
    const curves = this.#legs.map(({ fees }) => fees.taker)
    for (;;) {
      const prices = this.#books.map(({ price }) => price)
      const gain = payoutOfOne - prices.reduce((sum, price) => sum + price, 0)
      if (this.isExhausted || !exceedsFees(gain, curves, prices)) return
      this.#takeStep(Number.MAX_SAFE_INTEGER)
    }
  }

  /**
   * The smallest size that every leg's rule accepts. Takes further offers if the taken offers cost less than a rule's
   * minimum.
   */
  minimum(): SizeMicros {
    const least = Math.max(...this.#rules.map(({ sizeMin }) => sizeMin))
    const costing = this.#legs.map((_, index) => this.#leastCosting(index))
    return this.upToStep(Math.max(least, ...costing))
  }

  /**
   * Contracts of a leg that reach its venue's minimum cost. May exceed the offered size if all offers together cost
   * less.
   */
  #leastCosting(leg: number): number {
    const costMin = (this.#rules[leg]?.costMin ?? 0) * MICROS
    let [cost, contracts] = [0, 0]
    let price: number = PRICE_ONE
    for (let index = 0; cost < costMin; index += 1) {
      const isOffered = index < this.steps.length || this.#takeStep(Number.MAX_SAFE_INTEGER)
      const step = isOffered ? this.steps[index] : undefined
      price = step?.prices[leg] ?? Math.max(price, 1)
      const wanted = Math.min(step?.contracts ?? Infinity, Math.ceil((costMin - cost) / price))
      cost += wanted * price
      contracts += wanted
    }
    return contracts
  }

  worstPrices(): readonly PriceMicros[] {
    return this.#books.map(({ left, price }) => (left > 0 ? price : PRICE_ONE))
  }

  #takeStep(contractsMax: number): boolean {
    if (this.isExhausted) return false
    const contracts = Math.min(contractsMax, ...this.#books.map(({ left }) => left))
    const prices = this.#books.map(({ price }) => price)
    for (const book of this.#books) book.take(contracts)
    this.steps.push({ contracts: sizeMicros(contracts), prices })
    this.bought += contracts
    return true
  }
}

class BookCursor {
  readonly #asks: Iterator<Level>
  /** Contracts left at the current level. 0 only after the last level. */
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
