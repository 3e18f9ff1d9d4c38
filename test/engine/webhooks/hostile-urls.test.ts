// A canary server on loopback must get no connection through any URL, name, DNS answer or redirect. The first test
// shows that the server is reachable.

import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { Call } from '../../../engine/webhooks/call.ts'
import { openCaller } from '../../../engine/webhooks/caller.ts'
import { type AddressesOf, guardedLookup } from '../../../engine/webhooks/guarded-lookup.ts'
import type { CallPolicy, PostOutcome } from '../../../engine/webhooks/post.ts'
import { ReceiverAgents } from '../../../engine/webhooks/receiver-agents.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { type Behaviour, Receiver, until } from '../../support/fakes/receivers.ts'
import {
  ambiguousUrls,
  INSIDE,
  LOOPBACK_V4,
  NAMES_INSIDE,
} from '../../support/worlds/hostile-urls.ts'

const strict: CallPolicy = { allowsHttp: false, allowsPrivate: false }
const http: CallPolicy = { allowsHttp: true, allowsPrivate: false }
const trial: CallPolicy = { allowsHttp: true, allowsPrivate: true }
const body = Buffer.from('{}')
const ok: Behaviour = {
  onRequest: (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
}
const publicV4 = '93.184.215.14'
const publicV6 = '2606:4700::1111'

let canary: Receiver
let canaryV6: Receiver | null = null
const resolved: string[] = []
const lookup: AddressesOf = async (host) => {
  resolved.push(host)
  return NAMES_INSIDE.get(host) ?? ['127.0.0.1', '::1']
}

/** URLs with the canary’s port, for both schemes and several paths. */
function hostileUrls(): readonly string[] {
  const hosts = [...LOOPBACK_V4, ...INSIDE, ...NAMES_INSIDE.keys()]
  const paths = ['/', '/hook?next=https://example.com', '/a/../%2e%2e/b#c']
  const byHost = hosts.flatMap((host, index) => {
    const path = paths[index % paths.length] ?? '/'
    return ['http', 'https'].map((scheme) => `${scheme}://${host}:${canary.port}${path}`)
  })
  return [...byHost, ...ambiguousUrls(canary.port)]
}

async function post(
  policy: CallPolicy,
  url: string,
  addressesOf: AddressesOf = lookup,
): Promise<PostOutcome> {
  const clock = new ManualClock()
  const parts = { policy, clock, metrics: new Metrics(), log: silentLog, lookup: addressesOf }
  const caller = openCaller(parts)
  try {
    const ended: { outcome: PostOutcome | null } = { outcome: null }
    const { signal } = new AbortController()
    const done = caller.post({ url, headers: {}, body, signal })
    void done.then((outcome) => {
      ended.outcome = outcome
    })
    await until(() => ended.outcome !== null, `the outcome of ${url}`)
    return await done
  } finally {
    caller.stop()
  }
}

const seen = () => canary.connectionCount + (canaryV6?.connectionCount ?? 0)

function noteMissing(t: TestContext): void {
  if (canaryV6 === null) t.diagnostic('NO IPv6 ON LOOPBACK: the canary on ::1 is left out')
}

describe('hostile URLs', () => {
  const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy']
  const variables = [...proxies, 'NODE_USE_ENV_PROXY']
  const stored = variables.map((name) => process.env[name])

  before(async () => {
    canary = await Receiver.open(ok)
    canaryV6 = await Receiver.open({ ...ok, host: '::1' }, canary.port).catch(() => null)
    for (const name of proxies) process.env[name] = `http://127.0.0.1:${canary.port}`
    process.env.NODE_USE_ENV_PROXY = '1'
  })

  after(async () => {
    variables.forEach((name, index) => {
      const value = stored[index]
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    })
    await canary.close()
    await canaryV6?.close()
  })

  it('connects to local test servers when private addresses are allowed', async (t) => {
    noteMissing(t)
    const plain = LOOPBACK_V4.map((host) => `http://${host}:${canary.port}/`)
    const named = ['both.example', 'mixed-first.example', 'any.example'].map(
      (name) => `http://${name}:${canary.port}/`,
    )
    for (const url of [...plain, ...named]) {
      const earlier: number = canary.requests.length
      const outcome = await post(trial, url)
      assert.ok(outcome.kind === 'answered' && outcome.status === 200, url)
      assert.equal(canary.requests.length, earlier + 1, url)
    }
    const six = canaryV6
    if (six === null) return
    for (const host of ['[::1]', '[0:0:0:0:0:0:0:1]', 'six.example']) {
      const earlier: number = six.requests.length
      await post(trial, `http://${host}:${canary.port}/`)
      assert.equal(six.requests.length, earlier + 1, host)
    }
  })

  for (const [name, policy] of [
    ['https', strict],
    ['http and https', http],
  ] as const) {
    it(`never connects to an internal address through any webhook URL, with ${name} allowed`, async (t) => {
      noteMissing(t)
      const urls = hostileUrls()
      assert.ok(new Set(urls).size >= 150, `${urls.length} URLs`)
      const earlier = seen()
      for (const url of urls) {
        const outcome = await post(policy, url)
        assert.equal(
          outcome.kind === 'failed' && outcome.reason,
          'refused',
          `${url}: ${outcome.kind}`,
        )
        const detail = outcome.kind === 'failed' ? outcome.detail : ''
        assert.ok(!/\d+\.\d+\.\d+|::|localhost/.test(detail), `${url}: ${detail}`)
        assert.equal(seen(), earlier, url)
      }
      t.diagnostic(`${urls.length} URLs, ${seen() - earlier} connections to a canary`)
    })
  }

  it('resolves a host name for every connection, and refuses a name that resolves to an internal address later', async () => {
    const answers = [[publicV4], [publicV4, publicV6], ['127.0.0.1'], ['::1', publicV4]]
    const rebinding: AddressesOf = async () => answers.shift() ?? ['127.0.0.1']
    assert.deepEqual(await verdict(rebinding), [publicV4])
    assert.deepEqual(await verdict(rebinding), [publicV4, publicV6])
    const earlier = seen()
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const outcome = await post(http, `http://rebinding.example:${canary.port}/`, rebinding)
      assert.equal(outcome.kind === 'failed' && outcome.reason, 'refused')
    }
    assert.equal(seen(), earlier)
  })

  it('follows no redirect of any form, even when the redirect target is allowed', async () => {
    const earlier = seen()
    const target = `http://127.0.0.1:${canary.port}/stolen`
    const chain: string[] = []
    for (const code of [300, 301, 302, 303, 305, 307, 308, 200, 401, 503]) {
      const headers = [
        `Location: ${chain.at(-1) ?? target}`,
        `Refresh: 0; url=${target}`,
        `Alt-Svc: h2="127.0.0.1:${canary.port}"`,
        `Link: <${target}>; rel=preload`,
      ]
      const text = `HTTP/1.1 ${code} Go\r\n${headers.join('\r\n')}\r\nContent-Length: 0\r\n\r\n`
      const receiver = await Receiver.open({ onRequest: (socket) => void socket.write(text) })
      chain.push(receiver.url)
      const outcome = await post(trial, receiver.url)
      assert.equal(outcome.kind === 'answered' && outcome.status, code)
      assert.equal(receiver.requests.length, 1)
      await receiver.close()
    }
    assert.equal(seen(), earlier)
  })

  it('sends no byte, not even a handshake, when the name lookup returns a private address', async () => {
    const wrong = guardedLookup(async () => ['127.0.0.1'], true)
    for (const scheme of ['http', 'https']) {
      const receiver = await Receiver.open(ok)
      const agents = new ReceiverAgents({ lookup: wrong, ca: null })
      const url = `${scheme}://public.example:${receiver.port}/`
      const { signal } = new AbortController()
      const outcomes: PostOutcome[] = []
      const onEnd = (outcome: PostOutcome) => void outcomes.push(outcome)
      const parts = { agents, clock: new ManualClock(), allowsPrivate: false, onEnd }
      new Call(url, { url, headers: {}, body, signal }, parts).start()
      await until(() => outcomes.length > 0, `the outcome of ${url}`)
      const [outcome] = outcomes
      assert.equal(outcome?.kind === 'failed' && outcome.reason, 'refused')
      await until(() => receiver.connectionCount === 1 && receiver.openCount === 0, 'the end')
      assert.equal(receiver.byteCount, 0, scheme)
      agents.stop()
      await receiver.close()
    }
  })

  it('passes on at most four public addresses of a host name unchanged, and resolves the name once per connection', async () => {
    resolved.length = 0
    assert.deepEqual(await verdict(async () => [publicV4, publicV6]), [publicV4, publicV6])
    const many = Array.from({ length: 9 }, (_, index) => `8.8.8.${index}`)
    assert.deepEqual(await verdict(async () => many), many.slice(0, 4))
    assert.deepEqual(await verdict(async () => [publicV4], false), publicV4)
    assert.equal(await verdict(async () => []), 'no address')
    assert.equal(await verdict(async () => Promise.reject(new Error('SERVFAIL'))), 'SERVFAIL')
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await post(trial, `http://both.example:${canary.port}/`)
      assert.equal(resolved.length, attempt)
    }
  })

  it('refuses a host name when any of its addresses is internal', async () => {
    for (const [name, addresses] of NAMES_INSIDE) {
      assert.match(String(await verdict(async () => addresses)), /not public/, name)
      assert.match(String(await verdict(async () => addresses, false)), /not public/, name)
    }
  })

  it('treats localhost as a loopback address without a name lookup, when loopback is allowed', async () => {
    const clock = new ManualClock()
    const caller = openCaller({ policy: trial, clock, metrics: new Metrics(), log: silentLog })
    const { signal } = new AbortController()
    for (const host of ['localhost', 'a.localhost']) {
      const url = `http://${host}:${canary.port}/`
      const outcome = await caller.post({ url, headers: {}, body, signal })
      assert.equal(outcome.kind === 'answered' && outcome.status, 200, host)
    }
    caller.stop()
  })
})

/** Resolves with the addresses that a socket gets for a name, or with the error message. */
function verdict(addressesOf: AddressesOf, isAll = true): Promise<string | readonly string[]> {
  return new Promise((resolve) => {
    guardedLookup(addressesOf, false)('name.example', { all: isAll }, (error, found) => {
      if (error !== null) return resolve(error.message)
      resolve(typeof found === 'string' ? found : found.map(({ address }) => address))
    })
  })
}
