// Readings of followed wallets soon after the stream told fills of them, so that whoever asks seldom has to wait for
// one: what comes within a second is gathered, and as long as the venue does not tell the fills it is asked again, more
// and more seldom. Only of wallets that somebody asked for lately, and so many at once; others are read when they are
// asked for. Not for: how a wallet is read (actors/wallets/readings.ts). Upholds WALLETS21.

import type { Clock, StopTimer } from '../../engine/clock.ts'
import type { WalletAddress } from '../../engine/ids.ts'
import { walletReadingsWaitingMax } from '../../engine/limits.ts'
import { MINUTE_MS } from '../../engine/units.ts'
import type { WarmWallet } from './warm-wallets.ts'

export interface CatchUpParts {
  readonly clock: Clock
  /** Reads a wallet that nobody waits for; null: not now. */
  readonly read: (warm: WarmWallet) => Promise<boolean> | null
}

const GATHERED_MS = 1_000
/** The history is late by some seconds, seldom by a minute; then the wallet is read now and then in any case. */
const AGAIN_MS: readonly number[] = [2_000, 4_000, 8_000, 16_000, 32_000]
const ASKED_MS = 10 * MINUTE_MS
/** Full: further wallets are read when somebody asks. */
const WALLETS_MAX = walletReadingsWaitingMax

export class WalletCatchUps {
  readonly #parts: CatchUpParts
  readonly #timers = new Map<WalletAddress, StopTimer>()
  #isStopped = false

  constructor(parts: CatchUpParts) {
    this.#parts = parts
  }

  /** A live fill came. */
  note(warm: WarmWallet): void {
    const nowMs = this.#parts.clock.monotonicMs()
    const { proxy } = warm.wallet.record
    if (warm.askedMs === null || nowMs - warm.askedMs > ASKED_MS) return
    if (this.#timers.has(proxy) || this.#timers.size >= WALLETS_MAX) return
    this.#readAfter(warm, GATHERED_MS, 0)
  }

  #readAfter(warm: WarmWallet, delayMs: number, tries: number): void {
    const { proxy } = warm.wallet.record
    const stop = this.#parts.clock.after(delayMs, () => {
      this.#timers.delete(proxy)
      if (warm.wallet.tail.isCovered) return
      const againMs = AGAIN_MS[tries]
      const goOn = () => {
        const isOver = warm.wallet.tail.isCovered || againMs === undefined
        // A fill that came meanwhile may have begun anew.
        const isElsewhere = this.#timers.has(proxy) || this.#timers.size >= WALLETS_MAX
        if (!isOver && !isElsewhere && !this.#isStopped) this.#readAfter(warm, againMs, tries + 1)
      }
      void (this.#parts.read(warm) ?? Promise.resolve()).then(goOn)
    })
    this.#timers.set(proxy, stop)
  }

  stop(): void {
    this.#isStopped = true
    for (const stop of this.#timers.values()) stop()
    this.#timers.clear()
  }
}
