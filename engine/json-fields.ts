// Readers for fields of JSON rows without a guaranteed schema. A field of an unexpected type reads as absent.

import { isRecord } from './json-record.ts'
import { microsFromDecimal } from './units.ts'

export type Row = { readonly [key: string]: unknown }

/** Maximum characters of a text, to limit the cost of huge descriptions. */
const TEXT_CHARACTERS_MAX = 6_000

/** The text or number in the first of the fields that has one. '' if none has. */
export function textOf(row: Row, ...names: readonly string[]): string {
  for (const name of names) {
    const value = row[name]
    if (typeof value === 'string' && value !== '') return value.slice(0, TEXT_CHARACTERS_MAX)
    if (typeof value === 'number' && Number.isFinite(value)) return String(value)
  }
  return ''
}

export function maybeText(row: Row, ...names: readonly string[]): string | null {
  return textOf(row, ...names) || null
}

/** A number or numeric text. */
export function numberOf(row: Row, name: string): number | null {
  const value = row[name]
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value !== 'string' || value.trim() === '') return null
  const read = Number(value)
  return Number.isFinite(read) ? read : null
}

/** A decimal number or text, in millionths. Null if it has more than six decimals. */
export function microsOf(row: Row, name: string): number | null {
  const value = row[name]
  return typeof value === 'number' || typeof value === 'string'
    ? microsFromDecimal(String(value))
    : null
}

/** Null if the field is missing or not a boolean. */
export function flagOf(row: Row, name: string): boolean | null {
  const value = row[name]
  return typeof value === 'boolean' ? value : null
}

/** Milliseconds since 1970, from the first of the fields that contains a time, such as "2026-05-09 20:00:00+00". */
export function timeOf(row: Row, ...names: readonly string[]): number | null {
  for (const name of names) {
    const value = row[name]
    if (typeof value === 'number' && Number.isFinite(value))
      return value < 1e11 ? value * 1000 : value
    if (typeof value !== 'string' || value === '') continue
    const text = value.replace(' ', 'T').replace(/(?<=T.*)([+-]\d\d)$/, '$1:00')
    const read = Date.parse(text)
    if (Number.isFinite(read)) return read
  }
  return null
}

/** Texts of an array, or of a JSON array in a string. For an object in the array, the text of its field `key`. */
export function textsOf(value: unknown, key = 'label'): readonly string[] {
  let list: unknown = value
  if (typeof value === 'string' && value.startsWith('[')) {
    try {
      list = JSON.parse(value)
    } catch {
      return []
    }
  }
  if (!Array.isArray(list)) return []
  return list.flatMap((item: unknown): string[] => {
    if (typeof item === 'string') return [item.slice(0, TEXT_CHARACTERS_MAX)]
    return isRecord(item) ? [textOf(item, key)].filter((text) => text !== '') : []
  })
}

export function rowsOf(value: unknown): readonly Row[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}
