// The wallets in memory with all that belongs to each, the one asked for longest ago first; bounded by bytes, not by
// number, since one wallet may be as large as thousands. Not for: what is done with them (wallets.ts).
// Upholds WALLETS13.

import type { WalletAddress } from '../../engine/ids.ts'
import { walletWarmBytesMax } from '../../engine/limits.ts'
import type { Compared } from './comparisons.ts'
import type { WalletLook } from './look.ts'

/** Times are monotonic; null: never. */
export interface WalletSeat extends Compared {
  readonly look: WalletLook
  /** The reading under way, for whoever wants to wait for it: resolves to whether the venue answered. */
  reading: Promise<boolean> | null
  /** When the last reading that the venue answered began, and when the last one failed. */
  freshMs: number | null
  failedMs: number | null
  /** When a user last asked. */
  askedMs: number | null
  /** When our own log of trades was last looked through for it. */
  ownMs: number | null
  /** When the venue was last asked who that is. */
  profiledMs: number | null
}

export class WalletSeats {
  readonly #bytesMax: number
  readonly #seats = new Map<WalletAddress, { readonly seat: WalletSeat; bytes: number }>()
  #bytes = 0

  constructor(bytesMax = walletWarmBytesMax) {
    this.#bytesMax = bytesMax
  }

  get count(): number {
    return this.#seats.size
  }

  get bytes(): number {
    return this.#bytes
  }

  *all(): Iterable<WalletSeat> {
    for (const { seat } of this.#seats.values()) yield seat
  }

  peek(proxy: WalletAddress): WalletSeat | null {
    return this.#seats.get(proxy)?.seat ?? null
  }

  /** Also puts it behind all others: it goes last. */
  use(proxy: WalletAddress): WalletSeat | null {
    const kept = this.#seats.get(proxy)
    if (kept === undefined) return null
    this.#seats.delete(proxy)
    this.#seats.set(proxy, kept)
    return kept.seat
  }

  add(seat: WalletSeat): void {
    this.#seats.set(seat.wallet.row.proxy, { seat, bytes: 0 })
    this.weigh(seat)
  }

  /** It has grown, or shrunk. */
  weigh({ wallet, look }: WalletSeat): void {
    const kept = this.#seats.get(wallet.row.proxy)
    if (kept === undefined) return
    const bytes = wallet.bytes + look.bytes
    this.#bytes += bytes - kept.bytes
    kept.bytes = bytes
  }

  /** Takes out those asked for longest ago until the others fit; one being read stays, and so does the last. */
  overflow(): readonly WalletSeat[] {
    const gone: WalletSeat[] = []
    for (const [proxy, { seat, bytes }] of this.#seats) {
      if (this.#bytes <= this.#bytesMax || this.#seats.size === 1) break
      if (seat.reading !== null) continue
      this.#seats.delete(proxy)
      this.#bytes -= bytes
      gone.push(seat)
    }
    return gone
  }
}
