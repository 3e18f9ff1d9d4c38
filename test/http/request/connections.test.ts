import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { connectionsOfAddressMax, connectionsWindowMs } from '../../../engine/limits.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { Connections, connectionsMaxOf } from '../../../http/request/load-limits.ts'
import { StreamClient } from '../../support/clients/stream-client.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { openApiServer } from '../../support/rigs/api-server.ts'

const ATTACKER = '127.0.0.2'

async function openIdle(port: number, count: number): Promise<readonly Socket[]> {
  const sockets: Socket[] = []
  for (let index = 0; index < count; index += 1) {
    const socket = connect({ port, host: '127.0.0.1', localAddress: ATTACKER })
    socket.on('error', () => undefined)
    sockets.push(socket)
    await once(socket, 'connect')
  }
  return sockets
}

async function answerOf(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<IncomingMessage> {
  const agent = new Agent({ keepAlive: true })
  const asked = get({ port, host: '127.0.0.1', path, headers, agent })
  const [response]: IncomingMessage[] = await once(asked, 'response')
  assert.ok(response !== undefined)
  response.resume()
  await once(response, 'end')
  agent.destroy()
  return response
}

test('answers a new client while one address opens ten times the maximum number of connections', async () => {
  const server = await openApiServer({ connectionsMax: 100 })
  const sockets = await openIdle(server.port, 1_000)
  try {
    const last = sockets.at(-1)
    assert.ok(last !== undefined)
    if (!last.closed) await once(last, 'close')
    assert.equal(sockets.filter(({ closed }) => !closed).length, 75)
    const { statusCode } = await answerOf(server.port, '/health')
    assert.equal(statusCode, 200)
  } finally {
    for (const socket of sockets) socket.destroy()
    await server.stop()
  }
})

test('closes the connection of an unauthenticated caller after the response while too many connections are open', async () => {
  const server = await openApiServer({ connectionsMax: 40 })
  const key = { 'x-api-key': 'ann-key' }
  const idle = await openIdle(server.port, 20)
  try {
    assert.notEqual((await answerOf(server.port, '/health')).headers.connection, 'close')
    const more = await openIdle(server.port, 12)
    try {
      assert.equal((await answerOf(server.port, '/health')).headers.connection, 'close')
      assert.equal((await answerOf(server.port, '/v1/markets')).headers.connection, 'close')
      const known = await answerOf(server.port, '/v1/markets', key)
      assert.equal(known.statusCode, 200)
      assert.notEqual(known.headers.connection, 'close')
    } finally {
      for (const socket of more) socket.destroy()
    }
  } finally {
    for (const socket of idle) socket.destroy()
    await server.stop()
  }
})

test('counts a WebSocket stream as a connection until the stream closes', async () => {
  const server = await openApiServer({ connectionsMax: 40 })
  const openCount = async () => {
    const { text } = await server.get('/metrics')
    return Number(/^http_connections (\d+)$/m.exec(text)?.[1])
  }
  try {
    const before = await openCount()
    const client = await StreamClient.open(server.port)
    assert.equal(await openCount(), before + 1)
    await client.close()
    while ((await openCount()) !== before);
  } finally {
    await server.stop()
  }
})

test('limits new connections per address while at least three quarters of the maximum are open, and not below', () => {
  const clock = new ManualClock()
  const connections = new Connections({ clock, metrics: new Metrics(), max: 400 })
  const admitted = (address: string | null, count: number) =>
    Array.from({ length: count }, () => {
      const isAdmitted = connections.opened(address)
      if (!isAdmitted) connections.closed()
      return isAdmitted
    }).filter((isAdmitted) => isAdmitted).length
  assert.equal(admitted('192.0.2.1', 4_000), 300)
  assert.equal(connections.isCrowded, false)
  assert.equal(admitted('192.0.2.2', 4_000), connectionsOfAddressMax)
  assert.equal(connections.isCrowded, true)
  assert.equal(admitted('192.0.2.3', 1), 1, 'a bystander')
  assert.equal(admitted('192.0.2.1', 1), 0)
  clock.advance(connectionsWindowMs)
  assert.equal(admitted('192.0.2.1', 1), 1, 'in the next window')
  assert.equal(admitted(null, 4_000), 400 - 300 - connectionsOfAddressMax - 2, 'a proxy')
  for (let count = 0; count < 400; count += 1) connections.closed()
  assert.equal(admitted('192.0.2.1', 4_000), 300)
})

test('reserves an eighth of the file descriptors, and at least 64', () => {
  assert.equal(connectionsMaxOf(65_536), 57_344)
  assert.equal(connectionsMaxOf(256), 192)
  assert.equal(connectionsMaxOf(Number.POSITIVE_INFINITY), Number.POSITIVE_INFINITY)
})
