// A wallet's history read from a host with the venue's caps and faults: the true events in order, each once and
// each second whole, or a reading that says it is not complete. The truth is made before its rows are.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Clock, systemClock } from '../../../../../engine/clock.ts'
import { FetchError, HttpClient } from '../../../../../engine/fetch.ts'
import { silentLog } from '../../../../../engine/process/log.ts'
import { Metrics } from '../../../../../engine/process/metrics.ts'
import { type Random, seededRandom } from '../../../../../engine/random.ts'
import { timeMs } from '../../../../../engine/units.ts'
import { Intake } from '../../../../../engine/venues/polymarket/intake.ts'
import { readWalletHistory } from '../../../../../engine/venues/polymarket/wallets/history.ts'
import type { JsonHost } from '../../../../../engine/venues/polymarket/wallets/pages.ts'
import type { WalletEvent } from '../../../../../engine/wallet.ts'
import {
  PAST_START_S,
  randomPast,
  type StubFault,
  type StubPast,
  WALLET,
  WalletStub,
} from '../../../../support/fakes/wallet-stub.ts'

const ROUNDS = process.env.TEST_LONG === '1' ? 2_000 : 20
/** Long after every past made here. */
const NOW_MS = timeMs((PAST_START_S + 10_000_000) * 1_000)

/** Pauses end at once: only their order matters here. */
const hurried = (nowMs = NOW_MS): Clock => ({
  ...systemClock,
  nowMs: () => nowMs,
  after: (_, action) => {
    const immediate = setImmediate(action)
    return () => clearImmediate(immediate)
  },
})
/** For calls over sockets, whose time limits must not end at once. */
const quick: Clock = {
  ...systemClock,
  after: (delayMs, action) => systemClock.after(delayMs / 100, action),
}

interface ReadOptions {
  readonly fromS?: number
  /** Of the last event known. */
  readonly lastS?: number
  readonly clock?: Clock
  readonly signal?: AbortSignal
}

async function read(data: JsonHost, options: ReadOptions = {}) {
  const { fromS = 0, lastS, clock = hurried(), signal = new AbortController().signal } = options
  const metrics = new Metrics()
  const events: WalletEvent[] = []
  const secondsBegun = new Set<number>()
  const reach = await readWalletHistory(
    { clock, data, intake: new Intake({ log: silentLog, metrics }) },
    {
      ...{ address: WALLET, fromMs: timeMs(fromS * 1_000) },
      lastMs: lastS === undefined ? null : timeMs(lastS * 1_000),
    },
    (told) => {
      for (const second of new Set(told.map((event) => event.timeMs))) {
        assert.ok(!secondsBegun.has(second), 'a second came in two pieces')
        secondsBegun.add(second)
      }
      events.push(...told)
    },
    signal,
  )
  const isComplete = reach.isComplete && reach.isTailWhole
  return { events, ...reach, isComplete, isSettledWhole: reach.isComplete }
}

/** What makes one event differ from another, its role left out. */
const nameOf = ({ role: _, ...event }: WalletEvent) => JSON.stringify(event)

function assertTrue(got: readonly WalletEvent[], wanted: readonly WalletEvent[], what = ''): void {
  assert.deepEqual(got.map(nameOf), wanted.map(nameOf), what)
}

const seconds = (random: Random, count: number, most: number) =>
  Array.from({ length: count }, () => random.below(most))

test('[WALLETREAD5] a history is the true events in order, each second in one piece, whatever the length of a page and the order in a second', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const random = seededRandom('history', round)
    const past = randomPast(`history ${round}`, seconds(random, 1 + random.below(120), 8))
    const stub = new WalletStub(past)
    const cap = random.pick([500, 500, 400, 100, 137])
    const isRagged = random.below(3) === 0
    // A second always fits into a page here: what does not is the next test's.
    stub.pageRows = (limit) => Math.min(limit, isRagged ? 90 + random.below(cap) : cap)
    if (random.below(2) === 0) stub.shuffle = random
    stub.isStartExclusive = random.below(4) === 0
    const { events, isComplete } = await read(stub)
    assert.equal(isComplete, true, `round ${round}`)
    assertTrue(events, past.events, `round ${round}`)
    const places = past.rows.length
    assert.ok(stub.asks.length < 20 + places / 4, `${stub.asks.length} requests for ${places}`)
  }
})

