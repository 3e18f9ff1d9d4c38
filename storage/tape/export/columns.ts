// Columns of exported tables, and batches of rows by column.

/**
 * - `time`: microseconds since 1970, UTC.
 * - `decimal`: millionths, an integer. Files contain the number with six decimals.
 * - `integer`: a safe integer.
 */
export type ColumnType = 'time' | 'decimal' | 'integer' | 'text' | 'boolean'

export interface Column {
  readonly name: string
  readonly type: ColumnType
  readonly isNullable: boolean
}

/** A value in its column's type. */
export type Value = number | string | boolean | null

/** Values in the order of the columns. */
export type Row = readonly Value[]

export const required = (name: string, type: ColumnType): Column => ({
  ...{ name, type, isNullable: false },
})
export const optional = (name: string, type: ColumnType): Column => ({
  ...{ name, type, isNullable: true },
})

/** Rows by column. `values` has one array for each column. */
export interface RowBatch {
  readonly rows: number
  readonly values: readonly (readonly Value[])[]
}

/** Gathers rows into batches of `rowsMax`. Passes on null, with which the source of the rows pauses. */
export function* batches(
  columns: readonly Column[],
  rows: Iterable<Row | null>,
  rowsMax: number,
): Generator<RowBatch | null> {
  const empty = (): Value[][] => columns.map(() => [])
  let values = empty()
  let count = 0
  for (const row of rows) {
    if (row === null) {
      yield null
      continue
    }
    for (let index = 0; index < values.length; index += 1) values[index]?.push(row[index] ?? null)
    count += 1
    if (count < rowsMax) continue
    yield { rows: count, values }
    values = empty()
    count = 0
  }
  if (count > 0) yield { rows: count, values }
}
