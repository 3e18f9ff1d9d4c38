// Ordinals and classes in a text that decide alone: season 24, group A, top 10, second place, CO-02, a
// country, a party, an office. Two texts that both have a mark of one class and share none ask different
// things.

import { firstMatch, type PhraseRows, phraseTable, tableIn, wordSet } from './phrases.ts'

/** Class → values; a class without values is absent. */
export type Marks = ReadonlyMap<string, ReadonlySet<string>>

const TABLES = tableIn<{
  readonly ordinals: Readonly<Record<string, string>>
  /** Class → meanings (lexicon.ts) that exclude each other. */
  readonly classes: Readonly<Record<string, string>>
  /** Class → the words under which users read it; the others bear their own name. */
  readonly told: Readonly<Record<string, string>>
  readonly spans: PhraseRows
  /** Class → its pattern; {nth} is an ordinal. */
  readonly patterns: Readonly<Record<string, string>>
  /** Classes that tell one part or measure of an occasion from another. */
  readonly stages: string
  /** Classes that tell a part from the whole. */
  readonly parts: string
  /** Classes that one side may leave out. */
  readonly plain: string
}>(new URL('./marks.json', import.meta.url))
const NTH = 'first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\\d+(?:st|nd|rd|th)'
/** A text without any of these has none of the marks below. */
const ORDINAL =
  /\d|#|\bor (?:better|higher)\b|\bopen|\b(?:core|supporting|revival|acting|interim|deputy|outright|opening|how)\b|(?:first|most|best|worst|least|est)\b|\b(?:second|third|top|group|place|runner|cut|field)\b|other|else|none of| vs|next|back|endors|recommend|final|playoff|knockout/
/** Class → pattern over the folded text, its first group that is set being the value. */
const PATTERNS = Object.entries(TABLES.patterns).map(([name, pattern]) => {
  return [name, new RegExp(pattern.replaceAll('{nth}', NTH), 'g')] as const
})

/** Both venues are of the US: what is of it is domestic, and a question that names no place may be of it. */
export const HOME = 'country:usa'

const classOfWord = new Map<string, string>()
for (const [name, words] of Object.entries(TABLES.classes)) {
  for (const word of words.split(' ')) classOfWord.set(word, name)
}

/** Marks of a folded text and its meanings; `around` is what else is said, for the span of a figure. */
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

/** Over what a figure is measured. The index of prices is told by the month, inflation by the year, unless a text says more. */
function spanOf(text: string): string | null {
  const statedSpan = firstMatch(SPANS, text)
  if (statedSpan !== null) return statedSpan
  if (/\binflation\b/.test(text)) return 'year'
  return /\bcpi\b/.test(text) ? 'month' : null
}

/** A win is no place among the first ten; the first place is a win. */
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

/** Each with the other, and which of the two the other is. */
export const bothWays = <One>(a: One, b: One) =>
  [[a, b, 'second'] as const, [b, a, 'first'] as const] as const

/** Whether who wins is asked. */
export const isWinQuestion = (marks: Marks): boolean => marks.get('placing')?.has('win') === true

const STAGES = wordSet(TABLES.stages)
const PARTS = wordSet(TABLES.parts)
const PLAIN = wordSet(TABLES.plain)

/** A class of which only one of two texts has marks. */
export interface UnmatchedMark {
  /** As users read it. */
  readonly name: string
  readonly share: 'part' | 'stage' | 'other'
  readonly values: readonly string[]
  /** Which of the two has none. */
  readonly lacks: 'first' | 'second'
}

/** Classes that only one of the two has. */
export function unmatchedMarks(a: Marks, b: Marks): readonly UnmatchedMark[] {
  const unmatched: UnmatchedMark[] = []
  for (const [own, other, lacks] of bothWays(a, b)) {
    for (const [name, values] of own) {
      // A win is what most questions ask, said or not.
      const isPlain =
        (name === 'placing' && values.has('win')) || PLAIN.has(name) || values.has('men')
      if (other.has(name) || isPlain) continue
      const share = PARTS.has(name) ? 'part' : STAGES.has(name) ? 'stage' : 'other'
      unmatched.push({ name: TABLES.told[name] ?? name, share, lacks, values: [...values] })
    }
  }
  return unmatched
}
