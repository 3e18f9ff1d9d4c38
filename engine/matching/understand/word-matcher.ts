const PREFIX_CHARACTERS = 5
const EXTRA_CHARACTERS_MAX = 6

/** Suffixes of words with the same root, as in "congress" and "congressional". */
const DERIVED =
  /^(?:e?d|ing|ment|i?c?ation|ion|ional|al|able|ible|ity|ive|ors?|ers?|ship|ian|ese|ish|ly)$/

/** Finds words, also by a prefix: "starost" finds "starostove". */
export class WordMatcher {
  readonly #words: ReadonlySet<string>
  /** Words that may be found by a prefix, by their first characters. Built at the first lookup by a prefix. */
  #byPrefix: ReadonlyMap<string, readonly string[]> | null = null

  constructor(...lists: readonly (readonly string[])[]) {
    this.#words = new Set(lists.flat())
  }

  has(word: string): boolean {
    if (this.#words.has(word) || this.#words.has(ordinalOf(word))) return true
    if (!hasPrefix(word)) return false
    this.#byPrefix ??= byPrefix(this.#words)
    return this.#byPrefix.get(prefixOf(word))?.some((other) => isSameRoot(word, other)) === true
  }
}

const hasPrefix = (word: string): boolean => word.length >= PREFIX_CHARACTERS && !word.includes(':')

const prefixOf = (word: string): string => word.slice(0, PREFIX_CHARACTERS)

function byPrefix(words: Iterable<string>): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const word of words) {
    if (!hasPrefix(word)) continue
    const prefix = prefixOf(word)
    const others = found.get(prefix)
    if (others === undefined) found.set(prefix, [word])
    else others.push(word)
  }
  return found
}

/** Both words have the same prefix. */
function isSameRoot(word: string, other: string): boolean {
  const [short, long] = word.length <= other.length ? [word, other] : [other, word]
  if (long.length - short.length > EXTRA_CHARACTERS_MAX) return false
  if (!long.startsWith(short.slice(0, Math.max(PREFIX_CHARACTERS, short.length - 2)))) return false
  return short.length / long.length > 0.6 || DERIVED.test(long.slice(short.length))
}

/** The ordinal of a number or the number of an ordinal: "14" and "14th". */
function ordinalOf(word: string): string {
  if (!/^\d/.test(word)) return word
  return /^\d+$/.test(word) ? `${word}th` : word.replace(/^(\d+)th$/, '$1')
}
