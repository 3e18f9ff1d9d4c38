// Vetoes of everything but games: asset, hour, range, date, marks, answer, form, roles. Each function looks at
// one conflict. Upholds VETO6 to VETO13.

import type { WhenComparison } from './compare-when.ts'
import { NAME_WEIGHT, type WordComparison, type WordIndex } from './compare-words.ts'
import { conflictsOf } from './marks.ts'
import type { Proposition } from './proposition.ts'
import { type RangeRelation, relateRanges } from './quantity.ts'
import { stationsOf } from './rule-differences.ts'
import { shortForms } from './short-names.ts'
import { gradeNames } from './sides.ts'
import { type Veto, veto } from './vetoes.ts'

/** Classes whose conflict may be a matter of wording when all else agrees. */
const SOFT_MARKS = new Set(['work', 'reach', 'edition', 'measure'])

export function assetVetoes(a: Proposition, b: Proposition): readonly Veto[] {
  if (a.asset !== null && b.asset !== null && a.asset !== b.asset) {
    return [veto('other_asset', `${a.asset} against ${b.asset}`)]
  }
  return []
}

/** Hours count where a price is asked at an hour; a venue that names none leaves it open. */
export function hourVetoes(a: Proposition, b: Proposition): readonly Veto[] {
  if (a.hour === null || b.hour === null || Math.abs(a.hour - b.hour) < 0.01) return []
  // Midnight ends one day and begins the next.
  if (Math.abs(a.hour - b.hour) === 24) return []
  return [veto('other_hour', `${a.hour} against ${b.hour}`)]
}

/** How the two ranges stand; null where one has none. */
export function rangeRelation(a: Proposition, b: Proposition): RangeRelation | null {
  return a.quantity === null || b.quantity === null ? null : relateRanges(a.quantity, b.quantity)
}

export function rangeVetoes(a: Proposition, b: Proposition): readonly Veto[] {
  const relation = rangeRelation(a, b)
  switch (relation) {
    case null:
    case 'same':
      return []
    case 'complement':
      return [veto('opposite_side', 'one begins where the other ends')]
    case 'inside':
      return [veto('containment', 'the first range lies in the second', 'subset')]
    case 'around':
      return [veto('containment', 'the second range lies in the first', 'superset')]
    case 'boundary':
      return isCounted(a) && isCounted(b) ? [veto('boundary')] : []
    default:
      return [veto('other_range')]
  }
}

/** Whole numbers hit their threshold; prices and percentages hardly ever do. */
function isCounted({ quantity, asset }: Proposition): boolean {
  if (quantity === null || asset !== null || quantity.unit !== '') return false
  return [quantity.low, quantity.high].every(
    (end) => !Number.isFinite(end) || Number.isInteger(end),
  )
}

export function dateVetoes(when: WhenComparison): readonly Veto[] {
  return when.verdict === 'other' ? [veto('other_date', `${when.gap} days apart`)] : []
}

export function touchVetoes(a: Proposition, b: Proposition): readonly Veto[] {
  if (a.asset === null || b.asset === null) return []
  if (a.isUpDown !== b.isUpDown) return [veto('other_kind', 'direction against level')]
  return a.isTouch === b.isTouch ? [] : [veto('touch_or_close')]
}

export function markVetoes(a: Proposition, b: Proposition): readonly Veto[] {
  return conflictsOf(a.marks, b.marks)
    .filter((name) => !SOFT_MARKS.has(name))
    .map((name) => {
      const [one, other] = [a.marks.get(name), b.marks.get(name)].map((values) =>
        [...(values ?? [])].join('/'),
      )
      return veto('other_mark', `${name} ${one} against ${other}`)
    })
}

/** Venue b's answer, word for word in venue a's question; names are graded as names. */
export function answerVetoes(a: Proposition, b: Proposition, known: WordIndex): readonly Veto[] {
  if (b.answer.length === 0) return []
  if (a.answer.length > 0) {
    return gradeNames(a.answer.join(' '), b.answer.join(' ')) >= 0.45 ? [] : [veto('other_answer')]
  }
  const missing = b.answer.filter((word) => !known.has(word))
  if (missing.length === 0) return []
  const shortened = shortForms(a.words, b.answer)
  const isNick = missing.every((word) => shortened.includes(word))
  return isNick ? [] : [veto('other_answer', missing.join(' '))]
}

/** "Which" and "how many" against "whether". */
export function formVetoes(a: Proposition, b: Proposition): readonly Veto[] {
  const isWhether = (form: Proposition['form']): boolean => form === 'closed'
  if (isWhether(a.form) === isWhether(b.form)) return []
  const [whether, other] = isWhether(a.form) ? [a, b] : [b, a]
  // One market alone in its event is one of the other's answers.
  if (whether.children.length === 1 && /^(?:who|which)$/.test(other.opening)) {
    return [veto('containment', 'one answer of several', whether === a ? 'subset' : 'superset')]
  }
  // "Next prime minister" and "who will be" are one; only a plain "will …" is another form.
  if (other.form === 'open' && !/^(?:will|is|does|do|did|can|has|have|any)\b/.test(whether.opening))
    return []
  return [veto('other_form')]
}

/** Verbs between two names: who does it to whom. */
export function roleVetoes(a: Proposition, b: Proposition): readonly Veto[] {
  const names = [...a.names].filter((name) => b.names.has(name))
  for (const name of names) {
    const [one, other] = [placeOfVerb(a, name), placeOfVerb(b, name)]
    if (one !== null && other !== null && one !== other) return [veto('other_roles', name)]
  }
  return []
}

const TWO_PLACED = new Set(
  'endorse sue arrest pardon fire beat defeat replace attack invade extradite acquire'.split(' '),
)

/** Whether a name stands before or after the only verb of two places. */
function placeOfVerb({ words }: Proposition, name: string): 'before' | 'after' | null {
  const verb = words.findIndex((word) => TWO_PLACED.has(word))
  const at = words.indexOf(name)
  if (verb < 0 || at < 0) return null
  return at < verb ? 'before' : 'after'
}

/** Both name somebody or something that the other knows nothing of. */
export function subjectVetoes(ofA: WordComparison, ofB: WordComparison): readonly Veto[] {
  if (Math.min(ofA.missedName, ofB.missedName) < NAME_WEIGHT) return []
  return [veto('other_subject', `${ofA.missing.join(' ')} against ${ofB.missing.join(' ')}`)]
}

/**
 * A temperature is one station's: unless both rule texts name one, it is not known to be the same. Other sources
 * of a price are a caveat, no veto.
 */
export function ruleVetoes(a: Proposition, b: Proposition): readonly Veto[] {
  if (!a.words.includes('temperature') && !b.words.includes('temperature')) return []
  if (a.quantity === null || b.quantity === null) return []
  const stations = stationsOf(a.rules).filter((station) => stationsOf(b.rules).includes(station))
  if (stations.length > 0) return []
  const [one, other] = [stationsOf(a.rules), stationsOf(b.rules)].map(
    (names) => names.join('/') || 'not said',
  )
  return [veto('other_rules', `station: ${one} against ${other}`)]
}
