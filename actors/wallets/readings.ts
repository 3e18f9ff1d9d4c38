// The readings of all wallets: one at a time of each wallet, shared by all requests that wait for it, and few at once, since
// live trades and their back-fill share the venue's quota. A reading goes on when its requests have ended.
// Not for: what is read (actors/wallets/reading.ts), nor when (wallets.ts). Upholds WALLETS1, WALLETS11.

import type { Clock } from '../../engine/clock.ts'
import type { WalletAddress } from '../../engine/ids.ts'
import { walletReadingsMax, walletReadingsWaitingMax } from '../../engine/limits.ts'
import { type Log, LogSampler } from '../../engine/process/log.ts'
import type { VenueWallets } from '../../engine/wallet.ts'
import { Slots } from '../slots.ts'
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

/** After a failed reading a wallet is not read again for so long. */
const FAILED_MS = 2_000
/** A reading keeps its slot for so long while others wait. */
const HELD_MS = 5_000

export class WalletReadings {
  readonly #parts: ReadingsParts
  readonly #slots: FairSlots
  readonly #sampler = new LogSampler()
  /** Readings under way for requests. */
  #askedCount = 0
  readonly #idle = new Set<() => void>()

  constructor(parts: ReadingsParts) {
    this.#parts = parts
    const bounds = { runningMax: walletReadingsMax, waitingMax: walletReadingsWaitingMax }
    this.#slots = new FairSlots({ ...bounds, heldMs: HELD_MS }, parts.clock)
  }

  /**
   * The wallet's reading under way, or a new one: resolves to whether the venue answered, and never rejects. Null when none
   * can begin now: too many wait, or the venue has just failed. A reading in the background (`isAsked` false) does not begin
   * while there are readings for requests.
   */
  read(
    warm: WarmWallet,
    source: ReadingSource,
    { isAsked } = { isAsked: true },
  ): Promise<boolean> | null {
    if (warm.reading !== null) return warm.reading
    const { clock, signal, onProgress } = this.#parts
    const hasFailed = warm.failedMs !== null && clock.monotonicMs() - warm.failedMs < FAILED_MS
    if (hasFailed || signal.aborted || this.#slots.isFull) return null
    if (!isAsked && this.#askedCount > 0) return null
    if (isAsked) this.#askedCount += 1
    warm.reading = this.#read(warm, source).finally(() => {
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

  async #read(warm: WarmWallet, source: ReadingSource): Promise<boolean> {
    const { clock, signal, onRead } = this.#parts
    try {
      await this.#slots.run(signal, async (pass) => {
        const beganMs = clock.monotonicMs()
        const wallets = this.#passing(warm, source.wallets, pass)
        await warm.wallet.read({ ...source, wallets }, signal)
        warm.freshMs = beganMs
        warm.failedMs = null
      })
    } catch (error) {
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

interface FairBounds {
  readonly runningMax: number
  readonly waitingMax: number
  /** How long a place is kept while others wait. */
  readonly heldMs: number
}

/** Await it between two pieces of the work. */
type Pass = () => Promise<void>

/**
 * Slots for work that may last long: work that has held its slot for `heldMs` gives it back between two pieces when
 * other work waits, and queues again behind it. Two enormous wallets cannot keep all others from being read.
 */
export class FairSlots {
  readonly #slots: Slots
  readonly #heldMs: number
  readonly #clock: Clock

  constructor({ heldMs, ...bounds }: FairBounds, clock: Clock) {
    this.#slots = new Slots(bounds)
    this.#heldMs = heldMs
    this.#clock = clock
  }

  /** As much work runs and waits as may. */
  get isFull(): boolean {
    return this.#slots.isFull
  }

  /** Runs the work in its turn; rejects as it does, or when `signal` aborts before its turn. */
  async run<Result>(signal: AbortSignal, work: (pass: Pass) => Promise<Result>): Promise<Result> {
    let isHeld = false
    let sinceMs = 0
    const take = async (): Promise<void> => {
      await this.#slots.take(signal)
      isHeld = true
      sinceMs = this.#clock.monotonicMs()
    }
    const give = (): void => {
      if (isHeld) this.#slots.give()
      isHeld = false
    }
    await take()
    try {
      return await work(async () => {
        const heldMs = this.#clock.monotonicMs() - sinceMs
        if (!this.#slots.isAwaited || heldMs < this.#heldMs) return
        give()
        await take()
      })
    } finally {
      give()
    }
  }
}
