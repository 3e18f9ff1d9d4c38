// How this process runs another program (a thread's entry, the simulator's child): built if this one is
// built, otherwise through tsx, so that no process mixes the two.

import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** Defined by the build, undefined elsewhere. */
declare const BUILT_FOLDER: string | undefined
declare const SOURCE_FOLDER: string | undefined

interface Program {
  /** The module to run. */
  readonly url: URL
  /** Node flags that it needs. */
  readonly flags: readonly string[]
}

/** The path of the built file of a source. Null where nothing is built. */
export function builtOf(source: URL): string | null {
  if (typeof BUILT_FOLDER === 'undefined' || typeof SOURCE_FOLDER === 'undefined') return null
  const path = relative(SOURCE_FOLDER, fileURLToPath(source)).replace(/\.ts$/, '.mjs')
  return join(BUILT_FOLDER, path)
}

/** The program of a source. */
export function programOf(source: URL): Program {
  const built = builtOf(source)
  // tsx is resolved from here, because the working directory may be anywhere.
  if (built === null) return { url: source, flags: ['--import', import.meta.resolve('tsx')] }
  return { url: pathToFileURL(built), flags: ['--enable-source-maps'] }
}
