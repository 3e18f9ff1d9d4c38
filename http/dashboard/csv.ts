// CSV files (RFC 4180) of API records. Columns are the fields of the records, nested fields as `legs.0.price`.

type Value = string | number | boolean | null

/** Spreadsheets would run a text that starts with one of these as a formula. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/
const NEEDS_QUOTES = /[",\r\n]/
const TIME = /(?:^|[._])(?:at|time|timestamp|as_of)$/
const MILLISECONDS_FROM = 1e11

/**
 * A heading and a line for each record. Times are ISO 8601 in UTC, and the suffix `_ms` of their column is dropped. An
 * apostrophe precedes texts that spreadsheets would run as a formula. Starts with a byte order mark, without which Excel
 * does not read UTF-8.
 */
export function csvOf(records: readonly object[]): string {
  const rows = records.map((record) => {
    const row = new Map<string, Value>()
    flatten(record, '', row)
    return row
  })
  const names = [...new Set(rows.flatMap((row) => [...row.keys()]))]
  const lines = [names, ...rows.map((row) => names.map((name) => row.get(name) ?? null))]
  return `\u{feff}${lines.map((line) => `${line.map(cellOf).join(',')}\r\n`).join('')}`
}

function flatten(value: unknown, name: string, row: Map<string, Value>): void {
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value)
    const names = new Set(fields.map(([key]) => key))
    for (const [key, field] of fields) {
      // The field in milliseconds is more precise.
      if (names.has(`${key}_ms`)) continue
      flatten(field, name === '' ? key : `${name}.${key}`, row)
    }
    return
  }
  const time = name.replace(/_ms$/, '')
  if (typeof value === 'number' && TIME.test(time)) row.set(time, isoOf(value))
  else if (TIME.test(time)) row.set(time, plainOf(value))
  else row.set(name, plainOf(value))
}

function isoOf(time: number): string {
  const at = new Date(Math.abs(time) < MILLISECONDS_FROM ? time * 1_000 : time)
  return Number.isNaN(at.getTime()) ? String(time) : at.toISOString()
}

const plainOf = (value: unknown): Value =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? value
    : null

function cellOf(value: Value): string {
  if (typeof value !== 'string') return value === null ? '' : String(value)
  const text = FORMULA.test(value) ? `'${value}` : value
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
