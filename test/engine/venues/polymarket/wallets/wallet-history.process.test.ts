// Expected events are generated first. The stub derives its rows from them and adds the venue's limits and faults.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Clock, systemClock } from '../../../../../engine/clock.ts'
import { FetchError, HttpClient, type JsonReader } from '../../../../../engine/fetch.ts'
import { silentLog } from '../../../../../engine/process/log.ts'
import { Metrics } from '../../../../../engine/process/metrics.ts'
import { type Random, seededRandom } from '../../../../../engine/random.ts'
import { timeMs } from '../../../../../engine/units.ts'
import { DataApi } from '../../../../../engine/venues/polymarket/data-api.ts'
import { readWalletHistory } from '../../../../../engine/venues/polymarket/wallets/wallet-history.ts'
import type { WalletEvent } from '../../../../../engine/wallet.ts'
import { quietDrift } from '../../../../support/fakes/quiet-drift.ts'
import { venueCounters } from '../../../../support/fakes/venue-counters.ts'
import {
  PAST_START_S,
  randomPast,
  type StubFault,
  type StubPage,
  type StubPast,
  type StubRequest,
  WALLET,
  WalletStub,
} from '../../../../support/fakes/wallet-stub.ts'

const ROUNDS = process.env.TEST_LONG === '1' ? 2_000 : 20
/** A time long after every generated event. */
const NOW_MS = timeMs((PAST_START_S + 10_000_000) * 1_000)

/** Timers run at once. */
const immediateClock = (nowMs = NOW_MS): Clock => ({
  ...systemClock,
  nowMs: () => nowMs,
  after: (_, action) => {
    const immediate = setImmediate(action)
    return () => clearImmediate(immediate)
  },
})
/** Runs 100 times as fast, for requests over sockets. */
const quick: Clock = {
  ...systemClock,
  after: (delayMs, action) => systemClock.after(delayMs / 100, action),
}

interface ReadOptions {
  readonly fromS?: number
  /** Second of the newest known event. */
  readonly lastS?: number
  readonly clock?: Clock
  readonly signal?: AbortSignal
}

async function read(client: JsonReader, options: ReadOptions = {}) {
  const {
    fromS = 0,
    lastS,
    clock = immediateClock(),
    signal = new AbortController().signal,
  } = options
  const { counters, drift } = venueCounters('a')
  const events: WalletEvent[] = []
  const secondsBegun = new Set<number>()
  const reach = await readWalletHistory(
    { clock, data: new DataApi({ client, drift: quietDrift() }), counters },
    {
      ...{ address: WALLET, fromMs: timeMs(fromS * 1_000) },
      lastMs: lastS === undefined ? null : timeMs(lastS * 1_000),
    },
    (published) => {
      for (const second of new Set(published.map((event) => event.timeMs))) {
        assert.ok(!secondsBegun.has(second), 'a second was split')
        secondsBegun.add(second)
      }
      events.push(...published)
    },
    signal,
  )
  const isComplete = reach.isComplete && reach.isTailComplete
  const named = drift.entries().map(({ kind, name }) => `${kind}=${name}`)
  return { events, ...reach, isComplete, isSettledWhole: reach.isComplete, named }
}

/** A key of all fields of an event except its role. */
const nameOf = ({ role: _, ...event }: WalletEvent) => JSON.stringify(event)

function assertTrue(got: readonly WalletEvent[], wanted: readonly WalletEvent[], what = ''): void {
  assert.deepEqual(got.map(nameOf), wanted.map(nameOf), what)
}

const seconds = (random: Random, count: number, most: number) =>
  Array.from({ length: count }, () => random.below(most))

test('reports an activity row of an undocumented kind and counts the row as income', async () => {
  const counts = Array.from({ length: 300 }, () => 2)
  const past = randomPast('kinds', counts)
  const kinds = new Set(past.rows.map(({ type }) => type))
  assert.ok(kinds.has('SOMETHING_NEW') && kinds.has('REWARD') && kinds.has('DEPOSIT'))
  const { events, named } = await read(new WalletStub(past))
  assert.deepEqual(named, ['activity.type=SOMETHING_NEW'])
  assertTrue(events, past.events)
})

