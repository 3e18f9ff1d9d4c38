// Which wallets' fills are taken from the stream: wallets with a request within a day, of these the ten thousand requested
// last.

import type { WalletAddress } from '../../engine/ids.ts'
import { walletFollowedMs, walletsFollowedMax } from '../../engine/limits.ts'
import type { TimeMs } from '../../engine/units.ts'
import type { VenueWallets } from '../../engine/wallet.ts'

type Stream = Pick<VenueWallets, 'follow' | 'unfollow'>

/** Full: the wallet requested longest ago is unfollowed. */
export class WalletFollows {
  readonly #countMax: number
  /** When each wallet was last requested, the longest ago first. */
  readonly #askedAtMs = new Map<WalletAddress, TimeMs>()
  #stream: Stream | null = null

  constructor(countMax = walletsFollowedMax) {
    this.#countMax = countMax
  }

  get count(): number {
    return this.#askedAtMs.size
  }

  has(wallet: WalletAddress): boolean {
    return this.#askedAtMs.has(wallet)
  }

  /** The venue is open: wallets that were requested before are followed from now on. */
  attach(stream: Stream): void {
    this.#stream = stream
    for (const wallet of this.#askedAtMs.keys()) stream.follow(wallet)
  }

  /** A wallet was requested. */
  ask(wallet: WalletAddress, atMs: TimeMs): void {
    const isNew = !this.#askedAtMs.delete(wallet)
    this.#askedAtMs.set(wallet, atMs)
    if (isNew) this.#stream?.follow(wallet)
    for (const oldest of this.#askedAtMs.keys()) {
      if (this.#askedAtMs.size <= this.#countMax) break
      this.#drop(oldest)
    }
  }

  /** Unfollows wallets without a request within a day. */
  expire(nowMs: TimeMs): void {
    for (const [wallet, askedAtMs] of this.#askedAtMs) {
      if (askedAtMs > nowMs - walletFollowedMs) return
      this.#drop(wallet)
    }
  }

  #drop(wallet: WalletAddress): void {
    this.#askedAtMs.delete(wallet)
    this.#stream?.unfollow(wallet)
  }
}
