// The reference implementation of If-None-Match follows RFC 9110, 13.1.2.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { seededRandom } from '../../../engine/random.ts'
import { usdMicros } from '../../../engine/units.ts'
import { etagOf, matchesEtag } from '../../../http/request/reply.ts'
import type { FakeMarket } from '../../support/fakes/engine.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { type ApiServer, openApiServer } from '../../support/rigs/api-server.ts'
import { NOON } from '../../support/worlds/builders.ts'

const RUNS = process.env.TEST_LONG === '1' ? 5_000 : 2_000
const clock = new ManualClock(NOON + 250)
let server: ApiServer
let rain: FakeMarket

before(async () => {
  server = await openApiServer({ clock, corsOrigins: ['https://good.example'] })
  rain = server.engine.add('Rain', { volume24h: usdMicros(9_000_000) })
  for (let index = 1; index <= 30; index += 1) server.engine.add(`m${index}`)
})
after(() => server.stop())

const CATALOGUE = [
  '/v1/markets?limit=200',
  '/v1/markets/search?search=rain',
  '/v1/markets/venue_a_Rain',
  '/v1/events',
  '/v1/matching-markets',
  '/v1/matching-markets/sports/nfl',
  '/v1/sports/nfl',
  '/v1/venue_a/markets?limit=100',
  '/v1/venue_b/markets?limit=100',
  '/v1/venue_a/markets/Rain',
]
const FILES = ['/docs', '/openapi.json', '/asyncapi.json', '/dashboard', '/client/connect.js']

const conditional = (path: string, ifNoneMatch: string, method = 'GET') =>
  server.get(path, {
    method,
    headers: { 'x-api-key': 'ann-key', 'if-none-match': ifNoneMatch },
  })

describe('If-None-Match', () => {
  test('parses lists, weak tags, strong tags and * in If-None-Match like a reference implementation', () => {
    const random = seededRandom('if-none-match')
    const tag = etagOf('known')
    const opaque = tag.slice(2)
    const pieces = [tag, opaque, 'W/"other"', '"x,y"', `"${opaque.slice(1, -2)}"`, '""']
    for (let run = 0; run < RUNS; run += 1) {
      const list = Array.from({ length: random.below(4) }, () => pieces[random.below(6)] ?? '')
      const wanted = list.some((one) => one.replace(/^W\//, '') === opaque)
      const separator = [',', ', ', ' , ', ',,'][random.below(4)] ?? ','
      assert.equal(matchesEtag(list.join(separator), tag), wanted, list.join(separator))
    }
    assert.equal(matchesEtag('*', tag), true)
    assert.equal(matchesEtag(' * ', tag), true)
    assert.equal(matchesEtag(opaque.slice(1, -1), tag), false, 'an entity tag needs quotes')
  })

  test('answers 304 with headers and without a body when If-None-Match contains the current ETag', async () => {
    for (const path of [...CATALOGUE, ...FILES]) {
      const first = await server.get(path)
      assert.equal(first.status, 200, path)
      const etag = first.headers.get('etag') ?? ''
      assert.match(etag, /^W\/"[\w-]{16}"$/, path)
      for (const [list, method] of [
        [etag, 'GET'],
        [etag.slice(2), 'HEAD'],
        [`"other", ${etag}`, 'GET'],
        ['*', 'HEAD'],
      ] as const) {
        const again = await conditional(path, list, method)
        assert.equal(again.status, 304, `${path} ${list}`)
        assert.equal(again.text, '')
        for (const name of ['etag', 'cache-control', 'content-type', 'vary']) {
          assert.equal(again.headers.get(name), first.headers.get(name), `${name} of ${path}`)
        }
      }
      assert.equal((await conditional(path, '"other"')).text, first.text)
    }
  })

  test('sends a new ETag when the content changes, and no ETag with errors or volatile responses', async () => {
    const paths = ['/v1/markets?limit=200', '/v1/markets/venue_a_Rain']
    const before = await Promise.all(paths.map((path) => server.get(path)))
    rain.volume24h = usdMicros(9_123_456)
    for (const [index, path] of paths.entries()) {
      const etag = before[index]?.headers.get('etag') ?? ''
      const after = await conditional(path, etag)
      assert.equal(after.status, 200, path)
      assert.notEqual(after.text, before[index]?.text)
      assert.notEqual(after.headers.get('etag'), etag)
    }
    const missing = await conditional('/v1/markets/venue_a_none', '*')
    assert.equal(missing.status, 404)
    assert.equal(missing.headers.get('etag'), null)
  })

  test('sends with each response a Cache-Control header that states who may cache the response', async () => {
    const caching = async (path: string, init?: RequestInit) =>
      (await server.get(path, init)).headers.get('cache-control')
    for (const path of CATALOGUE) assert.equal(await caching(path), 'private, no-cache', path)
    for (const path of FILES) assert.equal(await caching(path), 'no-cache', path)
    const page = (await server.get('/dashboard')).text
    const asset = /dashboard\/main-[\w-]+\.js/.exec(page)?.[0]
    assert.equal(await caching(`/${asset}`), 'public, max-age=31536000, immutable')
    for (const path of [
      '/v1/markets/venue_a_Rain/price',
      '/v1/markets/venue_a_Rain/orderbook',
      '/v1/markets/venue_a_Rain/trades',
      '/v1/stats',
      '/health',
      '/v1/markets/none',
      '/nowhere',
    ]) {
      assert.equal(await caching(path), 'no-store', path)
    }
    const token = { headers: { authorization: 'Bearer ann-token' } }
    assert.equal(await caching('/v1/auth/me', token), 'no-store')
    assert.equal(await caching('/v1/keys', token), 'no-store')
  })

  test('allows scripts of foreign origins to read the ETag header', async () => {
    const { headers } = await server.get('/v1/markets', {
      headers: { 'x-api-key': 'ann-key', origin: 'https://good.example' },
    })
    assert.match(headers.get('access-control-expose-headers') ?? '', /\bETag\b/)
  })
})

describe('total row counts', () => {
  test('returns the number of rows of all pages as `total` on each page', async () => {
    for (const [path, name] of [
      ['/v1/markets?', 'markets'],
      ['/v1/markets?platform=venue_b&', 'markets'],
      ['/v1/markets/search?search=rain&', 'markets'],
      ['/v1/venue_a/markets?', 'data'],
      ['/v1/venue_b/markets?', 'data'],
      ['/v1/events?', 'events'],
    ] as const) {
      const totals = new Set<unknown>()
      let count = 0
      for (let cursor = ''; ; ) {
        const { body } = await server.get(`${path}limit=7${cursor}`)
        const rows = body[name]
        assert.ok(Array.isArray(rows), path)
        count += rows.length
        totals.add(body.total)
        if (body.cursor === null) break
        cursor = `&cursor=${body.cursor}`
      }
      assert.deepEqual([...totals], [count], path)
    }
  })
})
