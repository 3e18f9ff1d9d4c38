// A market's order book and its status. Applies the venue's snapshots and changes and returns the levels that changed.
// Becomes stale when a message contradicts it.

import { crc32 } from 'node:zlib'
import type {
  BookChangeEvent,
  BookReplaced,
  BookSnapshotEvent,
  Level,
  LevelChange,
  StaleReason,
  Stamp,
} from '../../engine/events.ts'
import { bookSnapshotEveryMs, bookSnapshotLevels } from '../../engine/limits.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import { OrderBook } from '../../engine/market/order-book.ts'
import { TIME_END, TIME_ZERO, type TimeMs } from '../../engine/units.ts'
import type { BookSnapshot, Checkpoint, SnapshotTable } from '../../storage/contract/storage.ts'
import type { BookLevels } from '../views.ts'
import type { BothTimes } from './parts.ts'

/**
 * 'empty': this run has no book yet. 'recalled': the last run's book, until the first snapshot. 'stale': may lack
 * changes. 'late': changes waited too long in the mailbox, so they are ignored. 'live': contains all received changes.
 */
type BookStatus = 'empty' | 'recalled' | 'stale' | 'late' | 'live'

const REPLACE_REASONS = {
  empty: 'first',
  recalled: 'restart',
  stale: 'venue_gap',
  late: 'delayed',
  live: 'venue_gap',
} as const satisfies Record<BookStatus, BookReplaced['reason']>

const NOT_LIVE_REASONS = {
  empty: 'not_covered',
  recalled: 'restarted',
  late: 'delayed',
  live: null,
} as const satisfies Record<Exclude<BookStatus, 'stale'>, StaleReason | null>

/** Why a change does not fit the book, which then needs a snapshot. Null: the change fits. */
type Mismatch = 'difference' | 'crossed' | 'top' | null

/**
 * `older`: the REST book may be older than the stream's book. `differs`: a first difference, which a second read must
 * confirm. `contradicted`: a second difference without a stream message since the first.
 */
type RestCheck = 'equal' | 'older' | 'differs' | 'contradicted'

/**
 * Minimum time between the two REST reads that make a book stale. A change may still be in transit at the first read.
 */
export const SECOND_CHECK_MS = 3_000
/** When the stream confirms a book that REST contradicted, REST differences are ignored for this time. */
const REFUTED_FOR_MS = 600_000

export class MarketBook {
  #status: BookStatus = 'empty'
  readonly levels = new OrderBook()
  readonly #market: MarketNumber
  readonly #table: SnapshotTable
  #snapshots: MarketSnapshots | null = null
  #isUnsaved = false
  #venueTimeMs: TimeMs | null = null
  #receivedAtMs: TimeMs | null = null
  #confirmedAtMs: TimeMs | null = null
  #messageCount = 0
  #suspicion: { readonly messageCount: number; readonly atMs: TimeMs } | null = null
  #isContradicted = false
  #refutedUntilMs = 0
  #staleReason: StaleReason = 'messages_lost'

  constructor(market: MarketNumber, table: SnapshotTable) {
    this.#market = market
    this.#table = table
  }

  get isLive(): boolean {
    return this.#status === 'live'
  }

  /** Null if the book is live. */
  get staleReason(): StaleReason | null {
    return this.#status === 'stale' ? this.#staleReason : NOT_LIVE_REASONS[this.#status]
  }

  get hasBook(): boolean {
    return this.#status !== 'empty'
  }

