// Uses real sockets and a manual clock.

import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { callsMax } from '../../../engine/limits.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { type CallerParts, openCaller } from '../../../engine/webhooks/caller.ts'
import type { Caller, PostOutcome } from '../../../engine/webhooks/post.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { type Behaviour, Receiver, until } from '../../support/fakes/receivers.ts'
import { selfSigned } from '../../support/fakes/self-signed.ts'

const body = Buffer.from('{"type":"webhook.test","data":{"note":"ü"}}')
const opened: { receivers: Receiver[]; callers: Caller[] } = { receivers: [], callers: [] }

async function receive(behaviour: Behaviour): Promise<Receiver> {
  const receiver = await Receiver.open(behaviour)
  opened.receivers.push(receiver)
  return receiver
}

/** The caller allows loopback addresses. */
function open(parts: Partial<CallerParts> = {}) {
  const clock = new ManualClock()
  const metrics = new Metrics()
  const policy = { allowsHttp: true, allowsPrivate: true }
  const caller = openCaller({ policy, clock, metrics, log: silentLog, ...parts })
  opened.callers.push(caller)
  const count = (outcome: string) =>
    metrics.counts('webhook_posts_total').get(JSON.stringify({ outcome }))?.value ?? 0
  return { caller, clock, count }
}

/** `outcome` is null until the post has ended. */
function send(caller: Caller, url: string, signal = new AbortController().signal) {
  const sent: { outcome: PostOutcome | null } = { outcome: null }
  const headers = { 'webhook-id': 'evt_1', 'Content-Type': 'application/json' }
  const done = caller.post({ url, headers, body, signal }).then((outcome) => {
    sent.outcome = outcome
    return outcome
  })
  return { sent, done }
}

function post(caller: Caller, url: string): Promise<PostOutcome> {
  return send(caller, url).done
}

const logLine = (text: string): Behaviour => ({ onRequest: (socket) => void socket.write(text) })
const status = (code: number, ...headers: readonly string[]) =>
  logLine(`HTTP/1.1 ${[`${code} Words`, 'Content-Length: 0', ...headers].join('\r\n')}\r\n\r\n`)
const reasonOf = (outcome: PostOutcome) =>
  outcome.kind === 'answered' ? outcome.status : outcome.reason

const closeOpened = async () => {
  for (const caller of opened.callers.splice(0)) caller.stop()
  for (const receiver of opened.receivers.splice(0)) await receiver.close()
}

