// Responses that a client does not read, or reads slowly.

import type { HttpResponse } from 'uWebSockets.js'
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, before, beforeEach, describe, test } from 'node:test'
import {
  addressRequestsPerTickMax,
  unsentBytesPerSecondMin,
  unsentMsMin,
} from '../../../engine/limits.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { RequestHandler } from '../../../http/request/handle.ts'
import { RequestHead } from '../../../http/request/head.ts'
import { PeerAddresses } from '../../../http/request/peer-address.ts'
import { file, json, jsonText } from '../../../http/request/reply.ts'
import { type Route, route } from '../../../http/request/route.ts'
import { Router } from '../../../http/request/router.ts'
import { type Rest, UnsentAnswers } from '../../../http/request/unsent.ts'
import { FakeAccounts } from '../../support/fakes/engine.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { openAppWithErrorHandler } from '../../support/rigs/app-with-error-handler.ts'

/** More bytes than the kernel accepts for a loopback connection. */
const LONG_BYTES = 24 * 2 ** 20
const LONG_TEXT = 'abcdefgh'.repeat(LONG_BYTES / 8)
const BOUND_BYTES = 5 * LONG_BYTES

const clock = new ManualClock()
const accounts = new FakeAccounts(clock)
const metrics = new Metrics()

class Watched extends UnsentAnswers {
  /** Number of responses that a socket did not accept completely at once. */
  takenOverCount = 0

  override hold(res: HttpResponse, rest: Rest): void {
    this.takenOverCount += 1
    super.hold(res, rest)
  }
}
const unsent = new Watched({ clock, metrics }, BOUND_BYTES)
const rules = { group: 'System', summary: 'For this test', answer: null, access: 'public' } as const
const FILE = file(LONG_TEXT, 'text/plain', 'no-cache')
let answeredCount = 0

const ROUTES: readonly Route[] = [
  route('GET /file', { ...rules, isCounted: false }, () => FILE),
  route('GET /text', rules, () => jsonText(LONG_TEXT)),
  route('GET /later', rules, async () => jsonText(LONG_TEXT)),
  route('GET /bytes', rules, () => ({ ...json({}), body: Buffer.from(LONG_TEXT) })),
  route('GET /small', rules, () => {
    answeredCount += 1
    return json({ answered: answeredCount })
  }),
]

const requests = new RequestHandler({
  router: new Router(ROUTES),
  ...{ accounts, clock, log: silentLog, metrics, corsOrigins: [], unsent },
  peers: new PeerAddresses([]),
  head: new RequestHead(),
})
let port = 0
let closeAll: () => void = () => {}

before(async () => {
  const app = await openAppWithErrorHandler(requests)
  port = app.port
  closeAll = app.close
})
after(() => closeAll())

/** A client that has sent this text and reads nothing until it is resumed. */
async function asker(text: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.pause()
  socket.write(text)
  return socket
}

const ask = (path: string, method = 'GET') => `${method} ${path} HTTP/1.1\r\nHost: x\r\n\r\n`

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve))
}

async function readAll(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.resume()
  await new Promise<void>((resolve) => {
    if (socket.destroyed) resolve()
    socket.once('close', () => resolve())
  })
  return Buffer.concat(chunks)
}

/** The body of the first response. */
async function readOne(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = []
  let count = 0
  for await (const chunk of socket) {
    const bytes: Buffer = chunk
    chunks.push(bytes)
    count += bytes.length
    if (count > LONG_BYTES) {
      const all = Buffer.concat(chunks)
      const start = all.indexOf('\r\n\r\n') + 4
      if (all.length === start + LONG_BYTES) return all.subarray(start)
    }
  }
  throw new Error(`the connection ended after ${count} bytes`)
}

const heldBytes = async () =>
  Number(/^http_unsent_bytes (\d+)$/m.exec(await metrics.registry.metrics())?.[1])
const cutCount = async () =>
  Number(/^http_answers_cut_total (\d+)$/m.exec(await metrics.registry.metrics())?.[1] ?? 0)
const digest = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex')

