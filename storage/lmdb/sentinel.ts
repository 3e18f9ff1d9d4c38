// Checks that the files are the expected files. Each environment contains a sentinel (database id, format,
// fingerprint), and DATA_DIR/database.json has the same id. Startup fails if an environment is missing, emptied or from
// another database. Without the check, LMDB would open an emptied file as an empty database.

import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Database, RootDatabase } from 'lmdb'
import {
  isErrorCode,
  parseObject,
  readText,
  writeDurably,
} from '../../engine/process/durable-file.ts'
import {
  ENVIRONMENT_NAMES,
  type EnvironmentName,
  FORMAT_VERSION,
  fingerprint,
  SENTINEL_TABLE,
} from '../tables.ts'

export const SENTINEL_KEY = Buffer.from('sentinel')

interface Sentinel {
  readonly databaseId: string
  readonly environment: EnvironmentName
  readonly formatVersion: number
  readonly fingerprint: string
}

/** DATA_DIR/database.json. `isComplete` is false until the first start has created all files. */
interface SideFile {
  readonly databaseId: string
  readonly isComplete: boolean
}

export function environmentPath(dataDir: string, name: EnvironmentName): string {
  return join(dataDir, name)
}

/** Null if the file does not exist. */
export function environmentBytes(dataDir: string, name: EnvironmentName): number | null {
  try {
    return statSync(join(environmentPath(dataDir, name), 'data.mdb')).size
  } catch (error) {
    if (isErrorCode(error, 'ENOENT')) return null
    throw error
  }
}

/**
 * Checks the folder before files are opened, and creates the side file of a new folder. Throws if files are missing or
 * emptied, or exist without the side file.
 */
export function prepareSideFile(dataDir: string): SideFile {
  const text = readText(sidePath(dataDir))
  const side = text === null ? null : parseSideFile(text)
  if (text !== null && side === null) {
    throw refusal(dataDir, 'database.json is damaged', 'Restore it from a backup')
  }
  for (const name of ENVIRONMENT_NAMES) {
    const bytes = environmentBytes(dataDir, name)
    const file = `${name}/data.mdb`
    // An interrupted first start may leave an empty file. After the first start an empty file means lost data.
    if (bytes === 0 && side?.isComplete !== false)
      throw refusal(dataDir, `${file} was emptied`, restoreAdvice(name))
    if (bytes !== null && side === null) {
      throw refusal(dataDir, `${file} exists but database.json does not`, 'Bring the file back')
    }
    if (bytes === null && side?.isComplete === true) {
      throw refusal(dataDir, `${file} is missing`, restoreAdvice(name))
    }
  }
  if (side !== null) return side
  const made: SideFile = { databaseId: randomUUID(), isComplete: false }
  writeSideFile(dataDir, made)
  return made
}

/** Records that every environment has its sentinel. A sentinel that is missing afterwards means lost data. */
export function completeSideFile(dataDir: string, side: SideFile): void {
  if (!side.isComplete) writeSideFile(dataDir, { ...side, isComplete: true })
}

/**
 * Checks the sentinel of an opened environment. Writes a sentinel if the environment is empty and the side file is
 * incomplete. Throws if the sentinel is missing, has another format, or belongs to another database.
 */
export function checkSentinel(
  root: RootDatabase<Buffer, Buffer>,
  location: { readonly dataDir: string; readonly name: EnvironmentName; readonly side: SideFile },
): void {
  const { dataDir, name, side } = location
  const table = openSentinelTable(root)
  const bytes = table.get(SENTINEL_KEY)
  if (bytes === undefined) {
    if (side.isComplete || tableCount(root) > 1) {
      throw refusal(dataDir, `${name}/data.mdb has no sentinel`, restoreAdvice(name))
    }
    const { databaseId } = side
    const made: Sentinel = {
      databaseId,
      environment: name,
      formatVersion: FORMAT_VERSION,
      fingerprint: fingerprint(name),
    }
    table.putSync(SENTINEL_KEY, Buffer.from(JSON.stringify(made)))
    return
  }
  const sentinel = parseSentinel(bytes.toString())
  const fault = sentinel === null ? 'its sentinel is damaged' : faultOf(sentinel, name, side)
  if (fault !== null) {
    throw refusal(dataDir, `${name}/data.mdb: ${fault}`, restoreAdvice(name))
  }
}

export function refusal(dataDir: string, found: string, advice: string): Error {
  return new Error(
    `refusing to start: ${found} (in ${dataDir}). ${advice}, or start with another DATA_DIR ` +
      'or after moving this folder away.',
  )
}

export function restoreAdvice(name: EnvironmentName): string {
  if (name === 'accounts') return 'Restore the folder from a backup (hourly ones are in "backups")'
  return (
    'Restore the folder from a backup, or, to fetch the markets from the venues again, remove the ' +
    'folder "market" and set "isComplete" to false in database.json'
  )
}

function faultOf(sentinel: Sentinel, name: EnvironmentName, side: SideFile): string | null {
  if (sentinel.databaseId !== side.databaseId) return 'it belongs to another database'
  if (sentinel.environment !== name) return `it is the environment "${sentinel.environment}"`
  if (sentinel.fingerprint !== fingerprint(name)) return 'it was made with other options'
  const { formatVersion } = sentinel
  if (formatVersion !== FORMAT_VERSION) {
    const order = formatVersion > FORMAT_VERSION ? 'newer' : 'older'
    return `its format ${formatVersion} is ${order} than this program's ${FORMAT_VERSION}`
  }
  return null
}

function openSentinelTable(root: RootDatabase<Buffer, Buffer>): Database<Buffer, Buffer> {
  return root.openDB<Buffer, Buffer>(SENTINEL_TABLE, { encoding: 'binary', keyEncoding: 'binary' })
}

function tableCount(root: RootDatabase<Buffer, Buffer>): number {
  const stats: { readonly entryCount?: unknown } = root.getStats()
  return typeof stats.entryCount === 'number' ? stats.entryCount : 0
}

export function sidePath(dataDir: string): string {
  return join(dataDir, 'database.json')
}

export function sideFileText(side: SideFile): string {
  return `${JSON.stringify(side)}\n`
}

function writeSideFile(dataDir: string, side: SideFile): void {
  writeDurably(sidePath(dataDir), sideFileText(side))
}

function parseSideFile(text: string): SideFile | null {
  const { databaseId, isComplete } = parseObject(text)
  if (typeof databaseId !== 'string' || typeof isComplete !== 'boolean') return null
  return { databaseId, isComplete }
}

function parseSentinel(text: string): Sentinel | null {
  const { databaseId, formatVersion, fingerprint: print, environment: found } = parseObject(text)
  const environment = ENVIRONMENT_NAMES.find((name) => name === found)
  if (environment === undefined || typeof databaseId !== 'string') return null
  if (typeof formatVersion !== 'number' || typeof print !== 'string') return null
  return { databaseId, environment, formatVersion, fingerprint: print }
}
