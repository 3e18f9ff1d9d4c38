// Reference implementation of storage/matches.ts, in memory.

import type { MarketNumber } from '../../../../engine/market/market.ts'
import type {
  MatchTable,
  OverrideKey,
  OverrideTable,
  StoredMatch,
  StoredOverride,
} from '../../../../storage/contract/matches.ts'

export class MemoryMatches implements MatchTable {
  readonly #matches = new Map<MarketNumber, StoredMatch>()

  all(): Iterable<StoredMatch> {
    return [...this.#matches.values()].sort((one, other) => one.a - other.a)
  }

  put(match: StoredMatch): void {
    this.#matches.set(match.a, match)
  }

  remove(a: MarketNumber): void {
    this.#matches.delete(a)
  }
}

export class MemoryMatchOverrides implements OverrideTable {
  readonly #verdicts = new Map<string, StoredOverride>()

  all(): Iterable<StoredOverride> {
    return [...this.#verdicts.keys()].sort().flatMap((key) => this.#verdicts.get(key) ?? [])
  }

  async put(result: StoredOverride): Promise<void> {
    this.#verdicts.set(`${result.on} ${result.a} ${result.b}`, result)
  }

  async remove({ on, a, b }: OverrideKey): Promise<void> {
    this.#verdicts.delete(`${on} ${a} ${b}`)
  }
}
