// Limits what an error repeats of a rejected input: 256 characters, shallow, and without secrets. Otherwise a body that
// lacks its e-mail would be returned with its password. Texts that look like secrets are always redacted. For bodies
// that contain secrets only known fields are repeated, since a mistyped name defeats any pattern.

/**
 * Maximum characters of one input: text, list or object. Names and values count, JSON punctuation does not: the
 * reference implementation repeats a list of 101 one-letter items completely.
 */
const CHARACTERS_MAX = 256
const ITEMS_MAX = 128
const DEPTH_MAX = 3
/** Texts up to this length are too short to be secrets. */
const HARMLESS_CHARACTERS = 4
const SECRET = /pass|pas?w|psw|pwd|secret|token|key|auth|credential/i
/** A text that itself contains such a field: JSON within JSON, or a form. */
const SECRET_INSIDE =
  /(?:pass|pas?w|psw|pwd|secret|token|key|auth|credential)\w*(?:\\*["'])?\s*[:=]|bearer\s/i
/** Prefixes of API keys, webhook secrets and JWTs. */
const SECRET_VALUE = /pmk_\w|whsec_\w|eyJ[\w-]{5}/
const REDACTED = '[redacted]'

export function isSecretName(name: string): boolean {
  return SECRET.test(name)
}

/** The remaining allowance of one input. */
interface Budget {
  characters: number
}

interface Place {
  /** Name of the field that holds the value; '' for none. */
  readonly name: string
  readonly depth: number
}

/**
 * The value as an error may repeat it; `name` is the name of its field, '' for a whole body or for an unknown field.
 * `known`: the fields of a body that contains secrets. Then only known fields are repeated, and no longer text outside
 * them. Null: the body contains none.
 */
export function echo(value: unknown, name = '', known: readonly string[] | null = null): unknown {
  const depth = known === null || name === '' ? 0 : 1
  return repeat(value, { name, depth }, known, { characters: CHARACTERS_MAX })
}

function repeat(
  value: unknown,
  { name, depth }: Place,
  known: readonly string[] | null,
  budget: Budget,
): unknown {
  if (isSecretName(name) && value !== null && value !== undefined) {
    return repeatText(REDACTED, budget)
  }
  if (typeof value === 'string') {
    const isHidden = known !== null && name === '' && value.length > HARMLESS_CHARACTERS
    return repeatText(isHidden ? REDACTED : value, budget)
  }
  if (typeof value !== 'object' || value === null) return repeatPlain(value, budget)
  if (depth >= DEPTH_MAX) return repeatText('…', budget)
  const inside = (item: unknown, field = '') =>
    repeat(item, { name: field, depth: depth + 1 }, known, budget)
  if (Array.isArray(value)) return repeatList(value, budget, inside)
  const copy: Record<string, unknown> = {}
  const entries = Object.entries(value).filter(([key]) => known?.includes(key) !== false)
  for (const [key, item] of entries.slice(0, ITEMS_MAX)) {
    if (budget.characters <= 0) break
    copy[repeatText(key, budget)] = inside(item, key)
  }
  return copy
}

/** The first items that fit. */
function repeatList(
  items: readonly unknown[],
  budget: Budget,
  repeatItem: (item: unknown) => unknown,
): unknown[] {
  const copy: unknown[] = []
  for (const item of items) {
    if (budget.characters <= 0 || copy.length === ITEMS_MAX) break
    copy.push(repeatItem(item))
  }
  // An empty list or object also uses allowance, so that nesting cannot exceed the bound.
  if (copy.length === 0) budget.characters -= 1
  return copy
}

function repeatPlain(value: unknown, budget: Budget): unknown {
  const length = String(value).length
  // A truncated number would be a different number.
  if (length > budget.characters) return repeatText('…', budget)
  budget.characters -= length
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value
}

/** Scans only the repeated part, so that a long text costs no more than a short one. */
function repeatText(text: string, budget: Budget): string {
  const shown = cut(text, Math.max(budget.characters, 0))
  const isSecret = SECRET_INSIDE.test(shown) || SECRET_VALUE.test(shown)
  const repeated = isSecret ? REDACTED : shown
  budget.characters -= Math.max(1, repeated.length)
  return repeated
}

function cut(text: string, characters: number): string {
  if (text.length <= characters) return text
  return Array.from(text.slice(0, characters * 2))
    .slice(0, characters)
    .join('')
}
