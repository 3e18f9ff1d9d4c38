import type { VenueKey } from '../../../engine/ids.ts'
import { type TimeMs, timeMs } from '../../../engine/units.ts'
import type { CoverageTable, PastDay, PastPriceTable } from '../../../storage/contract/storage.ts'

interface PastTables {
  readonly pastPrices: PastPriceTable
  readonly coverage: CoverageTable
  /** In order of their starts. */
  intervals(venue: VenueKey): readonly (readonly [number, number])[]
}

export function pastTables(): PastTables {
  const days = new Map<string, PastDay>()
  const intervals = new Map<VenueKey, Map<number, number>>()
  const of = (venue: VenueKey) => [...(intervals.get(venue) ?? [])]
  return {
    pastPrices: {
      put: (market, day, past) => void days.set(`${market} ${day}`, structuredClone(past)),
      get: (market, day) => days.get(`${market} ${day}`) ?? null,
    },
    coverage: {
      put(venue, fromMs: TimeMs, toMs) {
        const existing = intervals.get(venue) ?? new Map<number, number>()
        intervals.set(venue, existing.set(fromMs, toMs))
      },
      at(venue, atMs) {
        const found = of(venue).find(([fromMs, toMs]) => fromMs <= atMs && atMs <= toMs)
        return found === undefined ? null : { fromMs: timeMs(found[0]), toMs: timeMs(found[1]) }
      },
    },
    intervals: of,
  }
}
