// The query string, read by us and not by the library.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from '@sinclair/typebox'
import { seededRandom } from '../../../engine/random.ts'
import { parseQuery, QueryCache } from '../../../http/request/query.ts'
import { nothing } from '../../../http/request/reply.ts'
import { route } from '../../../http/request/route.ts'
import { Router } from '../../../http/request/router.ts'
import { compileQuery } from '../../../http/validation/validate.ts'

const ROUTE = {
  method: 'GET',
  document: { group: 'System', summary: 'nothing', answer: null },
} as const

const read = (text: string | undefined) => {
  const raw = parseQuery(text)
  return raw === null ? null : Object.fromEntries(raw)
}

test('decodes names and values, including parameters without a value', () => {
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

test('refuses a query beyond the length limit', () => {
  assert.equal(read(`x=${'a'.repeat(40_000)}`), null)
})

test('returns the same result from the cache for a repeated query', () => {
  const random = seededRandom('asked again')
  const schema = Type.Object({ limit: Type.Integer({ minimum: 1, maximum: 9, default: 5 }) })
  const patterns = ['/v1/{kind}/{id}', '/v1/markets/{id}', '/v1/markets/{id}/trades']
  const open = () =>
    new Router(patterns.map((pattern) => route({ ...ROUTE, pattern }, schema, () => nothing())))
  const [queries, parse, router] = [new QueryCache(), compileQuery(schema), open()]
  for (let step = 0; step < 400; step += 1) {
    const given = [`limit=${random.below(20)}`, `other=${random.below(5)}`, 'x=%zz', '']
    const text = random.below(5) === 0 ? undefined : random.pick(given)
    const raw = queries.read(text)
    assert.deepEqual(raw, parseQuery(text))
    if (raw !== null) assert.deepEqual(parse(raw), parse(new Map(raw)), text)
    const path = `/v1/${random.pick(['markets', 'e%20x', ''])}/${random.pick(['a', 'b%2Fc', '%zz'])}`
    const url = random.pick([path, `${path}/trades`])
    const method = random.pick(['GET', 'HEAD', 'POST', 'OPTIONS'])
    const [{ kind, ...found }, fresh] = [router.match(method, url), open().match(method, url)]
    assert.equal(kind, fresh.kind, url)
    if (fresh.kind !== 'route') continue
    assert.ok('route' in found)
    assert.equal(found.route.pattern, fresh.route.pattern)
    assert.deepEqual(found.params, fresh.params)
  }
  assert.equal(queries.read('limit=1'), queries.read('limit=1'))
  const stored = parse(queries.read('limit=1') ?? new Map())
  assert.ok(stored.kind === 'valid' && Object.isFrozen(stored.value))
})
