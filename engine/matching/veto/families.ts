// Overrides on families of markets, each named by one pattern per venue. Rejected: the pairs settle differently,
// however alike their titles are. Confirmed: wording and rules no longer count, but date, outcome, range and side must
// still agree. The built-in ones come from both venues' rule texts; operators add theirs.

import { tableIn } from '../understand/phrases.ts'
import type { VetoReason } from './vetoes.ts'

/** An operator's decision on all pairs of two families. */
export interface FamilyOverride {
  /** Patterns of a series, an event or a market of venue a and venue b. `*` matches any characters. */
  readonly a: string
  readonly b: string
  readonly word: 'confirmed' | 'rejected'
  /** What differs, or who decided. */
  readonly why: string
}

/** Conflicts of wording and rules, which an override on a family outranks. */
export const WORDING: ReadonlySet<VetoReason> = new Set<VetoReason>([
  'boundary',
  'other_form',
  'other_grid',
  'other_kind',
  'other_roles',
  'other_rules',
  'other_subject',
  'touch_or_close',
])

const { families: BUILT_IN_OVERRIDES } = tableIn<{ readonly families: readonly FamilyOverride[] }>(
  new URL('./families.json', import.meta.url),
)

/** The overrides in force. The first that matches a pair applies. */
export class Families {
  readonly #patterns: readonly (readonly [FamilyOverride, first: Test, second: Test])[]

  /** An operator's overrides outrank the built-in ones, and rejections outrank confirmations. */
  constructor(overrides: readonly FamilyOverride[] = []) {
    const sorted = [...overrides].sort((one, other) => rankOf(one) - rankOf(other))
    this.#patterns = [...sorted, ...BUILT_IN_OVERRIDES].map((familyOverride) => {
      return [familyOverride, testOf(familyOverride.a), testOf(familyOverride.b)]
    })
  }

  /** The override on two markets or events, each given by its names in lower case. */
  of(a: readonly string[], b: readonly string[]): FamilyOverride | null {
    for (const [familyOverride, first, second] of this.#patterns) {
      if (a.some(first) && b.some(second)) return familyOverride
    }
    return null
  }
}

const rankOf = ({ word }: FamilyOverride): number => (word === 'rejected' ? 0 : 1)

type Test = (name: string) => boolean

/** Compiles a pattern for names in lower case: the parts between `*` must occur in order. */
function testOf(pattern: string): Test {
  const parts = pattern.toLowerCase().split('*')
  const [first = '', last = ''] = [parts[0], parts.at(-1)]
  if (parts.length === 1) return (name) => name === first
  return (name) => {
    if (!name.startsWith(first)) return false
    let at = first.length
    for (const part of parts.slice(1, -1)) {
      const found = name.indexOf(part, at)
      if (found < 0) return false
      at = found + part.length
    }
    return name.length - last.length >= at && name.endsWith(last)
  }
}

export const DEFAULT_FAMILIES: Families = new Families()

/** Returns a test of whether a pattern matches a market's name, in any case. */
export function patternTest(pattern: string): (name: string) => boolean {
  const isFitting = testOf(pattern)
  return (name) => isFitting(name.toLowerCase())
}

const LITERALS_MIN = 4
const PATTERN_CHARACTERS_MAX = 200

/** The fault of a pattern that an operator wrote. Null: none. A pattern that matches nearly everything is rejected. */
export function patternFault(pattern: string): string | null {
  if (pattern.length > PATTERN_CHARACTERS_MAX) {
    return `a pattern has at most ${PATTERN_CHARACTERS_MAX} characters`
  }
  if (!/^[\w.*-]+$/.test(pattern))
    return 'a pattern may contain letters, digits, "-", ".", "_" and "*"'
  return pattern.replaceAll('*', '').length < LITERALS_MIN
    ? `a pattern has ${LITERALS_MIN} characters or more besides "*"`
    : null
}
