// Opens one LMDB environment read-only and touches its first and last rows, in a process of its own
// that a damaged file may kill (startup-check.ts starts it and says why). Plain JavaScript, because
// starting tsx would cost a quarter of a second at every start. It changes nothing on disk.
// With `isWhole` (backup.ts) it reads every row, which reads every page that holds one.
// Prints one line of JSON: {"rows": n, "counts": {table: n, …}} or {"fault": "..."}.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { open } from 'lmdb'

const { path, tables, isWhole = false } = JSON.parse(process.argv[2] ?? '{}')

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
  let rows = 0
  const counts = {}
  for (const { name, isCompressed } of tables) {
    const table = root.openDB(name, { ...binary, compression: isCompressed })
    if (table === undefined) continue
    for (const range of isWhole ? [{}] : ENDS) {
      let count = 0
      for (const { value } of table.getRange(range)) count += value.length > 0 ? 1 : 0
      rows += count
      counts[name] = count
    }
  }
  return { rows, counts }
}

try {
  process.stdout.write(`${JSON.stringify(inspect())}\n`)
} catch (error) {
  process.stdout.write(`${JSON.stringify({ fault: String(error) })}\n`)
}
