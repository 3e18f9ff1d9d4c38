// The syncs of all wallets: one at a time per wallet, shared by all waiting requests, and few at once, because live
// trades and their back-fill share the venue's quota. A sync continues after its requests have ended.

import type { Clock } from '../../engine/clock.ts'
import { type Requester, SYSTEM } from '../../engine/fair-queue.ts'
import type { WalletAddress } from '../../engine/ids.ts'
import { walletFirstSyncsMax, walletSyncsMax, walletSyncsWaitingMax } from '../../engine/limits.ts'
import { type Log, LogSampler } from '../../engine/process/log.ts'
import type { VenueWallets } from '../../engine/wallet.ts'
import { FairSlots, SlotsFull, type YieldSlot } from '../slots.ts'
import type { WalletSource } from './history-sync.ts'
import type { WarmWallet } from './warm-wallets.ts'

interface WalletSyncsParts {
  readonly clock: Clock
  readonly log: Log
  /** Aborts at shutdown. */
  readonly signal: AbortSignal
  /** A wallet may have grown. Called often. */
  readonly onProgress: (warm: WarmWallet) => void
  readonly onSynced: (warm: WarmWallet, source: SyncSource) => void
}

/** The venue, once it is open. */
export interface SyncSource extends WalletSource {
  readonly wallets: VenueWallets
}

interface SyncOptions {
  /** Default: the system. */
  readonly requester?: Requester
  readonly isRequested?: boolean
}

/** Minimum time between a failed sync of a wallet and the next. */
const FAILED_MS = 2_000
/** How long a sync holds its slot while requesters with fewer syncs wait, and while any wait. */
const HELD_MS = 1_000
const HELD_ANYWAY_MS = 5_000

export class WalletSyncs {
  readonly #parts: WalletSyncsParts
  /** Separate slots for first syncs and others: neither waits for the other. */
  readonly #firstSlots: FairSlots
  readonly #slots: FairSlots
  readonly #sampler = new LogSampler()
  /** Number of running syncs for requests. */
  #requestedCount = 0
  readonly #idle = new Set<() => void>()

  constructor(parts: WalletSyncsParts) {
    this.#parts = parts
    this.#firstSlots = openSlots(walletFirstSyncsMax)
    this.#slots = openSlots(walletSyncsMax - walletFirstSyncsMax)
  }

  /**
   * Joins the wallet's running sync or begins one. Resolves to whether the venue answered; never rejects. Null if none
   * can begin now: too many wait, or the venue has just failed. A background sync (`isRequested` false) does not begin
   * while syncs for requests run.
   */
  sync(
    warm: WarmWallet,
    source: SyncSource,
    { requester = SYSTEM, isRequested = true }: SyncOptions = {},
  ): Promise<boolean> | null {
    if (warm.sync !== null) return warm.sync
    const { clock, signal, onProgress } = this.#parts
    const hasFailed = warm.failedMs !== null && clock.monotonicMs() - warm.failedMs < FAILED_MS
    if (hasFailed || signal.aborted || this.#slotsFor(warm).isFull(requester)) return null
    if (!isRequested && this.#requestedCount > 0) return null
    if (isRequested) this.#requestedCount += 1
    warm.sync = this.#sync(warm, source, requester).finally(() => {
      warm.sync = null
      onProgress(warm)
      if (isRequested) this.#requestedCount -= 1
      if (this.#requestedCount === 0) this.#wake()
    })
    return warm.sync
  }

  /** Resolves when no sync is running for a request, or at shutdown. */
  async idle(): Promise<void> {
    while (this.#requestedCount > 0 && !this.#parts.signal.aborted) {
      await new Promise<void>((resolve) => this.#idle.add(resolve))
    }
  }

  #wake(): void {
    const waiting = [...this.#idle]
    this.#idle.clear()
    for (const resolve of waiting) resolve()
  }

  noteFailure(wallet: WalletAddress, error: unknown): void {
    if (this.#parts.signal.aborted) return
    const reason = error instanceof Error ? error.name : 'unknown'
    const { isWritten, count } = this.#sampler.admit(reason)
    if (isWritten) this.#parts.log.warn({ err: error, wallet, count }, 'a wallet was not read')
  }

  #slotsFor({ wallet }: WarmWallet): FairSlots {
    return wallet.record.readAtMs === 0 ? this.#firstSlots : this.#slots
  }

  async #sync(warm: WarmWallet, source: SyncSource, requester: Requester): Promise<boolean> {
    const { clock, signal, onSynced } = this.#parts
    try {
      await this.#slotsFor(warm).run({ clock, signal, requester }, async (yieldSlot) => {
        const beganMs = clock.monotonicMs()
        const wallets = this.#withYield(warm, source.wallets, yieldSlot)
        await warm.wallet.sync({ ...source, wallets }, signal)
        warm.freshMs = beganMs
        warm.failedMs = null
      })
    } catch (error) {
      // Another requester may sync it at once.
      if (error instanceof SlotsFull) return false
      warm.failedMs = clock.monotonicMs()
      this.noteFailure(warm.wallet.record.proxy, error)
      return false
    }
    onSynced(warm, source)
    return true
  }

  /** The venue's history, which yields the slot to other syncs between its parts. */
  #withYield(warm: WarmWallet, venue: VenueWallets, yieldSlot: YieldSlot): WalletSource['wallets'] {
    return {
      history: (query, onEvents, signal) => {
        const take: typeof onEvents = async (events) => {
          await onEvents(events)
          this.#parts.onProgress(warm)
          await yieldSlot()
        }
        return venue.history(query, take, signal)
      },
    }
  }
}

function openSlots(runningMax: number): FairSlots {
  return new FairSlots({
    ...{ runningMax, runningOfOneMax: runningMax - 1 },
    waitingMax: walletSyncsWaitingMax + walletSyncsMax - runningMax,
    ...{ heldMs: HELD_MS, heldAnywayMs: HELD_ANYWAY_MS },
  })
}
