// Which words a text has, for markets and for questions about them alike: runs of letters and digits,
// without accents and in lower case, so that "Bogotá" is found as "bogota" and "$100K" as "100k".

/** Characters of a question that are read; no regular expression here runs over more. */
const CHARACTERS_MAX = 200
/** Below 256: the index counts a text's found words in a byte. */
const WORDS_MAX = 16
/** From this length on the beginning of a word stands for it; "a" means "a" and not half the index. */
export const PREFIX_CHARACTERS_MIN = 2

const ASCII = /^[\x20-\x7e]*$/
const BETWEEN_WORDS = /[^\p{Letter}\p{Number}]+/u
const BETWEEN_ASCII_WORDS = /[^a-z0-9]+/
/** A comma within a number: one to three digits before it and groups of three behind it. */
const DIGIT_GROUPS = /(?<!\d|\d,)\d{1,3}(?:,\d{3})+(?![\d,]*\d)/g

/** The words of a text in its order, repeated ones too; `104,000` is `104000`. */
export function wordsOf(given: string): string[] {
  const text = given.includes(',')
    ? given.replace(DIGIT_GROUPS, (number) => number.replaceAll(',', ''))
    : given
  const words = ASCII.test(text)
    ? text.toLowerCase().split(BETWEEN_ASCII_WORDS)
    : text
        .normalize('NFKD')
        .replace(/\p{Mark}/gu, '')
        .toLowerCase()
        .split(BETWEEN_WORDS)
  return words.filter((word) => word !== '')
}

/**
 * What a question asks for: at most 16 distinct words out of its first 200 characters. A word that
 * another one begins with asks for nothing more and is left out. So no word of the index answers two
 * words of a question, and no question looks at any entry of the index twice.
 */
export function queryWords(text: string): string[] {
  const distinct = [...new Set(wordsOf(text.slice(0, CHARACTERS_MAX)))]
  const selected = distinct.filter(
    (word) =>
      word.length < PREFIX_CHARACTERS_MIN ||
      !distinct.some((other) => other !== word && other.startsWith(word)),
  )
  return selected.slice(0, WORDS_MAX)
}
