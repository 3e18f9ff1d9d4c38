// The orders that a venue accepts in a market.

import type { VenueKey } from '../ids.ts'
import type { MarketListing } from '../market/market.ts'
import { MICROS, type SizeMicros, sizeMicros, type UsdMicros, usdMicros } from '../units.ts'

/** A hundredth of a contract: the finest amount that a venue trades. */
export const CONTRACT_STEP = sizeMicros(10_000)
const CONTRACT = sizeMicros(MICROS)

/** An order has at least `sizeMin` contracts, a whole number of `step`s, and costs at least `costMin`. */
export interface OrderRule {
  readonly sizeMin: SizeMicros
  readonly step: SizeMicros
  /** Before fees. */
  readonly costMin: UsdMicros
}

/** Any hundredth of a contract. */
export const ANY_ORDER: OrderRule = {
  sizeMin: CONTRACT_STEP,
  step: CONTRACT_STEP,
  costMin: usdMicros(0),
}

/** Polymarket's usual `orderMinSize`, and its least market order: one dollar. */
const POLYMARKET_ORDER: OrderRule = {
  sizeMin: sizeMicros(5 * MICROS),
  step: CONTRACT_STEP,
  costMin: usdMicros(MICROS),
}

/** Where the market states no minimum. */
const USUAL: Readonly<Partial<Record<VenueKey, OrderRule>>> = { a: POLYMARKET_ORDER }

/** The rule of a market. Kalshi's minimum is one step: a whole contract where the market trades no fractions. */
export function orderRuleOf({
  venue,
  orderSizeMin: sizeMin,
}: Pick<MarketListing, 'venue' | 'orderSizeMin'>): OrderRule {
  const usual = USUAL[venue] ?? ANY_ORDER
  if (sizeMin === null) return usual
  const isWholeOnly = usual === ANY_ORDER && sizeMin % CONTRACT === 0
  return { ...usual, sizeMin, step: isWholeOnly ? CONTRACT : CONTRACT_STEP }
}

/** The least amount that is at least `size` and a whole number of every rule's steps. */
export function upToStep(size: number, rules: readonly OrderRule[]): SizeMicros {
  const step = stepOf(rules)
  return sizeMicros(Math.ceil(size / step) * step)
}

/** The largest amount that is at most `size` and a whole number of every rule's steps. */
export function downToStep(size: number, rules: readonly OrderRule[]): SizeMicros {
  return sizeMicros(size - (size % stepOf(rules)))
}

/** Each step is a multiple of each smaller one. */
const stepOf = (rules: readonly OrderRule[]): number =>
  rules.reduce((largest, { step }) => Math.max(largest, step), 0)
