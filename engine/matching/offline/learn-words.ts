// Learns words from texts of both venues without labels. The weight of a word depends on the number of question
// families that contain it. A word that appears in lower case within sentences is ordinary, not a name. Capitals in
// headings are ignored.

import { withoutDates } from '../understand/dates.ts'
import { isIdentity, isProper } from '../understand/lexicon.ts'
import { marksOf } from '../understand/marks.ts'
import { fold, type LearnedTable, meanings, stem } from '../understand/text-normalization.ts'

/** The texts of one series or event. They count once, however many there are. */
export interface TextFamily {
  /** Headings and questions. */
  readonly titles: readonly string[]
  /** Rule texts, used only for the capitalization of words. */
  readonly prose: readonly string[]
}

export interface LearnedWords {
  readonly familyCount: number
  /** Number of families that contain a meaning. Omits meanings in fewer than LEAST_FAMILIES. */
  readonly counts: ReadonlyMap<string, number>
  /** Stems of words that are not names. */
  readonly ordinary: readonly string[]
  /** Pairs such as "actor actress": words in the same position of otherwise equal titles. Without names. */
  readonly rivals: readonly string[]
}

const LEAST_FAMILIES = 3
const TEXTS_READ_MAX = 20
const PROSE_CHARACTERS = 1_500
const FAMILY_CHARACTERS = 24
/** Minimum share of occurrences in lower case within sentences for an ordinary word. */
const ORDINARY_SHARE = 0.3
const WORD = /(?<![\p{L}\p{N}'’.])\p{L}[\p{L}\p{N}]+/gu

/** Learns from families of texts. `leftOut` are words without information, such as a venue's name. */
export function learnWords(
  families: Iterable<TextFamily>,
  leftOut: ReadonlySet<string> = new Set(),
): LearnedWords {
  const counts = new Map<string, number>()
  const spelled = new Map<string, { lower: number; upper: number }>()
  const slots = new Map<string, Set<string>>()
  let familyCount = 0
  for (const { titles, prose } of families) {
    familyCount += 1
    const read = titles.slice(0, TEXTS_READ_MAX)
    const words = new Set(read.flatMap((title) => meanings(withoutDates(fold(title)))))
    for (const word of leftOut) words.delete(word)
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
    for (const title of titles) addSlots(title, slots)
    const seen = new Set<string>()
    for (const text of [...read, ...prose.slice(0, 2)]) addSpellings(text, seen)
    for (const mark of seen) {
      const [word = '', isLower] = [mark.slice(1), mark.startsWith('-')]
      const spelling = spelled.get(word) ?? { lower: 0, upper: 0 }
      spelled.set(word, spelling)
      if (isLower) spelling.lower += 1
      else spelling.upper += 1
    }
  }
  const ordinary = [...spelled]
    .filter(([, { lower, upper }]) => lower / (lower + upper) >= ORDINARY_SHARE)
    .map(([word]) => word)
    .filter((word) => !leftOut.has(word))
  const frequent = [...counts].filter(
    ([word, count]) => word.length > 1 && count >= LEAST_FAMILIES && !/^\d|\d{3}/.test(word),
  )
  return {
    ...{ familyCount, counts: new Map(frequent.sort(byName)), ordinary: ordinary.sort() },
    rivals: rivalsOf(slots, new Set(ordinary)),
  }
}

/**
 * Minimum and maximum words of titles that are compared with one word removed. Shorter titles give too little context,
 * and longer ones are whole sentences.
 */
const SLOT_TITLE_WORDS = [3, 12] as const
/** A position with more different words than this contains names. */
const FILLERS_MAX = 40

/** Indexes each word of a title by the other words of the title. */
function addSlots(title: string, slots: Map<string, Set<string>>): void {
  const words = meanings(withoutDates(fold(title)).replace(/\d+/g, ' '))
  if (words.length < SLOT_TITLE_WORDS[0] || words.length > SLOT_TITLE_WORDS[1]) return
  const add = (around: string, word: string): void => {
    slots.set(around, (slots.get(around) ?? new Set()).add(word))
  }
  for (const [at, word] of words.entries()) {
    add(words.with(at, '_').join(' '), word)
    // Also records the title without the word, because a title may lack it.
    add(words.toSpliced(at, 1).join(' '), word)
  }
  add(words.join(' '), '')
}

const isPlacing = (word: string): boolean => marksOf(word, [word]).has('placing')

function rivalsOf(
  slots: ReadonlyMap<string, ReadonlySet<string>>,
  ordinary: ReadonlySet<string>,
): readonly string[] {
  const isRecognized = (word: string): boolean => ordinary.has(word) || isIdentity(word)
  const isPlain = (word: string): boolean =>
    word.length > 2 &&
    !word.includes(':') &&
    !isProper(word) &&
    isRecognized(word) &&
    !isPlacing(word)
  const pairs = new Set<string>()
  for (const [around, fillers] of slots) {
    if (fillers.size < 2 || fillers.size > FILLERS_MAX) continue
    const words = [...fillers].filter(isPlain).sort()
    if (!around.includes('_')) {
      if (fillers.has('')) for (const word of words) pairs.add(` ${word}`)
      continue
    }
    for (const [at, word] of words.entries()) {
      for (const other of words.slice(at + 1)) pairs.add(`${word} ${other}`)
    }
  }
  return [...pairs].sort()
}

/** The family of a question at a venue without series: its text without dates and numbers. */
export function familyOf(question: string): string {
  return withoutDates(fold(question)).replace(/\d+/g, '').slice(0, FAMILY_CHARACTERS)
}

/** For each word within a sentence that is not a heading, adds "-word" for lower case or "+word" for a capital. */
function addSpellings(text: string, seen: Set<string>): void {
  for (const sentence of text.slice(0, PROSE_CHARACTERS).split(/[.?!:;"“”]\s*|\n/)) {
    const words = (sentence.match(WORD) ?? []).slice(1)
    const longWords = words.filter((word) => word.length > 4)
    const lower = longWords.filter((word) => word === word.toLowerCase()).length
    if (lower < 2 || lower * 2 < longWords.length) continue
    for (const word of words) {
      const isLower = word === word.toLowerCase()
      seen.add(`${isLower ? '-' : '+'}${stem(fold(word))}`)
    }
  }
}

function byName([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1
}

/** The learned words in the format that the service reads: weight levels, ordinary words and rivals. */
export function tableOf({ familyCount, counts, ordinary, rivals }: LearnedWords): LearnedTable {
  const weights: Record<string, string> = {}
  for (const [word, count] of counts) {
    const level = Math.round(LEVELS * (1 - Math.log(count) / Math.log(familyCount)))
    weights[level] = weights[level] === undefined ? word : `${weights[level]} ${word}`
  }
  const source = `npm run train:matching -- --words, from ${familyCount} families of questions`
  return { source, steps: LEVELS, weights, ordinary: ordinary.join(' '), rivals: rivals.join(',') }
}

const LEVELS = 20
