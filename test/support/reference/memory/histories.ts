// Bars, snapshots, past prices and coverage in sorted arrays: reference implementations of storage/bars.ts,
// snapshots.ts, past-prices.ts and coverage.ts.

import type { VenueKey } from '../../../../engine/ids.ts'
import { bookSnapshotLevels } from '../../../../engine/limits.ts'
import { BAR_MS, type Bar, type BarSize } from '../../../../engine/market/candle.ts'
import type { MarketNumber } from '../../../../engine/market/market.ts'
import { HOUR_MS, type TimeMs, timeMs } from '../../../../engine/units.ts'
import type {
  BarQuery,
  BarTable,
  BookSnapshot,
  CoverageTable,
  PastDay,
  PastPriceTable,
  SnapshotQuery,
  SnapshotTable,
} from '../../../../storage/contract/storage.ts'

/** One row per market and number (a time or a day). */
class Rows<Row> {
  readonly #byMarket = new Map<MarketNumber, { position: number; row: Row }[]>()
  count = 0

  put(market: MarketNumber, position: number, row: Row): void {
    const list = this.#byMarket.get(market) ?? []
    this.#byMarket.set(market, list)
    const index = lowerBound(list, position)
    const isKnown = list[index]?.position === position
    if (!isKnown) this.count += 1
    list.splice(index, isKnown ? 1 : 0, { position, row })
  }

  get(market: MarketNumber, position: number): Row | null {
    const list = this.#byMarket.get(market) ?? []
    const entry = list[lowerBound(list, position)]
    return entry?.position === position ? entry.row : null
  }

  /** Rows of [from, to]. */
  range(query: {
    readonly market: MarketNumber
    readonly from: number
    readonly to: number
    readonly order: 'asc' | 'desc'
    readonly limit: number
  }): readonly Row[] {
    const list = this.#byMarket.get(query.market) ?? []
    const rows = list.slice(lowerBound(list, query.from), lowerBound(list, query.to + 1))
    if (query.order === 'desc') rows.reverse()
    return rows.slice(0, Math.max(query.limit, 0)).map(({ row }) => row)
  }

  /** The lowest position of a market, or of all. */
  oldest(market?: MarketNumber): number {
    if (market !== undefined)
      return this.#byMarket.get(market)?.[0]?.position ?? Number.POSITIVE_INFINITY
    let oldest = Number.POSITIVE_INFINITY
    for (const list of this.#byMarket.values())
      oldest = Math.min(oldest, list[0]?.position ?? oldest)
    return oldest
  }

  /** Removes at most `rowsMax` rows before a position; returns their count. */
  removeBefore(position: number, rowsMax: number): number {
    let removed = 0
    for (const list of this.#byMarket.values()) {
      removed += list.splice(0, Math.min(lowerBound(list, position), rowsMax - removed)).length
    }
    this.count -= removed
    return removed
  }

  removeMarket(market: MarketNumber): void {
    this.count -= this.#byMarket.get(market)?.length ?? 0
    this.#byMarket.delete(market)
  }
}

export class MemoryBars implements BarTable {
  readonly #bars: Readonly<Record<BarSize, Rows<Bar>>> = { minute: new Rows(), hour: new Rows() }

  get count(): number {
    return this.#bars.minute.count + this.#bars.hour.count
  }

  put(market: MarketNumber, size: BarSize, bar: Bar): void {
    this.#bars[size].put(market, bar.startMs, { ...bar })
  }

  get(market: MarketNumber, size: BarSize, startMs: TimeMs): Bar | null {
    return this.#bars[size].get(market, startMs)
  }

  range(query: BarQuery & { readonly market: MarketNumber }): readonly Bar[] {
    return this.#bars[query.size].range({ ...query, from: query.fromMs, to: query.toMs })
  }

  /** The oldest hour with minute bars. */
  firstHour(): number {
    return Math.floor(this.#bars.minute.oldest() / BAR_MS.hour)
  }

  /** Removes minute bars of that hour and before. */
  removeHour(hour: number, rowsMax: number): number {
    return this.#bars.minute.removeBefore((hour + 1) * BAR_MS.hour, rowsMax)
  }

  removeMarket(market: MarketNumber): void {
    this.#bars.hour.removeMarket(market)
  }
}

export class MemorySnapshots implements SnapshotTable {
  readonly #snapshots = new Rows<BookSnapshot>()

