// Allows only one writing process per data folder. DATA_DIR/lock contains its pid. The lock of a dead process is taken
// over. On Linux, boot id and process start time detect a reused pid.

import { linkSync, mkdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { EngineError } from '../../engine/errors.ts'
import { isErrorCode, parseObject, readText } from '../../engine/process/durable-file.ts'

interface Holder {
  readonly pid: number
  /** Boot id and start time of the process. Empty if the system does not provide them. */
  readonly born: string
}

/**
 * Locks that this process holds. A lock with this pid that is not in the set was left by a crashed process with the
 * same pid.
 */
const held = new Set<string>()

/**
 * Acquires the lock of a data folder. Returns a function that releases the lock; repeated calls do nothing. Throws
 * EngineError UNAVAILABLE with the pid of the other process.
 */
export function takeLock(dataDir: string): () => void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const path = join(resolve(dataDir), 'lock')
  if (held.has(path)) throw refusal(path, process.pid)
  const own = JSON.stringify({ pid: process.pid, born: birth(process.pid) })
  // The text is written to a temporary file, which is then linked. The lock file is therefore never visible without
  // text.
  const beside = `${path}.${process.pid}`
  writeFileSync(beside, own, { mode: 0o600 })
  try {
    for (let attempt = 0; !link(beside, path); attempt += 1) {
      const text = readText(path)
      if (text === null) continue
      const holder = parseHolder(text)
      if (attempt > 8 || (holder !== null && isAlive(holder))) {
        throw refusal(path, holder?.pid ?? null)
      }
      removeStale(path, text)
    }
  } finally {
    unlinkSync(beside)
  }
  held.add(path)
  return () => {
    if (held.delete(path) && readText(path) === own) unlinkSync(path)
  }
}

/** The pid of the engine that holds a data folder, or null. */
export function lockHolder(dataDir: string): number | null {
  const text = readText(join(resolve(dataDir), 'lock'))
  const holder = text === null ? null : parseHolder(text)
  if (holder === null) return null
  const isOurs = holder.pid === process.pid && held.has(join(resolve(dataDir), 'lock'))
  return isOurs || isAlive(holder) ? holder.pid : null
}

function refusal(path: string, pid: number | null): EngineError {
  const who = pid === null ? 'another process' : `process ${pid}`
  return new EngineError(
    'UNAVAILABLE',
    `the data folder is in use by ${who} (${path}). Stop it first, or set DATA_DIR to another folder.`,
  )
}

function link(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (isErrorCode(error, 'EEXIST')) return false
    throw error
  }
}

/** Moves a stale lock away. Restores the lock if another process meanwhile replaced it by a live lock. */
function removeStale(path: string, expected: string): void {
  const away = `${path}.${process.pid}.stale`
  try {
    renameSync(path, away)
  } catch (error) {
    if (isErrorCode(error, 'ENOENT')) return
    throw error
  }
  if (readText(away) !== expected) link(away, path)
  unlinkSync(away)
}

function isAlive(holder: Holder): boolean {
  if (holder.pid === process.pid) return false
  try {
    process.kill(holder.pid, 0)
  } catch (error) {
    return isErrorCode(error, 'EPERM')
  }
  const now = birth(holder.pid)
  return holder.born === '' || now === '' || now === holder.born
}

/** "<boot id> <start time in ticks>" of a process. Empty without /proc. */
function birth(pid: number): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const startTicks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
    return `${boot} ${startTicks}`
  } catch {
    return ''
  }
}

function parseHolder(text: string): Holder | null {
  const { pid, born } = parseObject(text)
  return typeof pid === 'number' ? { pid, born: typeof born === 'string' ? born : '' } : null
}
