import assert from 'node:assert/strict'
import { test } from 'node:test'
import { priceMicros, sizeMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import { venueBMarket } from '../../../http/records/native-venue-b.ts'
import { FakeEngine } from '../../support/fakes/engine.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { NOON } from '../../support/worlds/builders.ts'

test('returns current figures of a venue B market and their time instead of the stored figures', () => {
  const engine = new FakeEngine(new ManualClock())
  const native = {
    ...{ last_price_dollars: '0.1000', previous_price_dollars: '0.0000' },
    ...{ volume_fp: '1.00', volume_24h_fp: '1.00', open_interest_fp: '1.00' },
  }
  const market = engine.add('KX-1', {
    ...{ venue: 'b', native, lastPrice: priceMicros(430_000), openInterest: sizeMicros(7_000_000) },
    ...{ figuresAtMs: NOON, dayFiguresAtMs: timeMs(NOON - 1), volume24h: usdMicros(2_500_000) },
  })
  market.volumeTotal = usdMicros(4_654_198_000_000)
  const record = venueBMarket(market, engine.catalog)
  assert.deepEqual(
    [record.volume_fp, record.volume_24h_fp, record.open_interest_fp],
    ['4654198.00', '2.50', '7.00'],
  )
  assert.deepEqual([record.last_price_dollars, record.previous_price_dollars], ['0.4300', '0.0000'])
  assert.deepEqual([record.as_of_ms, record.volume_24h_as_of_ms], [NOON, NOON - 1])
})
