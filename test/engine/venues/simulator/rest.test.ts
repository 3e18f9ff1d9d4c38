import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WebSocket } from 'ws'
import { silentLog } from '../../../../engine/process/log.ts'
import { Faults } from '../../../../engine/venues/simulator/faults.ts'
import type { SimFault } from '../../../../engine/venues/simulator/model.ts'
import {
  json,
  plainText,
  RestServer,
  SimTokenBucket,
} from '../../../../engine/venues/simulator/rest.ts'
import { request } from '../../../support/clients/venue-client.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'
import { SetChance } from '../../../support/fakes/stub-venue.ts'

async function serve(options: { faults?: readonly SimFault[]; bodyBytesMax?: number } = {}) {
  const chance = new SetChance()
  const server = new RestServer({
    faults: new Faults(options.faults ?? [], chance),
    log: silentLog,
    ...(options.bodyBytesMax === undefined ? {} : { bodyBytesMax: options.bodyBytesMax }),
  })
  server.get('/markets/{id}', ({ params, query }) => json({ id: params.id, q: query.getAll('q') }))
  server.get('/markets/{id}/book', ({ params }) => json({ book: params.id }))
  server.get('/markets/keyset', () => json({ keyset: true }))
  server.post('/books', ({ body }) => plainText(body))
  server.get('/broken', () => {
    throw new Error('ours')
  })
  server.get('/sim/state', () => json({ ok: true }))
  const port = await server.listen('127.0.0.1', 0)
  return { server, chance, port, url: `http://127.0.0.1:${port}` }
}

test('prefers literal path segments to parameters, decodes parameters, and returns 404 or 405 for other requests', async () => {
  const { server, url } = await serve()
  try {
    const one = await request(`${url}/markets/a%2Fb?q=1&q=2`)
    assert.deepEqual(one.body, { id: 'a/b', q: ['1', '2'] })
    assert.deepEqual((await request(`${url}/markets/keyset`)).body, { keyset: true })
    assert.deepEqual((await request(`${url}/markets/7/book`)).body, { book: '7' })
    assert.deepEqual((await request(`${url}/markets/7/book/`)).body, { book: '7' })
    assert.equal((await request(`${url}/markets`)).status, 404)
    assert.equal((await request(`${url}/markets/%zz`)).status, 404)
    assert.equal((await request(`${url}/books`)).status, 405)
    assert.equal((await fetch(`${url}/markets/7`, { method: 'HEAD' })).status, 200)
  } finally {
    await server.stop()
  }
})

test('returns 413 when a request body exceeds the size limit', async () => {
  const { server, url } = await serve({ bodyBytesMax: 1_000 })
  try {
    assert.equal((await request(`${url}/books`, 'x'.repeat(100_000))).status, 413)
    assert.equal((await request(`${url}/books`, 'small')).text, '"small"')
  } finally {
    await server.stop()
  }
})

test('applies the faults of REST requests to all paths except paths under /sim/', async () => {
  const cases = [
    { fault: 'rate_limit', status: 429, retryAfter: null },
    { fault: 'rate_limit_retry_after', status: 429, retryAfter: '1' },
    { fault: 'html', status: 502, retryAfter: null },
  ] as const
  for (const { fault, status, retryAfter } of cases) {
    const { server, url, chance } = await serve({ faults: [fault] })
    try {
      assert.equal((await request(`${url}/markets/1`)).status, 200)
      chance.value = 0
      const answer = await request(`${url}/markets/1`)
      assert.equal(answer.status, status)
      assert.equal(answer.headers.get('retry-after'), retryAfter)
      assert.equal(answer.text.startsWith('<!DOCTYPE html>'), fault === 'html')
      assert.equal((await request(`${url}/sim/state`)).status, 200)
    } finally {
      await server.stop()
    }
  }
})

test('returns 500 when a route handler throws, and serves later requests', async () => {
  const { server, url } = await serve()
  try {
    assert.equal((await request(`${url}/broken`)).status, 500)
    assert.equal((await request(`${url}/markets/1`)).status, 200)
  } finally {
    await server.stop()
  }
})

test('grants the full capacity of a token bucket at once, then tokens at the bucket’s rate', () => {
  const clock = new ManualClock()
  const bucket = new SimTokenBucket({ clock, capacity: 3, perSecond: 2 })
  const granted = (tries: number) =>
    Array.from({ length: tries }, () => bucket.take()).filter((is) => is).length
  assert.equal(granted(5), 3)
  clock.advance(1_000)
  assert.equal(granted(5), 2)
  clock.advance(60_000)
  assert.equal(granted(5), 3)
  clock.advance(60_000)
  assert.equal(bucket.take(2), true)
  assert.equal(bucket.take(2), false)
})

test('returns 404 for a WebSocket upgrade request to a path without a handler', async () => {
  const { server, port } = await serve()
  try {
    const ws = new WebSocket(`ws://127.0.0.1:${port}/nowhere`)
    const error = await new Promise<Error>((resolve) => ws.once('error', resolve))
    assert.match(error.message, /404/)
  } finally {
    await server.stop()
  }
})
