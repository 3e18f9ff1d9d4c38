// Reference implementation of storage/opportunities.ts: an array.

import type { MarketNumber, MarketRef } from '../../../../engine/market/market.ts'
import type { OpenOpportunity, PastOpportunity } from '../../../../engine/opportunity.ts'
import type { TimeMs } from '../../../../engine/units.ts'
import type {
  OpportunityTable,
  PastOpportunityRow,
  SliceQuery,
} from '../../../../storage/contract/storage.ts'

export class MemoryOpportunities implements OpportunityTable {
  #rows: readonly PastOpportunityRow[] = []
  readonly #open = new Map<string, OpenOpportunity>()

  putOpen(open: OpenOpportunity): void {
    this.#open.set(open.last.id, structuredClone(open))
  }

  removeOpen(id: string): void {
    this.#open.delete(id)
  }

  takeOpen(marketOf: (number: MarketNumber) => MarketRef | null): readonly OpenOpportunity[] {
    const all = [...this.#open.values()]
    this.#open.clear()
    return all.filter(({ last }) =>
      last.legs.every(({ market }) => marketOf(market.number) !== null),
    )
  }

  put(past: PastOpportunity): void {
    const others = this.#rows.filter((row) => row.past.closedAtMs === past.closedAtMs)
    this.#rows = [...this.#rows, { past: structuredClone(past), ordinal: others.length }].sort(
      compareRows,
    )
  }

  range({ fromMs, toMs, after, order, limit }: SliceQuery): readonly PastOpportunityRow[] {
    const rows = this.#rows.filter(({ past: { closedAtMs }, ordinal }) => {
      if (closedAtMs < fromMs || closedAtMs > toMs) return false
      if (after === null) return true
      const ahead = closedAtMs - after.timeMs || ordinal - (after.ordinal ?? 0)
      return order === 'asc' ? ahead > 0 : ahead < 0
    })
    return (order === 'asc' ? rows : rows.toReversed()).slice(0, Math.max(0, limit))
  }

  oldestMs(): TimeMs | null {
    return this.#rows[0]?.past.closedAtMs ?? null
  }

  prune(beforeMs: number): void {
    this.#rows = this.#rows.filter(({ past }) => past.closedAtMs >= beforeMs)
  }
}

function compareRows(one: PastOpportunityRow, other: PastOpportunityRow): number {
  return one.past.closedAtMs - other.past.closedAtMs || one.ordinal - other.ordinal
}
