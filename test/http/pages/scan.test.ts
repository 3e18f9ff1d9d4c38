// Reads random rows in pages from the real tables.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../../engine/clock.ts'
import { EngineError } from '../../../engine/errors.ts'
import { type Random, seededRandom } from '../../../engine/random.ts'
import { timeMs } from '../../../engine/units.ts'
import { readTimePage, type TimePage } from '../../../http/pages/scan.ts'
import { timeRangeOf } from '../../../http/pages/time-range.ts'
import type { Storage, StoredTrade } from '../../../storage/contract/storage.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { openMemoryStorage } from '../../support/reference/memory.ts'
import { NOON } from '../../support/worlds/builders.ts'
import { trade } from '../../support/worlds/stored.ts'

const isLong = process.env.TEST_LONG === '1'
const RANGES = isLong ? 2_000 : 30
const REFUSED_RANGES = isLong ? 200 : 6
const MARKET = { number: 1, venue: 'a' } as const

test(`returns every row of a random time range on exactly one page even if many rows share a millisecond`, async (t) => {
  let rowCount = 0
  let pageCount = 0
  let crowdMax = 0
  for (let seed = 0; seed < RANGES; seed += 1) {
    const random = seededRandom('histories', seed)
    const stored = new RandomRows(random)
    const order = random.next() < 0.5 ? 'asc' : 'desc'
    const isFiltered = random.next() < 0.3
    const limit = 1 + random.below(random.next() < 0.5 ? 20 : 500)
    const wanted = stored.rows(order).filter((row) => !isFiltered || row.side === 'buy')
    const seen: string[] = []
    let cursor: string | null = null
    let isFirst = true
    while (isFirst || cursor !== null) {
      isFirst = false
      const page: TimePage<StoredTrade> = await readTimePage({
        range: timeRangeOf({ ...(cursor === null ? {} : { cursor }), order }),
        limit,
        read: (query) => stored.storage.trades.range({ market: MARKET.number, ...query }),
        positionOf: (row) => row,
        accepts: isFiltered ? (row) => row.side === 'buy' : null,
        rowsPerTick: 1 + random.below(300),
        clock: systemClock,
      })
      assert.ok(page.rows.length <= limit && (page.cursor === null || page.rows.length === limit))
      seen.push(...page.rows.map((row) => row.nativeId))
      // New rows are newer than the page, so a client that reads newest first does not receive them.
      if (order === 'desc' && random.next() < 0.5) stored.arrive()
      cursor = page.cursor
      pageCount += 1
    }
    assert.deepEqual(
      seen,
      wanted.map((row) => row.nativeId),
      `seed ${seed}, ${order}, limit ${limit}`,
    )
    rowCount += seen.length
    crowdMax = Math.max(crowdMax, stored.crowdMax)
  }
  t.diagnostic(
    `${RANGES} ranges, ${rowCount} rows on ${pageCount} pages, up to ${crowdMax} in a millisecond`,
  )
  assert.ok(crowdMax > 900, `${crowdMax}`)
})

test('refuses a scan that finds too few matching rows before its deadline, and suggests a shorter time range', async () => {
  const clock = new ManualClock()
  const page = readTimePage({
    range: timeRangeOf({ order: 'desc' }),
    limit: 1,
    // An endless range in which no row passes the filter.
    read: ({ after }) => {
      clock.advance(1_000)
      return [{ timeMs: timeMs((after?.timeMs ?? NOON) - 1), ordinal: 0 }]
    },
    positionOf: (row) => row,
    accepts: () => false,
    rowsPerTick: 1,
    clock,
  })
  await assert.rejects(
    async () => page,
    (error) => error instanceof EngineError && error.status === 503 && /narrow/.test(error.detail),
  )
})

test('refuses a slow page without filters in a message that does not mention filters', async () => {
  const clock = new ManualClock()
  const page = readTimePage({
    range: timeRangeOf({ order: 'desc' }),
    limit: 500,
    // A reader that stops at its time limit, as for many markets on a slow machine.
    read: ({ after }) => {
      clock.advance(1_000)
      const row = { timeMs: timeMs((after?.timeMs ?? NOON) - 1), ordinal: 0 }
      return { rows: [row], isEnd: false }
    },
    positionOf: (row) => row,
    accepts: null,
    rowsPerTick: 1,
    clock,
  })
  const error = await settled(page)
  assert.ok(error instanceof EngineError && error.status === 503)
  assert.doesNotMatch(error.detail, /filter/)
})

