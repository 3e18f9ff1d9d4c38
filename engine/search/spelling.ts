// Corrects misspelt words of a query by words of an index.

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
/** Shorter words have too many neighbours. Longer ones are no words, and their variants are slow to build. */
const CHARACTERS_MIN = 5
const CHARACTERS_MAX = 32
const LETTERS_ONLY = /^\p{Letter}+$/u

/** Maximum number of words of a query that are corrected. */
export const CORRECTED_WORDS_MAX = 4

/** A word with more matches than this is never corrected. */
const MATCHES_MAX = 16
/** A correction occurs at least this many times as often as the misspelt word. */
const FREQUENCY_RATIO = 16

/**
 * Returns the indexed words within Damerau-Levenshtein distance 1 of `word`, with their entries. Empty unless `word` has
 * 5 to 32 letters, no digits and at most 16 matches. Replaced and missing letters are found if they are a to z.
 */
export function correctionsOf(
  word: string,
  matchCount: number,
  entriesOf: (word: string) => readonly number[] | undefined,
): ReadonlyMap<string, readonly number[]> {
  const corrections = new Map<string, readonly number[]>()
  const { length } = word
  if (length < CHARACTERS_MIN || length > CHARACTERS_MAX) return corrections
  if (matchCount > MATCHES_MAX || !LETTERS_ONLY.test(word)) return corrections
  const countMin = Math.max(1, FREQUENCY_RATIO * matchCount)
  for (const variant of variantsOf(word)) {
    const entries = entriesOf(variant)
    if (entries !== undefined && entries.length >= countMin) corrections.set(variant, entries)
  }
  corrections.delete(word)
  return corrections
}

/** Some 55 variants for each letter of the word. */
function* variantsOf(word: string): Generator<string> {
  for (let position = 0; position <= word.length; position += 1) {
    const before = word.slice(0, position)
    const after = word.slice(position + 1)
    for (const letter of LETTERS) {
      yield before + letter + word.slice(position)
      yield before + letter + after
    }
    yield before + after
    yield before + after.slice(0, 1) + word.slice(position, position + 1) + after.slice(1)
  }
}
