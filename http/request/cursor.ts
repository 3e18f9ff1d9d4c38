// Cursors of pages. A list's cursor is opaque, names a pinned ranking, and is bound to its filters by
// a keyed hash, so that a foreign or edited one is noticed. The key lives as long as this process,
// as the pins do; in a cluster its end names the process, which is asked for the next page. A cursor in a range of time is the millisecond of the last row, with the row's ordinal where
// a page cuts through several rows of one millisecond.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { type TimeMs, timeMs } from '../../engine/units.ts'

const CURSOR_BYTES_MAX = 512
const TAG_BYTES = 12

/** Where a list's next page begins. */
export interface ListPosition {
  readonly pin: number
  readonly offset: number
}

/** Makes and checks the cursors of lists. */
export class ListCursors {
  readonly #key = randomBytes(32)
  readonly #end: string

  /** `maker`: the name of this process in its cluster; null or left out: it is alone. */
  constructor(issuer: string | null = null) {
    this.#end = issuer === null ? '' : `~${issuer}`
  }

  /** `filters` is the canonical text of everything the list was asked for, except page and size. */
  encode(position: ListPosition, filters: string): string {
    const text = `${position.pin}.${position.offset}`
    const bytes = Buffer.concat([this.#tag(text, filters), Buffer.from(text)])
    return `${bytes.toString('base64url')}${this.#end}`
  }

  /** Null for a cursor that we did not issue for these filters. */
  decode(cursor: string, filters: string): ListPosition | null {
    if (cursor.length > CURSOR_BYTES_MAX || !cursor.endsWith(this.#end)) return null
    const payload = cursor.slice(0, cursor.length - this.#end.length)
    const bytes = Buffer.from(payload, 'base64url')
    // Node skips characters outside the alphabet; a cursor must be exactly what we wrote.
    if (bytes.toString('base64url') !== payload || bytes.length <= TAG_BYTES) return null
    const text = bytes.subarray(TAG_BYTES).toString()
    if (!timingSafeEqual(bytes.subarray(0, TAG_BYTES), this.#tag(text, filters))) return null
    const parts = /^(\d+)\.(\d+)$/.exec(text)
    return parts === null ? null : { pin: Number(parts[1]), offset: Number(parts[2]) }
  }

  #tag(text: string, filters: string): Buffer {
    const hash = createHmac('sha256', this.#key).update(text).update('\n').update(filters).digest()
    return hash.subarray(0, TAG_BYTES)
  }
}

/** The process whose cursor a query continues; null: it says none. */
export function issuerOf(query: string): string | null {
  return /(?:^|&)cursor=[\w-]*(?:~|%7E)([\w.-]+)(?:&|$)/i.exec(query)?.[1] ?? null
}

/** A place between rows in order of time; a null ordinal: the whole millisecond has been read. */
interface TimePosition {
  readonly timeMs: TimeMs
  readonly ordinal: number | null
}

interface Row {
  readonly timeMs: number
  readonly ordinal: number
}

/** The cursor behind `last`; `next` is the first row of the following page. */
export function timeCursor(last: Row, next: Row): string {
  return last.timeMs === next.timeMs ? `${last.timeMs}.${last.ordinal}` : String(last.timeMs)
}

/** Null for text that is no such cursor. */
export function parseTimeCursor(text: string): TimePosition | null {
  const parts = /^(\d{1,15})(?:\.(\d{1,15}))?$/.exec(text)
  if (parts === null) return null
  const ordinal = parts[2] === undefined ? null : Number(parts[2])
  return { timeMs: timeMs(Number(parts[1])), ordinal }
}
