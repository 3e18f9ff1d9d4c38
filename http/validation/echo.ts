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

/** The value as an error may repeat it; `name` is the name of its field. */
export function echo(value: unknown, name = ''): unknown {
  return repeat(value, name, 0, { characters: CHARACTERS_MAX })
}

function repeat(value: unknown, name: string, depth: number, budget: Budget): unknown {
  if (isSecretName(name) && value !== null && value !== undefined)
    return repeatText(REDACTED, budget)
  if (typeof value === 'string') return repeatText(value, budget)
  if (typeof value !== 'object' || value === null) return repeatPlain(value, budget)
  if (depth >= DEPTH_MAX) return repeatText('…', budget)
  if (Array.isArray(value)) {
    return repeatList(value, budget, (item) => repeat(item, '', depth + 1, budget))
  }
  const copy: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value).slice(0, ITEMS_MAX)) {
    if (budget.characters <= 0) break
    copy[repeatText(key, budget)] = repeat(item, key, depth + 1, budget)
  }
  return copy
}

/**
 * Like `echo`, for a body that contains secrets or a value in its place: only `known` fields, and no longer text
 * outside them.
 */
export function echoKnownFields(value: unknown, knownFields: readonly string[]): unknown {
  return repeatKnownFields(value, knownFields, 0, { characters: CHARACTERS_MAX })
}

function repeatKnownFields(
  value: unknown,
  knownFields: readonly string[],
  depth: number,
  budget: Budget,
): unknown {
  if (typeof value === 'string') {
    return repeatText(value.length <= HARMLESS_CHARACTERS ? value : REDACTED, budget)
  }
  if (typeof value !== 'object' || value === null) return repeatPlain(value, budget)
  if (depth >= DEPTH_MAX) return repeatText('…', budget)
  if (Array.isArray(value)) {
    return repeatList(value, budget, (item) =>
      repeatKnownFields(item, knownFields, depth + 1, budget),
    )
  }
  const copy: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) {
    if (!knownFields.includes(key)) continue
    if (budget.characters <= 0) break
    copy[repeatText(key, budget)] = repeatField(item, {
      name: key,
      knownFields,
      depth: depth + 1,
      budget,
    })
  }
  return copy
}

/** The value of one known field of such a body. */
export function echoField(value: unknown, name: string, knownFields: readonly string[]): unknown {
  return repeatField(value, { name, knownFields, depth: 1, budget: { characters: CHARACTERS_MAX } })
}

function repeatField(
  value: unknown,
  field: { name: string; knownFields: readonly string[]; depth: number; budget: Budget },
): unknown {
  const { name, knownFields, depth, budget } = field
  const isPlain = typeof value !== 'object' || value === null || isSecretName(name)
  return isPlain
    ? repeat(value, name, 0, budget)
    : repeatKnownFields(value, knownFields, depth, budget)
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
