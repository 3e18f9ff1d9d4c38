import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import { after, before, describe, it, test } from 'node:test'
import type { TargetRequest } from '../../../bench/arguments.ts'
import { Received, type StreamMessage } from '../../../bench/received.ts'
import { refusalText, runPlanned } from '../../../bench/target/rest.ts'
import { loadTarget, TargetError } from '../../../bench/target/target.ts'
import type { StopTimer } from '../../../engine/clock.ts'
import { priceMicros, sizeMicros } from '../../../engine/units.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { waitOneTick } from '../../support/fakes/real-time-step.ts'
import { type ApiServer, openApiServer } from '../../support/rigs/api-server.ts'

const unsubscribed = (): void => undefined

describe('requests at planned times', () => {
  it('measures latency from the planned time of a request, so that a stall of the server is included', async () => {
    const waiting: ServerResponse[] = []
    // The server answers nothing before the 20th request, which is planned 95 ms after the first.
    const stalling = await serve((response) => {
      waiting.push(response)
      if (waiting.length === 20) for (const one of waiting) one.end('{}')
    })
    const load = { perSecond: 200, seconds: 0.1, requests: [{ route: 'one', path: '/' }] }
    const result = await runPlanned({ origin: stalling.origin, headers: {}, ...load })
    stalling.close()
    assert.equal(result.requestCount, 20)
    assert.equal(result.refusals.size, 0)
    const times = result.times.get('one')
    assert.equal(times?.totalCount, 20)
    // The histogram has three digits of precision, and timers may fire up to 1 ms early.
    assert.ok((times?.maxValue ?? 0) >= 94_000_000)
    assert.ok((times?.getValueAtPercentile(50) ?? 0) >= 46_000_000)
  })

  it('counts each response other than 200 as refused under its status, and records no latency for the response', async () => {
    let count = 0
    const refusing = await serve((response) => {
      count += 1
      response.statusCode = count % 2 === 0 ? 429 : 200
      response.end()
    })
    const load = { perSecond: 1_000, seconds: 0.01, requests: [{ route: 'one', path: '/' }] }
    const result = await runPlanned({ origin: refusing.origin, headers: {}, ...load })
    refusing.close()
    assert.equal(refusalText(result.refusals), '5 × status 429')
    assert.equal(result.times.get('one')?.totalCount, 5)
  })
})

describe('load on a deployment', () => {
  let apiServer: ApiServer
  let stop: StopTimer
  before(async () => {
    apiServer = await openApiServer()
    const markets = Array.from({ length: 4 }, (_, index) => apiServer.engine.add(`market-${index}`))
    for (const market of markets) market.replace([], [])
    let count = 0
    const clock = new ManualClock()
    clock.every(20, () => {
      count += 1
      const price = priceMicros(10_000 * (1 + (count % 90)))
      markets[count % 4]?.change({ side: 'bid', price, size: sizeMicros(count * 1_000) })
    })
    stop = waitOneTick(clock)
  })
  after(async () => {
    stop()
    await apiServer.stop()
  })

  const requested = (set: Partial<TargetRequest>): TargetRequest => ({
    ...{ kind: 'target', names: ['rest', 'fan-out', 'connect'], isJson: false, seconds: 0.3 },
    ...{ origin: apiServer.origin, apiKey: 'ann-key', perSecond: 200, clientCount: 3 },
    ...set,
  })

  it('measures and checks REST requests, stream deliveries and stream resumes of a running service', async () => {
    const outcomes = await loadTarget(requested({}), unsubscribed)
    assert.deepEqual(
      outcomes.map(({ bench, kind }) => `${bench.name} ${kind}`),
      ['rest done', 'fan-out done', 'connect done'],
    )
    const checked = outcomes.map((one) => (one.kind === 'done' ? one.result.state.checked : ''))
    assert.equal(checked[0], '60 requests, each answered with 200')
    assert.match(checked[1] ?? '', /^[1-9]\d* deliveries to 3 subscribers, no hole in any seq$/)
    assert.match(checked[2] ?? '', /^3 clients resumed, [1-9]\d* updates, no hole in any seq/)
    const [, , connect] = outcomes
    const figures = connect?.kind === 'done' ? connect.result.rows : []
    const away = figures.find(({ what }) => what === 'while away')
    assert.ok(away?.kind === 'figure')
    assert.match(away.value, /^[1-9]\d* updates replayed, 0 books restarted$/)
  })

  it('stops the load with an error when the API key’s request quota is used up', async () => {
    apiServer.engine.accounts.make('tight', { requestsPerMinute: 70, socketsMax: 1 })
    const load = loadTarget(requested({ names: ['rest'], apiKey: 'tight-key' }), () => {
      for (let count = 0; count < 5; count += 1) {
        apiServer.engine.accounts.takeAccountRequest(callerId(apiServer, 'tight-key'))
      }
    })
    await assert.rejects(load, (error: unknown) => {
      assert.ok(error instanceof TargetError, String(error))
      assert.match(error.message, /^of 60 requests \d+ × status 429: the key allows less/)
      return true
    })
  })
})

function callerId(apiServer: ApiServer, key: string) {
  const caller = apiServer.engine.accounts.callerOfKey(key)
  assert.ok(caller !== null)
  return caller.accountId
}

const EPOCH = 'k3f9c2'
const update = (seq: number, offset: number, set: Partial<StreamMessage> = {}): StreamMessage => ({
  ...{ type: 'update', channel: 'orderbook', market_id: 'm', epoch: EPOCH, seq, offset },
  ...set,
})

test('counts a gap in seq as a loss, but counts no loss for a repeated message or an announced resync', () => {
  const received = new Received()
  received.take(update(7, 10, { type: 'snapshot' }))
  received.take({ type: 'synced', channel: 'orderbook', epoch: EPOCH, offset: 10 })
  assert.equal(received.take(update(8, 11)), true)
  assert.equal(received.take(update(9, 12)), true)
  assert.equal(received.take(update(9, 12)), false)
  assert.deepEqual(received.position('orderbook'), { epoch: EPOCH, offset: 12 })
  received.take({ type: 'resync', channel: 'orderbook', market_id: 'm' })
  received.take(update(20, 30, { type: 'snapshot' }))
  received.take(update(21, 31))
  assert.deepEqual(received.holes, [])
  const { deliveryCount, repeatCount, resyncCount } = received
  assert.deepEqual({ deliveryCount, repeatCount, resyncCount }, { ...COUNTS })
  received.take(update(23, 33))
  assert.deepEqual(received.holes, ['orderbook m: 23 after 21'])
  const early = new Received()
  early.take(update(3, 4))
  assert.deepEqual(early.holes, ['orderbook m: 3 before its snapshot'])
})

const COUNTS = { deliveryCount: 3, repeatCount: 1, resyncCount: 1 }

async function serve(answer: (response: ServerResponse) => void) {
  const server = createServer((_, response) => answer(response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { origin: `http://127.0.0.1:${address.port}`, close }
}