  get confirmedAtMs(): TimeMs | null {
    return this.#confirmedAtMs
  }

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
    if (mismatch !== null) this.markStale('messages_lost')
    return { changes, mismatch }
  }

  #topMismatch(event: BookChangeEvent): Mismatch {
    if (this.levels.isCrossed) return 'crossed'
    const { top } = event
    if (top === null) return null
    const agrees = top.bid === this.levels.bestBid && top.ask === this.levels.bestAsk
    return agrees ? null : 'top'
  }

  merge(event: BookSnapshotEvent): LevelChange[] {
    const changes = this.levels.differences(event.bids, event.asks)
    for (const change of changes) this.levels.set(change)
    if (changes.length > 0) this.#isUnsaved = true
    this.#note(event)
    if (this.levels.isCrossed) this.markStale('messages_lost')
    return changes
  }

  /** Makes a stale book live if the stream's snapshot equals it. */
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

  replace(event: BookSnapshotEvent): BookReplaced['reason'] {
    const reason = REPLACE_REASONS[this.#status]
    this.#isContradicted = false
    this.levels.replace(event.bids, event.asks)
    this.#isUnsaved = true
    this.#note(event)
    this.#status = 'live'
    if (this.levels.isCrossed) this.markStale('messages_lost')
    return reason
  }

  /** Compares a live book with a REST read. A difference does not change the levels. */
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

  saveSnapshot(nowMs: TimeMs): void {
    if (!this.#isUnsaved || !this.isLive) return
    this.#snapshots ??= new MarketSnapshots(this.#market, this.#table)
    if (this.#snapshots.save(this.levels, nowMs)) this.#isUnsaved = false
  }

  markStale(reason: StaleReason): void {
    if (this.#status !== 'live' && this.#status !== 'late') return
    this.#status = 'stale'
    this.#staleReason = reason
  }

  discard(): void {
    this.levels.clear()
    this.levels.trim()
    this.#status = 'empty'
    this.#isUnsaved = false
    this.#venueTimeMs = null
    this.#receivedAtMs = null
    this.#confirmedAtMs = null
    this.#suspicion = null
    this.#isContradicted = false
  }

  /** Ignores changes until the next snapshot. Returns false if the book was not live. */
  markLate(): boolean {
    if (this.#status !== 'live') return false
    this.#status = 'late'
    return true
  }

  times(nowMs: TimeMs): BothTimes {
    const venueTimeMs = this.#venueTimeMs ?? nowMs
    return { venueTimeMs, receivedAtMs: this.#receivedAtMs ?? nowMs }
  }

  empty(times: BothTimes): LevelChange[] {
    this.saveSnapshot(times.receivedAtMs)
    const changes = this.levels.differences([], [])
    this.levels.clear()
    this.markStale('not_covered')
    this.#note(times)
    return changes
  }

  /** The book of a resolved market (`isOver`) never counts as stale. */
  view({ offset, seq }: Stamp, isOver: boolean, levelsMax?: number): BookLevels {
    return {
      bids: this.levels.levels('bid', levelsMax),
      asks: this.levels.levels('ask', levelsMax),
      seq,
      offset,
      isStale: !this.isLive && !isOver,
      staleReason: isOver ? null : this.staleReason,
      venueTimeMs: this.#venueTimeMs,
      receivedAtMs: this.#receivedAtMs,
    }
  }

  checkpointFields(): Pick<Checkpoint, 'bookTimeMs' | 'bids' | 'asks'> {
    const { levels } = this
    const [bids, asks] = [levels.levels('bid'), levels.levels('ask')]
    return { bookTimeMs: this.#venueTimeMs, bids, asks }
  }

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

interface Last {
  readonly atMs: TimeMs
  readonly print: number
}

/**
 * Stores book states at most every ten seconds, and only changed ones. The caller must repeat `save` for a change that
 * came too early.
 */
class MarketSnapshots {
  readonly #market: MarketNumber
  readonly #table: SnapshotTable
  #last: Last | null

  constructor(market: MarketNumber, table: SnapshotTable) {
    this.#market = market
    this.#table = table
    this.#last = lastOf(market, table)
  }

  save(book: OrderBook, nowMs: TimeMs): boolean {
    const last = this.#last
    // The absolute difference lets the history continue after the clock was set back.
    if (last !== null && Math.abs(nowMs - last.atMs) < bookSnapshotEveryMs) return false
    const snapshot: BookSnapshot = {
      timeMs: nowMs,
      bids: book.levels('bid', bookSnapshotLevels),
      asks: book.levels('ask', bookSnapshotLevels),
      bidDepth: book.depth('bid'),
      askDepth: book.depth('ask'),
    }
    const print = printOf(snapshot)
    if (last?.print === print) return true
    this.#table.put(this.#market, snapshot)
    this.#last = { atMs: nowMs, print }
    return true
  }
}

function lastOf(market: MarketNumber, table: SnapshotTable): Last | null {
  const [newest] = table.range({
    market,
    fromMs: TIME_ZERO,
    toMs: TIME_END,
    after: null,
    order: 'desc',
    limit: 1,
  })
  return newest === undefined ? null : { atMs: newest.timeMs, print: printOf(newest) }
}

function printOf({ bids, asks, bidDepth, askDepth }: BookSnapshot): number {
  return crc32(`${bidDepth}:${askDepth}:${sideText(bids)}/${sideText(asks)}`)
}

function sideText(levels: readonly Level[]): string {
  let text = ''
  for (const { price, size } of levels) text += `${price}:${size}:`
  return text
}
