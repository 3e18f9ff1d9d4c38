import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  APPROXIMATION_ERROR_MAX,
  approximateFee,
  CURVE_ZERO,
  exceedsFees,
  FEES_UNKNOWN,
  type FeeCurve,
  type FeeModel,
  type FeeRounding,
  feeCurve,
  feeOf,
  feeOfOrder,
  feesAt,
  isEqualFees,
  MODEL_UNKNOWN,
  sharedFees,
} from '../../../engine/market/fees.ts'
import {
  MICROS,
  microsFromDecimal,
  priceMicros,
  sizeMicros,
  timeMs,
} from '../../../engine/units.ts'

const FIVE: FeeRounding = { fillStepMicros: 10, direction: 'unknown', orderStepMicros: null }
const CENTS: FeeRounding = { fillStepMicros: 100, direction: 'up', orderStepMicros: 10_000 }

const micros = (text: string): number => microsFromDecimal(text) ?? assert.fail(text)
const fill = (price: string, size: string) => ({
  price: priceMicros(micros(price)),
  size: sizeMicros(micros(size)),
})

function curve(rate: string, exponent = 1, multiplier = '1'): FeeCurve {
  const made = feeCurve(micros(rate), exponent, micros(multiplier))
  return made ?? assert.fail(`${rate} ${exponent} ${multiplier} is no curve`)
}

function model(rounding: FeeRounding, taker: FeeCurve, maker: FeeCurve = CURVE_ZERO): FeeModel {
  return { ...MODEL_UNKNOWN, kind: 'quadratic', taker, maker, rounding, source: 'example' }
}

test('computes the fees of the worked examples in both venues’ documentation', () => {
  const table: readonly (readonly [FeeModel, string, string, string])[] = [
    [model(FIVE, curve('0.07')), '0.5', '100', '1.75'],
    [model(FIVE, curve('0.05')), '0.5', '100', '1.25'],
    [model(FIVE, curve('0.04')), '0.5', '100', '1'],
    [model(FIVE, curve('0.03')), '0.5', '100', '0.75'],
    [model(FIVE, curve('0.25', 2)), '0.5', '100', '1.5625'],
    [model(FIVE, curve('0.07')), '0.36', '108', '1.74183'],
    [model(FIVE, curve('0.04')), '0.01', '0.01', '0.00001'],
    [model(FIVE, CURVE_ZERO), '0.36', '108', '0'],
    [model(CENTS, curve('0.07')), '0.37', '100', '1.64'],
    [model(CENTS, curve('0.07', 1, '0.5')), '0.37', '100', '0.82'],
    [model(CENTS, curve('0.07', 1, '0')), '0.37', '100', '0'],
    [model(CENTS, curve('0.035')), '0.37', '100', '0.82'],
    [model(CENTS, curve('0.07')), '0.01', '1', '0.01'],
  ]
  for (const [fees, price, size, expected] of table) {
    const what = `${size} at ${price}`
    assert.equal(feeOf(fees, 'taker', fill(price, size)), micros(expected), what)
  }
  const withMaker = model(CENTS, curve('0.07'), curve('0.0175'))
  assert.equal(feeOf(withMaker, 'maker', fill('0.37', '100')), micros('0.41'))
  assert.equal(feeOf(model(CENTS, curve('0.07')), 'maker', fill('0.37', '100')), 0)
})

test('rounds the sum of an order’s fees, and rounds the cash amount up to a step', () => {
  const fees = model(CENTS, curve('0.07'))
  assert.equal(feeOfOrder(fees, 'taker', [fill('0.37', '1'), fill('0.37', '1')]), micros('0.04'))
  assert.equal(feeOf(fees, 'taker', fill('0.375', '1')), micros('0.0265'))
  assert.equal(feeOf(fees, 'taker', fill('0.375', '2')), micros('0.04'))
  assert.equal(feeOf(fees, 'taker', fill('0.375', '3')), micros('0.0593'))
  assert.equal(feeOf(fees, 'maker', fill('0.375', '1')), micros('0.01'))
  assert.equal(feeOfOrder(fees, 'taker', []), 0)
})

