import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  asksOf,
  type Basket,
  buyBasket,
  type Leg,
  minimumOf,
} from '../../../engine/arbitrage/basket.ts'
import {
  ANY_ORDER,
  CONTRACT_STEP,
  type OrderRule,
  orderRuleOf,
} from '../../../engine/arbitrage/order-rule.ts'
import type { Level } from '../../../engine/events.ts'
import {
  type FeeCurve,
  type FeeModel,
  feeCurve,
  MODEL_UNKNOWN,
} from '../../../engine/market/fees.ts'
import { type Random, seededRandom } from '../../../engine/random.ts'
import {
  MICROS,
  microsFromDecimal,
  type PriceMicros,
  priceMicros,
  sizeMicros,
  usdMicros,
} from '../../../engine/units.ts'

const ROUNDS = process.env.TEST_LONG === '1' ? 100_000 : 600

const micros = (text: string): number => microsFromDecimal(text) ?? assert.fail(text)
const level = (price: string, size: string): Level => ({
  price: priceMicros(micros(price)),
  size: sizeMicros(micros(size)),
})

interface Rule {
  readonly rate: number
  readonly exponent: number
  readonly fillStep: number
  readonly orderStep: number | null
}

function modelOf({ rate, exponent, fillStep, orderStep }: Rule): FeeModel {
  const taker: FeeCurve = feeCurve(rate, exponent) ?? assert.fail('no curve')
  const rounding = {
    fillStepMicros: fillStep,
    direction: 'up',
    orderStepMicros: orderStep,
  } as const
  return { ...MODEL_UNKNOWN, kind: 'quadratic', taker, rounding, source: 'example' }
}

const KALSHI: Rule = { rate: 70_000, exponent: 1, fillStep: 100, orderStep: 10_000 }
const POLYMARKET: Rule = { rate: 40_000, exponent: 1, fillStep: 10, orderStep: null }
const FREE: Rule = { rate: 0, exponent: 1, fillStep: 10, orderStep: null }
const RULES: readonly Rule[] = [
  KALSHI,
  { ...KALSHI, rate: 35_000 },
  POLYMARKET,
  { ...POLYMARKET, rate: 250_000, exponent: 2 },
  FREE,
]

interface ReferenceLeg {
  readonly asks: readonly Level[]
  readonly rule: Rule
  readonly order: OrderRule
}

interface Bought {
  readonly hundredths: number
  readonly costs: readonly bigint[]
  readonly fees: readonly bigint[]
  readonly profit: bigint
}

function referenceBasket(legs: readonly ReferenceLeg[], winners: number): Bought | null {
  const rows = legs.map(({ asks }) =>
    asks.flatMap(({ price, size }) =>
      Array.from({ length: Math.floor(size / 10_000) }, () => BigInt(price)),
    ),
  )
  const one = 1_000_000n
  let hundredths = 0
  for (;;) {
    let [numerator, denominator] = [one * BigInt(winners), 1n]
    let isOffered = true
    for (const [leg, row] of rows.entries()) {
      const price = row[hundredths]
      const rule = legs[leg]?.rule
      if (price === undefined || rule === undefined) {
        isOffered = false
        break
      }
      const power = BigInt(rule.exponent)
      const scale = one ** (1n + 2n * power)
      const fee = BigInt(rule.rate) * (price * (one - price)) ** power * one
      numerator = (numerator - price * denominator) * scale - fee * denominator
      denominator *= scale
    }
    if (!isOffered || numerator <= 0n) break
    hundredths += 1
  }
  if (hundredths === 0) return null
  const deepest = Math.min(...rows.map(({ length }) => length))
  const accepted = Array.from({ length: deepest }, (_, index) => index + 1).filter((count) =>
    legs.every(({ order }, leg) => {
      const paid = (rows[leg] ?? []).slice(0, count).reduce((sum, price) => sum + price, 0n)
      const micros = count * 10_000
      return (
        micros >= order.sizeMin && micros % order.step === 0 && paid >= BigInt(order.costMin) * 100n
      )
    }),
  )
  const below = accepted.filter((count) => count <= hundredths).at(-1)
  const above = accepted.find((count) => count >= hundredths)
  const [lower, higher] = [below, above].map((count) =>
    count === undefined ? null : ofCount(legs, rows, { count, winners }),
  )
  const best = (lower?.profit ?? -1n) >= (higher?.profit ?? -1n) ? lower : higher
  return best !== null && best !== undefined && best.profit >= 10_000n ? best : null
}

