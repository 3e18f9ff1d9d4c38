import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerBookDemand, MirrorBookDemand } from '../../../actors/mirror/book-demand.ts'
import { FakeDemand } from '../../support/fakes/book-demand.ts'
import { FakeEngine } from '../../support/fakes/engine.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { level } from '../../support/worlds/builders.ts'

const MINUTE_MS = 60_000

/** The gateway's reports reach the engine unless `isCut` is true. */
function open(marketCount = 3) {
  const clock = new ManualClock()
  const engine = new FakeEngine(clock)
  const engineDemand = new FakeDemand(clock)
  engine.coverage = () => engineDemand
  const markets = Array.from({ length: marketCount }, (_, index) => engine.add(`m${index}`))
  const answer = answerBookDemand({
    clock,
    catalog: engine.catalog,
    coverage: (venue) => {
      clock.stall(state.stallMs)
      return engine.coverage(venue)
    },
  })
  const state = { stallMs: 0, coversAll: false, isCut: false, reports: 0 }
  const gateway = new MirrorBookDemand({
    clock,
    isLive: (number) => engine.catalog.byNumber(number)?.levels(0).isStale === false,
    coversAll: () => state.coversAll,
    send: async (body) => {
      state.reports += 1
      if (state.isCut) throw new Error('no engine')
      return answer(body)
    },
  })
  engine.publisher.watch(gateway)
  /** Reports are sent at an interval of `stepMs`. Each step lets the answers arrive. */
  const pass = async (ms: number, stepMs = 1_000) => {
    for (let passedMs = 0; passedMs < ms; passedMs += stepMs) {
      clock.advance(Math.min(stepMs, ms - passedMs))
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
  }
  const taken = () => engineDemand.requests.splice(0)
  return { answer, clock, engine, gateway, markets, pass, taken, state }
}

test('reports the markets whose books clients demand once or continuously to the engine in one message', async () => {
  const { gateway, pass, taken, state } = open()
  assert.equal(gateway.request(1, 'ann'), true)
  assert.equal(gateway.hold(2, 'bob'), true)
  assert.equal(gateway.hold(2, 'bob'), true)
  await pass(100, 100)
  assert.deepEqual(taken(), [
    [1, 'ann'],
    [2, 'bob'],
  ])
  assert.equal(state.reports, 1)
})

test('reports a continuously demanded market to the engine at least every ten minutes until all demands are released', async () => {
  const { gateway, pass, taken } = open()
  gateway.hold(1, 'ann')
  gateway.hold(1, 'ann')
  await pass(10 * MINUTE_MS)
  assert.ok(taken().length >= 3)
  gateway.release(1, 'ann')
  await pass(10 * MINUTE_MS)
  assert.ok(taken().length >= 2)
  gateway.release(1, 'ann')
  await pass(20 * MINUTE_MS)
  assert.deepEqual(taken(), [])
})

test('reports a requested market to the engine a second time if a client requests the market a minute later', async () => {
  const { gateway, pass, taken } = open()
  for (let count = 0; count < 50; count += 1) {
    gateway.request(1, 'ann')
    await pass(1_000)
  }
  assert.equal(taken().length, 1)
  await pass(MINUTE_MS)
  gateway.request(1, 'ann')
  await pass(1_000)
  assert.equal(taken().length, 1)
  await pass(30 * MINUTE_MS)
  assert.deepEqual(taken(), [])
})

test('repeats a demand report until the engine answers', async () => {
  const { gateway, pass, taken, state } = open()
  state.isCut = true
  gateway.hold(1, 'ann')
  gateway.hold(2, 'ann')
  await pass(10_000, 100)
  assert.ok(state.reports >= 5 && state.reports <= 11, String(state.reports))
  gateway.release(2, 'ann')
  state.isCut = false
  await pass(2_000, 100)
  assert.deepEqual(taken(), [[1, 'ann']])
})

test('limits the number of markets that one client and all clients demand, and frees capacity on release or expiry', async () => {
  const { gateway, pass } = open()
  const accepted = (owner: string, count: number) => {
    let sum = 0
    for (let market = 1; market <= count; market += 1) {
      if (gateway.request(market, owner)) sum += 1
    }
    return sum
  }
  assert.equal(accepted('ann', 10_100), 10_000)
  assert.equal(gateway.hold(20_000, 'ann'), false)
  for (let owner = 0; owner < 9; owner += 1) assert.equal(accepted(`o${owner}`, 10_000), 10_000)
  assert.equal(accepted('last', 10_000), 9_090, 'an owner with fewer demands displaces others')
  await pass(11 * MINUTE_MS, MINUTE_MS)
  assert.equal(accepted('last', 10_100), 10_000)
})

test('sends at most 1,000 markets in one demand report', async () => {
  const { gateway, pass, taken, state } = open(1_500)
  for (let market = 1; market <= 1_500; market += 1) gateway.request(market, 'ann')
  await pass(100, 100)
  assert.equal(taken().length, 1_000)
  await pass(100, 100)
  assert.equal(taken().length, 500)
  assert.equal(state.reports, 2)
})

test('reports continuously demanded markets once the policy no longer covers all markets, and waits for no book before that change', async () => {
  const { gateway, pass, taken, state } = open()
  state.coversAll = true
  assert.equal(gateway.request(1, 'ann'), true)
  await gateway.live(1, 2_000, 'ann')
  gateway.hold(2, 'ann')
  await pass(1_000, 100)
  assert.equal(state.reports, 0)
  state.coversAll = false
  gateway.request(1, 'ann')
  await pass(1_000, 100)
  assert.deepEqual(taken(), [
    [2, 'ann'],
    [1, 'ann'],
  ])
})

test('covers the markets of a demand report in time slices', async () => {
  const { gateway, clock, taken, state } = open(50)
  for (let market = 1; market <= 50; market += 1) gateway.request(market, 'ann')
  state.stallMs = 1
  clock.advance(100)
  assert.ok(taken().length < 10)
  for (let turn = 0; turn < 50; turn += 1) await new Promise<void>((done) => setImmediate(done))
  assert.ok(taken().length > 40)
})

test('ends a wait for a book when the mirrored book is live', async () => {
  const { gateway, markets, clock } = open()
  const [market] = markets
  assert.ok(market !== undefined)
  gateway.request(market.ref.number, 'ann')
  let isOver = false
  const wait = gateway.live(market.ref.number, 2_000, 'ann').then(() => {
    isOver = true
  })
  clock.advance(1_999)
  await new Promise<void>((resolve) => setImmediate(resolve))
  assert.equal(isOver, false)
  market.replace([level(0.4, 1)], [])
  await wait
  await gateway.live(market.ref.number, 2_000, 'ann')
  gateway.stop()
  assert.equal(clock.timerCount, 0)
})

test('waits for a book during the first two seconds after a client demanded it, and not later', async () => {
  const { gateway, clock } = open()
  gateway.request(1, 'ann')
  clock.advance(2_000)
  gateway.request(1, 'ann')
  await gateway.live(1, 2_000, 'ann')
})

test('refuses demand reports that are unreadable or contain too many markets', async () => {
  const { answer } = open()
  await assert.rejects(answer(Buffer.from('nothing')))
})
