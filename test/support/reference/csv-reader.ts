import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'

/** Reads the rows of a CSV file with DuckDB. All values are texts; null for an empty cell. */
export async function readCsv(text: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const folder = mkdtempSync(join(tmpdir(), 'twinbook-csv-'))
  const path = join(folder, 'list.csv')
  writeFileSync(path, text)
  const duckdb = await DuckDBInstance.create(':memory:')
  const connection = await duckdb.connect()
  try {
    const read = `SELECT * FROM read_csv('${path}', header=true, all_varchar=true, delim=',', quote='"', escape='"', new_line='\\r\\n')`
    return (await connection.runAndReadAll(read)).getRowObjectsJson()
  } finally {
    connection.closeSync()
    rmSync(folder, { recursive: true })
  }
}
