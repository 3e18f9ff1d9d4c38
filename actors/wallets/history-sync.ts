// One reading of a wallet's history from the venue: settled events go to the ledger as they come, a block at a time; the
// others are returned. A reading may end early without loss: the events so far are in the ledger, and the next reading
// goes on behind them. An event that was shown and that the venue's answer lacks is waited for, and settled with the
// others when it is lacking for long: an answer never takes an event away.

import type { WalletAddress } from '../../engine/ids.ts'
import { type TimeMs, timeMs } from '../../engine/units.ts'
import type { HistoryCoverage, VenueWallets, WalletEvent } from '../../engine/wallet.ts'
import { blockEvents } from './ledger.ts'
import { inOrder, notAmong } from './live-fills.ts'
import type { FetchGroup, FetchMarkets } from './wallet-markets.ts'

/**
 * Events so young are not settled while a reading lasts: the venue may still change their seconds. Twice the time that it
 * states itself (WalletReach), so that no unsettled event goes to the ledger.
 */
const YOUNG_MS = 120_000
/** Several times the longest delay of a history: an event that it lacks by then is settled all the same. */
const WAITED_MS = 600_000

/** The venue's functions that a reading needs. */
export interface WalletSource {
  readonly wallets: Pick<VenueWallets, 'history'>
  readonly fetchMarkets: FetchMarkets
  readonly fetchGroup: FetchGroup
}

/** Events that became settled. */
export interface Settled {
  /** In order. */
  readonly events: readonly WalletEvent[]
  /** With these events everything before this time is known. */
  readonly settledToMs: TimeMs
  /** The time of the last of these that is in the venue's answer; null: none is. */
  readonly listedToMs: TimeMs | null
  /** How many of these the venue's answer lacks. */
  readonly unlistedCount: number
}

interface HistorySyncTask {
  readonly address: WalletAddress
  readonly fromMs: TimeMs
  /** The time of the last known event; null: none. */
  readonly lastMs: TimeMs | null
  readonly nowMs: TimeMs
  /** Events behind the ledger that are shown already, in order. */
  readonly shown: readonly WalletEvent[]
  /** Is awaited, so that it can slow the reading. */
  readonly settle: (settled: Settled) => Promise<void>
}

export interface HistorySyncResult extends Pick<HistoryCoverage, 'isComplete' | 'isTailComplete'> {
  readonly settledToMs: TimeMs
  /** The reading got no further, though there may be more: the venue no longer lists the last known event. */
  readonly isStuck: boolean
  readonly isLastListed: boolean
  /** The venue's events from `settledToMs` on, in order. */
  readonly unsettled: readonly WalletEvent[]
  /** These and the last settled events: live fills are compared with them. */
  readonly recent: readonly WalletEvent[]
  /** Shown events from `settledToMs` on that the venue's answer lacks. */
  readonly retained: readonly WalletEvent[]
}

/** Rejects as VenueWallets.history does; events that came before are in the ledger then. */
export function syncHistory(
  venue: Pick<VenueWallets, 'history'>,
  task: HistorySyncTask,
  signal: AbortSignal,
): Promise<HistorySyncResult> {
  return new HistorySync(task).run(venue, signal)
}

class HistorySync {
  readonly #task: HistorySyncTask
  readonly #youngFromMs: number
  #settledToMs: TimeMs
  /** Events of the answer that are not settled, in order; bounded by a block, one call's events, and those of some minutes. */
  #listed: WalletEvent[] = []
  /** Shown events that the answer lacks so far, in order. */
  #unlisted: readonly WalletEvent[]
  #recent: readonly WalletEvent[] = []

  constructor(task: HistorySyncTask) {
    this.#task = task
    this.#youngFromMs = task.nowMs - YOUNG_MS
    this.#settledToMs = task.fromMs
    this.#unlisted = task.shown
  }

  async run(venue: Pick<VenueWallets, 'history'>, signal: AbortSignal): Promise<HistorySyncResult> {
    const { address, fromMs, lastMs, nowMs } = this.#task
    try {
      const query = { address, fromMs, lastMs }
      const coverage = await venue.history(query, (events) => this.#take(events), signal)
      await this.#settleBefore(coverage.settledToMs, nowMs - WAITED_MS)
      const { isComplete, isTailComplete: isTailWhole, isLastListed } = coverage
      const settledToMs = this.#settledToMs
      const isRecent = ({ timeMs: atMs }: WalletEvent) => atMs >= settledToMs - YOUNG_MS
      return {
        ...{
          settledToMs,
          isComplete,
          isTailComplete: isTailWhole,
          isLastListed,
          unsettled: this.#listed,
        },
        isStuck: !isTailWhole && settledToMs === fromMs,
        recent: [...this.#recent.filter(isRecent), ...this.#listed],
        retained: this.#unlisted,
      }
    } catch (error) {
      // Seconds come whole: finished ones do not change.
      await this.#settleListed()
      throw error
    }
  }

  async #take(events: readonly WalletEvent[]): Promise<void> {
    for (const event of events) if (event.timeMs >= this.#settledToMs) this.#listed.push(event)
    this.#unlisted = notAmong(this.#unlisted, events)
    const first = this.#listed[blockEvents - 1]
    if (first !== undefined && first.timeMs < this.#youngFromMs) await this.#settleListed()
  }

  /** Settles the events so far, but for the young ones; shown events of the last minutes may still come. */
  async #settleListed(): Promise<void> {
    const young = this.#listed.findIndex((event) => event.timeMs >= this.#youngFromMs)
    const last = this.#listed.at(young < 0 ? -1 : young - 1)
    if (young === 0 || last === undefined) return
    await this.#settleBefore(last.timeMs + 1_000, last.timeMs - YOUNG_MS)
  }

  /** Settles up to `endMs`, or to the first lacking event that is waited for: one not older than `givenUpMs`. */
  async #settleBefore(endMs: number, givenUpMs: number): Promise<void> {
    const isAwaited = ({ timeMs: atMs }: WalletEvent) => atMs >= givenUpMs
    const awaitedMs = this.#unlisted.find(isAwaited)?.timeMs ?? endMs
    const end = Math.min(endMs, Math.floor(awaitedMs / 1_000) * 1_000)
    if (end <= this.#settledToMs) return
    const isOver = ({ timeMs: atMs }: WalletEvent) => atMs < end
    const settled = this.#listed.filter(isOver)
    const strays = this.#unlisted.filter(isOver)
    this.#listed = this.#listed.slice(settled.length)
    this.#unlisted = this.#unlisted.slice(strays.length)
    if (settled.length > 0) this.#recent = settled.slice(-blockEvents)
    this.#settledToMs = timeMs(end)
    await this.#task.settle({
      events: strays.length === 0 ? settled : inOrder([...settled, ...strays]),
      settledToMs: this.#settledToMs,
      listedToMs: settled.at(-1)?.timeMs ?? null,
      unlistedCount: strays.length,
    })
  }
}
