// Files and redirects. test/http/dashboard/ tests the dashboard in a browser.

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { readDashboard } from '../../../http/assets/dashboard-files.ts'
import { assertNotServed } from '../../support/clients/raw-http.ts'
import { type ApiServer, openApiServer } from '../../support/rigs/api-server.ts'

let server: ApiServer
before(async () => {
  server = await openApiServer()
})
after(() => server.stop())

const SOURCES = new URL('../../../http/dashboard/', import.meta.url)
const LIBRARIES = ['preact', 'preact/hooks', 'htm', 'lightweight-charts']

/** URLs that a page loads without user action. */
const loadedBy = (html: string) =>
  [...html.matchAll(/<(?:link|script)[^>]*? (?:src|href)="([^"]*)"/g)].map(([, one]) => one ?? '')

const importsOf = (text: string) =>
  [
    ...text.matchAll(/(?:^|\n|;|\})\s*(?:import|export)\b(?!\s*\()[^"'`;]*?["']([^"'\n]+)["']/g),
  ].map(([, address]) => address ?? '')

const laterImportsOf = (text: string) =>
  [...text.matchAll(/\bimport\(\s*["']([^"'\n]+)["']\s*\)/g)].map(([, address]) => address ?? '')

test('redirects / and paths with a trailing slash to the dashboard without a key and without counting the request', async () => {
  const root = await fetch(`${server.origin}/`, { redirect: 'manual' })
  assert.equal(root.status, 302)
  assert.equal(root.headers.get('location'), 'dashboard')
  assert.equal(await root.text(), 'See dashboard\n')
  const slashed = await fetch(`${server.origin}/dashboard/`)
  assert.equal(slashed.url, `${server.origin}/dashboard`)
  assert.equal(await slashed.text(), readDashboard().html)
  const page = await fetch(`${server.origin}/`)
  assert.equal(page.url, `${server.origin}/dashboard`)
  assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
  assert.equal(page.headers.get('cache-control'), 'no-cache')
  const remaining = page.headers.get('x-ratelimit-remaining')
  for (const address of ['', 'dashboard', ...loadedBy(await page.text()), 'dashboard/none']) {
    if (address.startsWith('data:')) continue
    const answer = await fetch(new URL(address, page.url))
    await answer.arrayBuffer()
    assert.equal(answer.headers.get('x-ratelimit-remaining'), remaining, address)
  }
})

test('serves every dashboard module and style under a content hash with immutable caching', async () => {
  const { files } = readDashboard()
  const paths = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  const wanted = [...paths.filter((path) => /\.(?:ts|css)$/.test(path)), ...LIBRARIES]
  assert.equal(files.size, wanted.length)
  for (const [name, { text }] of files) {
    assert.match(name, /^[a-z0-9-]+-[0-9a-f]{12}\.(?:js|css)$/)
    const answer = await fetch(`${server.origin}/dashboard/${name}`)
    assert.equal(answer.status, 200, name)
    const type = name.endsWith('.css') ? 'text/css' : 'text/javascript'
    assert.equal(answer.headers.get('content-type'), `${type}; charset=utf-8`)
    assert.equal(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable')
    assert.equal(await answer.text(), text)
    assert.doesNotMatch(text, /sourceMappingURL=/)
    const imports = name.endsWith('.js') ? [...importsOf(text), ...laterImportsOf(text)] : []
    for (const imported of imports) {
      assert.match(imported, /^\.\/[a-z0-9-]+\.js$|^\.\.\/client\/[a-z0-9-]+\.js\?v=[0-9a-f]{12}$/)
      assert.equal((await fetch(new URL(imported, answer.url))).status, 200, imported)
    }
  }
})

test('preloads every module of the first dashboard page exactly once', async () => {
  const page = await fetch(`${server.origin}/dashboard`)
  const html = await page.text()
  const links = [...html.matchAll(/rel="modulepreload" href="([^"]+)"/g)].map(([, one]) => one)
  const [, main = ''] = /<script type="module" src="([^"]+)"/.exec(html) ?? []
  const seen = new Set<string>()
  const waiting = [new URL(main, page.url).href]
  for (let address = waiting.pop(); address !== undefined; address = waiting.pop()) {
    if (seen.has(address)) continue
    seen.add(address)
    const text = await (await fetch(address)).text()
    waiting.push(...importsOf(text).map((imported) => new URL(imported, address).href))
  }
  assert.ok(seen.size > 25, `${seen.size} modules`)
  assert.deepEqual(links.map((link) => new URL(link ?? '', page.url).href).sort(), [...seen].sort())
})

