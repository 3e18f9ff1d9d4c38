// A list cursor refers to a pinned ranking and contains a keyed hash of its filters. Key and rankings end with the
// process. In a cluster, the cursor contains the name of its process. A time-range cursor is the millisecond of the
// last row, and its ordinal if the page ends within that millisecond.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { type TimeMs, timeMs } from '../../engine/units.ts'

const CURSOR_BYTES_MAX = 512
const TAG_BYTES = 12

export interface ListPosition {
  readonly pin: number
  readonly offset: number
}

export class ListCursors {
  readonly #key = randomBytes(32)
  readonly #end: string

  /** `issuer`: the name of this process in its cluster, or null without a cluster. */
  constructor(issuer: string | null = null) {
    this.#end = issuer === null ? '' : `~${issuer}`
  }

  /** `filters`: canonical text of all request parameters except cursor and limit. */
  encode(position: ListPosition, filters: string): string {
    const text = `${position.pin}.${position.offset}`
    const bytes = Buffer.concat([this.#tag(text, filters), Buffer.from(text)])
    return `${bytes.toString('base64url')}${this.#end}`
  }

  /** Null if the cursor was not issued for these filters. */
  decode(cursor: string, filters: string): ListPosition | null {
    if (cursor.length > CURSOR_BYTES_MAX || !cursor.endsWith(this.#end)) return null
    const payload = cursor.slice(0, cursor.length - this.#end.length)
    const bytes = Buffer.from(payload, 'base64url')
    // Node's decoder ignores characters outside the alphabet. A cursor must equal the issued text exactly.
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

/** The process that issued the cursor of a query, or null. */
export function issuerOf(query: string): string | null {
  return /(?:^|&)cursor=[\w-]*(?:~|%7E)([\w.-]+)(?:&|$)/i.exec(query)?.[1] ?? null
}

/** If `ordinal` is null, all rows of the millisecond have been read. */
interface TimePosition {
  readonly timeMs: TimeMs
  readonly ordinal: number | null
}

interface Row {
  readonly timeMs: number
  readonly ordinal: number
}

/** The cursor for the page after `last`. `next` is the first row of that page. */
export function timeCursor(last: Row, next: Row): string {
  return last.timeMs === next.timeMs ? `${last.timeMs}.${last.ordinal}` : String(last.timeMs)
}

/** Null if the text is not a time cursor. */
export function parseTimeCursor(text: string): TimePosition | null {
  const parts = /^(\d{1,15})(?:\.(\d{1,15}))?$/.exec(text)
  if (parts === null) return null
  const ordinal = parts[2] === undefined ? null : Number(parts[2])
  return { timeMs: timeMs(Number(parts[1])), ordinal }
}
