// @ts-check
// Runs app/main.ts as plain JavaScript, built once per version of the sources. If the installation is read-only and
// nothing can be built, it runs through tsx. `npm start` runs this file through launch.mjs.

import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { builtFolder } from '../process/build.mjs'
import { installationProblem } from '../process/installation.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '')
const problem = installationProblem(root, process.versions.node)
if (problem === null) await start()
else {
  process.stderr.write(`${problem}\n`)
  process.exitCode = 2
}

async function start() {
  // Runs a full collection once the heap has grown by 30 % since the last one. V8's default lets the heap grow to four
  // times its size under load, and the process would not return the memory.
  setFlagsFromString('--heap-growing-percent=30')
  process.setSourceMapsEnabled(true)
  const built = await builtFolder(root)
  if (built === null) {
    const { register } = await import('tsx/esm/api')
    register()
    await import('./main.ts')
  } else await import(pathToFileURL(join(built, 'engine', 'app', 'main.mjs')).href)
}
