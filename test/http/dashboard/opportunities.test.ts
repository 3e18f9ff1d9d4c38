import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asksOf, buyBasket } from '../../../engine/arbitrage/basket.ts'
import { ANY_ORDER } from '../../../engine/arbitrage/order-rule.ts'
import { type FeeModel, feeCurve, MODEL_UNKNOWN } from '../../../engine/market/fees.ts'
import { seededRandom } from '../../../engine/random.ts'
import { MICROS, priceMicros, sizeMicros } from '../../../engine/units.ts'
import { invertBook, takenOf } from '../../../http/dashboard/parts/opportunity-detail.ts'
import {
  gapOf,
  heldRows,
  joined,
  OPPORTUNITY_ROWS_MAX,
  type OpportunityRows,
  shownRows,
  withMessage,
} from '../../../http/dashboard/parts/opportunity-list.ts'
import type { Opportunity } from '../../../http/dashboard/records.ts'
import { EXAMPLE_OPPORTUNITY } from '../../../http/records/opportunities.ts'

const ALL = { profitMin: 0, kind: '' } as const
const BY_PROFIT = { column: 'profit', isDown: true } as const

const found = (id: string, set: Partial<Opportunity> = {}): Opportunity => ({
  ...EXAMPLE_OPPORTUNITY,
  id,
  ...set,
})
const message = (event: string, one: Opportunity) => ({
  ...{ event, close_reason: event === 'closed' ? 'prices' : null },
  ...one,
})
const answered = (...all: readonly Opportunity[]): OpportunityRows =>
  new Map(all.map((one) => [one.id, { one, ended: null, isFresh: false, receivedMs: null }]))
const idsOf = (rows: OpportunityRows, ...[order = BY_PROFIT, filter = ALL, opened = null]: Shown) =>
  shownRows(rows, filter, order, opened).map(({ one }) => one.id)
type Shown = readonly [
  order?: Parameters<typeof shownRows>[2],
  filter?: Parameters<typeof shownRows>[1],
  opened?: string | null,
]

test('replaces opportunities by the REST response, except opportunities that were updated after the request', () => {
  let rows = answered(found('over', { profit_usd: 9 }))
  rows = withMessage(rows, message('opened', found('also-over', { profit_usd: 8 })), 10)
  rows = withMessage(rows, message('opened', found('new', { profit_usd: 7 })), 20)
  rows = withMessage(rows, message('changed', found('moved', { profit_usd: 6 })), 21)
  rows = withMessage(rows, message('closed', found('ended', { profit_usd: 5 })), 22)
  const answer = answered(
    ...[found('moved', { profit_usd: 1 }), found('ended'), found('kept', { profit_usd: 2 })],
  )
  assert.deepEqual(idsOf(joined(rows, answer, 20)), ['new', 'moved', 'kept'])
  assert.equal(withMessage(rows, { event: 'opened', id: 7 }, 30), rows, 'ignores other messages')
})

test('retains a limited number of open opportunities, the most profitable first', () => {
  let rows: OpportunityRows = new Map()
  for (let count = 0; count < 3_000; count += 1) {
    const event = count % 2 === 0 ? 'opened' : 'closed'
    rows = withMessage(rows, message(event, found(`o${count}`, { profit_usd: count })), count)
    assert.ok(rows.size <= 1_000)
  }
  const shown = idsOf(rows)
  assert.equal(shown.length, OPPORTUNITY_ROWS_MAX)
  assert.deepEqual(shown.slice(0, 3), ['o2998', 'o2996', 'o2994'])
})

