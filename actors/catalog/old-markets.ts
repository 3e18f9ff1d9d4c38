// Which markets are old: resolved, ended longer ago than trades are kept, and with no trade or tick left, so that nothing
// is lost with them but their names. All markets are looked at in turn, a slice a call.

import type { MarketSummary, Storage } from '../../storage/contract/storage.ts'
import type { MarketActorRef } from './market-registry.ts'

/** Markets looked at in one call: a millisecond of work. */
const CHECKED_MAX = 5_000
/** Markets whose trades and ticks are asked for in one call: a few reads of the disk each. */
const LOOKUPS_MAX = 200

export class OldMarkets {
  readonly #storage: Pick<Storage, 'trades' | 'ticks'>
  #retainedFromMs = Number.NEGATIVE_INFINITY
  #round: Iterator<MarketActorRef> | null = null

  constructor(storage: Pick<Storage, 'trades' | 'ticks'>) {
    this.#storage = storage
  }

  /** Markets that ended before this time are old; before the first call none is. */
  setRetainedFrom(atMs: number): void {
    this.#retainedFromMs = atMs
  }

  /** Whether a market ended so long ago that the catalogue does not take it. */
  isOld(market: MarketSummary): boolean {
    return market.status === 'resolved' && endedAtMs(market) < this.#retainedFromMs
  }

  /**
   * At most `countMax` markets to forget, from where the last call stopped; a call stops at the end of the markets.
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
   * A market that this run saw resolve is kept for the whole time from then on, however early the venue says that it
   * ended; and a market whose mailbox has messages stays until they are handled.
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

/** When a resolved market was settled, else when it ended, as far as its listing states it; without any time, long ago. */
function endedAtMs(market: MarketSummary): number {
  return market.settledAtMs ?? market.closeAtMs ?? market.createdAtMs ?? 0
}