describe('responses that the client does not read', () => {
  beforeEach(() => {
    accounts.addressLimit = Number.MAX_SAFE_INTEGER
    answeredCount = 0
  })

  for (const path of ['/file', '/text', '/later', '/bytes']) {
    test(`sends the remainder of ${path} unchanged while the client reads slowly, and leaves the connection open`, async () => {
      const socket = await asker(ask(path))
      await until(() => unsent.count === 1)
      assert.equal(clock.timerCount, 1, 'it has a deadline')
      assert.equal(digest(await readOne(socket)), digest(LONG_TEXT))
      await until(() => unsent.count === 0)
      assert.equal(await heldBytes(), 0)
      assert.equal(clock.timerCount, 0)
      socket.destroy()
    })
  }

  test('answers one of 500 pipelined file requests, disconnects, and frees the data of the remaining requests', async () => {
    const socket = await asker(ask('/file').repeat(500))
    const chunks = await readAll(socket)
    assert.ok(chunks.length < LONG_BYTES, `${chunks.length} bytes`)
    await until(() => unsent.count === 0)
    assert.equal(clock.timerCount, 0)
  })

  test('disconnects a client that sends pipelined requests while unread responses fill its socket', async () => {
    const socket = await asker('')
    const before = unsent.takenOverCount
    const isFull = () => unsent.takenOverCount > before
    for (let sent = 0; !isFull(); sent += 500) {
      assert.ok(sent < 200_000, 'the kernel takes only so much')
      // Each segment ends with a complete request, and the requests fit into one tick's limit.
      socket.write(ask('/small').repeat(500))
      await until(() => isFull() || answeredCount === sent + 500)
    }
    socket.write(ask('/small').repeat(2))
    await until(() => unsent.count === 0)
    assert.equal(unsent.takenOverCount, before + 1, 'the connection has ended')
    socket.destroy()
  })

  test('limits unread response bytes of all clients, disconnects clients with most unread bytes, and does not count files', async () => {
    const cutBefore = await cutCount()
    const sockets: Socket[] = []
    for (let count = 1; count <= 12; count += 1) {
      const before = unsent.takenOverCount
      sockets.push(await asker(ask('/bytes')))
      await until(() => unsent.takenOverCount > before)
    }
    for (let count = 1; count <= 4; count += 1) sockets.push(await asker(ask('/file')))
    const isSettled = async () =>
      unsent.count + (await cutCount()) - cutBefore === sockets.length &&
      (await heldBytes()) <= BOUND_BYTES
    while (!(await isSettled())) await new Promise((resolve) => setImmediate(resolve))
    assert.ok((await cutCount()) > cutBefore)
    assert.ok(unsent.count >= 4 + 4, `${unsent.count} are still there`)
    assert.ok((await heldBytes()) > 0)
    for (const socket of sockets) socket.destroy()
    await until(() => unsent.count === 0)
    assert.equal(await heldBytes(), 0)
  })

  test('disconnects a client that does not read a response before the deadline', async () => {
    const socket = await asker(ask('/text'))
    await until(() => unsent.count === 1)
    clock.advance(unsentMsMin)
    assert.equal(unsent.count, 1)
    clock.advance((LONG_BYTES / unsentBytesPerSecondMin) * 1_000)
    assert.equal(unsent.count, 0)
    assert.ok((await readAll(socket)).length < LONG_BYTES)
    assert.equal(clock.timerCount, 0)
  })

  test('limits file bytes and responses without a body per address and minute', async () => {
    const url = `http://127.0.0.1:${port}/file`
    accounts.fileLimit = 0
    const refused = await fetch(url)
    assert.equal(refused.status, 429)
    assert.ok(Number(refused.headers.get('retry-after')) >= 1)
    assert.match(await refused.text(), /bytes of files a minute/)
    // The library buffers responses without a body, whether the client reads them or not.
    for (const method of ['HEAD', 'OPTIONS']) {
      const socket = await asker(ask('/small', method))
      assert.equal((await readAll(socket)).length, 0, 'the connection ends')
    }
    accounts.fileLimit = Number.MAX_SAFE_INTEGER
    const head = await fetch(url, {
      method: 'HEAD',
      headers: { 'accept-encoding': 'identity' },
    })
    assert.equal(head.headers.get('content-length'), String(LONG_BYTES))
  })

  test('limits the requests answered per address and event-loop tick, and disconnects at the first request beyond the limit', async () => {
    const sent = 6_000
    const socket = await asker(ask('/small').repeat(sent))
    const answers = (await readAll(socket)).toString().split('HTTP/1.1 200').length - 1
    assert.ok(answers <= answeredCount)
    assert.ok(answeredCount < sent, `${answeredCount} answered`)
    // A client that waits for each response is always answered.
    answeredCount = 0
    const patient = await asker('')
    patient.resume()
    for (let count = 1; count < 1.5 * addressRequestsPerTickMax; count += 1) {
      patient.write(ask('/small'))
      await until(() => answeredCount === count)
    }
    patient.destroy()
  })
})
