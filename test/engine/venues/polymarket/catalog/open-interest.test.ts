// Open interest: the simulated venue over real HTTP, and answers by hand.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../../../../engine/clock.ts'
import type { OpenInterestEvent, VenueEvent } from '../../../../../engine/events.ts'
import { nativeMarketId, outcomeId } from '../../../../../engine/ids.ts'
import { silentLog } from '../../../../../engine/process/log.ts'
import { Metrics } from '../../../../../engine/process/metrics.ts'
import { seededRandom } from '../../../../../engine/random.ts'
import { Doubts } from '../../../../../engine/venues/answers.ts'
import { OpenInterest } from '../../../../../engine/venues/polymarket/catalog/open-interest.ts'
import type { DataAsked } from '../../../../../engine/venues/polymarket/data-api.ts'
import { openPolymarket } from '../../../../../engine/venues/polymarket/polymarket.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'
import { PolymarketStub } from '../../../../support/fakes/polymarket-stub.ts'
import { startStubVenue } from '../../../../support/fakes/stub-venue.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('[POLYOI1] the watched markets of the simulated venue tell their open interest', async (t) => {
  const venue = await startStubVenue()
  venue.world.addEvent(3)
  const stub = new PolymarketStub()
  const hosts = await stub.start()
  const wanted = new Map(venue.world.markets('a').map(({ listing }) => [listing.nativeId, 0]))
  assert.ok(wanted.size > 0)
  const found = new Map<string, number>()
  let isWhole: () => void = () => {}
  const whole = new Promise<void>((resolve) => {
    isWhole = resolve
  })
  const emit = (event: VenueEvent) => {
    if (event.kind !== 'openInterest') return
    found.set(event.market, event.usd)
    if (found.size === wanted.size) isWhole()
  }
  const parts = { clock: systemClock, random: seededRandom(1), log: silentLog }
  const opened = openPolymarket(
    { ...parts, metrics: new Metrics(), emit },
    { ...hosts, data: venue.data },
  )
  t.after(async () => {
    await opened.feed.stop()
    await stub.stop()
    await venue.stop()
  })
  opened.feed.watch(
    [...wanted.keys()].map((id) => ({
      nativeId: nativeMarketId(id),
      outcomes: [outcomeId(`${id}1`), outcomeId(`${id}2`)],
      status: 'open',
      openAtMs: null,
      closeAtMs: null,
    })),
  )
  opened.feed.start()
  await whole
  assert.deepEqual([...found.keys()].sort(), [...wanted.keys()].sort())
})

test('[POLYOI2] a call takes twenty markets, a figure is told when it changed, and a bad one never', async () => {
  const clock = new ManualClock()
  const calls: string[][] = []
  const told: OpenInterestEvent[] = []
  const reasons: string[] = []
  let value: unknown = 5.25
  let isUp = false
  const data = {
    async rows({ query }: DataAsked) {
      calls.push(String(query.condition).split(','))
      if (!isUp) throw new Error('down')
      return [{ condition_id: 'M7', value }, { condition_id: 'other', value: 1 }, 'x']
    },
  }
  const note = (reason: string): void => {
    reasons.push(reason)
  }
  const doubts = new Doubts({ metrics: new Metrics(), log: silentLog, venue: 'a' })
  const tally = { rejected: note, trouble: note, doubts }
  const interest = new OpenInterest({ data, clock, tally, emit: (event) => told.push(event) })
  const ids = Array.from({ length: 50 }, (_, index) => nativeMarketId(`m${index}`))
  interest.watch(ids)
  interest.watch(ids)
  interest.start()
  const round = async () => {
    for (let step = 0; step < 140; step += 1) {
      await turn()
      clock.advance(500)
    }
  }
  await round()
  assert.deepEqual(
    calls.slice(0, 3).map(({ length }) => length),
    [20, 20, 10],
  )
  assert.equal(told.length, 0)
  assert.deepEqual([...new Set(reasons)], ['open_interest'])
  isUp = true
  await round()
  await round()
  assert.deepEqual(
    told.map(({ market, usd }) => [market, usd]),
    [['m7', 5_250_000]],
  )
  value = -1
  await round()
  assert.ok(reasons.includes('bad_open_interest'))
  interest.unwatch(ids.slice(0, 40))
  calls.length = 0
  await round()
  await round()
  assert.ok(calls.length > 0 && calls.slice(1).every(({ length }) => length === 10))
  await interest.stop()
})
