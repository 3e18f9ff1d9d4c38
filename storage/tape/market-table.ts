// The markets of one file of the tape, by their numbers in that file's data folder. Numbers of other files may differ.

import { marketId } from '../../engine/ids.ts'
import type { MarketNumber, MarketRef } from '../../engine/market/market.ts'
import type { PartHead } from '../../engine/tape/part.ts'
import type { MarketSummary } from '../contract/rows.ts'
import type { LogItem } from '../records/log-items.ts'

export interface TapeMarket {
  readonly ref: MarketRef
  readonly summary: MarketSummary
}

export class MarketTable {
  readonly #platforms: ReadonlyMap<string, string>
  readonly #markets = new Map<MarketNumber, TapeMarket>()
  readonly #numbers = new Map<string, MarketNumber>()

  constructor(names: PartHead['names']) {
    this.#platforms = new Map(names.map(({ venue, platform }) => [venue, platform]))
  }

  list({ market: number, summary }: Extract<LogItem, { kind: 'listed' }>): void {
    const existing = this.#markets.get(number)
    const ref = existing?.ref ?? this.#refOf(number, summary)
    if (ref === null) return
    this.#markets.set(number, { ref, summary })
    this.#numbers.set(ref.id.toLowerCase(), number)
  }

  get(number: MarketNumber): TapeMarket | null {
    return this.#markets.get(number) ?? null
  }

  numberOf(id: string): MarketNumber | null {
    return this.#numbers.get(id.toLowerCase()) ?? null
  }

  readonly refOf = (number: MarketNumber): MarketRef | null =>
    this.#markets.get(number)?.ref ?? null

  all(): Iterable<TapeMarket> {
    return this.#markets.values()
  }

  #refOf(number: MarketNumber, { venue, nativeId }: MarketSummary): MarketRef | null {
    const platform = this.#platforms.get(venue)
    if (platform === undefined) return null
    return { id: marketId(platform, nativeId), number, venue, platform, nativeId }
  }
}
