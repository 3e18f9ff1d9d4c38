// Vetoes of all questions except games: asset, hour, range, date, marks, answer, form, roles. Each function checks one
// conflict.

import { type DateComparison, isMissedByMarkets } from '../compare/date-comparison.ts'
import { areNamesakes, NAME_WEIGHT, type WordComparison } from '../compare/word-comparison.ts'
import type { Contrasts } from '../understand/contrasts.ts'
import { isIdentity, isSoftWord } from '../understand/lexicon.ts'
import { conflictsOf, isWinQuestion } from '../understand/marks.ts'
import { wordSet } from '../understand/phrases.ts'
import type { Proposition } from '../understand/proposition.ts'
import { type RangeRelation, relateRanges } from '../understand/quantity.ts'
import { isOrdinary } from '../understand/text-normalization.ts'
import { WordMatcher } from '../understand/word-matcher.ts'
import { counted, type Veto, veto } from './vetoes.ts'

/** Classes of marks whose conflict may only be a difference in wording. */
const SOFT_MARKS = new Set(['work', 'edition', 'measure'])

export interface ComparedWords {
  readonly ofA: WordComparison
  readonly ofB: WordComparison
  readonly wordsA: WordMatcher
  /** Words of venue b that venue a has in a shorter form. */
  readonly shortB: ReadonlySet<string>
}

export function plainVetoes(
  a: Proposition,
  b: Proposition,
  dates: DateComparison,
): readonly Veto[] {
  const found = [...kindVetoes(a, b), ...assetVetoes(a, b), ...markVetoes(a, b)]
  if (dates.result !== 'other') return found
  return [...found, veto('other_date', `${counted(dates.gap, 'day')} apart`)]
}

/** The remaining conflicts. Ranges and listed outcomes are compared only if both questions have them. */
export function wordedVetoes(
  a: Proposition,
  b: Proposition,
  dates: DateComparison,
  words: ComparedWords,
): readonly Veto[] {
  const isMarket = a.grain === 'market'
  const isOne = isMarket || (a.children().length <= 1 && b.children().length <= 1)
  return [
    ...(isOne ? rangeVetoes(a, b) : []),
    ...occasionVetoes(a, b, dates),
    ...(isMarket
      ? [...answerVetoes(a, b, words), ...polarityVetoes(a, b)]
      : [...formVetoes(a, b), ...levelVetoes(a, b), ...yearVetoes(a, b)]),
    ...[hourVetoes, touchVetoes, roleVetoes].flatMap((of) => of(a, b)),
  ]
}

function kindVetoes(a: Proposition, b: Proposition): readonly Veto[] {
  if ((a.kind === 'speech') === (b.kind === 'speech')) return []
  const other = a.kind === 'speech' ? b : a
  return other.kind === 'price' || other.kind === 'quantity' || isWinQuestion(other.marks)
    ? [veto('other_kind', `${a.kind} against ${b.kind}`)]
    : []
}

function assetVetoes(a: Proposition, b: Proposition): readonly Veto[] {
  if (isAboutPriceOf(a, b) || isAboutPriceOf(b, a)) {
    return [veto('other_kind', 'a price against another question about the asset')]
  }
  const isOther = a.asset !== null && b.asset !== null && a.asset !== b.asset
  return isOther ? [veto('other_asset', `${a.asset} against ${b.asset}`)] : []
}

/** Whether one question asks for a price, and the other mentions assets but asks for no price. */
function isAboutPriceOf(one: Proposition, other: Proposition): boolean {
  if (one.asset === null || other.asset !== null || other.kind === 'speech') return false
  return other.marks.has('asset') && one.spelled.some(({ word }) => word === 'price')
}

/** Compares hours only of prices at a time, and only if both questions state an hour. */
function hourVetoes(a: Proposition, b: Proposition): readonly Veto[] {
  if (a.isUpDown && b.isUpDown && a.minutes !== b.minutes) {
    const [one, other] = [a.minutes, b.minutes].map((minutes) =>
      minutes === null ? 'not said' : counted(minutes, 'minute'),
    )
    return [veto('other_hour', `${one} against ${other}`)]
  }
  if (a.hour === null || b.hour === null || Math.abs(a.hour - b.hour) < 0.01) return []
  // 0 and 24 are the same midnight, between two days.
  const isMidnight = Math.abs(a.hour - b.hour) === 24
  return isMidnight ? [] : [veto('other_hour', `${clockOf(a.hour)} against ${clockOf(b.hour)} ET`)]
}

