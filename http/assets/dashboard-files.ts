// Builds the dashboard for browsers, once at start. File names contain a content hash, so caches may store all files
// except the page. URLs are relative, so the page works behind the path prefix of a proxy.

import { readdirSync, readFileSync } from 'node:fs'
import {
  type BrowserModule,
  hashOf,
  linkModules,
  loadedWith,
  readWithoutTypes,
} from './browser-modules.ts'
import { type ClientFile, readClientFiles } from './client-files.ts'

interface DashboardFile {
  readonly text: string
  readonly contentType: string
}

interface DashboardFiles {
  readonly html: string
  readonly files: ReadonlyMap<string, DashboardFile>
}

/** Content-Security-Policy: same origin only, nothing inline, and no strings parsed as HTML. */
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
  // dashboard/browser.ts creates the worker's URL with this policy.
  'trusted-types twinbook-worker',
].join('; ')

const FOLDER = new URL('../dashboard/', import.meta.url)
const START = 'main.ts'
/** Script that runs before the first paint. */
const THEME = 'start-theme.ts'
/** Script of the shared worker. No module imports it, so the page contains its URL. */
const WORKER = 'stream-worker.ts'
/** Must precede the other styles, which depend on it. */
const BASE_STYLE = 'style.css'
const SCRIPT = 'text/javascript; charset=utf-8'
const STYLE = 'text/css; charset=utf-8'
/** Libraries that modules import by name. Each must be a single file without imports. */
const LIBRARIES: readonly (readonly [name: string, file: string])[] = [
  ['preact', 'preact.mjs'],
  ['preact/hooks', 'hooks.mjs'],
  ['htm', 'htm.mjs'],
  ['lightweight-charts', 'lightweight-charts.standalone.production.mjs'],
]

let read: DashboardFiles | null = null

/** Read once per process. Throws if a file cannot be built or a package is missing, so that the server does not start. */
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
  const theme = modules.get(THEME)
  if (theme === undefined) throw new Error(`the dashboard has no ${THEME}`)
  const names = {
    main,
    worker: scriptName(WORKER, worker.hash),
    theme: scriptName(THEME, theme.hash),
  }
  return { html: htmlOf(names, startPath(main, byName, client), styles), files }
}

function readSources(): ReadonlyMap<string, string> {
  const paths = pathsUnder('').filter((path) => path.endsWith('.ts'))
  const sources = new Map(readWithoutTypes(FOLDER, paths))
  for (const [name, file] of LIBRARIES) {
    const text = readFileSync(new URL(file, import.meta.resolve(name)), 'utf8')
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

/** Replaces slashes of the path by hyphens, because route parameters cannot contain slashes. */
function scriptName(path: string, hash: string): string {
  return `${path.replace(/\.ts$/, '').replaceAll('/', '-')}-${hash}.js`
}

function clientAddress(path: string, client: ReadonlyMap<string, ClientFile>): string | null {
  const name = /^\.\.\/client\/([a-z0-9-]+)\.ts$/.exec(path)?.[1]
  const file = name === undefined ? undefined : client.get(`${name}.js`)
  return file === undefined ? null : `../client/${file.name}?v=${file.hash}`
}

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

/** Page template. The application replaces the placeholder. */
function htmlOf(
  {
    main,
    worker,
    theme,
  }: { readonly main: string; readonly worker: string; readonly theme: string },
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
<script src="dashboard/${theme}"></script>
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

/** `root` is the relative URL of the server's root, such as `../`. */
export function notFoundHtml(root: string): string {
  const styles = [...readDashboard().files.keys()].filter((name) => name.endsWith('.css'))
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>No such page – Twinbook</title>
<link rel="icon" href="${ICON}">
${styles.map((name) => `<link rel="stylesheet" href="${root}dashboard/${name}">`).join('\n')}
</head>
<body>
<div class="head"><header class="top"><a class="name" href="${root}dashboard">Twinbook</a></header></div>
<main>
<h1>No such page</h1>
<p>The dashboard has no page at this address. <a href="${root}dashboard">Open the dashboard</a></p>
</main>
</body>
</html>
`
}

export const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#0f9f6e" d="M1 9h6v6H1zM1 5h4v3H1zM1 1h2v3H1z"/><path fill="#d6455d" d="M9 9h6v6H9zM11 5h4v3h-4zM13 1h2v3h-2z"/></svg>',
)}`
