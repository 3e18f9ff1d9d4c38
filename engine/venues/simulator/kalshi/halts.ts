// The fault `halt`: a shard of venue b's exchange stops trading for some minutes. `/exchange/status` reports it, its
// markets stay `active`, and their books do not change. Drawn once a second.

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

  /** Call once a second. Ends an expired halt, or begins one. */
  draw(nowMs: number): void {
    if (this.#shard !== null && nowMs >= this.#untilMs) this.#shard = null
    if (this.#shard !== null || !this.#faults.strikes('halt')) return
    this.#shard = this.#random.pick(SHARDS).exchange_index
    this.#untilMs = nowMs + HALTED_MS
  }

  isTrading(shard: number): boolean {
    return shard !== this.#shard
  }

  /** Reports whether a market is on a halted shard. Always false for venue a. */
  isHalted({ listing, event }: SimMarket): boolean {
    return this.#shard !== null && listing.venue === 'b' && shardOf(event) === this.#shard
  }
}
