// Skipped without a nats-server on the PATH.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { GET_NATS, hasNats } from '../../../../engine/cluster/nats-server.ts'
import { beforeAgain } from '../../../support/rigs/full-service.ts'
import { startProcess, type TestProcess } from '../../../support/rigs/processes.ts'

const SETTINGS = {
  ...{ PORT: '0', VENUES: 'sim', SIM_MARKETS: '20', SIM_RATE: '100', SIM_FAULTS: 'off' },
  ...{ WEBHOOK_ALLOW_HTTP: 'on', WEBHOOK_ALLOW_PRIVATE: 'on', LOG_LEVEL: 'error' },
}
/** Books change between the two requests, so a comparison may need several attempts. */
const TRIES_MAX = 500

const folder = mkdtempSync(join(tmpdir(), 'cluster-'))
let command: TestProcess
let urls: { readonly nats: string; readonly engine: string; readonly gateways: readonly string[] }
let key: string

interface Asking {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
}

/** Repeats the request while the status is 429 or 503. */
async function ask(url: string, { method = 'GET', headers = {}, body }: Asking = {}) {
  for (;;) {
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(url, { method, headers: { ...headers, ...type }, ...sent })
    const text = await response.text()
    const { status } = response
    if (status !== 429 && status !== 503) {
      return { status, text, servedBy: response.headers.get('x-served-by') }
    }
    await beforeAgain()
  }
}

const withKey = (value = key) => ({ headers: { 'x-api-key': value } })
const portOf = (url: string): number => Number(new URL(url).port)

function gateway(number: 1 | 2): string {
  const url = urls.gateways[number - 1]
  assert.ok(url !== undefined)
  return url
}

/** Omits cursors and fields that depend on the time of the request. */
function lasting(text: string): unknown {
  const moment = ['age_ms', 'timestamp_ms', 'at_time', 'uptime_s', 'delay_ms', 'stale', 'cursor']
  return JSON.parse(text, (name, value: unknown) => (moment.includes(name) ? undefined : value))
}

/** Resolves when both gateways give the same answer. */
async function agree(path: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const answers = await Promise.all(urls.gateways.map((url) => ask(url + path, withKey())))
    const [one, two] = answers.map(({ text }) => lasting(text))
    try {
      assert.deepEqual(one, two, path)
      return
    } catch (error) {
      if (tries === TRIES_MAX) throw error
      await beforeAgain()
    }
  }
}

