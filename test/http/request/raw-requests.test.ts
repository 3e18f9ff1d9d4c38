// The server must refuse a request that two HTTP parsers could read differently, and ignore the bytes after it (request
// smuggling).

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { type ApiServer, openApiServer } from '../../support/rigs/api-server.ts'

let server: ApiServer
before(async () => {
  server = await openApiServer()
})
after(() => server.stop())

const HEALTH = 'GET /health HTTP/1.1\r\nHost: x\r\n'
const HEAD = 'HEAD /health HTTP/1.1\r\nHost: x\r\n'
const LOGIN = 'POST /v1/auth/login HTTP/1.1\r\nHost: x\r\n'
const STREAM =
  'GET /v1/ws?api_key=ann-key HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n'
const BODY = '{"a":1}'
const CHUNKS = `7\r\n${BODY}\r\n0\r\n\r\n`
/** Follows each first request. A second status line in the response shows that the server executed it. */
const SECOND_REQUEST = 'GET /v1/markets HTTP/1.1\r\nHost: smuggled\r\n\r\n'

/** The server answers, and the connection stays open. */
type Fate =
  | { readonly read: readonly number[] }
  /** The server or the library refuses, and the connection ends. */
  | { readonly refused: number; readonly by: 'us' | 'library' }
  /** The connection is closed without a response. */
  | 'cut'
  /** The library treats the bytes as an incomplete head and waits for more until its timeout. */
  | 'waits'

const ours = { refused: 400, by: 'us' } as const
const theirs = (refused: number) => ({ refused, by: 'library' }) as const

