// Chooses the wallets whose fills are taken from the stream: those requested within a day, at most the ten thousand
// most recent.

import type { WalletAddress } from '../../engine/ids.ts'
import { walletFollowedMs, walletsFollowedMax } from '../../engine/limits.ts'
import type { TimeMs } from '../../engine/units.ts'
import type { VenueWallets } from '../../engine/wallet.ts'

type Stream = Pick<VenueWallets, 'follow' | 'unfollow'>

/** When full, unfollows the wallet requested longest ago. */
export class WalletFollows {
  readonly #countMax: number
  /** Time of the last request of each wallet, oldest first. */
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

  /** The venue is open: follows the wallets that were requested before. */
  attach(stream: Stream): void {
    this.#stream = stream
    for (const wallet of this.#requestedAtMs.keys()) stream.follow(wallet)
  }

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