function ofCount(
  legs: readonly ReferenceLeg[],
  rows: readonly (readonly bigint[])[],
  { count, winners }: { readonly count: number; readonly winners: number },
): Bought {
  const costs = rows.map((row) =>
    up(
      row.slice(0, count).reduce((sum, price) => sum + price, 0n),
      100n,
    ),
  )
  const fees = rows.map((row, leg) =>
    feeOf(row.slice(0, count), legs[leg]?.rule ?? assert.fail('no rule')),
  )
  const payout = BigInt(winners) * BigInt(count) * 10_000n
  const profit = [...costs, ...fees].reduce((rest, amount) => rest - amount, payout)
  return { hundredths: count, costs, fees, profit }
}

const usd = (text: string) => usdMicros(micros(text))
const ORDERS: readonly OrderRule[] = [
  ANY_ORDER,
  { sizeMin: sizeMicros(500_000), step: CONTRACT_STEP, costMin: usd('0') },
  { sizeMin: sizeMicros(1_000_000), step: sizeMicros(1_000_000), costMin: usd('0') },
  { sizeMin: CONTRACT_STEP, step: CONTRACT_STEP, costMin: usd('0.3') },
]

function feeOf(prices: readonly bigint[], rule: Rule): bigint {
  const amounts = new Map<bigint, bigint>()
  for (const price of prices) amounts.set(price, (amounts.get(price) ?? 0n) + 1n)
  const one = 1_000_000n
  let [fee, cash] = [0n, 0n]
  for (const [price, amount] of amounts) {
    const power = BigInt(rule.exponent)
    const above = BigInt(rule.rate) * (price * (one - price)) ** power * amount
    const below = 100n * one ** (2n * power)
    const step = BigInt(rule.fillStep)
    fee += up(above, below * step) * step
    cash += price * amount
  }
  if (rule.orderStep === null) return fee
  const step = BigInt(rule.orderStep)
  return cash % (step * 100n) === 0n ? up(fee, step) * step : fee + step
}

function up(numerator: bigint, denominator: bigint): bigint {
  return (numerator + denominator - 1n) / denominator
}

function randomAsks(random: Random, from: number): Level[] {
  const tick = random.next() < 0.5 ? 10_000 : 1_000
  const asks: Level[] = []
  let price = from - (from % tick) + tick * random.below(4)
  const count = random.below(5)
  for (let number = 0; number < count && price < MICROS; number += 1) {
    const size = random.next() < 0.3 ? 10_000 : 1
    const amount = random.below(1_500_000)
    asks.push({ price: priceMicros(price), size: sizeMicros(amount - (amount % size) + 1) })
    price += tick * (1 + random.below(3))
  }
  return asks
}

test('computes the same basket as a reference implementation that buys each hundredth of a contract separately', (t) => {
  const random = seededRandom(19)
  let found = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    const count = random.next() < 0.8 ? 2 : 3
    const winners = count === 3 && random.next() < 0.5 ? 2 : 1
    const each = (winners * MICROS) / count - 30_000
    const legs: ReferenceLeg[] = Array.from({ length: count }, () => ({
      asks: randomAsks(random, Math.floor(each) - 40_000 + random.below(60_000)),
      rule: random.pick(RULES),
      order: random.pick(ORDERS),
    }))
    const ours = buyBasket({
      legs: legs.map(({ asks, rule, order }) => ({ asks, fees: modelOf(rule), order })),
      winners,
      contracts: null,
    })
    const theirs = referenceBasket(legs, winners)
    if (typeof ours === 'string') {
      assert.equal(theirs, null, `round ${round}: ${ours}`)
      continue
    }
    found += 1
    assert.notEqual(theirs, null, `round ${round}: the reference buys nothing`)
    assert.deepEqual(inBigInt(ours), theirs, `round ${round}`)
    assertWithin(ours, legs)
  }
  t.diagnostic(`${found} of ${ROUNDS} baskets earn`)
  assert.ok(found > ROUNDS / 10)
})

function inBigInt({ contracts, legs, profit }: Basket): Bought {
  assert.equal(contracts % CONTRACT_STEP, 0)
  return {
    hundredths: contracts / CONTRACT_STEP,
    costs: legs.map(({ cost }) => BigInt(cost)),
    fees: legs.map(({ fee }) => BigInt(fee)),
    profit: BigInt(profit),
  }
}

