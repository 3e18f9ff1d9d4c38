// A market's book and how far it can be trusted; part of the market's actor. It applies the venue's snapshots and
// changes, returns what really changed, and marks itself stale when they do not fit.

import type {
  BookChangeEvent,
  BookReplaced,
  BookSnapshotEvent,
  LevelChange,
  Stamp,
} from '../../engine/events.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import { OrderBook } from '../../engine/market/order-book.ts'
import type { TimeMs } from '../../engine/units.ts'
import type { Checkpoint, SnapshotTable } from '../../storage/contract/storage.ts'
import type { BookLevels } from '../views.ts'
import type { BothTimes } from './parts.ts'
import { MarketSnapshots } from './snapshots.ts'

/**
 * 'empty': this run has seen no book yet. 'recalled': the last run's book, until the first snapshot. 'stale': may miss
 * changes. 'late': changes are left out, since they waited in the mailbox for too long. 'live': follows the venue.
 */
type BookStatus = 'empty' | 'recalled' | 'stale' | 'late' | 'live'

/** Why a whole book is announced, by the trust that it replaces. */
const REPLACE_REASONS = {
  empty: 'first',
  recalled: 'restart',
  stale: 'venue_gap',
  late: 'delayed',
  live: 'venue_gap',
} as const satisfies Record<BookStatus, BookReplaced['reason']>

/** Why the book asks for a snapshot after a change; null when it does not. */
type Mismatch = 'difference' | 'crossed' | 'top' | null

/**
 * What a book read over REST says of the stream's. `older`: nothing, since the stream is ahead of it. `differs`: a first
 * contradiction, to be confirmed by a second reading. `contradicted`: a second one, and the stream was silent meanwhile.
 */
type RestCheck = 'equal' | 'older' | 'differs' | 'contradicted'

/** Two readings that contradict a book are at least so far apart: a change may be on its way. */
export const SECOND_CHECK_MS = 3_000
/** After the stream has refuted REST, REST contradicts the book no more for so long. */
const REFUTED_FOR_MS = 600_000

export class MarketBook {
  #status: BookStatus = 'empty'
  readonly levels = new OrderBook()
  readonly #market: MarketNumber
  readonly #table: SnapshotTable
  #snapshots: MarketSnapshots | null = null
  /** The book changed since it was last kept for the history. */
  #isUnsaved = false
  #venueTimeMs: TimeMs | null = null
  #receivedAtMs: TimeMs | null = null
  #confirmedAtMs: TimeMs | null = null
  /** Messages of the stream, ever. */
  #messageCount = 0
  /** The first of two readings that contradict the book. */
  #suspicion: { readonly messageCount: number; readonly atMs: TimeMs } | null = null
  /** It is stale because REST contradicts it. */
  #isContradicted = false
  #refutedUntilMs = 0

  constructor(market: MarketNumber, table: SnapshotTable) {
    this.#market = market
    this.#table = table
  }

  get isLive(): boolean {
    return this.#status === 'live'
  }

  /** Whether any book is known, if only the last run's. */
  get hasBook(): boolean {
    return this.#status !== 'empty'
  }

  get confirmedAtMs(): TimeMs | null {
    return this.#confirmedAtMs
  }

  /** Applies a change to a live book; returns the changed levels as absolute sizes, and a doubt, if any. */
  change(event: BookChangeEvent): { changes: LevelChange[]; mismatch: Mismatch } {
    let hasMismatch = false
    const changes: LevelChange[] = []
    for (const change of event.changes) {
      const { side, price } = change
      const outcome = event.mode === 'absolute' ? this.levels.set(change) : this.levels.add(change)
      if (outcome === 'unchanged') continue
      if (outcome !== 'applied') hasMismatch = true
      changes.push({ side, price, size: this.levels.sizeAt(side, price) })
    }
    if (changes.length > 0) this.#isUnsaved = true
    this.#note(event)
    const mismatch = hasMismatch ? 'difference' : this.#topMismatch(event)
    if (mismatch !== null) this.#status = 'stale'
    return { changes, mismatch }
  }