/** Formats an hour. It may be negative, because the start of a window is computed from its end. */
function clockOf(hour: number): string {
  const minutes = Math.round((hour < 0 ? hour + 24 : hour) * 60)
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60]
  return [hours, rest].map((part) => String(part).padStart(2, '0')).join(':')
}

/** Null if one question has no range. */
export function rangeRelation(a: Proposition, b: Proposition): RangeRelation | null {
  return a.quantity === null || b.quantity === null ? null : relateRanges(a.quantity, b.quantity)
}

function rangeVetoes(a: Proposition, b: Proposition): readonly Veto[] {
  const relation = rangeRelation(a, b)
  if (relation === null || relation === 'same') return []
  if (relation === 'boundary') return isCounted(a) && isCounted(b) ? [veto('boundary')] : []
  if (relation === 'complement') return [veto('opposite_side', 'one begins where the other ends')]
  if (relation === 'apart' || relation === 'overlap') return [veto('other_range')]
  return relation === 'inside'
    ? [veto('containment', 'the first range lies in the second', 'subset')]
    : [veto('containment', 'the second range lies in the first', 'superset')]
}

/** Whether the value may equal the threshold exactly, as counts and published percentages do. Prices are assumed not to. */
function isCounted({ quantity, asset }: Proposition): boolean {
  if (quantity === null || asset !== null || quantity.unit === '$') return false
  if (quantity.unit === '%') return true
  return [quantity.low, quantity.high].every(
    (end) => !Number.isFinite(end) || Number.isInteger(end),
  )
}

function touchVetoes(a: Proposition, b: Proposition): readonly Veto[] {
  if (a.asset === null || b.asset === null) return []
  if (a.isUpDown !== b.isUpDown) return [veto('other_kind', 'direction against level')]
  return a.isTouch === b.isTouch ? [] : [veto('touch_or_close')]
}

function markVetoes(a: Proposition, b: Proposition): readonly Veto[] {
  return conflictsOf(a.marks, b.marks)
    .filter((name) => !SOFT_MARKS.has(name))
    .map((name) => {
      const [one, other] = [a.marks.get(name), b.marks.get(name)].map((values) =>
        [...(values ?? [])].join('/'),
      )
      return veto('other_mark', `${name} ${one} against ${other}`)
    })
}

/** Compares venue b's answer with venue a's question word by word. Names are compared as names. */
function answerVetoes(
  a: Proposition,
  b: Proposition,
  { wordsA: wordsOfA, shortB: shortened }: ComparedWords,
): readonly Veto[] {
  if (a.isPlaceholder || b.isPlaceholder) {
    return [veto('other_answer', 'a placeholder, for whom nobody stands')]
  }
  // With ranges, an ordinary word is the unit. If an informative word is shared, a missing soft word does not matter.
  const hasRanges = a.quantity !== null && b.quantity !== null
  const isUnit = (word: string): boolean => hasRanges && isOrdinary(word) && !isIdentity(word)
  const hasDistinctiveMatch =
    hasRanges || b.answer.some((word) => wordsOfA.has(word) && !isSoftWord(word))
  const isMissing = (word: string): boolean => !wordsOfA.has(word) && !shortened.has(word)
  const missing = b.answer.filter(
    (word) => isMissing(word) && !isUnit(word) && !(hasDistinctiveMatch && isSoftWord(word)),
  )
  return missing.length === 0 ? [] : [veto('other_answer', missing.join(' '))]
}

/** Days. Two questions about "this week" that close at most this far apart mean the same week. */
const OCCASION_DAYS = 1

/**
 * "His next video" changes every week. The occasion is the same if the days are equal or both close at about the same
 * time.
 */