describe('receiver behaviour', () => {
  afterEach(closeOpened)

  for (const code of [200, 204, 300, 301, 302, 307, 400, 401, 410, 429, 500, 502, 999]) {
    it(`reports status ${code} of the receiver and reuses the connection`, async () => {
      const receiver = await receive(status(code, 'Location: http://127.0.0.1:1/elsewhere'))
      const { caller } = open()
      for (let round = 1; round <= 5; round += 1) {
        const outcome = await post(caller, receiver.url)
        assert.deepEqual(withoutHead(outcome), {
          kind: 'answered',
          status: code,
          retryAfterMs: null,
        })
        assert.equal(receiver.requests.length, round, 'one request each: no redirect is followed')
      }
      const hasNoBody = code === 204
      if (!hasNoBody) assert.equal(receiver.connectionCount, 1)
    })
  }

  const odd: readonly (readonly [name: string, behaviour: Behaviour, outcome: number | string])[] =
    [
      ['a connection reset', { onRequest: (socket) => void socket.resetAndDestroy() }, 'network'],
      ['a close without a response', { onRequest: (socket) => void socket.end() }, 'network'],
      [
        'a close before the request',
        { onConnection: (socket) => void socket.destroy() },
        'network',
      ],
      [
        'a reset before the request',
        { onConnection: (socket) => void socket.resetAndDestroy() },
        'network',
      ],
      ['bytes that are not HTTP', logLine('\x00\xffgarbage\r\n\r\n'), 'network'],
      ['a greeting of a different protocol', logLine('220 mail.example ESMTP\r\n'), 'network'],
      ['HTTP/1.0, ended by a close', endAfter('HTTP/1.0 200 OK\r\n\r\nfine'), 200],
      ['a body that is cut off', endAfter('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx'), 200],
      ['headers that are cut off', endAfter('HTTP/1.1 200 OK\r\nContent-Le'), 'network'],
      [
        'a broken chunk',
        logLine('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'),
        200,
      ],
      ['headers of 20 KB', status(200, `X-Long: ${'x'.repeat(20_000)}`), 'network'],
      ['a million headers', status(200, ...Array<string>(10_000).fill('X-A: b')), 'network'],
      ['a protocol switch', status(101, 'Upgrade: websocket', 'Connection: Upgrade'), 'network'],
      [
        'early hints before the answer',
        logLine('HTTP/1.1 103 E\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
        200,
      ],
      ['two answers', logLine('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'.repeat(2)), 200],
      [
        'an answer, then bytes that are not HTTP',
        logLine('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n\x00\x01'),
        200,
      ],
      [
        'both Content-Length and Transfer-Encoding',
        status(200, 'Transfer-Encoding: chunked'),
        'network',
      ],
      [
        'an answer before the request',
        early('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'),
        200,
      ],
      [
        'an answer without reading the request',
        unread('HTTP/1.1 413 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'),
        413,
      ],
    ]
  for (const [name, behaviour, expected] of odd) {
    it(`returns an outcome without an address, and does not throw, when the receiver sends: ${name}`, async () => {
      const receiver = await receive(behaviour)
      const { caller, clock } = open()
      for (let round = 0; round < 5; round += 1) {
        const { sent, done } = send(caller, receiver.url)
        // Each call ends at once, or one second after its status.
        for (const ms of [1_000, 14_000]) {
          await soon(() => sent.outcome !== null)
          if (sent.outcome === null) clock.advance(ms)
        }
        const outcome = await done
        assert.equal(reasonOf(outcome), expected)
        assert.ok(!JSON.stringify(outcome).includes('127.0.0.1'), JSON.stringify(outcome))
      }
      const { done } = send(caller, `http://127.0.0.1:${(await receive(status(200))).port}/`)
      assert.equal(reasonOf(await done), 200, 'another receiver is not affected')
      assert.equal(clock.timerCount, 0)
    })
  }

  function endAfter(text: string): Behaviour {
    return { onRequest: (socket) => void socket.end(text) }
  }
  function early(text: string): Behaviour {
    return { onConnection: (socket) => void socket.write(text) }
  }
  function unread(text: string): Behaviour {
    return {
      onConnection: (socket) => {
        socket.pause()
        socket.write(text)
      },
    }
  }

  it('reports a receiver port without a listener as a network failure', async () => {
    const receiver = await Receiver.open()
    const { url } = receiver
    await receiver.close()
    const { caller } = open()
    const outcome = await post(caller, url)
    assert.deepEqual(outcome, {
      kind: 'failed',
      reason: 'network',
      detail: 'no connection (ECONNREFUSED)',
    })
  })

  it('sends the bytes of the webhook body, their length, the headers and the path', async () => {
    const receiver = await receive(status(200))
    const { caller } = open()
    await post(caller, `${receiver.url}/a%20b?c=d#never`)
    const [request = ''] = receiver.requests
    const [head = '', sent = ''] = request.split('\r\n\r\n')
    assert.deepEqual(Buffer.from(sent, 'latin1'), body)
    const lines = head.split('\r\n')
    assert.equal(lines[0], 'POST /hook/a%20b?c=d HTTP/1.1')
    const expected = [`Host: 127.0.0.1:${receiver.port}`, 'webhook-id: evt_1']
    for (const line of [...expected, `content-length: ${body.length}`]) {
      assert.ok(lines.includes(line), `${line} in ${head}`)
    }
    assert.equal(lines.filter((line) => /^content-type: /i.test(line)).length, 1)
  })

  it('returns a failure outcome instead of throwing when a webhook’s header is invalid in HTTP', async () => {
    const { caller, count } = open()
    const { signal } = new AbortController()
    const headers = { 'webhook-id': 'a\r\nb: c' }
    const outcome = await caller.post({ url: 'http://127.0.0.1:9999/', headers, body, signal })
    assert.equal(reasonOf(outcome), 'network')
    assert.equal(count('network'), 1)
  })

  it('counts every webhook post by outcome in a metric', async () => {
    const { caller, count } = open()
    for (const code of [200, 204, 301, 410, 503, 999]) {
      await post(caller, (await receive(status(code))).url)
    }
    await post(caller, 'ftp://127.0.0.1/')
    assert.deepEqual(
      ['2xx', '3xx', '4xx', '5xx', 'other', 'refused', 'network'].map(count),
      [2, 1, 1, 1, 1, 1, 0],
    )
  })

  /** Waits many ticks, because the condition must not become true. */
  async function soon(condition: () => boolean): Promise<void> {
    for (let tick = 0; tick < 2_000 && !condition(); tick += 1) await nextTurn()
  }
})

describe('Retry-After header', () => {
  afterEach(closeOpened)

  const requested: readonly (readonly [header: string, ms: number | null])[] = [
    ['0', 0],
    ['7', 7_000],
    [' 120 ', 120_000],
    ['86400', 86_400_000],
    ['999999999', 86_400_000],
    ['Fri, 20 Nov 2026 12:00:30 GMT', 30_000],
    ['Fri, 20 Nov 2026 11:00:00 GMT', 0],
    ['Sun, 20 Dec 2026 12:00:00 GMT', 86_400_000],
    ['-1', null],
    ['1.5', null],
    ['soon', null],
    ['2026-11-20', null],
    ['Fri, 99 Nov 2026 12:00:30 GMT', null],
  ]
  for (const [header, retryAfterMs] of requested) {
    it(`parses "${header}" as a wait of ${retryAfterMs} ms`, async () => {
      const receiver = await receive(status(429, `Retry-After: ${header}`))
      const { caller } = open()
      const outcome = await post(caller, receiver.url)
      assert.deepEqual(withoutHead(outcome), { kind: 'answered', status: 429, retryAfterMs })
    })
  }
})

describe('stored answer of a receiver', () => {
  afterEach(closeOpened)

  const SECRETS = ['Set-Cookie: session=s3cret', 'Location: https://h/?token=s3cret']
  for (const [length, isCut] of [
    [0, false],
    [2_048, false],
    [2_049, true],
    [70_000, true],
  ] as const) {
    it(`stores the first 2,048 of ${length} bytes of a receiver’s body, and headers without secrets`, async () => {
      const body = Array.from({ length }, (_, index) => index % 10).join('')
      const head = [
        'HTTP/1.1 500 No',
        ...SECRETS,
        'Server: mine',
        `X-Request-Id: ${'x'.repeat(300)}`,
      ]
      const wire = `${head.join('\r\n')}\r\nContent-Length: ${length}\r\n\r\n${body}`
      const receiver = await receive(logLine(wire))
      const { caller } = open()
      const outcome = await post(caller, receiver.url)
      assert.ok(outcome.kind === 'answered' && outcome.answer !== undefined)
      const { answer } = outcome
      assert.equal(Buffer.from(answer.body).toString(), body.slice(0, 2_048))
      assert.equal(answer.isCut, isCut)
      const headers = new Map(answer.headers)
      assert.deepEqual([...headers.keys()], ['content-length', 'server', 'x-request-id'])
      assert.equal(headers.get('server'), 'mine')
      assert.equal(headers.get('x-request-id')?.length, 200)
      assert.doesNotMatch(JSON.stringify(answer), /s3cret/)
    })
  }
})

function withoutHead(outcome: PostOutcome): object {
  if (outcome.kind === 'failed') return outcome
  const { answer: _, ...rest } = outcome
  return rest
}

describe('limits of webhook posts', () => {
  afterEach(closeOpened)

  it('waits at most 5 s for a host name that does not resolve or a handshake that does not end', async () => {
    const { caller, clock } = open({ lookup: () => new Promise(() => {}) })
    const nameless = send(caller, 'http://silent.example/')
    const receiver = await receive({})
    const unsubscribed = send(caller, `https://127.0.0.1:${receiver.port}/`)
    await until(() => receiver.byteCount > 0, 'the beginning of a handshake')
    clock.advance(4_999)
    for (let tick = 0; tick < 50; tick += 1) await nextTurn()
    assert.deepEqual([nameless.sent.outcome, unsubscribed.sent.outcome], [null, null])
    clock.advance(1)
    for (const { done } of [nameless, unsubscribed]) {
      assert.deepEqual(await done, {
        kind: 'failed',
        reason: 'timeout',
        detail: 'no connection within 5 s',
      })
    }
    await until(() => receiver.openCount === 0, 'the connection closed')
    assert.equal(clock.timerCount, 0)
  })

  it('times out after 15 s without a status, even when the receiver sends a byte a second', async () => {
    const { caller, clock } = open()
    const hanging = await receive({})
    let slow = () => {}
    const dripping = await receive({
      onRequest: (socket) => {
        const text = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'
        let at = 0
        slow = () => {
          socket.write(text.charAt(at))
          at += 1
        }
      },
    })
    const posts = [send(caller, hanging.url), send(caller, dripping.url)]
    await until(() => hanging.requests.length + dripping.requests.length === 2, 'both requests')
    for (let second = 0; second < 14; second += 1) {
      slow()
      clock.advance(1_000)
      for (let tick = 0; tick < 20; tick += 1) await nextTurn()
    }
    clock.advance(999)
    await nextTurn()
    assert.deepEqual(
      posts.map(({ sent }) => sent.outcome),
      [null, null],
    )
    clock.advance(1)
    for (const { done } of posts) assert.equal(reasonOf(await done), 'timeout')
    await until(() => hanging.openCount + dripping.openCount === 0, 'both connections closed')
    assert.equal(clock.timerCount, 0)
  })

  it('accepts a receiver’s status even if the body is silent, slow or endless', async () => {
    const { caller, clock } = open()
    const head = 'HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n'
    const unsubscribed = await receive(logLine(head))
    const post1 = send(caller, unsubscribed.url)
    await until(() => unsubscribed.requests.length === 1, 'the request')
    const startMs = clock.monotonicMs()
    while (post1.sent.outcome === null) {
      clock.advance(10)
      await nextTurn()
    }
    assert.equal(reasonOf(await post1.done), 200)
    const waitedMs = clock.monotonicMs() - startMs
    assert.ok(waitedMs >= 1_000 && waitedMs < 14_000, `${waitedMs} ms`)
    let written = 0
    const endless = await receive({
      onRequest: (socket) => {
        const chunk = Buffer.alloc(16_384, 'x')
        const more = () => {
          while (!socket.destroyed && socket.write(chunk)) written += chunk.length
        }
        socket.on('drain', more)
        socket.write(head)
        more()
      },
    })
    assert.equal(reasonOf(await post(caller, endless.url)), 200, 'without time')
    await until(() => unsubscribed.openCount + endless.openCount === 0, 'both connections closed')
    assert.ok(written < 100_000_000, `${written} bytes written`)
    assert.equal(clock.timerCount, 0)
  })

  it('ends webhook posts at any stage as aborted on an abort signal or on stop', async () => {
    const { caller, clock } = open({ lookup: () => new Promise(() => {}) })
    const hanging = await receive({})
    const controllers = [1, 2, 3].map(() => new AbortController())
    const [first, second, third] = controllers.map(({ signal }) => signal)
    const unsent = send(caller, hanging.url, first)
    controllers[0]?.abort()
    assert.equal(reasonOf(await unsent.done), 'aborted', 'in the turn of the post')
    const nameless = send(caller, 'http://silent.example/', second)
    const sent = send(caller, hanging.url, third)
    await until(() => hanging.requests.length === 1, 'a request')
    controllers[1]?.abort()
    controllers[2]?.abort()
    assert.equal(reasonOf(await nameless.done), 'aborted')
    assert.equal(reasonOf(await sent.done), 'aborted')
    const left = [send(caller, hanging.url), send(caller, 'http://silent.example/')]
    await until(() => hanging.requests.length === 2, 'another request')
    caller.stop()
    for (const { done } of left) assert.equal(reasonOf(await done), 'aborted')
    assert.equal(reasonOf(await post(caller, hanging.url)), 'aborted', 'after stop')
    await until(() => hanging.openCount === 0, 'every connection closed')
    assert.equal(clock.timerCount, 0)
  })
})

describe('connections to receivers', () => {
  afterEach(closeOpened)

  it('reconnects once within an attempt when the receiver closed the idle connection', async () => {
    const { caller } = open()
    // Closes the idle connection when its second request arrives.
    const stale = await receive({
      onRequest: (socket, requests) => {
        if (requests % 2 === 0) return void socket.resetAndDestroy()
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
      },
    })
    assert.equal(reasonOf(await post(caller, stale.url)), 200)
    assert.equal(reasonOf(await post(caller, stale.url)), 200)
    assert.deepEqual([stale.requests.length, stale.connectionCount], [3, 2])
    const dead = await receive({
      onRequest: (socket, requests) => {
        if (requests > 1) return void socket.resetAndDestroy()
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
      },
    })
    assert.equal(reasonOf(await post(caller, dead.url)), 200)
    assert.equal(reasonOf(await post(caller, dead.url)), 'network')
    assert.equal(dead.requests.length, 3)
  })

  it('retains at most 256 idle connections', async () => {
    const waiting: (() => void)[] = []
    const receiver = await receive({
      onRequest: (socket) =>
        void waiting.push(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')),
    })
    const { caller } = open()
    const posts = Array.from({ length: 300 }, () => post(caller, receiver.url))
    await until(() => waiting.length === 300, '300 requests at once')
    for (const answer of waiting) answer()
    for (const outcome of await Promise.all(posts)) assert.equal(reasonOf(outcome), 200)
    await until(() => receiver.openCount <= 256, 'the rest closed')
  })

  it('fails a post without opening a connection when 2,048 posts are in progress', async () => {
    const { caller } = open({ lookup: () => new Promise(() => {}) })
    const { url } = await receive({})
    const posts = Array.from({ length: callsMax }, () => send(caller, 'http://silent.example/'))
    const outcome = await post(caller, url)
    assert.equal(outcome.kind === 'failed' && outcome.detail, 'too many calls at once')
    caller.stop()
    for (const { done } of posts) assert.equal(reasonOf(await done), 'aborted')
  })

  it('never reuses a connection for a different origin, even if both origins have the same address', async () => {
    const receiver = await receive(status(200))
    const { caller } = open({ lookup: async () => ['127.0.0.1'] })
    const origins = ['one.example', 'two.example', 'one.example', 'localhost']
    for (const host of origins) {
      assert.equal(reasonOf(await post(caller, `http://${host}:${receiver.port}/`)), 200)
    }
    assert.equal(receiver.connectionCount, 3)
    const hosts = receiver.requests.map((request) => /host: ([^:]+)/i.exec(request)?.[1])
    assert.deepEqual(hosts, origins)
  })

  it('verifies certificate authority and host name with TLS, whatever the environment variables', async () => {
    const [own, other] = [selfSigned('receiver.example'), selfSigned('receiver.example')]
    const receiver = await receive({ ...status(200), tls: own })
    const lookup = async () => ['127.0.0.1']
    const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    try {
      const url = `https://receiver.example:${receiver.port}/`
      const unknown = await post(open({ lookup }).caller, url)
      assert.equal(reasonOf(unknown), 'tls')
      assert.equal(reasonOf(await post(open({ lookup, ca: other.cert }).caller, url)), 'tls')
      const { caller } = open({ lookup, ca: own.cert })
      const misnamed = `https://another.example:${receiver.port}/`
      assert.equal(reasonOf(await post(caller, misnamed)), 'tls')
      assert.equal(receiver.requests.length, 0, 'no request was sent')
      for (let round = 0; round < 3; round += 1)
        assert.equal(reasonOf(await post(caller, url)), 200)
      assert.deepEqual([receiver.requests.length, receiver.connectionCount], [3, 4])
    } finally {
      if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
      else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before
    }
  })

  it('reports a TLS failure when a receiver does not support TLS or breaks the handshake', async () => {
    const { caller } = open()
    const plain = await receive({
      onConnection: (socket) => void socket.write('HTTP/1.1 400 No\r\n\r\n'),
    })
    const broken = await receive({
      onConnection: (socket) => void socket.once('data', () => socket.destroy()),
    })
    for (const { port } of [plain, broken]) {
      assert.equal(reasonOf(await post(caller, `https://127.0.0.1:${port}/`)), 'tls')
    }
  })
})
