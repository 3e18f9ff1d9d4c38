import type { VenueKey } from '../ids.ts'
import type { MarketListing } from '../market/market.ts'
import { MICROS, type SizeMicros, sizeMicros, type UsdMicros, usdMicros } from '../units.ts'

/** The finest size that a venue trades: a hundredth of a contract. */
export const CONTRACT_STEP = sizeMicros(10_000)
const CONTRACT = sizeMicros(MICROS)

/** An order has at least `sizeMin` contracts, a multiple of `step`, and costs at least `costMin`. */
export interface OrderRule {
  readonly sizeMin: SizeMicros
  readonly step: SizeMicros
  /** Before fees. */
  readonly costMin: UsdMicros
}

export const ANY_ORDER: OrderRule = {
  sizeMin: CONTRACT_STEP,
  step: CONTRACT_STEP,
  costMin: usdMicros(0),
}

/** Polymarket's usual `orderMinSize`, and its minimum market order of one dollar. */
const POLYMARKET_ORDER: OrderRule = {
  sizeMin: sizeMicros(5 * MICROS),
  step: CONTRACT_STEP,
  costMin: usdMicros(MICROS),
}

const USUAL: Readonly<Partial<Record<VenueKey, OrderRule>>> = { a: POLYMARKET_ORDER }

/** Kalshi's minimum is one step. The step is a whole contract if the market does not trade fractions. */
export function orderRuleOf({
  venue,
  orderSizeMin: sizeMin,
}: Pick<MarketListing, 'venue' | 'orderSizeMin'>): OrderRule {
  const usual = USUAL[venue] ?? ANY_ORDER
  if (sizeMin === null) return usual
  const isWholeOnly = usual === ANY_ORDER && sizeMin % CONTRACT === 0
  return { ...usual, sizeMin, step: isWholeOnly ? CONTRACT : CONTRACT_STEP }
}

/** The smallest size that is at least `size` and a multiple of every rule's step. */
export function upToStep(size: number, rules: readonly OrderRule[]): SizeMicros {
  const step = stepOf(rules)
  return sizeMicros(Math.ceil(size / step) * step)
}

/** The largest size that is at most `size` and a multiple of every rule's step. */
export function downToStep(size: number, rules: readonly OrderRule[]): SizeMicros {
  return sizeMicros(size - (size % stepOf(rules)))
}

/** The largest step is a multiple of all smaller steps. */
const stepOf = (rules: readonly OrderRule[]): number =>
  rules.reduce((largest, { step }) => Math.max(largest, step), 0)
