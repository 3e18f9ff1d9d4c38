// What a wallet did since its ledger ends: what the last reading told of it, and the live fills that no reading has told
// yet. As long as there are such, what is shown rests on the stream alone, which tells no split, merge or redemption.
// Not for: what is settled (wallet-ledger.ts), nor when the venue is asked (wallets.ts).
// Upholds WALLETS4, WALLETS5, WALLETS20, WALLETS21.

import type { WalletAddress } from '../engine/ids.ts'
import { HOUR_MS, type TimeMs, timeMs } from '../engine/units.ts'
import type { WalletEvent } from '../engine/wallet.ts'
import { inOrder, type LiveFills, untold } from './wallet-live.ts'
import type { ReadingResult } from './wallet-reading.ts'

/** A reading that moves nowhere for so long has lost its place: what it looks for is not told any more. */
const STUCK_MS = HOUR_MS

export class WalletTail {
  readonly #live: LiveFills
  readonly #proxy: WalletAddress
  #reading: { readonly atMs: TimeMs; readonly result: ReadingResult } | null = null
  /** Counts live fills; how many there were when the last reading began. */
  #fillCount = 0
  #readFillCount = 0
  #untoldCount = 0
  /** When the stream's last fill was that may have been a repeat; null: a settled reading has told since. */
  #doubtMs: TimeMs | null = null
  /** Since when readings could not go on from where the ledger ends; null: they can. */
  #stuckMs: TimeMs | null = null

  constructor(live: LiveFills, proxy: WalletAddress) {
    this.#live = live
    this.#proxy = proxy
  }

  /** When the last reading of this process began; null before it. */
  get readAtMs(): TimeMs | null {
    return this.#reading?.atMs ?? null
  }

  /** The last reading told everything since the ledger ends, as far as anybody can see. */
  get isWhole(): boolean {
    return this.#reading?.result.isTailWhole ?? true
  }

  /** Every live fill that is shown was told by a reading too. */
  get isCovered(): boolean {
    return this.#untoldCount === 0
  }

  /** A live fill is shown that came after the last reading began. */
  get isOutrun(): boolean {
    return !this.isCovered && this.#readFillCount < this.#fillCount
  }

  /** The stream told a fill twice: only the venue's history says whether there were two. */
  get isDoubtful(): boolean {
    return this.#doubtMs !== null
  }

  get isStuck(): boolean {
    return this.#stuckMs !== null && (this.readAtMs ?? 0) - this.#stuckMs >= STUCK_MS
  }

  noteFill(): void {
    this.#fillCount += 1
  }

  /** The stream told a fill again that it had told: it is not shown twice until the history tells it twice. */
  noteRepeat(fill: WalletEvent): void {
    this.#doubtMs = timeMs(Math.max(this.#doubtMs ?? 0, fill.timeMs))
  }

  /** A reading begins; call what is given with its result. */
  begin(atMs: TimeMs): (result: ReadingResult) => void {
    const fillCount = this.#fillCount
    return (result) => {
      this.#reading = { atMs, result }
      this.#readFillCount = fillCount
      this.#live.settle(this.#proxy, result.settledToMs)
      if (this.#doubtMs !== null && this.#doubtMs < result.settledToMs) this.#doubtMs = null
      this.#stuckMs = result.isStuck ? (this.#stuckMs ?? atMs) : null
    }
  }

  /** In order, from the end of the ledger on. */
  events(settledToMs: TimeMs): readonly WalletEvent[] {
    const fills = this.#live.of(this.#proxy).filter((fill) => fill.timeMs >= settledToMs)
    const told = this.#reading?.result
    const more = untold(fills, told?.recent ?? [])
    this.#untoldCount = more.length
    // A later reading may have settled some of them, and failed then.
    const kept = told?.unsettled.filter((event) => event.timeMs >= settledToMs) ?? []
    return inOrder([...kept, ...more])
  }

  /** The ledger was dropped. */
  clear(): void {
    this.#reading = null
    this.#stuckMs = null
  }
}
