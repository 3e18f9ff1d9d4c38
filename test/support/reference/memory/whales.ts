// Reference implementation of storage/whales.ts: one array.

import { assert } from '../../../../engine/errors.ts'
import type { MarketNumber } from '../../../../engine/market/market.ts'
import type { TimeMs } from '../../../../engine/units.ts'
import type {
  OffsetQuery,
  SliceQuery,
  StoredWhale,
  WhaleMarket,
  WhaleRow,
  WhaleTable,
} from '../../../../storage/contract/storage.ts'

export class MemoryWhales implements WhaleTable {
  /** In the order of time and ordinal. */
  #rows: WhaleRow[] = []
  readonly #byId = new Map<string, WhaleRow>()

  get(market: MarketNumber, nativeId: string): StoredWhale | null {
    return this.#byId.get(`${market} ${nativeId}`)?.whale ?? null
  }

  put(market: WhaleMarket, whale: Omit<StoredWhale, 'ordinal'>): StoredWhale {
    assert(this.get(market.number, whale.nativeId) === null, 'a whale is stored once')
    const before = this.#rows.findLastIndex((row) => row.whale.timeMs <= whale.timeMs)
    const last = this.#rows[before]?.whale
    const stored = { ...whale, ordinal: last?.timeMs === whale.timeMs ? last.ordinal + 1 : 0 }
    const row = rowOf(market, stored)
    this.#rows.splice(before + 1, 0, row)
    this.#byId.set(`${market.number} ${whale.nativeId}`, row)
    return stored
  }

  replace(market: WhaleMarket, whale: StoredWhale): void {
    const id = `${market.number} ${whale.nativeId}`
    const existing = this.#byId.get(id)
    const { timeMs, ordinal } = whale
    const isSame = existing?.whale.timeMs === timeMs && existing.whale.ordinal === ordinal
    if (existing === undefined || !isSame) return
    const row = rowOf(market, whale)
    this.#rows[this.#rows.indexOf(existing)] = row
    this.#byId.set(id, row)
  }

  range({ fromMs, toMs, after, order, limit }: SliceQuery): readonly WhaleRow[] {
    const sign = order === 'asc' ? 1 : -1
    const rows = this.#rows.filter(({ whale }) => {
      if (whale.timeMs < fromMs || whale.timeMs > toMs) return false
      if (after === null) return true
      if (whale.timeMs !== after.timeMs) return (whale.timeMs - after.timeMs) * sign > 0
      return after.ordinal !== null && (whale.ordinal - after.ordinal) * sign > 0
    })
    if (order === 'desc') rows.reverse()
    return rows.slice(0, Math.max(limit, 0))
  }

  rangeOfMarket(query: SliceQuery & { readonly market: MarketNumber }): readonly WhaleRow[] {
    const rows = this.range({ ...query, limit: this.#rows.length })
    const ofMarket = rows.filter((row) => row.market === query.market)
    return ofMarket.slice(0, Math.max(query.limit, 0))
  }

  rangeByOffset(query: OffsetQuery): readonly WhaleRow[] {
    const offsetOf = ({ whale }: WhaleRow) => whale.offset ?? 0
    return this.#rows
      .filter((row) => row.whale.run === query.run && offsetOf(row) > query.offset)
      .sort((one, other) => offsetOf(one) - offsetOf(other))
      .slice(0, Math.max(query.limit, 0))
  }

  newestOffset(run: number): number {
    const all = this.rangeByOffset({ run, offset: 0, limit: this.#rows.length })
    return all.at(-1)?.whale.offset ?? 0
  }

  oldestMs(): TimeMs | null {
    return this.#rows[0]?.whale.timeMs ?? null
  }

  count(): number {
    return this.#rows.length
  }
}

function rowOf({ number, venue, nativeId }: WhaleMarket, whale: StoredWhale): WhaleRow {
  return { market: number, venue, nativeMarket: nativeId, whale }
}
