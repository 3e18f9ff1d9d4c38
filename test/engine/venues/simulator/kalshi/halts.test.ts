import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../../../engine/random.ts'
import { Faults } from '../../../../../engine/venues/simulator/faults.ts'
import { SimHalts } from '../../../../../engine/venues/simulator/kalshi/exchange.ts'
import { SHARDS, shardOf } from '../../../../../engine/venues/simulator/kalshi/terms.ts'
import { SimulatedWorld } from '../../../../../engine/venues/simulator/world/world.ts'
import { gameDay, records, ScriptedFaults } from '../../../../support/clients/kalshi-client.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'
import { NOON, planMany, planOf } from '../../../../support/worlds/sim-plan.ts'

const HALTED_MS = 180_000

test('reports an exchange shard as halted for three minutes when the fault `halt` occurs', async (t) => {
  const faults = new ScriptedFaults('halt')
  const { venue, clock } = await gameDay(t, faults)
  const trading = async () => {
    const { body } = await venue.get('/exchange/status')
    return records(body.exchange_index_statuses).map((row) => row.trading_active)
  }
  assert.deepEqual(new Set(await trading()), new Set([true]))
  faults.isOn = true
  clock.advance(1_000)
  faults.isOn = false
  assert.equal((await trading()).filter((isTrading) => isTrading === false).length, 1)
  clock.advance(HALTED_MS - 2_000)
  assert.ok((await trading()).includes(false))
  clock.advance(3_000)
  assert.deepEqual(new Set(await trading()), new Set([true]))
})

test('changes no book of a halted exchange shard, and changes books of the other shards', () => {
  const clock = new ManualClock(NOON)
  const faults = new ScriptedFaults('halt')
  const halts = new SimHalts({ faults, random: seededRandom('halts') })
  const world = new SimulatedWorld({
    seed: 7,
    messagesPerSecond: 1_000,
    plan: planOf(planMany(60)),
    faults: new Faults([], seededRandom('faults')),
    clock,
    random: seededRandom('world'),
    isHalted: (market) => halts.isHalted(market),
  })
  let touched = { a: 0, halted: 0, trading: 0 }
  world.onChange(({ market }) => {
    if (market.listing.venue === 'a') touched.a += 1
    else if (halts.isTrading(shardOf(market.event))) touched.trading += 1
    else touched.halted += 1
  })
  const run = (seconds: number) => {
    touched = { a: 0, halted: 0, trading: 0 }
    for (let step = 0; step < 50 * seconds; step += 1) {
      clock.advance(20)
      world.step()
    }
  }
  const shards = new Set(world.markets('b').map(({ event }) => shardOf(event)))
  faults.isOn = true
  while (halts.isTrading([...shards][0] ?? 0)) {
    clock.advance(HALTED_MS)
    halts.draw(clock.nowMs())
  }
  assert.equal(SHARDS.filter(({ exchange_index }) => !halts.isTrading(exchange_index)).length, 1)
  run(2)
  assert.equal(touched.halted, 0)
  assert.ok(touched.a > 100)
  faults.isOn = false
  clock.advance(HALTED_MS)
  halts.draw(clock.nowMs())
  run(2)
  assert.ok(touched.a > 100 && touched.trading > 100)
})
