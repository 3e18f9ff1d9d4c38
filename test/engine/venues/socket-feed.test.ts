import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import { afterEach, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type WebSocket, WebSocketServer } from 'ws'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import {
  type RawFrame,
  SocketFeed,
  type SocketOptions,
} from '../../../engine/venues/socket-feed.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { until as untilSo } from '../../support/fakes/receivers.ts'

interface Bench {
  readonly clock: ManualClock
  readonly server: WebSocketServer
  readonly peers: WebSocket[]
  readonly feed: SocketFeed
  readonly frames: RawFrame[]
  readonly downs: string[]
  readonly metrics: Metrics
  opens: number
}

const benches: Bench[] = []

async function open(more: Partial<SocketOptions> = {}, jitter = 0): Promise<Bench> {
  const clock = new ManualClock()
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', autoPong: false })
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const peers: WebSocket[] = []
  server.on('connection', (peer) => peers.push(peer))
  const frames: RawFrame[] = []
  const downs: string[] = []
  const metrics = new Metrics()
  const random = { next: () => jitter, below: () => 0, pick: () => assert.fail() }
  const feed = new SocketFeed({
    venue: 'b',
    stream: 'books',
    connection: 3,
    url: () => `ws://127.0.0.1:${address.port}/`,
    onOpen: () => {
      bench.opens += 1
    },
    onFrame: (frame) => {
      frames.push(frame)
      return frame.text === 'beat' ? 'sign' : 'data'
    },
    onDown: (reason) => downs.push(reason),
    noDataAfterMs: 10_000,
    deadAfterMs: 25_000,
    clock,
    random,
    log: silentLog,
    metrics,
    ...more,
  })
  const bench: Bench = { clock, server, peers, feed, frames, downs, metrics, opens: 0 }
  benches.push(bench)
  return bench
}

/** Advances the clock by `stepMs` in each event-loop tick until the condition holds. */
async function until(bench: Bench, isSo: () => boolean, stepMs = 0): Promise<void> {
  if (stepMs === 0) return untilSo(isSo, 'the peer to act')
  for (let ticks = 0; ticks < 20_000; ticks += 1) {
    if (isSo()) return
    await nextTurn()
    bench.clock.advance(stepMs)
  }
  assert.fail('the condition was not met in time')
}

async function start(bench: Bench): Promise<WebSocket> {
  const before = bench.opens
  bench.feed.start()
  await until(bench, () => bench.opens > before && bench.peers.length > before)
  const peer = bench.peers.at(-1)
  assert.ok(peer !== undefined)
  return peer
}

