// Marks: ordinals and classes in a text that decide alone, such as season 24, group A, top 10, CO-02, a country, a
// party or an office. Two texts with marks of one class and none in common ask different things.

import { firstMatch, type PhraseRows, phraseTable, tableIn, wordSet } from './phrases.ts'

/** Class → values; a class without values is absent. */
export type Marks = ReadonlyMap<string, ReadonlySet<string>>

const TABLES = tableIn<{
  readonly ordinals: Readonly<Record<string, string>>
  /** Class → mutually exclusive meanings (lexicon.ts). */
  readonly classes: Readonly<Record<string, string>>
  /** Class → display name; other classes are displayed under their own name. */
  readonly told: Readonly<Record<string, string>>
  readonly spans: PhraseRows
  /** Class → its pattern. {nth} matches an ordinal. */
  readonly patterns: Readonly<Record<string, string>>
  /** Classes that distinguish parts or measures of an occasion. */
  readonly stages: string
  /** Classes that distinguish a part from the whole. */
  readonly parts: string
  /** Classes that one side may omit. */
  readonly plain: string
}>(new URL('./marks.json', import.meta.url))
const NTH = 'first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\\d+(?:st|nd|rd|th)'
/** A text without any of these has no marks from the patterns below. */
const ORDINAL =
  /\d|#|\bor (?:better|higher)\b|\bopen|\b(?:core|supporting|revival|acting|interim|deputy|outright|opening|how)\b|(?:first|most|best|worst|least|est)\b|\b(?:second|third|top|group|place|runner|cut|field)\b|other|else|none of| vs|next|back|endors|recommend|final|playoff|knockout/
/** Class → pattern over the folded text. The first group that is set is the value. */
const PATTERNS = Object.entries(TABLES.patterns).map(([name, pattern]) => {
  return [name, new RegExp(pattern.replaceAll('{nth}', NTH), 'g')] as const
})

/** Both venues are in the US: a question that names no place may be about it. */
export const HOME = 'country:usa'

const classOfWord = new Map<string, string>()
for (const [name, words] of Object.entries(TABLES.classes)) {
  for (const word of words.split(' ')) classOfWord.set(word, name)
}

/** Marks of a folded text and its meanings. `around` is the remaining text, used for the time span of a figure. */
export function marksOf(folded: string, meanings: readonly string[], around = ''): Marks {
  const marks = new Map<string, Set<string>>()
  const add = (name: string, value: string): void => {
    marks.set(name, (marks.get(name) ?? new Set()).add(value))
  }
  if (ORDINAL.test(folded)) {
    for (const [name, pattern] of PATTERNS) {
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

/** Time span over which a figure is measured. Unless the text states it, CPI is monthly and inflation yearly. */
function spanOf(text: string): string | null {
  const statedSpan = firstMatch(SPANS, text)
  if (statedSpan !== null) return statedSpan
  if (/\binflation\b/.test(text)) return 'year'
  return /\bcpi\b/.test(text) ? 'month' : null
}

/** A win is not one of the top ten places; first place is a win. */
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

/** Classes in which both have marks and share none. */
export function conflictsOf(a: Marks, b: Marks): readonly string[] {
  const found: string[] = []
  for (const [name, values] of a) {
    const others = b.get(name)
    if (others !== undefined && ![...values].some((value) => others.has(value))) found.push(name)
  }
  return found
}

/** Each of the two with the other, and the position of the other. */
export const bothWays = <One>(a: One, b: One) =>
  [[a, b, 'second'] as const, [b, a, 'first'] as const] as const

/** Reports whether the question asks who wins. */
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
  /** The text that has none. */
  readonly lacks: 'first' | 'second'
}

/** Classes that only one of the two texts has. */
export function unmatchedMarks(a: Marks, b: Marks): readonly UnmatchedMark[] {
  const unmatched: UnmatchedMark[] = []
  for (const [own, other, lacks] of bothWays(a, b)) {
    for (const [name, values] of own) {
      // Most questions ask for a win, stated or not.
      const isPlain =
        (name === 'placing' && values.has('win')) || PLAIN.has(name) || values.has('men')
      if (other.has(name) || isPlain) continue
      const share = PARTS.has(name) ? 'part' : STAGES.has(name) ? 'stage' : 'other'
      unmatched.push({ name: TABLES.told[name] ?? name, share, lacks, values: [...values] })
    }
  }
  return unmatched
}
