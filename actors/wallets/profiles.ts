// Who an address is, as the venue says: asked once for all who want to know, few at a time; who was never seen is
// believed not to be there for a while. Not for: wallets that are known (wallets.ts). Upholds WALLETS2, WALLETS11.

import type { Clock } from '../../engine/clock.ts'
import type { WalletAddress } from '../../engine/ids.ts'
import { walletReadingsWaitingMax, walletStrangersMax } from '../../engine/limits.ts'
import { MINUTE_MS } from '../../engine/units.ts'
import type { VenueWallets, WalletProfile } from '../../engine/wallet.ts'
import { Slots } from '../slots.ts'

type Asked = Pick<VenueWallets, 'profile'>

/** Short questions, for which everybody waits first. */
const RUNNING_MAX = 4
/** An address that the venue never saw is asked for again after this. */
const STRANGER_MS = MINUTE_MS

export class WalletProfiles {
  readonly #clock: Clock
  readonly #slots: Slots
  /** As many as may run and wait. */
  readonly #asked = new Map<WalletAddress, Promise<WalletProfile | null>>()
  /** Until when an address is believed never to have been seen (monotonic); the longest ago first. */
  readonly #strangers = new Map<WalletAddress, number>()

  constructor(clock: Clock) {
    this.#clock = clock
    this.#slots = new Slots({ runningMax: RUNNING_MAX, waitingMax: walletReadingsWaitingMax })
  }

  isStranger(address: WalletAddress): boolean {
    return this.#clock.monotonicMs() < (this.#strangers.get(address) ?? 0)
  }

  /** Null: never seen. `full`: too many are being asked for. Rejects when the venue does not answer. */
  ask(
    address: WalletAddress,
    venue: Asked,
    signal: AbortSignal,
  ): Promise<WalletProfile | null> | 'full' {
    const known = this.#asked.get(address)
    if (known !== undefined) return known
    if (this.#slots.isFull) return 'full'
    const asked = this.#ask(address, venue, signal).finally(() => this.#asked.delete(address))
    this.#asked.set(address, asked)
    // Whoever asked may have gone.
    asked.catch(() => undefined)
    return asked
  }

  async #ask(
    address: WalletAddress,
    venue: Asked,
    signal: AbortSignal,
  ): Promise<WalletProfile | null> {
    const profile = await this.#slots.run(signal, () => venue.profile(address, signal))
    if (profile === null) this.#noteStranger(address)
    return profile
  }

  /** Full: who was asked for longest ago is forgotten. */
  #noteStranger(address: WalletAddress): void {
    this.#strangers.delete(address)
    this.#strangers.set(address, this.#clock.monotonicMs() + STRANGER_MS)
    for (const oldest of this.#strangers.keys()) {
      if (this.#strangers.size <= walletStrangersMax) break
      this.#strangers.delete(oldest)
    }
  }
}
