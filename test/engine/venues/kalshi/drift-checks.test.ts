import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kalshiProbes, noteSeriesRow } from '../../../../engine/venues/kalshi/drift-checks.ts'
import { quietDrift } from '../../../support/fakes/quiet-drift.ts'

test('reports announced fees of an unknown type as a loss, and reports nothing for known types', async () => {
  const change = (type: unknown) => ({ series_ticker: 'KXFED', fee_type: type, scheduled_ts: 1 })
  const cases: readonly (readonly [unknown, readonly string[]])[] = [
    [{ series_fee_change_arr: [change('quadratic'), change('flat')] }, []],
    [{ series_fee_change_arr: null }, []],
    [{ series_fee_change_arr: [change('cubic')] }, ['series.fee_type=cubic']],
    [{ changes: [] }, ['fee_changes=no list']],
  ]
  for (const [answer, expected] of cases) {
    const drift = quietDrift('b')
    drift.probes.add(kalshiProbes({ http: { getJson: async () => answer }, drift }))
    await drift.probes.runAll(new AbortController().signal)
    assert.deepEqual(
      drift.entries().map(({ kind, name }) => `${kind}=${name}`),
      expected,
    )
  }
})

test('reports unreadable series fees if their share of the rows is too high, and any single impossible multiplier', () => {
  const namesOf = (...fees: readonly object[]) => {
    const drift = quietDrift('b')
    for (const row of fees) noteSeriesRow({ ticker: 'KXFED', ...row }, drift)
    drift.checkShares()
    return drift.entries().map(({ kind, name }) => `${kind}=${name}`)
  }
  const type = { fee_type: 'quadratic' }
  const complete = { ...type, fee_multiplier: 1 }
  assert.deepEqual(namesOf(complete, { ...type, fee_multiplier: 0 }, { fee_type: 'flat' }), [])
  assert.deepEqual(namesOf(type, type, type), ['series.field=fees unreadable'])
  const untyped = { fee_multiplier: 1 }
  assert.deepEqual(namesOf(complete, untyped, untyped, untyped), ['series.field=fees unreadable'])
  assert.deepEqual(namesOf(complete, { ...type, fee_multiplier: 50 }), ['series.fee_multiplier=50'])
})
