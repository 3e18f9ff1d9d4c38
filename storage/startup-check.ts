// Looks at existing files in a child process before this one opens them: LMDB maps the file into
// memory and keeps no checksums, so a truncated file kills the reader with SIGBUS and a zeroed one
// with SIGSEGV. Bounded: it reads the sentinel's page and the first and last row of each table, not
// the content. Upholds STORE13, R39.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { refusal, restoreAdvice } from './sentinel.ts'
import { type EnvironmentName, SENTINEL_TABLE, TABLE_LAYOUTS } from './tables.ts'

const TIMEOUT_MS = 20_000

/** Rejects with words for the operator when the files of an environment cannot be read. */
export async function checkFiles(place: {
  readonly dataDir: string
  readonly name: EnvironmentName
  readonly path: string
}): Promise<void> {
  const { dataDir, name, path } = place
  const tables = TABLE_LAYOUTS.filter((one) => one.environment === name).map((one) => ({
    name: one.name,
    isCompressed: one.isCompressed,
  }))
  tables.unshift({ name: SENTINEL_TABLE, isCompressed: false })
  const fault = await inspect(JSON.stringify({ path, tables }))
  if (fault !== null) {
    throw refusal(dataDir, `${name}/data.mdb is damaged: ${fault}`, restoreAdvice(name))
  }
}

function inspect(request: string): Promise<string | null> {
  const program = fileURLToPath(new URL('./inspect.mjs', import.meta.url))
  return new Promise((resolve) => {
    const options = { timeout: TIMEOUT_MS, maxBuffer: 65_536 }
    execFile(process.execPath, [program, request], options, (error, stdout) => {
      if (error !== null) {
        const ending = error.signal ?? `exit ${error.code ?? 'unknown'}`
        resolve(error.killed === true ? 'the check took too long' : `the check ended by ${ending}`)
        return
      }
      const fault = /"fault":(".*")\}/.exec(stdout)?.[1]
      resolve(fault ?? (stdout.includes('"rows"') ? null : 'the check gave no answer'))
    })
  })
}
