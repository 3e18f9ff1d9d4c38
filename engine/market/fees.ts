// What trading a market costs: the fee model of each side of a trade, as its venue states it, and an upper bound of the
// fee of an order in whole micro-dollars. What a venue does not say stays unknown and is never taken for zero.

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
 * `quadratic`: by a curve. `flat`: the venue names a fee without a stated formula. `none`: the venue says that it
 * takes none. `unknown`: the venue says nothing, or nothing that can be read.
 */
export type FeeKind = 'quadratic' | 'flat' | 'none' | 'unknown'
export const FEE_KINDS: readonly FeeKind[] = ['quadratic', 'flat', 'none', 'unknown']

/** Dollars a contract at price p, before rounding: multiplier × rate × (p × (1 − p))^exponent. */
export interface FeeCurve {
  /** Millionths of a dollar: 70,000 is 0.07. 0: this side pays nothing. */
  readonly rateMicros: number
  /** A whole number from 0 to EXPONENT_MAX. */
  readonly exponent: number
  /** Millionths: 500,000 halves the rate. */
  readonly multiplierMicros: number
}

export interface FeeRounding {
  /** Micro-dollars: each fill's fee is a multiple of this. */
  readonly fillStepMicros: number
  /** Which way the venue rounds a fill; the bound is rounded up in either case. */
  readonly direction: 'up' | 'unknown'
  /** Micro-dollars: an order's cash moves in multiples of this, against the trader; null: no such rule. */
  readonly orderStepMicros: number | null
}

/** The fee model that holds from one moment on. */
export interface FeeModel {
  readonly kind: FeeKind
  /** Null: unknown. */
  readonly taker: FeeCurve | null
  /** Null: unknown. */
  readonly maker: FeeCurve | null
  /** Null: unknown. */
  readonly rounding: FeeRounding | null
  /** Millionths of the takers' fees that the venue gives back to makers by a programme of its own; no part of a bound. */
  readonly rebateMicros: number | null
  /** Which statement of the venue says it; null: none does. */
  readonly source: string | null
  /** Since when it holds; null: the venue does not say. */
  readonly sinceMs: TimeMs | null
}

/** What is known of a market's fees: the model of now, and the one that the venue has announced. */
export interface MarketFees {
  readonly now: FeeModel
  /** The next announced change; its `sinceMs` is when it takes effect. */
  readonly next: FeeModel | null
  /** The venue waives fees until then; bounds ignore that, since the venue does not say which fees it waives. */
  readonly waivedUntilMs: TimeMs | null
}

/** One fill of an order: `price` is that of the outcome traded, either outcome's gives the same fee. */
export interface Fill {
  readonly price: PriceMicros
  readonly size: SizeMicros
}

/** No venue has an exponent above 2; beyond 8 every fee of a contract is below a hundredth of a micro. */
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
/** Of a side that pays nothing. */
export const CURVE_ZERO: FeeCurve = { rateMicros: 0, exponent: 1, multiplierMicros: MICROS }
/** A price's square, and with it every power of p(1 − p), is in parts of this. */
const SQUARE = BigInt(MICROS) * BigInt(MICROS)

/**
 * A curve, or null when a number cannot be one: not a whole number, negative, an exponent above EXPONENT_MAX, or a fee
 * above a dollar a contract, which is another quantity read by mistake (basis points, cents).
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

/** The model that holds at a moment, announced changes included. */
export function feesAt({ now, next }: MarketFees, atMs: number): FeeModel {
  return next !== null && next.sinceMs !== null && next.sinceMs <= atMs ? next : now
}

/** feeOfOrder of one fill. */
export function feeOf(model: FeeModel, role: FeeRole, fill: Fill): UsdMicros | null {
  return feeOfOrder(model, role, [fill])
}

/**
 * At most so many micro-dollars of fee does an order pay for these fills, each one trade with one other order; null when
 * the model does not say. Each fill's fee is rounded up to the fill's step. Where an order's cash moves in steps, the sum
 * is rounded up to one when the cash of the fills is whole steps, and otherwise the bound is the sum and one step.
 * Where the venue splits a fill among several orders, each further one may cost one fill's step more; waivers, rebates
 * and what an intermediary adds are not in it. Throws RangeError for a negative size, or a fee beyond the safe integers.
 * Sources: polymarket/README.md and kalshi/README.md of engine/venues, Fees.
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

/** Micro-dollars that a contract costs in fees before rounding, within NEAR_ERROR: cheap, for every change of a book. */
export function approximateFee(
  { rateMicros, exponent, multiplierMicros }: FeeCurve,
  price: PriceMicros,
): number {
  const spread = (price / PRICE_ONE) * (1 - price / PRICE_ONE)
  return (multiplierMicros / MICROS) * rateMicros * spread ** exponent
}

/**
 * Micro-dollars by which `feeNear` of all legs of a basket differs from the exact fees at most: a dollar's 64-bit floats
 * are a million times as fine.
 */
export const APPROXIMATION_ERROR_MAX = 0.001

/**
 * Whether a gain (micro-dollars a contract) is more than the exact, unrounded fees of one contract of each leg at its
 * price. False where a curve is unknown.
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

/** The exact dollars of the curve, as a fraction. */
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

/** Whether two statements of fees say the same. */
export function isEqualFees(one: MarketFees, other: MarketFees): boolean {
  return one === other || feesKey(one) === feesKey(other)
}

/** Equal fees stay one object while so many different ones are in use. */
const SHARED_MAX = 10_000
const shared = new Map<string, MarketFees>()

/** The same fees as one object for the many markets that share them: a hundred thousand copies are 30 MB. */
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
