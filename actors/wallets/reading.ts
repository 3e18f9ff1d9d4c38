// One reading of a wallet's history from the venue: what is settled goes to the ledger as it comes, a block's worth at
// a time, what is not is handed back. It ends early without loss: whatever came before is in the ledger, and the next
// reading goes on behind it. An event that was shown and that the venue does not tell is waited for, and settled with
// the others when it is not told for long: an answer that lacks it does not take it away.
// Not for: when a wallet is read (wallets.ts). Upholds WALLETS3, WALLETS6, WALLETS26.

import type { WalletAddress } from '../../engine/ids.ts'
import { type TimeMs, timeMs } from '../../engine/units.ts'
import type { VenueWallets, WalletEvent, WalletReach } from '../../engine/wallet.ts'
import { blockEvents } from './ledger.ts'
import { inOrder, untold } from './live.ts'
import type { FetchGroup, FetchMarkets } from './markets.ts'

/**
 * Events so young are kept back while a reading lasts: the venue may still tell their seconds otherwise. Twice what it
 * says itself (WalletReach), so that nothing goes to the ledger that is not settled at the end.
 */
const YOUNG_MS = 120_000
/** Some times the longest that a history is late: what it has not told by then is settled untold. */
const WAITED_MS = 600_000

/** What a reading asks of the venue. */
export interface WalletSource {
  readonly wallets: Pick<VenueWallets, 'history'>
  readonly fetchMarkets: FetchMarkets
  readonly fetchGroup: FetchGroup
}

/** Events that became settled. */
export interface Settled {
  /** In order. */
  readonly events: readonly WalletEvent[]
  /** Everything before this is known with them. */
  readonly settledToMs: TimeMs
  /** When the last of them was that the venue told; null: it told none. */
  readonly toldToMs: TimeMs | null
  /** How many of them the venue did not tell. */
  readonly untoldCount: number
}

export interface ReadingTask {
  readonly address: WalletAddress
  readonly fromMs: TimeMs
  /** Of the last event known; null: none. */
  readonly lastMs: TimeMs | null
  readonly nowMs: TimeMs
  /** What is shown already of the time behind the ledger, in order. */
  readonly shown: readonly WalletEvent[]
  /** Awaited, so that it can slow the reading. */
  readonly settle: (settled: Settled) => Promise<void>
}

export interface ReadingResult extends Pick<WalletReach, 'isComplete' | 'isTailWhole'> {
  readonly settledToMs: TimeMs
  /** It was no further than before, though there may be something: the venue does not tell what is known any more. */
  readonly isStuck: boolean
  readonly isLastTold: boolean
  /** What the venue told from `settledToMs` on, in order. */
  readonly unsettled: readonly WalletEvent[]
  /** These, and the last settled ones: what live fills are compared with. */
  readonly recent: readonly WalletEvent[]
  /** What was shown and is not told, from `settledToMs` on. */
  readonly kept: readonly WalletEvent[]
}

/** Rejects as VenueWallets.history does, with what came before in the ledger. */
export function readWallet(
  venue: Pick<VenueWallets, 'history'>,
  task: ReadingTask,
  signal: AbortSignal,
): Promise<ReadingResult> {
  return new Reading(task).run(venue, signal)
}

class Reading {
  readonly #task: ReadingTask
  readonly #youngFromMs: number
  #settledToMs: TimeMs
  /** Told and not settled, in order; bounded by a block, one call's events, and what some minutes bring. */
  #told: WalletEvent[] = []
  /** Shown and not told so far, in order. */
  #left: readonly WalletEvent[]
  #recent: readonly WalletEvent[] = []

  constructor(task: ReadingTask) {
    this.#task = task
    this.#youngFromMs = task.nowMs - YOUNG_MS
    this.#settledToMs = task.fromMs
    this.#left = task.shown
  }

  async run(venue: Pick<VenueWallets, 'history'>, signal: AbortSignal): Promise<ReadingResult> {
    const { address, fromMs, lastMs, nowMs } = this.#task
    try {
      const asked = { address, fromMs, lastMs }
      const reach = await venue.history(asked, (events) => this.#take(events), signal)
      await this.#settleBefore(reach.settledToMs, nowMs - WAITED_MS)
      const { isComplete, isTailWhole, isLastTold } = reach
      const settledToMs = this.#settledToMs
      const isRecent = ({ timeMs: atMs }: WalletEvent) => atMs >= settledToMs - YOUNG_MS
      return {
        ...{ settledToMs, isComplete, isTailWhole, isLastTold, unsettled: this.#told },
        isStuck: !isTailWhole && settledToMs === fromMs,
        recent: [...this.#recent.filter(isRecent), ...this.#told],
        kept: this.#left,
      }
    } catch (error) {
      // Seconds come whole: those that are over will not be told otherwise.
      await this.#settleTold()
      throw error
    }
  }

  async #take(events: readonly WalletEvent[]): Promise<void> {
    for (const event of events) if (event.timeMs >= this.#settledToMs) this.#told.push(event)
    this.#left = untold(this.#left, events)
    const first = this.#told[blockEvents - 1]
    if (first !== undefined && first.timeMs < this.#youngFromMs) await this.#settleTold()
  }

  /** What came so far, but for its young end; what is left of the same minutes may still be told. */
  async #settleTold(): Promise<void> {
    const young = this.#told.findIndex((event) => event.timeMs >= this.#youngFromMs)
    const last = this.#told.at(young < 0 ? -1 : young - 1)
    if (young === 0 || last === undefined) return
    await this.#settleBefore(last.timeMs + 1_000, last.timeMs - YOUNG_MS)
  }

  /** Up to `endMs`, or to the first that is left and not given up: whoever is older than `givenUpMs` is. */
  async #settleBefore(endMs: number, givenUpMs: number): Promise<void> {
    const isAwaited = ({ timeMs: atMs }: WalletEvent) => atMs >= givenUpMs
    const awaitedMs = this.#left.find(isAwaited)?.timeMs ?? endMs
    const end = Math.min(endMs, Math.floor(awaitedMs / 1_000) * 1_000)
    if (end <= this.#settledToMs) return
    const isOver = ({ timeMs: atMs }: WalletEvent) => atMs < end
    const told = this.#told.filter(isOver)
    const strays = this.#left.filter(isOver)
    this.#told = this.#told.slice(told.length)
    this.#left = this.#left.slice(strays.length)
    if (told.length > 0) this.#recent = told.slice(-blockEvents)
    this.#settledToMs = timeMs(end)
    await this.#task.settle({
      events: strays.length === 0 ? told : inOrder([...told, ...strays]),
      settledToMs: this.#settledToMs,
      toldToMs: told.at(-1)?.timeMs ?? null,
      untoldCount: strays.length,
    })
  }
}
