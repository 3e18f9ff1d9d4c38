// Sends secrets in valid and invalid places with the most verbose log, then searches databases, output and metrics for
// each secret. Only the files `local-key` and `secrets` may contain secrets.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { testFolder } from '../support/rigs/data-folder.ts'
import { startProcess } from '../support/rigs/processes.ts'

const folder = testFolder('secrets')

const ALLOWED = ['local-key', 'secrets']

class Used {
  readonly secrets = new Map<string, string>()

  add(name: string, secret: unknown): string {
    assert.ok(typeof secret === 'string' && secret.length >= 12, name)
    this.secrets.set(name, secret)
    return secret
  }

  /** Yields each secret in all encodings in which it could appear. */
  *needles(): Iterable<readonly [name: string, needle: Buffer]> {
    for (const [name, secret] of this.secrets) {
      const bytes = Buffer.from(secret)
      const forms = [
        secret,
        encodeURIComponent(secret),
        bytes.toString('base64').replace(/=+$/, ''),
        bytes.toString('base64url'),
        bytes.toString('hex'),
      ]
      // A key without its public prefix is secret, and so is a token's signature.
      if (secret.startsWith('pmk_')) forms.push(secret.slice(10))
      if (secret.startsWith('eyJ')) forms.push(secret.split('.')[2] ?? secret)
      if (secret.startsWith('whsec_')) forms.push(secret.slice(6))
      for (const form of new Set(forms)) yield [name, Buffer.from(form)]
    }
  }

  /** Returns the names of the secrets in the bytes. */
  foundIn(bytes: Buffer): string[] {
    const found = [...this.needles()].filter(([, needle]) => bytes.includes(needle))
    return [...new Set(found.map(([name]) => name))]
  }
}

function filesUnder(path: string): string[] {
  return readdirSync(path).flatMap((name) => {
    const inner = join(path, name)
    if (statSync(inner).isDirectory()) return filesUnder(inner)
    return statSync(inner).isFile() ? [inner] : []
  })
}

type Headers = Readonly<Record<string, string>>
type Send = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Headers,
) => Promise<{ status: number; body: Readonly<Record<string, unknown>> }>

function sender(origin: string): Send {
  return async (method, path, body, headers = {}) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const init = { method, headers: { ...headers }, ...(body === undefined ? {} : { body: text }) }
    let response = await fetch(origin + path, init)
    // A busy server responds with 503.
    while (response.status === 503) {
      await pause(500)
      response = await fetch(origin + path, init)
    }
    const answer = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
    return { status: response.status, body: isJson && answer !== '' ? JSON.parse(answer) : {} }
  }
}

const newPassword = () => `pass ${randomBytes(12).toString('hex')} wörd`

