// Replays a recorded Polymarket stream through parser and actor, and compares the actor's book with each recorded book.
// A naive book shows whether a difference comes from the recording.

import type { LevelChange } from '../../../engine/events.ts'
import {
  differencesOf,
  EXPLANATIONS,
  type Explanation,
  explain,
  type Sides,
} from '../reference/book-differences.ts'
import { NaiveBook } from '../reference/naive/book.ts'
import { type Capture, type CapturedFrame, mirrored } from '../worlds/recordings.ts'
import { type Fates, PolymarketPath } from './book-paths.ts'

/** Milliseconds. A recorded book may already include a change that the stream sends within this time after the book. */
const AHEAD_MS_MAX = 100

/** Comparison with a recorded book of the first token right before the actor receives it. */
export interface Meeting {
  readonly wasLive: boolean
  /** Milliseconds since the previous message, and milliseconds since the start of the recording. */
  readonly silentMs: number
  readonly atMs: number
  readonly explanations: Readonly<Record<Explanation, number>>
  readonly examples: readonly string[]
}

export interface CaptureReplay {
  readonly name: string
  readonly fates: Fates
  readonly meetings: readonly Meeting[]
  /** Number of first-token books after which the actor's book was different. Must be 0. */
  readonly booksUnequal: number
  readonly booksCompared: number
  /** Number of first-token messages after which a live book differed from the naive book. Must be 0. */
  readonly stepsUnequal: number
  readonly stepsCompared: number
  /** Number of changed levels of both tokens, and how many of these changes crossed the book. */
  readonly changeCount: number
  readonly changesCrossed: number
  readonly crossings: readonly Crossing[]
  readonly path: PolymarketPath
}

/** From the change that crossed the recorded book to the next book. */
interface Crossing {
  readonly messageCount: number
  readonly lastedMs: number
  /** Number of resyncs that the actor requested, and of messages that it ignored. */
  readonly resyncCount: number
  readonly ignoredCount: number
}

export function replayCapture(capture: Capture): CaptureReplay {
  const path = new PolymarketPath(capture.name, capture.tokens)
  const { market } = path
  const naive = new NaiveBook()
  const meetings: Meeting[] = []
  const crossings = new CrossingWatch(path)
  let [booksUnequal, booksCompared, stepsUnequal, stepsCompared] = [0, 0, 0, 0]
  const startMs = capture.frames[0]?.timeMs ?? 0
  capture.frames.forEach((frame, position) => {
    const before = market.actor.book()
    const hadBook = market.replacedCount > 0
    path.take(frame.text, frame.timeMs)
    applyFirst(naive, frame)
    const isNews = path.events.some((event) => event.kind === 'bookSnapshot')
    if (frame.book !== null && isNews && hadBook) {
      const after = quotedForFirst(frame)
      const soon = changesSoon(capture.frames, position)
      const previousMs = capture.frames[position - 1]?.timeMs ?? frame.timeMs
      meetings.push({
        wasLive: !before.isStale,
        silentMs: frame.timeMs - previousMs,
        atMs: frame.timeMs - startMs,
        ...explainDifferences(before, after, soon),
      })
    }
    crossings.note(frame, naive)
    if (!frame.isFirst) return
    if (frame.book !== null) {
      booksCompared += 1
      if (!market.equals(frame.book) || market.actor.book().isStale) booksUnequal += 1
    }
    if (market.actor.book().isStale) return
    stepsCompared += 1
    if (!market.equalsBook(naive)) stepsUnequal += 1
  })
  return {
    name: capture.name,
    fates: path.fates,
    meetings,
    booksUnequal,
    booksCompared,
    stepsUnequal,
    stepsCompared,
    ...crossedChanges(capture),
    crossings: crossings.found,
    path,
  }
}

