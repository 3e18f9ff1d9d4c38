// Tables of data beside the code that reads them, and texts held against tables of phrases: which values a text says.

import { readFileSync } from 'node:fs'

/** The table in a file of JSON that comes with the program, in the form that its reader names. */
export function tableIn<Form>(file: URL): Form {
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** The words of a row, parted by blanks. */
export const wordSet = (row: string): ReadonlySet<string> => new Set(row.split(' '))

/** Value → its phrases, parted by `|`. */
export type PhraseRows = Readonly<Record<string, string>>
/** Values in their order, each with what says it. */
export type PhraseTable = readonly (readonly [value: string, says: RegExp])[]

/** What stands for more than itself in a phrase. */
const SIGNS: Readonly<Record<string, string>> = {
  '*': '(?:(?!\\bnot\\b)[^.]){0,60}?',
  '(s)': 's?',
  '#': '\\d+(?:\\.\\d+)?',
  ' ': '[ -]?',
  '^': '^',
  $: '$',
}

/**
 * Phrases are found as whole words in any case: a space may be a hyphen or nothing, `(s)` may be missing, `#` is a number,
 * `*` is up to 60 characters of one sentence without a "not", `^` begins the text, and `$` ends it.
 */
export function phraseTable(rows: PhraseRows): PhraseTable {
  return Object.entries(rows).map(([value, phrases]) => {
    return [value, new RegExp(phrases.split('|').map(patternOf).join('|'), 'i')]
  })
}

function patternOf(phrase: string): string {
  const inner = phrase.replace(/\(s\)|[.*+?^${}()|[\]\\# ]/g, (sign, at: number) => {
    const isEnd = sign !== '$' || at === phrase.length - 1
    return (isEnd ? SIGNS[sign] : undefined) ?? `\\${sign}`
  })
  return `${/^\w/.test(phrase) ? '\\b' : ''}${inner}${/(?:\w|\(s\))$/.test(phrase) ? '\\b' : ''}`
}

/** The first value that a text says; null: none. */
export function firstMatch(table: PhraseTable, text: string): string | null {
  return text === '' ? null : (table.find(([, pattern]) => pattern.test(text))?.[0] ?? null)
}

/** All values that a text says. */
export function allMatches(table: PhraseTable, text: string): readonly string[] {
  return table.filter(([, pattern]) => pattern.test(text)).map(([value]) => value)
}