test('returns each row once when a client continues with the time range that a refusal suggests', async () => {
  for (let seed = 0; seed < REFUSED_RANGES; seed += 1) {
    const random = seededRandom('refused', seed)
    const stored = new RandomRows(random)
    // Rows are seconds apart, because refusals contain whole seconds.
    for (let rows = 0; rows < 300; rows += 1) stored.arrive(1 + random.below(2_000))
    const order = random.next() < 0.5 ? 'asc' : 'desc'
    const isRare = random.next() < 0.5
    const accepts = ({ ordinal, side }: StoredTrade) => !isRare && ordinal === 0 && side === 'buy'
    const seen: string[] = []
    const pending: Partial<Record<'start_time' | 'end_time', number>>[] = [{}]
    let refusedCount = 0
    for (let query = pending.shift(); query !== undefined; query = pending.shift()) {
      const clock = new ManualClock()
      const isShort: boolean = refusedCount < 3
      try {
        const page = await readTimePage({
          range: timeRangeOf({ ...query, order }),
          limit: 500,
          read(slice) {
            if (isShort) clock.advance(1_000)
            return stored.storage.trades.range({ market: MARKET.number, ...slice })
          },
          positionOf: (row) => row,
          accepts,
          rowsPerTick: 20,
          clock,
        })
        seen.push(...page.rows.map((row) => row.nativeId))
      } catch (error) {
        assert.ok(error instanceof EngineError, String(error))
        refusedCount += 1
        const matches = [...error.detail.matchAll(/(start_time|end_time)=(\d+)/g)]
        const bounds = matches.map(([, name = '', value]) => ({ [name]: Number(value) }))
        // First requests the rows up to the reported time, then the remaining rows.
        pending.unshift(...bounds.map((bound) => ({ ...query, ...bound })))
      }
    }
    const wanted = stored.rows(order).filter(accepts)
    assert.deepEqual(
      seen,
      wanted.map((row) => row.nativeId),
      `seed ${seed}, ${order}`,
    )
    assert.ok(refusedCount > 0, `seed ${seed} was never refused`)
  }
})

test('includes the time that a request uses before its scan in the time limit of the request', async () => {
  const clock = new ManualClock()
  clock.advance(60_000)
  for (const [waitedMs, end] of [
    [4_400, 'answered'],
    [4_600, 'refused'],
  ] as const) {
    let count = 0
    const begunAtMs = clock.monotonicMs() - waitedMs
    const page = readTimePage({ ...endless({ clock, read: () => ++count > 3 }), begunAtMs })
    const error = await settled(page)
    assert.equal(error === null ? 'answered' : 'refused', end)
    assert.ok(error === null || (error instanceof EngineError && error.status === 503))
  }
  // The wait for a slot ends at the same deadline.
  const ends = { all: false }
  const running = [0, 1].map(() => settled(readTimePage(endless({ clock, read: () => ends.all }))))
  const begunAtMs = clock.monotonicMs() - 4_000
  const late = settled(readTimePage({ ...endless({ clock, read: () => false }), begunAtMs }))
  clock.advance(500)
  assert.ok((await late) instanceof EngineError)
  ends.all = true
  assert.deepEqual(await Promise.all(running), [null, null])
})

test('does not queue a page with many matching rows behind scans for rare rows', async () => {
  const clock = new ManualClock()
  const ends = { scans: false }
  const scans = [0, 1].map(() => settled(readTimePage(endless({ clock, read: () => ends.scans }))))
  const dense = readTimePage({
    range: timeRangeOf({ order: 'desc' }),
    limit: 20,
    read: ({ after }) => {
      const lastMs = after?.timeMs ?? NOON
      return Array.from({ length: 8 }, (_, index) => ({
        timeMs: timeMs(lastMs - 1 - index),
        ordinal: 0,
      }))
    },
    positionOf: (row) => row,
    accepts: ({ timeMs: atMs }) => (NOON - atMs) % 8 === 0,
    rowsPerTick: 1,
    clock,
  })
  let count = 0
  void Promise.resolve(dense).then(({ rows }) => {
    count = rows.length
  })
  for (let tick = 0; tick < 200; tick += 1) await new Promise((resolve) => setImmediate(resolve))
  assert.equal(count, 20)
  ends.scans = true
  await Promise.all(scans)
})

