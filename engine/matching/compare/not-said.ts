// What would decide between two questions and is said by one of them alone, or by neither: it keeps a pair below a match, or
// names why it stays there. Not for: what both say and say differently (engine/matching/veto/). Upholds VETO29 to VETO33.

import type { Game } from '../understand/game.ts'
import { isSoftWord } from '../understand/lexicon.ts'
import { HOME, type LonelyMark } from '../understand/marks.ts'
import type { Proposition } from '../understand/proposition.ts'
import { areRivals, weightOf } from '../understand/words.ts'
import type { GameComparison } from './games.ts'
import type { OutcomeComparison } from './outcomes.ts'
import type { WhenComparison } from './when.ts'
import { NAME_WEIGHT, type WordComparison } from './words.ts'

export interface Unsaid {
  /** What it is, with who says nothing of it: "threshold by the second". */
  readonly part: string
  /** Highest score that remains without it, 0 to 79; 100: it only names why a pair is no match. */
  readonly cap: number
}

/** Without it a pair is no match, whatever else agrees. */
const DECIDES = 79
/** Yes of one may as well be No of the other; of the recorded temperatures whose station is not said 3 of 10 settled alike. */
const OPEN_CAP = 50
const NAMES = 100
/** Trading that ends so many days from what the other says leaves the date open, and from here on makes another likely. */
const HINT_DAYS = 3
export const HINT_APART_DAYS = 45
/** Trading that ends so many days from what the other says makes another occasion next to sure. */
export const HINT_FAR_DAYS = 250

/** The first, the second, or both: who lacks it; null where nothing is lacking. */
function lack(part: string, a: boolean, b: boolean, cap: number): readonly Unsaid[] {
  if (!a && !b) return []
  return [{ part: `${part} by ${a && b ? 'either' : a ? 'the first' : 'the second'}`, cap }]
}

/** Of two games of which nothing contradicts: sides, line and day; two events have no side of their own. */
export function unsaidOfGames(
  a: Proposition,
  b: Proposition,
  found: GameComparison,
): readonly Unsaid[] {
  const [one, other] = [a.game, b.game]
  if (one === null || other === null) return []
  const isSideOpen = a.grain === 'market' && found.side === 'unknown'
  const isOpen = ({ asked }: Game): boolean => asked === null || asked === 'yes'
  const isNamed = !isOpen(one) && !isOpen(other)
  const isLineOpen = a.grain === 'market' && found.line === 'unknown'
  return [
    ...lack(
      'side',
      isSideOpen && (isNamed || isOpen(one)),
      isSideOpen && (isNamed || isOpen(other)),
      OPEN_CAP,
    ),
    ...lack('line', isLineOpen && one.line === null, isLineOpen && other.line === null, DECIDES),
    ...(found.isDaySure ? [] : lack('day', !one.isDaySure, !other.isDaySure, DECIDES)),
  ]
}

/** What was compared of two texts. */
interface Compared {
  readonly a: Proposition
  readonly b: Proposition
  readonly when: WhenComparison
  readonly ofA: WordComparison
  readonly ofB: WordComparison
  readonly lonely: readonly LonelyMark[]
  readonly outcomes: OutcomeComparison
  /** Whether only the first, or only the second, asks for a range. */
  readonly loneRange: readonly [boolean, boolean]
  /** Which of the two name no weather station that the other needs. */
  readonly noStation: readonly [boolean, boolean]
}

/** Of two texts of which nothing contradicts. */
export function unsaidOfTexts({ a, b, when, ofA, ofB, ...found }: Compared): readonly Unsaid[] {
  const isLevelOpen = asksLevel(a) && asksLevel(b)
  const [ofFirst, ofSecond] = [a, b].map(({ whens }) => whens.every(isClose))
  const isDateOpen = when.verdict === 'unknown' || (when.verdict === 'hint' && when.gap > HINT_DAYS)
  return [
    ...lack(
      'threshold',
      isLevelOpen || found.loneRange[1],
      isLevelOpen || found.loneRange[0],
      DECIDES,
    ),
    ...found.lonely.map(({ name, share, lacks }) => ({
      part: `${name} by the ${lacks}`,
      cap: share === 'other' ? NAMES : DECIDES,
    })),
    ...lack('name', hasRival(a, b, ofA, ofB), hasRival(a, b, ofA, ofB), DECIDES),
    ...lack('place', isPlaced(b, a), isPlaced(a, b), DECIDES),
    ...lack('modifier', restricts(b, a, ofB, ofA), restricts(a, b, ofA, ofB), DECIDES),
    ...lack('station', ...found.noStation, OPEN_CAP),
    ...lack('outcomes', found.outcomes.isLoneGrid, found.outcomes.isLoneGrid, DECIDES),
    ...lack(
      'date',
      isDateOpen && ofFirst === true,
      isDateOpen && ofSecond === true,
      isOtherOccasion(a, b, when) ? DECIDES : NAMES,
    ),
    ...lack('subject', ofB.missedName >= NAME_WEIGHT, ofA.missedName >= NAME_WEIGHT, NAMES),
    ...(a.asset !== null && b.asset !== null
      ? lack('hour', a.hour === null && b.hour !== null, b.hour === null && a.hour !== null, NAMES)
      : []),
  ]
}

