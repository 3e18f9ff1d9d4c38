// Opens one LMDB environment read-only and touches its first and last rows, in a process of its own
// that a damaged file may kill (startup-check.ts starts it and says why). Plain JavaScript, because
// starting tsx would cost a quarter of a second at every start. It changes nothing on disk.
// Prints one line of JSON: {"rows": n} or {"fault": "..."}.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { open } from 'lmdb'

const { path, tables } = JSON.parse(process.argv[2] ?? '{}')

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
  for (const { name, isCompressed } of tables) {
    const table = root.openDB(name, { ...binary, compression: isCompressed })
    if (table === undefined) continue
    for (const reverse of [false, true]) {
      for (const { value } of table.getRange({ reverse, limit: 1 })) rows += value.length > 0 ? 1 : 0
    }
  }
  return { rows }
}

try {
  process.stdout.write(`${JSON.stringify(inspect())}\n`)
} catch (error) {
  process.stdout.write(`${JSON.stringify({ fault: String(error) })}\n`)
}
