// Converts texts to words: folds them, replaces phrases by their meaning, stems words and drops stop words. Accepts
// texts of any length and script. Characters beyond a maximum are ignored.

import { isProper, meaningOf, phraseLength, STOP_WORDS } from './lexicon.ts'
import { spellDistricts } from './locations.ts'
import { tableIn, wordSet } from './phrases.ts'
import { SCALE } from './quantity.ts'

export const TITLE_CHARACTERS_MAX = 400

/** Matches markup tags, but not "<43.5%". */
const MARKUP = /<[/!a-z][^<>]{0,200}>/gi
const SPACES = /\s\s|[^\S ]/
/** Matches the decimals of "3.0", which equals 3. */
const ROUND = /(?<=\d)\.0+(?!\d)/g
/** Matches "2025-26", the season that ends in 2026. */
const SEASON = /\b20(\d\d)[-/](\d\d)\b(?![-/\d])/g
/** Matches "Fourth-quarter 2026", which is Q4. A quarter without a year may be that of a game. */
const QUARTER =
  /\b(?:(first|1st)|(second|2nd)|(third|3rd)|fourth|4th)[ -]quarter(?: of)?(?= 20\d\d\b)/g
/** Matches "2025 August", which is August 2025. */
const YEAR_FIRST =
  /\b(20\d\d) (january|february|march|april|june|july|august|september|october|november|december)\b(?! \d)/g
const NAMED_THE = /(?<=\p{Ll} )THE(?= \p{Lu}\p{Ll})/gu
const PLAIN = /^[\x20-\x7e]*$/

/** Cached because several parsers fold the few texts of a market one after another. */
const RECENT_TEXTS = 4
const recent: { readonly text: string; readonly folded: string }[] = []
let next = 0

/** The beginning of a text in lower case, without accents, with plain quotes and dashes and single spaces. */
export function fold(text: string): string {
  if (text === '') return ''
  const cached = recent.find((one) => one.text === text)
  if (cached !== undefined) return cached.folded
  const start = text.slice(0, 2 * TITLE_CHARACTERS_MAX)
  const cut = beginningOf(start.includes('<') ? start.replace(MARKUP, ' ') : start)
  const lower = (PLAIN.test(cut) ? cut.toLowerCase() : foldMarks(cut))
    .replace(ROUND, '')
    .replace(
      QUARTER,
      (_, ...groups) => `q${[1, 2, 3].find((at) => groups[at - 1] !== undefined) ?? 4}`,
    )
    .replace(YEAR_FIRST, '$2 $1')
    .replace(SEASON, (matched, from, to) => (Number(to) === Number(from) + 1 ? `20${to}` : matched))
  const folded = (SPACES.test(lower) ? lower.replace(/\s+/g, ' ') : lower).trim()
  recent[next] = { text, folded }
  next = (next + 1) % RECENT_TEXTS
  return folded
}

/**
 * The beginning of a text. "THE" between words that are not all capitals is a name. It is respelled, so that it is not
 * dropped as an article.
 */
export function beginningOf(text: string): string {
  return text.slice(0, TITLE_CHARACTERS_MAX).replace(NAMED_THE, 'THEx')
}

