// The readings of all wallets: one at a time of each wallet, shared by all requests that wait for it, and few at once, since
// live trades and their back-fill share the venue's quota. A reading goes on when its requests have ended.

import type { Clock } from '../../engine/clock.ts'
import { type Requester, SYSTEM } from '../../engine/fair-queue.ts'
import type { WalletAddress } from '../../engine/ids.ts'
import {
  walletFirstReadingsMax,
  walletReadingsMax,
  walletReadingsWaitingMax,
} from '../../engine/limits.ts'
import { type Log, LogSampler } from '../../engine/process/log.ts'
import type { VenueWallets } from '../../engine/wallet.ts'
import { FairSlots, type Pass, SlotsFull } from '../slots.ts'
import type { WalletSource } from './reading.ts'
import type { WarmWallet } from './warm-wallets.ts'

interface ReadingsParts {
  readonly clock: Clock
  readonly log: Log
  /** Stops everything. */
  readonly signal: AbortSignal
  /** A wallet may have grown. Called often. */
  readonly onProgress: (warm: WarmWallet) => void
  readonly onRead: (warm: WarmWallet, source: ReadingSource) => void
}

/** The venue, once it is open. */
export interface ReadingSource extends WalletSource {
  readonly wallets: VenueWallets
}

interface ReadingCall {
  /** The system unless given. */
  readonly requester?: Requester
  readonly isAsked?: boolean
}

/** After a failed reading a wallet is not read again for so long. */
const FAILED_MS = 2_000
/** A reading keeps its slot for so long while requesters with fewer readings wait, and while any wait. */
const HELD_MS = 1_000
const HELD_ANYWAY_MS = 5_000

export class WalletReadings {
  readonly #parts: ReadingsParts
  /** Of wallets that are read for the first time, and of others: neither waits for the other. */
  readonly #firstSlots: FairSlots
  readonly #slots: FairSlots
  readonly #sampler = new LogSampler()
  /** Readings under way for requests. */
  #askedCount = 0
  readonly #idle = new Set<() => void>()

  constructor(parts: ReadingsParts) {
    this.#parts = parts
    this.#firstSlots = openSlots(walletFirstReadingsMax)
    this.#slots = openSlots(walletReadingsMax - walletFirstReadingsMax)
  }

  /**
   * The wallet's reading under way, or a new one: resolves to whether the venue answered, and never rejects. Null when none
   * can begin now: too many wait, or the venue has just failed. A reading in the background (`isAsked` false) does not begin
   * while there are readings for requests.
   */
  read(
    warm: WarmWallet,
    source: ReadingSource,
    { requester = SYSTEM, isAsked = true }: ReadingCall = {},
  ): Promise<boolean> | null {
    if (warm.reading !== null) return warm.reading
    const { clock, signal, onProgress } = this.#parts
    const hasFailed = warm.failedMs !== null && clock.monotonicMs() - warm.failedMs < FAILED_MS
    if (hasFailed || signal.aborted || this.#slotsFor(warm).isFull(requester)) return null
    if (!isAsked && this.#askedCount > 0) return null
    if (isAsked) this.#askedCount += 1
    warm.reading = this.#read(warm, source, requester).finally(() => {
      warm.reading = null
      onProgress(warm)
      if (isAsked) this.#askedCount -= 1
      if (this.#askedCount === 0) this.#wake()
    })
    return warm.reading
  }

  /** Resolves once no reading is for a request, or when everything stops. */
  async idle(): Promise<void> {
    while (this.#askedCount > 0 && !this.#parts.signal.aborted) {
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

  async #read(warm: WarmWallet, source: ReadingSource, requester: Requester): Promise<boolean> {
    const { clock, signal, onRead } = this.#parts
    try {
      await this.#slotsFor(warm).run({ clock, signal, requester }, async (pass) => {
        const beganMs = clock.monotonicMs()
        const wallets = this.#passing(warm, source.wallets, pass)
        await warm.wallet.read({ ...source, wallets }, signal)
        warm.freshMs = beganMs
        warm.failedMs = null
      })
    } catch (error) {
      // Another requester may read it at once.
      if (error instanceof SlotsFull) return false
      warm.failedMs = clock.monotonicMs()
      this.noteFailure(warm.wallet.record.proxy, error)
      return false
    }
    onRead(warm, source)
    return true
  }

  /** The venue's history; between its pieces other readings get their turns. */
  #passing(warm: WarmWallet, venue: VenueWallets, pass: Pass): WalletSource['wallets'] {
    return {
      history: (asked, onEvents, signal) => {
        const take: typeof onEvents = async (events) => {
          await onEvents(events)
          this.#parts.onProgress(warm)
          await pass()
        }
        return venue.history(asked, take, signal)
      },
    }
  }
}

function openSlots(runningMax: number): FairSlots {
  return new FairSlots({
    ...{ runningMax, runningOfOneMax: runningMax - 1 },
    waitingMax: walletReadingsWaitingMax + walletReadingsMax - runningMax,
    ...{ heldMs: HELD_MS, heldAnywayMs: HELD_ANYWAY_MS },
  })
}