test('returns a wallet’s events in the correct order for any page length and any order of rows within a second', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const random = seededRandom('history', round)
    const past = randomPast(`history ${round}`, seconds(random, 1 + random.below(120), 8))
    const stub = new WalletStub(past)
    stub.others = unknown
    const cap = random.pick([1_000, 500, 100, 7])
    const isRagged = random.below(3) === 0
    stub.pageRows = (limit) => Math.min(limit, isRagged ? 5 + random.below(cap) : cap)
    if (random.below(2) === 0) stub.shuffle = random
    const { events, isComplete } = await read(stub)
    assert.equal(isComplete, true, `round ${round}`)
    assertTrue(events, past.events, `round ${round}`)
    const locations = past.rows.length
    assert.ok(
      stub.requests.length < 20 + locations / 4,
      `${stub.requests.length} requests for ${locations}`,
    )
  }
})

test('starts reading at a whole second and sends the minimum number of requests', async () => {
  const past = randomPast('later', [3, 3, 3, 3, 3], () => 1)
  const stub = new WalletStub(past)
  const { events } = await read(stub, { fromS: PAST_START_S + 2 })
  assertTrue(
    events,
    past.events.filter(({ timeMs }) => timeMs >= (PAST_START_S + 2) * 1_000),
  )
  stub.requests = []
  const nothing = await read(stub, { fromS: PAST_START_S + 1_000 })
  assert.deepEqual([nothing.events, nothing.isComplete, stub.requests.length], [[], true, 2])
  stub.past = randomPast('none', [])
  stub.others = unknown
  assert.deepEqual((await read(stub)).events, [])
})

test('reads a fill’s role as taker or maker, and as null when the trade list is truncated or fails', async () => {
  const past = randomPast('roles', seededSeconds('roles', 60, 6))
  const stub = new WalletStub(past)
  const roles = (events: readonly WalletEvent[]) => events.map(({ role }) => role)
  assert.deepEqual(roles((await read(stub)).events), roles(past.events))
  stub.pageRows = (limit) => Math.min(limit, 20)
  assert.deepEqual(roles((await read(stub)).events), roles(past.events), 'pages of 20')
  // `/v2/trades` has one row per transaction, with its total size and average price.
  stub.fault = ({ path }, rows) => (path === '/v2/trades' ? summedUp(rows) : rows)
  assert.deepEqual(roles((await read(stub)).events), roles(past.events), 'rows per transaction')
  stub.fault = ({ path, query }, rows, page) =>
    path === '/v2/trades' && query.has('cursor')
      ? { ...page, pagination: { ...page.pagination, has_more: true, next_cursor: null } }
      : rows
  const cut = await read(stub)
  assert.equal(cut.isComplete, true, 'missing roles do not affect completeness')
  let takerCount = 0
  for (const [index, { role }] of cut.events.entries()) {
    if (role === 'taker') takerCount += 1
    else assert.equal(role, null)
    if (role === 'taker') assert.equal(past.events[index]?.role, 'taker')
  }
  assert.ok(takerCount > 0 && takerCount <= 60, `${takerCount}`)
  for (const answer of [500, 'html', { error: 'no' }]) {
    stub.fault = ({ path }, rows) => (path === '/v2/trades' ? answer : rows)
    const { events, isComplete } = await read(stub)
    assertTrue(events, past.events)
    assert.ok(events.every(({ role }) => role === null) && isComplete)
  }
  stub.pageRows = (limit) => limit
  stub.fault = ({ path }, rows) =>
    path === '/v2/trades' ? rows.map((row) => ({ ...row, token_id: 7 })) : rows
  assert.ok((await read(stub)).events.every(({ role }) => role === null))
})

/** Combines the rows of each transaction, token and side. */
function summedUp(rows: readonly Readonly<Record<string, unknown>>[]) {
  const sums = new Map<string, Readonly<Record<string, unknown>>>()
  for (const row of rows) {
    const key = `${row.transaction_hash} ${row.token_id} ${row.side}`
    const before = sums.get(key)
    const size = Number(row.size) + Number(before?.size ?? 0)
    sums.set(key, { ...row, size, price: 0.512345678912 })
  }
  return [...sums.values()]
}

