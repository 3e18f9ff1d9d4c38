// What of a refused input an error may repeat: cut, shallow, and without secrets, because a body
// that lacks its e-mail would otherwise come back with its password. What looks like a secret is
// redacted wherever it stands; of a body that takes secrets only known fields are repeated, since a
// mistyped name hides one from any pattern. Upholds VALID3, VALID4.

const TEXT_CHARACTERS_MAX = 256
const ITEMS_MAX = 128
const DEPTH_MAX = 3
/** Too short to be a secret. */
const HARMLESS_CHARACTERS = 4
const SECRET = /pass|pas?w|psw|pwd|secret|token|key|auth|credential/i
/** A text that carries such a field itself: JSON within JSON, or a form. */
const SECRET_INSIDE =
  /(?:pass|pas?w|psw|pwd|secret|token|key|auth|credential)\w*(?:\\*["'])?\s*[:=]|bearer\s/i
/** Our keys, secrets of webhooks, and what a JWT begins with. */
const SECRET_LOOK = /pmk_\w|whsec_\w|eyJ[\w-]{5}/
const REDACTED = '[redacted]'

/** Whether a field of this name holds a secret. */
export function isSecretName(name: string): boolean {
  return SECRET.test(name)
}

/** The value as it may be repeated; `name` is that of its field. */
export function echo(value: unknown, name = '', depth = 0): unknown {
  if (isSecretName(name) && value !== null && value !== undefined) return REDACTED
  if (typeof value === 'string') return echoText(value)
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= DEPTH_MAX) return '…'
  if (Array.isArray(value))
    return value.slice(0, ITEMS_MAX).map((item) => echo(item, '', depth + 1))
  const copy: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value).slice(0, ITEMS_MAX)) {
    copy[echoText(key)] = echo(item, key, depth + 1)
  }
  return copy
}

/**
 * The same of a body that takes secrets, or of what stands in its place: no field but the `known`
 * ones, and no longer text outside of them.
 */
export function echoKnown(value: unknown, known: readonly string[], depth = 0): unknown {
  if (typeof value === 'string') {
    return value.length <= HARMLESS_CHARACTERS ? value : REDACTED
  }
  if (typeof value !== 'object' || value === null) return echo(value)
  if (depth >= DEPTH_MAX) return '…'
  if (Array.isArray(value)) {
    return value.slice(0, ITEMS_MAX).map((item) => echoKnown(item, known, depth + 1))
  }
  const copy: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) {
    if (known.includes(key)) copy[key] = echoField(item, key, known, depth + 1)
  }
  return copy
}

/** The value of one known field of such a body. */
export function echoField(
  value: unknown,
  name: string,
  known: readonly string[],
  depth = 1,
): unknown {
  const isPlain = typeof value !== 'object' || value === null || isSecretName(name)
  return isPlain ? echo(value, name) : echoKnown(value, known, depth)
}

/** Only what is repeated is looked at, so that a long text costs no more than a short one. */
function echoText(text: string): string {
  const shown = cut(text)
  return SECRET_INSIDE.test(shown) || SECRET_LOOK.test(shown) ? REDACTED : shown
}

function cut(text: string): string {
  if (text.length <= TEXT_CHARACTERS_MAX) return text
  return Array.from(text.slice(0, TEXT_CHARACTERS_MAX * 2))
    .slice(0, TEXT_CHARACTERS_MAX)
    .join('')
}
