// Names of the exported tables and formats.

export const EXPORT_TABLES = [
  'trades',
  'book_changes',
  'book_snapshots',
  'candles_1m',
  'markets',
] as const
export type ExportTableName = (typeof EXPORT_TABLES)[number]

/** Endings of the files' names. */
export const EXPORT_FORMATS = ['parquet', 'csv.gz', 'ndjson.gz'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

export const isExportTable = (text: string): text is ExportTableName =>
  EXPORT_TABLES.some((name) => name === text)

export const isExportFormat = (text: string): text is ExportFormat =>
  EXPORT_FORMATS.some((format) => format === text)
