// The watched tokens, and the state of each market: the merge of its two tokens, and the data for the audit against
// REST.

import type { LevelChange, TopOfBook } from '../../../events.ts'
import { type NativeMarketId, type OutcomeId, outcomeId } from '../../../ids.ts'
import type { TimeMs } from '../../../units.ts'
import type { WatchedMarket } from '../../venue.ts'

/** One watched market. The fields from `connection` on are mutable. */
export class MarketTrack {
  readonly nativeId: NativeMarketId
  readonly first: OutcomeId
  readonly second: OutcomeId
  readonly closeAtMs: TimeMs | null
  /** Number of the connection that carries both tokens; 0 before one is chosen. */
  connection = 0
  /** Messages about the book, in total and at the last audit. The difference shows how busy it is. */
  messageCount = 0
  auditedCount = 0

  /** Venue time of the last book message, and its hash for the first token. */
  lastTimeMs = 0
  lastHash: string | null = null
  /** The last change of the first token in that message; null if it was a complete book. */
  lastChange: LevelChange | null = null
  /** Best prices after the last message; null if the message had none. */
  top: TopOfBook | null = null

  /** Venue time of the last `book` messages, and their number per token. See `isMirrored` in map.ts. */
  bookTimeMs = 0
  firstBookCount = 0
  secondBookCount = 0
  /** `messageCount` after the second token's last book; null: none since the subscription or a tick change. */
  secondBookAt: number | null = null
  tickText = ''
  tickTimeMs = 0

  /** Monotonic time at which a missing snapshot is requested (again); null if none is missing. */
  snapshotDueAtMs: number | null = null
  /** Snapshots requested since the last usable one. */
  unansweredCount = 0
  /** Monotonic times before which no snapshot is requested and no gap is emitted. */
  resyncAllowedAtMs = 0
  gapAllowedAtMs = 0
  /** Whether the event for `closeAtMs` was emitted, or `closeAtMs` was past when the subscription began. */
  isCloseEmitted = false

  constructor(market: WatchedMarket, first: OutcomeId, second: OutcomeId) {
    this.nativeId = market.nativeId
    this.first = first
    this.second = second
    this.closeAtMs = market.closeAtMs
  }

  note(message: {
    readonly venueTimeMs: TimeMs
    readonly hash: string | null
    readonly top: TopOfBook | null
    readonly change?: LevelChange | null
  }): void {
    this.lastTimeMs = message.venueTimeMs
    this.lastHash = message.hash
    this.lastChange = message.change ?? null
    this.top = message.top
    this.messageCount += 1
  }

  /** Clears counts of the previous subscription, so that they do not affect the books of the new one. */
  reset(): void {
    this.bookTimeMs = 0
    this.firstBookCount = 0
    this.secondBookCount = 0
    this.secondBookAt = null
    this.tickText = ''
    this.lastHash = null
  }
}

/** Maximum tokens that are remembered after they were unsubscribed, because messages about them may still arrive. */
const UNWATCHED_MAX = 10_000

export class Tracks {
  readonly #unwatched = new Set<string>()
  readonly #byToken = new Map<string, MarketTrack>()
  readonly #byMarket = new Map<NativeMarketId, MarketTrack>()

  get size(): number {
    return this.#byMarket.size
  }

  /** Adds a market. Returns null if it is already watched or does not have two outcomes. */
  add(market: WatchedMarket): MarketTrack | null {
    const [first, second] = market.outcomes
    if (first === undefined || second === undefined || market.outcomes.length !== 2) return null
    if (this.#byMarket.has(market.nativeId)) return null
    const track = new MarketTrack(market, outcomeId(first), outcomeId(second))
    this.#byMarket.set(market.nativeId, track)
    this.#byToken.set(first, track)
    this.#byToken.set(second, track)
    return track
  }

  remove(id: NativeMarketId): MarketTrack | null {
    const track = this.#byMarket.get(id)
    if (track === undefined) return null
    this.#byMarket.delete(id)
    this.#byToken.delete(track.first)
    this.#byToken.delete(track.second)
    this.#unwatched.add(track.first).add(track.second)
    for (const token of this.#unwatched) {
      if (this.#unwatched.size <= UNWATCHED_MAX) break
      this.#unwatched.delete(token)
    }
    return track
  }

  /** Whether the token is neither watched nor among the last `UNWATCHED_MAX` unsubscribed tokens. */
  isUnknown(token: string): boolean {
    return !this.#byToken.has(token) && !this.#unwatched.has(token)
  }

  byMarket(id: NativeMarketId): MarketTrack | undefined {
    return this.#byMarket.get(id)
  }

  byToken(token: string): MarketTrack | undefined {
    return this.#byToken.get(token)
  }

  all(): IterableIterator<MarketTrack> {
    return this.#byMarket.values()
  }
}