test('runs two scans at once, queues sixteen scans in order, and refuses further scans immediately', async () => {
  const clock = new ManualClock()
  const running = new Set<number>()
  const ended: number[] = []
  const most = { running: 0 }
  const pages = Array.from({ length: 20 }, (_, scan) =>
    settled(
      readTimePage(
        endless({
          clock,
          read(count) {
            // A second read shows that the scan has a slot. The sixth read ends the scan.
            if (count > 1) running.add(scan)
            most.running = Math.max(most.running, running.size)
            if (count < 6) return false
            running.delete(scan)
            ended.push(scan)
            return true
          },
        }),
      ),
    ),
  )
  const late = await Promise.all(pages.slice(18))
  assert.deepEqual(
    late.map((error) => error instanceof EngineError && [error.status, error.retryAfterSeconds]),
    [
      [503, 2],
      [503, 2],
    ],
  )
  assert.deepEqual(ended, [])
  assert.deepEqual(
    (await Promise.all(pages.slice(0, 18))).filter((error) => error !== null),
    [],
  )
  assert.equal(most.running, 2)
  assert.deepEqual(
    ended,
    Array.from({ length: 18 }, (_, scan) => scan),
  )
})

test('refuses a scan that waits too long in the queue, and counts the time limit from the start of the scan', async () => {
  const clock = new ManualClock()
  const ends = { first: false }
  const first = [0, 1].map(() => settled(readTimePage(endless({ clock, read: () => ends.first }))))
  let count = 0
  const patient = settled(readTimePage(endless({ clock, read: () => ++count > 40 })))
  clock.advance(1_900)
  const late = settled(readTimePage(endless({ clock, read: () => true })))
  const last = settled(readTimePage(endless({ clock, read: () => false })))
  assert.equal(await late, null)
  ends.first = true
  assert.deepEqual(await Promise.all(first), [null, null])
  // The scan was requested 3.9 seconds ago and has run for 2 seconds, which is below the limit.
  while (count < 20) await new Promise<void>((resolve) => setImmediate(resolve))
  clock.advance(2_000)
  assert.equal(await patient, null)
  clock.advance(4_000)
  assert.ok((await last) instanceof EngineError)
})

test('does not queue unfiltered pages of many markets behind scans', async () => {
  const clock = new ManualClock()
  const ends = { scans: false }
  const scans = [0, 1].map(() => settled(readTimePage(endless({ clock, read: () => ends.scans }))))
  let count = 0
  const page = readTimePage({
    ...endless({ clock, read: () => false }),
    accepts: null,
    read: () => ({ rows: [], isEnd: ++count === 5 }),
  })
  assert.deepEqual(await page, { rows: [], cursor: null })
  ends.scans = true
  await Promise.all(scans)
})

test('ends a running or queued scan when its client disconnects, and frees the place of the scan', async () => {
  const clock = new ManualClock()
  const controller = new AbortController()
  let count = 0
  const scans = Array.from({ length: 6 }, () => {
    const scan = endless({ clock, read: () => ++count < 0 })
    return settled(readTimePage({ ...scan, signal: controller.signal }))
  })
  while (count < 40) await new Promise<void>((resolve) => setImmediate(resolve))
  controller.abort()
  for (const error of await Promise.all(scans)) assert.ok(error instanceof EngineError)
  const readCount = count
  assert.equal(await settled(readTimePage(endless({ clock, read: () => true }))), null)
  assert.equal(count, readCount)
  assert.equal(clock.timerCount, 0)
})

test('ends a time slice of a scan at its time limit, however few rows were read', async () => {
  const clock = new ManualClock()
  let mostOfTurn = 0
  let rowsOfTurn = 0
  let count = 0
  const page = readTimePage({
    ...endless({ clock, read: () => false }),
    rowsPerTick: 10_000,
    read({ limit }) {
      // Reads ten rows a millisecond.
      clock.advance(limit / 10)
      rowsOfTurn += limit
      count += 1
      return { rows: [], isEnd: count === 50 }
    },
  })
  const check = () => {
    mostOfTurn = Math.max(mostOfTurn, rowsOfTurn)
    rowsOfTurn = 0
    if (count < 50) setImmediate(check)
  }
  check()
  await page
  assert.ok(mostOfTurn <= 128, `${mostOfTurn} rows in one turn`)
})

