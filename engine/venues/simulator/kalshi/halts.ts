// The fault `halt`: a part of venue b's exchange does not trade for some minutes. `/exchange/status` says so, its markets
// stay `active`, their books stand still. Drawn once a second.

import type { Random } from '../../../random.ts'
import { MINUTE_MS } from '../../../units.ts'
import type { Faults } from '../faults.ts'
import type { SimMarket } from '../model.ts'
import { SHARDS, shardOf } from './terms.ts'

const HALTED_MS = 3 * MINUTE_MS

export class SimHalts {
  readonly #faults: Faults
  readonly #random: Random
  #shard: number | null = null
  #untilMs = 0

  constructor(parts: { readonly faults: Faults; readonly random: Random }) {
    this.#faults = parts.faults
    this.#random = parts.random
  }

  /** To be called once a second: ends a halt that is over, or begins one. */
  draw(nowMs: number): void {
    if (this.#shard !== null && nowMs >= this.#untilMs) this.#shard = null
    if (this.#shard !== null || !this.#faults.strikes('halt')) return
    this.#shard = this.#random.pick(SHARDS).exchange_index
    this.#untilMs = nowMs + HALTED_MS
  }

  /** Whether a part of the exchange trades. */
  isTrading(shard: number): boolean {
    return shard !== this.#shard
  }

  /** Whether a market is of a part that does not trade; none of venue a is. */
  isHalted({ listing, event }: SimMarket): boolean {
    return this.#shard !== null && listing.venue === 'b' && shardOf(event) === this.#shard
  }
}
