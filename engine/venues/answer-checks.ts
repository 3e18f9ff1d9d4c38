// Whether an answer of a venue may be believed: a 2xx may be empty, shorter or older than the truth,
// of another shape, or one of a list whose cursors never end. Such an answer proves nothing, replaces
// nothing that is kept, is counted and named here, and the caller asks for it again.

import { isRecord } from '../json-record.ts'
import { type Log, LogSampler } from '../process/log.ts'
import type { Metrics } from '../process/metrics.ts'
import type { DriftNotes } from './drift/drift-notes.ts'

/** What was asked for; a small fixed set. */
export type AnswerKind =
  | 'trades'
  | 'catalogue'
  | 'market'
  | 'event'
  | 'series'
  | 'prices'
  | 'teams'
  | 'books'
  | 'wallet'

/**
 * Why an answer is not believed. 'empty', 'shorter': it lacks what must be there. 'older': a copy from
 * before what is kept. 'shape': no list where one belongs. 'cursor': a page leads back to one that was
 * read. 'endless': pages that end nowhere.
 */
export type SuspectReason = 'empty' | 'shorter' | 'older' | 'shape' | 'cursor' | 'endless'

const SHAPE_REASONS: ReadonlySet<SuspectReason> = new Set(['shape', 'cursor', 'endless'])

/** An answer that is not believed; the caller asks again later. */
export class SuspectAnswerError extends Error {
  readonly kind: AnswerKind
  readonly reason: SuspectReason

  constructor(kind: AnswerKind, reason: SuspectReason, detail: string) {
    super(`${kind}: the venue's answer is not believed (${reason}): ${detail}`)
    this.name = 'SuspectAnswerError'
    this.kind = kind
    this.reason = reason
  }
}

/** Counts the doubted answers of one venue by kind and reason, and logs the first few of each. */
export class SuspectAnswers {
  readonly #metrics: Metrics
  readonly #log: Log
  readonly #venue: string
  readonly #drift: DriftNotes | null
  readonly #sampler = new LogSampler()

  constructor(parts: {
    readonly metrics: Metrics
    readonly log: Log
    readonly venue: string
    readonly drift?: DriftNotes
  }) {
    this.#metrics = parts.metrics
    this.#log = parts.log
    this.#venue = parts.venue
    this.#drift = parts.drift ?? null
  }

  note({ kind, reason, message }: SuspectAnswerError, times = 1): void {
    const labels = { venue: this.#venue, kind, reason }
    const help = 'Answers of a venue that were not believed.'
    this.#metrics.count('venue_answers_doubted_total', help, labels).inc(times)
    const { isWritten, count } = this.#sampler.admit(`${kind} ${reason}`)
    if (isWritten) this.#log.warn({ kind, reason, count, detail: message }, 'answer not believed')
    // What an answer lacks may come with the next; its form does not change by itself.
    if (SHAPE_REASONS.has(reason)) this.#drift?.note('answer', `${kind} ${reason}`, message)
  }
}

/**
 * The list under a name of an answer; `null` is a list without rows. Throws AnswerDoubt when there is
 * neither.
 */
export function listIn(answer: unknown, name: string, kind: AnswerKind): readonly unknown[] {
  const rows = isRecord(answer) ? answer[name] : undefined
  if (Array.isArray(rows)) return rows
  if (rows === null) return []
  throw new SuspectAnswerError(kind, 'shape', `no list "${name}" in it`)
}

/** The answer itself as a list. Throws AnswerDoubt when it is none. */
export function asList(answer: unknown, kind: AnswerKind): readonly unknown[] {
  if (Array.isArray(answer)) return answer
  throw new SuspectAnswerError(kind, 'shape', 'no list')
}

/** A page of a list that goes on at a cursor; null: it was the last. */
export interface CursorPage {
  readonly rows: readonly unknown[]
  readonly next: string | null
}

/** So many pages in a row without a row lead nowhere. */
const EMPTY_PAGES_MAX = 10

/**
 * The pages of a list to its end, as `ask` gives them. Throws AnswerDoubt when a cursor comes again, when
 * pages without rows do not end, and beyond `pagesMax`; what was yielded before is good.
 */
export async function* pagesOf(
  fetchPage: (cursor: string | undefined) => Promise<CursorPage>,
  list: { readonly kind: AnswerKind; readonly name: string; readonly pagesMax: number },
): AsyncGenerator<readonly unknown[]> {
  const { kind, name, pagesMax } = list
  const seen = new Set<string>()
  let cursor: string | undefined
  let emptyCount = 0
  for (let page = 0; page < pagesMax; page += 1) {
    const { rows, next } = await fetchPage(cursor)
    yield rows
    if (next === null) return
    if (seen.has(next))
      throw new SuspectAnswerError(kind, 'cursor', `a cursor of ${name} came again`)
    seen.add(next)
    cursor = next
    emptyCount = rows.length === 0 ? emptyCount + 1 : 0
    if (emptyCount >= EMPTY_PAGES_MAX) break
  }
  throw new SuspectAnswerError(kind, 'endless', `${name} has no end after ${seen.size} pages`)
}

/** A whole list may lack so much of what is known: things do go. */
const LACKING_SHARE_MAX = 0.05
const LACKING_COUNT_MAX = 10

/**
 * What is wrong with a whole list of `got` things that lacks so many of those known to belong there;
 * null: nothing. A list of nothing is doubted though nothing is known: there is no venue without any.
 */
export function suspectListReason(list: {
  readonly received: number
  readonly missing: number
  readonly expected: number
}): SuspectReason | null {
  if (list.received === 0) return 'empty'
  const isFew = list.missing <= Math.max(LACKING_COUNT_MAX, list.expected * LACKING_SHARE_MAX)
  return isFew ? null : 'shorter'
}

/**
 * Whether a list that begins with the newest and has no holes reaches back to a time: by one thing from
 * before it. A list that ends after that time may have been cut.
 */
export function reachesBack(times: Iterable<number>, to: number): boolean {
  for (const at of times) if (at < to) return true
  return false
}
