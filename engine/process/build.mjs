// @ts-check
// What `npm start` runs: the rooms as plain JavaScript, made once into a folder that is named by a hash of their text, so
// that no process and no thread strips types at each start, and none keeps esbuild's own process beside it. Plain
// JavaScript itself, since it runs before anything else can read TypeScript.
//
//   node_modules/.cache/twinbook/HASH/engine/main.mjs                     one file for each program: main, threads, simulator,
//                                     engine/search/worker.mjs …          and chunks that they share; packages stay outside
//
// Inside node_modules, since there the packages are found that the programs import. `import.meta.url` in a built program is
// still the address of its source: words.json, the dashboard's files and `new URL('./worker.ts', import.meta.url)` mean what
// they say, and program.ts knows the way from a source to what was made of it. Tests, benches' own parts and commands run
// the sources through tsx.

import { createHash, randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const ROOMS = ['engine', 'storage', 'actors', 'http']
/** What browsers load, each file by itself. */
const BROWSERS = /^http\/(?:client|dashboard|documents\/browser)\//
/** What is run by itself: in the main thread, in other threads, in the simulator's process. */
const PROGRAM = /^engine\/(?:main|.*\/worker|venues\/simulator\/child)\.ts$/
/** Builds of other texts that stay, the last used: a running engine of an older text may yet start a thread. */
const OTHERS_KEPT = 2
/** An unfinished build that is older belongs to nobody. */
const UNFINISHED_MS_MAX = 3_600_000

/**
 * The folder with the programs of the sources under `root` as they are now, made if it is not there. Null when it is not
 * there and cannot be written. Throws for sources that cannot be built. Safe beside others that do the same.
 * @param {string} root
 * @returns {Promise<string | null>}
 */
export async function builtFolder(root) {
  const cache = join(root, 'node_modules', '.cache', 'twinbook')
  const sources = readSources(root)
  const folder = join(cache, keyOf(root, sources))
  try {
    if (!existsSync(folder)) await make(root, sources, folder)
    keepTidy(cache, folder)
  } catch (error) {
    // The file system's: what cannot be written here is not built.
    if (!(error instanceof Error && 'syscall' in error)) throw error
  }
  return existsSync(folder) ? folder : null
}

/**
 * @param {string} root
 * @returns {ReadonlyMap<string, string>} texts by path
 */
function readSources(root) {
  const paths = ROOMS.flatMap((room) => pathsUnder(root, room)).filter((path) =>
    path.endsWith('.ts'),
  )
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]))
}

/**
 * @param {string} root
 * @param {string} folder
 * @returns {string[]}
 */
function pathsUnder(root, folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    return entry.isDirectory() ? pathsUnder(root, path) : [path]
  })
}

/**
 * @param {string} root
 * @param {ReadonlyMap<string, string>} sources
 */
function keyOf(root, sources) {
  // The root too: addresses of sources stand in what is built. The lock names the versions of esbuild and all else.
  const hash = createHash('sha256').update(root)
  for (const path of [fileURLToPath(import.meta.url), join(root, 'package-lock.json')]) {
    hash.update('\n').update(readFileSync(path))
  }
  for (const [path, text] of sources) hash.update(`\n${path}\n`).update(text)
  return hash.digest('hex').slice(0, 16)
}

/**
 * Under a name of its own first, so that no start ever sees a half of it.
 * @param {string} root
 * @param {ReadonlyMap<string, string>} sources
 * @param {string} folder
 */
async function make(root, sources, folder) {
  const unfinished = `${folder}.${randomBytes(6).toString('hex')}`
  mkdirSync(unfinished, { recursive: true })
  try {
    for (const { path, contents } of await build(root, sources, folder)) {
      const file = join(unfinished, relative(folder, path))
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, contents)
    }
    renameSync(unfinished, folder)
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    // Otherwise another start was faster.
    if (!existsSync(folder)) throw error
  }
}

/**
 * @param {string} root
 * @param {ReadonlyMap<string, string>} sources
 * @param {string} folder where the files will be
 */
async function build(root, sources, folder) {
  // Only here: a start that finds its build has no need of it.
  const esbuild = await import('esbuild')
  /** @type {import('esbuild').Plugin} */
  const addressed = {
    name: 'the address of a source stays that of the source',
    setup(its) {
      its.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const address = JSON.stringify(pathToFileURL(path).href)
        const text = sources.get(relative(root, path).replaceAll('\\', '/'))
        if (text === undefined) return undefined
        return { contents: text.replaceAll('import.meta.url', address), loader: 'ts' }
      })
    },
  }
  const paths = [...sources.keys()]
  /** @satisfies {import('esbuild').BuildOptions} */
  const shared = {
    absWorkingDir: root,
    outdir: folder,
    outbase: root,
    outExtension: { '.js': '.mjs' },
    format: /** @type {const} */ ('esm'),
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
    logLevel: /** @type {const} */ ('silent'),
    write: /** @type {const} */ (false),
  }
  try {
    const programs = await esbuild.build({
      ...shared,
      entryPoints: paths.filter((path) => PROGRAM.test(path)),
      bundle: true,
      splitting: true,
      packages: 'external',
      platform: 'node',
      target: 'node20',
      // V8 keeps a program's text, in twice the bytes if one character is not of Latin 1, as of comments some are.
      minifyWhitespace: true,
      // Stack traces name the lines of the sources, whose text is where it was.
      sourcemap: true,
      sourcesContent: false,
      define: { BUILT_FOLDER: JSON.stringify(folder), SOURCE_FOLDER: JSON.stringify(root) },
      plugins: [addressed],
    })
    const browsers = await esbuild.build({
      ...shared,
      entryPoints: paths.filter((path) => BROWSERS.test(path)),
      target: 'es2022',
    })
    return [...programs.outputFiles, ...browsers.outputFiles]
  } finally {
    // Its process would stay beside ours.
    await esbuild.stop()
  }
}

/**
 * @param {string} cache
 * @param {string} folder
 */
function keepTidy(cache, folder) {
  const now = new Date()
  utimesSync(folder, now, now)
  const others = readdirSync(cache)
    .map((name) => join(cache, name))
    .filter((path) => path !== folder)
    .map((path) => ({ path, usedAtMs: statSync(path).mtimeMs, isDone: !/\.[0-9a-f]+$/.test(path) }))
    .sort((one, other) => other.usedAtMs - one.usedAtMs)
  const old = others.filter(({ isDone }) => isDone).slice(OTHERS_KEPT)
  const left = others.filter(
    (one) => !one.isDone && now.getTime() - one.usedAtMs > UNFINISHED_MS_MAX,
  )
  for (const { path } of [...old, ...left]) rmSync(path, { recursive: true, force: true })
}
