// Determines how this process starts a program, such as a worker thread or the simulator. If this process runs from a
// build, the program is started from the build, else through tsx.

import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** The build defines this constant. */
declare const BUILT_FOLDER: string | undefined
declare const SOURCE_FOLDER: string | undefined

interface Program {
  readonly url: URL
  readonly flags: readonly string[]
}

/** Null if this process does not run from a build, or if the build lacks the source. */
export function builtOf(source: URL): string | null {
  if (typeof BUILT_FOLDER === 'undefined' || typeof SOURCE_FOLDER === 'undefined') return null
  const path = relative(SOURCE_FOLDER, fileURLToPath(source)).replace(/\.ts$/, '.mjs')
  const built = join(BUILT_FOLDER, path)
  return existsSync(built) ? built : null
}

export function programOf(source: URL): Program {
  const built = builtOf(source)
  // Resolved from this file, because the working directory may be another folder.
  if (built === null) return { url: source, flags: ['--import', import.meta.resolve('tsx')] }
  return { url: pathToFileURL(built), flags: ['--enable-source-maps'] }
}