test('sorts rows by column with unknown values last, and hides rows that the filters exclude', () => {
  const rows = answered(
    found('a', { profit_usd: 1, match_score: 90, closes_at: null, contracts: 5, payout_usd: 5 }),
    found('b', { profit_usd: 3, match_score: null, closes_at: 20, opened_at_ms: 9 }),
    found('c', { profit_usd: 2, match_score: 99, closes_at: 10, kind: 'single_venue' }),
  )
  assert.deepEqual(idsOf(rows), ['b', 'c', 'a'])
  assert.deepEqual(idsOf(rows, { column: 'score', isDown: true }), ['c', 'a', 'b'])
  assert.deepEqual(idsOf(rows, { column: 'score', isDown: false }), ['a', 'c', 'b'])
  assert.deepEqual(idsOf(rows, { column: 'closes', isDown: false }), ['c', 'b', 'a'])
  assert.deepEqual(idsOf(rows, { column: 'closes', isDown: true }), ['b', 'c', 'a'])
  assert.equal(idsOf(rows, { column: 'size', isDown: false })[0], 'a')
  assert.equal(idsOf(rows, { column: 'opened', isDown: false })[0], 'b')
  assert.deepEqual(idsOf(rows, BY_PROFIT, { profitMin: 2, kind: '' }), ['b', 'c'])
  assert.deepEqual(idsOf(rows, BY_PROFIT, { profitMin: 0, kind: 'single_venue' }), ['c'])
  assert.deepEqual(idsOf(rows, BY_PROFIT, { profitMin: 3, kind: '' }, 'a'), ['b', 'a'])
  const held = heldRows(shownRows(rows, ALL, BY_PROFIT, null), ['c', 'gone', 'a'])
  assert.deepEqual(
    held.map(({ one }) => one.id),
    ['c', 'a', 'b'],
    'new rows are appended',
  )
  // Floating-point subtraction of 1 - 0.55 - 0.37 is inexact.
  assert.equal(gapOf(found('gap')), 0.08)
})

test('marks the book levels that the engine would trade with, for either outcome', () => {
  const random = seededRandom('marks')
  const fees: FeeModel = {
    ...MODEL_UNKNOWN,
    ...{ kind: 'quadratic', taker: feeCurve(10_000, 1), source: 'example' },
    rounding: { fillStepMicros: 100, direction: 'up', orderStepMicros: null },
  }
  /** Prices are in tenths of a cent. Sizes are finer than a hundredth of a contract. */
  const levels = (best: number, step: number) =>
    Array.from({ length: 1 + random.below(6) }, (_, index) => ({
      price: priceMicros((best + step * (index * 4 + random.below(4))) * 1_000),
      size: sizeMicros(1 + random.below(3_000_000)),
    }))
  let marked = 0
  for (let round = 0; round < 500; round += 1) {
    const books = [0, 1].map(() => ({ bids: levels(480, -1), asks: levels(485, 1) }))
    const outcomes = [random.pick(['first', 'second'] as const), 'second'] as const
    const legs = books.map((book, index) => ({
      asks: asksOf(book, outcomes[index] ?? 'first'),
      fees,
      order: ANY_ORDER,
    }))
    const basket = buyBasket({
      legs,
      winners: 1,
      contracts: sizeMicros(10_000 * (1 + random.below(100))),
    })
    if (typeof basket === 'string') continue
    for (const [index, { bids, asks }] of books.entries()) {
      const dollars = (side: typeof bids) =>
        side.map(({ price, size }) => ({ price: price / MICROS, size: size / MICROS }))
      const book = { bids: dollars(bids), asks: dollars(asks) }
      const { asks: offers } = outcomes[index] === 'first' ? book : invertBook(book)
      const taken = new Map<number, number>()
      for (const { prices, contracts } of basket.steps) {
        const price = (prices[index] ?? 0) / MICROS
        taken.set(price, (taken.get(price) ?? 0) + contracts / 10_000)
      }
      const marks = takenOf(offers, basket.contracts / MICROS)
      const byPrice = new Map<number, number>()
      for (const [level, { price }] of offers.entries()) {
        const size = Math.round((marks[level] ?? 0) * 100)
        if (size > 0) byPrice.set(price, (byPrice.get(price) ?? 0) + size)
      }
      assert.deepEqual([...byPrice], [...taken])
      marked += byPrice.size
    }
  }
  assert.ok(marked > 1_000, `${marked} levels`)
})
