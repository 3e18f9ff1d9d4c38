// Builds browser modules without a bundler: strips types and rewrites imports to URLs with a content hash. A page
// therefore never loads modules of two versions.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { builtOf } from '../../engine/process/program.ts'

export interface BrowserModule {
  readonly text: string
  /** Changes with every imported module, because `text` contains the hashes of its imports. */
  readonly hash: string
}

interface LinkRules {
  /** Name of the set in error messages. */
  readonly what: string
  /** Returns the specifier that importing modules use. */
  addressOf(path: string, hash: string): string
  /** Returns the URL of a path outside the set; null if there is none. */
  outside(path: string): string | null
}

const STATIC = /^((?:import|export)\b(?!\s*\()[^"'`;]*?)(["'])([^"'\n]+)\2/gm
const DYNAMIC = /(\bimport\(\s*)(["'])([^"'\n]+)\2(?=\s*\))/g

const withoutTypes = new Map<string, ReadonlyMap<string, string>>()

/**
 * Strips types from `.ts` files and removes type-only imports. Uses the built files if all of them exist. Otherwise one
 * esbuild call converts all files.
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
    // Must equal the option in tsconfig.json.
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
  })
  const texts = new Map(
    outputFiles.map(({ path, text }) => [path.slice(root.length).replace(/\.js$/, '.ts'), text]),
  )
  withoutTypes.set(key, texts)
  return texts
}

export const hashOf = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 12)

/** URLs of the static imports of a linked module. */
export const loadedWith = ({ text }: BrowserModule): readonly string[] =>
  [...text.matchAll(STATIC)].map(([, , , address]) => address ?? '')

/**
 * Links imported modules before the modules that import them. Resolves relative imports against the importing module's
 * path and uses other specifiers as paths. Throws on a missing module or an import cycle.
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
