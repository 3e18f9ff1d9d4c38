// @ts-check
// `npm start`: runs app/main.ts as plain JavaScript, built once per version of the sources. If the installation
// is read-only and nothing can be built, it runs through tsx.

import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { builtFolder } from '../process/build.mjs'

// Runs a full collection once the heap has grown by 30 % since the last one. V8's default lets the heap grow to four
// times its size under load, and the process would not return the memory.
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