test('[WALLETREAD5] a reading from a second on begins with that second whole, and the bare minimum of requests', async () => {
  const past = randomPast('later', [3, 3, 3, 3, 3], () => 1)
  const stub = new WalletStub(past)
  for (const isStartExclusive of [false, true]) {
    stub.isStartExclusive = isStartExclusive
    const { events } = await read(stub, { fromS: PAST_START_S + 2 })
    assertTrue(
      events,
      past.events.filter(({ timeMs }) => timeMs >= (PAST_START_S + 2) * 1_000),
    )
  }
  stub.isStartExclusive = false
  stub.asks = []
  const nothing = await read(stub, { fromS: PAST_START_S + 1_000 })
  assert.deepEqual([nothing.events, nothing.isComplete, stub.asks.length], [[], true, 2])
  stub.past = randomPast('none', [])
  stub.others = () => []
  assert.deepEqual((await read(stub)).events, [])
})

test('[WALLETREAD6] a fill among the takers is a taker’s, another a maker’s, and null when the list is cut short or fails', async () => {
  const past = randomPast('roles', seededSeconds('roles', 60, 6))
  const stub = new WalletStub(past)
  const roles = (events: readonly WalletEvent[]) => events.map(({ role }) => role)
  assert.deepEqual(roles((await read(stub)).events), roles(past.events))
  stub.pageRows = (limit) => Math.min(limit, 20)
  assert.deepEqual(roles((await read(stub)).events), roles(past.events), 'pages of 20')
  stub.tradesOffsetEnd = 40
  stub.pageRows = (limit) => (limit === 500 ? 500 : 20)
  const cut = await read(stub)
  assert.equal(cut.isComplete, true, 'roles are no part of being complete')
  let takerCount = 0
  for (const [index, { role }] of cut.events.entries()) {
    if (role === 'taker') takerCount += 1
    else assert.equal(role, null)
    if (role === 'taker') assert.equal(past.events[index]?.role, 'taker')
  }
  assert.ok(takerCount > 0 && takerCount <= 40, `${takerCount}`)
  for (const answer of [500, 'html', { error: 'no' }]) {
    stub.fault = ({ path }, truth) => (path === '/trades' ? answer : truth)
    const { events, isComplete } = await read(stub)
    assertTrue(events, past.events)
    assert.ok(events.every(({ role }) => role === null) && isComplete)
  }
  stub.tradesOffsetEnd = 3_000
  stub.pageRows = (limit) => limit
  stub.fault = ({ path }, truth) =>
    path === '/trades' && Array.isArray(truth) ? truth.map((row) => ({ ...row, size: 'x' })) : truth
  assert.ok((await read(stub)).events.every(({ role }) => role === null))
})

test('[WALLETREAD7] what is younger than a minute is told but not settled, and comes whole when read again', async () => {
  const past = randomPast('young', Array(200).fill(1), () => 1)
  const stub = new WalletStub(past)
  const nowS = PAST_START_S + 180
  stub.indexedToS = nowS - 30
  const first = await read(stub, { clock: hurried(timeMs(nowS * 1_000 + 999)) })
  assert.equal(first.settledToMs, (nowS - 60) * 1_000)
  assert.ok(first.events.some(({ timeMs }) => timeMs > first.settledToMs))
  stub.indexedToS = Number.MAX_SAFE_INTEGER
  const second = await read(stub, { fromS: first.settledToMs / 1_000 })
  const kept = first.events.filter(({ timeMs }) => timeMs < first.settledToMs)
  assertTrue([...kept, ...second.events], past.events)
})

test('[WALLETREAD8] a second beyond a page is read by offsets; one beyond them makes the reading incomplete, and the rest is still read', async () => {
  for (const [round, cap] of [500, 499, 200].entries()) {
    const past = randomPast(`dense ${round}`, [3, 700, 2, 500, 0, 350, 4], () => 1)
    const stub = new WalletStub(past)
    stub.pageRows = (limit) => Math.min(limit, cap)
    const { events, isComplete } = await read(stub)
    assert.equal(isComplete, true)
    assertTrue(events, past.events, `pages of ${cap}`)
  }
  const past = randomPast('too dense', [3, 700, 2, 5], () => 1)
  for (const last of [0, 4]) {
    const stub = new WalletStub({ ...past, rows: past.rows.slice(0, past.rows.length - last) })
    stub.activityOffsetMax = 600
    const { events, isComplete, settledToMs } = await read(stub)
    assert.equal(isComplete, false)
    assert.equal(settledToMs, NOW_MS - 60_000)
    const dense = (PAST_START_S + 1) * 1_000
    const rest = (list: readonly WalletEvent[]) => list.filter(({ timeMs }) => timeMs !== dense)
    if (last === 0) assertTrue(rest(events), rest(past.events))
    const known = new Set(past.events.map(nameOf))
    const tellsTruth = events.filter(
      (event) => event.kind === 'conversion' || known.has(nameOf(event)),
    )
    assert.equal(tellsTruth.length, events.length)
  }
})

