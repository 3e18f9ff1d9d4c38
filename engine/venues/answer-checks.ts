// Detects 2xx responses that cannot be trusted. Suspect responses never replace cached data. They are counted, and the
// caller repeats the request.

import { isRecord } from '../json-record.ts'
import { type Log, LogSampler } from '../process/log.ts'
import type { Metrics } from '../process/metrics.ts'
import type { DriftNotes } from './drift/row-checks.ts'

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
 * 'empty', 'shorter': required rows are missing. 'older': a copy that is older than the cached data. 'shape': not a
 * list. 'cursor': a page leads back to an earlier page. 'endless': the pages have no end.
 */
export type SuspectReason = 'empty' | 'shorter' | 'older' | 'shape' | 'cursor' | 'endless'

const SHAPE_REASONS: ReadonlySet<SuspectReason> = new Set(['shape', 'cursor', 'endless'])

export class SuspectAnswerError extends Error {
  readonly kind: AnswerKind
  readonly reason: SuspectReason

  constructor(kind: AnswerKind, reason: SuspectReason, detail: string) {
    super(`${kind}: the venue's answer is not accepted (${reason}): ${detail}`)
    this.name = 'SuspectAnswerError'
    this.kind = kind
    this.reason = reason
  }
}

interface SuspectAnswersParts {
  readonly metrics: Metrics
  readonly log: Log
  readonly venue: string
  readonly drift?: DriftNotes
}

/** Counts a venue's suspect responses by kind and reason, and logs the first few of each kind and reason. */
export class SuspectAnswers {
  readonly #parts: SuspectAnswersParts
  readonly #sampler = new LogSampler()

  constructor(parts: SuspectAnswersParts) {
    this.#parts = parts
  }

  note({ kind, reason, message }: SuspectAnswerError, times = 1): void {
    const { metrics, log, venue, drift } = this.#parts
    const labels = { venue, kind, reason }
    const help = 'Answers of a venue that were not accepted.'
    metrics.count('venue_answers_doubted_total', help, labels).inc(times)
    const { isWritten, count } = this.#sampler.admit(`${kind} ${reason}`)
    // Caches of the venues serve old copies in normal operation.
    const level = reason === 'older' ? 'info' : 'warn'
    if (isWritten) log[level]({ kind, reason, count, detail: message }, 'answer not accepted')
    // Missing rows may be temporary and are not recorded as drift. A changed shape is permanent.
    if (SHAPE_REASONS.has(reason)) drift?.note('answer', `${kind} ${reason}`, message)
  }
}

/**
 * The list in the field `name` of a response. Empty if the field is `null`. Throws SuspectAnswerError if the field is
 * missing or has another type.
 */
export function listIn(answer: unknown, name: string, kind: AnswerKind): readonly unknown[] {
  const rows = isRecord(answer) ? answer[name] : undefined
  if (Array.isArray(rows)) return rows
  if (rows === null) return []
  throw new SuspectAnswerError(kind, 'shape', `no list "${name}" in it`)
}

export function asList(answer: unknown, kind: AnswerKind): readonly unknown[] {
  if (Array.isArray(answer)) return answer
  throw new SuspectAnswerError(kind, 'shape', 'no list')
}

export interface CursorPage {
  readonly rows: readonly unknown[]
  readonly next: string | null
}

const EMPTY_PAGES_MAX = 10

/**
 * Yields the pages of a list. Throws SuspectAnswerError if a cursor repeats or the list has no end. Earlier pages stay
 * valid.
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
      throw new SuspectAnswerError(kind, 'cursor', `a cursor of ${name} was repeated`)
    seen.add(next)
    cursor = next
    emptyCount = rows.length === 0 ? emptyCount + 1 : 0
    if (emptyCount >= EMPTY_PAGES_MAX) break
  }
  throw new SuspectAnswerError(kind, 'endless', `${name} has no end after ${seen.size} pages`)
}

/** Accepted share of known entries that a complete list lacks, because the venue deletes entries. */
const LACKING_SHARE_MAX = 0.05
const LACKING_COUNT_MAX = 10

/** Why a complete list is suspect. Null if it is not. An empty list is always suspect, because every venue has entries. */
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
 * Whether a list, newest first, contains all entries from `to` on. A list without an entry before `to` may be
 * truncated.
 */
export function reachesBack(times: Iterable<number>, to: number): boolean {
  for (const at of times) if (at < to) return true
  return false
}
