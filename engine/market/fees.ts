// Trading fees: the fee models that the venue states, and an upper bound of an order's fee in whole micro-dollars. A
// fee that the venue does not state is unknown, never zero.

import {
  MICROS,
  PRICE_HALF,
  PRICE_ONE,
  type PriceMicros,
  type SizeMicros,
  type TimeMs,
  type UsdMicros,
  usdMicros,
} from '../units.ts'

export type FeeRole = 'taker' | 'maker'

/**
 * Kind of a fee.
 * - `quadratic`: computed from a curve.
 * - `flat`: the venue states a fee without a formula.
 * - `none`: the venue states that there is no fee.
 * - `unknown`: the venue states nothing, or nothing that can be parsed.
 */
export type FeeKind = 'quadratic' | 'flat' | 'none' | 'unknown'
export const FEE_KINDS: readonly FeeKind[] = ['quadratic', 'flat', 'none', 'unknown']

/** Fee in dollars per contract at price p, before rounding: multiplier × rate × (p × (1 − p))^exponent. */
export interface FeeCurve {
  /** Millionths of a dollar: 70,000 is 0.07. 0: no fee. */
  readonly rateMicros: number
  /** An integer from 0 to EXPONENT_MAX. */
  readonly exponent: number
  /** Millionths: 500,000 halves the rate. */
  readonly multiplierMicros: number
}

export interface FeeRounding {
  /** Micro-dollars: each fill's fee is a multiple of this step. */
  readonly fillStepMicros: number
  /** The venue's rounding direction for a fill. The bound is rounded up in either case. */
  readonly direction: 'up' | 'unknown'
  /**
   * Micro-dollars: the cash of an order is rounded to multiples of this step, to the trader's disadvantage. Null: no
   * rounding.
   */
  readonly orderStepMicros: number | null
}

export interface FeeModel {
  readonly kind: FeeKind
  /** Null: unknown. */
  readonly taker: FeeCurve | null
  /** Null: unknown. */
  readonly maker: FeeCurve | null
  readonly rounding: FeeRounding | null
  /**
   * Share of the taker fees that a separate programme of the venue returns to makers, in millionths. Not part of a
   * bound.
   */
  readonly rebateMicros: number | null
  /** Field of the venue that the model was parsed from. Null: none. */
  readonly source: string | null
  /** Time from which the model applies. Null: the venue does not state it. */
  readonly sinceMs: TimeMs | null
}

export interface MarketFees {
  readonly now: FeeModel
  readonly next: FeeModel | null
  /** The venue waives some fees until this time. Bounds ignore the waiver, because the venue does not state which fees. */
  readonly waivedUntilMs: TimeMs | null
}

/** One fill of an order. `price` is the price of the traded outcome. Either outcome's price gives the same fee. */
export interface Fill {
  readonly price: PriceMicros
  readonly size: SizeMicros
}

/** No venue has an exponent above 2. Above 8 every fee of a contract is below a hundredth of a micro-dollar. */
export const EXPONENT_MAX = 8
export const MODEL_UNKNOWN: FeeModel = {
  kind: 'unknown',
  taker: null,
  maker: null,
  rounding: null,
  rebateMicros: null,
  source: null,
  sinceMs: null,
}
export const FEES_UNKNOWN: MarketFees = { now: MODEL_UNKNOWN, next: null, waivedUntilMs: null }
export const CURVE_ZERO: FeeCurve = { rateMicros: 0, exponent: 1, multiplierMicros: MICROS }
const SQUARE = BigInt(MICROS) * BigInt(MICROS)

/**
 * Null if a number is not an integer, negative or above EXPONENT_MAX. Null if the fee exceeds a dollar per contract,
 * because the rate is then in the wrong unit.
 */
export function feeCurve(
  rateMicros: number,
  exponent: number,
  multiplierMicros: number = MICROS,
): FeeCurve | null {
  const areIntegers = [rateMicros, exponent, multiplierMicros].every(
    (one) => Number.isSafeInteger(one) && one >= 0,
  )
  if (!areIntegers || exponent > EXPONENT_MAX) return null
  const curve = { rateMicros, exponent, multiplierMicros }
  const dearest = dollarsOf(curve, { priceMicros: PRICE_HALF, sizeMicros: MICROS })
  return dearest.numerator > dearest.denominator ? null : curve
}

export function feesAt({ now, next }: MarketFees, atMs: number): FeeModel {
  return next !== null && next.sinceMs !== null && next.sinceMs <= atMs ? next : now
}

export function feeOf(model: FeeModel, role: FeeRole, fill: Fill): UsdMicros | null {
  return feeOfOrder(model, role, [fill])
}

/**
 * Upper bound in micro-dollars of the fee of an order with these fills. Null if the model does not state the fee.
 * - Each fill's fee is rounded up to the fill's step.
 * - If the venue rounds an order's cash to steps, the sum is rounded up to a step, or one step is added to the sum
 *   if the cash of the fills is not in whole steps.
 * - A fill is assumed to be with one other order. Each further order may add one fill's step.
 * - Waivers, rebates and fees of intermediaries are not included.
 *
 * Throws RangeError for a negative size, or a fee beyond the safe integers. Sources: README.md (Fees) of
 * engine/venues/polymarket and engine/venues/kalshi.
 */
