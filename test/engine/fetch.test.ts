import assert from 'node:assert/strict'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import { afterEach, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { FetchError, HttpClient, type HttpClientOptions } from '../../engine/fetch.ts'
import { silentLog } from '../../engine/process/log.ts'
import { Metrics } from '../../engine/process/metrics.ts'
import { seededRandom } from '../../engine/random.ts'
import { countTicks } from '../support/fakes/loop-ticks.ts'
import { ManualClock } from '../support/fakes/manual-clock.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

interface Bench {
  readonly client: HttpClient
  readonly clock: ManualClock
  readonly requests: { method: string; url: string; atMs: number; body: string }[]
}

const opened: { client: HttpClient; server: Server }[] = []

async function open(
  answers: readonly Answer[],
  options: Partial<HttpClientOptions> = {},
): Promise<Bench> {
  const clock = new ManualClock()
  const requests: Bench['requests'] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      const { method = '', url = '' } = request
      requests.push({ method, url, atMs: clock.monotonicMs(), body })
      const answer = answers[Math.min(requests.length, answers.length) - 1]
      answer?.(request, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  const client = new HttpClient({
    baseUrl: `http://127.0.0.1:${address.port}/base`,
    clock,
    random: seededRandom(1),
    log: silentLog,
    metrics: new Metrics(),
    timeoutMs: 1_000_000,
    bodyBytesMax: 10_000,
    retries: 3,
    ...options,
  })
  opened.push({ client, server })
  return { client, clock, requests }
}

async function settle<T>(clock: ManualClock, promise: Promise<T>): Promise<T> {
  let isSettled = false
  const noted = promise.finally(() => {
    isSettled = true
  })
  noted.catch(() => {})
  for (let ticks = 1; !isSettled && ticks <= 160_000; ticks += 1) {
    await nextTurn()
    if (ticks % 8 === 0) clock.advance(5)
  }
  assert.ok(isSettled, 'the call did not end')
  return promise
}

async function failure(clock: ManualClock, promise: Promise<unknown>): Promise<FetchError> {
  try {
    await settle(clock, promise)
  } catch (error) {
    assert.ok(error instanceof FetchError, `not a FetchError: ${error}`)
    return error
  }
  assert.fail('the call should have failed')
}

const ok: Answer = (_request, response) => response.end('{"fine":true}')
const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (_request, response) => {
    response.writeHead(code, headers)
    response.end('<html>no</html>')
  }
const cutOff: Answer = (_request, response) => {
  response.writeHead(200, { 'content-length': '100' })
  response.write('{"fi')
  setImmediate(() => response.destroy())
}
const html: Answer = (_request, response) => response.end('<html>Just a moment…</html>')
const never: Answer = () => {}

describe('HttpClient', () => {
  afterEach(async () => {
    for (const { client, server } of opened.splice(0)) {
      client.stop()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  })

  for (const [name, bad] of [
    ['status 429', status(429)],
    ['status 500', status(500)],
    ['status 503', status(503)],
    ['an HTML page with status 200', html],
    ['an answer that is cut off', cutOff],
  ] as const) {
    it(`retries a GET request after ${name}`, async () => {
      const { client, clock, requests } = await open([bad, bad, ok])
      assert.deepEqual(await settle(clock, client.getJson('/x')), { fine: true })
      assert.equal(requests.length, 3)
      assert.ok((requests[2]?.atMs ?? 0) - (requests[0]?.atMs ?? 0) >= 125 + 250)
    })
  }

  for (const code of [400, 401, 404, 302]) {
    it(`returns status ${code} without a retry`, async () => {
      const { client, clock, requests } = await open([status(code)])
      const error = await failure(clock, client.getJson('/x'))
      assert.deepEqual([error.kind, error.status, requests.length], ['status', code, 1])
    })
  }

  it('reports the last failure when all attempts of a call failed', async () => {
    const { client, clock, requests } = await open([status(502)])
    const error = await failure(clock, client.getJson('/x'))
    assert.deepEqual([error.kind, error.status, requests.length], ['status', 502, 4])
  })

  it('sends the body of a POST request a second time when it retries the request', async () => {
    const { client, clock, requests } = await open([status(500), ok])
    await settle(clock, client.postJson('/x', { a: 1 }))
    assert.deepEqual(
      requests.map((each) => each.body),
      ['{"a":1}', '{"a":1}'],
    )
  })

  it('delays all calls to a host by the time in the host’s Retry-After, up to 30 s', async () => {
    const { client, clock, requests } = await open([status(429, { 'retry-after': '7' }), ok])
    const first = client.getJson('/a')
    while (requests.length === 0) await nextTurn()
    for (let ticks = 0; ticks < 50; ticks += 1) await nextTurn()
    const second = client.getJson('/b')
    await settle(clock, Promise.all([first, second]))
    assert.ok(requests.slice(1).every((each) => each.atMs >= 7_000))
    const patient = await open([status(429, { 'retry-after': '86400' }), ok])
    await settle(patient.clock, patient.client.getJson('/a'))
    const waitedMs = patient.requests[1]?.atMs ?? 0
    assert.ok(waitedMs >= 30_000 && waitedMs < 31_000, `waited ${waitedMs}`)
  })

  it('delays all calls to a host that answered 429 without Retry-After, with back-off', async () => {
    const { client, clock, requests } = await open([status(429), status(429), ok], {
      busyWaitMs: 2_000,
    })
    const first = client.getJson('/a')
    while (requests.length === 0) await nextTurn()
    for (let ticks = 0; ticks < 50; ticks += 1) await nextTurn()
    const second = client.getJson('/b')
    await settle(clock, Promise.all([first, second]))
    assert.ok((requests[1]?.atMs ?? 0) >= 2_000)
    assert.ok((requests.at(-1)?.atMs ?? 0) >= 6_000)
  })

  it('reports a timeout when an answer arrives after the deadline', async () => {
    const { client, clock } = await open([never], { timeoutMs: 800, retries: 0 })
    const error = await failure(clock, client.getJson('/x'))
    assert.equal(error.kind, 'timeout')
  })

  it('ends a call by timeout or by abort when no more bytes of the response body arrive', async () => {
    const half: Answer = (_request, response) => void response.write('{"fine":')
    const { client, clock } = await open([half], { timeoutMs: 800, retries: 0 })
    assert.equal((await failure(clock, client.getJson('/x'))).kind, 'timeout')
    const controller = new AbortController()
    const onHead = () => setImmediate(() => controller.abort())
    const aborted = client.getJson('/x', {}, { signal: controller.signal, onHead })
    assert.equal((await failure(clock, aborted)).kind, 'aborted')
  })

  it('refuses an answer above the size limit, and does not retry the call', async () => {
    const big: Answer = (_request, response) => response.end(JSON.stringify('x'.repeat(20_000)))
    const { client, clock, requests } = await open([big])
    const error = await failure(clock, client.getJson('/x'))
    assert.deepEqual([error.kind, requests.length], ['body', 1])
    const bomb: Answer = (_request, response) => {
      response.setHeader('content-encoding', 'gzip')
      response.end(gzipSync(JSON.stringify('x'.repeat(1_000_000))))
    }
    const other = await open([bomb])
    assert.equal((await failure(other.clock, other.client.getJson('/x'))).kind, 'body')
  })

  it('decompresses compressed answers', async () => {
    const zipped: Answer = (_request, response) => {
      response.setHeader('content-encoding', 'gzip')
      response.end(gzipSync('{"zipped":1}'))
    }
    const { client, clock } = await open([zipped])
    assert.deepEqual(await settle(clock, client.getJson('/x')), { zipped: 1 })
  })

  it('aborts a call when the caller aborts it or when stop() runs', async () => {
    const { client, clock } = await open([never])
    const controller = new AbortController()
    const given = client.getJson('/x', {}, { signal: controller.signal })
    await nextTurn()
    controller.abort()
    assert.equal((await failure(clock, given)).kind, 'aborted')
    const stopped = client.getJson('/y')
    await nextTurn()
    client.stop()
    assert.equal((await failure(clock, stopped)).kind, 'aborted')
    assert.equal((await failure(clock, client.getJson('/z'))).kind, 'aborted')
  })

  it('reports an unreachable host as a network failure', async () => {
    const { client, clock } = await open([ok], { baseUrl: 'http://127.0.0.1:1', retries: 1 })
    assert.equal((await failure(clock, client.getJson('/x'))).kind, 'network')
  })

  it('repeats a query key for each item of a list, and omits undefined values', async () => {
    const { client, clock, requests } = await open([ok])
    const query = { tickers: ['A', 'B&C'], limit: 5, isOn: true, cursor: undefined }
    await settle(clock, client.getJson('/list', query))
    assert.equal(requests[0]?.url, '/base/list?tickers=A&tickers=B%26C&limit=5&isOn=true')
  })

  it('creates the request headers for each attempt from the method and the path without query', async () => {
    const made: string[] = []
    const headers = (method: string, path: string) => {
      made.push(`${method} ${path}`)
      return { 'x-signed': String(made.length) }
    }
    const seen: unknown[] = []
    const note: Answer = (request, response) => {
      seen.push(request.headers['x-signed'])
      response.writeHead(seen.length === 1 ? 500 : 200)
      response.end('{}')
    }
    const { client, clock } = await open([note], { headers })
    await settle(clock, client.getJson('/p', { a: 1 }))
    assert.deepEqual(made, ['GET /base/p', 'GET /base/p'])
    assert.deepEqual(seen, ['1', '2'])
  })

  it('takes a rate-limiter token for every attempt, including retries', async () => {
    let takenCount = 0
    const limiter = {
      take: async () => {
        takenCount += 1
      },
    }
    const { client, clock } = await open([status(500), ok], { limiter })
    await settle(clock, client.getJson('/x'))
    assert.equal(takenCount, 2)
  })

  it('reports an unexpected answer to the watcher with the error text of the venue', async () => {
    const seen: string[] = []
    const expectedOnes: boolean[] = []
    const watch = {
      odd: (path: string, what: string, sample: string) =>
        void seen.push(`${path} ${what}: ${sample}`),
      expected: (_path: string, isRefused: boolean) => void expectedOnes.push(isRefused),
    }
    const logLine =
      (code: number, body: string, headers: Record<string, string> = {}): Answer =>
      (_request, response) => {
        response.writeHead(code, headers)
        response.end(body)
      }
    const requested = async (answer: Answer, expected: number[] = []) => {
      const { client, clock } = await open([answer], { watch, retries: 0 })
      return settle(clock, client.getJson('/x', {}, { expected })).catch((error) => error.message)
    }
    const parameter = '{"error":"no offset here","parameter":"offset"}'
    assert.equal(await requested(logLine(400, parameter)), 'status 400: no offset here')
    assert.equal(await requested(logLine(410, '')), 'status 410')
    await requested(logLine(404, '<html>gone</html>'))
    await requested(logLine(301, '', { location: 'https://elsewhere.example' }))
    await requested(logLine(429, ''))
    await requested(logLine(200, '<html>'))
    await requested(logLine(200, ''))
    await requested(logLine(200, '{}', { sunset: 'Sat, 24 Oct 2026 00:00:00 GMT' }))
    await requested(logLine(404, ''), [404])
    await requested(logLine(429, '', { 'retry-after': '1' }))
    await requested(logLine(503, ''))
    await requested(logLine(200, '{}'))
    await requested(logLine(200, '{}'), [404])
    assert.deepEqual(expectedOnes, [true, false])
    await requested(logLine(404, '<html>moved</html>'), [404])
    assert.deepEqual(seen, [
      `/base/x status 400 offset: ${parameter}`,
      '/base/x status 410: ',
      '/base/x status 404 html: <html>gone</html>',
      '/base/x status 301: https://elsewhere.example',
      '/base/x status 429 without retry-after: ',
      '/base/x html: <html>',
      '/base/x empty: ',
      '/base/x sunset: Sat, 24 Oct 2026 00:00:00 GMT',
      '/base/x status 404 html: <html>moved</html>',
    ])
  })

  it('reports an error status one second after the response head when no body arrives', async () => {
    const headOnly: Answer = (_request, response) => {
      response.writeHead(400, { 'content-length': '10' })
      response.flushHeaders()
    }
    const { client, clock } = await open([headOnly], { retries: 0 })
    const error = await failure(clock, client.getJson('/x'))
    assert.deepEqual([error.kind, error.status], ['status', 400])
  })

  it('parses each large answer in a separate tick, and ends the call when stop() runs during parsing', async (test) => {
    const large = JSON.stringify({ text: 'x'.repeat(20_000) })
    const { client } = await open([(_request, response) => response.end(large)], {
      bodyBytesMax: 100_000,
    })
    const loop = countTicks()
    const ticks: number[] = []
    let isStopped = false
    const parse = JSON.parse
    test.mock.method(JSON, 'parse', (text: string) => {
      if (isStopped) client.stop()
      ticks.push(loop.count())
      return parse(text)
    })
    const answers = await Promise.all(['/a', '/b', '/c'].map((path) => client.getJson(path)))
    assert.deepEqual(answers, Array(3).fill(parse(large)))
    assert.equal(new Set(ticks).size, 3)
    isStopped = true
    await assert.rejects(client.getJson('/d'), { kind: 'aborted' })
    loop.stop()
    assert.equal(ticks.length, 4)
  })

  it('reports retries and each response head of a call to the watcher, and can bypass the watcher', async () => {
    const seen: string[] = []
    const watch = { odd: (path: string, what: string) => void seen.push(`${path} ${what}`) }
    const { client, clock, requests } = await open([status(503, { age: '7' }), html, ok], { watch })
    const heads: unknown[] = []
    const onHead = (code: number, { age }: IncomingHttpHeaders) => void heads.push([code, age])
    const once = await failure(clock, client.getJson('/x', {}, { retries: 0, onHead }))
    assert.deepEqual([once.status, requests.length, heads], [503, 1, [[503, '7']]])
    const unwatched = { retries: 1, isWatched: false, onHead }
    assert.deepEqual(await settle(clock, client.getJson('/x', {}, unwatched)), { fine: true })
    assert.deepEqual(heads.slice(1), [
      [200, undefined],
      [200, undefined],
    ])
    assert.deepEqual(seen, [])
  })
})
