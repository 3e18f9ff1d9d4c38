// Parses query strings. uWebSockets.js decodes `%zz` to garbage and drops parameters after one without a value.

import { queryBytesMax } from '../../engine/limits.ts'

/** Decoded values by name, in request order. A parameter without `=` has the value ''. */
export type RawQuery = ReadonlyMap<string, readonly string[]>

const EMPTY_QUERY: RawQuery = new Map()
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

/** One percent-decoded part; null when malformed. */
function decode(text: string): string | null {
  return decodePath(text.replaceAll('+', ' '))
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