test('computes the same lower and upper fee bounds as a reference implementation with exact fractions', () => {
  const numbers = fc.record({
    price: fc.integer({ min: 0, max: MICROS }),
    size: fc.integer({ min: 0, max: 10 ** 13 }),
    rate: fc.integer({ min: 0, max: 250_000 }),
    exponent: fc.integer({ min: 0, max: 3 }),
    multiplier: fc.integer({ min: 0, max: 2 * MICROS }),
    step: fc.constantFrom(1, 10, 100, 10_000),
    orderStep: fc.constantFrom(null, 100, 10_000),
  })
  fc.assert(
    fc.property(fc.array(numbers, { minLength: 1, maxLength: 4 }), (fills) => {
      const { rate, exponent, multiplier, step, orderStep } = fills[0] ?? assert.fail('no fill')
      const rounding: FeeRounding = {
        fillStepMicros: step,
        direction: 'up',
        orderStepMicros: orderStep,
      }
      const one = feeCurve(rate, exponent, multiplier) ?? assert.fail('no curve')
      const fee = feeOfOrder(
        model(rounding, one),
        'taker',
        fills.map(({ price, size }) => ({ price: priceMicros(price), size: sizeMicros(size) })),
      )
      assert.equal(fee, naiveFee(fills, { rate, exponent, multiplier, step, orderStep }))
    }),
    { numRuns: 2_000, seed: 17 },
  )
})

test('computes the same fee for a price and its complement, and never a smaller fee for a larger fill', () => {
  const fees = model(CENTS, curve('0.07'))
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 100 }),
      fc.integer({ min: 0, max: 10_000 }),
      (cent, n) => {
        const price = priceMicros(cent * 10_000)
        const of = (at: number, contracts: number) =>
          feeOf(fees, 'taker', { price: priceMicros(at), size: sizeMicros(contracts * MICROS) }) ??
          -1
        assert.equal(of(price, n), of(MICROS - price, n))
        assert.ok(of(price, n) <= of(price, n + 1))
      },
    ),
    { seed: 17 },
  )
})

test('decides whether a gain exceeds all fees like a reference implementation with exact fractions', () => {
  const one = 1_000_000n
  const leg = fc.record({
    price: fc.integer({ min: 1, max: 999_999 }),
    rate: fc.integer({ min: 0, max: 1_000_000 }),
    exponent: fc.integer({ min: 0, max: 3 }),
  })
  fc.assert(
    fc.property(fc.array(leg, { minLength: 1, maxLength: 5 }), (legs) => {
      const curves = legs.map(({ rate, exponent }) => feeCurve(rate, exponent) ?? CURVE_ZERO)
      const prices = legs.map(({ price }) => priceMicros(price))
      const exact = curves.reduce((sum, { rateMicros, exponent }, index) => {
        const spread = BigInt(prices[index] ?? 0) * (one - BigInt(prices[index] ?? 0))
        return (
          sum + BigInt(rateMicros) * spread ** BigInt(exponent) * one ** BigInt(7 - 2 * exponent)
        )
      }, 0n)
      const floor = Number(exact / one ** 7n)
      for (const gain of [floor - 1, floor, floor + 1]) {
        const isMore = gain > 0 && BigInt(gain) * one ** 7n > exact
        assert.equal(exceedsFees(gain, curves, prices), isMore, `${gain}`)
      }
      const near = curves.reduce(
        (sum, each, index) => sum + approximateFee(each, prices[index] ?? priceMicros(0)),
        0,
      )
      assert.ok(Math.abs(near - Number(exact) / Number(one ** 7n)) < APPROXIMATION_ERROR_MAX)
    }),
    { numRuns: 500, seed: 19 },
  )
  const half = [priceMicros(micros('0.5'))]
  assert.equal(exceedsFees(17_500, [curve('0.07')], half), false)
  assert.equal(exceedsFees(17_501, [curve('0.07')], half), true)
})

test('returns no fee bound for an unknown fee, and never a bound of zero', () => {
  const one = fill('0.5', '100')
  assert.equal(feeOf(MODEL_UNKNOWN, 'taker', one), null)
  assert.equal(feeOf({ ...MODEL_UNKNOWN, kind: 'flat' }, 'taker', one), null)
  const halfKnown = { ...model(FIVE, curve('0.07')), maker: null }
  assert.equal(feeOf(halfKnown, 'maker', one), null)
  assert.equal(feeOf({ ...halfKnown, rounding: null }, 'taker', one), null)
  assert.throws(() => feeOf(halfKnown, 'taker', { ...one, size: sizeMicros(-1) }), RangeError)
})