test('allows the dashboard to load from its own host only, and forbids inline code and HTML from strings', async () => {
  const page = await fetch(`${server.origin}/dashboard`)
  const policy = page.headers.get('content-security-policy') ?? ''
  const rules = new Map(policy.split('; ').map((rule) => [rule.split(' ')[0], rule]))
  for (const name of ['default-src', 'base-uri', 'form-action', 'frame-ancestors'])
    assert.equal(rules.get(name), `${name} 'none'`)
  for (const name of ['script-src', 'style-src', 'connect-src'])
    assert.equal(rules.get(name), `${name} 'self'`)
  assert.equal(rules.get('img-src'), "img-src 'self' data:")
  // The only script URL created at run time is that of the shared worker.
  assert.equal(rules.get('trusted-types'), 'trusted-types twinbook-worker')
  assert.equal(rules.get('require-trusted-types-for'), "require-trusted-types-for 'script'")
  assert.doesNotMatch(policy, /https?:|\*|unsafe/)
  assert.equal(page.headers.get('referrer-policy'), 'no-referrer')
  const html = await page.text()
  assert.doesNotMatch(html, /<script>|<style|\son\w+=|\sstyle=/)
  assert.deepEqual(
    loadedBy(html).filter((address) => /^(?:https?:)?\/\/|^\//.test(address)),
    [],
  )
})

test('redirects the path of a page to its address, relative to any path prefix', async () => {
  const rows = [
    ['markets', '../dashboard#/markets'],
    ['market/venue_a_0x12%2Fab', '../../dashboard#/market/venue_a_0x12%2Fab'],
    ['wallet/a/b/', '../../../../dashboard#/wallet/a/b/'],
  ] as const
  for (const [path, location] of rows) {
    const answer = await fetch(`${server.origin}/dashboard/${path}`, { redirect: 'manual' })
    await answer.arrayBuffer()
    assert.deepEqual([answer.status, answer.headers.get('location')], [302, location])
    assert.equal(
      new URL(location, answer.url).href.split('#')[0],
      `${server.origin}/dashboard`,
      path,
    )
  }
})

test('answers other paths below the dashboard with 404, and a page that leads to it for browsers', async () => {
  const accept = 'text/html,application/xhtml+xml,*/*;q=0.8'
  for (const path of ['nothing', 'nothing/here', 'main-0123456789ab.js', 'a%2Fb', 'markets.html']) {
    const url = `${server.origin}/dashboard/${path}`
    const refused = await fetch(url)
    assert.deepEqual([refused.status, await refused.json()], [404, { detail: 'no such file' }])
    const answer = await fetch(url, { headers: { accept } })
    assert.equal(answer.status, 404, path)
    assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8')
    assert.match(answer.headers.get('content-security-policy') ?? '', /default-src 'none'/)
    const html = await answer.text()
    assert.match(html, /<h1>No such page<\/h1>/)
    for (const address of loadedBy(html).filter((one) => !one.startsWith('data:'))) {
      assert.equal((await fetch(new URL(address, answer.url))).status, 200, address)
    }
  }
})

test('serves no file outside the dashboard’s files, however the path is encoded', async () => {
  const targets = [
    '/dashboard/main.ts',
    '/dashboard/main.js',
    '/dashboard/tsconfig.json',
    '/dashboard/../package.json',
    '/dashboard/..%2fapi.ts',
    '/dashboard/%2e%2e/package.json',
    '/dashboard/..%5cpackage.json',
    '/dashboard/%00',
    '/dashboard/__proto__',
    '/dashboard/constructor',
    '/dashboard//etc/passwd',
    '/dashboard/pages/market.ts',
  ]
  await assertNotServed(server.port, targets, /twinbook|root:|import/)
})