test('[WALLETREAD9] an old answer, mixed rows or a moving order is asked for again or told as incomplete, never silently wrong', async () => {
  let completeCount = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    const random = seededRandom('faults', round)
    const past = randomPast(
      `faults ${round}`,
      random.below(4) === 0 ? [2, 300, 3, 4, 260, 1] : seconds(random, 80, 8),
      () => 1 + random.below(3),
    )
    const stub = new WalletStub(past)
    const cap = random.pick([500, 100, 60])
    stub.pageRows = (limit) => Math.min(limit, cap)
    if (random.below(3) === 0) stub.shuffle = random
    const fault = randomFault(random)
    stub.fault = (ask, truth) => (ask.path === '/traded' ? { traded: 1 } : fault(ask, truth))
    const { events, isComplete } = await read(stub)
    assert.ok(stub.asks.length < 3_000, `${stub.asks.length} requests`)
    if (!isComplete) continue
    completeCount += 1
    assertTrue(events, past.events, `round ${round}`)
  }
  assert.ok(completeCount > ROUNDS / 4, `only ${completeCount} of ${ROUNDS} were complete`)
})

/** Each kind with its own chance, from rare to always. */
function randomFault(random: Random): StubFault {
  const kind = random.pick([
    'old answer',
    'other start',
    'upside down',
    'garbage',
    'doubled border',
  ])
  const chance = random.pick([0.02, 0.1, 0.3, 1])
  let before: unknown = null
  // Always nothing could not be told from the truth.
  let isFaulty = false
  return ({ path, query }, truth) => {
    if (path !== '/activity' || !Array.isArray(truth)) return truth
    const old = before
    before = truth
    if (random.next() >= chance || (kind === 'nothing' && isFaulty)) {
      isFaulty = false
      return truth
    }
    isFaulty = true
    switch (kind) {
      case 'nothing':
        return []
      case 'old answer':
        return old ?? truth
      case 'other start':
        return [{ ...truth[0], timestamp: Number(query.get('start')) - 5 }, ...truth]
      case 'upside down':
        return truth.length > 1 && truth[0].timestamp !== truth.at(-1).timestamp
          ? [...truth].reverse()
          : truth
      case 'garbage':
        return [...truth.slice(1), { ...truth[0], timestamp: 'x' }]
      default:
        // The venue gives the last row of the page before once more.
        return Number(query.get('offset')) > 0 && truth.length > 0 && Array.isArray(old)
          ? [old.at(-1), ...truth.slice(0, -1)]
          : truth
    }
  }
}

test('[WALLETREAD9] an empty answer in any one place loses nothing', async () => {
  for (const cap of [500, 100, 70]) {
    const past = randomPast(`empty ${cap}`, [...seededSeconds('empty', 70, 8), 150, 2, 90], () => 2)
    for (let place = 0, asked = 1; place < asked; place += 1) {
      const stub = new WalletStub(past)
      stub.pageRows = (limit) => Math.min(limit, cap)
      asked = 0
      stub.fault = ({ path }, truth) => {
        if (path !== '/activity') return truth
        asked += 1
        return asked === place + 1 ? [] : truth
      }
      const { events, isComplete } = await read(stub)
      assert.equal(isComplete, true)
      assertTrue(events, past.events, `pages of ${cap}, answer ${place}`)
    }
  }
})

test('[WALLETREAD9] a row that cannot be read is left out and the reading is incomplete', async () => {
  const past = randomPast('unread', Array(20).fill(2))
  const [spoilt, ...rest] = past.rows.filter(({ type }) => type === 'TRADE')
  assert.ok(spoilt !== undefined && rest.length > 0)
  const stub = new WalletStub(past)
  for (const more of [{ price: 7 }, { timestamp: 'x' }, { proxyWallet: '0xother' }, { type: '' }]) {
    stub.fault = (_, truth) =>
      Array.isArray(truth)
        ? truth.map((row) => (row === spoilt ? { ...spoilt, ...more } : row))
        : truth
    const { events, isComplete } = await read(stub)
    assert.equal(isComplete, false)
    assert.equal(events.length, past.events.length - 1)
  }
  stub.others = () => []
  stub.fault = ({ path }) => (path === '/activity' ? [{}, null, 3] : [])
  const garbage = await read(stub)
  assert.deepEqual([garbage.events, garbage.isComplete], [[], false])
  assert.ok(garbage.settledToMs <= 1_000, 'nothing is known')
})

