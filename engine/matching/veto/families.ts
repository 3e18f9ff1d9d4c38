// Verdicts on families of markets, each named by a pattern a venue: rejected, their pairs are settled otherwise however
// alike the titles are; confirmed, wording and rules count no longer, while date, outcome, range and side must agree still.
// Those below come from both venues' rule texts as read on 24 and 25 September 2026; operators add theirs.

import { tableIn } from '../understand/phrases.ts'
import type { VetoReason } from './vetoes.ts'

/** What a person said of all pairs of two families. */
export interface FamilyOverride {
  /** Patterns of a series, an event or a market, venue a's and venue b's; `*` stands for any characters. */
  readonly a: string
  readonly b: string
  readonly word: 'confirmed' | 'rejected'
  /** What differs, or who says so. */
  readonly why: string
}

/** Conflicts of wording and rules, on which the verdict on a family stands above the reader's. */
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

/** The verdicts that hold now; of several on one pair the first. */
export class Families {
  readonly #patterns: readonly (readonly [FamilyOverride, first: Test, second: Test])[]

  /** An operator's verdicts stand above those that come with the program, and rejections above confirmations. */
  constructor(overrides: readonly FamilyOverride[] = []) {
    const sorted = [...overrides].sort((one, other) => rankOf(one) - rankOf(other))
    this.#patterns = [...sorted, ...BUILT_IN_OVERRIDES].map((familyOverride) => {
      return [familyOverride, testOf(familyOverride.a), testOf(familyOverride.b)]
    })
  }

  /** The verdict on two markets or events, each with the names under which it is listed, in lower case. */
  of(a: readonly string[], b: readonly string[]): FamilyOverride | null {
    for (const [familyOverride, first, second] of this.#patterns) {
      if (a.some(first) && b.some(second)) return familyOverride
    }
    return null
  }
}

const rankOf = ({ word }: FamilyOverride): number => (word === 'rejected' ? 0 : 1)

type Test = (name: string) => boolean

/** Whether a name in lower case is what stands between the `*` of a pattern, in its order, with anything between. */
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

/** The families that come with the program. */
export const DEFAULT_FAMILIES: Families = new Families()

/** Tells whether a pattern fits a name under which a market is listed, in any case. */
export function patternTest(pattern: string): (name: string) => boolean {
  const isFitting = testOf(pattern)
  return (name) => isFitting(name.toLowerCase())
}

const LITERALS_MIN = 4
const PATTERN_CHARACTERS_MAX = 200

/** What is wrong with a pattern as a person wrote it; null: nothing. One that names nearly everything is a slip. */
export function patternFault(pattern: string): string | null {
  if (pattern.length > PATTERN_CHARACTERS_MAX) {
    return `a pattern has at most ${PATTERN_CHARACTERS_MAX} characters`
  }
  if (!/^[\w.*-]+$/.test(pattern)) return 'a pattern has letters, digits, "-", ".", "_" and "*"'
  return pattern.replaceAll('*', '').length < LITERALS_MIN
    ? `a pattern has ${LITERALS_MIN} characters at least beside "*"`
    : null
}
