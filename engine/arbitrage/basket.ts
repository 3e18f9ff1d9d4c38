// What buying one contract of each of several outcomes earns, when exactly so many of them must win: the best asks of
// every leg are taken level by level, as long as the next contract earns anything after the fees; of the amounts that
// every venue accepts the one that earns most is bought. Pure integers.
// A pair of venues that ask the same is two legs of which one wins; the outcomes of an exclusive event are n legs of
// which one wins, their other sides n legs of which n − 1 win.

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

/** What an opportunity earns at least: one cent. */
export const PROFIT_MIN = usdMicros(10_000)

/** One outcome that is bought as a taker. */
export interface Leg {
  /** What it is offered for, cheapest first; read as far as it is bought. */
  readonly asks: Iterable<Level>
  readonly fees: FeeModel
  readonly order: OrderRule
}

export interface Basket {
  /** Of every leg; whole steps of CONTRACT_STEP. */
  readonly contracts: SizeMicros
  /** The least that every venue accepts at these offers. */
  readonly minContracts: SizeMicros
  readonly legs: readonly BoughtLeg[]
  /** The levels that are taken, from the best. */
  readonly steps: readonly BasketStep[]
  /** What the legs that win pay. */
  readonly payout: UsdMicros
  /** Payout less cost and fees; negative only where a size was asked for. */
  readonly profit: UsdMicros
  /** Of every leg the price at which buying ended: no change of a dearer offer changes what is bought. */
  readonly worstPrices: readonly PriceMicros[]
}

/**
 * Why nothing is bought. `no_depth`: a book offers nothing, or less than was asked for. `fee_unknown`: a venue does not
 * say what it takes. `no_profit`: the first contract earns nothing, or all of them earn less than PROFIT_MIN after
 * rounding. `below_minimum`: a venue accepts no order of the amount that was asked for, or of one that earns PROFIT_MIN.
 */
export type NoBasket = 'no_depth' | 'fee_unknown' | 'no_profit' | 'below_minimum'

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
 * Buys from the best levels. A level's size counts in whole hundredths. Whether the next contract earns is decided by its
 * exact fees, so that the size does not depend on where rounding falls; the profit is after rounding.
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
  // Beyond `earning` each contract loses: only the amounts next to it can earn most.
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

/** The least amount that every venue accepts at these offers; it may be more than they are. */
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

/** The steps up to so many contracts. */
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

/** The books of a basket while their offers are taken, the same amount of each. */
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

  /** Whether a book offers nothing more. */
  get isExhausted(): boolean {
    return this.#books.some(({ left }) => left <= 0)
  }

  downToStep(size: number): SizeMicros {
    return downToStep(size, this.#rules)
  }

  upToStep(size: number): SizeMicros {
    return upToStep(size, this.#rules)
  }

  /** Up to so many contracts in all, as far as the books go. */
  take(total: number): void {
    while (this.bought < total && this.#takeStep(total - this.bought));
  }

  /** As long as the next contract earns after its exact fees. */
  takeWhileEarning(payoutOfOne: number): void {
    const curves = this.#legs.map(({ fees }) => fees.taker)
    for (;;) {
      const prices = this.#books.map(({ price }) => price)
      const gain = payoutOfOne - prices.reduce((sum, price) => sum + price, 0)
      if (this.isExhausted || !exceedsFees(gain, curves, prices)) return
      this.#takeStep(Number.MAX_SAFE_INTEGER)
    }
  }

  /** The least amount that every leg's rule accepts, taking further offers where those taken cost too little. */
  minimum(): SizeMicros {
    const least = Math.max(...this.#rules.map(({ sizeMin }) => sizeMin))
    const costing = this.#legs.map((_, index) => this.#leastCosting(index))
    return this.upToStep(Math.max(least, ...costing))
  }

  /** How many contracts of a leg cost what its venue asks for at least; more than are offered, if these cost less. */
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

  /** Of every leg the price at which taking ended. */
  worstPrices(): readonly PriceMicros[] {
    return this.#books.map(({ left, price }) => (left > 0 ? price : PRICE_ONE))
  }

  /** At most so many contracts at the present prices; false: a book offers nothing more. */
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

/** One leg's book while it is taken. */
class BookCursor {
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