test('rejects impossible fee parameters', () => {
  for (const [rate, exponent, multiplier] of [
    [Number.NaN, 1, MICROS],
    [-1, 1, MICROS],
    [0.5, 1, MICROS],
    [70_000, 0.5, MICROS],
    [70_000, 9, MICROS],
    [70_000, 1, -1],
    [1_000 * MICROS, 1, MICROS],
  ] as const) {
    assert.equal(feeCurve(rate, exponent, multiplier), null, `${rate} ${exponent} ${multiplier}`)
  }
})

test('accepts a fee exponent from 0 to 8', () => {
  for (const exponent of [0, 8]) assert.equal(feeCurve(70_000, exponent)?.exponent, exponent)
})

test('applies an announced fee change from its scheduled time on, not before', () => {
  const now = model(CENTS, curve('0.07'))
  const next = { ...model(CENTS, curve('0.07', 1, '0.5')), sinceMs: timeMs(2_000) }
  const fees = { now, next, waivedUntilMs: null }
  assert.equal(feesAt(fees, 1_999), now)
  assert.equal(feesAt(fees, 2_000), next)
  assert.equal(feesAt({ ...fees, next: null }, 2_000), now)
  assert.equal(feesAt(FEES_UNKNOWN, 2_000), MODEL_UNKNOWN)
})

test('returns one shared object for equal fees, and a new object for different fees', () => {
  const make = () => ({ now: model(FIVE, curve('0.07')), next: null, waivedUntilMs: null })
  const first = sharedFees(make())
  assert.equal(sharedFees(make()), first)
  const others = [
    { ...make(), waivedUntilMs: timeMs(1) },
    { ...make(), next: MODEL_UNKNOWN },
    { ...make(), now: { ...make().now, source: 'other' } },
    { ...make(), now: { ...make().now, sinceMs: timeMs(1) } },
    { ...make(), now: { ...make().now, maker: null } },
    { ...make(), now: { ...make().now, taker: curve('0.05') } },
    { ...make(), now: { ...make().now, rounding: CENTS } },
    { ...make(), now: { ...make().now, rebateMicros: 200_000 } },
  ]
  assert.ok(isEqualFees(first, make()))
  for (const other of others) assert.ok(!isEqualFees(first, other), JSON.stringify(other))
})

interface NaiveTerms {
  readonly rate: number
  readonly exponent: number
  readonly multiplier: number
  readonly step: number
  readonly orderStep: number | null
}

type Fraction = readonly [numerator: bigint, denominator: bigint]
const times = ([a, b]: Fraction, [c, d]: Fraction): Fraction => [a * c, b * d]
const millionths = (value: number): Fraction => [BigInt(value), 1_000_000n]

function raised([numerator, denominator]: Fraction, step: number): number {
  const complete = (numerator * 1_000_000n) / (denominator * BigInt(step))
  const isExact = complete * denominator * BigInt(step) === numerator * 1_000_000n
  return Number(isExact ? complete : complete + 1n) * step
}

function naiveFee(
  fills: readonly { readonly price: number; readonly size: number }[],
  { rate, exponent, multiplier, step, orderStep }: NaiveTerms,
): number {
  let sum = 0
  let isComplete = true
  let rest = 0n
  for (const { price, size } of fills) {
    let dollars = times(times(millionths(multiplier), millionths(rate)), millionths(size))
    for (let power = 0; power < exponent; power += 1) {
      dollars = times(dollars, times(millionths(price), millionths(1_000_000 - price)))
    }
    sum += raised(dollars, step)
    if (orderStep !== null) {
      rest = (rest + BigInt(price) * BigInt(size)) % (BigInt(orderStep) * 1_000_000n)
      isComplete = rest === 0n
    }
  }
  if (orderStep === null) return sum
  return isComplete ? raised([BigInt(sum), 1_000_000n], orderStep) : sum + orderStep
}
