// The package's client as a browser loads it: every file of http/client/ with its types stripped, made
// once at start, so that a page of ours can `import` it without a bundler. Names are those of the
// sources; what a file imports it asks for by name and a hash of its content, so that caches may keep
// all but the door, and nobody mixes the files of two versions.
// Not for: the routes (routes/client-files.ts), or the package on npm (`npm run build:client`).
// Upholds SHIP1, SHIP2.

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { transformSync } from 'esbuild'

/** A module of the client, ready to be served. */
export interface ClientFile {
  readonly name: string
  readonly text: string
  /** Of the text: another text, another hash. */
  readonly hash: string
}

const FOLDER = new URL('./client/', import.meta.url)
const IMPORT = /(\bfrom\s*|\bimport\s*)(["'])\.\/([a-z0-9-]+)\.ts\2/g

/** Every module by name, `connect.js` among them. Throws for what cannot be shipped: no start then. */
export function readClientFiles(): ReadonlyMap<string, ClientFile> {
  const sources = new Map<string, string>()
  for (const file of readdirSync(FOLDER)) {
    if (!file.endsWith('.ts')) continue
    const source = readFileSync(new URL(file, FOLDER), 'utf8')
    sources.set(file.slice(0, -'.ts'.length), stripped(source, file))
  }
  return linked(sources)
}

function stripped(source: string, file: string): string {
  const { code } = transformSync(source, {
    loader: 'ts',
    format: 'esm',
    target: 'es2022',
    sourcefile: file,
    // As the compiler does: what is imported only as a type is gone, the rest stays as written.
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
  })
  return code
}

/** Imports rewritten, those that are imported first, since their hashes are part of who imports them. */
export function linked(sources: ReadonlyMap<string, string>): ReadonlyMap<string, ClientFile> {
  const done = new Map<string, ClientFile>()
  const open = new Set<string>()
  const link = (name: string): ClientFile => {
    const known = done.get(`${name}.js`)
    if (known !== undefined) return known
    const source = sources.get(name)
    if (source === undefined) throw new Error(`the client imports ${name}.ts, which is not there`)
    if (open.has(name)) throw new Error(`the client's files import each other around ${name}.ts`)
    open.add(name)
    const text = source.replace(IMPORT, (_, word: string, quote: string, target: string) => {
      return `${word}${quote}./${target}.js?v=${link(target).hash}${quote}`
    })
    open.delete(name)
    const hash = createHash('sha256').update(text).digest('hex').slice(0, 12)
    const file = { name: `${name}.js`, text, hash }
    done.set(file.name, file)
    return file
  }
  for (const name of sources.keys()) link(name)
  return done
}