test('changes the `end` parameter of requests for a recent range every second to bypass the venue’s cache', async () => {
  const past = randomPast('young roles', [2, 2, 2])
  const ends = new Set<string | null>()
  const lastMs = past.events.at(-1)?.timeMs ?? 0
  for (const ageS of [1, 2, 700, 701]) {
    const stub = new WalletStub(past)
    await read(stub, { clock: immediateClock(timeMs(lastMs + ageS * 1_000)) })
    for (const { path, query } of stub.requests)
      if (path === '/v2/trades') ends.add(query.get('end'))
  }
  const fills = past.events.filter(({ kind }) => kind === 'buy' || kind === 'sell')
  assert.deepEqual(
    [...ends],
    [`${lastMs / 1_000 + 1}`, `${lastMs / 1_000 + 2}`, `${(fills.at(-1)?.timeMs ?? 0) / 1_000}`],
  )
})

test('reports events less than a minute old as unsettled, and completes these events in the next sync', async () => {
  const past = randomPast('young', Array(200).fill(1), () => 1)
  const stub = new WalletStub(past)
  const nowS = PAST_START_S + 180
  stub.indexedToS = nowS - 30
  const first = await read(stub, { clock: immediateClock(timeMs(nowS * 1_000 + 999)) })
  assert.equal(first.settledToMs, (nowS - 60) * 1_000)
  assert.ok(first.events.some(({ timeMs }) => timeMs > first.settledToMs))
  stub.indexedToS = Number.MAX_SAFE_INTEGER
  const second = await read(stub, { fromS: first.settledToMs / 1_000 })
  const stored = first.events.filter(({ timeMs }) => timeMs < first.settledToMs)
  assertTrue([...stored, ...second.events], past.events)
})

test('follows cursors within a second that exceeds one page, and reports where a failed cursor ended the read', async () => {
  for (const [round, cap] of [500, 499, 200].entries()) {
    const past = randomPast(`dense ${round}`, [3, 700, 2, 500, 0, 350, 4], () => 1)
    const stub = new WalletStub(past)
    stub.pageRows = (limit) => Math.min(limit, cap)
    const { events, isComplete } = await read(stub)
    assert.equal(isComplete, true)
    assertTrue(events, past.events, `pages of ${cap}`)
  }
  const past = randomPast('withheld', [3, 700, 2, 5], () => 1)
  const dense = (PAST_START_S + 1) * 1_000
  const before = past.events.filter(({ timeMs }) => timeMs < dense)
  for (const [fault, toMs, wanted] of [
    [noCursor, 0, []],
    [refused, dense, before],
  ] as const) {
    const stub = new WalletStub(past)
    stub.pageRows = (limit) => Math.min(limit, 200)
    stub.fault = fault
    stub.others = unknown
    const { events, isTailComplete, settledToMs } = await read(stub)
    assert.deepEqual([isTailComplete, settledToMs], [false, toMs])
    assertTrue(events, wanted)
  }
})

/** The page announces further rows without a cursor. */
const noCursor: StubFault = ({ path }, rows, page) =>
  path === '/v2/activity' && page.pagination.has_more === true
    ? { ...page, pagination: { ...page.pagination, next_cursor: null } }
    : rows
const refused: StubFault = ({ path, query }, rows) =>
  path === '/v2/activity' && query.has('cursor') ? 400 : rows

test('repeats requests with outdated, mixed or reordered responses, or reports the result as incomplete', async () => {
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
    stub.others = () => ({ data: { trades: 1 } })
    stub.fault = randomFault(random)
    const { events, isComplete } = await read(stub)
    assert.ok(stub.requests.length < 3_000, `${stub.requests.length} requests`)
    if (!isComplete) continue
    completeCount += 1
    assertTrue(events, past.events, `round ${round}`)
  }
  assert.ok(completeCount > ROUNDS / 4, `only ${completeCount} of ${ROUNDS} were complete`)
})

/** Successive reads would take a list for complete if it ended at the same row each time. */
const CUT_APART = 20

