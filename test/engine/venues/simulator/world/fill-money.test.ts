// What a fill brings and costs.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { timeMs } from '../../../../../engine/units.ts'
import { fillFee, fillSize } from '../../../../../engine/venues/simulator/world/fill-money.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'

import { marketAt, price, StubWorld } from '../../../../support/worlds/stub-world.ts'

// The recorded purchase of $18.06 at 0.86 is of 25 April 2026, when sports had 0.03.
test('withholds a buyer’s fee in contracts before 28 April 2026, and charges dollars from this date', () => {
  const world = new StubWorld(new ManualClock(Date.UTC(2026, 3, 25)))
  world.addEvent(1, { topic: 'sports' })
  const bought = world.trade(marketAt(world, 0), { contracts: 21, price: price(0.86) })
  const sold = { ...bought, side: 'sell' } as const
  const late = { ...bought, atMs: timeMs(Date.UTC(2026, 3, 28)) }
  const figures = [bought, sold, late].map((trade) => [fillSize(trade, 0), fillFee(trade, 0)])
  assert.deepEqual(figures, [
    [20_853_000, 126_420],
    [21_000_000, 126_420],
    [21_000_000, 126_420],
  ])
  assert.deepEqual([fillSize(bought, 1), fillFee(bought, 1)], [bought.makers[0]?.size, 0])
})