test('refuses a malformed or out-of-range cursor before reading rows', () => {
  const read = (cursor: string) => () => timeRangeOf({ cursor, order: 'desc' })
  for (const cursor of [
    '',
    '-1',
    '1.',
    '1.2.3',
    '1e3',
    '1.99999999999',
    `${'9'.repeat(16)}`,
    'x',
  ]) {
    assert.throws(read(cursor), (error) => error instanceof EngineError && error.status === 400)
  }
  assert.deepEqual(read('1700000000000.7')().after, { timeMs: 1_700_000_000_000, ordinal: 7 })
})

/** Options of an endless scan in which no row passes the filter. The scan ends when `read` returns true. */
function endless({ clock, read }: { clock: ManualClock; read: (count: number) => boolean }) {
  let count = 0
  return {
    range: timeRangeOf({ order: 'desc' }),
    limit: 1,
    read: () => {
      count += 1
      return { rows: [], isEnd: read(count) }
    },
    positionOf: (row: StoredTrade) => row,
    accepts: () => false,
    rowsPerTick: 1,
    clock,
  }
}

/** The error of a page, or null if the page resolves. */
async function settled(page: unknown): Promise<unknown> {
  try {
    await page
    return null
  } catch (error) {
    return error
  }
}

class RandomRows {
  readonly storage: Storage = openMemoryStorage()
  readonly #random: Random
  #at: number = NOON
  #count = 0
  crowdMax = 0

  constructor(random: Random) {
    this.#random = random
    const bursts = 1 + random.below(6)
    for (let burst = 0; burst < bursts; burst += 1) {
      this.#at += random.below(3)
      const crowd = random.next() < 0.1 ? 1 + random.below(1_000) : 1 + random.below(30)
      this.crowdMax = Math.max(this.crowdMax, crowd)
      for (let row = 0; row < crowd; row += 1) this.#put(this.#at)
    }
  }

  arrive(afterMs = 1 + this.#random.below(2)): void {
    this.#at += afterMs
    this.#put(this.#at)
  }

  #put(at: number): void {
    this.#count += 1
    const side = this.#random.next() < 0.2 ? 'buy' : 'sell'
    this.storage.trades.put(MARKET, trade(`t${this.#count}`, { timeMs: timeMs(at), side }))
  }

  rows(order: 'asc' | 'desc'): readonly StoredTrade[] {
    return this.storage.trades.range({
      market: MARKET.number,
      fromMs: timeMs(0),
      toMs: timeMs(NOON * 2),
      after: null,
      order,
      limit: 1_000_000,
    })
  }
}

test('reads the page of one account while another account has ten times as many scans', async () => {
  const clock = new ManualClock()
  const order: string[] = []
  const scan = (name: string, requester: readonly string[], pieces: number) => {
    let left = pieces
    return settled(
      readTimePage({
        range: timeRangeOf({ order: 'desc' }),
        limit: 1,
        read: ({ after }) => {
          clock.advance(3)
          order.push(name)
          left -= 1
          const row = { timeMs: timeMs((after?.timeMs ?? NOON) - 1), ordinal: 0 }
          return { rows: [row], isEnd: left <= 0 }
        },
        positionOf: (row) => row,
        accepts: () => false,
        rowsPerTick: 1,
        clock,
        requester,
      }),
    )
  }
  const flood = Array.from({ length: 20 }, () => scan('flood', ['flood', '10.0.0.1'], 100))
  const other = await scan('other', ['other', '10.0.0.2'], 10)
  assert.ok(!(other instanceof Error), String(other))
  // The other account waits for at most two slices of 20 ms, then gets every second slice.
  const behind = order.slice(20, order.lastIndexOf('other')).filter((name) => name === 'flood')
  assert.ok(behind.length <= 30, String(behind.length))
  const refused = (await Promise.all(flood)).filter((answer) => answer instanceof EngineError)
  assert.ok(refused.length >= 2)
})
