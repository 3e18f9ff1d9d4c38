// Loads JSON data tables and matches texts against tables of phrases.

import { readFileSync } from 'node:fs'

/** Reads a JSON table that ships with the program. The caller supplies its type. */
export function tableIn<Form>(file: URL): Form {
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** Splits a row of words at the spaces. */
export const wordSet = (row: string): ReadonlySet<string> => new Set(row.split(' '))

/** Phrases by value, separated by `|`. */
export type PhraseRows = Readonly<Record<string, string>>
/** Values in order of priority, each with the pattern that matches it. */
export type PhraseTable = readonly (readonly [value: string, says: RegExp])[]

/** Placeholders in phrases and the patterns that replace them. */
const SIGNS: Readonly<Record<string, string>> = {
  '*': '(?:(?!\\bnot\\b)[^.]){0,60}?',
  '(s)': 's?',
  '#': '\\d+(?:\\.\\d+)?',
  ' ': '[ -]?',
  '^': '^',
  $: '$',
}

/**
 * Compiles phrases, which match whole words in any case. A space also matches a hyphen or nothing, `(s)` is optional,
 * and `#` is a number. `*` matches up to 60 characters of one sentence without a "not". `^` is the start of the text
 * and `$` its end.
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

/** The first value whose pattern matches. Null if none does. */
export function firstMatch(table: PhraseTable, text: string): string | null {
  return text === '' ? null : (table.find(([, pattern]) => pattern.test(text))?.[0] ?? null)
}

export function allMatches(table: PhraseTable, text: string): readonly string[] {
  return table.filter(([, pattern]) => pattern.test(text)).map(([value]) => value)
}
