// What of a refused input an error may repeat: cut, shallow, and without secrets, because a body
// that lacks its e-mail would otherwise come back with its password. Upholds VALID3.

const TEXT_CHARACTERS_MAX = 256
const ITEMS_MAX = 128
const DEPTH_MAX = 3
const SECRET = /pass|secret|token|key|authorization/i
const REDACTED = '[redacted]'

/** The value as it may be repeated; `name` is that of its field. */
export function echo(value: unknown, name = '', depth = 0): unknown {
  if (SECRET.test(name) && value !== null && value !== undefined) return REDACTED
  if (typeof value === 'string') return cut(value)
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= DEPTH_MAX) return '…'
  if (Array.isArray(value))
    return value.slice(0, ITEMS_MAX).map((item) => echo(item, '', depth + 1))
  const copy: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value).slice(0, ITEMS_MAX)) {
    copy[cut(key)] = echo(item, key, depth + 1)
  }
  return copy
}

function cut(text: string): string {
  if (text.length <= TEXT_CHARACTERS_MAX) return text
  return Array.from(text.slice(0, TEXT_CHARACTERS_MAX * 2))
    .slice(0, TEXT_CHARACTERS_MAX)
    .join('')
}