  #topMismatch(event: BookChangeEvent): Mismatch {
    if (this.levels.isCrossed) return 'crossed'
    const { top } = event
    if (top === null) return null
    const agrees = top.bid === this.levels.bestBid && top.ask === this.levels.bestAsk
    return agrees ? null : 'top'
  }

  /** Takes a whole book while live; returns the levels that differ. */
  merge(event: BookSnapshotEvent): LevelChange[] {
    const changes = this.levels.differences(event.bids, event.asks)
    for (const change of changes) this.levels.set(change)
    if (changes.length > 0) this.#isUnsaved = true
    this.#note(event)
    if (this.levels.isCrossed) this.#status = 'stale'
    return changes
  }

  /** Whether a stale book misses nothing: the stream's whole book equals it. Then it is live again. */
  revive(event: BookSnapshotEvent): boolean {
    if (this.#status !== 'stale' || this.levels.levelCount === 0) return false
    if (this.levels.isCrossed) return false
    if (this.levels.differences(event.bids, event.asks).length > 0) return false
    if (this.#isContradicted) this.#refutedUntilMs = event.receivedAtMs + REFUTED_FOR_MS
    this.#isContradicted = false
    this.#note(event)
    this.#status = 'live'
    return true
  }

  /** Takes a whole book while not live; returns why it is announced. */
  replace(event: BookSnapshotEvent): BookReplaced['reason'] {
    const reason = REPLACE_REASONS[this.#status]
    this.#isContradicted = false
    this.levels.replace(event.bids, event.asks)
    this.#isUnsaved = true
    this.#note(event)
    this.#status = this.levels.isCrossed ? 'stale' : 'live'
    return reason
  }

  /** Compares a live book with one that was read over REST. */
  check(event: BookSnapshotEvent): RestCheck {
    const { receivedAtMs } = event
    if (this.levels.differences(event.bids, event.asks).length === 0) {
      this.#suspicion = null
      this.#confirmedAtMs = receivedAtMs
      return 'equal'
    }
    const isOlder = this.#venueTimeMs !== null && this.#venueTimeMs > event.venueTimeMs
    if (isOlder || receivedAtMs < this.#refutedUntilMs) return 'older'
    const suspicion = this.#suspicion
    if (suspicion === null || suspicion.messageCount !== this.#messageCount) {
      this.#suspicion = { messageCount: this.#messageCount, atMs: receivedAtMs }
      return 'differs'
    }
    if (receivedAtMs - suspicion.atMs < SECOND_CHECK_MS) return 'differs'
    this.#suspicion = null
    this.#isContradicted = true
    return 'contradicted'
  }

  /** Keeps a changed, live book for the history, if one is due. */
  saveSnapshot(nowMs: TimeMs): void {
    if (!this.#isUnsaved || !this.isLive) return
    this.#snapshots ??= new MarketSnapshots(this.#market, this.#table)
    if (this.#snapshots.save(this.levels, nowMs)) this.#isUnsaved = false
  }

  /** The book may miss changes from now on. */
  markStale(): void {
    if (this.#status === 'live' || this.#status === 'late') this.#status = 'stale'
  }

  /** Changes come too late, and are left out from now on; false when the book was not live anyway. */
  markLate(): boolean {
    if (this.#status !== 'live') return false
    this.#status = 'late'
    return true
  }

  /** The venue's time of the newest change, and when it reached us; the present before the first snapshot. */
  times(nowMs: TimeMs): BothTimes {
    const venueTimeMs = this.#venueTimeMs ?? nowMs
    return { venueTimeMs, receivedAtMs: this.#receivedAtMs ?? nowMs }
  }

  /** Removes every level, for good: later changes are left out. Returns the removals. */
  empty(times: BothTimes): LevelChange[] {
    this.saveSnapshot(times.receivedAtMs)
    const changes = this.levels.differences([], [])
    this.levels.clear()
    this.markStale()
    this.#note(times)
    return changes
  }

  /** The book for readers, `stamp` being its newest. A resolved market's book (`isOver`) is never stale. */
  view({ offset, seq }: Stamp, isOver: boolean, levelsMax?: number): BookLevels {
    return {
      bids: this.levels.levels('bid', levelsMax),
      asks: this.levels.levels('ask', levelsMax),
      seq,
      offset,
      isStale: !this.isLive && !isOver,
      venueTimeMs: this.#venueTimeMs,
      receivedAtMs: this.#receivedAtMs,
    }
  }

  /** What a checkpoint keeps of the book, for `recall`. */
  checkpointFields(): Pick<Checkpoint, 'bookTimeMs' | 'bids' | 'asks'> {
    const { levels } = this
    const [bids, asks] = [levels.levels('bid'), levels.levels('ask')]
    return { bookTimeMs: this.#venueTimeMs, bids, asks }
  }

  /** The last run's book, shown as stale until this run's first snapshot. */
  recall(checkpoint: Checkpoint): void {
    if (this.#status !== 'empty') return
    this.levels.replace(checkpoint.bids, checkpoint.asks)
    if (this.levels.levelCount === 0) return
    this.#status = 'recalled'
    this.#venueTimeMs = checkpoint.bookTimeMs
    this.#receivedAtMs = checkpoint.writtenAtMs
    this.#confirmedAtMs = checkpoint.writtenAtMs
  }

  #note(times: BothTimes): void {
    this.#venueTimeMs = times.venueTimeMs
    this.#receivedAtMs = times.receivedAtMs
    this.#confirmedAtMs = times.receivedAtMs
    this.#messageCount += 1
  }
}
