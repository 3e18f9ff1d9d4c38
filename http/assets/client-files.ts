// Builds http/client/ for browsers, once at start. Imports contain a content hash, so caches may store all files except
// `connect.js`.

import { readdirSync } from 'node:fs'
import { type BrowserModule, linkModules, readWithoutTypes } from './browser-modules.ts'

export interface ClientFile extends BrowserModule {
  readonly name: string
}

const FOLDER = new URL('../client/', import.meta.url)

let read: ReadonlyMap<string, ClientFile> | null = null

/** All modules by name. Read once per process. Throws if a file cannot be built, so that the server does not start. */
export function readClientFiles(): ReadonlyMap<string, ClientFile> {
  read ??= readThem()
  return read
}

function readThem(): ReadonlyMap<string, ClientFile> {
  const paths = readdirSync(FOLDER).filter((path) => path.endsWith('.ts'))
  const sources = readWithoutTypes(FOLDER, paths)
  return linked(new Map([...sources].map(([path, text]) => [path.slice(0, -'.ts'.length), text])))
}

/** Rewrites the imports. The keys of `sources` are file names without extension. */
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
