// @ts-check
// `npm start`: runs main.ts as plain JavaScript, built once for these very sources, or through tsx where nothing can be
// built, since the installation is read-only. Not for: what starts (main.ts), what is built (process/build.mjs).

import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { builtFolder } from './process/build.mjs'

process.setSourceMapsEnabled(true)
const built = await builtFolder(fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, ''))
if (built === null) {
  const { register } = await import('tsx/esm/api')
  register()
  await import('./main.ts')
} else await import(pathToFileURL(join(built, 'engine', 'main.mjs')).href)
