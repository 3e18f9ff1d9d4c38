// Tracks channels whose messages contain the complete state: prices, depth, candles. Drops repeats and reports missing
// states.

import { gapEvent } from './channel-state.ts'
import { type Channel, type DataMessage, rulesOf } from './channels.ts'
import type { GapCause, GapEvent } from './messages.ts'

/** At the limit, the oldest entry is evicted and the next state of its market is not compared. */
const MARKETS_MAX = 300_000

interface Seen {
  readonly epoch: string
  readonly seq: number
  readonly connection: number
  readonly isOpen: boolean
}

export class StateTracker {
  readonly #channel: Channel
  readonly #onGap: (gap: GapEvent) => void
  readonly #seen = new Map<string, Seen>()

  constructor(channel: Channel, onGap: (gap: GapEvent) => void) {
    this.#channel = channel
    this.#onGap = onGap
  }

  /**
   * Registers a state. Returns false if it is a repeat and must not be emitted. `isConflated`: the server may skip
   * states.
   */
  take(message: DataMessage, context: { connection: number; isConflated: boolean }): boolean {
    const { market_id, epoch, seq } = message
    const seen = this.#seen.get(market_id)
    if (seen !== undefined && !seen.isOpen) {
      if (seen.epoch === epoch && seq <= seen.seq) return false
      this.#compare(message, seen, context)
    }
    if (seen === undefined && this.#seen.size >= MARKETS_MAX) {
      const [oldest = ''] = this.#seen.keys()
      this.#seen.delete(oldest)
    }
    this.#seen.set(market_id, { epoch, seq, connection: context.connection, isOpen: false })
    return true
  }

  /** Marks a state out of sync because the server did so. The server sends the current state without a request. */
  resync(marketId: string, cause: GapCause): void {
    const seen = this.#seen.get(marketId)
    if (seen?.isOpen === true) return
    this.#open(marketId)
    const where = { market_id: marketId, state_follows: true }
    this.#onGap(gapEvent(this.#channel, { cause, ...where }))
  }

  /** Called when a market is subscribed to with new options. The next state then has the same `seq` but other content. */
  expect(marketId: string): void {
    if (this.#seen.has(marketId)) this.#open(marketId)
  }

  expectAll(): void {
    for (const marketId of this.#seen.keys()) this.#open(marketId)
  }

  drop(marketId: string): void {
    this.#seen.delete(marketId)
  }

  marketIds(): Iterable<string> {
    return this.#seen.keys()
  }

  #open(marketId: string): void {
    const seen = this.#seen.get(marketId) ?? { epoch: '', seq: 0, connection: 0 }
    this.#seen.set(marketId, { ...seen, isOpen: true })
  }

  #compare(
    { market_id, epoch, seq }: DataMessage,
    seen: Seen,
    { connection, isConflated }: { connection: number; isConflated: boolean },
  ): void {
    const isAway = seen.connection !== connection
    if (isConflated && !(isAway && rulesOf(this.#channel).hasHistory === true)) return
    const cause = isAway ? 'away' : 'seq_hole'
    const where = { cause, market_id, state_follows: true } as const
    if (seen.epoch !== epoch) return this.#onGap(gapEvent(this.#channel, where))
    if (seq === seen.seq + 1) return
    const seqs = { from_seq: seen.seq + 1, to_seq: seq - 1, lost: seq - 1 - seen.seq }
    this.#onGap(gapEvent(this.#channel, { ...where, ...seqs }))
  }
}
