// The truth as tests read it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../../engine/random.ts'
import { Faults } from '../../../../engine/venues/simulator/faults.ts'
import { worldState } from '../../../../engine/venues/simulator/state.ts'
import { SimulatedWorld } from '../../../../engine/venues/simulator/world.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { planMany, planMarket, planOf } from '../../../support/sim-plan.ts'

function makeWorld() {
  const clock = new ManualClock()
  const pair = { otherNativeId: 'KXTEST-1', kind: 'other_date' } as const
  const plan = planOf([planMarket(0, { listing: { pair } }), ...planMany(8).slice(1)])
  const world = new SimulatedWorld({
    seed: 1,
    messagesPerSecond: 3_000,
    plan,
    faults: new Faults([], seededRandom(1)),
    clock,
    random: seededRandom('world'),
  })
  const run = (): void => {
    for (let step = 0; step < 100; step += 1) {
      clock.advance(20)
      world.step()
    }
  }
  const ask = (query: string) =>
    JSON.parse(JSON.stringify(worldState(world, new URLSearchParams(query))))
  return { world, run, ask }
}

test('[SIMSTATE1] the summary counts markets by status, trades and pairs by kind', () => {
  const { world, run, ask } = makeWorld()
  run()
  const summary = ask('')
  assert.deepEqual(summary, ask('view=summary'))
  assert.deepEqual(summary.venues.a.statuses, { open: 4 })
  assert.equal(summary.venues.b.markets, 4)
  assert.equal(summary.venues.a.trades, world.trades('a').length)
  assert.deepEqual(summary.pairs, { other_date: 1 })
  assert.equal(ask('view=pairs').pairs[0].b, 'KXTEST-1')
})

test('[SIMSTATE2] books are the touched ones, in micros, best first', () => {
  const { world, ask } = makeWorld()
  assert.deepEqual(ask('view=books&venue=a').books, {})
  const market = world.markets('a')[1]
  assert.ok(market !== undefined)
  const { bids, asks } = market.book
  const rows = (levels: typeof bids) => levels.map(({ price, size }) => [price, size])
  assert.deepEqual(ask('view=books&venue=a').books, {
    [market.listing.nativeId]: { bids: rows(bids), asks: rows(asks), tick: market.tickMicros },
  })
})

test('[SIMSTATE3] trades are paged by their place in the run', () => {
  const { world, run, ask } = makeWorld()
  run()
  const all = ask('view=trades&venue=b')
  assert.equal(all.total, world.trades('b').length)
  assert.equal(all.trades.length, all.total)
  const rest = ask('view=trades&venue=b&from_index=5')
  assert.deepEqual(rest.trades, all.trades.slice(5))
  assert.equal(rest.next_index, all.total)
  assert.equal(all.trades[0].id, world.trades('b')[0]?.id)
})

test('[SIMSTATE4] pausing freezes the world until it is resumed', () => {
  const { world, run, ask } = makeWorld()
  assert.equal(ask('action=pause').is_paused, true)
  run()
  assert.equal(world.trades('a').length, 0)
  assert.equal(ask('action=resume').is_paused, false)
  run()
  assert.ok(world.trades('a').length > 0)
})

test('[SIMSTATE5] a query that means nothing is answered with what is accepted', () => {
  const { ask } = makeWorld()
  assert.match(ask('view=weather&venue=a').error, /summary, books, trades, pairs/)
  assert.match(ask('view=books').error, /venue accepts a, b/)
  assert.match(ask('action=explode').error, /pause, resume/)
  assert.match(ask('view=trades&venue=a&from_index=-1').error, /from 0/)
})
