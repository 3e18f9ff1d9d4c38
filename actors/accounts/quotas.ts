// Quota windows by account or address, at most 100,000. When full, ended windows are evicted first, then the oldest.

import { QuotaWindow, WINDOW_MS } from '../../engine/accounts/account.ts'
import type { Clock } from '../../engine/clock.ts'
import type { AccountId } from '../../engine/ids.ts'
import type { Quota } from '../views.ts'

const WINDOWS_MAX = 100_000

export const QUOTA_KINDS = ['account', 'management', 'dashboard'] as const
export type QuotaKind = (typeof QUOTA_KINDS)[number]

export type AccountQuotas = Pick<Quotas<AccountId>, 'take' | 'peek'>

export class Quotas<Key> {
  readonly #clock: Clock
  readonly #windows = new Map<Key, QuotaWindow>()
  readonly #windowMs: number

  constructor(clock: Clock, windowMs = WINDOW_MS) {
    this.#clock = clock
    this.#windowMs = windowMs
  }

  take(key: Key, limit: number, amount = 1): Quota {
    let window = this.#windows.get(key)
    if (window === undefined) {
      window = new QuotaWindow(this.#windowMs)
      this.#windows.set(key, window)
      if (this.#windows.size > WINDOWS_MAX) this.#evict()
    }
    const nowMs = this.#clock.monotonicMs()
    return this.#describe(window, { limit, nowMs, isAllowed: window.take(nowMs, limit, amount) })
  }

  peek(key: Key, limit: number): Quota {
    const window = this.#windows.get(key) ?? new QuotaWindow(this.#windowMs)
    return this.#describe(window, { limit, nowMs: this.#clock.monotonicMs(), isAllowed: true })
  }

  #describe(
    window: QuotaWindow,
    { limit, nowMs, isAllowed }: { limit: number; nowMs: number; isAllowed: boolean },
  ): Quota {
    const { remaining, endsAtMs } = window.peek(nowMs, limit)
    const leftMs = Math.min(Math.max(endsAtMs - nowMs, 0), this.#windowMs)
    const resetSeconds = Math.ceil((this.#clock.nowMs() + leftMs) / 1_000)
    return { isAllowed, limit, remaining, resetSeconds }
  }

  /** Evicts a tenth at once, so that not every new key needs a scan. */
  #evict(): void {
    const nowMs = this.#clock.monotonicMs()
    for (const [key, window] of this.#windows) if (window.isOver(nowMs)) this.#windows.delete(key)
    for (const key of this.#windows.keys()) {
      if (this.#windows.size <= WINDOWS_MAX * 0.9) return
      this.#windows.delete(key)
    }
  }
}
