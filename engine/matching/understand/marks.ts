// Marks: short facts in a text that distinguish questions, such as season 24, group A, top 10, CO-02, a country, a
// party or an office. Two texts are different if both have marks of one class and share none of them.

import { firstMatch, type PhraseRows, phraseTable, tableIn, wordSet } from './phrases.ts'

/** Values by class. A class without values is absent. */
export type Marks = ReadonlyMap<string, ReadonlySet<string>>

const TABLES = tableIn<{
  readonly ordinals: Readonly<Record<string, string>>
  /** By class: mutually exclusive meanings (lexicon.ts). */
  readonly classes: Readonly<Record<string, string>>
  /** Display names of classes. Other classes are displayed by their own name. */
  readonly told: Readonly<Record<string, string>>
  readonly spans: PhraseRows
  /** Patterns by class. {nth} stands for an ordinal. */
  readonly patterns: Readonly<Record<string, string>>
  /** Classes that distinguish parts or measures of one occasion. */
  readonly stages: string
  /** Classes that distinguish a part from the whole. */
  readonly parts: string
  /** Classes whose marks a question may omit. */
  readonly plain: string
}>(new URL('./marks.json', import.meta.url))
const NTH = 'first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\\d+(?:st|nd|rd|th)'
/** A text without a match has no marks of the patterns below. */
const ORDINAL =
  /\d|#|\bor (?:better|higher)\b|\bopen|\b(?:core|supporting|revival|acting|interim|deputy|outright|opening|how)\b|(?:first|most|best|worst|least|est)\b|\b(?:second|third|top|group|place|runner|cut|field)\b|other|else|none of| vs|next|back|endors|recommend|final|playoff|knockout|grammy|emmy|oscar|academy|tony|globe|bafta/
/** Patterns by class, for folded texts. The first group that matched is the value. */
const PATTERNS = Object.entries(TABLES.patterns).map(([name, pattern]) => {
  return [name, new RegExp(pattern.replaceAll('{nth}', NTH), 'g')] as const
})

/** A question without a country may be about the US, because both venues are there. */
export const HOME = 'country:usa'

const classOfWord = new Map<string, string>()
for (const [name, words] of Object.entries(TABLES.classes)) {
  for (const word of words.split(' ')) classOfWord.set(word, name)
}

/** Marks of a folded text and its meanings. `around`: the other texts, in which the time span of a figure is searched. */
export function marksOf(folded: string, meanings: readonly string[], around = ''): Marks {
  const marks = new Map<string, Set<string>>()
  const add = (name: string, value: string): void => {
    marks.set(name, (marks.get(name) ?? new Set()).add(value))
  }
  if (ORDINAL.test(folded)) {
    for (const [name, pattern] of PATTERNS) {
      // Most patterns do not match, and matchAll copies the pattern at each call.
      if (folded.search(pattern) < 0) continue
      for (const match of folded.matchAll(pattern)) {
        const value = match.slice(1).find((group) => group !== undefined)
        if (value !== undefined) add(name, ordinal(value))
      }
    }
  }
  for (const word of meanings) {
    if (word === HOME) add('reach', 'domestic')
    const name = classOfWord.get(word) ?? /^(?:country|state|district)/.exec(word)?.[0]
    if (name !== undefined) add(name, word)
  }
  const span = spanOf(`${folded} ${around}`)
  if (span !== null) add('span', span)
  const placing = placingOf(marks, meanings)
  for (const name of ['topN', 'rank', 'cut']) marks.delete(name)
  if (placing !== null) add('placing', placing)
  return marks
}

const SPANS = phraseTable(TABLES.spans)

/** Time span of a figure, such as a month or a year. If the text states none, CPI is monthly and inflation yearly. */
function spanOf(text: string): string | null {
  const statedSpan = firstMatch(SPANS, text)
  if (statedSpan !== null) return statedSpan
  if (/\binflation\b/.test(text)) return 'year'
  return /\bcpi\b/.test(text) ? 'month' : null
}

/** The placing that a question asks for: `top 10`, `cut`, `place 3` or `win`. Null if it asks for none. */
function placingOf(marks: Marks, meanings: readonly string[]): string | null {
  const [top] = marks.get('topN') ?? []
  if (top !== undefined) return `top ${top}`
  if (marks.has('cut')) return 'cut'
  const [rank] = marks.get('rank') ?? []
  if (rank !== undefined) return rank === '1' ? 'win' : `place ${rank}`
  return meanings.includes('winx') ? 'win' : null
}

function ordinal(value: string): string {
  const plain = value.replace(/^(\d+)(?:st|nd|rd|th)$/, '$1')
  return TABLES.ordinals[plain] ?? plain
}

/** Classes in which both have marks but none in common. */
export function conflictsOf(a: Marks, b: Marks): readonly string[] {
  const found: string[] = []
  for (const [name, values] of a) {
    const others = b.get(name)
    if (others !== undefined && ![...values].some((value) => others.has(value))) found.push(name)
  }
  return found
}

/** Both orders of the two, each with the position of the second one. */
export const bothWays = <One>(a: One, b: One) =>
  [[a, b, 'second'] as const, [b, a, 'first'] as const] as const

/** Whether the question asks who wins. */
export const isWinQuestion = (marks: Marks): boolean => marks.get('placing')?.has('win') === true

const STAGES = wordSet(TABLES.stages)
const PARTS = wordSet(TABLES.parts)
const PLAIN = wordSet(TABLES.plain)

/** A class in which only one of two texts has marks. */
export interface UnmatchedMark {
  /** Display name. */
  readonly name: string
  readonly share: 'part' | 'stage' | 'other'
  readonly values: readonly string[]
  /** The text that has no marks of the class. */
  readonly lacks: 'first' | 'second'
}

/** Classes that only one of the two texts has. */
export function unmatchedMarks(a: Marks, b: Marks): readonly UnmatchedMark[] {
  const unmatched: UnmatchedMark[] = []
  for (const [own, other, lacks] of bothWays(a, b)) {
    for (const [name, values] of own) {
      // Most questions ask for a win, even if they do not state it.
      const isPlain =
        (name === 'placing' && values.has('win')) || PLAIN.has(name) || values.has('men')
      if (other.has(name) || isPlain) continue
      const isForeign = name === 'country' && !values.has(HOME)
      const isPart = PARTS.has(name) || isForeign
      const share = isPart ? 'part' : STAGES.has(name) ? 'stage' : 'other'
      unmatched.push({ name: TABLES.told[name] ?? name, share, lacks, values: [...values] })
    }
  }
  return unmatched
}