function assertWithin({ steps }: Basket, legs: readonly ReferenceLeg[]): void {
  for (const [index, { asks }] of legs.entries()) {
    const taken = new Map<PriceMicros, number>()
    for (const { contracts, prices } of steps) {
      const price = prices[index] ?? assert.fail('a step without a price')
      taken.set(price, (taken.get(price) ?? 0) + contracts)
    }
    for (const [price, amount] of taken) {
      const shown = asks.find((ask) => ask.price === price)?.size ?? 0
      assert.ok(amount <= shown, `${amount} of ${shown} at ${price}`)
    }
  }
}

const leg = (rule: Rule, ...asks: readonly Level[]): Leg => ({
  asks,
  fees: modelOf(rule),
  order: ANY_ORDER,
})

test('computes a worked example correctly: 100 contracts at 0.37 and at 0.55, with the fees of both venues', () => {
  const basket = buyBasket({
    legs: [leg(KALSHI, level('0.37', '100')), leg(POLYMARKET, level('0.55', '250'))],
    winners: 1,
    contracts: null,
  })
  assert.ok(typeof basket !== 'string')
  assert.equal(basket.contracts, micros('100'))
  assert.deepEqual(basket.legs, [
    { cost: micros('37'), fee: micros('1.64') },
    { cost: micros('55'), fee: micros('0.99') },
  ])
  assert.equal(basket.payout, micros('100'))
  assert.equal(basket.profit, micros('5.37'))
})

test('rounds the cost of a basket up when price times size is not a whole number of micro-dollars', () => {
  const basket = buyBasket({
    legs: [leg(FREE, level('0.415537', '1.01')), leg(FREE, level('0.5', '1.01'))],
    winners: 1,
    contracts: null,
  })
  assert.ok(typeof basket !== 'string')
  assert.deepEqual(
    basket.legs.map(({ cost }) => cost),
    [419_693, 505_000],
  )
  assert.equal(basket.profit, 1_010_000 - 419_693 - 505_000)
})

test('sets the worst price to 1 when the basket buys all asks, otherwise to the best remaining ask', () => {
  const basket = buyBasket({
    legs: [leg(FREE, level('0.4', '10')), leg(FREE, level('0.5', '15'))],
    winners: 1,
    contracts: null,
  })
  assert.ok(typeof basket !== 'string')
  assert.deepEqual(basket.worstPrices, [1_000_000, 500_000])
})

test('buys nothing without book depth, known fees or profit, and returns the reason', () => {
  const cheap = leg(FREE, level('0.4', '10'))
  const buy = (...legs: readonly Leg[]) => buyBasket({ legs, winners: 1, contracts: null })
  assert.equal(buy(cheap, leg(FREE)), 'no_depth')
  assert.equal(buy(cheap, leg(FREE, level('0.5', '0.009'))), 'no_depth')
  for (const part of ['taker', 'rounding'] as const) {
    const fees = { ...modelOf(FREE), [part]: null }
    assert.equal(buy(cheap, { ...cheap, fees }), 'fee_unknown', part)
  }
  assert.equal(buy(cheap, leg(FREE, level('0.6', '10'))), 'no_profit')
  assert.equal(buy(leg(KALSHI, level('0.4', '10')), leg(FREE, level('0.59', '10'))), 'no_profit')
  const crumb = leg(KALSHI, level('0.4', '0.01'))
  assert.equal(buy(crumb, leg(FREE, level('0.4', '10'))), 'no_profit')
})

test('buys a requested basket size completely, even at a loss, or buys nothing', () => {
  const legs = [leg(FREE, level('0.4', '10'), level('0.7', '10')), leg(FREE, level('0.5', '15'))]
  const buy = (contracts: string) =>
    buyBasket({ legs, winners: 1, contracts: sizeMicros(micros(contracts)) })
  const all = buy('15')
  assert.ok(typeof all !== 'string')
  assert.equal(all.profit, micros('0'))
  assert.deepEqual(
    all.steps.map(({ contracts }) => contracts),
    [micros('10'), micros('5')],
  )
  assert.equal(buy('15.01'), 'no_depth')
})

