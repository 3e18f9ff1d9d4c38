// Renders the API reference at /docs from the OpenAPI and AsyncAPI documents. File names contain a content hash, so
// caches can store the files without expiry.

import { readFileSync } from 'node:fs'
import { hashOf, readWithoutTypes } from '../assets/browser-modules.ts'
import { ICON } from '../assets/dashboard-files.ts'
import { type Markup, markup, prose } from './page/markup.ts'
import {
  type Entry,
  type Group,
  operationGroups,
  recordGroup,
  webhookGroup,
} from './page/operations.ts'
import type { Shapes } from './page/shapes.ts'
import { streamGroups } from './page/stream.ts'
import { isObject, type JsonObject } from './schemas-of.ts'

export interface PageFile {
  readonly text: string
  readonly contentType: string
}

export interface PageFiles {
  readonly style: string
  readonly script: string
  readonly files: ReadonlyMap<string, PageFile>
}

/** Content-Security-Policy: same origin only, and no strings parsed as HTML. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const BROWSER = new URL('browser/', import.meta.url)
const BASE_STYLE = new URL('../dashboard/style.css', import.meta.url)

let read: PageFiles | null = null

/** Read once per process. Throws if a file cannot be built, so that the server does not start. */
export function readPageFiles(): PageFiles {
  read ??= readThem()
  return read
}

function readThem(): PageFiles {
  const script = readWithoutTypes(BROWSER, ['docs.ts']).get('docs.ts') ?? ''
  const style = [BASE_STYLE, new URL('docs.css', BROWSER)].map((path) => readFileSync(path, 'utf8'))
  const files = new Map<string, PageFile>()
  const add = (ending: string, contentType: string, text: string) => {
    const name = `docs-${hashOf(text)}.${ending}`
    files.set(name, { text, contentType: `${contentType}; charset=utf-8` })
    return name
  }
  return {
    script: add('js', 'text/javascript', script),
    style: add('css', 'text/css', style.join('\n')),
    files,
  }
}

/**
 * The last page and the hash of its input. The reference is weak, because servers need only the compressed bytes and
 * not the text of two megabytes.
 */
let newest: { readonly of: string; readonly page: WeakRef<PageFile> } | null = null

/** `rest` and `stream` are the documents as JSON text. */
export function docsPage(rest: string, stream: string, files: PageFiles): PageFile {
  const of = hashOf(`${files.style}\n${files.script}\n${rest}\n${stream}`)
  const cached = newest?.of === of ? newest.page.deref() : undefined
  if (cached !== undefined) return cached
  const page = made(JSON.parse(rest), JSON.parse(stream), files)
  newest = { of, page: new WeakRef(page) }
  return page
}

function made(rest: JsonObject, stream: JsonObject, { style, script }: PageFiles): PageFile {
  const components = isObject(rest.components) ? rest.components : {}
  const all = isObject(components.schemas) ? components.schemas : {}
  const shapes: Shapes = { all, isOnPage: (name) => all[name] !== undefined }
  const parts: readonly Chapter[] = [
    { id: 'rest', name: 'REST', groups: operationGroups(rest, shapes) },
    { id: 'stream', name: 'Stream', groups: streamGroups(stream, shapes) },
    { id: 'webhooks', name: 'Webhooks', groups: [webhookGroup(rest, shapes)] },
    { id: 'shapes', name: 'Records', groups: [recordGroup(shapes)] },
  ]
  const { version = '', description = '', ...info } = isObject(rest.info) ? rest.info : {}
  const facts = {
    version: String(version),
    service: String(info['x-service-version'] ?? ''),
    description: String(description),
  }
  const { text } = pageMarkup(facts, parts, style, script)
  return { text, contentType: 'text/html; charset=utf-8' }
}

interface Chapter {
  readonly id: string
  readonly name: string
  readonly groups: readonly Group[]
}

interface Facts {
  readonly version: string
  readonly service: string
  readonly description: string
}

/** URLs are relative, so that the page works behind the path prefix of a proxy. */
function pageMarkup(
  { version, service, description }: Facts,
  chapters: readonly Chapter[],
  style: string,
  script: string,
): Markup {
  return markup`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>API – Twinbook</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="docs/${style}">
<script type="module" src="docs/${script}"></script>
</head>
<body>
<div id="page">
<a class="skip" href="#main">Skip to the page</a>
<div class="head"><header class="top"><a class="name" href="dashboard">Twinbook</a>
<nav aria-label="Pages"><a href="dashboard">Back to the dashboard</a>${chapters.map(
    ({ id, name }) => markup`<a href="#${id}">${name}</a>`,
  )}</nav></header></div>
<div class="reference">
<nav class="contents" aria-label="Contents">
<div class="field"><label for="search">Search the reference</label><input id="search" type="search" autocomplete="off" placeholder="orderbook"></div>
<p class="muted" id="found" role="status"></p>
${chapters.map(contents)}
</nav>
<main id="main" tabindex="-1">
<h1>Twinbook API</h1>
<p class="muted">Interface ${version}, Twinbook ${service}</p>
${prose(description)}
<section class="card stack" id="you" aria-labelledby="you-title"><h2 id="you-title">Try it</h2>
<p id="who" role="status">Every request below can be sent from here, once this page may run its script.</p>
<div class="row"><div class="field"><label for="credential">API key, or token of a log-in</label><input id="credential" type="password" autocomplete="off" spellcheck="false"></div>
<button type="button" id="make-key" hidden>Make a key</button><button type="button" id="open-local" hidden>Use the local account</button></div>
<p id="trouble" class="error" role="alert"></p>
<p class="muted">Your key is kept in this tab only.</p></section>
${chapters.map(chapterOf)}
</main>
</div>
<footer><a href="dashboard">Dashboard</a> <a href="openapi.json">openapi.json</a> <a href="asyncapi.json">asyncapi.json</a></footer>
</div>
</body>
</html>
`
}

function contents({ id, name, groups }: Chapter): Markup {
  const listed = groups.filter(({ entries }) => entries.length > 0)
  return markup`<p class="chapter"><a href="#${id}">${name}</a></p>
${listed.map(
  (
    group,
  ) => markup`<div data-group><p class="muted">${group.name}</p><ul>${group.entries.map(link)}</ul></div>
`,
)}`
}

function link({ id, method, name }: Entry): Markup {
  const badge = method === null ? null : markup`<span class="method ${method}">${method}</span> `
  return markup`<li data-of="${id}"><a href="#${id}">${badge}${name}</a></li>`
}

function chapterOf({ id, name, groups }: Chapter): Markup {
  const written = groups.map(
    (group) => markup`<section class="stack" data-group><h3 id="${group.id}">${group.name}</h3>
${group.body}</section>
`,
  )
  return markup`<section class="stack" aria-labelledby="${id}"><h2 id="${id}">${name}</h2>
${written}</section>
`
}
