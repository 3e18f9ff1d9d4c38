// Runs the syncs of all wallets: for requests, after live fills, and full resyncs.

import type { Clock, StopTimer } from '../../engine/clock.ts'
import { type Requester, SYSTEM } from '../../engine/fair-queue.ts'
import type { WalletAddress } from '../../engine/ids.ts'
import {
  unknownAddressesMax,
  walletFirstSyncsMax,
  walletSyncsMax,
  walletSyncsWaitingMax,
} from '../../engine/limits.ts'
import { type Log, LogSampler } from '../../engine/process/log.ts'
import type { Count } from '../../engine/process/metrics.ts'
import { putLast } from '../../engine/put-last.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../engine/units.ts'
import type { VenueWallets } from '../../engine/wallet.ts'
import { FairSlots, SlotsFull, type YieldSlot } from '../slots.ts'
import type { WalletSource } from './history-sync.ts'
import type { Wallet } from './wallet.ts'
import type { WarmWallet } from './warm-wallets.ts'

interface WalletSyncsParts {
  readonly clock: Clock
  readonly log: Log
  readonly signal: AbortSignal
  readonly onProgress: (warm: WarmWallet) => void
  readonly onSynced: (warm: WarmWallet, source: SyncSource) => void
}

export interface SyncSource extends WalletSource {
  readonly wallets: VenueWallets
}

interface SyncOptions {
  readonly requester?: Requester
  readonly isRequested?: boolean
}

const FAILED_MS = 2_000
/**
 * After HELD_MS a sync yields its slot to requesters with fewer syncs. After HELD_ANYWAY_MS it yields to any requester.
 */
const HELD_MS = 1_000
const HELD_ANYWAY_MS = 5_000

export class WalletSyncs {
  readonly #parts: WalletSyncsParts
  /** Separate slots for first and later syncs, so that neither waits for the other. */
  readonly #firstSlots: FairSlots
  readonly #slots: FairSlots
  readonly #sampler = new LogSampler()
  #requestedCount = 0
  readonly #idle = new Set<() => void>()

  constructor(parts: WalletSyncsParts) {
    this.#parts = parts
    this.#firstSlots = openSlots(walletFirstSyncsMax)
    this.#slots = openSlots(walletSyncsMax - walletFirstSyncsMax)
  }

  /**
   * Joins the wallet's running sync or begins one. Resolves to whether the venue answered, and never rejects. Returns
   * null if too many syncs wait, or if the venue has just failed for this wallet. A background sync (`isRequested`
   * false) does not begin while syncs for requests run.
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

  /** Resolves when no sync runs for a request, or at shutdown. */
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
    if (isWritten)
      this.#parts.log.warn({ err: error, wallet, count }, 'the sync of a wallet failed')
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
        await warm.wallet.sync({ ...source, wallets })
        warm.freshMs = beganMs
        warm.failedMs = null
      })
    } catch (error) {
      if (error instanceof SlotsFull) return false
      warm.failedMs = clock.monotonicMs()
      this.noteFailure(warm.wallet.record.proxy, error)
      return false
    }
    onSynced(warm, source)
    return true
  }

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

interface CatchUpParts {
  readonly clock: Clock
  /** Returns null if no sync can begin. */
  readonly sync: (warm: WarmWallet) => Promise<boolean> | null
}

const GATHERED_MS = 1_000
/**
 * Delays until further syncs. The venue's history is usually seconds late, rarely a minute. Housekeeping syncs wallets
 * whose events arrive even later.
 */
const RETRY_MS: readonly number[] = [2_000, 4_000, 8_000, 16_000, 32_000]
const REQUESTED_MS = 10 * MINUTE_MS
/** Wallets beyond this number are synced only at their next request. */
const WALLETS_MAX = walletSyncsWaitingMax

export class WalletCatchUps {
  readonly #parts: CatchUpParts
  readonly #timers = new Map<WalletAddress, StopTimer>()
  #isStopped = false

  constructor(parts: CatchUpParts) {
    this.#parts = parts
  }

  note(warm: WarmWallet): void {
    const nowMs = this.#parts.clock.monotonicMs()
    const { proxy } = warm.wallet.record
    if (warm.requestedMs === null || nowMs - warm.requestedMs > REQUESTED_MS) return
    if (this.#timers.has(proxy) || this.#timers.size >= WALLETS_MAX) return
    this.#syncAfter(warm, GATHERED_MS, 0)
  }

  #syncAfter(warm: WarmWallet, delayMs: number, tries: number): void {
    const { proxy } = warm.wallet.record
    const stop = this.#parts.clock.after(delayMs, () => {
      this.#timers.delete(proxy)
      void this.#catchUp(warm, tries)
    })
    this.#timers.set(proxy, stop)
  }

  async #catchUp(warm: WarmWallet, tries: number): Promise<void> {
    if (warm.wallet.tail.isCovered) return
    await this.#parts.sync(warm)
    const delayMs = RETRY_MS[tries]
    if (warm.wallet.tail.isCovered || delayMs === undefined || this.#isStopped) return
    // A fill that arrived meanwhile may have scheduled the next sync.
    if (this.#timers.has(warm.wallet.record.proxy) || this.#timers.size >= WALLETS_MAX) return
    this.#syncAfter(warm, delayMs, tries + 1)
  }

  stop(): void {
    this.#isStopped = true
    for (const stop of this.#timers.values()) stop()
    this.#timers.clear()
  }
}

interface FullResyncsParts {
  readonly clock: Clock
  readonly log: Log
  readonly resyncs: Count
}

/** Delays between consecutive full resyncs of one wallet. After the last one the delay is a day. */
const LACKING_MS: readonly number[] = [
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  HOUR_MS,
  4 * HOUR_MS,
]
const DIFFERS_MS: readonly number[] = []

interface ScheduledResync {
  readonly atMs: number
  readonly times: number
}

export class FullResyncs {
  readonly #parts: FullResyncsParts
  /** Monotonic times, oldest first. When full, the oldest entry is evicted, and its wallet may be resynced at once. */
  readonly #scheduled = new Map<WalletAddress, ScheduledResync>()

  constructor(parts: FullResyncsParts) {
    this.#parts = parts
  }

  times(proxy: WalletAddress): number {
    return this.#scheduled.get(proxy)?.times ?? 0
  }

  /** Makes the wallet's next sync a full resync if one is due. Returns whether one was due. */
  schedule(wallet: Wallet, why: 'lacking' | 'differs'): boolean {
    const { clock, log, resyncs } = this.#parts
    const { proxy, lacking } = wallet.record
    const nowMs = clock.monotonicMs()
    const { atMs, times } = this.#scheduled.get(proxy) ?? {
      atMs: Number.NEGATIVE_INFINITY,
      times: 0,
    }
    const pauses = why === 'lacking' ? LACKING_MS : DIFFERS_MS
    if (nowMs - atMs < (pauses[times - 1] ?? DAY_MS)) return false
    putLast(this.#scheduled, [proxy, { atMs: nowMs, times: times + 1 }], unknownAddressesMax)
    resyncs.inc()
    log.warn({ wallet: proxy, why, lacking }, 'a wallet is synced from its beginning')
    wallet.resyncAll()
    return true
  }
}
