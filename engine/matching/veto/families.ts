// Overrides on families of markets. A family is all markets of a venue that match a pattern. Rejected: markets of the
// two families settle differently, however similar their titles are. Confirmed: wording and rules are ignored, but
// date, outcome, range and side must agree. The built-in overrides are derived from the venues' rule texts, and
// operators add their own.

import { tableIn } from '../understand/phrases.ts'
import type { VetoReason } from './vetoes.ts'

/** A decision on all pairs of markets of two families. */
export interface FamilyOverride {
  /** Patterns for a series, event or market of venue a and of venue b. `*` matches any characters. */
  readonly a: string
  readonly b: string
  readonly word: 'confirmed' | 'rejected'
  /** What differs, or who made the decision. */
  readonly why: string
}

/** Conflicts of wording and rules, which a confirmed family ignores. */
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

/** All overrides. The first one that matches a pair applies. */
export class Families {
  readonly #patterns: readonly (readonly [FamilyOverride, first: Test, second: Test])[]

  /** Overrides of operators come before built-in ones, and rejections before confirmations. */
  constructor(overrides: readonly FamilyOverride[] = []) {
    const sorted = [...overrides].sort((one, other) => rankOf(one) - rankOf(other))
    this.#patterns = [...sorted, ...BUILT_IN_OVERRIDES].map((familyOverride) => {
      return [familyOverride, testOf(familyOverride.a), testOf(familyOverride.b)]
    })
  }

  /** The override that applies to two markets or events, which are given by their names in lower case. */
  of(a: readonly string[], b: readonly string[]): FamilyOverride | null {
    for (const [familyOverride, first, second] of this.#patterns) {
      if (a.some(first) && b.some(second)) return familyOverride
    }
    return null
  }
}

const rankOf = ({ word }: FamilyOverride): number => (word === 'rejected' ? 0 : 1)

type Test = (name: string) => boolean

/** The parts between the `*` must occur in order. Names are in lower case. */
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

export function patternTest(pattern: string): (name: string) => boolean {
  const isFitting = testOf(pattern)
  return (name) => isFitting(name.toLowerCase())
}

const LITERALS_MIN = 4
const PATTERN_CHARACTERS_MAX = 200

/**
 * Describes why an operator's pattern is invalid; null if it is valid. A pattern that matches nearly everything is
 * invalid.
 */
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
