// One sync of a wallet's history with the venue. Appends settled events, which no longer change, to the ledger and
// returns the unsettled ones. A shown event that the venue's answer lacks stays unsettled for WAITED_MS.

import type { WalletAddress } from '../../engine/ids.ts'
import { type TimeMs, timeMs } from '../../engine/units.ts'
import type { HistoryCoverage, VenueWallets, WalletEvent } from '../../engine/wallet.ts'
import { blockEvents } from './ledger.ts'
import { inOrder, notAmong } from './live-fills.ts'
import type { MarketSource } from './wallet-markets.ts'

/**
 * Younger events stay unsettled, because the venue may still change the events of their seconds. Twice the time that
 * the venue states (HistoryCoverage).
 */
const YOUNG_MS = 120_000
/** Several times the longest delay of the venue's history. An older event that the history lacks is settled anyway. */
const WAITED_MS = 600_000

export interface WalletSource extends MarketSource {
  readonly wallets: Pick<VenueWallets, 'history'>
}

export interface Settled {
  readonly events: readonly WalletEvent[]
  /** When these events are appended, the ledger contains everything before this time. */
  readonly settledToMs: TimeMs
  /** Time of the last of these events that the venue returned. Null: none. */
  readonly listedToMs: TimeMs | null
  readonly unlistedCount: number
}

interface HistorySyncTask {
  readonly address: WalletAddress
  readonly fromMs: TimeMs
  readonly lastMs: TimeMs | null
  readonly nowMs: TimeMs
  /** Events that users see after the end of the ledger, in order. */
  readonly shown: readonly WalletEvent[]
  /** Appends events to the ledger. The sync requests no further events until the promise resolves. */
  readonly settle: (settled: Settled) => Promise<void>
}

export interface HistorySyncResult extends Pick<HistoryCoverage, 'isComplete' | 'isTailComplete'> {
  readonly settledToMs: TimeMs
  /** True if the venue no longer lists the last known event and nothing was settled. */
  readonly isStuck: boolean
  readonly isLastListed: boolean
  /** The events that the venue returned from `settledToMs` on, in order. */
  readonly unsettled: readonly WalletEvent[]
  /** The last settled events followed by `unsettled`, for comparison with live fills. */
  readonly recent: readonly WalletEvent[]
  /** Shown events from `settledToMs` on that the venue did not return. */
  readonly retained: readonly WalletEvent[]
}

export class HistorySync {
  readonly #task: HistorySyncTask
  readonly #youngFromMs: number
  #settledToMs: TimeMs
  /** At most one block, the events of one call and those of a few minutes. */
  #listed: WalletEvent[] = []
  #unlisted: readonly WalletEvent[]
  #recent: readonly WalletEvent[] = []

  constructor(task: HistorySyncTask) {
    this.#task = task
    this.#youngFromMs = task.nowMs - YOUNG_MS
    this.#settledToMs = task.fromMs
    this.#unlisted = task.shown
  }

  /** Rejects like VenueWallets.history. The settled part of the events received so far is then in the ledger. */
  async run({ wallets, signal }: WalletSource): Promise<HistorySyncResult> {
    const { address, fromMs, lastMs, nowMs } = this.#task
    try {
      const query = { address, fromMs, lastMs }
      const coverage = await wallets.history(query, (events) => this.#take(events), signal)
      await this.#settleBefore(coverage.settledToMs, nowMs - WAITED_MS)
      const { isComplete, isTailComplete, isLastListed } = coverage
      const settledToMs = this.#settledToMs
      const isRecent = ({ timeMs: atMs }: WalletEvent) => atMs >= settledToMs - YOUNG_MS
      return {
        ...{
          settledToMs,
          isComplete,
          isTailComplete,
          isLastListed,
          unsettled: this.#listed,
        },
        isStuck: !isTailComplete && settledToMs === fromMs,
        recent: [...this.#recent.filter(isRecent), ...this.#listed],
        retained: this.#unlisted,
      }
    } catch (error) {
      // The venue returns all events of a second together, so the received seconds are complete.
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

  async #settleListed(): Promise<void> {
    const young = this.#listed.findIndex((event) => event.timeMs >= this.#youngFromMs)
    const last = this.#listed.at(young < 0 ? -1 : young - 1)
    if (young === 0 || last === undefined) return
    await this.#settleBefore(last.timeMs + 1_000, last.timeMs - YOUNG_MS)
  }

  /** Settles events up to `endMs`, but stops at the first missing shown event that is not older than `givenUpMs`. */
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
