// Volume of one market in total and over the last 24 hours, summed per hour.

import { HOUR_MS, type SizeMicros, type TimeMs, type UsdMicros } from '../../../units.ts'

const HOURS_RETAINED = 25

interface HourSum {
  readonly hour: number
  usd: number
  contracts: number
}

/** Total dollars, total contracts, and for each retained hour [hour, dollars, contracts]. */
export type VolumeSums = [
  usd: number,
  contracts: number,
  hours: [hour: number, usd: number, contracts: number][],
]

/** Sums in micros. Contains the current hour and the 24 hours before it. */
export class TradedVolume {
  usd = 0
  contracts = 0
  /** Oldest first. Hours without trades are absent. At most 25. The oldest is dropped. */
  readonly #hours: HourSum[] = []

  sums(): VolumeSums {
    const hours = this.#hours.map((sum): VolumeSums[2][number] => {
      return [sum.hour, sum.usd, sum.contracts]
    })
    return [this.usd, this.contracts, hours]
  }

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
