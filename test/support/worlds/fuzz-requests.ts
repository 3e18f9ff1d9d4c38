// A valid request of a route with one to four mutations. The same seed and number always give the same request.

import { type Random, seededRandom } from '../../../engine/random.ts'
import type { Route } from '../../../http/request/route.ts'
import { requestBytes } from '../clients/raw-http.ts'
import { ACCOUNT } from '../rigs/documented-server.ts'
import { type ParameterValues, valuesOf } from './parameter-values.ts'
import { SAMPLES, seedOf } from './route-seeds.ts'

export interface FuzzRequest {
  readonly method: string
  /** The request target as sent. */
  readonly target: string
  readonly bytes: Buffer
  /** The request is too large or not HTTP. Any rejection or a closed connection is valid. */
  readonly isBroken: boolean
}

/** Contained in values all over the request. No response header may contain it. */
export const MARK = 'Zq7MARK'
/** Used as password. No response may contain it. */
export const PASSWORD = 'pw-7c1e-never-said-again'

type Pair = readonly [name: string, value: string]

/** Names and values are as sent. */
interface Draft {
  method: string
  path: string
  query: Pair[]
  headers: Pair[]
  body: Buffer | null
  isBroken: boolean
}

export class FuzzRequests {
  readonly #seed: string
  readonly #routes: readonly {
    route: Route
    values: readonly (readonly [string, ParameterValues])[]
  }[]

  constructor(routes: readonly Route[], seed: string) {
    this.#seed = seed
    this.#routes = routes.map((route) => {
      const own = seedOf(route).query ?? {}
      const values = Object.entries(route.querySchema.properties).flatMap(([name, schema]) => {
        const names: readonly string[] = [name, ...(schema.aliases ?? [])]
        const texts = valuesOf(name, schema, own[name] ?? SAMPLES[name])
        return names.map((one) => [one, texts] as const)
      })
      return { route, values }
    })
  }

  at(index: number): FuzzRequest {
    const random = seededRandom('fuzz', this.#seed, index)
    const { route, values } = random.pick(this.#routes)
    const draft = goodRequest(route, values, random)
    const count = 1 + random.below(4)
    for (let step = 0; step < count; step += 1) random.pick(MUTATIONS)(draft, random)
    const text = draft.query
      .map(([name, value]) => (value === '' ? name : `${name}=${value}`))
      .join('&')
    const target = text === '' ? draft.path : `${draft.path}?${text}`
    const { method, headers, body } = draft
    // The HTTP library itself rejects requests beyond these limits.
    const isLarge = target.length + JSON.stringify(headers).length > 30_000
    const isBroken = draft.isBroken || isLarge || !/^[\x21-\x7e]+$/.test(target)
    return { method, target, bytes: requestBytes({ method, target, headers, body }), isBroken }
  }
}

function goodRequest(
  route: Route,
  values: readonly (readonly [string, ParameterValues])[],
  random: Random,
): Draft {
  const path = route.pattern.replace(/\{(\w+)\}/g, (_, name: string) => {
    return encodeURIComponent(SAMPLES[name] ?? (name === 'sport' ? 'nfl' : `event-${name}`))
  })
  const query: Pair[] = []
  for (const [name, { valid, invalid }] of values) {
    if (random.next() < 0.3) {
      const from = invalid.length > 0 && random.next() < 0.15 ? invalid : valid
      query.push([encodeURIComponent(name), encodeURIComponent(random.pick(from))])
    }
  }
  const credential: Pair =
    route.access === 'token'
      ? ['Authorization', `Bearer ${ACCOUNT}-token`]
      : ['X-API-Key', `${ACCOUNT}-key`]
  const good = seedOf(route).body?.()
  const body =
    good === undefined ? null : { ...good, ...('password' in good ? { password: PASSWORD } : {}) }
  return {
    method: route.method,
    path,
    query,
    headers: [credential],
    body: body === null ? null : Buffer.from(JSON.stringify(body)),
    isBroken: false,
  }
}

/** Texts that have broken parsers in other software, encoded for a URL. */
const NASTY: readonly string[] = [
  '%zz',
  '%',
  '%00',
  '%0d%0aX-Injected:%20Zq7MARK',
  '%E5%98%8A%E5%98%8DX-Injected:%20Zq7MARK',
  '%F0%9F%98%80',
  '%c3%28',
  '%ed%a0%80',
  '%u0041',
  '+',
  'Zq7MARK',
  `${'1234567890'.repeat(8).slice(0, 78)}`,
  Array.from({ length: 100 }, () => '1234567890'.repeat(8).slice(0, 78)).join(','),
  Array.from({ length: 101 }, () => '7'.repeat(78)).join('%2C'),
  'Infinity',
  '-Infinity',
  'NaN',
  '1e400',
  '-1e400',
  '1e-400',
  '9'.repeat(400),
  '-0',
  '0x7fffffffffffffff',
  '9223372036854775808',
  '__proto__',
  'constructor',
  '%7B%22a%22%3A1%7D',
  '[object%20Object]',
  '..%2f..%2f..%2fetc%2fpasswd',
  '../../etc/passwd',
  '%27%20OR%20%271%27%3D%271',
  '%3Cscript%3Ealert(1)%3C/script%3E',
  'a'.repeat(513),
  'Zq7MARK'.repeat(120),
  `${'9'.repeat(15)}.${'9'.repeat(15)}`,
  `1795175940000.${'9'.repeat(15)}`,
  Buffer.alloc(384, 0x5a).toString('base64url'),
  `${'A'.repeat(16)}MS4x`,
  '%EF%BB%BF1',
  '%D9%A3',
  '%E2%80%AE',
  'null',
  'undefined',
  'true',
  '',
]

const CREDENTIALS: readonly Pair[] = [
  ['X-API-Key', ''],
  ['X-API-Key', 'pmk_Zq7MARK'],
  ['X-API-Key', `${ACCOUNT}-key `.repeat(40)],
  ['X-API-Key', '\u00ff\u00fe\u0080'],
  ['Authorization', 'Bearer'],
  ['Authorization', `Bearer ${ACCOUNT}-tokenZq7MARK`],
  ['Authorization', `Basic ${Buffer.from(`a:${PASSWORD}`).toString('base64')}`],
  ['Authorization', `Bearer ${'e'.repeat(4_000)}.e.e`],
]

const HEADERS: readonly Pair[] = [
  ['Origin', 'https://Zq7MARK.example'],
  ['Origin', 'null'],
  ['X-Forwarded-For', '127.0.0.1, Zq7MARK'],
  ['Accept', 'text/html;q=Zq7MARK'],
  ['Accept-Encoding', 'gzip, br, Zq7MARK'],
  ['If-None-Match', '"Zq7MARK"'],
  ['Range', 'bytes=0-1'],
  ['Expect', '100-continue'],
  ['Content-Type', 'text/xml; charset=Zq7MARK'],
  ['Cookie', 'session=Zq7MARK'],
  ['X-Odd', 'a\tb Zq7MARK'],
  ['User-Agent', 'Zq7MARK'.repeat(100)],
  ['Host', 'Zq7MARK.example'],
  ['Upgrade', 'websocket'],
]

const METHODS = [
  'GET',
  'HEAD',
  'OPTIONS',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'TRACE',
  'BREW',
  'get',
] as const

const MUTATIONS: readonly ((draft: Draft, random: Random) => void)[] = [
  nastyValue,
  nastyValue,
  nastyValue,
  newParameter,
  duplicates,
  longQuery,
  rawQuery,
  otherMethod,
  otherPath,
  otherPath,
  otherCredential,
  otherHeader,
  otherBody,
  otherBody,
  brokenHttp,
]

function nastyValue(draft: Draft, random: Random): void {
  if (draft.query.length === 0) return newParameter(draft, random)
  const at = random.below(draft.query.length)
  const [name = ''] = draft.query[at] ?? []
  draft.query[at] = [name, random.pick(NASTY)]
}

function newParameter(draft: Draft, random: Random): void {
  const name =
    random.next() < 0.5 ? random.pick(['limit', 'cursor', 'offset', 'q']) : random.pick(NASTY)
  draft.query.push([name, random.pick(NASTY)])
}

function duplicates(draft: Draft, random: Random): void {
  const [name = 'limit', value = '1'] = draft.query.at(-1) ?? []
  const count = 2 + random.below(50)
  for (let copy = 0; copy < count; copy += 1) {
    draft.query.push([
      name,
      random.next() < 0.5 ? value : random.pick(['0', 'Zq7MARK', '%zz', '1']),
    ])
  }
}

function longQuery(draft: Draft, random: Random): void {
  const bytes = random.pick([8_000, 28_000, 28_000, 30_000, 60_000])
  draft.query.push([
    random.pick(['search', 'x', 'tags']),
    random.pick(['a', '%41', ',', 'a&', '=']).repeat(bytes),
  ])
  draft.query[draft.query.length - 1] = [
    draft.query.at(-1)?.[0] ?? '',
    (draft.query.at(-1)?.[1] ?? '').slice(0, bytes),
  ]
}

/** These bytes are not allowed in a URL. */
function rawQuery(draft: Draft, random: Random): void {
  const text = random.pick([
    '\u0001',
    '\t',
    '\u00e9\u00ff',
    '"<>^`{|}',
    '#Zq7MARK',
    '\u0000',
    ' x',
    '\u007f',
  ])
  draft.query.push(['raw', text])
}

function otherMethod(draft: Draft, random: Random): void {
  draft.method = random.pick(METHODS)
}

function otherPath(draft: Draft, random: Random): void {
  const segments = draft.path.split('/')
  const at = 1 + random.below(Math.max(1, segments.length - 1))
  const changes: readonly (() => void)[] = [
    () => void segments.splice(at, 1, random.pick(NASTY)),
    () => void segments.splice(at, 0, random.pick(['', '.', '..', '%2e%2e', '%2f'])),
    () => void segments.splice(at, 1, (segments[at] ?? '').toUpperCase()),
    () => void segments.push(''),
    () => void segments.splice(at, 1),
  ]
  random.pick(changes)()
  const path = segments.join('/')
  draft.path = path.startsWith('/') ? path : `/${path}`
}

function otherCredential(draft: Draft, random: Random): void {
  if (random.next() < 0.5) draft.headers = []
  draft.headers.push(random.pick(CREDENTIALS))
}

function otherHeader(draft: Draft, random: Random): void {
  const header = random.pick(HEADERS)
  draft.headers.push(header)
  // The HTTP library rejects a request with two hosts or an invalid upgrade.
  if (header[0] === 'Host' || header[0] === 'Upgrade') draft.isBroken = true
}

function otherBody(draft: Draft, random: Random): void {
  const text = draft.body?.toString() ?? '{"label":"Zq7MARK"}'
  const bodies: readonly (() => string | Buffer)[] = [
    () => text.slice(0, random.below(text.length)),
    () => text.replace(':', ''),
    () => `${text}${text}`,
    () => `[${text}]`,
    () => JSON.stringify(text),
    () => text.replace(/"[^"]*"$/, '1e400'),
    () =>
      text.replace(
        /:"[^"]*"/,
        `:${random.pick(['null', '5', '1e400', '[]', '{}', 'true', '"\\u0000"', '"\\ud800"'])}`,
      ),
    () => `{"__proto__":${text}}`,
    () => '['.repeat(8_000),
    () => '{"a":'.repeat(3_000),
    () => Buffer.from([0xff, 0xfe, 0x00, 0x7b]),
    () => `${' '.repeat(16_384)}${text}`,
    () => text.replace('{', `{"extra":"${'Zq7MARK'.repeat(300)}",`),
    () => '',
  ]
  draft.body = Buffer.from(random.pick(bodies)())
  // The server rejects the body before it has read all of it. The response may be lost when the connection closes.
  if (draft.body.length > 16_384) draft.isBroken = true
}

