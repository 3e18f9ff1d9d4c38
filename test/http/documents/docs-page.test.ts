// The interactive page: whole, all of it ours, and nothing else of our disk.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { readPage } from '../../../http/documents/docs-page.ts'
import { assertNotServed } from '../../support/clients/raw-http.ts'
import { type DescribedFace, openDescribedFace } from '../../support/rigs/described-face.ts'

let face: DescribedFace
before(async () => {
  face = await openDescribedFace()
})
after(() => face.stop())

/** Addresses that a page loads by itself. */
function loadedBy(html: string): string[] {
  return [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address ?? '')
}

describe('GET /docs', () => {
  test('[DOCS1] the page and all that it loads are answered without a key, typed, and kept by caches', async () => {
    const page = await fetch(`${face.origin}/docs`)
    assert.equal(page.status, 200)
    assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
    assert.equal(page.headers.get('cache-control'), 'no-cache')
    assert.match(page.headers.get('x-ratelimit-limit') ?? '', /^\d+$/)
    const files = loadedBy(await page.text()).filter((address) => address.startsWith('docs/'))
    assert.equal(files.length, 3)
    for (const address of files) {
      const file = await fetch(new URL(address, `${face.origin}/docs`))
      assert.equal(file.status, 200, address)
      const type = address.endsWith('.css') ? 'text/css' : 'text/javascript'
      assert.equal(file.headers.get('content-type'), `${type}; charset=utf-8`)
      assert.match(file.headers.get('cache-control') ?? '', /immutable/)
      assert.equal((await file.text()).length, readPage().files.get(address.slice(5))?.text.length)
    }
  })

  test('[DOCS1] no request for it is counted', async () => {
    const remaining = async (path: string) => {
      const response = await fetch(`${face.origin}${path}`)
      await response.text()
      return response.headers.get('x-ratelimit-remaining')
    }
    const first = await remaining('/docs')
    assert.equal(await remaining('/openapi.json'), first)
    assert.equal(await remaining('/docs/none'), first)
    assert.equal(await remaining('/docs'), first)
  })

  test('[DOCS2] the page names no other host, and its policy lets it load from none', async () => {
    const { html, files } = readPage()
    assert.deepEqual(
      loadedBy(html.text).filter((address) => /^(?:https?:)?\/\//.test(address)),
      [],
    )
    assert.doesNotMatch(html.text, /<script>|<style|\son\w+=|style=/)
    for (const { text } of files.values()) assert.doesNotMatch(text, /sourceMappingURL=\S+\s*$/)
    const start = [...files].find(([name]) => name.startsWith('start-'))
    assert.match(start?.[1].text ?? '', /validatorUrl: null/)
    assert.match(start?.[1].text ?? '', /url: 'openapi\.json'/)
    const page = await fetch(`${face.origin}/docs`)
    const policy = page.headers.get('content-security-policy') ?? ''
    const rules = new Map(policy.split('; ').map((rule) => [rule.split(' ')[0], rule]))
    assert.equal(rules.get('default-src'), "default-src 'none'")
    assert.equal(rules.get('script-src'), "script-src 'self'")
    assert.equal(rules.get('connect-src'), "connect-src 'self'")
    assert.equal(rules.get('frame-ancestors'), "frame-ancestors 'none'")
    assert.doesNotMatch(policy, /https?:|\*|unsafe-eval/)
  })

  test('[DOCS3] no other file can be asked for, however its path is written', async () => {
    const targets = [
      '/docs/',
      '/docs/index.html',
      '/docs/package.json',
      '/docs/swagger-ui-bundle.js',
      '/docs/../package.json',
      '/docs/..%2f..%2fpackage.json',
      '/docs/%2e%2e/package.json',
      '/docs/..%5c..%5cpackage.json',
      '/docs/%00',
      '/docs/__proto__',
      '/docs/constructor',
      '/docs//etc/passwd',
    ]
    await assertNotServed(face.port, targets, /twinbook|root:/)
  })
})
