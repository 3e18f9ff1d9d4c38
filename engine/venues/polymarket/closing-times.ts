import type { NativeMarketId } from '../../ids.ts'
import type { TimeMs } from '../../units.ts'

/** Markets by the second of their planned close. The watched markets bound its size. */
export class ClosingTimes {
  readonly #bySecond = new Map<number, Set<NativeMarketId>>()
  #takenSecond = 0

  add(market: NativeMarketId, atMs: TimeMs): void {
    const second = Math.ceil(atMs / 1_000)
    const markets = this.#bySecond.get(second)
    if (markets === undefined) this.#bySecond.set(second, new Set([market]))
    else markets.add(market)
  }

  remove(market: NativeMarketId, atMs: TimeMs): void {
    const second = Math.ceil(atMs / 1_000)
    const markets = this.#bySecond.get(second)
    if (markets?.delete(market) === true && markets.size === 0) this.#bySecond.delete(second)
  }

  takeDue(nowMs: number): readonly NativeMarketId[] {
    const nowSecond = Math.floor(nowMs / 1_000)
    if (nowSecond === this.#takenSecond) return []
    this.#takenSecond = nowSecond
    const due: NativeMarketId[] = []
    for (const [second, markets] of this.#bySecond) {
      if (second > nowSecond) continue
      for (const market of markets) due.push(market)
      this.#bySecond.delete(second)
    }
    return due
  }
}
