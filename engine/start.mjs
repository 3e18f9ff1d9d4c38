// @ts-check
// `npm start`: runs main.ts as plain JavaScript, built once for these very sources, or through tsx where nothing can be
// built, since the installation is read-only.

import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { builtFolder } from './process/build.mjs'

// A full collection comes once the heap is a third larger than what the last one left. V8 lets it grow to as much as four
// times that while garbage comes fast, and the system never gets the room back: at 3,000 venue messages a second most of
// what is promoted is a message's parts and frames that wait in rings, whose time is over within seconds.
setFlagsFromString('--heap-growing-percent=30')
process.setSourceMapsEnabled(true)
const built = await builtFolder(fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, ''))
if (built === null) {
  const { register } = await import('tsx/esm/api')
  register()
  await import('./main.ts')
} else await import(pathToFileURL(join(built, 'engine', 'main.mjs')).href)
