import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../../../engine/random.ts'
import { Faults } from '../../../../../engine/venues/simulator/faults.ts'
import type { SimFault, WorldChange } from '../../../../../engine/venues/simulator/model.ts'
import { SimulatedWorld } from '../../../../../engine/venues/simulator/world/world.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'
import { NOON, planMarket, planOf } from '../../../../support/worlds/sim-plan.ts'

/** The market has no order flow, and the fault occurs once. */
function makeFaulty(fault: SimFault, index = 0) {
  const clock = new ManualClock(NOON)
  let strikes = 1
  const always = { ...seededRandom(1), next: () => (strikes-- > 0 ? 0 : 1) }
  const world = new SimulatedWorld({
    seed: 1,
    messagesPerSecond: 0,
    plan: planOf([planMarket(index, { prior: 0.5 })]),
    faults: new Faults([fault], always),
    clock,
    random: seededRandom('world'),
  })
  const [market] = world.markets('a')
  assert.ok(market !== undefined)
  const before = { bids: market.book.bids, asks: market.book.asks }
  const published: WorldChange[] = []
  world.onChange((change) => {
    if (change.kind !== 'trade') published.push(change)
  })
  const run = (seconds: number): void => {
    for (let second = 0; second < seconds; second += 1) {
      clock.advance(1_000)
      world.step()
    }
  }
  const strike = (): void => {
    for (let second = 0; second < 61 && published.length === 0; second += 1) run(1)
    assert.ok(published.length > 0, 'each open market is asked once a minute')
  }
  return { market, before, published, run, strike }
}

test('removes all levels of a book in one change and restores the levels after ten seconds', () => {
  const { market, before, published, run, strike } = makeFaulty('empty_book')
  strike()
  assert.deepEqual([market.book.bids, market.book.asks], [[], []])
  const [away] = published
  assert.ok(away?.kind === 'levels')
  assert.equal(away.changes.length, before.bids.length + before.asks.length)
  assert.ok(away.changes.every(({ size }) => size === 0))
  run(9)
  assert.equal(published.length, 1)
  run(1)
  assert.deepEqual(market.book.bids, before.bids)
  assert.deepEqual(market.book.asks, before.asks)
  assert.deepEqual(
    published.map(({ kind }) => kind),
    ['levels', 'levels'],
  )
})

test('removes all levels of one side of a book and restores the levels after ten seconds', () => {
  const { market, before, run, strike } = makeFaulty('one_sided')
  strike()
  const { bids, asks } = market.book
  assert.equal(Math.min(bids.length, asks.length), 0)
  assert.ok(Math.max(bids.length, asks.length) > 0)
  run(10)
  assert.deepEqual(market.book.bids, before.bids)
  assert.deepEqual(market.book.asks, before.asks)
})

test('reports a change of the tick size before the quotes move to multiples of the new tick size', () => {
  const { market, published, strike } = makeFaulty('tick_size')
  const oldTick = market.tickMicros
  strike()
  assert.notEqual(market.tickMicros, oldTick)
  assert.equal(published[0]?.kind, 'tick')
  for (const { price } of [...market.book.bids, ...market.book.asks]) {
    assert.equal(price % market.tickMicros, 0)
  }
})

test('moves quotes away from the middle and merges quotes when the tick size becomes coarser', () => {
  let merged = 0
  for (let index = 0; index < 60; index += 2) {
    const { market, before, published, strike } = makeFaulty('tick_size', index)
    if (market.tickMicros !== 1_000) continue
    strike()
    if (market.tickMicros === 1_000) continue
    const matchedMarket = new Map(before.bids.map(({ price, size }) => [price, size]))
    for (const change of published) {
      if (change.kind !== 'levels') continue
      for (const { side, price, size } of change.changes)
        if (side === 'bid') matchedMarket.set(price, size)
    }
    const { bids, asks, bestBid, bestAsk } = market.book
    for (const { price, size } of bids) assert.equal(matchedMarket.get(price), size)
    assert.equal([...matchedMarket.values()].filter((size) => size > 0).length, bids.length)
    const total = (levels: typeof bids) => levels.reduce((sum, { size }) => sum + size, 0)
    assert.equal(total(bids), total(before.bids))
    assert.equal(total(asks), total(before.asks))
    assert.ok(bestBid !== null && bestAsk !== null && bestBid < bestAsk)
    for (const { price } of [...bids, ...asks]) assert.equal(price % 10_000, 0)
    if (bids.length < before.bids.length) merged += 1
  }
  assert.ok(merged > 0)
})
