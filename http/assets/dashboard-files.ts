// The dashboard as a browser loads it, made once at start: the page, its modules with their types stripped, its styles,
// and the libraries from their npm packages; every file ours to serve, so that the page makes no request to any other host
// else. Names carry a hash of the content, so that caches may keep all but the page for ever; addresses are relative,
// so that it works behind any path of a proxy. What a module imports of http/client/ is asked for where that is
// served already.

import { readdirSync, readFileSync } from 'node:fs'
import {
  type BrowserModule,
  hashOf,
  linkModules,
  loadedWith,
  readWithoutTypes,
} from './browser-modules.ts'
import { type ClientFile, readClientFiles } from './client-files.ts'

/** A file of the dashboard. */
interface DashboardFile {
  readonly text: string
  readonly contentType: string
}

/** The page and its files by name; nothing else can be asked for. */
interface DashboardFiles {
  readonly html: string
  readonly files: ReadonlyMap<string, DashboardFile>
}

/**
 * Only our own scripts, styles, images and requests, nothing inline, nothing from a text: `connect-src 'self'` also
 * names the stream of the same host. No script may turn a text into markup at all.
 */
export const DASHBOARD_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  // The one maker of addresses of scripts: it makes that of the worker (dashboard/browser.ts).
  'trusted-types twinbook-worker',
].join('; ')

const FOLDER = new URL('../dashboard/', import.meta.url)
const START = 'main.ts'
/** What all tabs of a browser share; the page names it, since no module imports it. */
const WORKER = 'stream-worker.ts'
/** Before all others: the rest of the styles builds on it. */
const BASE_STYLE = 'style.css'
const SCRIPT = 'text/javascript; charset=utf-8'
const STYLE = 'text/css; charset=utf-8'
/** What modules may import by name: the file, beside the package's own entry, that needs no other package. */
const LIBRARIES: readonly (readonly [name: string, file: string])[] = [
  ['preact', 'preact.mjs'],
  ['preact/hooks', 'hooks.mjs'],
  ['htm', 'htm.mjs'],
  ['lightweight-charts', 'lightweight-charts.standalone.production.mjs'],
]

let read: DashboardFiles | null = null

/** All of it, read once in a process. Throws for what cannot be shipped and for a package that is not installed: no start then. */
export function readDashboard(): DashboardFiles {
  read ??= readWith(readClientFiles())
  return read
}

function readWith(client: ReadonlyMap<string, ClientFile>): DashboardFiles {
  const modules = linkModules(readSources(), {
    what: 'the dashboard',
    addressOf: (path, hash) => `./${scriptName(path, hash)}`,
    outside: (path) => clientAddress(path, client),
  })
  const files = new Map<string, DashboardFile>()
  const byName = new Map<string, BrowserModule>()
  const add = (name: string, text: string, contentType: string) => {
    if (files.has(name)) throw new Error(`two files of the dashboard are named ${name}`)
    files.set(name, { text, contentType })
  }
  for (const [path, module] of modules) {
    const name = scriptName(path, module.hash)
    add(name, module.text, SCRIPT)
    byName.set(name, module)
  }
  const styles = readStyles().map(([name, text]) => {
    const styleName = `${name.replace(/\.css$/, '')}-${hashOf(text)}.css`
    add(styleName, text, STYLE)
    return styleName
  })
  const start = modules.get(START)
  if (start === undefined) throw new Error(`the dashboard has no ${START}`)
  const worker = modules.get(WORKER)
  if (worker === undefined) throw new Error(`the dashboard has no ${WORKER}`)
  const main = scriptName(START, start.hash)
  const names = { main, worker: scriptName(WORKER, worker.hash) }
  return { html: htmlOf(names, startPath(main, byName, client), styles), files }
}