/** Only one names a place, of what names nothing else: an earthquake, and one in Japan. */
function isPlaced(own: Proposition, other: Proposition): boolean {
  const isPlace = (word: string): boolean => /^(?:country|state):/.test(word) && word !== HOME
  const said = [...other.words, ...other.answer, ...other.context]
  if (said.some(isPlace) || [...own.names].some((name) => !isPlace(name) && said.includes(name)))
    return false
  return own.words.some(isPlace)
}

/** Words that stand side by side in a text, with nothing between them: "major", "hurricanes". */
function* besides({ spelled }: Proposition): Iterable<readonly [word: string, head: string]> {
  for (const [at, { meaning }] of spelled.entries()) {
    const head = spelled[at + 1]?.meaning ?? ''
    if (meaning !== '' && head !== '') yield [meaning, head]
  }
}

/**
 * "Major hurricanes" are fewer than "hurricanes": of two questions of which one has all of the other's telling words, a
 * word that the other lacks and that parts titles of one venue (offline/learn-words.ts) restricts the shared one that it precedes.
 */
function restricts(
  own: Proposition,
  other: Proposition,
  ofOwn: WordComparison,
  ofOther: WordComparison,
): boolean {
  if (!ofOther.missing.every(isSoftWord)) return false
  for (const [word, head] of besides(own)) {
    if (!ofOwn.missing.includes(word) || isSoftWord(word) || !other.words.includes(head)) continue
    if (areRivals('', word) && weightOf(word) >= MODIFIER_WEIGHT) return true
  }
  return false
}

const MODIFIER_WEIGHT = 0.6

/** "Free app", "paid app": before a word that both share each has one that the other lacks, and nothing makes them one. */
function hasRival(
  a: Proposition,
  b: Proposition,
  ofA: WordComparison,
  ofB: WordComparison,
): boolean {
  const isLone = (word: string, { missing }: WordComparison): boolean =>
    missing.includes(word) && !isSoftWord(word)
  for (const [one, head] of besides(a)) {
    if (!isLone(one, ofA) || isSoftWord(head)) continue
    for (const [other, same] of besides(b)) if (same === head && isLone(other, ofB)) return true
  }
  return [...objects(a)].some(([verb, one]) => {
    return [...objects(b)].some(([same, other]) => {
      const isOpen = isLone(one, ofA)
        ? ofB.missing.includes(other)
        : isLone(other, ofB) && ofA.missing.includes(one)
      return same === verb && isOpen
    })
  })
}

/** Words behind another with an article between: "announce a tour". */
function* objects({ spelled }: Proposition): Iterable<readonly [verb: string, object: string]> {
  for (const [at, { word }] of spelled.entries()) {
    if (!/^(?:an?|the)$/.test(word)) continue
    const [verb, object] = [spelled[at - 1]?.meaning ?? '', spelled[at + 1]?.meaning ?? '']
    if (verb !== '' && object !== '' && !isSoftWord(verb)) yield [verb, object]
  }
}

/** One has a deadline and the other no end at all; or one ends long after the other, of which a text says nothing. */
function isOtherOccasion(
  a: Proposition,
  b: Proposition,
  { verdict, gap }: WhenComparison,
): boolean {
  if (a.grain === 'event') return gap > HINT_FAR_DAYS
  const [one, other] = [a, b].map(({ whens }) => whens.some(({ role }) => role === 'by'))
  return verdict === 'unknown' ? one !== other : gap > HINT_APART_DAYS
}

/** A price is asked at a level that is not said. */
const asksLevel = ({ asset, quantity, isUpDown, grain }: Proposition): boolean =>
  grain === 'market' && asset !== null && quantity === null && !isUpDown

const isClose = ({ source }: Proposition['whens'][number]): boolean => source === 'close'
