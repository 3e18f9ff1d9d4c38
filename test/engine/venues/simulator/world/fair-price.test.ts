// Fair prices: pure in time, shared by a mover, drawn to the payout.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MICROS, PRICE_HALF, PRICE_ONE, priceMicros, timeMs } from '../../../../../engine/units.ts'
import { FairPrice, fairPricesOf } from '../../../../../engine/venues/simulator/world/fair-price.ts'
import {
  type MarketSketch,
  NOON,
  planEvent,
  planMarket,
} from '../../../../support/worlds/sim-plan.ts'

const DAY_MS = 86_400_000
const ZERO = priceMicros(0)
const fairOf = (sketch: MarketSketch, seed = 1) =>
  new FairPrice({ seed, planned: planMarket(0, sketch) })
const moments = (count: number, stepMs: number) =>
  Array.from({ length: count }, (_, index) => timeMs(NOON - DAY_MS + index * stepMs))

test('derives a fair price only from seed, listing and time', () => {
  const first = fairOf({ prior: 0.4, moverKey: 'x' })
  const again = fairOf({ prior: 0.4, moverKey: 'x' })
  const other = fairOf({ prior: 0.4, moverKey: 'x' }, 2)
  const times = moments(500, 60_000)
  const prices = times.map((time) => first.at(time))
  assert.deepEqual(
    times.toReversed().map((time) => again.at(time)),
    prices.toReversed(),
  )
  assert.notDeepEqual(
    times.map((time) => other.at(time)),
    prices,
  )
})

test('moves prices slightly per minute, further over days, with occasional jumps', () => {
  const moves: number[] = []
  let low = MICROS
  let high = 0
  for (let index = 0; index < 40; index += 1) {
    const fair = fairOf({ prior: 0.5, moverKey: `m${index}` })
    for (let minute = 0; minute < 1_440; minute += 1) {
      const time = NOON - DAY_MS + minute * 60_000
      const price = fair.at(timeMs(time))
      moves.push(Math.abs(fair.at(timeMs(time + 60_000)) - price))
      low = Math.min(low, price)
      high = Math.max(high, price)
    }
  }
  moves.sort((left, right) => left - right)
  const median = moves[moves.length >> 1] ?? 0
  assert.ok(median > 300 && median < 10_000, `median move of a minute ${median}`)
  assert.ok((moves.at(-1) ?? 0) > 50_000, 'a jump')
  assert.ok(low > 30_000 && high < 970_000 && high - low > 300_000, `${low}..${high}`)
})

test('moves markets with a shared driver together, and inverted markets oppositely', () => {
  const yes = fairOf({ prior: 0.4, moverKey: 'x' })
  const matchedMarket = fairOf({ venue: 'b', prior: 0.4, moverKey: 'x' })
  const no = fairOf({ venue: 'b', prior: 0.6, moverKey: 'x', isInverted: true })
  for (const time of moments(500, 300_000)) {
    assert.equal(yes.at(time), matchedMarket.at(time), 'whichever venue lists it')
    assert.ok(Math.abs(yes.at(time) - (MICROS - no.at(time))) <= 1)
  }
})

test('keeps fair prices of an exclusive event at one dollar in total, but not of other events', () => {
  const markets = [0.6, 0.25, 0.1, 0.015, 0.015].map((prior, index) =>
    planMarket(index, { venue: 'a', prior, listing: { payout: index === 2 ? PRICE_ONE : ZERO } }),
  )
  const [first] = markets
  assert.ok(first !== undefined)
  const { event } = planEvent(first)
  for (const isMutuallyExclusive of [true, false]) {
    const fairs = fairPricesOf(3, { event: { ...event, isMutuallyExclusive }, markets })
    const sums = moments(2_000, 180_000).map((time) => {
      const prices = fairs.map((fair) => fair.at(time))
      assert.ok(prices.every((price) => price >= 1_000 && price <= MICROS - 1_000))
      return prices.reduce((sum, price) => sum + price, 0)
    })
    assert.equal(
      sums.every((sum) => sum === MICROS),
      isMutuallyExclusive,
    )
  }
})

test('ends the fair price near the payout at the close, and exactly at the payout once determined', () => {
  for (const payout of [priceMicros(0), PRICE_HALF, PRICE_ONE]) {
    const planned = planMarket(0, { prior: 0.3, listing: { payout } })
    const fair = new FairPrice({ seed: 1, planned })
    const { closeMs, determineMs } = planned.listing
    assert.ok(Math.abs(fair.at(closeMs) - payout) < 15_000)
    assert.ok(fair.at(closeMs) > 0 && fair.at(closeMs) < MICROS)
    assert.equal(fair.at(determineMs), payout)
    assert.equal(fair.at(timeMs(determineMs + DAY_MS)), payout)
  }
})
