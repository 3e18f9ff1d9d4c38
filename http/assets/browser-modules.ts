// Modules as a browser loads them: types stripped, and what a module imports asked for by an address that names its
// content, so that caches may keep every module and no page mixes those of two versions. No bundler: one file a module.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { builtOf } from '../../engine/process/program.ts'

/** A module, ready to be served. */
export interface BrowserModule {
  readonly text: string
  /** Of the text, and so of all that it imports: another text, another hash. */
  readonly hash: string
}

/** How modules of one kind are addressed. */
interface LinkRules {
  /** What they are called together in errors. */
  readonly what: string
  /** What an importer writes for a module. */
  addressOf(path: string, hash: string): string
  /** The address of a path that is none of these modules; null: there is none. */
  outside(path: string): string | null
}

const STATIC = /^((?:import|export)\b(?!\s*\()[^"'`;]*?)(["'])([^"'\n]+)\2/gm
const DYNAMIC = /(\bimport\(\s*)(["'])([^"'\n]+)\2(?=\s*\))/g

/** What was made, by the hash of all that it was made of: several routes ask for the client, and each start is a process. */
const withoutTypes = new Map<string, ReadonlyMap<string, string>>()

/**
 * The `.ts` files of a folder, by path in it, without types: what is imported only as a type is gone, the rest stays
 * as written. `npm start` finds them built; elsewhere they are made in one go: asked for one by one they would take ten
 * times as long.
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
    // As the compiler does.
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
  })
  const texts = new Map(
    outputFiles.map(({ path, text }) => [path.slice(root.length).replace(/\.js$/, '.ts'), text]),
  )
  withoutTypes.set(key, texts)
  return texts
}

/** The hash under which a text is asked for. */
export const hashOf = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 12)

/** The addresses that a linked module loads before it runs. */
export const loadedWith = ({ text }: BrowserModule): readonly string[] =>
  [...text.matchAll(STATIC)].map(([, , , address]) => address ?? '')

/**
 * Every module by path, its imports rewritten: those that are imported first, since their hashes are part of the
 * importers. Relative imports are resolved from the importer's path, others are paths themselves. Throws for
 * what is not there, and for modules that import each other.
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
