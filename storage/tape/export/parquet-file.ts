// Writes row batches as a Parquet file, one row group for each batch.

import { ByteWriter, type ColumnSource, ParquetWriter, type SchemaElement } from 'hyparquet-writer'
import type { Column, RowBatch, Value } from './columns.ts'

/** The file in chunks: one for each batch, and the footer. Passes on null. */
export function* parquetFile(
  columns: readonly Column[],
  batches: Iterable<RowBatch | null>,
): Generator<Uint8Array<ArrayBuffer> | null> {
  const bytes = new ChunkWriter()
  const writer = new ParquetWriter({ writer: bytes, schema: storedSchema(columns) })
  for (const batch of batches) {
    if (batch === null) {
      yield null
      continue
    }
    const { rows, values } = batch
    writer.write({ columnData: columns.map(source(values)), rowGroupSize: rows })
    yield bytes.take()
  }
  writer.schema = fileSchema(columns)
  writer.finish()
  yield bytes.take()
}

/** Returns what was written since the last call. Offsets within the file continue. */
export class ChunkWriter extends ByteWriter {
  take(): Uint8Array<ArrayBuffer> {
    const chunk = new Uint8Array(this.getBuffer())
    this.index = 0
    return chunk
  }
}

/** Columns with the smallest and largest value of each row group, by which readers skip row groups. */
const RANGED: ReadonlySet<string> = new Set(['market_id', 'ts_published', 'ts_start'])

const source =
  (values: RowBatch['values']) =>
  ({ name, type }: Column, index: number): ColumnSource => {
    const data = values[index] ?? []
    const statistics = RANGED.has(name)
    if (type === 'boolean' || type === 'text') return { name, data: [...data], statistics }
    return { name, data: integersOf(data), encoding: 'DELTA_BINARY_PACKED', statistics }
  }

/** The library encodes a column of 32-bit numbers several times as fast as one of BigInts. */
function integersOf(values: readonly Value[]): (number | bigint | null)[] {
  const isSmall = values.every((value) => value === null || value === Number(value) >> 0)
  return values.map((value) => {
    if (typeof value !== 'number') return null
    return isSmall ? value : BigInt(value)
  })
}

const DECIMAL = { precision: 18, scale: 6 } as const

function fileSchema(columns: readonly Column[]): SchemaElement[] {
  return [{ name: 'root', num_children: columns.length }, ...columns.map(elementOf)]
}

/**
 * The schema by which values are converted. It lacks the types of times and decimals, because the values are integers
 * in the unit of the file already, and the library's conversion halves the speed.
 */
function storedSchema(columns: readonly Column[]): SchemaElement[] {
  return fileSchema(columns).map((element) => {
    const { name, type, repetition_type } = element
    if (type !== 'INT64' || repetition_type === undefined) return element
    return { name, type, repetition_type }
  })
}

function elementOf({ name, type, isNullable }: Column): SchemaElement {
  const own = { name, repetition_type: isNullable ? 'OPTIONAL' : 'REQUIRED' } as const
  switch (type) {
    case 'time':
      return {
        ...{ ...own, type: 'INT64', converted_type: 'TIMESTAMP_MICROS' },
        logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
      }
    case 'decimal':
      return {
        ...{ ...own, type: 'INT64', converted_type: 'DECIMAL', ...DECIMAL },
        logical_type: { type: 'DECIMAL', ...DECIMAL },
      }
    case 'integer':
      return { ...own, type: 'INT64' }
    case 'text':
      return {
        ...own,
        type: 'BYTE_ARRAY',
        converted_type: 'UTF8',
        logical_type: { type: 'STRING' },
      }
    case 'boolean':
      return { ...own, type: 'BOOLEAN' }
  }
}
