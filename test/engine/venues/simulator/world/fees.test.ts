import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readFees } from '../../../../../engine/venues/polymarket/catalog/fees.ts'
import type { SimMarket, SimTopic } from '../../../../../engine/venues/simulator/model.ts'
import { newMarketFrame } from '../../../../../engine/venues/simulator/polymarket/frames.ts'
import { gammaMarket } from '../../../../../engine/venues/simulator/polymarket/render.ts'
import { record, request } from '../../../../support/clients/venue-client.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'
import { startStubVenue } from '../../../../support/fakes/stub-venue.ts'
import { marketAt, StubWorld } from '../../../../support/worlds/stub-world.ts'

const RATES: readonly (readonly [SimTopic, number])[] = [
  ['crypto', 70_000],
  ['sports', 50_000],
  ['politics', 40_000],
  ['economics', 50_000],
  ['culture', 50_000],
  ['weather', 50_000],
]

function gammaFees(market: SimMarket, nowMs: ReturnType<StubWorld['nowMs']>) {
  return readFees(gammaMarket(market, { nowMs, hasEvent: false, hasTags: false })).now
}

test('sets the fees of markets by topic: none for geopolitics, and a rate of zero for totals of games', () => {
  const world = new StubWorld(new ManualClock())
  for (const [topic, rate] of RATES) {
    const event = world.addEvent(1, { topic, number: 7 })
    const model = gammaFees(event.markets[0] ?? assert.fail('no market'), world.nowMs())
    assert.deepEqual(
      [model.kind, model.taker?.rateMicros, model.maker?.rateMicros],
      ['quadratic', rate, 0],
    )
    assert.equal(model.source, 'gamma.feeSchedule')
  }
  const kinds = [
    world.addEvent(1, { topic: 'politics', number: 8 }),
    world.addEvent(1, { topic: 'sports' }, { sportsMarketType: 'totals' }),
  ].map(({ markets: [market] }) => {
    const { kind, source } = gammaFees(market ?? assert.fail('no market'), world.nowMs())
    return [kind, source]
  })
  assert.deepEqual(kinds, [
    ['none', 'gamma.feesEnabled'],
    ['none', 'gamma.feeSchedule'],
  ])
})

test('returns the same fees from the CLOB API, the `new_market` message and the Gamma API', async () => {
  const venue = await startStubVenue()
  try {
    venue.world.addEvent(1, { topic: 'politics', number: 7 })
    venue.world.addEvent(1, { topic: 'politics', number: 8 })
    const announced = (index: number) => {
      const { fees_enabled, fee_schedule } = record(
        JSON.parse(newMarketFrame(marketAt(venue.world, index), venue.world.nowMs())),
      )
      return { fees_enabled, fee_schedule }
    }
    const short = async (index: number) => {
      const { nativeId } = marketAt(venue.world, index).listing
      return record((await request(`${venue.clob}/clob-markets/${nativeId}`)).body).fd
    }
    const texts = { exponent: '1', rate: '0.04', taker_only: true, rebate_rate: '0.25' }
    assert.deepEqual(announced(0), { fees_enabled: true, fee_schedule: texts })
    assert.deepEqual(await short(0), { r: 0.04, e: 1, to: true })
    assert.deepEqual(announced(1), { fees_enabled: false, fee_schedule: null })
    assert.equal(await short(1), null)
  } finally {
    await venue.stop()
  }
})
