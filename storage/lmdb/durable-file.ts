// Writes a small file so that after a crash it is the old one or the new one, never half of either:
// written beside, flushed, renamed over, folder flushed. Also creates a file that must not exist.

import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/**
 * Replaces or creates `path` with `text`; readable by the owner alone. Throws what the disk says.
 */
export function writeDurably(path: string, text: string): void {
  const beside = join(dirname(path), `.${basename(path)}.${process.pid}.new`)
  const file = openSync(beside, 'w', 0o600)
  try {
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(beside, path)
  flushFolder(dirname(path))
}

/** Waits until a file or folder is on the platter. */
export async function flush(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** The text of a file; null when there is none. */
export function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isErrorCode(error, 'ENOENT')) return null
    throw error
  }
}

/** Whether an error of the file system has this code. */
export function isErrorCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

function flushFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
