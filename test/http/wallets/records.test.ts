import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../engine/random.ts'
import { timeMs, toNumber, USD_ZERO, usdMicros } from '../../../engine/units.ts'
import { PNL_POINTS_MAX, pnlRecord, ratio } from '../../../http/wallets/records.ts'
import { fakeAddress } from '../../support/fakes/wallets.ts'
import { NOON } from '../../support/worlds/builders.ts'

const NO_FIGURES = {
  ...{ realized: USD_ZERO, volume: USD_ZERO, trades: 0 },
  ...{ fees: USD_ZERO, income: USD_ZERO },
}
const NO_TOTALS = { wins: 0, losses: 0, comboRealized: USD_ZERO }

test('rounds quotients to six decimals, halves up, and returns null when the divisor is not positive', () => {
  assert.deepEqual(
    [ratio(1, 3), ratio(-1, 3), ratio(1, 2_000_000), ratio(-1, 2_000_000), ratio(-3, 2_000_000)],
    [0.333333, -0.333333, 0.000001, 0, -0.000001],
  )
  assert.deepEqual([ratio(5, 0), ratio(5, -1), ratio(0, 7)], [null, null, 0])
  const most = Number.MAX_SAFE_INTEGER
  assert.equal(ratio(most, 7, 100), Number(((BigInt(most) * 100_000_000n) / 7n).toString()) / 1e6)
  assert.equal(ratio(most, most), 1)
})

test('thins a long profit series evenly to 1,000 points, and preserves the last point and all totals', () => {
  const random = seededRandom('series')
  for (const count of [0, 1, 999, 1_000, 1_001, 2_500, 100_000]) {
    let toDate = 0
    const series = Array.from({ length: count }, (_, index) => {
      const realized = usdMicros(random.below(2_001) - 1_000)
      toDate += realized
      return { timeMs: timeMs(NOON + 1_000 * index), realized, toDate: usdMicros(toDate) }
    })
    const record = pnlRecord(fakeAddress('a1'), 'all', {
      ...{ series, unrealized: USD_ZERO, totals: NO_TOTALS, asOfMs: NOON },
      figures: NO_FIGURES,
    })
    const points = record.pnl_over_time
    assert.equal(points.length, Math.min(count, PNL_POINTS_MAX))
    let sum = 0
    for (const { timestamp, pnl_to_date, realized_pnl } of points) {
      sum += Math.round(realized_pnl * 1e6)
      assert.equal(pnl_to_date, sum / 1e6)
      const position = timestamp - NOON / 1_000
      assert.equal(pnl_to_date, toNumber(series[position]?.toDate ?? USD_ZERO))
    }
    assert.equal(points.at(-1)?.timestamp, count === 0 ? undefined : NOON / 1_000 + count - 1)
    const gaps = points
      .slice(1)
      .map(({ timestamp }, index) => timestamp - (points[index]?.timestamp ?? 0))
    if (gaps.length > 0) assert.ok(Math.max(...gaps) - Math.min(...gaps) <= 1, 'evenly')
  }
})
