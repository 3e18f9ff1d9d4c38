import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS, timeMs } from '../../../engine/units.ts'
import { marketRef, NOON } from '../../support/worlds/builders.ts'
import { opportunity, pastOpportunity } from '../../support/worlds/opportunities.ts'
import type { StorageUnderTest } from '../storage.ts'

const ALL = { fromMs: timeMs(0), toMs: timeMs(NOON + DAY_MS), after: null, limit: 100 } as const

export function opportunityContract({ open, settle }: StorageUnderTest): void {
  test('returns every ended opportunity in ascending and descending order, page by page', async () => {
    let storage = await open()
    const puts = [700, 700, 900, 600].map((afterMs, index) =>
      pastOpportunity(afterMs, {
        id: `o${index}`,
        ...(index === 2
          ? { kind: 'single_venue', matchScore: null, category: 'Été', closesAtMs: timeMs(NOON) }
          : {}),
      }),
    )
    assert.equal(storage.opportunities.oldestMs(), null)
    for (const past of puts) storage.opportunities.put(past)
    storage = await settle(storage)
    const ids = (query: Partial<Parameters<typeof storage.opportunities.range>[0]>) =>
      storage.opportunities.range({ ...ALL, order: 'asc', ...query }).map(({ past }) => past.id)
    assert.deepEqual(ids({}), ['o3', 'o0', 'o1', 'o2'])
    assert.deepEqual(ids({ order: 'desc', limit: 2 }), ['o2', 'o1'])
    const at = (afterMs: number, ordinal: number) => ({ timeMs: timeMs(NOON + afterMs), ordinal })
    assert.deepEqual(ids({ after: at(700, 0) }), ['o1', 'o2'])
    assert.deepEqual(ids({ after: at(700, 1), order: 'desc' }), ['o0', 'o3'])
    assert.deepEqual(ids({ fromMs: timeMs(NOON + 601), toMs: timeMs(NOON + 899) }), ['o0', 'o1'])
    const rows = storage.opportunities.range({ ...ALL, order: 'asc' })
    assert.deepEqual(
      rows.map(({ past }) => past),
      [puts[3], puts[0], puts[1], puts[2]],
    )
    assert.equal(storage.opportunities.oldestMs(), NOON + 600)
  })

  test('returns and removes the last stored version of each open opportunity once', async () => {
    let storage = await open()
    const markets = [marketRef('a', 1), { ...marketRef('b', 2), venue: 'b' }] as const
    const one = opportunity(markets, { id: 'run-1' })
    const state = { atMs: NOON, contracts: one.contracts, profit: one.profit }
    const stored = {
      ...{ opened: state, best: { ...state, atMs: timeMs(NOON + 5) }, last: one },
      ...{ peak: { profit: one.profit, edge: 0.0537, ageMs: 12 }, isEnded: false },
    }
    storage.opportunities.putOpen({ ...stored, isEnded: true })
    storage.opportunities.putOpen(stored)
    storage.opportunities.putOpen({ ...stored, last: { ...one, id: 'run-2' } })
    storage.opportunities.putOpen({ ...stored, last: { ...one, id: 'run-3' } })
    storage.opportunities.removeOpen('run-2')
    const forwarded = [marketRef('c', 3), markets[1]] as const
    storage.opportunities.putOpen({ ...stored, last: opportunity(forwarded, { id: 'run-4' }) })
    storage = await settle(storage)
    const marketOf = (number: number) => markets.find((market) => market.number === number) ?? null
    assert.deepEqual(storage.opportunities.takeOpen(marketOf), [
      stored,
      { ...stored, last: { ...one, id: 'run-3' } },
    ])
    storage = await settle(storage)
    assert.deepEqual(storage.opportunities.takeOpen(marketOf), [])
  })

  test('removes ended opportunities that are older than the retention time', async () => {
    let storage = await open()
    for (const day of [-40, -31, -29, 0]) {
      storage.opportunities.put(pastOpportunity(day * DAY_MS, { id: `d${day}` }))
    }
    storage = await settle(storage)
    const limits = { nowMs: NOON, retentionDays: 30, sizeBytesMax: 2 ** 40, rowsMax: 100 }
    while (storage.prune(limits));
    storage = await settle(storage)
    assert.deepEqual(
      storage.opportunities.range({ ...ALL, order: 'asc' }).map(({ past }) => past.id),
      ['d-29', 'd0'],
    )
  })
}
