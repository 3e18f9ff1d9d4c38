import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { pino } from 'pino'
import { FetchError, HttpClient } from '../../../engine/fetch.ts'
import { logOptions } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { seededRandom } from '../../../engine/random.ts'
import { SocketFeed } from '../../../engine/venues/socket-feed.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  server.close()
  await once(server, 'close')
  return address.port
}

function openLines() {
  const clock = new ManualClock()
  const lines: string[] = []
  const stream = new Writable({
    write(chunk, _, done) {
      lines.push(String(chunk))
      done()
    },
  })
  const parts = { clock, random: seededRandom(1), metrics: new Metrics() }
  return { lines, clock, parts: { ...parts, log: pino(logOptions('info', clock), stream) } }
}

test('logs one line a minute for an unreachable host, for all callers together and without a stack trace', async () => {
  const { lines, clock, parts } = openLines()
  const port = await closedPort()
  const limits = { timeoutMs: 1_000_000, bodyBytesMax: 100, retries: 0 }
  const client = new HttpClient({ ...parts, ...limits, baseUrl: `http://127.0.0.1:${port}/a` })
  const ask = async (speaker: string) => {
    const error = await client.getJson('/b').catch((cause: unknown) => cause)
    assert.ok(error instanceof FetchError)
    parts.log.child({ speaker }).warn({ err: error }, 'not read, trying again')
  }
  await ask('catalogue')
  await ask('teams')
  assert.equal(lines.length, 1)
  const line = JSON.parse(lines[0] ?? '')
  assert.match(line.err, /ECONNREFUSED/)
  assert.doesNotMatch(lines[0] ?? '', /stack|node:/)
  clock.advance(59_999)
  await ask('catalogue')
  assert.equal(lines.length, 1)
  clock.advance(1)
  await ask('teams')
  await ask('catalogue')
  assert.equal(lines.length, 2)
  parts.log.warn({ err: new Error('a bug') }, 'threw')
  parts.log.warn({ err: new FetchError('status', 'status 500', { status: 500 }) }, 'refused')
  parts.log.warn('words alone')
  assert.equal(lines.length, 5, 'other warnings are logged, and errors with their stack')
  assert.match(lines[2] ?? '', /stack/)
  client.stop()
})

test('logs one line for failures of all sockets to one host, without path and query', async () => {
  const { lines, clock, parts } = openLines()
  const port = await closedPort()
  const feeds = [0, 1, 2].map(
    (connection) =>
      new SocketFeed({
        ...parts,
        ...{ venue: 'a', stream: 'books', connection },
        url: () => `ws://127.0.0.1:${port}/path?signed=secret`,
        onOpen: () => undefined,
        onFrame: () => 'data',
        onDown: () => undefined,
        noDataAfterMs: 1_000_000,
        deadAfterMs: 1_000_000,
      }),
  )
  for (const feed of feeds) feed.start()
  const attempts = async () => {
    const text = await parts.metrics.registry.metrics()
    return Number(/venue_socket_failed_attempts_total\{.*\} (\d+)/.exec(text)?.[1] ?? 0)
  }
  for (let wanted = 3; wanted <= 9; wanted += 3) {
    while ((await attempts()) < wanted) {
      await nextTurn()
      clock.advance(10)
    }
  }
  await Promise.all(feeds.map((feed) => feed.stop()))
  const minutes = Math.floor(clock.monotonicMs() / 60_000)
  assert.ok(lines.length >= 1 && lines.length <= 1 + minutes, `${lines.length} lines`)
  assert.ok(
    lines.every((line) => !line.includes('signed') && !line.includes('path')),
    lines.join(),
  )
})