test('computes the asks of the second outcome from the bids of the first outcome', () => {
  const book = { bids: [level('0.4', '10'), level('0.39', '5')], asks: [level('0.42', '7')] }
  assert.deepEqual(asksOf(book, 'first'), [level('0.42', '7')])
  assert.deepEqual(asksOf(book, 'second'), [level('0.6', '10'), level('0.61', '5')])
})

const POLYMARKET_MIN = orderRuleOf({ venue: 'a', orderSizeMin: sizeMicros(5_000_000) })
const KALSHI_MIN = orderRuleOf({ venue: 'b', orderSizeMin: CONTRACT_STEP })
const KALSHI_WHOLE = orderRuleOf({ venue: 'b', orderSizeMin: sizeMicros(1_000_000) })

function amount(
  legs: readonly (readonly [OrderRule, ...(readonly Level[])])[],
  contracts: string | null = null,
) {
  const basket = buyBasket({
    legs: legs.map(([order, ...asks]) => ({ ...leg(FREE, ...asks), order })),
    winners: 1,
    contracts: contracts === null ? null : sizeMicros(micros(contracts)),
  })
  return typeof basket === 'string'
    ? basket
    : [basket.contracts / MICROS, basket.minContracts / MICROS]
}

test('buys nothing when the basket is below the minimum order size of a venue', () => {
  const kalshi = [KALSHI_MIN, level('0.5', '100')] as const
  const thin = [POLYMARKET_MIN, level('0.4', '4.99')] as const
  assert.equal(amount([thin, kalshi]), 'below_minimum')
  assert.equal(amount([thin, kalshi], '4'), 'below_minimum')
  assert.equal(amount([[POLYMARKET_MIN, level('0.4', '9')], kalshi], '0.01'), 'below_minimum')
  assert.deepEqual(amount([[POLYMARKET_MIN, level('0.4', '9')], kalshi]), [9, 5])
  assert.deepEqual(amount([[POLYMARKET_MIN, level('0.4', '9')], kalshi], '5'), [5, 5])
})

test('buys unprofitable contracts to reach the minimum order size if the complete basket is profitable', () => {
  const kalshi = [KALSHI_MIN, level('0.5', '100')] as const
  const offers = [level('0.4', '3'), level('0.51', '100')] as const
  assert.deepEqual(amount([[POLYMARKET_MIN, ...offers], kalshi]), [5, 5])
  const dear = [level('0.4', '3'), level('0.66', '100')] as const
  assert.equal(amount([[POLYMARKET_MIN, ...dear], kalshi]), 'below_minimum')
})

test('applies a venue’s minimum order of one dollar at the prices of the asks', () => {
  const kalshi = [KALSHI_MIN, level('0.9', '100')] as const
  assert.deepEqual(amount([[POLYMARKET_MIN, level('0.03', '100')], kalshi]), [100, 33.34])
  const mixed = [level('0.03', '20'), level('0.05', '80')] as const
  assert.deepEqual(amount([[POLYMARKET_MIN, ...mixed], kalshi]), [100, 28])
  assert.equal(amount([[POLYMARKET_MIN, level('0.03', '33.33')], kalshi]), 'below_minimum')
  const thin = { ...leg(FREE, level('0.03', '10')), order: POLYMARKET_MIN }
  assert.equal(minimumOf([thin]), micros('33.34'))
  assert.equal(minimumOf([{ ...leg(FREE), order: POLYMARKET_MIN }]), micros('5'))
})

test('buys a whole number of contracts in a market that does not allow fractional sizes', () => {
  const other = [ANY_ORDER, level('0.5', '7.9')] as const
  assert.deepEqual(amount([[KALSHI_WHOLE, level('0.4', '100')], other]), [7, 1])
  assert.equal(amount([[KALSHI_WHOLE, level('0.4', '100')], other], '2.5'), 'below_minimum')
  const next = [ANY_ORDER, level('0.5', '7.9'), level('0.61', '1')] as const
  assert.deepEqual(amount([[KALSHI_WHOLE, level('0.4', '100')], next]), [8, 1])
})

test('returns no profit when the profit of a basket is less than a cent', () => {
  const other = [ANY_ORDER, level('0.5', '100')] as const
  assert.equal(amount([[ANY_ORDER, level('0.499', '9.99')], other]), 'no_profit')
  assert.deepEqual(amount([[ANY_ORDER, level('0.499', '10')], other]), [10, 0.01])
})