const TABLE: readonly (readonly [name: string, bytes: string, fate: Fate])[] = [
  ['a request', `${HEALTH}\r\n`, { read: [200] }],
  ['two requests in one segment', `${HEALTH}\r\n${HEALTH}\r\n`, { read: [200, 200] }],
  ['a body of known length', `${LOGIN}Content-Length: 7\r\n\r\n${BODY}`, { read: [422] }],
  ['blanks around the length', `${LOGIN}Content-Length:  7 \r\n\r\n${BODY}`, { read: [422] }],
  [
    'a body that no handler reads',
    `${HEALTH}Content-Length: ${SECOND_REQUEST.length}\r\n\r\n${SECOND_REQUEST}`,
    { read: [200] },
  ],
  ['chunks', `${LOGIN}Transfer-Encoding: chunked\r\n\r\n${CHUNKS}`, { read: [422] }],
  [
    'a host with a port',
    'GET /health HTTP/1.1\r\nHost: [2001:db8::1]:8080\r\n\r\n',
    { read: [200] },
  ],
  ['an empty host', 'GET /health HTTP/1.1\r\nHost: \r\n\r\n', { read: [200] }],

  ['two equal lengths', `${LOGIN}Content-Length: 7\r\nContent-Length: 7\r\n\r\n${BODY}`, ours],
  ['two different lengths', `${LOGIN}Content-Length: 7\r\nContent-Length: 0\r\n\r\n${BODY}`, ours],
  [
    'two different lengths and a smuggled request',
    `${HEALTH}Content-Length: 0\r\nContent-Length: 9\r\n\r\n${SECOND_REQUEST}`,
    'cut',
  ],
  ['an empty length', `${LOGIN}Content-Length: \r\n\r\n`, ours],
  [
    'an empty length and a smuggled request',
    `${HEALTH}Content-Length: \r\n\r\n${SECOND_REQUEST}`,
    'cut',
  ],
  [
    'an empty length first',
    `${HEALTH}Content-Length:\r\nContent-Length: 9\r\n\r\n${SECOND_REQUEST}`,
    'cut',
  ],
  ['a list of lengths', `${LOGIN}Content-Length: 7, 7\r\n\r\n${BODY}`, theirs(400)],
  ['a signed length', `${LOGIN}Content-Length: +7\r\n\r\n${BODY}`, theirs(400)],
  ['a negative length', `${LOGIN}Content-Length: -1\r\n\r\n${BODY}`, theirs(400)],
  ['a length in hex', `${LOGIN}Content-Length: 0x7\r\n\r\n${BODY}`, theirs(400)],
  ['an endless length', `${LOGIN}Content-Length: ${'9'.repeat(23)}\r\n\r\n${BODY}`, theirs(400)],
  ['a large length', `${LOGIN}Content-Length: ${'9'.repeat(17)}\r\n\r\n${BODY}`, ours],
  [
    'length and chunks',
    `${LOGIN}Content-Length: 7\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNKS}`,
    theirs(400),
  ],
  [
    'empty length and chunks',
    `${LOGIN}Content-Length:\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNKS}`,
    ours,
  ],

  ['chunks in capitals', `${LOGIN}Transfer-Encoding: Chunked\r\n\r\n${CHUNKS}`, ours],
  ['identity', `${LOGIN}Transfer-Encoding: identity\r\n\r\n${CHUNKS}`, ours],
  ['two codings', `${LOGIN}Transfer-Encoding: gzip, chunked\r\n\r\n${CHUNKS}`, ours],
  [
    'an unknown coding',
    `${HEALTH}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${SECOND_REQUEST}`,
    'cut',
  ],
  ['an empty coding', `${HEALTH}Transfer-Encoding: \r\n\r\n${SECOND_REQUEST}`, 'cut'],
  [
    'two lines of coding',
    `${LOGIN}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n${CHUNKS}`,
    ours,
  ],
  [
    'a coding after a control character',
    `${LOGIN}Transfer-Encoding: \x0bchunked\r\n\r\n${CHUNKS}`,
    'waits',
  ],
  [
    'a chunk with an invalid size',
    `${LOGIN}Transfer-Encoding: chunked\r\n\r\nzz\r\n${BODY}\r\n`,
    theirs(400),
  ],
  [
    'a chunk with an extension',
    `${LOGIN}Transfer-Encoding: chunked\r\n\r\n7;x=y\r\n${BODY}\r\n0\r\n\r\n`,
    theirs(400),
  ],

  ['two hosts', `${HEALTH}Host: y\r\n\r\n`, ours],
  ['two equal hosts', `${HEALTH}Host: x\r\n\r\n`, ours],
  ['hosts as a list', 'GET /health HTTP/1.1\r\nHost: a, b\r\n\r\n', ours],
  ['a host with a path', 'GET /health HTTP/1.1\r\nHost: a/b\r\n\r\n', ours],
  ['a host with a user', 'GET /health HTTP/1.1\r\nHost: a@b\r\n\r\n', ours],
  ['no host', 'GET /health HTTP/1.1\r\n\r\n', 'waits'],

  // The server answers these requests, so their connections stay open.
  ['a HEAD with two lengths', `${HEAD}Content-Length: 0\r\nContent-Length: 9\r\n\r\n`, 'cut'],
  ['a HEAD in capital chunks', `${HEAD}Transfer-Encoding: Chunked\r\n\r\n`, 'cut'],
  ['a HEAD with two hosts', `${HEAD}Host: y\r\n\r\n`, 'cut'],

  ['a handshake with a body', `${STREAM}Content-Length: 5\r\n\r\nabcde`, ours],
  ['a handshake with two lengths', `${STREAM}Content-Length: 0\r\nContent-Length: 0\r\n\r\n`, ours],
  ['a handshake in chunks', `${STREAM}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, ours],

  ['a folded line', `${HEALTH}X-A: a\r\n b\r\n\r\n`, 'waits'],
  ['a line without a colon', `${HEALTH}Foo\r\n\r\n`, 'waits'],
  ['a blank in a name', `${HEALTH}Content-Length : 7\r\n\r\n${BODY}`, 'waits'],
  [
    'a line feed in a value',
    `${HEALTH}X-A: a\nContent-Length: 9\r\n\r\n${SECOND_REQUEST}`,
    'waits',
  ],
  [
    'a carriage return in a value',
    `${HEALTH}X-A: a\rContent-Length: 9\r\n\r\n${SECOND_REQUEST}`,
    'waits',
  ],
  ['a zero byte in a value', `${HEALTH}X-A: a\0b\r\n\r\n`, 'waits'],
  ['lines without carriage returns', 'GET /health HTTP/1.1\nHost: x\n\n', theirs(505)],
  ['HTTP/1.0', 'GET /health HTTP/1.0\r\nHost: x\r\n\r\n', theirs(505)],
  ['HTTP/2.0', 'GET /health HTTP/2.0\r\nHost: x\r\n\r\n', theirs(505)],
  ['two blanks', 'GET  /health HTTP/1.1\r\nHost: x\r\n\r\n', theirs(505)],
  ['an absolute URL', 'GET http://x/health HTTP/1.1\r\nHost: x\r\n\r\n', theirs(505)],
  ['too many headers', `${HEALTH}${'X-A: 1\r\n'.repeat(120)}\r\n`, theirs(431)],
]

/**
 * Resolves with all text until the peer closes the connection. With `answers`, the test closes it after this many
 * responses.
 */
async function exchange(port: number, bytes: string, answers: number | null): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let got = ''
  let isProbed = false
  socket.setEncoding('latin1')
  socket.on('data', (text: string) => {
    got += text
    if (answers === null || isProbed || statuses(got).length < answers) return
    isProbed = true
    socket.end(`${HEALTH}\r\n`)
  })
  // The peer may close the connection while the test is sending.
  socket.on('error', () => undefined)
  socket.write(bytes, 'latin1')
  if (answers === 0) socket.end()
  await once(socket, 'close')
  return got
}

const statuses = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))

async function assertFate(port: number, bytes: string, fate: Fate, name: string): Promise<void> {
  if (fate === 'cut') return assert.equal(await exchange(port, bytes, null), '', name)
  if (fate === 'waits') return assert.equal(await exchange(port, bytes, 0), '', name)
  if ('read' in fate) {
    const got = await exchange(port, bytes, fate.read.length)
    return assert.deepEqual(statuses(got), [...fate.read, 200], name)
  }
  const got = await exchange(port, bytes, null)
  assert.deepEqual(statuses(got), [fate.refused], name)
  assert.equal(/x-ratelimit-limit: \d+/i.test(got), fate.by === 'us', `${name}: by ${fate.by}`)
  if (fate.by === 'us') assert.match(got, /\r\n\r\n\{"detail":"[^"]+"\}$/, name)
}

test('refuses an ambiguous HTTP request (such as two Host headers), disconnects, and ignores the bytes after the request', async () => {
  await Promise.all(TABLE.map(([name, bytes, fate]) => assertFate(server.port, bytes, fate, name)))
})

test('counts an ambiguous HTTP request (such as two Host headers) against the client’s address, even with a key', async () => {
  const own = await openApiServer()
  const { accounts } = own.engine
  try {
    const bytes = 'GET /v1/markets HTTP/1.1\r\nHost: x\r\nHost: x\r\nX-API-Key: ann-key\r\n\r\n'
    await assertFate(own.port, bytes, ours, 'a request with a key')
    assert.equal(accounts.usedBy('127.0.0.1'), 1)
    accounts.addressLimit = 1
    await assertFate(own.port, bytes, { refused: 429, by: 'us' }, 'one too many')
    await assertFate(
      own.port,
      `${STREAM}Content-Length: 5\r\n\r\nabcde`,
      { refused: 429, by: 'us' },
      'a handshake',
    )
    assert.equal(accounts.usedBy('127.0.0.1'), 3)
  } finally {
    await own.stop()
  }
})