function explainDifferences(
  before: Sides,
  after: Sides,
  soon: readonly LevelChange[],
): Pick<Meeting, 'explanations' | 'examples'> {
  const explanations: Record<Explanation, number> = { fill: 0, rest: 0, ahead: 0, unexplained: 0 }
  const examples: string[] = []
  for (const difference of differencesOf(before, after)) {
    const explanation = explain(difference, { before, after }, soon)
    explanations[explanation] += 1
    const { side, price, before: was, after: is } = difference
    if (explanation !== 'unexplained') continue
    examples.push(`${side} ${price / 1e6}: ${was / 1e6} → ${is / 1e6}`)
  }
  return { explanations, examples }
}

function changesSoon(frames: readonly CapturedFrame[], position: number): LevelChange[] {
  const frame = frames[position]
  if (frame === undefined) return []
  const changes: LevelChange[] = []
  for (const next of frames.slice(position + 1, position + 200)) {
    if (next.timeMs - frame.timeMs > AHEAD_MS_MAX) break
    if (next.isFirst) changes.push(...next.changes)
  }
  return changes
}

function applyFirst(book: NaiveBook, frame: CapturedFrame): void {
  if (!frame.isFirst) return
  if (frame.book !== null) book.replace(frame.book.bids, frame.book.asks)
  for (const change of frame.changes) book.set(change)
}

function quotedForFirst({ book, isFirst }: CapturedFrame): Sides {
  const sides = book ?? { bids: [], asks: [] }
  return isFirst ? sides : { bids: sides.asks.map(mirrored), asks: sides.bids.map(mirrored) }
}

export function isCrossed(book: NaiveBook): boolean {
  const [bid, ask] = [book.levels('bid')[0], book.levels('ask')[0]]
  return bid !== undefined && ask !== undefined && bid.price >= ask.price
}

/** Counts the changed levels of each token, and how many of these changes cross the token's book. */
function crossedChanges(capture: Capture): { changeCount: number; changesCrossed: number } {
  let [changeCount, changesCrossed] = [0, 0]
  const books = { first: new NaiveBook(), second: new NaiveBook() }
  for (const frame of capture.frames) {
    const book = frame.isFirst ? books.first : books.second
    if (frame.book !== null) book.replace(frame.book.bids, frame.book.asks)
    for (const change of frame.changes) {
      book.set(change)
      changeCount += 1
      if (isCrossed(book)) changesCrossed += 1
    }
  }
  return { changeCount, changesCrossed }
}

class CrossingWatch {
  readonly found: Crossing[] = []
  readonly #path: PolymarketPath
  #since: { atMs: number; resyncs: number; ignored: number; messages: number } | null = null

  constructor(path: PolymarketPath) {
    this.#path = path
  }

  note(frame: CapturedFrame, naive: NaiveBook): void {
    if (!frame.isFirst) return
    const { resyncs } = this.#path.market
    // The first token's book is ignored if the second token's equal book came before it.
    const ignored = this.#path.market.ignored.filter((reason) => reason !== 'book_unchanged')
    if (isCrossed(naive)) {
      // The change that crossed the book has already requested a resync, so it is included in the counts.
      this.#since ??= {
        atMs: frame.timeMs,
        resyncs: resyncs.length - 1,
        ignored: ignored.length,
        messages: 0,
      }
      this.#since.messages += 1
    } else if (this.#since !== null) {
      this.found.push({
        messageCount: this.#since.messages,
        lastedMs: frame.timeMs - this.#since.atMs,
        resyncCount: resyncs.length - this.#since.resyncs,
        ignoredCount: ignored.length - this.#since.ignored,
      })
      this.#since = null
    }
  }
}

export function totals(meetings: readonly Meeting[]): Record<Explanation, number> {
  const sums: Record<Explanation, number> = { fill: 0, rest: 0, ahead: 0, unexplained: 0 }
  for (const { explanations } of meetings) {
    for (const name of EXPLANATIONS) sums[name] += explanations[name]
  }
  return sums
}

export const isEqual = ({ explanations }: Meeting): boolean =>
  EXPLANATIONS.every((name) => explanations[name] === 0)