/** Each kind of fault has its own probability, from rare to always. */
function randomFault(random: Random): StubFault {
  const kinds = ['old answer', 'other start', 'upside down', 'garbage', 'same cursor', 'cut short']
  const kind = random.pick(kinds)
  const chance = random.pick([0.02, 0.1, 0.3, 1])
  let before: StubPage | null = null
  let sound = CUT_APART
  return ({ path, query }, rows, page) => {
    if (path !== '/v2/activity') return rows
    const old = before
    before = page
    sound += 1
    if (random.next() >= chance || (kind === 'cut short' && sound < CUT_APART)) return rows
    sound = 0
    const [first] = rows
    switch (kind) {
      case 'old answer':
        return old ?? rows
      case 'other start':
        return [{ ...first, timestamp: Number(query.get('start')) - 5 }, ...rows]
      case 'upside down':
        return first !== undefined && first.timestamp !== rows.at(-1)?.timestamp
          ? [...rows].reverse()
          : rows
      case 'garbage':
        return [...rows.slice(1), { ...first, timestamp: 'x' }]
      case 'same cursor': {
        const cursor = query.get('cursor')
        if (cursor === null) return rows
        return { ...page, pagination: { ...page.pagination, has_more: true, next_cursor: cursor } }
      }
      default: {
        const pagination = { ...page.pagination, has_more: false, next_cursor: null }
        return { data: rows.slice(0, Math.floor(rows.length / 2)), pagination }
      }
    }
  }
}

test('loses no wallet event when any single response is empty', async () => {
  for (const cap of [500, 100, 70]) {
    const past = randomPast(`empty ${cap}`, [...seededSeconds('empty', 70, 8), 150, 2, 90], () => 2)
    for (let position = 0, requested = 1; position < requested; position += 1) {
      const stub = new WalletStub(past)
      stub.pageRows = (limit) => Math.min(limit, cap)
      requested = 0
      stub.fault = ({ path }, rows, page) => {
        if (path !== '/v2/activity') return rows
        requested += 1
        // Half of the empty responses have the real page's cursor, and half have none.
        if (requested !== position + 1) return rows
        return position % 2 === 0 ? nothing : { ...page, data: page.data === null ? null : [] }
      }
      const { events, isComplete } = await read(stub)
      assert.equal(isComplete, true)
      assertTrue(events, past.events, `pages of ${cap}, answer ${position}`)
    }
  }
})

test('skips an unreadable activity row and marks the sync as incomplete', async () => {
  const past = randomPast('unread', Array(20).fill(2))
  const [spoilt, ...rest] = past.rows.filter(({ type }) => type === 'TRADE')
  assert.ok(spoilt !== undefined && rest.length > 0)
  const stub = new WalletStub(past)
  for (const more of [
    { price: 7 },
    { timestamp: 'x' },
    { proxy_wallet: '0xother' },
    { type: '' },
  ]) {
    stub.fault = (_, rows) => rows.map((row) => (row === spoilt ? { ...spoilt, ...more } : row))
    const { events, isComplete } = await read(stub)
    assert.equal(isComplete, false)
    assert.equal(events.length, past.events.length - 1)
  }
  stub.others = unknown
  stub.fault = ({ path }) => (path === '/v2/activity' ? [{}, null, 3] : [])
  const garbage = await read(stub)
  assert.deepEqual([garbage.events, garbage.isComplete], [[], false])
  assert.ok(garbage.settledToMs <= 1_000, 'nothing is settled')
})

test('stops reading endless pages of a wallet’s history after a limited number of pages', async () => {
  let requested = 0
  const [sample] = randomPast('endless', [1]).rows
  const client: JsonReader = {
    getJson: async (path) => {
      if (path !== '/v2/activity') return { data: [], pagination: { has_more: false } }
      requested += 1
      const data = [{ ...sample, timestamp: PAST_START_S + requested }]
      return { data, pagination: { has_more: true, next_cursor: `${requested}` } }
    },
  }
  const { isComplete, settledToMs } = await read(client)
  assert.equal(isComplete, false)
  assert.ok(settledToMs < NOW_MS - 60_000)
  assert.ok(requested <= 10_010, `${requested}`)
})