function brokenHttp(draft: Draft, random: Random): void {
  // Rarely used, because the connection is closed afterwards.
  if (random.next() < 0.6) return otherHeader(draft, random)
  draft.isBroken = true
  const breaks: readonly (() => void)[] = [
    () => void draft.headers.push(['X-Raw', 'a\r\nX-Injected: Zq7MARK']),
    () => void draft.headers.push(['X-Raw', 'a\nSet-Cookie: Zq7MARK']),
    () => void draft.headers.push(['X-Raw', '\u0000\u0001\u007f']),
    () => void draft.headers.push(['Bad Name Zq7MARK', 'x']),
    () => void draft.headers.push(['X-Large', 'x'.repeat(40_000)]),
    () => void draft.headers.push(['Transfer-Encoding', 'chunked']),
    () => void draft.headers.push(['Content-Length', random.pick(['-1', '0x10', '9'.repeat(30)])]),
    () => {
      draft.method = random.pick(['G\u0000T', '', 'GET GET', 'Zq7MARK'.repeat(50)])
    },
    () => {
      draft.path = random.pick(['', '*', 'http://Zq7MARK/health', 'health', '//'])
    },
    () => {
      for (let count = 0; count < 200; count += 1) draft.headers.push([`X-${count}`, 'Zq7MARK'])
    },
  ]
  random.pick(breaks)()
}
