// The tape of trades, and how it forgets.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../../../engine/random.ts'
import { Faults } from '../../../../../engine/venues/simulator/faults.ts'
import { TradeTape } from '../../../../../engine/venues/simulator/world/trade-tape.ts'
import { SimulatedWorld } from '../../../../../engine/venues/simulator/world/world.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'
import { planMany, planOf } from '../../../../support/worlds/sim-plan.ts'

test('drops the oldest tenth of a full tape and reports the number per market', () => {
  const clock = new ManualClock()
  const world = new SimulatedWorld({
    seed: 1,
    messagesPerSecond: 5_000,
    plan: planOf(planMany(6)),
    faults: new Faults([], seededRandom(1)),
    clock,
    random: seededRandom('world'),
  })
  for (let step = 0; step < 100; step += 1) {
    clock.advance(20)
    world.step()
  }
  const trades = world.trades('a')
  assert.ok(trades.length > 60)
  const removed = new Map<string, number>()
  const tape = new TradeTape({
    countMax: 50,
    onDrop: ({ listing }, count) => {
      removed.set(listing.nativeId, (removed.get(listing.nativeId) ?? 0) + count)
    },
  })
  for (const trade of trades) tape.add(trade)
  assert.ok(tape.trades.length <= 50)
  assert.equal(tape.droppedCount + tape.trades.length, trades.length)
  assert.deepEqual(tape.trades, trades.slice(tape.droppedCount))
  const sum = [...removed.values()].reduce((total, count) => total + count, 0)
  assert.equal(sum, tape.droppedCount)
})
