// The query string, read by us: uWebSockets.js decodes `%zz` to garbage and loses parameters behind
// one without a value.

import { queryBytesMax } from '../../engine/limits.ts'
import { BoundedCache } from '../records/bounded-cache.ts'

/** Decoded values by name, in the order given; a parameter without `=` has the value ''. */
export type RawQuery = ReadonlyMap<string, readonly string[]>

/** Of a request without a query. */
const EMPTY_QUERY: RawQuery = new Map()
const BOUNDS = { countMax: 4_096, bytesMax: 8 * 2 ** 20 }
/** What a query weighs in memory, with the values read from it, for each of its characters. */
const WEIGHT = 16

/**
 * Null when percent-encoding or the UTF-8 within is malformed, or the text is beyond its bound.
 * Undefined, which the library gives for a URL without `?` whatever its types say, is empty.
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

/** The queries that were read last, by their text: most requests ask what others asked before. */
export class QueryCache {
  readonly #cache = new BoundedCache<string, { readonly raw: RawQuery; readonly bytes: number }>(
    BOUNDS,
  )

  /** As `parseQuery`, and for the same text the same object while it is kept. */
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