test('rejects a response without the last known event, and an empty response for an active wallet', async () => {
  const past = randomPast('proof', [1, 1, 1, 1])
  const stub = new WalletStub(past)
  const seconds = [...new Set(past.events.map((event) => event.timeMs / 1_000))]
  const lastS = seconds[1] ?? assert.fail()
  const from = { fromS: lastS + 5, lastS }
  const later = past.events.filter((event) => event.timeMs >= from.fromS * 1_000)
  const full = await read(stub, from)
  assert.deepEqual([full.isComplete, full.settledToMs], [true, NOW_MS - 60_000])
  assertTrue(full.events, later)
  stub.fault = ({ path }, rows) => (path === '/v2/activity' ? nothing : rows)
  const empty = await read(stub, from)
  assert.deepEqual([empty.events, empty.isTailComplete, empty.isSettledWhole], [[], false, true])
  assert.ok(empty.settledToMs <= from.fromS * 1_000, 'not settled beyond what is proven')
  // Without known events, the wallet exists only if these paths return data.
  for (const [data, positions] of [
    [{ trades: 3 }, []],
    [{ trades: 0 }, [{}]],
    [null, [{}]],
    [null, []],
  ] as const) {
    const page = { data: positions, pagination: { has_more: false } }
    stub.others = ({ path }) => (path === '/v2/user-stats' ? { data } : page)
    const { settledToMs, isTailComplete } = await read(stub)
    const isNobody = data === null && positions.length === 0
    assert.deepEqual([settledToMs, isTailComplete], [isNobody ? NOW_MS - 60_000 : 0, isNobody])
  }
})

test('distinguishes a result that is uncertain for the last minute from a permanently incomplete result', async () => {
  const past = randomPast('sure', [1, 1, 1])
  const spoilt = past.rows.at(-1) ?? assert.fail()
  const lastMs = past.events.at(-1)?.timeMs ?? 0
  for (const [ageMs, isSettledWhole] of [
    [30_000, true],
    [90_000, false],
  ] as const) {
    const stub = new WalletStub(past)
    stub.fault = (_, rows) => rows.map((one) => (one === spoilt ? { ...spoilt, price: 7 } : one))
    const published = await read(stub, { clock: immediateClock(timeMs(lastMs + ageMs)) })
    assert.deepEqual(
      [published.isSettledWhole, published.isTailComplete],
      [isSettledWhole, !isSettledWhole],
    )
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

test('recovers from failures and HTML pages, and rejects with FetchError when the venue remains unavailable', async () => {
  const past = randomPast('down', seededSeconds('down', 60, 20))
  const { stub, data, stop } = await overHttp(past)
  try {
    const random = seededRandom('down faults')
    stub.pageRows = (limit) => Math.min(limit, 120)
    stub.fault = (_, rows) =>
      random.below(4) === 0 ? random.pick([429, 500, 503, '<html>busy</html>']) : rows
    const { events, isComplete } = await read(data)
    assertTrue(events, past.events)
    assert.equal(isComplete, true)
    for (const answer of [500, 'html', 400]) {
      stub.fault = ({ path }, rows) => (path === '/v2/activity' ? answer : rows)
      await assert.rejects(read(data), FetchError)
    }
    stub.fault = ({ path }, rows) => (path === '/v2/activity' ? { error: 'no' } : rows)
    stub.others = unknown
    const odd = await read(data)
    assert.deepEqual([odd.events, odd.isTailComplete, odd.settledToMs <= 1_000], [[], false, true])
    const aborter = new AbortController()
    stub.fault = ({ path }, rows) => {
      if (path === '/v2/trades') aborter.abort()
      return rows
    }
    await assert.rejects(read(data, { signal: aborter.signal }), { kind: 'aborted' })
  } finally {
    await stop()
  }
})

const nothing: StubPage = { data: [], pagination: { has_more: false, next_cursor: null } }

/** The venue's responses for an unknown wallet. */
function unknown({ path }: StubRequest): unknown {
  return path === '/v2/user-stats' ? { data: null } : nothing
}

function seededSeconds(seed: string, count: number, most: number): readonly number[] {
  return seconds(seededRandom(seed), count, most)
}
