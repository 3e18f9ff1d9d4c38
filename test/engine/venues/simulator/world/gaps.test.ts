import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../../../engine/random.ts'
import { Calendar } from '../../../../../engine/venues/simulator/calendar.ts'
import { Faults } from '../../../../../engine/venues/simulator/faults.ts'
import { SimulatedWorld } from '../../../../../engine/venues/simulator/world/world.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'

const STEP_MS = 20

function makeWorld(gapsPerMinute: number, seed = 2) {
  const clock = new ManualClock()
  const world = new SimulatedWorld({
    ...{ seed, messagesPerSecond: 20, gapsPerMinute, clock },
    plan: new Calendar({ seed, marketsPerVenue: 120 }),
    faults: new Faults([], seededRandom('faults')),
    random: seededRandom('world'),
  })
  const run = (ms: number): void => {
    for (let elapsed = 0; elapsed < ms; elapsed += STEP_MS) {
      clock.advance(STEP_MS)
      world.step()
    }
  }
  return { world, run }
}

test('plans the same price gaps between the venues for the same seed, start and rate, and none by default', () => {
  const plan = (perMinute: number, seed?: number) => {
    const { world, run } = makeWorld(perMinute, seed)
    run(60_000)
    return world.gaps
  }
  const gaps = plan(30)
  assert.deepEqual(plan(30), gaps)
  assert.notDeepEqual(plan(30, 3), gaps)
  assert.deepEqual(plan(0), [])
  assert.ok(gaps.length > 20 && gaps.length <= 30, `${gaps.length} gaps`)
  assert.equal(gaps[0]?.kind, 'real')
  for (const { opensMs, closesMs, kind } of gaps) {
    const isReal = kind === 'real' || kind === 'event'
    assert.ok(closesMs - opensMs >= (isReal ? 20_000 : 5_000))
  }
})
