// Trades of a time that the stream did not cover, from the Data API, emitted with the ids that the
// stream gives. The API indexes late, so what ended just now is read again a little later.
// Not for: how the range is read (engine/venues/polymarket/trades/history.ts). Upholds POLYFEED9.

import { type Clock, pause } from '../../../clock.ts'
import type { TradeEvent, VenueEvent } from '../../../events.ts'
import type { NativeMarketId } from '../../../ids.ts'
import { type TimeMs, timeMs } from '../../../units.ts'
import type { TradesRead } from '../../venue.ts'
import type { Intake } from '../intake.ts'
import type { TradeHistory } from './history.ts'
import { numberRows, type TradeLedger, type TradeRow, tradeEvent } from './trades.ts'

export interface BackFillRange {
  readonly market: NativeMarketId | null
  readonly fromMs: TimeMs
  readonly toMs: TimeMs
  readonly source: 'backfill' | 'history'
}

export interface BackFillParts {
  readonly clock: Clock
  readonly history: TradeHistory
  readonly ledger: TradeLedger
  readonly intake: Intake
  readonly emit: (event: VenueEvent) => void
  /** A later reading failed: trades since then may be missing. */
  readonly onGivenUp: (sinceMs: TimeMs, reason: string) => void
  readonly signal: AbortSignal
}

/** What ended within the last `TAIL_RECENT_MS` is read again after these delays. */
const TAIL_DELAYS_MS: readonly number[] = [5_000, 20_000]
const TAIL_RECENT_MS = 10_000
/** How much of the range's end is read again. */
const TAIL_MS = 15_000
/** Later readings under way; beyond it a single market's are left out, the whole venue's never. */
const TAILS_MAX = 32

/** Serves the feed's `fetchTrades`; any number of calls at once. */
export class BackFill {
  readonly #parts: BackFillParts
  #tailCount = 0

  constructor(parts: BackFillParts) {
    this.#parts = parts
  }

  /** Emits the range's trades, oldest first; rejects with FetchError. */
  async fetch(range: BackFillRange): Promise<TradesRead> {
    const { clock, history, signal } = this.#parts
    const isRecent = range.toMs >= clock.nowMs() - TAIL_RECENT_MS
    const emit = (rows: readonly TradeRow[]) => this.#emit(rows, range.source)
    const result = await history.read(range, emit, signal)
    if (range.source === 'backfill' && isRecent) this.#readTails(range)
    return result
  }

  #emit(rows: readonly TradeRow[], source: TradeEvent['source']): void {
    const { clock, ledger, emit } = this.#parts
    const receivedAtMs = clock.nowMs()
    for (const numbered of numberRows(rows)) {
      emit(tradeEvent(numbered, source, receivedAtMs))
      if (source === 'backfill') ledger.noteFetched(numbered, receivedAtMs)
    }
  }

  #readTails(range: BackFillRange): void {
    if (range.market !== null && this.#tailCount >= TAILS_MAX) {
      this.#parts.intake.trouble('tail_left_out', range.market)
      return
    }
    const fromMs = timeMs(Math.max(range.fromMs, range.toMs - TAIL_MS))
    this.#tailCount += 1
    void this.#readTail({ ...range, fromMs }).finally(() => {
      this.#tailCount -= 1
    })
  }

  async #readTail(range: BackFillRange): Promise<void> {
    const { clock, history, ledger, signal, onGivenUp } = this.#parts
    const reconcile = (rows: readonly TradeRow[]) => void ledger.reconcile(rows, clock.nowMs())
    try {
      for (const delayMs of TAIL_DELAYS_MS) {
        await pause(clock, delayMs, signal)
        if (signal.aborted) return
        await history.read(range, reconcile, signal)
      }
    } catch (error) {
      if (!signal.aborted) onGivenUp(range.fromMs, `later reading failed: ${error}`)
    }
  }
}
