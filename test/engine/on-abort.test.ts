import assert from 'node:assert/strict'
import { getEventListeners, once } from 'node:events'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { pause, systemClock } from '../../engine/clock.ts'
import { HttpClient } from '../../engine/fetch.ts'
import { onAbort } from '../../engine/on-abort.ts'
import { silentLog } from '../../engine/process/log.ts'
import { Metrics } from '../../engine/process/metrics.ts'
import { seededRandom } from '../../engine/random.ts'
import { ManualClock } from '../support/fakes/manual-clock.ts'

const listenersOf = ({ signal }: AbortController) => getEventListeners(signal, 'abort').length

test('registers one listener on an abort signal for any number of waiters, and calls each waiter once', async () => {
  const ending = new AbortController()
  const clock = new ManualClock()
  const published: number[] = []
  const off = Array.from({ length: 50 }, (_, index) =>
    onAbort(ending.signal, () => void published.push(index)),
  )
  const pauses = Array.from({ length: 50 }, () => pause(clock, 60_000, ending.signal))
  assert.equal(listenersOf(ending), 1)
  off[7]?.()
  ending.abort()
  await Promise.all(pauses)
  assert.equal(clock.timerCount, 0)
  assert.deepEqual(
    published,
    Array.from({ length: 50 }, (_, index) => index).filter((index) => index !== 7),
  )
  onAbort(ending.signal, () => void published.push(99))
  assert.equal(published.at(-1), 99, 'it is called at once if the signal is already aborted')
})

test('adds one listener to the caller’s abort signal for any number of concurrent calls', async () => {
  const server = createServer((_request, response) => void response.end('{"is":1}'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const client = new HttpClient({
    ...{ baseUrl: `http://127.0.0.1:${address.port}`, clock: systemClock, log: silentLog },
    ...{ random: seededRandom(1), metrics: new Metrics(), retries: 0 },
    ...{ timeoutMs: 600_000, bodyBytesMax: 100 },
  })
  const [caller, warnings] = [new AbortController(), [] as string[]]
  const note = (warning: Error) => void warnings.push(warning.name)
  process.on('warning', note)
  try {
    const withSignal = Array.from({ length: 40 }, () =>
      client.getJson('/x', {}, { signal: caller.signal }),
    )
    const without = Array.from({ length: 40 }, () => client.getJson('/x'))
    assert.equal(listenersOf(caller), 1)
    await Promise.all([...withSignal, ...without])
    assert.equal(listenersOf(caller), 1)
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(warnings, [])
  } finally {
    process.off('warning', note)
    client.stop()
    server.close()
  }
})