function foldMarks(text: string): string {
  return text
    .replace(/[’‘`´ʻ]/g, "'")
    .replace(/[“”„«»]/g, '"')
    .replace(/[–—−‑]/g, '-')
    .replace(/…/g, '...')
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/ø/g, 'o')
    .replace(/ł/g, 'l')
    .replace(/đ/g, 'd')
    .replace(/ı/g, 'i')
    .replace(/ß/g, 'ss')
    .replace(/[æœ]/g, 'e')
}

const WORD = /[\p{L}\p{N}][\p{L}\p{N}&]*/gu
const PLAIN_WORD = /[a-z0-9][a-z0-9&]*/g

/** Matches a number with separators or a scale: "3,000,000", "500m", "500 million". */
const SCALED =
  /(?<![\d.,])(\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?(?=\s?(?:[kmbt]|mm|bn|[mbt]r?illion|thousand)\b))(?:\s?(k|m|b|t|mm|bn|[mbt]r?illion|thousand)\b)?/g

/** The words of a folded text as letters and digits: "J.J." becomes jj, "Trump's" becomes trump. */
export function rawWords(folded: string): string[] {
  let joined = folded
  if (joined.includes('.')) joined = joined.replace(/\b(\p{L})\.(?=\p{L}\b)/gu, '$1')
  // "25bps" becomes "25 bps". Other letters remain with the digits ("15m", "4k").
  joined = joined.replace(SCALED, (_, digits: string, scale: string | undefined) => {
    return String(Number(digits.replaceAll(',', '')) * (SCALE[scale ?? ''] ?? 1))
  })
  if (joined.includes('bp')) joined = joined.replace(/(?<=\d)(?=bps?\b)/g, ' ')
  if (joined.includes('%')) joined = joined.replace(/(?<![\d.])\s?%/g, ' percent ')
  if (joined.includes('#1')) joined = joined.replace(/#1(?!\d)/g, ' top ')
  if (joined.includes('('))
    joined = joined.replace(/\((w|m)\)/g, (_, sex) => (sex === 'w' ? 'women' : 'men'))
  if (joined.includes("'")) joined = joined.replace(/'s\b|'/g, '')
  return joined.match(PLAIN.test(joined) ? PLAIN_WORD : WORD) ?? []
}

/** The meanings of the informative words of a folded text, in order, with repetitions. */
export function meanings(folded: string): string[] {
  return spellingsOf(folded).flatMap(({ meaning }) => (meaning === '' ? [] : [meaning]))
}

/** The meaning is '' for a stop word and for the further words of a phrase. */
export interface Spelling {
  readonly word: string
  readonly meaning: string
}

export function spellingsOf(folded: string): readonly Spelling[] {
  const words = rawWords(spellDistricts(folded))
  const found: Spelling[] = []
  for (let at = 0; at < words.length; ) {
    const taken = phraseAt(words, at, found)
    const word = words[at] ?? ''
    if (taken === 0) found.push(spellingOf(word))
    at += Math.max(1, taken)
  }
  return found
}

/** Cached parse results share these objects, because there are few distinct words. */
const SPELLINGS_MAX = 32_768
const spellings = new Map<string, Spelling>()

function spellingOf(word: string): Spelling {
  const cached = spellings.get(word)
  if (cached !== undefined) return cached
  const stemmed = stem(word)
  // The stem of "Boeing" must not become "BoE".
  const meaning = stemmed !== word && isProper(stemmed) ? word : stemmed
  const spelling = { word, meaning: STOP_WORDS.has(word) ? '' : meaning }
  if (spellings.size >= SPELLINGS_MAX) spellings.clear()
  spellings.set(word, spelling)
  return spelling
}

/** Adds the longest phrase that begins at this word, under its first word. Returns its number of words. */
function phraseAt(words: readonly string[], at: number, found: Spelling[]): number {
  const most = Math.min(phraseLength(words[at] ?? ''), words.length - at)
  for (let length = most; length > 0; length -= 1) {
    const phrase = length === 1 ? (words[at] ?? '') : words.slice(at, at + length).join(' ')
    const meaning = meaningOf(phrase)
    if (meaning === null) continue
    for (let next = 0; next < length; next += 1) {
      found.push({ word: words[at + next] ?? '', meaning: next === 0 ? meaning : '' })
    }
    return length
  }
  return 0
}

/** A simple stemmer suffices, because the words of both venues are stemmed alike. */
export function stem(word: string): string {
  const bare = bareOf(word)
  return bare.length > 4 && bare.endsWith('e') ? bare.slice(0, -1) : bare
}

function bareOf(word: string): string {
  if (word.length < 4 || /\d/.test(word)) return word
  if (/ie[sd]$/.test(word) && word.length > 4) return `${word.slice(0, -3)}y`
  if (word.endsWith('ing') && word.length > 5) return undoubled(word.slice(0, -3))
  if (word.endsWith('ed') && word.length > 4) return undoubled(word.slice(0, -2))
  if (/(?:x|z|ch|sh|ss)es$/.test(word)) return word.slice(0, -2)
  if (word.endsWith('s') && !/(?:ss|us|is)$/.test(word)) return word.slice(0, -1)
  return word
}

/** "bann" of "banned" becomes "ban". "call" remains. */
function undoubled(bare: string): string {
  return /([bdgmnprt])\1$/.test(bare) ? bare.slice(0, -1) : bare
}

/** The learned data about words (offline/learn-words.ts). */
export interface LearnedTable {
  readonly source: string
  /** Words by weight level, of which there are `steps`. Other words have the maximum weight. */
  readonly steps: number
  readonly weights: Readonly<Record<string, string>>
  /** Stems of words that are not names. */
  readonly ordinary: string
  /**
   * Pairs of mutually exclusive words, see `areRivals`. Words are separated by a space and pairs by a comma: "actor
   * actress,…".
   */
  readonly rivals: string
}

const learned = tableIn<LearnedTable>(new URL('./learned-words.json', import.meta.url))
const weights = new Map<string, number>()
for (const [level, words] of Object.entries(learned.weights)) {
  for (const word of words.split(' ')) weights.set(word, Number(level) / learned.steps)
}
const ordinary = wordSet(learned.ordinary)
const rivals = new Set(learned.rivals.split(','))
/** Informativeness of a meaning, from near 0 (in most question families) to 1 (in few). */
export function weightOf(meaning: string): number {
  return weights.get(meaning) ?? 1
}

/** Whether a stem is not a name, because it appears in lower case within sentences. */
export function isOrdinary(stemmed: string): boolean {
  return ordinary.has(stemmed)
}

/**
 * Whether two meanings occur in the same position of otherwise equal titles, such as "actor" and "actress". One of them
 * may be missing ('').
 */
export function areRivals(one: string, other: string): boolean {
  return rivals.has(one < other ? `${one} ${other}` : `${other} ${one}`)
}
