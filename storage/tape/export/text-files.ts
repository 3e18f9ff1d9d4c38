// Writes row batches as gzip of CSV (RFC 4180) or of NDJSON. Times are integers in microseconds, decimals are exact.

import { gzipSync } from 'node:zlib'
import { toDecimal, usdMicros } from '../../../engine/units.ts'
import type { Column, RowBatch, Value } from './columns.ts'

/** Gzip members may be concatenated (RFC 1952, 2.2), so each batch is a member of its own. */
const LEVEL = 4

export function* csvFile(
  columns: readonly Column[],
  batches: Iterable<RowBatch | null>,
): Generator<Uint8Array<ArrayBuffer> | null> {
  yield packed(`${columns.map(({ name }) => name).join(',')}\n`)
  for (const batch of batches) {
    yield packedLines(batch, (row) =>
      columns.map((column, at) => csvText(column, row(at))).join(','),
    )
  }
}

export function* ndjsonFile(
  columns: readonly Column[],
  batches: Iterable<RowBatch | null>,
): Generator<Uint8Array<ArrayBuffer> | null> {
  const names = columns.map(({ name }) => JSON.stringify(name))
  let isEmpty = true
  for (const batch of batches) {
    if (batch !== null) isEmpty = false
    yield packedLines(batch, (row) => {
      const fields = columns.map((column, at) => `${names[at]}:${jsonText(column, row(at))}`)
      return `{${fields.join(',')}}`
    })
  }
  if (isEmpty) yield packed('')
}

function packedLines(
  batch: RowBatch | null,
  lineOf: (valueAt: (column: number) => Value) => string,
): Uint8Array<ArrayBuffer> | null {
  if (batch === null) return null
  const { rows, values } = batch
  let text = ''
  for (let row = 0; row < rows; row += 1) {
    text += `${lineOf((column) => values[column]?.[row] ?? null)}\n`
  }
  return packed(text)
}

function packed(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(gzipSync(text, { level: LEVEL }))
}

function csvText(column: Column, value: Value): string {
  if (value === null) return ''
  if (typeof value === 'number') return numberText(column, value)
  if (typeof value === 'boolean') return String(value)
  // An empty text is quoted, because an empty field is null.
  return value === '' || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value
}

const jsonText = (column: Column, value: Value): string =>
  typeof value === 'number' ? numberText(column, value) : JSON.stringify(value)

function numberText({ type }: Column, value: number): string {
  return type === 'decimal' ? toDecimal(usdMicros(value)) : String(value)
}
