// @ts-check
// `npm start`: runs app/main.ts as plain JavaScript, built once per version of the sources. If the installation
// is read-only and nothing can be built, it runs through tsx.

import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { builtFolder } from '../process/build.mjs'

// A full collection runs once the heap has grown by 30 % since the last one. By default V8 lets it grow to
// four times that size under load, and the process never returns the memory. Most promoted objects here are
// short-lived: parts of messages and frames that wait in rings for some seconds.
setFlagsFromString('--heap-growing-percent=30')
process.setSourceMapsEnabled(true)
const built = await builtFolder(
  fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, ''),
)
if (built === null) {
  const { register } = await import('tsx/esm/api')
  register()
  await import('./main.ts')
} else await import(pathToFileURL(join(built, 'engine', 'app', 'main.mjs')).href)