/** Modules and libraries by path, without types. */
function readSources(): ReadonlyMap<string, string> {
  const paths = pathsUnder('').filter((path) => path.endsWith('.ts'))
  const sources = new Map(readWithoutTypes(FOLDER, paths))
  for (const [name, file] of LIBRARIES) {
    const text = readFileSync(new URL(file, import.meta.resolve(name)), 'utf8')
    // The last line names its source map, which we do not serve.
    sources.set(name, text.replace(/\/\/# sourceMappingURL=.*\s*$/, ''))
  }
  return sources
}

function pathsUnder(folder: string): string[] {
  return readdirSync(new URL(folder, FOLDER), { withFileTypes: true })
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = `${folder}${entry.name}`
      return entry.isDirectory() ? pathsUnder(`${path}/`) : [path]
    })
}

function readStyles(): readonly (readonly [name: string, text: string])[] {
  const names = pathsUnder('').filter((name) => name.endsWith('.css'))
  const ordered = [BASE_STYLE, ...names.filter((name) => name !== BASE_STYLE)]
  return ordered.map((name) => [
    name.replaceAll('/', '-'),
    readFileSync(new URL(name, FOLDER), 'utf8'),
  ])
}

/** In one folder: the paths of the routes have no parameter with slashes in it. */
function scriptName(path: string, hash: string): string {
  return `${path.replace(/\.ts$/, '').replaceAll('/', '-')}-${hash}.js`
}

function clientAddress(path: string, client: ReadonlyMap<string, ClientFile>): string | null {
  const name = /^\.\.\/client\/([a-z0-9-]+)\.ts$/.exec(path)?.[1]
  const file = name === undefined ? undefined : client.get(`${name}.js`)
  return file === undefined ? null : `../client/${file.name}?v=${file.hash}`
}

/** Addresses of all that is loaded before `main` runs, from the page's own address, `main` first. */
function startPath(
  main: string,
  modules: ReadonlyMap<string, BrowserModule>,
  client: ReadonlyMap<string, ClientFile>,
): readonly string[] {
  const base = 'http://page/'
  const moduleAt = ({ pathname }: URL) => {
    const [folder, name = ''] = pathname.slice(1).split('/')
    return folder === 'client' ? client.get(name) : modules.get(name)
  }
  const seen = new Set<string>()
  const waiting = [`${base}dashboard/${main}`]
  for (let address = waiting.shift(); address !== undefined; address = waiting.shift()) {
    if (seen.has(address)) continue
    seen.add(address)
    const module = moduleAt(new URL(address))
    for (const imported of module === undefined ? [] : loadedWith(module)) {
      waiting.push(new URL(imported, address).href)
    }
  }
  return [...seen].map((address) => address.slice(base.length))
}

/** The first picture stands in the page itself; what runs takes its place. */
function htmlOf(
  { main, worker }: { readonly main: string; readonly worker: string },
  preloaded: readonly string[],
  styles: readonly string[],
): string {
  const links = [
    ...styles.map((name) => `<link rel="stylesheet" href="dashboard/${name}">`),
    ...preloaded.map((address) => `<link rel="modulepreload" href="${address}">`),
  ]
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="Two prediction-market venues as one: prices, books, trades and matches, live.">
<meta name="stream-worker" content="dashboard/${worker}">
<title>Twinbook</title>
<link rel="icon" href="${ICON}">
${links.join('\n')}
</head>
<body>
<div id="page">
<div class="head"><header class="top"><span class="name">Twinbook</span></header></div>
<main><p class="state waiting">Loading…</p></main>
</div>
<noscript><p>This page needs JavaScript. Without it, see the <a href="docs">documentation of the interface</a>.</p></noscript>
<script type="module" src="dashboard/${main}"></script>
</body>
</html>
`
}

/** Two books beside each other. */
export const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#0f9f6e" d="M1 9h6v6H1zM1 5h4v3H1zM1 1h2v3H1z"/><path fill="#d6455d" d="M9 9h6v6H9zM11 5h4v3h-4zM13 1h2v3h-2z"/></svg>',
)}`
