// What one market traded in this run, in all and over the last 24 hours, in hourly sums: the answer
// to "24 h volume" must not depend on how many trades there were.

import { HOUR_MS, type SizeMicros, type TimeMs, type UsdMicros } from '../../../units.ts'

const HOURS_RETAINED = 25

interface HourSum {
  readonly hour: number
  usd: number
  contracts: number
}

/** Dollars, contracts, and [hour, dollars, contracts] of each kept hour. */
export type VolumeSums = readonly [
  usd: number,
  contracts: number,
  hours: readonly (readonly [hour: number, usd: number, contracts: number])[],
]

/** Sums in micros; the present hour and the 24 before it. */
export class TradedVolume {
  usd = 0
  contracts = 0
  /** Oldest first, hours without trades left out; at most 25, the oldest dropped. */
  readonly #hours: HourSum[] = []

  /** Everything it knows, as `restore` takes it. */
  sums(): VolumeSums {
    const hours = this.#hours.map(({ hour, usd, contracts }) => [hour, usd, contracts] as const)
    return [this.usd, this.contracts, hours]
  }

  /** Begins with what was traded before. */
  restore([usd, contracts, hours]: VolumeSums): void {
    this.usd = usd
    this.contracts = contracts
    for (const [hour, hourUsd, hourContracts] of hours) {
      this.#hours.push({ hour, usd: hourUsd, contracts: hourContracts })
    }
  }

  add(trade: { usd: UsdMicros; contracts: SizeMicros; atMs: TimeMs }): void {
    const hour = Math.floor(trade.atMs / HOUR_MS)
    this.usd += trade.usd
    this.contracts += trade.contracts
    let sum = this.#hours.at(-1)
    if (sum === undefined || sum.hour < hour) {
      sum = { hour, usd: 0, contracts: 0 }
      this.#hours.push(sum)
      if (this.#hours.length > HOURS_RETAINED) this.#hours.shift()
    }
    sum.usd += trade.usd
    sum.contracts += trade.contracts
  }

  /** Dollars of the last 24 hours, to the hour. */
  usd24h(nowMs: TimeMs): number {
    let usd = 0
    for (const sum of this.#hours) if (isRecent(sum, nowMs)) usd += sum.usd
    return usd
  }

  contracts24h(nowMs: TimeMs): number {
    let contracts = 0
    for (const sum of this.#hours) if (isRecent(sum, nowMs)) contracts += sum.contracts
    return contracts
  }
}

function isRecent(sum: HourSum, nowMs: number): boolean {
  return sum.hour > Math.floor(nowMs / HOUR_MS) - 24
}
