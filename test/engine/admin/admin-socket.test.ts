import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, linkSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { connectAdmin } from '../../../engine/admin/admin-client.ts'
import {
  AdminSocket,
  openSocketLocation,
  requestBytesMax,
} from '../../../engine/admin/admin-socket.ts'
import { EngineError } from '../../../engine/errors.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { testFolder } from '../../support/rigs/data-folder.ts'

const folder = testFolder('admin')

let count = 0
let hangingCount = 0
function newFolder(name = `d${count}`): string {
  count += 1
  const path = join(folder, name)
  mkdirSync(path, { recursive: true })
  return path
}

async function open(dataDir: string, clock = new ManualClock()) {
  const socket = new AdminSocket({ dataDir, clock, log: silentLog })
  socket.register({
    echo: (request) => request,
    refuse: () => Promise.reject(new EngineError('NOT_FOUND', 'nothing of that name')),
    break: () => {
      throw new Error('a secret of the inside')
    },
    hang: () => {
      hangingCount += 1
      return new Promise(() => undefined)
    },
    large: () => 'x'.repeat(5_000_000),
  })
  await socket.start()
  return socket
}

async function client(dataDir: string) {
  const opened = await connectAdmin(dataDir, new ManualClock())
  assert.ok(opened !== null, 'no listener')
  return opened
}

/** Resolves with the server's output when the server closes the connection. */
async function exchange(dataDir: string, text: string): Promise<string> {
  const socket = connect(join(dataDir, 'engine.sock'))
  socket.on('error', () => undefined)
  let answer = ''
  socket.on('data', (bytes) => {
    answer += String(bytes)
  })
  socket.end(text)
  await once(socket, 'close')
  return answer
}

const refusedWith = (code: string, detail: RegExp) => (error: unknown) =>
  error instanceof EngineError && error.code === code && detail.test(error.detail)

test('returns results and refusals of several commands over one connection, and hides the text of internal errors', async () => {
  const dataDir = newFolder()
  const socket = await open(dataDir)
  const requested = await client(dataDir)
  for (const email of ['ann@example.com', 'zoë "quoted"\n@example.com']) {
    assert.deepEqual(await requested.send('echo', { email }), { email })
  }
  await assert.rejects(
    requested.send('refuse', {}),
    refusedWith('NOT_FOUND', /^nothing of that name$/),
  )
  await assert.rejects(requested.send('break', {}), refusedWith('INTERNAL', /^internal error/))
  await assert.rejects(
    requested.send('large', {}),
    refusedWith('INTERNAL', /exceeds 4194304 bytes/),
  )
  const unknown = refusedWith('NOT_FOUND', /no command x; use one of: break, echo, hang/)
  await assert.rejects(requested.send('x', {}), unknown)
  assert.throws(() => socket.register({ echo: () => null }), /registered twice/)
  requested.close()
  await socket.stop()
})

test('allows only the engine’s user to open the socket, replaces a crashed engine’s socket, and removes the socket on stop', async () => {
  const dataDir = newFolder()
  const path = join(dataDir, 'engine.sock')
  assert.equal(await connectAdmin(dataDir, new ManualClock()), null, 'no listener yet')
  // Leaves a socket file without a process.
  const left = createServer().listen(`${path}.left`)
  await once(left, 'listening')
  linkSync(`${path}.left`, path)
  await new Promise((done) => left.close(done))
  assert.ok(statSync(path).isSocket())
  assert.equal(await connectAdmin(dataDir, new ManualClock()), null, 'no listener any more')
  const socket = await open(dataDir)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  const requested = await client(dataDir)
  assert.deepEqual(await requested.send('echo', { a: 1 }), { a: 1 })
  await socket.stop()
  assert.equal(existsSync(path), false)
  await assert.rejects(
    requested.send('echo', {}),
    refusedWith('UNAVAILABLE', /echo took effect is unknown/),
  )
  requested.close()
})

test('does not replace a regular file at the socket’s path, and continues without an admin socket', async () => {
  const dataDir = newFolder()
  const path = join(dataDir, 'engine.sock')
  writeFileSync(path, 'mine')
  const socket = await open(dataDir)
  assert.ok(statSync(path).isFile())
  await socket.stop()
  assert.ok(statSync(path).isFile())
})

