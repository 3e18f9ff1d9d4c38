// Schedules full resyncs of a wallet's history. If the venue's answers lack stored events: at once, then with
// increasing delays. If its count of positions differs: once a day. A resync loses no stored event.

import type { Clock } from '../../engine/clock.ts'
import type { WalletAddress } from '../../engine/ids.ts'
import { unknownAddressesMax } from '../../engine/limits.ts'
import type { Log } from '../../engine/process/log.ts'
import type { Count } from '../../engine/process/metrics.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../engine/units.ts'
import type { Wallet } from './wallet.ts'

interface FullResyncsParts {
  readonly clock: Clock
  readonly log: Log
  /** Counts full resyncs. */
  readonly resyncs: Count
}

/** Delays after the first time; then once a day. */
const LACKING_MS: readonly number[] = [
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  HOUR_MS,
  4 * HOUR_MS,
]
const DIFFERS_MS: readonly number[] = []

interface ScheduledResync {
  readonly atMs: number
  readonly times: number
}

export class FullResyncs {
  readonly #parts: FullResyncsParts
  /** Monotonic times, oldest first. When full, the oldest is evicted and may be resynced at once. */
  readonly #scheduled = new Map<WalletAddress, ScheduledResync>()

  constructor(parts: FullResyncsParts) {
    this.#parts = parts
  }

  /** Number of full resyncs scheduled for this wallet in this process. */
  times(proxy: WalletAddress): number {
    return this.#scheduled.get(proxy)?.times ?? 0
  }

  /** Makes the next sync a full resync if it is due; returns whether it is. */
  schedule(wallet: Wallet, why: 'lacking' | 'differs'): boolean {
    const { clock, log, resyncs } = this.#parts
    const { proxy, lacking } = wallet.record
    const nowMs = clock.monotonicMs()
    const { atMs, times } = this.#scheduled.get(proxy) ?? {
      atMs: Number.NEGATIVE_INFINITY,
      times: 0,
    }
    const pauses = why === 'lacking' ? LACKING_MS : DIFFERS_MS
    if (nowMs - atMs < (pauses[times - 1] ?? DAY_MS)) return false
    this.#scheduled.delete(proxy)
    this.#scheduled.set(proxy, { atMs: nowMs, times: times + 1 })
    for (const oldest of this.#scheduled.keys()) {
      if (this.#scheduled.size <= unknownAddressesMax) break
      this.#scheduled.delete(oldest)
    }
    resyncs.inc()
    log.warn({ wallet: proxy, why, lacking }, 'all of a wallet is asked for again')
    wallet.resyncAll()
    return true
  }
}
