import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nativeMarketId } from '../../../../engine/ids.ts'
import { priceMicros } from '../../../../engine/units.ts'
import { MarketTerms } from '../../../../engine/venues/kalshi/market-terms.ts'
import { parsePriceGrid } from '../../../../engine/venues/kalshi/price-grid.ts'

type Range = readonly [start: string, end: string, step: string]
const rowOf = (...ranges: readonly Range[]) => ({
  price_ranges: ranges.map(([start, end, step]) => ({ start, end, step })),
})
const linear = rowOf(['0.0000', '1.0000', '0.0100'])
const deci = rowOf(['0.0000', '1.0000', '0.0010'])
const edged = (edge: string, center: string, width: '0.10' | '0.01') => {
  const [low, high] = width === '0.10' ? ['0.1000', '0.9000'] : ['0.0100', '0.9900']
  return rowOf(['0.0000', low, edge], [low, high, center], [high, '1.0000', edge])
}
const on = (row: object, price: number): boolean | undefined =>
  parsePriceGrid({ ...row })?.isOn(priceMicros(price))

test('rejects order prices between two price steps, and accepts the bounds of each price range', () => {
  const cases: readonly (readonly [object, number, readonly number[], readonly number[]])[] = [
    [linear, 10_000, [10_000, 440_000, 990_000], [5_000, 441_000, 999_000]],
    [deci, 1_000, [1_000, 441_000, 999_000], [500, 441_500]],
    [edged('0.0010', '0.0100', '0.10'), 1_000, [1_000, 99_000, 100_000, 110_000], [101_000]],
    [edged('0.0001', '0.0010', '0.01'), 100, [100, 9_900, 10_000, 11_000, 990_100], [10_100]],
    [edged('0.0010', '0.0050', '0.10'), 1_000, [55_000, 105_000, 905_000], [101_000, 102_000]],
    [edged('0.0005', '0.0020', '0.10'), 500, [500, 102_000, 900_500], [101_000, 100_500]],
  ]
  for (const [row, finest, inside, outside] of cases) {
    assert.equal(parsePriceGrid({ ...row })?.finest, finest)
    for (const price of inside) assert.equal(on(row, price), true, `${price}`)
    for (const price of outside) assert.equal(on(row, price), false, `${price}`)
  }
})

test('returns one shared object for equal price ranges of several markets, and null for unreadable ranges', () => {
  assert.equal(parsePriceGrid(linear), parsePriceGrid(rowOf(['0', '1', '0.01'])))
  const broken = [
    {},
    { price_ranges: [] },
    { price_ranges: 'linear_cent' },
    { price_level_structure: 'linear_cent' },
    rowOf(['0.0000', '1.0000', '0.0000']),
    rowOf(['0.5000', '0.1000', '0.0100']),
    rowOf(['0.0000', '1.0000', 'fine']),
    { price_ranges: [{ start: '0.0000', step: '0.0100' }] },
    { price_ranges: Array.from({ length: 51 }, () => linear.price_ranges[0]) },
  ]
  for (const row of broken) assert.equal(parsePriceGrid({ ...row }), null)
})

test('accepts orders at prices of the old and the new price ranges after a change of the ranges', () => {
  const terms = new MarketTerms()
  const may = (price: number) => terms.mayRest('A', priceMicros(price))
  assert.ok(may(441_500), 'an unknown market accepts every price')
  terms.note('A', { tradingEndsAtMs: null, grid: parsePriceGrid(deci), shard: 2 })
  assert.deepEqual([may(441_000), may(441_500)], [true, false])
  const coarse = parsePriceGrid(linear)
  assert.ok(coarse !== null)
  terms.changeGrid('A', coarse)
  terms.note('A', { tradingEndsAtMs: null, grid: coarse, shard: 2 })
  assert.deepEqual([may(440_000), may(441_000), may(441_500)], [true, true, false])
  terms.note('A', { tradingEndsAtMs: null, grid: null, shard: 2 })
  assert.equal(may(441_500), false, 'a row without ranges keeps the known ranges')
  assert.deepEqual(terms.tickersOf(2), ['A'])
  terms.note('A', null)
  assert.deepEqual(terms.tickersOf(2), [])
  assert.equal(terms.tradingEndOf({ nativeId: nativeMarketId('A') }), null)
})
