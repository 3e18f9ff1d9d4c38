// Fills of followed wallets from the venue's stream, retained until a sync returns them. The stream is fast but lacks
// fees. The venue's history has fees but is delayed.

import type { WalletAddress } from '../../engine/ids.ts'
import { walletFillsMax, walletFollowedMs, walletsFollowedMax } from '../../engine/limits.ts'
import type { TimeMs } from '../../engine/units.ts'
import { compareEvents, type VenueWallets, type WalletEvent } from '../../engine/wallet.ts'

/** Several times the maximum delay of the venue's history. */
const RETAINED_MS = 600_000

const NO_FILLS: readonly WalletEvent[] = []

export class LiveFills {
  readonly #fillsMax: number
  readonly #all = new Map<number, { readonly wallet: WalletAddress; readonly fill: WalletEvent }>()
  readonly #byWallet = new Map<WalletAddress, Map<number, WalletEvent>>()
  #serial = 0

  constructor(fillsMax = walletFillsMax) {
    this.#fillsMax = fillsMax
  }

  get count(): number {
    return this.#all.size
  }

  add(wallet: WalletAddress, fill: WalletEvent, nowMs: TimeMs): void {
    for (const [serial, oldest] of this.#all) {
      const isOld = oldest.fill.timeMs < nowMs - RETAINED_MS
      if (!isOld && this.#all.size < this.#fillsMax) break
      this.#remove(oldest.wallet, serial)
    }
    this.#serial += 1
    this.#all.set(this.#serial, { wallet, fill })
    const fills = this.#byWallet.get(wallet)
    if (fills === undefined) this.#byWallet.set(wallet, new Map([[this.#serial, fill]]))
    else fills.set(this.#serial, fill)
  }

  of(wallet: WalletAddress): readonly WalletEvent[] {
    const fills = this.#byWallet.get(wallet)
    return fills === undefined ? NO_FILLS : [...fills.values()]
  }

  #remove(wallet: WalletAddress, serial: number): void {
    this.#all.delete(serial)
    const fills = this.#byWallet.get(wallet)
    fills?.delete(serial)
    if (fills?.size === 0) this.#byWallet.delete(wallet)
  }
}

/** Returns the `events` that are not in `listed`. Of equal events, as many are removed as `listed` contains. */
export function notAmong(
  events: readonly WalletEvent[],
  listed: readonly WalletEvent[],
): readonly WalletEvent[] {
  if (events.length === 0 || listed.length === 0) return events
  const counts = new Map<string, number>()
  for (const event of listed) {
    const key = eventKey(event)
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return events.filter((event) => {
    const key = eventKey(event)
    const count = counts.get(key) ?? 0
    counts.set(key, count - 1)
    return count <= 0
  })
}

/** The key excludes the time, which may differ slightly between stream and history. */
export function eventKey({ txHash, market, token, kind, size, price }: WalletEvent): string {
  return `${txHash} ${market} ${token} ${kind} ${size} ${price}`
}

/** Sorts events by time, then transaction, then arrival. */
export function inOrder(events: readonly WalletEvent[]): WalletEvent[] {
  return events.toSorted(compareEvents)
}

type Stream = Pick<VenueWallets, 'follow' | 'unfollow'>

export class WalletFollows {
  readonly #countMax: number
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

  /** Called when the venue is open. Follows wallets that were requested before. */
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

  /** Unfollows wallets that were not requested within a day. */
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
