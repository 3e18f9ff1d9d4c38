// Checks existing files in a child process before the engine opens them. LMDB maps files into memory and has no
// checksums. A damaged file therefore kills its reader with SIGBUS, SIGSEGV or an assertion.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { isRecord } from '../../engine/json-record.ts'
import { parseObject } from '../../engine/process/durable-file.ts'
import { type EnvironmentName, SENTINEL_TABLE, TABLE_LAYOUTS } from '../tables.ts'
import { refusal, restoreAdvice } from './sentinel.ts'

const TIMEOUT_MS = 20_000
const BUDGET_MS = 1_000

/** Rejects with a message for the operator if the files of an environment cannot be read. */
export async function checkFiles(location: {
  readonly dataDir: string
  readonly name: EnvironmentName
  readonly path: string
}): Promise<void> {
  const { dataDir, name, path } = location
  const { fault } = await inspect({ path, name, budgetMs: BUDGET_MS })
  if (fault !== null) {
    throw refusal(dataDir, `${name}/data.mdb is damaged: ${fault}`, restoreAdvice(name))
  }
}

/** Reads every row of an environment's files in a child process. Rejects if the child process finds damage or dies. */
export async function countRows(location: {
  readonly name: EnvironmentName
  readonly path: string
}): Promise<ReadonlyMap<string, number>> {
  const { fault, counts } = await inspect({ ...location, budgetMs: null })
  if (fault !== null) throw new Error(fault)
  return counts
}

interface Finding {
  /** Null: no fault was found. */
  readonly fault: string | null
  readonly counts: ReadonlyMap<string, number>
}

function inspect(location: {
  readonly path: string
  readonly name: EnvironmentName
  /** Null: reads every row. */
  readonly budgetMs: number | null
}): Promise<Finding> {
  const { path, name, budgetMs } = location
  const tables = TABLE_LAYOUTS.filter((one) => one.environment === name).map((one) => ({
    name: one.name,
    isCompressed: one.isCompressed,
  }))
  tables.unshift({ name: SENTINEL_TABLE, isCompressed: false })
  const request = JSON.stringify({ path, tables, budgetMs })
  const program = fileURLToPath(new URL('./inspect.mjs', import.meta.url))
  return new Promise((resolve) => {
    const options = { timeout: TIMEOUT_MS, maxBuffer: 65_536 }
    execFile(process.execPath, [program, request], options, (error, stdout) => {
      if (error !== null) {
        const ending = error.signal ?? `exit ${error.code ?? 'unknown'}`
        const isLate = error.killed === true
        resolve(faulty(isLate ? 'the check took too long' : `the check ended by ${ending}`))
      } else resolve(findingOf(stdout))
    })
  })
}

const faulty = (fault: string): Finding => ({ fault, counts: new Map() })

function findingOf(stdout: string): Finding {
  const { fault, counts } = parseObject(stdout)
  if (fault !== undefined) return faulty(String(fault))
  if (!isRecord(counts)) return faulty('the check printed no result')
  const rows = Object.entries(counts).map(([table, count]) => [table, Number(count)] as const)
  return { fault: null, counts: new Map(rows) }
}