function occasionVetoes(a: Proposition, b: Proposition, dates: DateComparison): readonly Veto[] {
  if ((!a.isRelative && !b.isRelative) || dates.result === 'same') return []
  const gap = dates.closeGap ?? tickerGap(a, b)
  const isNear = gap !== null && gap <= OCCASION_DAYS
  return isNear && dates.result !== 'other' ? [] : [veto('other_occasion')]
}

/** Days between venue a's closing time and the day in venue b's ticker. Null if one is unknown. */
function tickerGap(a: Proposition, b: Proposition): number | null {
  const close = a.decisionDates.find(({ source }) => source === 'close')
  const day = b.decisionDates.find(({ source, role }) => source === 'handle' && role === 'on')
  return close && day ? Math.abs(close.last - day.last) : null
}

function polarityVetoes(a: Proposition, b: Proposition): readonly Veto[] {
  return a.isNegated === b.isNegated ? [] : [veto('opposite_side', 'one asks for the contrary')]
}

/** Sets of contrasts in which the two state different values, at least one of them in its title or answer. */
export function contraries(a: Contrasts, b: Contrasts): readonly Veto[] {
  return [...a.all].flatMap(([set, one]) => {
    const other = b.all.get(set)
    const isOther = other !== undefined && ![...one].some((value) => other.has(value))
    if (!isOther || !(a.stated.has(set) || b.stated.has(set))) return []
    return [veto('other_mark', `${set} ${[...one].join('/')} against ${[...other].join('/')}`)]
  })
}

/** The year of "Kansas Senate Election Winner" is 2026 if all its markets state 2026. */
function yearVetoes(a: Proposition, b: Proposition): readonly Veto[] {
  const isOther = isMissedByMarkets(a, b) || isMissedByMarkets(b, a)
  return isOther ? [veto('other_date', 'the markets of one say another year')] : []
}

function levelVetoes(a: Proposition, b: Proposition): readonly Veto[] {
  if (a.asset === null || a.asset !== b.asset || a.isUpDown || b.isUpDown) return []
  const [isOne, isOther] = [a.quantity !== null, b.quantity !== null]
  if (isOne === isOther) return []
  return [veto('containment', 'one level of several', isOne ? 'subset' : 'superset')]
}

function formVetoes(a: Proposition, b: Proposition): readonly Veto[] {
  if (a.form === b.form) return []
  if ([a.form, b.form].every((form) => form === 'when' || form === 'open')) {
    return isPlainOpen(a) || isPlainOpen(b) ? [] : [veto('other_form', 'when against which')]
  }
  if ([a, b].some(({ form }) => form === 'count') && [a, b].some(isWhichQuestion)) {
    return [veto('other_form', 'how many against which')]
  }
  if ((a.form === 'closed') === (b.form === 'closed')) return []
  const [whether, other] = a.form === 'closed' ? [a, b] : [b, a]
  // If an event has a single market, that market is one of the other event's answers.
  if (whether.children().length === 1 && /^(?:who|which)$/.test(other.opening)) {
    return [veto('containment', 'one answer of several', whether === a ? 'subset' : 'superset')]
  }
  // The form of a heading is unclear. Only a question word at the beginning makes the forms different.
  const isQuestionOpening = /^(?:will|is|does|do|did|can|has|have|any)\b/.test(whether.opening)
  return isPlainOpen(other) || (other.form === 'open' && !isQuestionOpening)
    ? []
    : [veto('other_form')]
}

/** Whether the title asks which, as "Who will win?" and "Tour Winner" do. */
const isWhichQuestion = ({ form, opening, marks, sentence }: Proposition): boolean =>
  form === 'open' &&
  (/^(?:who|which)$/.test(opening) || isWinQuestion(marks) || /\bchampion\??$/i.test(sentence))

/** Whether it is an event of several markets whose title does not state what they are. */
function isPlainOpen(event: Proposition): boolean {
  return event.form === 'open' && !isWhichQuestion(event) && !/^(?:what|where)$/.test(event.opening)
}