test('[WALLETREAD9] a venue that never ends its pages is left after a bounded number of them', async () => {
  let asked = 0
  const data: JsonHost = {
    getJson: async (path, query = {}) => {
      if (path !== '/activity') return []
      asked += 1
      const timestamp = Number(query.start) + 1 + Number(query.offset)
      return [row(Math.max(timestamp, PAST_START_S))]
    },
  }
  const [sample] = randomPast('endless', [1]).rows
  const row = (timestamp: number) => ({ ...sample, timestamp })
  const { isComplete, settledToMs } = await read(data)
  assert.equal(isComplete, false)
  assert.ok(settledToMs < NOW_MS - 60_000)
  assert.ok(asked <= 20_010, `${asked}`)
})

test('[WALLETREAD16] an answer without the last event known, or of nothing from a wallet that did something, proves nothing', async () => {
  const past = randomPast('proof', [1, 1, 1, 1])
  const stub = new WalletStub(past)
  const seconds = [...new Set(past.events.map((event) => event.timeMs / 1_000))]
  const lastS = seconds[1] ?? assert.fail()
  const from = { fromS: lastS + 5, lastS }
  const later = past.events.filter((event) => event.timeMs >= from.fromS * 1_000)
  const whole = await read(stub, from)
  assert.deepEqual([whole.isComplete, whole.settledToMs], [true, NOW_MS - 60_000])
  assertTrue(whole.events, later)
  stub.fault = ({ path }, truth) => (path === '/activity' ? [] : truth)
  const empty = await read(stub, from)
  assert.deepEqual([empty.events, empty.isTailWhole, empty.isSettledWhole], [[], false, true])
  assert.ok(empty.settledToMs <= from.fromS * 1_000, 'not settled beyond what is proven')
  // Of a wallet of which nothing is known the venue is asked otherwise.
  for (const [traded, positions] of [
    [3, []],
    [0, [{}]],
    [0, []],
  ] as const) {
    stub.others = ({ path }) => (path === '/traded' ? { traded } : positions)
    const { settledToMs, isTailWhole } = await read(stub)
    const isNobody = traded === 0 && positions.length === 0
    assert.deepEqual([settledToMs, isTailWhole], [isNobody ? NOW_MS - 60_000 : 0, isNobody])
  }
})

test('[WALLETREAD9] what is not sure of the last minute is told apart from what stays incomplete', async () => {
  const past = randomPast('sure', [1, 1, 1])
  const spoilt = past.rows.at(-1) ?? assert.fail()
  const lastMs = past.events.at(-1)?.timeMs ?? 0
  for (const [ageMs, isSettledWhole] of [
    [30_000, true],
    [90_000, false],
  ] as const) {
    const stub = new WalletStub(past)
    stub.fault = (_, truth) =>
      Array.isArray(truth)
        ? truth.map((one) => (one === spoilt ? { ...spoilt, price: 7 } : one))
        : truth
    const told = await read(stub, { clock: hurried(timeMs(lastMs + ageMs)) })
    assert.deepEqual([told.isSettledWhole, told.isTailWhole], [isSettledWhole, !isSettledWhole])
  }
})

async function overHttp(past: StubPast) {
  const stub = new WalletStub(past)
  const { url, stop } = await stub.listen()
  const data = new HttpClient({
    baseUrl: url,
    timeoutMs: 1_000_000,
    bodyBytesMax: 1 << 24,
    retries: 8,
    clock: quick,
    random: seededRandom('http'),
    log: silentLog,
    metrics: new Metrics(),
  })
  return {
    stub,
    data,
    stop: async () => {
      data.stop()
      await stop()
    },
  }
}

test('[WALLETREAD10] refusals, failures and pages of HTML are passed over; a venue that stays down rejects with FetchError', async () => {
  const past = randomPast('down', seededSeconds('down', 60, 20))
  const { stub, data, stop } = await overHttp(past)
  try {
    const random = seededRandom('down faults')
    stub.pageRows = (limit) => Math.min(limit, 120)
    stub.fault = (_, truth) =>
      random.below(4) === 0 ? random.pick([429, 500, 503, '<html>busy</html>']) : truth
    const { events, isComplete } = await read(data)
    assertTrue(events, past.events)
    assert.equal(isComplete, true)
    for (const answer of [500, 'html', 400, { error: 'no' }]) {
      stub.fault = ({ path }, truth) => (path === '/activity' ? answer : truth)
      await assert.rejects(read(data), FetchError)
    }
    stub.fault = (_, truth) => truth
    const aborter = new AbortController()
    stub.fault = ({ path }, truth) => {
      if (path === '/trades') aborter.abort()
      return truth
    }
    await assert.rejects(read(data, { signal: aborter.signal }), { kind: 'aborted' })
  } finally {
    await stop()
  }
})

function seededSeconds(seed: string, count: number, most: number): readonly number[] {
  return seconds(seededRandom(seed), count, most)
}
