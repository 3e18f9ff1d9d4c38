// The wallets in memory (warm wallets) with all that belongs to each, the one requested longest ago first; bounded by
// bytes, not by number, since one wallet may be as large as thousands.

import type { WalletAddress } from '../../engine/ids.ts'
import { walletWarmBytesMax } from '../../engine/limits.ts'
import type { Compared } from './comparisons.ts'
import type { WalletValuation } from './valuation.ts'

/** Times are monotonic; null: never. */
export interface WarmWallet extends Compared {
  readonly valuation: WalletValuation
  /** The reading under way; resolves to whether the venue answered. */
  sync: Promise<boolean> | null
  /** When the last reading that the venue answered began, and when the last one failed. */
  freshMs: number | null
  failedMs: number | null
  /** When a user last requested the wallet. */
  requestedMs: number | null
  /** When our own log of trades was last searched for it. */
  ownMs: number | null
  /** When the venue was last asked for the profile. */
  profiledMs: number | null
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

  /** Returns the wallet, and puts it behind all others: it is evicted last. */
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

  /** Updates the size of a wallet that may have changed. */
  weigh({ wallet, valuation }: WarmWallet): void {
    const entry = this.#warm.get(wallet.record.proxy)
    if (entry === undefined) return
    const bytes = wallet.bytes + valuation.bytes
    this.#bytes += bytes - entry.bytes
    entry.bytes = bytes
  }

  /** Evicts the wallets requested longest ago until the others fit; a wallet that is being read stays, and so does the last. */
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
