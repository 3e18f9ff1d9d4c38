// Compares the stream with REST, because the market channel has no sequence numbers. Each comparison needs two REST
// responses. In the pause between them a message in transit can arrive.

import { type Clock, pause } from '../../../clock.ts'
import type { HttpClient } from '../../../fetch.ts'
import { asList } from '../../answer-checks.ts'
import { type BookMessage, isBook } from '../messages.ts'
import { inDecimals } from '../parse.ts'
import { readBookSummary, readLevels } from './quotes.ts'
import type { MarketTrack, Tracks } from './tracks.ts'

interface AuditParts {
  readonly clock: Clock
  readonly clob: HttpClient
  readonly tracks: Tracks
  readonly isUp: (track: MarketTrack) => boolean
  /** Called when the REST book has the hash of the stream's last change, but another size at the changed price. */
  readonly onContradicted: (track: MarketTrack) => void
}

const BOOKS_PER_CALL = 100
const AUDITED_BUSY = 10
const AUDITED_ROUND_ROBIN = 10
const SECOND_CHECK_MS = 3_000
const FINAL_CHECK_MS = 1_500

export class BookAudit {
  readonly #parts: AuditParts
  #nextPosition = 0

  constructor(parts: AuditParts) {
    this.#parts = parts
  }

  /** Books of the markets' first tokens, by token. Tokens without a book at the venue are absent. */
  async books(
    tracks: readonly MarketTrack[],
    signal: AbortSignal,
  ): Promise<Map<string, BookMessage>> {
    const books = new Map<string, BookMessage>()
    for (let from = 0; from < tracks.length; from += BOOKS_PER_CALL) {
      const body = tracks.slice(from, from + BOOKS_PER_CALL).map(({ first }) => ({
        token_id: first,
      }))
      const answer = await this.#parts.clob.postJson('/books', body, { signal })
      for (const given of asList(answer, 'books')) {
        const book = inDecimals(given)
        if (isBook(book)) books.set(book.asset_id, book)
      }
    }
    return books
  }

  /** The busiest markets since the last call, and some other markets in rotation. */
  choose(): MarketTrack[] {
    const all = [...this.#parts.tracks.covered]
    const chosen: MarketTrack[] = []
    for (const track of all) {
      const isCandidate = track.lastTimeMs > 0 && this.#parts.isUp(track)
      if (isCandidate) insertBusiest(chosen, track, AUDITED_BUSY)
    }
    for (const track of all) track.auditedCount = track.messageCount
    for (let taken = 0; taken < Math.min(AUDITED_ROUND_ROBIN, all.length); taken += 1) {
      const track = all[this.#nextPosition % all.length]
      this.#nextPosition += 1
      if (track === undefined || track.lastTimeMs === 0 || chosen.includes(track)) continue
      if (this.#parts.isUp(track)) chosen.push(track)
    }
    return chosen
  }

  /** The busiest markets of a connection, which reveal a missing message first. */
  busiest(tracks: Iterable<MarketTrack>, count: number): MarketTrack[] {
    const chosen: MarketTrack[] = []
    for (const track of tracks) if (track.lastTimeMs > 0) insertBusiest(chosen, track, count)
    return chosen
  }

  async behind(tracks: readonly MarketTrack[], signal: AbortSignal): Promise<MarketTrack[]> {
    const first = await this.books(tracks, signal)
    const suspects = tracks.filter((track) => {
      const book = first.get(track.first)
      return isContradicted(track, book) || isSuspect(track, book)
    })
    return suspects.length === 0 ? [] : this.#behindFor(suspects, first, signal)
  }

  async #behindFor(
    suspects: readonly MarketTrack[],
    first: ReadonlyMap<string, BookMessage>,
    signal: AbortSignal,
  ): Promise<MarketTrack[]> {
    const { clock } = this.#parts
    const countThen = new Map(suspects.map((track) => [track, track.messageCount]))
    const hasMoved = (track: MarketTrack) => countThen.get(track) !== track.messageCount
    await pause(clock, SECOND_CHECK_MS, signal)
    const still = suspects.filter((track) => !hasMoved(track))
    if (still.length === 0 || signal.aborted) return []
    const second = await this.books(still, signal)
    const lagging = still.filter((track) => {
      const [one, two] = [first.get(track.first), second.get(track.first)]
      const isOther = isContradicted(track, one) && isContradicted(track, two)
      if (isOther) this.#parts.onContradicted(track)
      return isOther || isBehind(track, one, two)
    })
    if (lagging.length === 0) return []
    await pause(clock, FINAL_CHECK_MS, signal)
    return signal.aborted ? [] : lagging.filter((track) => !hasMoved(track))
  }
}

function insertBusiest(chosen: MarketTrack[], track: MarketTrack, count: number): void {
  const busy = track.messageCount - track.auditedCount
  const isBusier = (other: MarketTrack) => busy > other.messageCount - other.auditedCount
  const position = chosen.findIndex(isBusier)
  if (position >= 0) chosen.splice(position, 0, track)
  else if (chosen.length < count) chosen.push(track)
  if (chosen.length > count) chosen.pop()
}

/** Whether a REST book with the same hash as the last change has another size at the price of that change. */
function isContradicted(track: MarketTrack, book: BookMessage | undefined): boolean {
  const change = track.lastChange
  if (book === undefined || change === null || book.hash !== track.lastHash) return false
  const isBid = change.side === 'bid'
  const read = readLevels(isBid ? book.bids : book.asks, true, isBid)
  if (read === null) return false
  const level = read.levels.find(({ price }) => price === change.price)
  return (level?.size ?? 0) !== change.size
}

/** Whether a second REST read is needed: the hash differs, and either the best prices differ or the REST book is later. */
function isSuspect(track: MarketTrack, book: BookMessage | undefined): boolean {
  if (book === undefined || book.hash === track.lastHash) return false
  const summary = readBookSummary(book)
  if (summary === null) return false
  return summary.venueTimeMs > track.lastTimeMs || !hasSameTop(track, summary.top)
}

/**
 * Compares two REST reads between which the stream received nothing. The stream's book is behind if:
 * - the best prices of both reads differ from the stream's;
 * - or the levels differ between the reads;
 * - or both reads have the same timestamp, which is later than the stream's.
 * If the timestamps of the reads differ, they may be request times, so only the best prices count. Different best
 * prices in a single read prove nothing: REST sometimes returns a book of 0.01 and 0.99.
 */
function isBehind(
  track: MarketTrack,
  one: BookMessage | undefined,
  two: BookMessage | undefined,
): boolean {
  if (one === undefined || two === undefined || two.hash === track.lastHash) return false
  const [before, summary] = [readBookSummary(one), readBookSummary(two)]
  if (before === null || summary === null) return false
  const isOther = !hasSameTop(track, summary.top)
  if (isOther === hasSameTop(track, before.top)) return false
  if (isOther) return summary.venueTimeMs >= track.lastTimeMs
  if (levelsText(one) !== levelsText(two)) return true
  return one.timestamp === two.timestamp && summary.venueTimeMs > track.lastTimeMs
}

function hasSameTop(track: MarketTrack, top: MarketTrack['top']): boolean {
  if (track.top === null || top === null) return true
  return track.top.bid === top.bid && track.top.ask === top.ask
}

function levelsText(book: BookMessage): string {
  const side = (levels: BookMessage['bids']) =>
    levels.map(({ price, size }) => `${price}x${size}`).join()
  return `${side(book.bids)}|${side(book.asks)}`
}
