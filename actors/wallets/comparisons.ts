// Compares the positions of a wallet with the positions that the venue lists. Markets with unsettled events are
// excluded, because the venue's history and its list of positions may disagree there. A different size counts only if
// it persists after another sync.

import type { Clock } from '../../engine/clock.ts'
import type { NativeMarketId, WalletAddress } from '../../engine/ids.ts'
import { type Log, LogSampler } from '../../engine/process/log.ts'
import { runInSlices } from '../../engine/time-slices.ts'
import { HOUR_MS, MINUTE_MS, type TimeMs } from '../../engine/units.ts'
import type { VenueWallets } from '../../engine/wallet.ts'
import { type Difference, reconcile } from '../../engine/wallets/reconcile.ts'
import { Slots } from '../slots.ts'
import type { Wallet } from './wallet.ts'

/** `comparedMs`: monotonic time of the last comparison, or null. */
export interface Compared {
  readonly wallet: Wallet
  comparedMs: number | null
  comparison: Comparison | null
}

interface Comparison {
  readonly atMs: TimeMs
  readonly positions: number
  readonly differences: readonly Difference[]
}

interface ComparisonsParts {
  readonly clock: Clock
  readonly log: Log
  readonly signal: AbortSignal
  /** Resolves when no request waits for a sync. Comparisons and syncs share the venue's quota. */
  readonly idle: () => Promise<void>
}

interface ComparisonSource {
  readonly wallets: Pick<VenueWallets, 'positions'>
  /** Syncs the wallet again. Resolves to whether the venue answered. */
  readonly resync: () => Promise<boolean>
}

/**
 * One comparison runs at a time, because its requests share the venue's quota with syncs. Comparisons are skipped while
 * WAITING_MAX wait.
 */
const RUNNING_MAX = 1
const WAITING_MAX = 16
const COMPARE_EVERY_MS = HOUR_MS
const DIFFERS_EVERY_MS = 5 * MINUTE_MS
/** The venue lists at most this many open positions. In a list of this length, a missing position is no difference. */
const LISTED_MAX = 10_000
const WORST_COUNT = 3

export class WalletComparisons {
  readonly #parts: ComparisonsParts
  readonly #slots: Slots
  readonly #sampler = new LogSampler()
  readonly #running = new Map<Compared, Promise<boolean>>()

  constructor(parts: ComparisonsParts) {
    this.#parts = parts
    this.#slots = new Slots({ runningMax: RUNNING_MAX, waitingMax: WAITING_MAX })
  }

  /** Whether all sizes agree. Differences in purchases and realised profits are accepted. */
  isSound({ differences }: Pick<Comparison, 'differences'>): boolean {
    return !differences.some(isOfSize)
  }

  /**
   * Compares a wallet at most once an hour, or every five minutes while its sizes differ. Does nothing if too many
   * comparisons wait. Resolves to whether sizes differ. Never rejects.
   */
  compareIfDue(compared: Compared, source: ComparisonSource): Promise<boolean> {
    const existing = this.#running.get(compared)
    if (existing !== undefined) return existing
    const nowMs = this.#parts.clock.monotonicMs()
    const isSound = compared.comparison === null || this.isSound(compared.comparison)
    const everyMs = isSound ? COMPARE_EVERY_MS : DIFFERS_EVERY_MS
    const isDue = compared.comparedMs === null || nowMs - compared.comparedMs >= everyMs
    if (!isDue || this.#slots.isFull() || this.#parts.signal.aborted) return Promise.resolve(false)
    compared.comparedMs = nowMs
    const running = this.#compared(compared, source).finally(() => this.#running.delete(compared))
    this.#running.set(compared, running)
    return running
  }

  async #compared(compared: Compared, source: ComparisonSource): Promise<boolean> {
    const { signal } = this.#parts
    try {
      const comparison = await this.#slots.run(signal, () => this.#compare(compared, source))
      compared.comparison = comparison
      if (comparison.differences.length > 0)
        this.#logDifferences(compared.wallet.record.proxy, comparison)
      return !this.isSound(comparison)
    } catch (error) {
      if (signal.aborted) return false
      compared.comparedMs = null
      const wallet = compared.wallet.record.proxy
      const { isWritten, count } = this.#sampler.admit('positions')
      if (isWritten)
        this.#parts.log.warn(
          { err: error, wallet, count },
          'the comparison of a wallet with the venue failed',
        )
      return false
    }
  }

  /** Compares twice if sizes differ, because a trade may occur between the sync and the venue's list. */
  async #compare({ wallet }: Compared, { wallets, resync }: ComparisonSource): Promise<Comparison> {
    await this.#parts.idle()
    const first = await this.#differing(wallet, wallets)
    if (this.isSound(first)) return first
    if (!(await resync())) throw new Error('the second sync of the wallet failed')
    const again = await this.#differing(wallet, wallets)
    const before = new Set(first.differences.map(nameOf))
    const isConfirmed = (one: Difference) => !isOfSize(one) || before.has(nameOf(one))
    return { ...again, differences: again.differences.filter(isConfirmed) }
  }

  async #differing(wallet: Wallet, venue: ComparisonSource['wallets']): Promise<Comparison> {
    const { clock, signal } = this.#parts
    const moving = unsettledMarkets(wallet)
    const theirs = await venue.positions(wallet.record.proxy, signal)
    signal.throwIfAborted()
    // Both comparisons use this PnlState. Markets of fills that arrive meanwhile are excluded below.
    const ours = wallet.shown.positions()
    const coverage = { isComplete: theirs.length < LISTED_MAX }
    const all = await runInSlices(clock, reconcile(ours, theirs, coverage))
    for (const market of unsettledMarkets(wallet)) moving.add(market)
    const differences = all.filter(({ market }) => !moving.has(market))
    return { atMs: clock.nowMs(), positions: theirs.length, differences }
  }

  #logDifferences(wallet: WalletAddress, { differences }: Comparison): void {
    const worst = [...differences].sort((one, other) => sizeOf(other) - sizeOf(one))
    const details = { wallet, count: differences.length, worst: worst.slice(0, WORST_COUNT) }
    this.#parts.log.info(details, 'the positions of a wallet differ from the venue’s')
  }
}

const isOfSize = ({ what }: Difference): boolean => what !== 'bought' && what !== 'realized'
const nameOf = ({ token, what }: Difference): string => `${what} ${token}`
const sizeOf = ({ ours, theirs }: Difference): number => Math.abs(ours - theirs)

function unsettledMarkets({ ledger }: Wallet): Set<NativeMarketId> {
  return new Set(ledger.unsettled.flatMap(({ market, converted }) => [market, ...converted]))
}
