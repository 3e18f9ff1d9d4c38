import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nothing } from '../../../http/request/reply.ts'
import { route } from '../../../http/request/route.ts'
import { Router } from '../../../http/request/router.ts'
import { parseQuery } from '../../../http/validation/query.ts'

const RULES = { group: 'System', summary: 'nothing', answer: null } as const

const read = (text: string | undefined) => {
  const raw = parseQuery(text)
  return raw === null ? null : Object.fromEntries(raw)
}

test('decodes names and values of the query, including parameters without a value', () => {
  assert.deepEqual(read('a&b=%C3%A9+x&a=2&&c==&%6eame=v'), {
    a: ['', '2'],
    b: ['é x'],
    c: ['='],
    name: ['v'],
  })
  assert.deepEqual(read(''), {})
  assert.deepEqual(read(undefined), {})
})

test('refuses malformed percent-encoding or UTF-8 anywhere in the query', () => {
  for (const text of ['x=%zz', '%=1', 'x=%C3', 'a=1&x=%ff', 'x=%E0%80%80', 'x=%']) {
    assert.equal(read(text), null, text)
  }
  assert.deepEqual(read('x=%00'), { x: ['\0'] })
})

test('refuses a query that is longer than the limit', () => {
  assert.equal(read(`x=${'a'.repeat(40_000)}`), null)
})

test('matches all further segments by the last `*` of a pattern if no other route matches', () => {
  const router = new Router(
    ['/a/{id}', '/a/', '/a/b/c', '/a/*'].map((pattern) =>
      route(`GET ${pattern}`, RULES, () => nothing()),
    ),
  )
  const found = (url: string) => {
    const match = router.match('GET', url)
    return match.kind === 'route' ? [match.route.pattern, ...match.params.values()] : match.kind
  }
  assert.deepEqual(found('/a/b'), ['/a/{id}', 'b'])
  assert.deepEqual(found('/a/'), ['/a/'])
  assert.deepEqual(found('/a/b/c'), ['/a/b/c'])
  for (const rest of ['b/', 'b/c/d', 'b%2Fc/%zz', '/', '/b', 'c/d?'])
    assert.deepEqual(found(`/a/${rest}`), ['/a/*', rest])
  assert.deepEqual(found('/a'), 'missing')
})

test('prefers a route with a literal path segment to a route with a parameter, and never matches an empty parameter', () => {
  const patterns = [
    '/v1/{kind}/{id}',
    '/v1/markets/{id}',
    '/v1/markets/{id}/trades',
    '/v1/markets/search',
    '/v1/',
  ]
  const router = new Router(
    patterns.map((pattern) => route(`GET ${pattern}`, RULES, () => nothing())),
  )
  const found = (url: string, method = 'GET') => {
    const match = router.match(method, url)
    return match.kind === 'route'
      ? [match.route.pattern, Object.fromEntries(match.params)]
      : match.kind
  }
  assert.deepEqual(found('/v1/markets/b%2Fc'), ['/v1/markets/{id}', { id: 'b/c' }])
  assert.deepEqual(found('/v1/markets/search'), ['/v1/markets/search', {}])
  assert.deepEqual(found('/v1/markets/search/trades'), [
    '/v1/markets/{id}/trades',
    { id: 'search' },
  ])
  assert.deepEqual(found('/v1/e%20x/a', 'HEAD'), ['/v1/{kind}/{id}', { kind: 'e x', id: 'a' }])
  assert.deepEqual(found('/v1/'), ['/v1/', {}])
  for (const url of ['/v1', '/v1/markets', '/v1/markets/', '/v1//a', '/v1/markets/a/b', '']) {
    assert.equal(found(url), 'missing', url)
  }
  assert.equal(found('/v1/markets/%zz'), 'malformed')
  assert.equal(found('/v1/markets/a', 'OPTIONS'), 'options')
  const wrong = router.match('PUT', '/v1/markets/a')
  assert.ok(wrong.kind === 'wrongMethod')
  assert.equal(wrong.allow, 'GET, HEAD, OPTIONS')
})
