// The API reference without its script.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { brotliCompressSync } from 'node:zlib'
import { asyncapi } from '../../../http/documents/asyncapi.ts'
import { readPageFiles } from '../../../http/documents/docs-page.ts'
import { operationId } from '../../../http/documents/names.ts'
import { line, markup } from '../../../http/documents/page/markup.ts'
import { recordId } from '../../../http/documents/page/shapes.ts'
import { isObject, type JsonObject } from '../../../http/documents/schemas-of.ts'
import { EVENTS } from '../../../http/webhooks/types/event-types.ts'
import { assertNotServed } from '../../support/clients/raw-http.ts'
import {
  type DocumentedServer,
  openDocumentedServer,
} from '../../support/rigs/documented-server.ts'
import { NAMES } from '../../support/worlds/builders.ts'

let apiServer: DocumentedServer
before(async () => {
  apiServer = await openDocumentedServer()
})
after(() => apiServer.stop())

/** URLs that a browser loads with the page. */
function loadedBy(html: string): string[] {
  return [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address ?? '')
}

describe('GET /docs', () => {
  test('serves the documentation page and its files without a key, with content types and cache headers', async () => {
    const page = await fetch(`${apiServer.origin}/docs`)
    assert.equal(page.status, 200)
    assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
    assert.equal(page.headers.get('cache-control'), 'no-cache')
    assert.match(page.headers.get('x-ratelimit-limit') ?? '', /^\d+$/)
    const files = loadedBy(await page.text()).filter((address) => address.startsWith('docs/'))
    assert.equal(files.length, 2)
    for (const address of files) {
      const file = await fetch(new URL(address, `${apiServer.origin}/docs`))
      assert.equal(file.status, 200, address)
      const type = address.endsWith('.css') ? 'text/css' : 'text/javascript'
      assert.equal(file.headers.get('content-type'), `${type}; charset=utf-8`)
      assert.match(file.headers.get('cache-control') ?? '', /immutable/)
      assert.equal(
        (await file.text()).length,
        readPageFiles().files.get(address.slice(5))?.text.length,
      )
    }
  })

  test('does not count requests for the documentation page against the rate limit', async () => {
    const remaining = async (path: string) => {
      const response = await fetch(`${apiServer.origin}${path}`)
      await response.text()
      return response.headers.get('x-ratelimit-remaining')
    }
    const first = await remaining('/docs')
    assert.equal(await remaining('/openapi.json'), first)
    assert.equal(await remaining('/docs/none'), first)
    assert.equal(await remaining('/docs'), first)
  })

  test('refers to no foreign host, and forbids the page by policy to load from foreign hosts', async () => {
    const page = await fetch(`${apiServer.origin}/docs`)
    const html = await page.text()
    assert.deepEqual(
      loadedBy(html).filter((address) => /^(?:https?:)?\/\//.test(address)),
      [],
    )
    assert.doesNotMatch(html, /<script>|<style|\son\w+=|style=/)
    const policy = page.headers.get('content-security-policy') ?? ''
    const rules = new Map(policy.split('; ').map((rule) => [rule.split(' ')[0], rule]))
    assert.equal(rules.get('default-src'), "default-src 'none'")
    assert.equal(rules.get('script-src'), "script-src 'self'")
    assert.equal(rules.get('connect-src'), "connect-src 'self'")
    assert.equal(rules.get('frame-ancestors'), "frame-ancestors 'none'")
    assert.equal(rules.get('style-src'), "style-src 'self'")
    assert.equal(rules.get('trusted-types'), "trusted-types 'none'")
    assert.doesNotMatch(policy, /https?:|\*|unsafe/)
  })

  test('serves no file that is not part of the documentation page, however the path is encoded', async () => {
    const targets = [
      '/docs/',
      '/docs/index.html',
      '/docs/package.json',
      '/docs/docs.ts',
      '/docs/../package.json',
      '/docs/..%2f..%2fpackage.json',
      '/docs/%2e%2e/package.json',
      '/docs/..%5c..%5cpackage.json',
      '/docs/%00',
      '/docs/__proto__',
      '/docs/constructor',
      '/docs//etc/passwd',
    ]
    await assertNotServed(apiServer.port, targets, /twinbook|root:/)
  })
})

describe('API reference on the documentation page', () => {
  test('shows every operation, channel, command, message, event and record without scripts', async () => {
    const html = await (await fetch(`${apiServer.origin}/docs`)).text()
    const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id ?? '')
    assert.deepEqual(
      ids.filter((id, index) => ids.indexOf(id) !== index),
      [],
      'each id occurs once',
    )
    const existing = new Set(ids)
    const { document } = apiServer
    const stream = asyncapi({ version: '0.0.0-test', names: NAMES })
    const wanted = [
      ...apiServer.routes.map((route) => operationId(route, NAMES)),
      ...Object.keys(member(stream, 'operations')).map((name) => `stream-${name}`),
      ...Object.keys(member(member(document, 'components'), 'schemas')).map(recordId),
      ...EVENTS.map(
        ({ name }) => `on${name.replace(/(?:^|\.)([a-z])/g, (_, one) => one.toUpperCase())}`,
      ),
    ]
    assert.deepEqual(
      wanted.filter((id) => !existing.has(id)),
      [],
      'missing on the page',
    )
    for (const { name } of Object.values(member(member(stream, 'components'), 'messages')).filter(
      isObject,
    ))
      assert.ok(html.includes(`<code>${String(name)}</code>`), `no message ${String(name)}`)
    const links = [...html.matchAll(/href="#([^"]*)"/g)].map(([, id]) => id ?? '')
    assert.deepEqual(
      links.filter((id) => !existing.has(id)),
      [],
      'links without a target',
    )
    const versions = [document, stream].map((one) => member(one, 'info'))
    for (const { version, ...info } of versions) {
      assert.equal(version, '1.0.0')
      assert.equal(info['x-service-version'], '0.0.0-test')
    }
    assert.ok(html.includes('Interface 1.0.0, Twinbook 0.0.0-test'))
  })

  test('loads the first view of the documentation page in three responses of at most 64 KiB', async () => {
    const html = await (await fetch(`${apiServer.origin}/docs`)).text()
    const files = loadedBy(html).filter((address) => address.startsWith('docs/'))
    // Compresses here, because a busy server may send a file uncompressed.
    const bytes: number[] = []
    for (const path of ['docs', ...files]) {
      const response = await fetch(`${apiServer.origin}/${path}`)
      bytes.push(brotliCompressSync(await response.text()).length)
    }
    assert.equal(bytes.length, 3)
    const sum = bytes.reduce((total, one) => total + one, 0)
    assert.ok(sum > 0 && sum <= 65_536, `${bytes.join(' + ')} bytes`)
  })

  test('escapes texts from the OpenAPI and AsyncAPI documents in the page', () => {
    const hostile = '</p><script>alert(1)</script>'
    const { text } = markup`<p title="${hostile}">${line(`\`${hostile}\` ${hostile}`)}</p>`
    assert.doesNotMatch(text, /<script|title="<|<\/p>./)
  })
})

function member(value: JsonObject, name: string): JsonObject {
  const found = value[name]
  assert.ok(isObject(found), `no ${name}`)
  return found
}
