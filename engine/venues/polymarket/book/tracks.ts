// The watched tokens, and the state of each market's book: the merge of its two tokens, and the data for the comparison
// with REST.

import type { LevelChange, TopOfBook } from '../../../events.ts'
import { type NativeMarketId, type OutcomeId, outcomeId } from '../../../ids.ts'
import type { TimeMs } from '../../../units.ts'
import type { WatchedMarket } from '../../venue.ts'

export class MarketTrack {
  readonly nativeId: NativeMarketId
  readonly first: OutcomeId
  readonly second: OutcomeId
  readonly closeAtMs: TimeMs | null
  /** Number of the connection that carries both tokens. 0 if the market is not covered. */
  connection = 0
  /** Whether the subscription was sent on the connection's present socket. */
  isSubscribed = false
  /** Number of messages about the book, in total and at the last audit. The difference shows how busy the market is. */
  messageCount = 0
  auditedCount = 0

  /** Venue time and hash of the last book message. The hash is of the first token's book. */
  lastTimeMs = 0
  lastHash: string | null = null
  /** The first token's last change in the last message. Null if the message was a complete book. */
  lastChange: LevelChange | null = null
  /** Best prices in the last message. Null if it contained none. */
  top: TopOfBook | null = null

  /**
   * Venue time of the last `book` messages, and the number of messages with this time per token. See `isMirrored` in
   * map.ts.
   */
  bookTimeMs = 0
  firstBookCount = 0
  secondBookCount = 0
  /** `messageCount` after the second token's last book. Null if no book arrived since the subscription or a tick change. */
  secondBookAt: number | null = null
  tickText = ''
  tickTimeMs = 0

  /**
   * Monotonic time at which the missing snapshot is requested again. Infinity: the venue has not answered since the
   * request. Null: no snapshot is missing.
   */
  snapshotDueAtMs: number | null = null
  unansweredCount = 0
  /** Monotonic times before which no snapshot is requested and no gap is emitted. */
  resyncAllowedAtMs = 0
  gapAllowedAtMs = 0

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

  clear(): void {
    this.reset()
    this.connection = 0
    this.isSubscribed = false
    this.lastTimeMs = 0
    this.lastChange = null
    this.top = null
    this.snapshotDueAtMs = null
    this.unansweredCount = 0
    this.resyncAllowedAtMs = 0
    this.gapAllowedAtMs = 0
  }

  reset(): void {
    this.bookTimeMs = 0
    this.firstBookCount = 0
    this.secondBookCount = 0
    this.secondBookAt = null
    this.tickText = ''
    this.lastHash = null
  }
}

/** Maximum unwatched tokens that are remembered. Messages about them may still arrive. */
const UNWATCHED_MAX = 10_000

export class Tracks {
  readonly #unwatched = new Set<string>()
  readonly #byToken = new Map<string, MarketTrack>()
  readonly #byMarket = new Map<NativeMarketId, MarketTrack>()
  readonly #covered = new Set<MarketTrack>()

  get covered(): ReadonlySet<MarketTrack> {
    return this.#covered
  }

  /** Null if the market is already watched or does not have two outcomes. */
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
    this.#covered.delete(track)
    this.#byToken.delete(track.first)
    this.#byToken.delete(track.second)
    this.#unwatched.add(track.first).add(track.second)
    for (const token of this.#unwatched) {
      if (this.#unwatched.size <= UNWATCHED_MAX) break
      this.#unwatched.delete(token)
    }
    return track
  }

  /** Null if the market is not watched or already covered. */
  cover(id: NativeMarketId): MarketTrack | null {
    const track = this.#byMarket.get(id)
    if (track === undefined || this.#covered.has(track)) return null
    this.#covered.add(track)
    return track
  }

  /** Null if the market is not covered. */
  uncover(id: NativeMarketId): MarketTrack | null {
    const track = this.#byMarket.get(id)
    return track !== undefined && this.#covered.delete(track) ? track : null
  }

  isUnknown(token: string): boolean {
    return !this.#byToken.has(token) && !this.#unwatched.has(token)
  }

  byMarket(id: NativeMarketId): MarketTrack | undefined {
    return this.#byMarket.get(id)
  }

  byToken(token: string): MarketTrack | undefined {
    return this.#byToken.get(token)
  }
}
