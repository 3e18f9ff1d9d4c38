// The prices of the current hour, the last of each second, before they are written to disk as one record.

import { HOUR_MS, type PriceMicros, type TimeMs, timeMs } from '../units.ts'

/** The hour number of a time: whole hours since 1970-01-01 UTC. */
export function hourOf(atMs: TimeMs): number {
  return Math.floor(atMs / HOUR_MS)
}

export class OpenHour {
  readonly hour: number
  readonly seconds: number[]
  readonly prices: PriceMicros[]

  constructor(
    hour: number,
    stored: { readonly seconds: readonly number[]; readonly prices: readonly PriceMicros[] } | null,
  ) {
    this.hour = hour
    this.seconds = stored === null ? [] : [...stored.seconds]
    this.prices = stored === null ? [] : [...stored.prices]
  }

  /** Records a price of this hour. It replaces an earlier price of the same second. */
  push(price: PriceMicros, atMs: TimeMs): void {
    const second = Math.floor((atMs % HOUR_MS) / 1_000)
    const last = this.seconds.at(-1)
    if (last !== undefined && last >= second) {
      this.prices[this.prices.length - 1] = price
      return
    }
    this.seconds.push(second)
    this.prices.push(price)
  }

  /** The newest tick at or before a time. Null when the hour has none that early. */
  before(atMs: TimeMs): { price: PriceMicros; timeMs: TimeMs } | null {
    for (let position = this.seconds.length - 1; position >= 0; position -= 1) {
      const second = this.seconds[position] ?? 0
      const price = this.prices[position]
      const tickMs = this.hour * HOUR_MS + second * 1_000
      if (price !== undefined && tickMs <= atMs) return { price, timeMs: timeMs(tickMs) }
    }
    return null
  }
}
