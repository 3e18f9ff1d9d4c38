// Syncs followed wallets soon after the stream delivered fills, so that requests seldom wait for a sync. Collects the
// fills of one second, and repeats the sync with increasing delays while the venue's history lacks them. Only for a
// bounded number of recently requested wallets; others are synced at their next request.

import type { Clock, StopTimer } from '../../engine/clock.ts'
import type { WalletAddress } from '../../engine/ids.ts'
import { walletSyncsWaitingMax } from '../../engine/limits.ts'
import { MINUTE_MS } from '../../engine/units.ts'
import type { WarmWallet } from './warm-wallets.ts'

interface CatchUpParts {
  readonly clock: Clock
  /** Syncs a wallet in the background; null: not now. */
  readonly sync: (warm: WarmWallet) => Promise<boolean> | null
}

const GATHERED_MS = 1_000
/**
 * The history is delayed by seconds, rarely by a minute. After that, the periodic sync of all wallets covers the
 * wallet.
 */
const RETRY_MS: readonly number[] = [2_000, 4_000, 8_000, 16_000, 32_000]
const REQUESTED_MS = 10 * MINUTE_MS
/** Beyond this, wallets are synced at their next request. */
const WALLETS_MAX = walletSyncsWaitingMax

export class WalletCatchUps {
  readonly #parts: CatchUpParts
  readonly #timers = new Map<WalletAddress, StopTimer>()
  #isStopped = false

  constructor(parts: CatchUpParts) {
    this.#parts = parts
  }

  /** Schedules a sync after a live fill. */
  note(warm: WarmWallet): void {
    const nowMs = this.#parts.clock.monotonicMs()
    const { proxy } = warm.wallet.record
    if (warm.requestedMs === null || nowMs - warm.requestedMs > REQUESTED_MS) return
    if (this.#timers.has(proxy) || this.#timers.size >= WALLETS_MAX) return
    this.#syncAfter(warm, GATHERED_MS, 0)
  }

  #syncAfter(warm: WarmWallet, delayMs: number, tries: number): void {
    const { proxy } = warm.wallet.record
    const stop = this.#parts.clock.after(delayMs, () => {
      this.#timers.delete(proxy)
      if (warm.wallet.tail.isCovered) return
      const nextDelayMs = RETRY_MS[tries]
      const continueCatchUp = () => {
        const isOver = warm.wallet.tail.isCovered || nextDelayMs === undefined
        // A fill in the meantime may have scheduled another catch-up.
        const isAlreadyPlanned = this.#timers.has(proxy) || this.#timers.size >= WALLETS_MAX
        if (!isOver && !isAlreadyPlanned && !this.#isStopped)
          this.#syncAfter(warm, nextDelayMs, tries + 1)
      }
      void (this.#parts.sync(warm) ?? Promise.resolve()).then(continueCatchUp)
    })
    this.#timers.set(proxy, stop)
  }

  stop(): void {
    this.#isStopped = true
    for (const stop of this.#timers.values()) stop()
    this.#timers.clear()
  }
}