async function start(): Promise<void> {
  command = startProcess('engine/app/commands/cluster.ts', { ...SETTINGS, DATA_DIR: folder })
  const printed = async (pattern: RegExp): Promise<string> => {
    const [, found] = await command.line(pattern)
    assert.ok(found !== undefined)
    return found
  }
  const nats = await printed(/NATS +nats:\/\/(\S+)\n/)
  const engine = await printed(/engine +(http:\S+)/)
  const gateways = [await printed(/gateway 1 +(http:\S+)/), await printed(/gateway 2 +(http:\S+)/)]
  key = await printed(/X-API-Key: (\S+?)'/)
  urls = { nats: `http://${nats}`, engine, gateways }
}

if (!hasNats()) {
  test('npm run cluster', { skip: GET_NATS }, () => undefined)
} else {
  describe('npm run cluster', () => {
    before(start)
    after(async () => {
      await command.end()
      rmSync(folder, { recursive: true, force: true })
    })

    test('returns the same answers to the README’s first requests at both gateways, except for the gateway names', async () => {
      const list = await ask(`${gateway(1)}/v1/markets?limit=1`, withKey())
      const id: string = JSON.parse(list.text).markets[0].id
      const paths = [
        ...['/v1/markets/search?search=bitcoin&limit=3', '/v1/markets?limit=1'],
        ...[`/v1/markets/${id}/orderbook?depth=5`, `/v1/markets/${id}/trades?limit=10`],
        ...[`/v1/markets/${id}/candles?interval=5m`, `/v1/markets/${id}/price`],
        ...['/v1/matching-markets?limit=3', '/v1/sports/nfl'],
      ]
      const names = new Set<string | null>()
      for (const url of urls.gateways) {
        for (const path of paths) {
          const { status, servedBy, text } = await ask(url + path, withKey())
          assert.equal(status, 200, `${path}: ${text}`)
          assert.ok(servedBy !== null, path)
          names.add(servedBy)
        }
        assert.equal((await ask(`${url}/health`)).status, 200)
      }
      assert.equal(names.size, 2)
      for (const path of paths) await agree(path)
    })

    test('returns at one gateway what a client created or removed at the other gateway', async () => {
      const account = await signUp(gateway(1))
      const auth = { headers: { authorization: `Bearer ${account}` } }
      const body = { label: 'short', scopes: ['read', 'webhooks'] }
      const made = await ask(`${gateway(1)}/v1/keys`, { method: 'POST', body, ...auth })
      assert.equal(made.status, 201, made.text)
      const own: { readonly id: string; readonly key: string } = JSON.parse(made.text)
      const price = await marketPrice()
      for (const url of urls.gateways) await untilStatus(url + price, own.key, 200)
      const hook = await ask(`${gateway(1)}/v1/webhooks`, {
        ...{ method: 'POST', ...withKey(own.key) },
        body: { url: 'http://127.0.0.1:4100/', event_types: ['whale.alert'] },
      })
      assert.equal(hook.status, 201, hook.text)
      const seen = await ask(`${gateway(2)}/v1/webhooks`, withKey(own.key))
      assert.ok(seen.text.includes(String(JSON.parse(hook.text).id)), seen.text)
      const keys = await ask(`${gateway(2)}/v1/keys`, auth)
      assert.ok(keys.text.includes(own.id), keys.text)
      const ended = await ask(`${gateway(1)}/v1/keys/${own.id}`, { method: 'DELETE', ...auth })
      assert.ok(ended.status === 204 || ended.status === 404, ended.text)
      for (const url of urls.gateways) {
        await untilStatus(url + price, own.key, 401)
        await untilStatus(`${url}/v1/webhooks`, own.key, 401)
      }
    })

    test('ends every process of the cluster, including nats-server, when the command receives SIGTERM', async () => {
      assert.equal(await command.end('SIGTERM'), 0, command.stderr())
      for (const url of [urls.nats, urls.engine, ...urls.gateways]) {
        assert.equal(await isListening(url), false, url)
      }
    })

    test('ends every process of the cluster when the command receives SIGKILL', async () => {
      await start()
      await command.end('SIGKILL')
      for (const url of [urls.nats, urls.engine, ...urls.gateways]) {
        while (await isListening(url)) await beforeAgain()
      }
    })

    test('ends every process of the cluster when npm receives SIGKILL', async () => {
      const npm = spawn('npm', ['run', 'cluster'], {
        env: { PATH: process.env.PATH, HOME: folder, ...SETTINGS, DATA_DIR: join(folder, 'npm') },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let reported = ''
      for await (const chunk of npm.stdout.setEncoding('utf8')) {
        reported += String(chunk)
        if (reported.includes('Ctrl-C')) break
      }
      const addresses = reported.match(/\/\/127\.0\.0\.1:\d+/g) ?? []
      assert.ok(addresses.length >= 4, reported)
      npm.kill('SIGKILL')
      for (const address of addresses) {
        while (await isListening(`http:${address}`)) await beforeAgain()
      }
    })
  })
}

function isListening(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(portOf(url), '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

/** An attempt that timed out may have created its account, so each attempt uses a new e-mail. */
async function signUp(url: string): Promise<string> {
  for (let tries = 1; ; tries += 1) {
    const body = { email: `user${tries}@example.com`, password: 'correct horse' }
    const { status, text } = await ask(`${url}/v1/auth/signup`, { method: 'POST', body })
    if (status === 409) continue
    assert.equal(status, 201, text)
    return JSON.parse(text).access_token
  }
}

async function marketPrice(): Promise<string> {
  const { text } = await ask(`${gateway(1)}/v1/markets?limit=1`, withKey())
  return `/v1/markets/${JSON.parse(text).markets[0].id}/price`
}

/** Changes reach the second gateway with a delay. */
async function untilStatus(url: string, value: string, status: number): Promise<void> {
  while ((await ask(url, withKey(value))).status !== status) await beforeAgain()
}
