// Back-fills trades from the Data API with the ids of the stream. The API lists trades late, and its cache returns old
// responses. The end of a range is therefore read again until the response is certainly complete.

import { type Clock, pause } from '../../../clock.ts'
import type { TradeEvent, VenueEvent } from '../../../events.ts'
import { addTo } from '../../../grouping.ts'
import { runInSlices, type SlicedWork } from '../../../time-slices.ts'
import { type TimeMs, timeMs } from '../../../units.ts'
import type { TradesRange, TradesRead } from '../../venue.ts'
import type { VenueCounters } from '../../venue-counters.ts'
import { fillsOfMakers } from './fills.ts'
import {
  type Fill,
  numberRows,
  type TradeLedger,
  type TradeRow,
  tradeEvent,
} from './trade-ledger.ts'
import type { TradeWalk } from './trade-walk.ts'

interface BackFillParts {
  readonly clock: Clock
  readonly walk: Pick<TradeWalk, 'read'>
  readonly ledger: TradeLedger
  readonly counters: Pick<VenueCounters, 'trouble'>
  readonly emit: (event: VenueEvent) => void
  /** Called when a repeated read failed. Trades since `sinceMs` may be missing. */
  readonly onGivenUp: (sinceMs: TimeMs, reason: string) => void
  readonly signal: AbortSignal
}

type FillsOf = (row: TradeRow) => readonly Fill[] | null

/** Delays before the end of a range is read again, if the end was recent (TAIL_RECENT_MS). */
const TAIL_DELAYS_MS: readonly number[] = [5_000, 20_000, 60_000, 335_000]
const TAIL_RECENT_MS = 10_000
/** A range is not read again when a response is proven complete up to this time after the range's end. */
const SETTLED_MS = 10_000
/** Maximum time by which a range is extended to the past, because previous responses were cached copies. */
const EARLIER_MS_MAX = 900_000
const TAIL_MS = 15_000
/** Maximum concurrent repeated reads. Above the maximum only ranges of the whole venue are read again. */
const TAILS_MAX = 32

export class BackFill {
  readonly #parts: BackFillParts
  #tailCount = 0
  /** Time up to which a response certainly contained all trades of the venue; null before the first response. */
  #provenToMs: TimeMs | null = null

  constructor(parts: BackFillParts) {
    this.#parts = parts
  }

  async fetch(range: TradesRange): Promise<TradesRead> {
    const { clock, walk, signal } = this.#parts
    const isRecent = range.toMs >= clock.nowMs() - TAIL_RECENT_MS
    const emit = async (rows: readonly TradeRow[]) => {
      const fillsOf = range.source === 'backfill' ? await this.#fillsOf(rows, range) : () => null
      await runInSlices(clock, this.#emit(rows, range.source, fillsOf))
    }
    const requested = range.market === null ? this.#fromProven(range) : range
    const { provenToMs, ...result } = await walk.read(requested, emit, signal)
    if (range.market === null) {
      const provenMs = timeMs(Math.min(provenToMs, range.toMs))
      this.#provenToMs = timeMs(Math.max(this.#provenToMs ?? provenMs, provenMs))
    }
    if (range.source === 'backfill' && isRecent) this.#readTails(range)
    const completeFromMs = timeMs(Math.max(result.completeFromMs, range.fromMs))
    return { ...result, completeFromMs }
  }

  /** Extends a range back to `#provenToMs`, because an earlier response may have lacked trades after it. */
  #fromProven(range: TradesRange): TradesRange {
    if (this.#provenToMs === null || range.source === 'history') return range
    const earliestMs = range.fromMs - EARLIER_MS_MAX
    const fromMs = timeMs(Math.min(range.fromMs, Math.max(this.#provenToMs, earliestMs)))
    return { ...range, fromMs }
  }

  /**
   * Splits rows into fills. A row is the sum of its taker's fills. If its makers cannot be read, the row stays one
   * trade.
   */
  async #fillsOf(rows: readonly TradeRow[], { market }: TradesRange): Promise<FillsOf> {
    const { walk, ledger, signal, counters } = this.#parts
    const makers = new Map<string, TradeRow[]>()
    let [fromMs, toMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
    for (const row of rows) {
      if (ledger.isEmitted(row)) continue
      makers.set(row.txHash, [])
      fromMs = Math.min(fromMs, row.timeMs)
      toMs = Math.max(toMs, row.timeMs)
    }
    if (makers.size === 0) return () => null
    const range = { market, fromMs: timeMs(fromMs), toMs: timeMs(toMs), isTakerOnly: false }
    const take = (some: readonly TradeRow[]) => {
      for (const row of some) makers.get(row.txHash)?.push(row)
    }
    try {
      await walk.read(range, take, signal)
    } catch (error) {
      if (!signal.aborted) counters.trouble('makers_unread', { detail: String(error) })
    }
    return (row) => fillsOfMakers(row, makers.get(row.txHash) ?? [])
  }

  *#emit(
    rows: readonly TradeRow[],
    source: TradeEvent['source'],
    fillsOf: FillsOf,
  ): SlicedWork<void> {
    const { clock, ledger, emit } = this.#parts
    const receivedAtMs = clock.nowMs()
    yield* this.#byTransaction(rows, (some) => {
      if (source === 'backfill') return ledger.addFetched(some, receivedAtMs, fillsOf)
      const numbered = numberRows(ledger.withExistingKeys(some))
      for (const row of numbered) emit(tradeEvent(row, source, receivedAtMs))
    })
  }

  /**
   * Yields the rows of one transaction at a time, in order of their first row. Between two steps the stream may add an
   * equal row.
   */
  *#byTransaction(
    rows: readonly TradeRow[],
    take: (some: readonly TradeRow[]) => void,
  ): SlicedWork<void> {
    for (let from = 0; from < rows.length; ) {
      const second = rows[from]?.timeMs
      const ofSecond = new Map<string, TradeRow[]>()
      for (let row = rows[from]; row?.timeMs === second && row !== undefined; row = rows[from]) {
        addTo(ofSecond, row.txHash, row)
        from += 1
      }
      for (const some of ofSecond.values()) {
        if (this.#parts.signal.aborted) return
        take(some)
        yield
      }
    }
  }

  #readTails(range: TradesRange): void {
    if (range.market !== null && this.#tailCount >= TAILS_MAX) {
      this.#parts.counters.trouble('tail_left_out', { detail: range.market })
      return
    }
    const fromMs = timeMs(Math.max(range.fromMs, range.toMs - TAIL_MS))
    this.#tailCount += 1
    void this.#readTail({ ...range, fromMs }).finally(() => {
      this.#tailCount -= 1
    })
  }

  async #readTail(range: TradesRange): Promise<void> {
    const { clock, walk, ledger, signal, onGivenUp } = this.#parts
    const reconcile = async (rows: readonly TradeRow[]) => {
      const fillsOf = await this.#fillsOf(rows, range)
      const take = (some: readonly TradeRow[]) =>
        void ledger.reconcile(some, clock.nowMs(), fillsOf)
      await runInSlices(clock, this.#byTransaction(rows, take))
    }
    try {
      for (const [attempt, delayMs] of TAIL_DELAYS_MS.entries()) {
        await pause(clock, delayMs, signal)
        if (signal.aborted) return
        const { provenToMs } = await walk.read({ ...range, attempt }, reconcile, signal)
        if (provenToMs >= range.toMs + SETTLED_MS) return
      }
    } catch (error) {
      if (!signal.aborted) onGivenUp(range.fromMs, `later reading failed: ${error}`)
    }
  }
}
