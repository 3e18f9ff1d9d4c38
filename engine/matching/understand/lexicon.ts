// Words that mean one thing: synonyms, abbreviations and venues' own names for leagues, offices, assets and
// measures, one identity each. General English and public names only.

import { LOCATIONS } from './locations.ts'
import { type PhraseRows, tableIn, wordSet } from './phrases.ts'

const table = tableIn<{
  /** Identity → folded phrases, of which the longest that fits is replaced. */
  readonly phrases: PhraseRows
  /** Identities that are names. */
  readonly proper: string
  readonly stop: string
  /** Words that questions add or leave out without asking another thing. */
  readonly soft: string
}>(new URL('./lexicon.json', import.meta.url))

const phrases = new Map<string, string>()
for (const [identity, row] of Object.entries(table.phrases)) {
  for (const phrase of row.split('|')) phrases.set(phrase, identity)
}
for (const [name, identity] of LOCATIONS) if (!phrases.has(name)) phrases.set(name, identity)
const identities = new Set(phrases.values())
const proper = wordSet(table.proper)
/** Words without which a question asks the same. */
export const STOP_WORDS: ReadonlySet<string> = wordSet(table.stop)
// Stems have no "e" at the end.
const softWords = new Set(table.soft.split(' ').flatMap((word) => [word, word.replace(/e$/, '')]))
/** First word of a phrase → most words of a phrase that begins so. */
const lengths = new Map<string, number>()
for (const phrase of phrases.keys()) {
  const words = phrase.split(' ')
  const [first = ''] = words
  lengths.set(first, Math.max(lengths.get(first) ?? 0, words.length))
}

/** The identity of a folded phrase; null: the lexicon lacks it. */
export function meaningOf(phrase: string): string | null {
  return phrases.get(phrase) ?? null
}

/** The most words of a phrase that begins with this word; 0: no phrase does. */
export function phraseLength(first: string): number {
  return lengths.get(first) ?? 0
}

/** Whether a word counts little when the other question lacks it. */
export function isSoftWord(word: string): boolean {
  return softWords.has(word)
}

/** Whether a word stands for one or more phrases. */
export function isIdentity(word: string): boolean {
  return identities.has(word)
}

/** Whether an identity is of one thing with a name, such as an asset, a league, a party. */
export function isProper(identity: string): boolean {
  return proper.has(identity)
}
