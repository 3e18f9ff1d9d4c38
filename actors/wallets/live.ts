// Fills of followed wallets as the stream told them, kept until readings have told them again: the stream is quick
// and knows no fees, the venue's history is late and knows them. What is in both counts once.
// Not for: whom to follow (actors/wallets/follows.ts). Upholds WALLETS4, WALLETS5.

import type { WalletAddress } from '../../engine/ids.ts'
import { walletFillsMax } from '../../engine/limits.ts'
import type { TimeMs } from '../../engine/units.ts'
import { compareEvents, type WalletEvent } from '../../engine/wallet.ts'

/** Some times the longest that a history is late: what it has not told by then it will not tell. */
const KEPT_MS = 600_000

const NO_FILLS: readonly WalletEvent[] = []

export class LiveFills {
  readonly #fillsMax: number
  /** In the order of arrival. */
  readonly #all = new Map<number, { readonly wallet: WalletAddress; readonly fill: WalletEvent }>()
  readonly #byWallet = new Map<WalletAddress, Map<number, WalletEvent>>()
  #serial = 0

  constructor(fillsMax = walletFillsMax) {
    this.#fillsMax = fillsMax
  }

  get count(): number {
    return this.#all.size
  }

  /** Full: the oldest fill of all wallets goes. */
  add(wallet: WalletAddress, fill: WalletEvent, nowMs: TimeMs): void {
    for (const [serial, oldest] of this.#all) {
      const isOld = oldest.fill.timeMs < nowMs - KEPT_MS
      if (!isOld && this.#all.size < this.#fillsMax) break
      this.#remove(oldest.wallet, serial)
    }
    this.#serial += 1
    this.#all.set(this.#serial, { wallet, fill })
    const fills = this.#byWallet.get(wallet)
    if (fills === undefined) this.#byWallet.set(wallet, new Map([[this.#serial, fill]]))
    else fills.set(this.#serial, fill)
  }

  /** A wallet's fills in the order of arrival. */
  of(wallet: WalletAddress): readonly WalletEvent[] {
    const fills = this.#byWallet.get(wallet)
    return fills === undefined ? NO_FILLS : [...fills.values()]
  }

  /** Everything before this moment is known by the wallet's history. */
  settle(wallet: WalletAddress, settledToMs: TimeMs): void {
    for (const [serial, fill] of this.#byWallet.get(wallet) ?? []) {
      if (fill.timeMs < settledToMs) this.#remove(wallet, serial)
    }
  }

  #remove(wallet: WalletAddress, serial: number): void {
    this.#all.delete(serial)
    const fills = this.#byWallet.get(wallet)
    fills?.delete(serial)
    if (fills?.size === 0) this.#byWallet.delete(wallet)
  }
}

/** The events that no told one is: of equal ones the n-th told is the n-th seen. */
export function untold(
  events: readonly WalletEvent[],
  told: readonly WalletEvent[],
): readonly WalletEvent[] {
  if (events.length === 0 || told.length === 0) return events
  const counts = new Map<string, number>()
  for (const event of told) {
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

/** What tells events apart. Not the time: the stream's and the history's may differ by a block. */
export function eventKey({ txHash, market, token, kind, size, price }: WalletEvent): string {
  return `${txHash} ${market} ${token} ${kind} ${size} ${price}`
}

/** Events in the order of the rules: time, then transaction, then as they came. */
export function inOrder(events: readonly WalletEvent[]): WalletEvent[] {
  return events.toSorted(compareEvents)
}
