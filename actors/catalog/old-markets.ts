// Finds old markets: resolved, ended before the retention period of trades, and without trades or ticks. Only their
// names are lost with them. Each call checks a slice of all markets in rotation.

import type { MarketSummary, Storage } from '../../storage/contract/storage.ts'
import type { MarketActorRef } from './market-registry.ts'

/** Markets checked per call: 1 ms of work. */
const CHECKED_MAX = 5_000
/** Markets whose trades and ticks are looked up per call: a few disk reads each. */
const LOOKUPS_MAX = 200

export class OldMarkets {
  readonly #storage: Pick<Storage, 'trades' | 'ticks'>
  #retainedFromMs = Number.NEGATIVE_INFINITY
  #round: Iterator<MarketActorRef> | null = null

  constructor(storage: Pick<Storage, 'trades' | 'ticks'>) {
    this.#storage = storage
  }

  /** Markets that ended before this time are old. Before the first call no market is old. */
  setRetainedFrom(atMs: number): void {
    this.#retainedFromMs = atMs
  }

  /** Returns whether a market ended so long ago that the catalogue does not take it. */
  isOld(market: MarketSummary): boolean {
    return market.status === 'resolved' && endedAtMs(market) < this.#retainedFromMs
  }

  /**
   * Returns at most `countMax` markets to remove, starting where the last call stopped. A call stops at the end of the
   * markets.
   */
  next(markets: Iterable<MarketActorRef>, countMax: number): MarketActorRef[] {
    const found: MarketActorRef[] = []
    let lookupCount = 0
    this.#round ??= markets[Symbol.iterator]()
    for (let checkedCount = 0; checkedCount < CHECKED_MAX; checkedCount += 1) {
      if (found.length >= countMax || lookupCount >= LOOKUPS_MAX) break
      const next = this.#round.next()
      if (next.done === true) {
        this.#round = null
        break
      }
      if (!this.#isOver(next.value)) continue
      lookupCount += 1
      if (!this.#hasHistory(next.value)) found.push(next.value)
    }
    return found
  }

  /**
   * A market that resolved in this run is retained for the full period from then on, even if the venue states an
   * earlier end. A market with queued messages is retained until they are handled.
   */
  #isOver({ actor, isIdle }: MarketActorRef): boolean {
    return this.isOld(actor.summary) && (actor.resolvedAtMs ?? 0) < this.#retainedFromMs && isIdle
  }

  #hasHistory({ actor }: MarketActorRef): boolean {
    const { number } = actor.ref
    const { trades, ticks } = this.#storage
    return trades.newestMs(number) !== null || ticks.oldestHour(number) !== null
  }
}

/** Settlement time of a resolved market, else its end or creation as its listing states it. 0 without any time. */
function endedAtMs(market: MarketSummary): number {
  return market.settledAtMs ?? market.closeAtMs ?? market.createdAtMs ?? 0
}
