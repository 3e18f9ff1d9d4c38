// Sets of mutually exclusive words, such as the stages of a deal, and words that narrow a question, such as a
// "worldwide" gross.

import { bothWays, type Marks, type UnmatchedMark } from './marks.ts'
import { type PhraseRows, tableIn } from './phrases.ts'
import { fold, rawWords, stem } from './text-normalization.ts'

const { sets, restricts, adjectives } = tableIn<{
  readonly sets: Readonly<Record<string, PhraseRows>>
  /** By set, its values that narrow the question. */
  readonly restricts: Readonly<Record<string, string>>
  /** Adjectives that narrow the following word. */
  readonly adjectives: string
}>(new URL('./contrasts.json', import.meta.url))

export const NARROWING: ReadonlySet<string> = new Set(adjectives.split(' ').map(stem))

/** Stems of a phrase. `#` replaces a year. */
const stemsOf = (text: string): readonly string[] =>
  rawWords(fold(text)).map((word) => (/^\d{4}$/.test(word) ? '#' : stem(word)))

type Phrase = readonly [set: string, value: string, rest: readonly string[]]
const phrases = new Map<string, Phrase[]>()
for (const [set, rows] of Object.entries(sets)) {
  for (const [value, row] of Object.entries(rows)) {
    for (const phrase of row.split('|')) {
      const [first = '', ...rest] = stemsOf(phrase.replace('#', '2000'))
      phrases.set(first, [...(phrases.get(first) ?? []), [set, value, rest]])
    }
  }
}
for (const of of phrases.values()) of.sort(([, , one], [, , other]) => other.length - one.length)

/** Phrases that contain another phrase of their set but have no value, such as "announced as". */
const NO_VALUE = '-'

/** By set, the values that a text states. Of overlapping phrases the first applies, and of those the longest. */
export function contrastsIn(text: string): Marks {
  const [found, ends] = [new Map<string, Set<string>>(), new Map<string, number>()]
  const words = stemsOf(text)
  for (const [at, word] of words.entries()) {
    for (const [set, value, rest] of phrases.get(word) ?? []) {
      const isPresent = rest.every((each, next) => words[at + next + 1] === each)
      if (!isPresent || at < (ends.get(set) ?? 0)) continue
      ends.set(set, at + rest.length + 1)
      if (value === NO_VALUE) continue
      found.set(set, (found.get(set) ?? new Set()).add(value))
    }
  }
  return found
}

/** `stated`: values in title and answer. `all`: also those in the surrounding texts. */
export type Contrasts = Readonly<Record<'stated' | 'all', Marks>>

/** Values that only one side states and that narrow its question. */
export function unmatchedContrasts(a: Contrasts, b: Contrasts): readonly UnmatchedMark[] {
  return bothWays(a, b).flatMap(([own, other, lacks]) => {
    return [...own.stated].flatMap(([name, statedValues]) => {
      const [values, narrow] = [[...statedValues], restricts[name]?.split('|') ?? []]
      const isLone = values.every((value) => narrow.includes(value)) && !other.all.has(name)
      return isLone ? [{ name, share: 'part' as const, values, lacks }] : []
    })
  })
}
