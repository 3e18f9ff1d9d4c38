// Compares the selected coding with RFC 9110, 12.5.3. zlib decompresses the bodies.

import assert from 'node:assert/strict'
import { type IncomingHttpHeaders, request } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { seededRandom } from '../../../engine/random.ts'
import { type Coding, Codings, preferred } from '../../../http/request/coding.ts'
import { file, jsonText } from '../../../http/request/reply.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { type ApiServer, openApiServer } from '../../support/rigs/api-server.ts'
import { NOON } from '../../support/worlds/builders.ts'

interface Got {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
}

const RUNS = process.env.TEST_LONG === '1' ? 20_000 : 5_000
let server: ApiServer

before(async () => {
  server = await openApiServer({
    clock: new ManualClock(NOON),
    corsOrigins: ['https://good.example'],
  })
  for (let index = 1; index <= 60; index += 1) server.engine.add(`m${index}`)
})
after(() => server.stop())

function got(
  path: string,
  headers: Readonly<Record<string, string>> = {},
  method = 'GET',
): Promise<Got> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        ...{ port: server.port, host: '127.0.0.1', path, method, agent: false },
        headers: { 'x-api-key': 'ann-key', ...headers },
      },
      (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('end', () => {
          const bytes = Buffer.concat(chunks)
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, bytes })
        })
      },
    )
    outgoing.on('error', reject)
    outgoing.end()
  })
}

function decoded({ headers, bytes }: Got): string {
  const coding = headers['content-encoding']
  if (coding === 'br') return brotliDecompressSync(bytes).toString()
  if (coding === 'gzip') return gunzipSync(bytes).toString()
  assert.equal(coding, undefined)
  return bytes.toString()
}

/** Reference implementation. At equal weights the server's preferred coding comes first. */
function naive(list: readonly (readonly [string, number | null])[], offered: readonly Coding[]) {
  const weight = (coding: string): number | null => {
    const own = list.filter(([name]) => name === coding).at(-1)
    const any = list.filter(([name]) => name === '*').at(-1)
    const found = own ?? any
    return found === undefined ? null : (found[1] ?? 1)
  }
  const choices = offered
    .map((coding) => ({ coding, weight: weight(coding) ?? 0 }))
    .filter((choice) => choice.weight > 0)
  choices.push({ coding: 'identity', weight: weight('identity') ?? 0 })
  return choices.sort((one, other) => other.weight - one.weight)[0]?.coding
}

describe('Accept-Encoding', () => {
  test('selects the same content coding from Accept-Encoding as a reference implementation', () => {
    const random = seededRandom('accept-encoding')
    const names = ['br', 'gzip', 'identity', '*', 'deflate', 'zstd']
    const weights = [null, 0, 0.001, 0.5, 0.9, 1]
    for (let run = 0; run < RUNS; run += 1) {
      const list = Array.from(
        { length: 1 + random.below(4) },
        () => [names[random.below(6)] ?? '', weights[random.below(6)] ?? null] as const,
      )
      const offered: readonly Coding[] = random.below(2) === 0 ? ['br', 'gzip'] : ['gzip']
      const members = list.map(([name, weight]) => {
        const written = random.below(3) === 0 ? name.toUpperCase() : name
        return weight === null
          ? written
          : `${written}${[';q=', ' ; q=', ';Q='][random.below(3)]}${weight}`
      })
      const header = members.join([',', ', ', ' , '][random.below(3)])
      assert.equal(preferred(header, offered), naive(list, offered), header)
    }
    for (const [header, coding] of [
      ['', 'identity'],
      ['gzip, deflate, br, zstd', 'br'],
      ['x-gzip', 'gzip'],
      ['gzip;q=0', 'identity'],
      ['identity;q=0, *;q=0', 'identity'],
      ['gzip;q=2', 'identity'],
      ['gzip;q=0.1234', 'identity'],
      ['gzip;level=9', 'identity'],
      ['gzip;q=0.5, br;q=junk, ;;,', 'gzip'],
    ] as const) {
      assert.equal(preferred(header, ['br', 'gzip']), coding, header)
    }
  })
})