  put(market: MarketNumber, snapshot: BookSnapshot): void {
    const { bids, asks } = snapshot
    this.#snapshots.put(market, snapshot.timeMs, {
      ...snapshot,
      bids: bids.slice(0, bookSnapshotLevels),
      asks: asks.slice(0, bookSnapshotLevels),
    })
  }

  range(query: SnapshotQuery): readonly BookSnapshot[] {
    const { market, fromMs, toMs, after, order, limit } = query
    const range = { market, from: fromMs, to: toMs, order, limit: Number.MAX_SAFE_INTEGER }
    const rows = this.#snapshots.range(range).filter((row) => {
      if (after === null) return true
      return order === 'asc' ? row.timeMs > after : row.timeMs < after
    })
    return rows.slice(0, Math.max(limit, 0))
  }

  oldestMs(market: MarketNumber): TimeMs | null {
    const oldest = this.#snapshots.oldest(market)
    return oldest === Number.POSITIVE_INFINITY ? null : timeMs(oldest)
  }

  count(): number {
    return this.#snapshots.count
  }

  firstHour(): number {
    return Math.floor(this.#snapshots.oldest() / HOUR_MS)
  }

  removeHour(hour: number, rowsMax: number): number {
    return this.#snapshots.removeBefore((hour + 1) * HOUR_MS, rowsMax)
  }
}

export class MemoryPastPrices implements PastPriceTable {
  readonly #days = new Map<MarketNumber, Map<number, PastDay>>()

  get count(): number {
    return [...this.#days.values()].reduce((sum, days) => sum + days.size, 0)
  }

  put(market: MarketNumber, day: number, past: PastDay): void {
    const days = this.#days.get(market) ?? new Map<number, PastDay>()
    this.#days.set(market, days.set(day, structuredClone(past)))
  }

  get(market: MarketNumber, day: number): PastDay | null {
    return this.#days.get(market)?.get(day) ?? null
  }

  /** The hour in which the first of them was read. */
  firstHour(): number {
    let first = Number.POSITIVE_INFINITY
    for (const days of this.#days.values()) {
      for (const { readAtMs } of days.values()) first = Math.min(first, readAtMs)
    }
    return Math.floor(first / HOUR_MS)
  }

  /** Removes days that were read in that hour or before. */
  removeHour(hour: number, rowsMax: number): number {
    let removed = 0
    for (const days of this.#days.values()) {
      for (const [day, { readAtMs }] of days) {
        if (removed >= rowsMax || readAtMs >= (hour + 1) * HOUR_MS) continue
        days.delete(day)
        removed += 1
      }
    }
    return removed
  }

  removeMarket(market: MarketNumber): void {
    this.#days.delete(market)
  }
}

export class MemoryCoverage implements CoverageTable {
  readonly #intervals = new Map<VenueKey, Map<TimeMs, TimeMs>>()

  put(venue: VenueKey, fromMs: TimeMs, toMs: TimeMs): void {
    const intervals = this.#intervals.get(venue) ?? new Map<TimeMs, TimeMs>()
    this.#intervals.set(venue, intervals.set(fromMs, toMs))
  }

  at(venue: VenueKey, atMs: TimeMs): { readonly fromMs: TimeMs; readonly toMs: TimeMs } | null {
    let last: { readonly fromMs: TimeMs; readonly toMs: TimeMs } | null = null
    for (const [fromMs, toMs] of this.#intervals.get(venue) ?? []) {
      if (fromMs <= atMs && (last === null || fromMs > last.fromMs)) last = { fromMs, toMs }
    }
    return last !== null && last.toMs >= atMs ? last : null
  }

  /** Removes at most `rowsMax` intervals that ended before a time; returns their count. */
  prune(beforeMs: number, rowsMax: number): number {
    let removed = 0
    for (const intervals of this.#intervals.values()) {
      for (const [fromMs, toMs] of intervals) {
        if (toMs >= beforeMs || removed >= rowsMax) continue
        intervals.delete(fromMs)
        removed += 1
      }
    }
    return removed
  }
}

/** Index of the first row at or after a position. */
function lowerBound(list: readonly { readonly position: number }[], position: number): number {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const entry = list[middle]
    if (entry !== undefined && entry.position < position) low = middle + 1
    else high = middle
  }
  return low
}