export function feeOfOrder(
  model: FeeModel,
  role: FeeRole,
  fills: Iterable<Fill>,
): UsdMicros | null {
  const curve = model[role]
  const { rounding } = model
  if (curve === null || rounding === null) return null
  let fee = 0n
  let cash = 0n
  for (const { price, size } of fills) {
    if (size < 0) throw new RangeError(`a fill of ${size} micro-contracts`)
    fee += feeOfFill(curve, rounding, { price, size })
    cash += BigInt(price) * BigInt(size)
  }
  const { orderStepMicros } = rounding
  if (orderStepMicros === null) return usdMicros(Number(fee))
  const step = BigInt(orderStepMicros)
  const isOnStep = cash % (step * BigInt(MICROS)) === 0n
  return usdMicros(Number(isOnStep ? ceilTo(fee, step) : fee + step))
}

/**
 * Approximate fee of a contract in micro-dollars before rounding, within APPROXIMATION_ERROR_MAX. Fast enough for every
 * change of a book.
 */
export function approximateFee(
  { rateMicros, exponent, multiplierMicros }: FeeCurve,
  price: PriceMicros,
): number {
  const spread = (price / PRICE_ONE) * (1 - price / PRICE_ONE)
  return (multiplierMicros / MICROS) * rateMicros * spread ** exponent
}

/** Bound in micro-dollars on the difference between `approximateFee` over all legs of a basket and the exact fees. */
export const APPROXIMATION_ERROR_MAX = 0.001

/**
 * Whether `gainMicros` (micro-dollars per contract) exceeds the exact, unrounded fees of one contract of each leg.
 * False if a curve is unknown.
 */
export function exceedsFees(
  gainMicros: number,
  curves: readonly (FeeCurve | null)[],
  prices: readonly PriceMicros[],
): boolean {
  if (gainMicros <= 0) return false
  let left = gainMicros
  for (const [index, curve] of curves.entries()) {
    const priceMicros = prices[index]
    if (curve === null || priceMicros === undefined) return false
    left -= approximateFee(curve, priceMicros)
  }
  if (Math.abs(left) > APPROXIMATION_ERROR_MAX) return left > 0
  let [numerator, denominator] = [0n, 1n]
  for (const [index, curve] of curves.entries()) {
    const priceMicros = prices[index]
    if (curve === null || priceMicros === undefined) return false
    const fee = dollarsOf(curve, { priceMicros, sizeMicros: MICROS })
    numerator = numerator * fee.denominator + fee.numerator * denominator
    denominator *= fee.denominator
  }
  return BigInt(gainMicros) * denominator > numerator * BigInt(MICROS)
}

function feeOfFill(curve: FeeCurve, rounding: FeeRounding, { price, size }: Fill): bigint {
  const { numerator, denominator } = dollarsOf(curve, { priceMicros: price, sizeMicros: size })
  const step = BigInt(rounding.fillStepMicros)
  return divideUp(numerator * BigInt(MICROS), denominator * step) * step
}

function dollarsOf(
  { rateMicros, exponent, multiplierMicros }: FeeCurve,
  { priceMicros, sizeMicros }: { readonly priceMicros: number; readonly sizeMicros: number },
): { readonly numerator: bigint; readonly denominator: bigint } {
  const power = BigInt(exponent)
  const spread = BigInt(priceMicros) * BigInt(PRICE_ONE - priceMicros)
  const factor = BigInt(multiplierMicros) * BigInt(rateMicros)
  return {
    numerator: factor * BigInt(sizeMicros) * spread ** power,
    denominator: SQUARE * BigInt(MICROS) * SQUARE ** power,
  }
}

function ceilTo(value: bigint, step: bigint): bigint {
  return divideUp(value, step) * step
}

function divideUp(numerator: bigint, denominator: bigint): bigint {
  return (numerator + denominator - 1n) / denominator
}

export function isEqualFees(one: MarketFees, other: MarketFees): boolean {
  return one === other || feesKey(one) === feesKey(other)
}

const SHARED_MAX = 10_000
const shared = new Map<string, MarketFees>()

/** Returns one shared object for equal fees, to save memory. */
export function sharedFees(fees: MarketFees): MarketFees {
  const key = feesKey(fees)
  const existing = shared.get(key)
  if (existing !== undefined) return existing
  if (shared.size >= SHARED_MAX) shared.clear()
  shared.set(key, fees)
  return fees
}

function feesKey({ now, next, waivedUntilMs }: MarketFees): string {
  return `${modelKey(now)};${next === null ? '' : modelKey(next)};${waivedUntilMs}`
}

function modelKey(model: FeeModel): string {
  const { kind, taker, maker, rounding, rebateMicros, source, sinceMs } = model
  const round =
    rounding === null
      ? ''
      : `${rounding.fillStepMicros} ${rounding.direction} ${rounding.orderStepMicros}`
  return [kind, curveKey(taker), curveKey(maker), round, rebateMicros, source, sinceMs].join()
}

function curveKey(curve: FeeCurve | null): string {
  if (curve === null) return ''
  return `${curve.rateMicros} ${curve.exponent} ${curve.multiplierMicros}`
}
