// Maps synonyms, abbreviations and venues' names for leagues, offices, assets and measures to one identity each.
// Contains only general English and public names.

import { LOCATIONS } from './locations.ts'
import { type PhraseRows, tableIn, wordSet } from './phrases.ts'

const table = tableIn<{
  /** Phrases by identity. The longest matching phrase is replaced. */
  readonly phrases: PhraseRows
  /** Identities that are names. */
  readonly proper: string
  readonly stop: string
  /** Words that a question may omit without a change of meaning. */
  readonly soft: string
}>(new URL('./lexicon.json', import.meta.url))

const phrases = new Map<string, string>()
for (const [identity, row] of Object.entries(table.phrases)) {
  for (const phrase of row.split('|')) phrases.set(phrase, identity)
}
for (const [name, identity] of LOCATIONS) if (!phrases.has(name)) phrases.set(name, identity)
const identities = new Set(phrases.values())
const proper = wordSet(table.proper)
/** Words that do not change the meaning of a question. */
export const STOP_WORDS: ReadonlySet<string> = wordSet(table.stop)
// Stems have no final "e".
const softWords = new Set(table.soft.split(' ').flatMap((word) => [word, word.replace(/e$/, '')]))
/** By the first word of a phrase: the maximum number of words of such phrases. */
const lengths = new Map<string, number>()
for (const phrase of phrases.keys()) {
  const words = phrase.split(' ')
  const [first = ''] = words
  lengths.set(first, Math.max(lengths.get(first) ?? 0, words.length))
}

/** The identity of a folded phrase. Null if it is not in the lexicon. */
export function meaningOf(phrase: string): string | null {
  return phrases.get(phrase) ?? null
}

/** Maximum number of words of the phrases that begin with this word. 0 if there are none. */
export function phraseLength(first: string): number {
  return lengths.get(first) ?? 0
}

/** Whether a word has little weight if the other question lacks it. */
export function isSoftWord(word: string): boolean {
  return softWords.has(word)
}

/** Whether a word is the identity of at least one phrase: the name that stands for all phrases of one meaning. */
export function isIdentity(word: string): boolean {
  return identities.has(word)
}

/** Whether an identity is a name, such as an asset, a league or a party. */
export function isProper(identity: string): boolean {
  return proper.has(identity)
}