describe('SocketFeed', () => {
  afterEach(async () => {
    for (const bench of benches.splice(0)) {
      await bench.feed.stop()
      for (const peer of bench.peers) peer.terminate()
      await new Promise((resolve) => bench.server.close(resolve))
    }
  })

  it('adds the local receive time and the connection to each frame once', async () => {
    const bench = await open()
    const peer = await start(bench)
    bench.clock.advance(1_234)
    peer.send('hello')
    peer.send(Buffer.from('grüße'), { binary: true })
    await until(bench, () => bench.frames.length === 2)
    const receivedAtMs = bench.clock.nowMs()
    assert.deepEqual(bench.frames, [
      { connection: 3, receivedAtMs, text: 'hello' },
      { connection: 3, receivedAtMs, text: 'grüße' },
    ])
    assert.equal(bench.feed.lastDataAtMs, receivedAtMs)
  })

  it('reconnects after a lost connection and reports each lost connection once', async () => {
    const bench = await open()
    for (let losses = 1; losses <= 3; losses += 1) {
      const peer = losses === 1 ? await start(bench) : bench.peers.at(-1)
      peer?.terminate()
      await until(bench, () => bench.opens === losses + 1 && bench.peers.length === losses + 1, 10)
    }
    assert.equal(bench.downs.length, 3)
    assert.ok(bench.feed.isOpen)
  })

  it('doubles the delay before each reconnect up to 30 s', async () => {
    const attempts: number[] = []
    const bench: Bench = await open(
      {
        url: () => {
          attempts.push(bench.clock.monotonicMs())
          return 'ws://127.0.0.1:1/'
        },
      },
      0.999_999_9,
    )
    const failed = attemptsFailed(bench)
    bench.feed.start()
    while (attempts.length < 10) {
      await until(bench, () => failed.value === attempts.length)
      const { length } = attempts
      while (attempts.length === length) bench.clock.advance(1)
    }
    const delays = attempts.slice(1).map((atMs, index) => Math.round(atMs - (attempts[index] ?? 0)))
    assert.deepEqual(delays, [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
    assert.equal(bench.downs.length, 0, 'a failed attempt is not reported as a loss')
  })

  it('records a refused handshake by stream and status, and no refusal of a busy or failing venue', async () => {
    const notes: string[] = []
    const drift = { note: (kind: string, name: unknown) => void notes.push(`${kind} ${name}`) }
    const statuses = [401, 429, 503, 410]
    const refusing = createHttpServer().on('upgrade', (_request, socket) => {
      const status = statuses.shift()
      socket.end(`HTTP/1.1 ${status} No\r\nconnection: close\r\n\r\n`)
    })
    refusing.listen(0, '127.0.0.1')
    await once(refusing, 'listening')
    const address = refusing.address()
    assert.ok(typeof address === 'object' && address !== null)
    try {
      const bench = await open({ drift, url: () => `ws://127.0.0.1:${address.port}/` })
      const failed = attemptsFailed(bench)
      bench.feed.start()
      await until(bench, () => failed.value === 4, 10)
      await bench.feed.stop()
    } finally {
      refusing.close()
    }
    assert.deepEqual(notes, ['ws.upgrade books 401', 'ws.upgrade books 410'])
  })

  it('resets the reconnect delay after a connection lasts thirty seconds', async () => {
    const bench = await open({ deadAfterMs: 1e9, noDataAfterMs: 1e9 }, 0.999_999_9)
    let peer = await start(bench)
    const delayAfter = async (lifeMs: number): Promise<number> => {
      bench.clock.advance(lifeMs)
      const losses = bench.downs.length
      const opens = bench.opens
      peer.terminate()
      await until(bench, () => bench.downs.length > losses)
      const lostAtMs = bench.clock.monotonicMs()
      while (bench.opens === opens) {
        bench.clock.advance(1)
        for (let ticks = 0; ticks < 3; ticks += 1) await nextTurn()
      }
      await until(bench, () => bench.peers.length === bench.opens)
      peer = bench.peers.at(-1) ?? peer
      return bench.clock.monotonicMs() - lostAtMs
    }
    const short = [await delayAfter(10), await delayAfter(10), await delayAfter(10)]
    assert.ok((short[2] ?? 0) >= 1_000, `${short}`)
    assert.ok((await delayAfter(30_000)) < 400)
  })

  it('disconnects from a server that sends nothing and answers no ping', async () => {
    const bench = await open()
    const peer = await start(bench)
    peer.ping('heartbeat')
    await until(bench, () => bench.feed.lastSignAtMs !== null)
    bench.clock.advance(20_000)
    assert.ok(bench.feed.isOpen)
    bench.clock.advance(10_000)
    assert.deepEqual(bench.downs, ['no frame, ping or pong'])
    await until(bench, () => bench.opens === 2, 10)
  })

  it('does not disconnect while heartbeats arrive, and reports that no data arrives', async () => {
    let silences = 0
    const bench = await open({
      onSilence: () => {
        silences += 1
      },
    })
    const peer = await start(bench)
    for (let beats = 1; beats <= 4; beats += 1) {
      peer.send('beat')
      await until(bench, () => bench.frames.length === beats)
      bench.clock.advance(10_000)
    }
    assert.equal(silences, 4)
    assert.equal(bench.downs.length, 0)
    assert.equal(bench.feed.lastDataAtMs, null)
    peer.send('data')
    await until(bench, () => bench.frames.length === 5)
    bench.clock.advance(9_000)
    assert.equal(silences, 4)
  })

  it('sends the heartbeat message that the venue requires at the configured interval', async () => {
    const bench = await open({ pingText: 'PING', pingEveryMs: 5_000 })
    const peer = await start(bench)
    const received: string[] = []
    peer.on('message', (data) => received.push(data.toString()))
    bench.clock.advance(15_000)
    await until(bench, () => received.length === 3)
    assert.deepEqual(received, ['PING', 'PING', 'PING'])
  })

  it('counts an exception in a callback and does not disconnect', async () => {
    const bench = await open({
      onOpen: () => {
        throw new Error('bug')
      },
      onFrame: () => {
        throw new Error('bug')
      },
    })
    bench.feed.start()
    await until(bench, () => bench.peers.length === 1 && bench.feed.isOpen)
    bench.peers[0]?.send('x')
    const bugs = bench.metrics.count('venue_socket_bugs_total', '', { venue: 'b', stream: 'books' })
    await until(bench, () => bugs.value === 2)
    assert.ok(bench.feed.isOpen)
  })

  it('queues messages and connections while reading is paused, then delivers all messages in order', async () => {
    let silences = 0
    const bench = await open({
      onSilence: () => {
        silences += 1
      },
    })
    const peer = await start(bench)
    bench.feed.pause(true)
    bench.feed.pause(true)
    for (const text of ['one', 'two', 'three']) peer.send(text)
    for (let ticks = 0; ticks < 200; ticks += 1) await nextTurn()
    bench.clock.advance(120_000)
    assert.deepEqual([bench.frames.length, bench.downs.length, silences], [0, 0, 0])
    bench.feed.pause(false)
    await until(bench, () => bench.frames.length === 3)
    assert.deepEqual(
      bench.frames.map(({ text }) => text),
      ['one', 'two', 'three'],
    )
    bench.clock.advance(9_000)
    assert.deepEqual([bench.downs.length, silences, bench.opens], [0, 0, 1])
    bench.clock.advance(16_000)
    assert.deepEqual(bench.downs, ['no frame, ping or pong'], 'the liveness check continues')
  })

  it('does not treat a read pause as silence of the venue when no messages are queued', async () => {
    let silences = 0
    const bench = await open({
      onSilence: () => {
        silences += 1
      },
    })
    await start(bench)
    bench.feed.pause(true)
    bench.clock.advance(120_000)
    bench.feed.pause(false)
    bench.clock.advance(9_000)
    assert.deepEqual([bench.downs, silences], [[], 0])
    bench.clock.advance(16_000)
    assert.deepEqual(bench.downs, ['no frame, ping or pong'])
  })

  it('does not read from a socket that opens while reading is paused', async () => {
    const bench = await open()
    bench.feed.pause(true)
    const peer = await start(bench)
    peer.send('early')
    for (let ticks = 0; ticks < 200; ticks += 1) await nextTurn()
    assert.deepEqual(bench.frames, [])
    bench.feed.pause(false)
    await until(bench, () => bench.frames.length === 1)
  })

  it('reports since when data may be stale after a pause or stall, until all delayed messages are read', async () => {
    const bench = await open()
    const peer = await start(bench)
    assert.equal(bench.feed.lateSinceMs, null)
    const pausedAtMs = bench.clock.nowMs()
    bench.feed.pause(true)
    peer.terminate()
    bench.clock.advance(60_000)
    bench.feed.pause(false)
    await until(bench, () => bench.downs.length === 1)
    assert.equal(
      bench.feed.lateSinceMs,
      pausedAtMs,
      'a loss detected after a pause is dated to the pause',
    )
    await until(bench, () => bench.opens === 2, 10)
    assert.equal(bench.feed.lateSinceMs, null)
    const again = bench.peers.at(-1)
    bench.clock.advance(2_000)
    const stalledAtMs = bench.clock.nowMs()
    bench.clock.stall(4_000)
    const { lateSinceMs } = bench.feed
    assert.ok(
      lateSinceMs !== null && lateSinceMs <= stalledAtMs && lateSinceMs >= stalledAtMs - 1_000,
    )
    again?.send('old')
    await until(bench, () => bench.frames.length === 1)
    bench.clock.advance(8_000)
    assert.equal(bench.feed.lateSinceMs, lateSinceMs)
    bench.clock.advance(3_000)
    assert.equal(bench.feed.lateSinceMs, null)
  })

  it('reports messages as possibly late for ten seconds after a pause', async () => {
    const bench = await open()
    await start(bench)
    const pausedAtMs = bench.clock.nowMs()
    bench.feed.pause(true)
    bench.clock.advance(60_000)
    bench.feed.pause(false)
    bench.clock.advance(9_000)
    assert.equal(bench.feed.lateSinceMs, pausedAtMs)
    bench.clock.advance(2_000)
    assert.equal(bench.feed.lateSinceMs, null)
  })

  it('does not disconnect when a text frame is not valid UTF-8', async () => {
    const bench = await open()
    const peer = await start(bench)
    peer.send(Buffer.of(0x61, 0xff, 0x62), { binary: false })
    await until(bench, () => bench.frames.length + bench.downs.length > 0)
    assert.deepEqual(bench.downs, [])
    assert.equal(bench.frames[0]?.text, 'a\ufffdb')
  })

  it('does not reconnect when it is stopped during the delay before a reconnect', async () => {
    const bench = await open({ url: () => 'ws://127.0.0.1:1/' }, 0.999_999_9)
    const failed = attemptsFailed(bench)
    bench.feed.start()
    await until(bench, () => failed.value === 1)
    await bench.feed.stop()
    assert.equal(bench.clock.timerCount, 0)
    bench.clock.advance(120_000)
    for (let ticks = 0; ticks < 50; ticks += 1) await nextTurn()
    assert.equal(failed.value, 1)
  })

  it('calls no callback, leaves no timer and refuses to send messages after stop', async () => {
    const bench = await open()
    const peer = await start(bench)
    peer.send('late')
    const stopped = bench.feed.stop()
    assert.equal(bench.feed.send('x'), false)
    await stopped
    for (let ticks = 0; ticks < 50; ticks += 1) await nextTurn()
    bench.clock.advance(120_000)
    assert.deepEqual([bench.frames.length, bench.downs.length, bench.clock.timerCount], [0, 0, 0])
  })

  it('aborts a running WebSocket handshake on stop', async () => {
    const bench = await open()
    bench.feed.start()
    await bench.feed.stop()
    for (let ticks = 0; ticks < 50; ticks += 1) await nextTurn()
    assert.deepEqual([bench.opens, bench.clock.timerCount], [0, 0])
  })

  it('aborts a WebSocket handshake after ten seconds when the server does not answer', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.resume()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    assert.ok(typeof address === 'object' && address !== null)
    const bench = await open({ url: () => `ws://127.0.0.1:${address.port}/` })
    const failed = attemptsFailed(bench)
    bench.feed.start()
    await once(server, 'connection')
    bench.clock.advance(9_999)
    assert.equal(failed.value, 0)
    bench.clock.advance(1)
    assert.equal(failed.value, 1)
    await bench.feed.stop()
    await new Promise((resolve) => server.close(resolve))
  })
})

function attemptsFailed(bench: Bench) {
  const labels = { venue: 'b', stream: 'books' }
  return bench.metrics.count('venue_socket_failed_attempts_total', '', labels)
}
