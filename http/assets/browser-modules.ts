// Builds browser modules: strips types and rewrites imports to addresses with a content hash. Caches can
// store every module, and no page mixes modules of two versions. One file per module, no bundler.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { builtOf } from '../../engine/process/program.ts'

export interface BrowserModule {
  readonly text: string
  /** Hash of the text. It also changes with any imported module, since the text contains their hashes. */
  readonly hash: string
}

/** Rules for the addresses of a set of modules. */
interface LinkRules {
  /** Name of the set in error messages. */
  readonly what: string
  /** The specifier that an importing module uses. */
  addressOf(path: string, hash: string): string
  /** The address of a path outside the set; null if there is none. */
  outside(path: string): string | null
}

const STATIC = /^((?:import|export)\b(?!\s*\()[^"'`;]*?)(["'])([^"'\n]+)\2/gm
const DYNAMIC = /(\bimport\(\s*)(["'])([^"'\n]+)\2(?=\s*\))/g

/** Results by input hash, since several routes need the client's modules. */
const withoutTypes = new Map<string, ReadonlyMap<string, string>>()

/**
 * Reads `.ts` files and strips their types. Type-only imports are removed; other code is unchanged.
 * Uses the built files if all exist (`npm start`). Else one esbuild call handles all files, since one call
 * per file is ten times slower.
 */
export function readWithoutTypes(
  folder: URL,
  paths: readonly string[],
): ReadonlyMap<string, string> {
  const built = paths.map((path) => [path, builtOf(new URL(path, folder))] as const)
  if (built.every((one): one is readonly [string, string] => one[1] !== null)) {
    return new Map(built.map(([path, file]) => [path, readFileSync(file, 'utf8')]))
  }
  const root = fileURLToPath(folder)
  const content = createHash('sha256').update(root)
  for (const path of paths)
    content.update(`\n${path}\n`).update(readFileSync(posix.join(root, path)))
  const key = content.digest('hex')
  const cached = withoutTypes.get(key)
  if (cached !== undefined) return cached
  const { outputFiles } = buildSync({
    entryPoints: paths.map((path) => posix.join(root, path)),
    bundle: false,
    write: false,
    outbase: root,
    outdir: root,
    format: 'esm',
    target: 'es2022',
    logLevel: 'silent',
    // Same option as in the compiler.
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
  })
  const texts = new Map(
    outputFiles.map(({ path, text }) => [path.slice(root.length).replace(/\.js$/, '.ts'), text]),
  )
  withoutTypes.set(key, texts)
  return texts
}

/** The content hash in file names and addresses. */
export const hashOf = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 12)

/** Addresses of a linked module's static imports. */
export const loadedWith = ({ text }: BrowserModule): readonly string[] =>
  [...text.matchAll(STATIC)].map(([, , , address]) => address ?? '')

/**
 * Rewrites the imports of all modules. Imported modules are linked first, since importers contain their
 * hashes.
 * Relative imports are resolved against the importer's path; other imports are used as paths. Throws for a
 * missing module and for import cycles.
 */
export function linkModules(
  sources: ReadonlyMap<string, string>,
  rules: LinkRules,
): ReadonlyMap<string, BrowserModule> {
  const done = new Map<string, BrowserModule>()
  const open = new Set<string>()
  const addressOf = (path: string): string => {
    if (sources.has(path)) return rules.addressOf(path, link(path).hash)
    const outside = rules.outside(path)
    if (outside === null) throw new Error(`${rules.what} imports ${path}, which is not there`)
    return outside
  }
  const link = (path: string): BrowserModule => {
    const existing = done.get(path)
    if (existing !== undefined) return existing
    if (open.has(path)) throw new Error(`files of ${rules.what} import each other around ${path}`)
    open.add(path)
    const rewritten = (_: string, before: string, quote: string, imported: string) =>
      `${before}${quote}${addressOf(resolved(path, imported))}${quote}`
    const source = sources.get(path) ?? ''
    const text = source.replace(STATIC, rewritten).replace(DYNAMIC, rewritten)
    open.delete(path)
    const module = { text, hash: hashOf(text) }
    done.set(path, module)
    return module
  }
  for (const path of sources.keys()) link(path)
  return done
}

function resolved(path: string, imported: string): string {
  return imported.startsWith('.') ? posix.join(posix.dirname(path), imported) : imported
}