test('answers an invalid request with the accepted syntax, and limits the length of a request line', async () => {
  const dataDir = newFolder()
  const socket = await open(dataDir)
  const wrong = ['', '{', '[]', '5', 'null', '{"command":5}', '{"command":"echo","request":[]}']
  const text = await exchange(dataDir, wrong.map((line) => `${line}\n`).join(''))
  const answers = text.trim().split('\n')
  assert.equal(answers.length, wrong.length)
  for (const answer of answers) {
    assert.match(answer, /^\{"ok":false,"code":"BAD_REQUEST","detail":"a request is a line of JSON/)
  }
  const long = `{"command":"echo","request":{"x":"${'y'.repeat(requestBytesMax)}"}}\n`
  assert.match(await exchange(dataDir, long), /"code":"BODY_TOO_LARGE".*65536 bytes/)
  assert.match(await exchange(dataDir, 'z'.repeat(requestBytesMax)), /"code":"BODY_TOO_LARGE"/)
  assert.equal(
    await exchange(dataDir, '{"command":"echo"}'),
    '',
    'an unfinished line is no request',
  )
  await socket.stop()
})

test('reads the same request lines however their bytes are split into chunks', async () => {
  const dataDir = newFolder()
  const socket = await open(dataDir)
  const peer = connect(join(dataDir, 'engine.sock'))
  let answer = ''
  peer.on('data', (bytes) => {
    answer += String(bytes)
  })
  const line = Buffer.from(`${JSON.stringify({ command: 'echo', request: { city: 'Zürich' } })}\n`)
  for (const byte of Buffer.concat([line, line])) {
    peer.write(Buffer.of(byte))
    await new Promise((done) => setImmediate(done))
  }
  peer.end()
  await once(peer, 'close')
  assert.equal(answer, '{"ok":true,"result":{"city":"Zürich"}}\n'.repeat(2))
  await socket.stop()
})

test('answers a command while an earlier command hangs, closes idle connections, and stops without waiting for either', async () => {
  const dataDir = newFolder()
  const clock = new ManualClock()
  const socket = await open(dataDir, clock)
  const requested = await client(dataDir)
  const before = hangingCount
  const hanging = requested.send('hang', {})
  const refused = assert.rejects(hanging, refusedWith('TIMED_OUT', /^no result in 5 s/))
  await until(() => hangingCount === before + 1)
  await pass(clock, 5_000, refused)
  const unsubscribed = connect(join(dataDir, 'engine.sock'))
  unsubscribed.on('error', () => undefined).resume()
  await once(unsubscribed, 'connect')
  const closed = once(unsubscribed, 'close')
  await pass(clock, 10_000, closed)
  const again = await client(dataDir)
  const lost = assert.rejects(again.send('hang', {}), refusedWith('TIMED_OUT', /^no result/))
  await until(() => hangingCount === before + 2)
  await pass(clock, 5_000, socket.stop())
  await lost
  requested.close()
  again.close()
  await until(() => clock.timerCount === 0)
})

test('refuses connections beyond sixteen, and accepts a connection after an earlier connection closed', async () => {
  const dataDir = newFolder()
  const socket = await open(dataDir)
  const clients = await Promise.all(Array.from({ length: 16 }, () => client(dataDir)))
  for (const one of clients) assert.deepEqual(await one.send('echo', {}), {})
  const extra = await client(dataDir)
  await assert.rejects(extra.send('echo', {}), refusedWith('UNAVAILABLE', /closed/))
  for (const one of clients) one.close()
  for (let isBack = false; !isBack; ) {
    const next = await client(dataDir)
    isBack = await next.send('echo', {}).then(
      () => true,
      () => false,
    )
    next.close()
  }
  await socket.stop()
})

test('opens the admin socket in a folder whose path exceeds Linux’s socket limit, and reports an error on other systems', async () => {
  const deep = join(...Array.from({ length: 6 }, () => 'd'.repeat(40)))
  const dataDir = newFolder(deep)
  assert.ok(Buffer.byteLength(join(dataDir, 'engine.sock')) > 108)
  if (process.platform !== 'linux') {
    assert.throws(() => openSocketLocation(dataDir), refusedWith('UNAVAILABLE', /shorter path/))
    return
  }
  for (let start = 0; start < 2; start += 1) {
    const socket = await open(dataDir)
    assert.equal(statSync(join(dataDir, 'engine.sock')).mode & 0o777, 0o600)
    const requested = await client(dataDir)
    assert.deepEqual(await requested.send('echo', { start }), { start })
    requested.close()
    await socket.stop()
    assert.equal(existsSync(join(dataDir, 'engine.sock')), false)
  }
})

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve))
}

async function pass(clock: ManualClock, stepMs: number, happening: Promise<unknown>) {
  let isOver = false
  happening.finally(() => {
    isOver = true
  })
  while (!isOver) {
    clock.advance(stepMs)
    for (let tick = 0; tick < 20 && !isOver; tick += 1) {
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  await happening
}