describe('compressed responses', () => {
  test('sends files and long JSON in the client’s preferred coding with a Content-Encoding header', async () => {
    const page = (await got('/docs')).bytes.toString()
    const script = /docs\/docs-\w+\.js/.exec(page)?.[0]
    const paths = [
      [`/${script}`, 'br'],
      ['/openapi.json', 'br'],
      ['/dashboard', 'br'],
      ['/client/connect.js', 'br'],
      ['/v1/markets?limit=60', 'gzip'],
      ['/v1/venue_a/markets?limit=60', 'gzip'],
    ] as const
    for (const [path, best] of paths) {
      const plain = await got(path)
      assert.equal(plain.headers['content-encoding'], undefined)
      assert.equal(plain.headers.vary, 'Accept-Encoding')
      for (const [accepted, wanted] of [
        ['gzip, deflate, br', best],
        ['gzip', 'gzip'],
        ['br;q=0.1, gzip;q=0.2', 'gzip'],
        ['identity', undefined],
        ['br;q=0, gzip;q=0', undefined],
      ] as const) {
        const header = { 'accept-encoding': accepted }
        // The first request compresses the file, and the second uses the cached form.
        for (const answer of [await got(path, header), await got(path, header)]) {
          assert.equal(answer.status, 200)
          assert.equal(answer.headers['content-encoding'], wanted, `${path} ${accepted}`)
          assert.equal(decoded(answer), plain.bytes.toString())
          assert.equal(answer.headers['content-length'], String(answer.bytes.length))
          assert.equal(answer.headers.vary, 'Accept-Encoding')
          assert.equal(answer.headers.etag, plain.headers.etag)
          if (wanted !== undefined) assert.ok(answer.bytes.length < plain.bytes.length / 2)
          const head = await got(path, header, 'HEAD')
          assert.equal(head.bytes.length, 0)
          assert.equal(head.headers['content-length'], answer.headers['content-length'])
          assert.equal(head.headers['content-encoding'], wanted)
          const unmodified = await got(path, {
            ...header,
            'if-none-match': plain.headers.etag ?? '',
          })
          assert.equal(unmodified.status, 304)
          for (const name of ['etag', 'vary', 'cache-control', 'content-type']) {
            assert.equal(unmodified.headers[name], answer.headers[name], `${name} of ${path}`)
          }
        }
      }
    }
  })

  test('sends short responses, errors and account data uncompressed', async () => {
    const token = { authorization: 'Bearer ann-token', 'accept-encoding': 'gzip' }
    const headers = { 'accept-encoding': 'gzip, br', origin: 'https://good.example' }
    for (const path of ['/v1/markets?limit=1', '/v1/markets/none', '/health', '/']) {
      const answer = await got(path, headers)
      assert.equal(answer.headers['content-encoding'], undefined, path)
      assert.equal(answer.headers.vary, 'Origin')
    }
    for (let count = 0; count < 20; count += 1) {
      await server.get('/v1/webhooks', {
        method: 'POST',
        headers: { authorization: 'Bearer ann-token' },
        body: JSON.stringify({
          url: 'https://example.com/',
          event_types: ['whale.alert'],
          description: `long enough ${'x'.repeat(200)}`,
        }),
      })
    }
    const own = await got('/v1/webhooks', token)
    assert.ok(own.bytes.length > 4_096)
    assert.equal(own.headers['content-encoding'], undefined)
    assert.equal(own.headers.vary, undefined)
    const long = await got('/v1/markets?limit=60', headers)
    assert.equal(long.headers.vary, 'Accept-Encoding, Origin')
  })

  test('sends a file uncompressed when compressing the file takes more than a second', async () => {
    const clock = new ManualClock(NOON)
    const codings = new Codings(clock)
    const answer = file('y'.repeat(200_000), 'text/plain', 'no-cache')
    const [first, second] = [codings.coded(answer, 'br'), codings.coded(answer, 'br')]
    // The compression runs in a thread and cannot finish within this tick.
    clock.advance(1_000)
    assert.deepEqual([await first, await second], [answer, answer])
    assert.equal(clock.timerCount, 0)
    let coded = await codings.coded(answer, 'br')
    while (coded.coding !== 'br') coded = await codings.coded(answer, 'br')
    assert.equal(brotliDecompressSync(coded.body ?? '').toString(), String(answer.body))
    assert.equal(clock.timerCount, 0)
  })

  test('sends JSON uncompressed while the maximum number of compressions is running', async () => {
    const codings = new Codings(new ManualClock(NOON), 1)
    const answer = jsonText(JSON.stringify('x'.repeat(9_000)))
    const first = codings.coded(answer, 'gzip')
    assert.ok(first instanceof Promise)
    assert.equal(codings.coded(answer, 'gzip'), answer)
    assert.equal((await first).coding, 'gzip')
    const next = codings.coded(answer, 'gzip')
    assert.ok(next instanceof Promise)
    assert.equal(gunzipSync((await next).body ?? '').toString(), answer.body)
  })
})
