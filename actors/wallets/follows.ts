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
  readonly #requestedAtMs = new Map<WalletAddress, TimeMs>()
  #stream: Stream | null = null

  constructor(countMax = walletsFollowedMax) {
    this.#countMax = countMax
  }

  get count(): number {
    return this.#requestedAtMs.size
  }

  has(wallet: WalletAddress): boolean {
    return this.#requestedAtMs.has(wallet)
  }

  /** The venue is open: wallets that were requested before are followed from now on. */
  attach(stream: Stream): void {
    this.#stream = stream
    for (const wallet of this.#requestedAtMs.keys()) stream.follow(wallet)
  }

  /** A wallet was requested. */
  noteRequest(wallet: WalletAddress, atMs: TimeMs): void {
    const isNew = !this.#requestedAtMs.delete(wallet)
    this.#requestedAtMs.set(wallet, atMs)
    if (isNew) this.#stream?.follow(wallet)
    for (const oldest of this.#requestedAtMs.keys()) {
      if (this.#requestedAtMs.size <= this.#countMax) break
      this.#drop(oldest)
    }
  }

  /** Unfollows wallets without a request within a day. */
  expire(nowMs: TimeMs): void {
    for (const [wallet, requestedAtMs] of this.#requestedAtMs) {
      if (requestedAtMs > nowMs - walletFollowedMs) return
      this.#drop(wallet)
    }
  }

  #drop(wallet: WalletAddress): void {
    this.#requestedAtMs.delete(wallet)
    this.#stream?.unfollow(wallet)
  }
}
