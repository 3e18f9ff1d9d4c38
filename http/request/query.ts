// The query string, read by us: uWebSockets.js decodes `%zz` to garbage and loses parameters behind
// one without a value. Not for: types and ranges (validate.ts). Upholds HTTP3.

import { queryBytesMax } from '../../engine/limits.ts'

/** Decoded values by name, in the order given; a parameter without `=` has the value ''. */
export type RawQuery = ReadonlyMap<string, readonly string[]>

/** Of a request without a query. */
export const EMPTY_QUERY: RawQuery = new Map()

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
    const known = values.get(name)
    if (known === undefined) values.set(name, [value])
    else known.push(value)
  }
  return values
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
