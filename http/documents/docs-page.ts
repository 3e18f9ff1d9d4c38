// The interactive page over /openapi.json: Swagger UI from its npm package, read once at start, every
// file ours to serve, so that the page makes no request to another host.
// The names of files carry a hash of their content, so that caches may keep them for ever.
// Not for: the routes (routes/documents.ts). Upholds DOCS1 to DOCS4.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** A file of the page. */
export interface PageFile {
  readonly text: string
  readonly contentType: string
}

/** The page and its files by name; nothing else can be asked for. */
interface Page {
  readonly html: PageFile
  readonly files: ReadonlyMap<string, PageFile>
}

/** Only our own scripts, styles, images and requests; styles also inline, as the library sets them. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const HTML = 'text/html; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'
const STYLE = 'text/css; charset=utf-8'

/**
 * `validatorUrl` null: the library would otherwise show the document to a server of its makers.
 * Credentials typed in stay in the page's memory and are gone when it is. Without one, what is tried counts for the user who
 * is logged in to the dashboard of this browser (request/dashboard-request.ts); the lines for a shell do not show that.
 */
const START = `const scheme = matchMedia('(prefers-color-scheme: dark)')
const paint = () => document.documentElement.classList.toggle('dark-mode', scheme.matches)
scheme.addEventListener('change', paint)
paint()
window.ui = SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#page',
  validatorUrl: null,
  queryConfigEnabled: false,
  persistAuthorization: false,
  deepLinking: true,
  displayRequestDuration: true,
  filter: true,
  showMutatedRequest: false,
  requestInterceptor: (request) => {
    request.headers = { ...request.headers, 'X-Dashboard': '1' }
    return request
  },
  presets: [SwaggerUIBundle.presets.apis],
  layout: 'BaseLayout',
})
`

/** Of the line above the library's page. */
const BACK_STYLE = `
.back { font: 1rem/1.5 sans-serif; margin: 0 auto; max-width: 1460px; padding: 0.75rem 20px; }
.back a { color: #0b57d0; margin-inline-end: 1.25rem; }
html.dark-mode .back a { color: #8ab4f8; }
`

/** Reads the package's files. Throws when it is not installed: the process does not start. */
export function readPage(): Page {
  const manifest = createRequire(import.meta.url).resolve('swagger-ui-dist/package.json')
  const folder = dirname(manifest)
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  // The last line of each names its source map, which we do not serve.
  const withoutMap = (text: string) => text.replace(/(?:\/\/#|\/\*#) sourceMappingURL=.*\s*$/, '')
  const bundle = file(withoutMap(read('swagger-ui-bundle.js')), SCRIPT)
  const style = file(`${withoutMap(read('swagger-ui.css'))}${BACK_STYLE}`, STYLE)
  const start = file(START, SCRIPT)
  const names = {
    bundle: named('swagger-ui-bundle', bundle, 'js'),
    style: named('swagger-ui', style, 'css'),
    start: named('start', start, 'js'),
  }
  return {
    html: file(htmlOf(names), HTML),
    files: new Map([
      [names.bundle, bundle],
      [names.style, style],
      [names.start, start],
    ]),
  }
}

function file(text: string, contentType: string): PageFile {
  return { text, contentType }
}

/** Its content in its name: what a cache keeps under it never changes. */
function named(name: string, { text }: PageFile, ending: string): string {
  return `${name}-${createHash('sha256').update(text).digest('hex').slice(0, 12)}.${ending}`
}

/** Relative addresses, so that the page also works behind a path of a proxy. */
function htmlOf(names: { bundle: string; style: string; start: string }): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Twinbook API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/${names.style}">
</head>
<body>
<nav class="back" aria-label="Twinbook"><a href="dashboard">Back to the dashboard</a> <a href="asyncapi.json">The stream (AsyncAPI)</a></nav>
<div id="page"></div>
<noscript>This page needs JavaScript. The document it shows is <a href="openapi.json">openapi.json</a>.</noscript>
<script src="docs/${names.bundle}"></script>
<script src="docs/${names.start}"></script>
</body>
</html>
`
}
