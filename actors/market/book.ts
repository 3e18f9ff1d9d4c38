// A market's book and how far it can be trusted, owned by its actor. It applies what the venue says,
// answers what really changed, and doubts itself when the venue's words do not fit.
// Not for: publishing, or asking the venue again (actors/market/market.ts). Upholds MKT1, MKT2, MKT3, MKT16.

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
import type { BookView } from '../views.ts'
import type { BothTimes } from './parts.ts'
import { MarketSnapshots } from './snapshots.ts'

/**
 * 'empty': no book seen yet in this run. 'recalled': the last run's, until the first snapshot.
 * 'stale': may miss changes. 'late': leaves changes out, since they waited with us for too long.
 * 'live': follows the venue.
 */
type Trust = 'empty' | 'recalled' | 'stale' | 'late' | 'live'

/** Why a book that is not live is announced anew. */
const REPLACED_BECAUSE = {
  empty: 'first',
  recalled: 'restart',
  stale: 'venue_gap',
  late: 'delayed',
  live: 'venue_gap',
} as const satisfies Record<Trust, BookReplaced['reason']>

/** Why the book asks for a snapshot after a change; null when it does not. */
export type Doubt = 'difference' | 'crossed' | 'top' | null

export class MarketBook {
  readonly levels = new OrderBook()
  readonly #market: MarketNumber
  readonly #table: SnapshotTable
  #snapshots: MarketSnapshots | null = null
  /** It changed since it was kept for the history. */
  #hasNews = false
  #trust: Trust = 'empty'
  #venueTimeMs: TimeMs | null = null
  #receivedAtMs: TimeMs | null = null

  constructor(market: MarketNumber, table: SnapshotTable) {
    this.#market = market
    this.#table = table
  }

  get isLive(): boolean {
    return this.#trust === 'live'
  }

  /** Whether anything at all is known of the book. */
  get isKnown(): boolean {
    return this.#trust !== 'empty'
  }

  /** Applies a change to a live book; the changes as absolute sizes, and what was odd about them. */
  change(event: BookChangeEvent): { changes: LevelChange[]; doubt: Doubt } {
    let isOdd = false
    const changes: LevelChange[] = []
    for (const change of event.changes) {
      const { side, price } = change
      const outcome = event.mode === 'absolute' ? this.levels.set(change) : this.levels.add(change)
      if (outcome === 'unchanged') continue
      if (outcome !== 'applied') isOdd = true
      changes.push({ side, price, size: this.levels.sizeAt(side, price) })
    }
    if (changes.length > 0) this.#hasNews = true
    this.#note(event)
    const doubt = isOdd ? 'difference' : this.#doubtTop(event)
    if (doubt !== null) this.#trust = 'stale'
    return { changes, doubt }
  }

  #doubtTop(event: BookChangeEvent): Doubt {
    if (this.levels.isCrossed) return 'crossed'
    const { top } = event
    if (top === null) return null
    const agrees = top.bid === this.levels.bestBid && top.ask === this.levels.bestAsk
    return agrees ? null : 'top'
  }

  /** A whole book for a live one: only what differs. */
  merge(event: BookSnapshotEvent): LevelChange[] {
    const changes = this.levels.differences(event.bids, event.asks)
    for (const change of changes) this.levels.set(change)
    if (changes.length > 0) this.#hasNews = true
    this.#note(event)
    if (this.levels.isCrossed) this.#trust = 'stale'
    return changes
  }

  /** A whole book for one that is not live; says why it is announced. */
  replace(event: BookSnapshotEvent): BookReplaced['reason'] {
    const reason = REPLACED_BECAUSE[this.#trust]
    this.levels.replace(event.bids, event.asks)
    this.#hasNews = true
    this.#note(event)
    this.#trust = this.levels.isCrossed ? 'stale' : 'live'
    return reason
  }

  /** Whether a book read beside the stream differs though the stream has said nothing newer. */
  differsFrom(event: BookSnapshotEvent): boolean {
    if (this.#venueTimeMs !== null && this.#venueTimeMs > event.venueTimeMs) return false
    return this.levels.differences(event.bids, event.asks).length > 0
  }

  /** Keeps a changed book for the history, if one may be kept now and it can be trusted. */
  keep(nowMs: TimeMs): void {
    if (!this.#hasNews || !this.isLive) return
    this.#snapshots ??= new MarketSnapshots(this.#market, this.#table)
    if (this.#snapshots.keep(this.levels, nowMs)) this.#hasNews = false
  }

  /** It may miss changes from now on. */
  distrust(): void {
    if (this.#trust === 'live' || this.#trust === 'late') this.#trust = 'stale'
  }

  /** Its changes come too late, and are left out from now on; false when it was not live anyway. */
  giveUp(): boolean {
    if (this.#trust !== 'live') return false
    this.#trust = 'late'
    return true
  }

  /** When what it shows was said, by the venue and to us; the present time before its first snapshot. */
  times(nowMs: TimeMs): BothTimes {
    const venueTimeMs = this.#venueTimeMs ?? nowMs
    return { venueTimeMs, receivedAtMs: this.#receivedAtMs ?? nowMs }
  }

  /** Removes every level, for good: what still arrives is left out; the changes that say so. */
  empty(times: BothTimes): LevelChange[] {
    this.keep(times.receivedAtMs)
    const changes = this.levels.differences([], [])
    this.levels.clear()
    this.distrust()
    this.#note(times)
    return changes
  }

  /** As others may see it, `stamp` being its newest; after the end nothing more can come. */
  view({ offset, seq }: Stamp, isOver: boolean, levelsMax?: number): BookView {
    return {
      bids: this.levels.levels('bid', levelsMax),
      asks: this.levels.levels('ask', levelsMax),
      seq,
      offset,
      isStale: !this.isLive && !isOver,
      venueTimeMs: this.#venueTimeMs,
      receivedAtMs: this.#receivedAtMs,
      checksum: this.levels.checksum(),
    }
  }

  /** What `recall` needs of it. */
  remembered(): Pick<Checkpoint, 'bookTimeMs' | 'bids' | 'asks'> {
    const { levels } = this
    const [bids, asks] = [levels.levels('bid'), levels.levels('ask')]
    return { bookTimeMs: this.#venueTimeMs, bids, asks }
  }

  /** The last run's book, shown as stale until this run's first snapshot. */
  recall(kept: Checkpoint): void {
    if (this.#trust !== 'empty') return
    this.levels.replace(kept.bids, kept.asks)
    if (this.levels.levelCount === 0) return
    this.#trust = 'recalled'
    this.#venueTimeMs = kept.bookTimeMs
    this.#receivedAtMs = kept.writtenAtMs
  }

  #note(times: BothTimes): void {
    this.#venueTimeMs = times.venueTimeMs
    this.#receivedAtMs = times.receivedAtMs
  }
}
