// Splits texts and queries into words: runs of letters and digits, without accents, in lower case. "Bogotá" is found as
// "bogota" and "$100K" as "100000".

const CHARACTERS_MAX = 200
/** Must be below 256, because the index counts the matched words of a text in one byte. */
const WORDS_MAX = 16
/** Minimum length for prefix matches. A word of one letter would match half of the index. */
export const PREFIX_CHARACTERS_MIN = 2

const ASCII = /^[\x20-\x7e]*$/
const BETWEEN_WORDS = /[^\p{Letter}\p{Number}]+/u
const BETWEEN_ASCII_WORDS = /[^a-z0-9]+/
/** Matches numbers with comma separators: one to three digits, then groups of three. */
const DIGIT_GROUPS = /(?<!\d|\d,)\d{1,3}(?:,\d{3})+(?![\d,]*\d)/g
const HAS_MULTIPLE = /\d(?:[kmt]|bn?)/i
/** Matches numbers such as `104k`, `1.5M` and `2bn`. */
const MULTIPLE =
  /(?<![\p{Letter}\p{Number}.,])(\d{1,9})(?:\.(\d{1,9}))?([kmt]|bn?)(?![\p{Letter}\p{Number}])/giu
const ZEROS: Readonly<Record<string, number>> = { k: 3, m: 6, b: 9, bn: 9, t: 12 }

/** The words of a text in order, with repetitions. `104,000`, `104k` and `0.104m` become `104000`. */
export function wordsOf(given: string): string[] {
  const text = plainNumbers(given)
  const words = ASCII.test(text)
    ? text.toLowerCase().split(BETWEEN_ASCII_WORDS)
    : text
        .normalize('NFKD')
        .replace(/\p{Mark}/gu, '')
        .toLowerCase()
        .split(BETWEEN_WORDS)
  return words.filter((word) => word !== '')
}

function plainNumbers(given: string): string {
  const text = given.includes(',')
    ? given.replace(DIGIT_GROUPS, (number) => number.replaceAll(',', ''))
    : given
  if (!HAS_MULTIPLE.test(text)) return text
  return text.replace(MULTIPLE, (number, whole: string, fraction = '', unit: string) => {
    const zeros = ZEROS[unit.toLowerCase()] ?? 0
    if (fraction.length > zeros) return number
    return `${whole}${fraction.padEnd(zeros, '0')}`.replace(/^0+(?=\d)/, '')
  })
}

/**
 * The terms of a query: at most 16 distinct words of its first 200 characters. A word that is a prefix of another word
 * is dropped. No indexed word therefore matches two terms.
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
