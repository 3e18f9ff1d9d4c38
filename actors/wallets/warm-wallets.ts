// The wallets in memory (warm wallets), least recently used first. The limit is in bytes, because one wallet may be as
// large as thousands of others.

import type { WalletAddress } from '../../engine/ids.ts'
import { walletWarmBytesMax } from '../../engine/limits.ts'
import type { Compared } from './comparisons.ts'
import type { WalletValuation } from './valuation.ts'
import type { Wallet } from './wallet.ts'

/** Times are monotonic. Null: never. */
export class WarmWallet implements Compared {
  readonly wallet: Wallet
  readonly valuation: WalletValuation
  /** The running sync. Resolves to whether the venue answered. */
  sync: Promise<boolean> | null = null
  /** Start of the last successful sync, and time of the last failed one (null after a success). */
  freshMs: number | null = null
  failedMs: number | null = null
  requestedMs: number | null = null
  ownMs: number | null = null
  profiledMs: number | null = null
  comparedMs: Compared['comparedMs'] = null
  comparison: Compared['comparison'] = null

  constructor(wallet: Wallet, valuation: WalletValuation) {
    this.wallet = wallet
    this.valuation = valuation
  }
}

export class WarmWallets {
  readonly #bytesMax: number
  readonly #warm = new Map<WalletAddress, { readonly warm: WarmWallet; bytes: number }>()
  #bytes = 0

  constructor(bytesMax = walletWarmBytesMax) {
    this.#bytesMax = bytesMax
  }

  get count(): number {
    return this.#warm.size
  }

  get bytes(): number {
    return this.#bytes
  }

  *all(): Iterable<WarmWallet> {
    for (const { warm } of this.#warm.values()) yield warm
  }

  peek(proxy: WalletAddress): WarmWallet | null {
    return this.#warm.get(proxy)?.warm ?? null
  }

  /** Returns the wallet and marks it as most recently used. */
  use(proxy: WalletAddress): WarmWallet | null {
    const entry = this.#warm.get(proxy)
    if (entry === undefined) return null
    this.#warm.delete(proxy)
    this.#warm.set(proxy, entry)
    return entry.warm
  }

  add(warm: WarmWallet): void {
    this.#warm.set(warm.wallet.record.proxy, { warm, bytes: 0 })
    this.weigh(warm)
  }

  /** Must be called when the wallet may have changed its size. */
  weigh({ wallet, valuation }: WarmWallet): void {
    const entry = this.#warm.get(wallet.record.proxy)
    if (entry === undefined) return
    const bytes = wallet.bytes + valuation.bytes
    this.#bytes += bytes - entry.bytes
    entry.bytes = bytes
  }

  /**
   * Evicts the least recently used wallets until the limit holds. Retains wallets with a running sync and the most
   * recently used wallet.
   */
  overflow(): readonly WarmWallet[] {
    const evicted: WarmWallet[] = []
    for (const [proxy, { warm, bytes }] of this.#warm) {
      if (this.#bytes <= this.#bytesMax || this.#warm.size === 1) break
      if (warm.sync !== null) continue
      this.#warm.delete(proxy)
      this.#bytes -= bytes
      evicted.push(warm)
    }
    return evicted
  }
}