/** The query may contain invalid credentials. */
async function stream(origin: string, query: string): Promise<void> {
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/v1/ws?${query}`)
  await new Promise<void>((done) => {
    socket.on('error', () => done())
    socket.on('message', () => done())
  })
  socket.terminate()
}

/** Also sends secrets in places where users put them by mistake. */
async function useSecrets(origin: string, used: Used): Promise<{ keyHash: string; email: string }> {
  const send = sender(origin)
  const email = 'ann-of-the-scan@example.com'
  const password = used.add('password', newPassword())
  const made = await send('POST', '/v1/auth/signup', { email, password })
  assert.equal(made.status, 201)
  used.add('token of sign-up', made.body.access_token)
  const session = await send('POST', '/v1/auth/login', { email, password })
  const token = used.add('token of log-in', session.body.access_token)
  const bearer = { authorization: `Bearer ${token}` }
  const wrong = used.add('wrong password', newPassword())
  assert.equal((await send('POST', '/v1/auth/login', { email, password: wrong })).status, 401)
  await send('POST', '/v1/auth/login', { email: password, password: email })
  await send('POST', '/v1/auth/login', `{"email":"${email}","password":"${password}"`)
  await send('POST', '/v1/auth/signup', { email, passwort: password })
  await send('POST', '/v1/auth/signup', [password])
  const keys: string[] = []
  const ids: string[] = []
  for (const label of ['one', 'two', 'three']) {
    const scopes = ['read', 'webhooks']
    const { status, body } = await send('POST', '/v1/keys', { label, scopes }, bearer)
    assert.equal(status, 201)
    keys.push(used.add(`key ${label}`, body.key))
    ids.push(String(body.id))
  }
  const [key = '', second = ''] = keys
  assert.equal((await send('GET', '/v1/markets', undefined, { 'x-api-key': key })).status, 200)
  await send('GET', `/v1/markets?api_key=${key}&search=${key}`, undefined, { 'x-api-key': second })
  await send('GET', `/v1/markets/${key}`, undefined, { 'x-api-key': key })
  await send('GET', `/v1/nowhere/${token}`, undefined, bearer)
  await send('GET', '/v1/markets', undefined, {
    'x-api-key': token,
    authorization: `Bearer ${key}`,
  })
  await send('POST', '/v1/keys', { label: key.repeat(3) }, bearer)
  const mistyped = used.add('mistyped key', `${key.slice(0, -1)}_`)
  await send('GET', '/v1/markets', undefined, { 'x-api-key': mistyped })
  await stream(origin, `api_key=${key}`)
  await stream(origin, `access_token=${token}`)
  await stream(origin, `api_key=${mistyped}&encoding=${password}`)
  assert.equal((await send('DELETE', `/v1/keys/${ids[0]}`, undefined, bearer)).status, 204)
  assert.equal((await send('GET', '/v1/markets', undefined, { 'x-api-key': key })).status, 401)
  await useWebhooks(send, used, second)
  return { keyHash: createHash('sha256').update(second).digest('hex'), email }
}

async function useWebhooks(send: Send, used: Used, key: string): Promise<void> {
  const headers = { 'x-api-key': key }
  const given = `whsec_${randomBytes(32).toString('base64')}`
  const body = { url: 'https://example.com/hook', event_types: ['trade.created'] }
  const own = await send('POST', '/v1/webhooks', { ...body, secret: given }, headers)
  used.add('webhook secret given', given)
  if (own.status !== 201) return
  const made = await send('POST', '/v1/webhooks', body, headers)
  used.add('webhook secret made', made.body.secret)
  const path = `/v1/webhooks/${String(made.body.id)}`
  const rotated = await send('POST', `${path}/rotate-secret`, {}, headers)
  used.add('webhook secret rotated', rotated.body.secret)
  await send('GET', '/v1/webhooks', undefined, headers)
  await send('PATCH', path, { secret: 5, url: given }, headers)
}

test('writes no password, key, token or webhook secret to databases, logs or metrics', async (t) => {
  const used = new Used()
  const dataDir = join(folder, 'data')
  const engine = startProcess('engine/app/start.mjs', {
    VENUES: 'sim',
    SIM_MARKETS: '20',
    SIM_RATE: '20',
    PORT: '0',
    DATA_DIR: dataDir,
    LOG_LEVEL: 'trace',
  })
  let metrics = ''
  let facts = { keyHash: '', email: '' }
  try {
    const [, origin = ''] = await engine.line(/listens at (http:\S+)/)
    facts = await useSecrets(origin, used)
    metrics = await (await fetch(`${origin}/metrics`)).text()
    assert.match(metrics, /^# HELP/m)
  } finally {
    assert.equal(await engine.end('SIGTERM'), 0, engine.stderr().slice(-500))
  }
  // The local key may appear only in its file and in the start banner.
  const secretFiles = ALLOWED.map((name) => readFileSync(join(dataDir, name), 'utf8'))
  const [localKey = '', secrets = '{}'] = secretFiles
  assert.deepEqual(used.foundIn(Buffer.from(engine.stdout())), [])
  used.add('local key', localKey.trim())
  for (const [name, secret] of Object.entries(JSON.parse(secrets))) used.add(name, secret)
  const files = filesUnder(dataDir)
  for (const path of files) {
    const name = path.slice(dataDir.length + 1)
    if (ALLOWED.includes(name)) assert.equal(statSync(path).mode & 0o777, 0o600, name)
    else assert.deepEqual(used.foundIn(readFileSync(path)), [], name)
  }
  assert.deepEqual(used.foundIn(Buffer.from(engine.stderr())), [], 'the log')
  assert.deepEqual(used.foundIn(Buffer.from(metrics)), [], 'the metrics')
  // The search must find the permitted files and a planted secret in each encoding.
  const all = Buffer.concat(files.map((path) => readFileSync(path)))
  assert.ok(all.includes(facts.email) && all.includes(facts.keyHash))
  assert.deepEqual(used.foundIn(Buffer.from(localKey)), ['local key'])
  for (const [name, needle] of used.needles()) {
    assert.ok(used.foundIn(Buffer.concat([Buffer.from('x'), needle])).includes(name), name)
  }
  const needles = [...used.needles()].length
  t.diagnostic(
    `${used.secrets.size} secrets in ${needles} forms, 0 in ${files.length} files of ${all.length} bytes and ${engine.stderr().length} characters of log`,
  )
})
