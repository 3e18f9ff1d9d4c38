// One exported file: a table of one hour of one venue, in a format.

import type { ExportFormat, ExportTableName } from '../../../engine/tape/export-names.ts'
import type { HourFolder } from '../../../engine/tape/layout.ts'
import type { Tape } from '../tape.ts'
import { batches, type Column, type RowBatch } from './columns.ts'
import { hourRows } from './hour-rows.ts'
import { parquetFile } from './parquet-file.ts'
import { TABLES } from './tables.ts'
import { csvFile, ndjsonFile } from './text-files.ts'

type FileWriter = (
  columns: readonly Column[],
  batches: Iterable<RowBatch | null>,
) => Generator<Uint8Array<ArrayBuffer> | null>

const WRITERS: Readonly<Record<ExportFormat, FileWriter>> = {
  parquet: parquetFile,
  'csv.gz': csvFile,
  'ndjson.gz': ndjsonFile,
}

/** Rows of a row group of Parquet, and of a chunk of text: some 100 ms of work. */
const BATCH_ROWS = 20_000

export interface ExportChoice {
  readonly table: ExportTableName
  readonly format: ExportFormat
}

/**
 * The file in chunks of at most a few megabytes. A new chunk is computed only when it is requested. Null after each
 * block of the tape, so that other work can be done in between. `weightMax` is that of `hourRows`.
 */
export function exportFile(
  tape: Pick<Tape, 'readBatches'>,
  hour: Pick<HourFolder, 'platform' | 'startUs'>,
  { table, format }: ExportChoice,
  weightMax?: number,
): Generator<Uint8Array<ArrayBuffer> | null> {
  const { columns } = TABLES[table]
  return WRITERS[format](
    columns,
    batches(columns, hourRows(tape, hour, table, weightMax), BATCH_ROWS),
  )
}
