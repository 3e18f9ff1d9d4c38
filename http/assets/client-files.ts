// The package's client as a browser loads it: every file of http/client/ with its types stripped, made
// once at start, so that a page of ours can `import` it without a bundler. Names are those of the
// sources; what a file imports it asks for by name and a hash of its content, so that caches may keep
// all but `connect.js`, and no page mixes the files of two versions.

import { readdirSync } from 'node:fs'
import { type BrowserModule, linkModules, readWithoutTypes } from './browser-modules.ts'

/** A module of the client, ready to be served. */
export interface ClientFile extends BrowserModule {
  readonly name: string
}

const FOLDER = new URL('../client/', import.meta.url)

let read: ReadonlyMap<string, ClientFile> | null = null

/** Every module by name, `connect.js` among them; read once in a process. Throws for what cannot be shipped: no start then. */
export function readClientFiles(): ReadonlyMap<string, ClientFile> {
  read ??= readThem()
  return read
}

function readThem(): ReadonlyMap<string, ClientFile> {
  const paths = readdirSync(FOLDER).filter((path) => path.endsWith('.ts'))
  const sources = readWithoutTypes(FOLDER, paths)
  return linked(new Map([...sources].map(([path, text]) => [path.slice(0, -'.ts'.length), text])))
}

/** Modules by name with their imports rewritten; `sources` by name without an ending. */
export function linked(sources: ReadonlyMap<string, string>): ReadonlyMap<string, ClientFile> {
  const byPath = new Map([...sources].map(([name, source]) => [`${name}.ts`, source]))
  const modules = linkModules(byPath, {
    what: 'the client',
    addressOf: (path, hash) => `./${scriptName(path)}?v=${hash}`,
    outside: () => null,
  })
  return new Map(
    [...modules].map(([path, module]) => {
      const name = scriptName(path)
      return [name, { name, ...module }]
    }),
  )
}

const scriptName = (path: string): string => path.replace(/\.ts$/, '.js')
