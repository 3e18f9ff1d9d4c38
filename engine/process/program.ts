// How a program of ours (a thread's entry, the simulator's child) is run beside this one: built, where this one is built,
// and through tsx otherwise, so that no process mixes the two.

import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** Put in by the build; elsewhere nothing of that name is there. */
declare const BUILT_FOLDER: string | undefined
declare const SOURCE_FOLDER: string | undefined

interface Program {
  /** The module to run. */
  readonly url: URL
  /** Node's flags that it needs. */
  readonly flags: readonly string[]
}

/** The path of what was built of the source at this address; null where nothing is built. */
export function builtOf(source: URL): string | null {
  if (typeof BUILT_FOLDER === 'undefined' || typeof SOURCE_FOLDER === 'undefined') return null
  const path = relative(SOURCE_FOLDER, fileURLToPath(source)).replace(/\.ts$/, '.mjs')
  return join(BUILT_FOLDER, path)
}

/** The program whose source is at this address. */
export function programOf(source: URL): Program {
  const built = builtOf(source)
  // tsx is resolved from here, since the working directory may be anywhere.
  if (built === null) return { url: source, flags: ['--import', import.meta.resolve('tsx')] }
  return { url: pathToFileURL(built), flags: ['--enable-source-maps'] }
}
