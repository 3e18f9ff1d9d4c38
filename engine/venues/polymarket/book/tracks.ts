// Which tokens are watched, and what the stream last said of each market: enough to fold both tokens
// into one book and to notice that the stream fell behind, without keeping a book here.
// The book itself belongs to the market's actor.

import type { LevelChange, TopOfBook } from '../../../events.ts'
import { type NativeMarketId, type OutcomeId, outcomeId } from '../../../ids.ts'
import type { TimeMs } from '../../../units.ts'
import type { WatchedMarket } from '../../venue.ts'

/** One watched market. The fields below `connection` change with every message. */
export class MarketTrack {
  readonly nativeId: NativeMarketId
  readonly first: OutcomeId
  readonly second: OutcomeId
  readonly closeAtMs: TimeMs | null
  /** The connection that carries both tokens; 0 before one is chosen. */
  connection = 0
  /** Messages about its book, ever, and as of the last audit: their difference is how busy it is. */
  messageCount = 0
  auditedCount = 0

  /** Venue time of the last book message, and the hash it gave for the first token. */
  lastTimeMs = 0
  lastHash: string | null = null
  /** What that message changed last of the first token; null: it was a whole book. */
  lastChange: LevelChange | null = null
  /** Best prices after the last message; null: it did not say. */
  top: TopOfBook | null = null

  /** `book` messages of each token that carry `bookTimeMs`: see map.ts on twins. */
  bookTimeMs = 0
  firstBookCount = 0
  secondBookCount = 0
  /**
   * `messageCount` right after a `book` of the second token was taken; null: none was, or the tick
   * changed since.
   */
  secondBookAt: number | null = null
  tickText = ''
  tickTimeMs = 0

  /** Monotonic time at which a missing snapshot is asked for (again); null: none is missing. */
  snapshotDueAtMs: number | null = null
  /** Snapshots asked for since the last that could be used. */
  unansweredCount = 0
  /** Monotonic times before which no further snapshot is asked for, and no gap is emitted. */
  resyncAllowedAtMs = 0
  gapAllowedAtMs = 0
  /** Whether the passing of `closeAtMs` was emitted, or was past when the watch began. */
  isCloseEmitted = false

  constructor(market: WatchedMarket, first: OutcomeId, second: OutcomeId) {
    this.nativeId = market.nativeId
    this.first = first
    this.second = second
    this.closeAtMs = market.closeAtMs
  }

  /** What a book message says of the stream's position. */
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

  /** A new subscription begins: what was counted of the old one must not judge its books. */
  reset(): void {
    this.bookTimeMs = 0
    this.firstBookCount = 0
    this.secondBookCount = 0
    this.secondBookAt = null
    this.tickText = ''
    this.lastHash = null
  }
}

/** Tokens that were watched: messages about them may still be on their way. */
const UNWATCHED_MAX = 10_000

/** The watched markets, by token and by market id. */
export class Tracks {
  readonly #unwatched = new Set<string>()
  readonly #byToken = new Map<string, MarketTrack>()
  readonly #byMarket = new Map<NativeMarketId, MarketTrack>()

  get size(): number {
    return this.#byMarket.size
  }

  /** The new track; null when it is watched already or has other than two outcomes. */
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

  /** Whether the token was never watched, as far as is remembered. */
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
