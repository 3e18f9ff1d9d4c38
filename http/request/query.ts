// Parses query strings. uWebSockets.js decodes `%zz` to garbage and drops parameters after one without a value.

import { queryBytesMax } from '../../engine/limits.ts'
import { BoundedCache } from '../records/bounded-cache.ts'

/** Decoded values by name, in request order. A parameter without `=` has the value ''. */
export type RawQuery = ReadonlyMap<string, readonly string[]>

const EMPTY_QUERY: RawQuery = new Map()
const BOUNDS = { countMax: 4_096, bytesMax: 8 * 2 ** 20 }
/** Estimated bytes in memory per character of a query, including its parsed values. */
const WEIGHT = 16

/**
 * Null if percent-encoding or UTF-8 is malformed or the text is too long. Undefined is empty: the library returns it
 * for a URL without `?`, whatever its types state.
 */
export function parseQuery(text: string | undefined): RawQuery | null {
  if (text === undefined || text === '') return EMPTY_QUERY
  if (text.length > queryBytesMax) return null
  const values = new Map<string, string[]>()
  for (const part of text.split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const name = decode(equals < 0 ? part : part.slice(0, equals))
    const value = equals < 0 ? '' : decode(part.slice(equals + 1))
    if (name === null || value === null) return null
    const existing = values.get(name)
    if (existing === undefined) values.set(name, [value])
    else existing.push(value)
  }
  return values
}

/** Caches the most recent queries by text: most requests repeat a query. */
export class QueryCache {
  readonly #cache = new BoundedCache<string, { readonly raw: RawQuery; readonly bytes: number }>(
    BOUNDS,
  )

  /** Like `parseQuery`; returns the same object for the same text while it is cached. */
  read(text: string | undefined): RawQuery | null {
    if (text === undefined || text === '') return EMPTY_QUERY
    const cached = this.#cache.get(text)
    if (cached !== undefined) return cached.raw
    const raw = parseQuery(text)
    if (raw !== null) this.#cache.put(text, { raw, bytes: WEIGHT * text.length })
    return raw
  }
}

/** One percent-decoded part; null when malformed. */
function decode(text: string): string | null {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  return decodePath(spaced)
}

/** Percent-decoding without `+` (paths); null when malformed. */
export function decodePath(text: string): string | null {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
