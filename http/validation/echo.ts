// What of a refused input an error may repeat: 256 characters of it, shallow, and without secrets,
// because a body that lacks its e-mail would otherwise come back with its password. What looks like a
// secret is redacted wherever it stands; of a body that takes secrets only known fields are repeated,
// since a mistyped name hides one from any pattern.

/**
 * Characters of one input, whether it is a text, a list or an object. Names and values count, what
 * JSON puts around them does not: the oracle repeats a list of 101 one-letter items whole.
 */
const CHARACTERS_MAX = 256
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

/** What may still be repeated of one input. */
interface Room {
  characters: number
}

/** The value as it may be repeated; `name` is that of its field. */
export function echo(value: unknown, name = ''): unknown {
  return repeat(value, name, 0, { characters: CHARACTERS_MAX })
}

function repeat(value: unknown, name: string, depth: number, room: Room): unknown {
  if (isSecretName(name) && value !== null && value !== undefined) return repeatText(REDACTED, room)
  if (typeof value === 'string') return repeatText(value, room)
  if (typeof value !== 'object' || value === null) return repeatPlain(value, room)
  if (depth >= DEPTH_MAX) return repeatText('…', room)
  if (Array.isArray(value)) {
    return repeatList(value, room, (item) => repeat(item, '', depth + 1, room))
  }
  const copy: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value).slice(0, ITEMS_MAX)) {
    if (room.characters <= 0) break
    copy[repeatText(key, room)] = repeat(item, key, depth + 1, room)
  }
  return copy
}

/**
 * The same of a body that takes secrets, or of what stands in its place: no field but the `known`
 * ones, and no longer text outside of them.
 */
export function echoKnown(value: unknown, known: readonly string[]): unknown {
  return repeatKnown(value, known, 0, { characters: CHARACTERS_MAX })
}

function repeatKnown(value: unknown, known: readonly string[], depth: number, room: Room): unknown {
  if (typeof value === 'string') {
    return repeatText(value.length <= HARMLESS_CHARACTERS ? value : REDACTED, room)
  }
  if (typeof value !== 'object' || value === null) return repeatPlain(value, room)
  if (depth >= DEPTH_MAX) return repeatText('…', room)
  if (Array.isArray(value)) {
    return repeatList(value, room, (item) => repeatKnown(item, known, depth + 1, room))
  }
  const copy: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) {
    if (!known.includes(key)) continue
    if (room.characters <= 0) break
    copy[repeatText(key, room)] = repeatField(item, { name: key, known, depth: depth + 1, room })
  }
  return copy
}

/** The value of one known field of such a body. */
export function echoField(value: unknown, name: string, known: readonly string[]): unknown {
  return repeatField(value, { name, known, depth: 1, room: { characters: CHARACTERS_MAX } })
}

function repeatField(
  value: unknown,
  field: { name: string; known: readonly string[]; depth: number; room: Room },
): unknown {
  const { name, known, depth, room } = field
  const isPlain = typeof value !== 'object' || value === null || isSecretName(name)
  return isPlain ? repeat(value, name, 0, room) : repeatKnown(value, known, depth, room)
}

/** The first items, for as long as there is room. */
function repeatList(
  items: readonly unknown[],
  room: Room,
  repeatItem: (item: unknown) => unknown,
): unknown[] {
  const copy: unknown[] = []
  for (const item of items) {
    if (room.characters <= 0 || copy.length === ITEMS_MAX) break
    copy.push(repeatItem(item))
  }
  // An empty list or object takes room as well: nesting them is no way around the bound.
  if (copy.length === 0) room.characters -= 1
  return copy
}

function repeatPlain(value: unknown, room: Room): unknown {
  const length = String(value).length
  // Half a number would be another one.
  if (length > room.characters) return repeatText('…', room)
  room.characters -= length
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value
}

/** Only what is repeated is looked at, so that a long text costs no more than a short one. */
function repeatText(text: string, room: Room): string {
  const shown = cut(text, Math.max(room.characters, 0))
  const isSecret = SECRET_INSIDE.test(shown) || SECRET_LOOK.test(shown)
  const repeated = isSecret ? REDACTED : shown
  room.characters -= Math.max(1, repeated.length)
  return repeated
}

function cut(text: string, characters: number): string {
  if (text.length <= characters) return text
  return Array.from(text.slice(0, characters * 2))
    .slice(0, characters)
    .join('')
}