function roleVetoes(a: Proposition, b: Proposition): readonly Veto[] {
  const [speakers, others] = [speakersOf(a), speakersOf(b)]
  // Different spellings of a name are one speaker, such as "Zelensky" and "Zelenskyy".
  const otherSpeakers = new WordMatcher(others)
  if (
    speakers.length > 0 &&
    others.length > 0 &&
    !speakers.some((name) => otherSpeakers.has(name))
  ) {
    return [veto('other_roles', `${speakers.join(' ')} speaks, or ${others.join(' ')}`)]
  }
  for (const name of [...a.names].filter((each) => b.names.has(each))) {
    const [one, other] = [verbRoleOf(a, name), verbRoleOf(b, name)]
    if (one !== null && other !== null && one !== other) return [veto('other_roles', name)]
  }
  return []
}

function speakersOf({ words, names }: Proposition): readonly string[] {
  return words.slice(0, Math.max(0, words.indexOf('sayx'))).filter((word) => names.has(word))
}

const TRANSITIVE_VERBS = wordSet(
  'endorse sue arrest pardon fire beat defeat replace attack invade extradit acquire',
)

/** Matches words before a passive verb, as in "receive a pardon" and "be endorsed". */
const PASSIVE_MARKER = /^(?:be|been|being|is|was|were|get|gets|got|receive|receives|granted|given)$/
const PASSIVE_WORDS_MAX = 3
const REFLEXIVE = /^(?:him|her|them|it)sel(?:f|ves)$/

/**
 * Whether a name is the subject or the object of the verb, by word order. Null without exactly one verb with two
 * arguments.
 */
function verbRoleOf(one: Proposition, name: string): 'does' | 'suffers' | null {
  const { spelled } = one
  const verb = spelled.findIndex(
    ({ word, meaning }) => TRANSITIVE_VERBS.has(meaning) && !/^merg/.test(word),
  )
  // The outcome that Yes means is the subject of "beat".
  if (verb < 0 && isWinQuestion(one.marks) && one.answer.includes(name)) return 'does'
  const at = spelled.findIndex(({ meaning }) => meaning === name)
  if (verb < 0 || at < 0 || spelled.some(({ word }) => REFLEXIVE.test(word))) return null
  const before = spelled.slice(Math.max(0, verb - PASSIVE_WORDS_MAX), verb)
  // "Doe arrested by June?" is passive without an auxiliary verb.
  const isPassive =
    /ed$/.test(spelled[verb]?.word ?? '') || before.some(({ word }) => PASSIVE_MARKER.test(word))
  return at < verb === isPassive ? 'suffers' : 'does'
}

/** Vetoes if each question has a name that the other lacks, or if they mean two teams with the same nickname. */
export function subjectVetoes(
  a: Proposition,
  b: Proposition,
  { ofA, ofB }: Record<'ofA' | 'ofB', WordComparison>,
): readonly Veto[] {
  if (areNamesakes(a, b)) return [veto('other_subject', 'two teams of one nickname')]
  if (isOtherCup(a, b) || isOtherCup(b, a)) return [veto('other_subject', 'two competitions')]
  if (Math.min(ofA.missedName, ofB.missedName) < NAME_WEIGHT) return []
  return [veto('other_subject', `${ofA.missing.join(' ')} against ${ofB.missing.join(' ')}`)]
}

const COMPETITIONS = wordSet('championship cup classic open master trophy invitational tournament')

/**
 * "PGA Tour: Truist Championship" contains all words of "PGA Championship" but is another competition. The latter has
 * no name before the kind of competition.
 */
function isOtherCup(own: Proposition, other: Proposition): boolean {
  const isMentioned = ({ words, context }: Proposition, word: string): boolean =>
    words.includes(word) || context.includes(word)
  return own.runs.some((run) => {
    const [kind = '', ...distinctive] = COMPETITIONS.has(run.at(-1) ?? '') ? run.toReversed() : []
    if (distinctive.length === 0 || distinctive.some((word) => isMentioned(other, word)))
      return false
    const isCup = (of: readonly string[]): boolean => of.length > 1 && of.at(-1) === kind
    return other.runs.some((of) => isCup(of) && of.every((word) => isMentioned(own, word)))
  })
}
