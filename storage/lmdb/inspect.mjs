// Opens one LMDB environment read-only in a separate process, because a damaged file may kill the reader. Reads the
// first and last rows, and then the rows of each table for `budgetMs` (null: all rows). Prints one line of JSON:
// {"counts": {table: n, …}} or {"fault": "..."}. The file is plain JavaScript because tsx would slow each start down.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { open } from 'lmdb'

const { path, tables, budgetMs } = JSON.parse(process.argv[2] ?? '{}')

const ROWS_BETWEEN_LOOKS = 64
const ENDS = [
  { reverse: false, limit: 1 },
  { reverse: true, limit: 1 },
]

function inspect() {
  const binary = { encoding: 'binary', keyEncoding: 'binary' }
  const root = open(path, { ...binary, readOnly: true, maxDbs: 64 })
  const { lastPageNumber, root: pages } = root.getStats()
  const fileBytes = statSync(join(path, 'data.mdb')).size
  const neededBytes = (lastPageNumber + 1) * pages.pageSize
  if (fileBytes < neededBytes) {
    return { fault: `the file is cut short: ${fileBytes} of ${neededBytes} bytes` }
  }
  const opened = []
  for (const { name, isCompressed } of tables) {
    const table = root.openDB(name, { ...binary, compression: isCompressed })
    if (table === undefined) continue
    opened.push({ name, table })
    for (const range of ENDS) for (const { value } of table.getRange(range)) touch(value)
  }
  const counts = {}
  const endsAt = budgetMs === null ? Number.POSITIVE_INFINITY : performance.now() + budgetMs
  for (const { name, table } of opened) {
    counts[name] = 0
    for (const { value } of table.getRange({})) {
      counts[name] += touch(value)
      if (counts[name] % ROWS_BETWEEN_LOOKS === 0 && performance.now() > endsAt) return { counts }
    }
  }
  return { counts }
}

const touch = (value) => (value.length > 0 ? 1 : 0)

try {
  process.stdout.write(`${JSON.stringify(inspect())}\n`)
} catch (error) {
  process.stdout.write(`${JSON.stringify({ fault: String(error) })}\n`)
}
