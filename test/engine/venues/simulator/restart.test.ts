// A restart in the middle of the world's life, with the real calendar.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../../engine/random.ts'
import { Calendar } from '../../../../engine/venues/simulator/calendar.ts'
import { Faults } from '../../../../engine/venues/simulator/faults.ts'
import { SIM_VENUES } from '../../../../engine/venues/simulator/model.ts'
import { SimulatedWorld } from '../../../../engine/venues/simulator/world/world.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'

test('rebuilds the same markets, statuses and fair prices on a fresh start after three days', () => {
  const clock = new ManualClock()
  const start = () =>
    new SimulatedWorld({
      seed: 3,
      messagesPerSecond: 1,
      plan: new Calendar({ seed: 3, marketsPerVenue: 60 }),
      faults: new Faults([], seededRandom(1)),
      clock,
      random: seededRandom('world'),
    })
  const old = start()
  let created = 0
  old.onChange(({ kind }) => {
    if (kind === 'created') created += 1
  })
  for (let minute = 0; minute < 3 * 1_440; minute += 10) {
    clock.advance(600_000)
    old.step()
  }
  assert.ok(created > 10, `${created} created`)
  const fresh = start()
  for (const venue of SIM_VENUES) {
    const facts = (world: SimulatedWorld) =>
      world
        .markets(venue)
        .map((market) =>
          [market.listing.nativeId, market.status, market.fairPrice(world.nowMs())].join(' '),
        )
        .sort()
    assert.deepEqual(facts(fresh), facts(old))
    assert.deepEqual(
      fresh.events(venue).map(({ nativeId }) => nativeId),
      old.events(venue).map(({ nativeId }) => nativeId),
    )
  }
})
