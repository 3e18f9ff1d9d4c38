// @ts-check
// Compiles the sources to JavaScript for `npm start`, into a folder that is named by their hash. An existing build is
// reused. This file is JavaScript, because it runs before TypeScript can run.
//
//   node_modules/.cache/twinbook/HASH/engine/app/main.mjs, engine/search/worker.mjs, …
//
// Each program (main thread, worker threads, simulator) is one file, and programs share chunks. Packages are not
// bundled. The folder is in node_modules, so that the programs find their packages. In a built file, `import.meta.url`
// is the URL of the source file, so that relative files are found. program.ts maps a source to its built file.

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
const BROWSERS = /^http\/(?:client|dashboard|documents\/browser)\//
const PROGRAM = /^engine\/(?:app\/main|.*\/worker|venues\/simulator\/child)\.ts$/
/**
 * Number of other builds that are retained, most recently used first. A running engine of an older version may still
 * start a thread from its build.
 */
const OTHERS_KEPT = 2
const UNFINISHED_MS_MAX = 3_600_000

/**
 * Returns the folder with the programs built from the current sources under `root`. Builds the programs if the folder
 * does not exist. Null if the folder cannot be written. Throws if a source cannot be built. Several processes may call
 * it at the same time.
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
  // The hash includes the root, because built programs contain URLs of sources. It also includes the lock file with the
  // versions of all packages.
  const hash = createHash('sha256').update(root)
  for (const path of [fileURLToPath(import.meta.url), join(root, 'package-lock.json')]) {
    hash.update('\n').update(readFileSync(path))
  }
  for (const [path, text] of sources) hash.update(`\n${path}\n`).update(text)
  return hash.digest('hex').slice(0, 16)
}

/**
 * Builds under a temporary name and renames the folder, so that no process ever sees an incomplete build.
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
    // A concurrent start has finished the same build.
    if (!existsSync(folder)) throw error
  }
}

/**
 * @param {string} root
 * @param {ReadonlyMap<string, string>} sources
 * @param {string} folder where the files will be
 */
async function build(root, sources, folder) {
  // Imported only if needed, so that a start with an existing build is fast.
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
      // Removes comments. V8 keeps the text of a program in memory, at twice the size if a character is outside
      // Latin-1.
      minifyWhitespace: true,
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
    // Otherwise the process of esbuild would continue to run.
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
