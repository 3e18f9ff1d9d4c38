// Stores the time of each wallet's last whale row for thirty days.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { walletWhalesMax } from '../../engine/limits.ts'
import { putLast } from '../../engine/put-last.ts'
import { DAY_MS, TIME_END, type TimeMs, timeMs } from '../../engine/units.ts'
import type { SliceQuery, WhaleTable } from '../../storage/contract/storage.ts'

const WHALE_MS = 30 * DAY_MS
const READ_ROWS = 64

/** When full, the wallet with the oldest record is evicted. */
export class WalletWhales {
  readonly #countMax: number
  readonly #lastMs = new Map<string, TimeMs>()

  constructor(countMax = walletWhalesMax) {
    this.#countMax = countMax
  }

  get count(): number {
    return this.#lastMs.size
  }

  isWhale(wallet: string, nowMs: TimeMs): boolean {
    return (this.#lastMs.get(wallet) ?? 0) > nowMs - WHALE_MS
  }

  note({
    wallet,
    timeMs: atMs,
  }: {
    readonly wallet: string | null
    readonly timeMs: TimeMs
  }): void {
    if (wallet === null) return
    const address = wallet.toLowerCase()
    const previousMs = this.#lastMs.get(address)
    const lastMs = previousMs === undefined || previousMs < atMs ? atMs : previousMs
    putLast(this.#lastMs, [address, lastMs], this.#countMax)
  }

  async load(whales: Pick<WhaleTable, 'range'>, nowMs: TimeMs, signal: AbortSignal): Promise<void> {
    const fromMs = timeMs(Math.max(0, nowMs - WHALE_MS))
    let after: SliceQuery['after'] = null
    while (!signal.aborted) {
      const rows = whales.range({ fromMs, toMs: TIME_END, after, order: 'asc', limit: READ_ROWS })
      for (const { whale } of rows) this.note(whale)
      const last = rows.at(-1)?.whale
      if (last === undefined || rows.length < READ_ROWS) return
      after = { timeMs: last.timeMs, ordinal: last.ordinal }
      await nextTurn()
    }
  }
}
