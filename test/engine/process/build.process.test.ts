import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { builtFolder } from '../../../engine/process/build.mjs'
import { testFolder } from '../../support/rigs/data-folder.ts'

const folder = testFolder('build')
const run = promisify(execFile)

const SOURCES: Readonly<Record<string, string>> = {
  'package-lock.json': '{}',
  'engine/app/main.ts': `import { where, fail } from '../where.ts'
import { builtOf, programOf } from '../process/program.ts'
const worker = new URL('../words/worker.ts', import.meta.url)
const answers: readonly unknown[] = [import.meta.url, where, programOf(worker).url.href]
process.stdout.write(JSON.stringify([...answers, builtOf(new URL('../../http/client/one.ts', import.meta.url))]))
if (process.argv[2] === 'fail') fail()
`,
  'engine/where.ts': `interface Unused { readonly type: string }
export const where: string = import.meta.url

export function fail(): never {
  throw new Error('on line 5')
}
`,
  'engine/words/worker.ts': `export { where } from '../where.ts'\n`,
  'http/client/one.ts': `import type { Two } from './two.ts'\nexport const one: Two = 1\n`,
  'http/client/two.ts': 'export type Two = number\n',
  'storage/notes.md': 'no source',
  'actors/actor.ts': 'export {}\n',
}

/** Built programs need no other project file than program.ts. */
function newTree(): string {
  const root = mkdtempSync(join(folder, 'tree-'))
  for (const [path, text] of Object.entries(SOURCES)) write(root, path, text)
  cpSync('engine/process/program.ts', join(root, 'engine/process/program.ts'), { recursive: true })
  mkdirSync(join(root, 'node_modules'))
  return root
}

function write(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

async function builtOf(root: string): Promise<string> {
  const built = await builtFolder(root)
  assert.ok(built !== null)
  return built
}

async function startsBuild(root: string): Promise<string> {
  const module = JSON.stringify(pathToFileURL('engine/process/build.mjs').href)
  const program = `import { builtFolder } from ${module}
    process.stdout.write(await builtFolder(${JSON.stringify(root)}))`
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program])
  return stdout
}

const buildsIn = (root: string) => readdirSync(join(root, 'node_modules/.cache/twinbook')).sort()
const here = (root: string, path: string) => pathToFileURL(join(root, path)).href

test('builds programs with correct source URLs, links to other built programs, and source lines in stack traces', async () => {
  const root = newTree()
  const built = await builtOf(root)
  const main = join(built, 'engine/app/main.mjs')
  const { stdout } = await run(process.execPath, [main])
  assert.deepEqual(JSON.parse(stdout), [
    here(root, 'engine/app/main.ts'),
    here(root, 'engine/where.ts'),
    pathToFileURL(join(built, 'engine/words/worker.mjs')).href,
    join(built, 'http/client/one.mjs'),
  ])
  assert.ok(existsSync(join(built, 'engine/words/worker.mjs')))
  assert.ok(existsSync(join(built, 'http/client/one.mjs')))
  const failed = run(process.execPath, ['--enable-source-maps', main, 'fail'])
  await assert.rejects(failed, /engine\/where\.ts:5:/)
})

test('builds identical sources once for concurrent starts, and builds changed sources anew', async () => {
  const root = newTree()
  const [first, second] = await Promise.all([startsBuild(root), startsBuild(root)])
  assert.equal(first, second)
  const built = await builtOf(root)
  assert.equal(built, first)
  assert.deepEqual(buildsIn(root), [basename(built)], 'no unfinished build is left')
  // A second build would restore the changed file.
  writeFileSync(join(built, 'engine/app/main.mjs'), 'kept')
  assert.equal(await builtFolder(root), built)
  assert.equal(readFileSync(join(built, 'engine/app/main.mjs'), 'utf8'), 'kept')
  write(root, 'actors/actor.ts', 'export const changed = 1\n')
  assert.notEqual(await builtFolder(root), built)
  await assert.rejects(async () => {
    write(root, 'engine/app/main.ts', 'this is no program')
    await builtFolder(root)
  }, /main\.ts/)
  assert.equal(buildsIn(root).length, 2, 'a failed build leaves no folder')
})

test('retains the two most recently used earlier builds, and removes older and unfinished builds', async () => {
  const root = newTree()
  const built = await builtOf(root)
  const cache = dirname(built)
  const names = ['aaaa', 'bbbb', 'cccc', 'dddd.0123', 'eeee.4567']
  for (const [index, name] of names.entries()) {
    mkdirSync(join(cache, name))
    // Only `eeee.4567` has a recent modification time.
    if (name !== 'eeee.4567') utimesSync(join(cache, name), 1_000 + index, 1_000 + index)
  }
  await builtOf(root)
  assert.deepEqual(buildsIn(root), ['bbbb', 'cccc', 'eeee.4567', basename(built)].sort())
})

test('starts through tsx when the installation is read-only, otherwise from a build, with the same output', async () => {
  const root = mkdtempSync(join(folder, 'whole-'))
  for (const path of ['engine', 'storage', 'actors', 'http', 'package.json', 'package-lock.json']) {
    cpSync(path, join(root, path), { recursive: true })
  }
  mkdirSync(join(root, 'node_modules'))
  for (const name of readdirSync('node_modules')) {
    if (name === '.cache') continue
    symlinkSync(join(process.cwd(), 'node_modules', name), join(root, 'node_modules', name))
  }
  // A file in place of the build folder prevents writing, even as root.
  writeFileSync(join(root, 'node_modules/.cache'), '')
  assert.equal(await builtFolder(root), null)
  const unbuilt = await run(process.execPath, ['engine/app/start.mjs', '--help'], { cwd: root })
  const built = await run(process.execPath, ['engine/app/start.mjs', '--help'])
  assert.match(unbuilt.stdout, /Usage:\n {2}npm start/)
  assert.equal(built.stdout, unbuilt.stdout)
})
