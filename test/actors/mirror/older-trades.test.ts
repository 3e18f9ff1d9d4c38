import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { MirrorTradeLog } from '../../../actors/mirror/logs.ts'
import { answerOlderTrades, OlderTrades } from '../../../actors/mirror/older-trades.ts'
import type { RunView } from '../../../actors/views.ts'
import { seededRandom } from '../../../engine/random.ts'
import { timeMs, usdMicros } from '../../../engine/units.ts'
import type { StoredTrade } from '../../../storage/contract/storage.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { marketRef, NOON, trade } from '../../support/worlds/builders.ts'

const RUNS: readonly RunView[] = [
  { number: 4, epoch: 'e4', startedAtMs: NOON, endOffset: 900 },
  { number: 5, epoch: 'e5', startedAtMs: NOON, endOffset: null },
]
const MARKET = marketRef('one')

function storedTrade(run: number, offset: number): StoredTrade {
  const { nativeId, price, size, side, maker, taker, txHash, isBlock } = trade(
    'one',
    `t${run}-${offset}`,
  )
  const own = { nativeId, price, size, side, maker, taker, txHash, isBlock }
  const position = { timeMs: NOON, ordinal: offset, outcomeIndex: 0, usd: usdMicros(4_000_000) }
  return { ...own, ...position, receivedAtMs: timeMs(NOON + offset), run, offset, seq: offset }
}

/** The engine has deleted offset 300 of the first run. */
const ALL = new Map(
  RUNS.map(({ number }) => [
    number,
    Array.from({ length: number === 4 ? 900 : 700 }, (_, index) =>
      storedTrade(number, index + 1),
    ).filter((row) => number !== 4 || row.offset !== 300),
  ]),
)

/** The engine answers only while `answers` is true. */
function open() {
  const [first, present] = RUNS
  assert.ok(first !== undefined && present !== undefined)
  const clock = new ManualClock(NOON)
  const state = { answers: true, requestCount: 0 }
  const engine = answerOlderTrades({
    tradeLog: {
      present,
      runs: () => RUNS,
      range: ({ run, offset, limit }) =>
        (ALL.get(run) ?? [])
          .filter((row) => (row.offset ?? 0) > offset)
          .slice(0, limit)
          .map((row) => ({ market: MARKET.number, trade: row })),
      rangeOf: () => [],
      losses: () => [],
    },
    catalog: { byNumber: () => ({ ref: MARKET }) },
  })
  const request = (body: Uint8Array) => {
    state.requestCount += 1
    return state.answers ? engine(body) : Promise.reject(new Error('nobody leads'))
  }
  const older = new OlderTrades({ clock, request, refOf: () => MARKET })
  const log = new MirrorTradeLog(RUNS, present, older)
  const hold = (run: number, offset: number) => {
    const stored = ALL.get(run)?.find((row) => row.offset === offset)
    if (stored === undefined) return
    const { receivedAtMs, run: _, offset: __, seq: ___, ...own } = stored
    const stamps = { offset, seq: offset, receivedAtMs, venueTimeMs: own.timeMs }
    log.push(run, { kind: 'trade', market: MARKET, ...stamps, trade: own })
  }
  /** Reads page by page, like a stream that resumes. */
  const readAll = async (run: number, from: number): Promise<number[]> => {
    const offsets: number[] = []
    for (let offset = from; ; ) {
      for (let coming = log.arrival({ run, offset }); coming !== null; ) {
        let isHere = false
        void coming.then(() => {
          isHere = true
        })
        for (; !isHere; clock.advance(100)) await nextTurn()
        coming = log.arrival({ run, offset })
      }
      const rows = log.range({ run, offset, limit: 64 })
      if (rows.length === 0) return offsets
      offsets.push(...rows.map(({ trade: row }) => row.offset ?? 0))
      offset = offsets.at(-1) ?? 0
    }
  }
  return { state, log, hold, readAll }
}

const offsetsOf = (run: number, from: number) =>
  (ALL.get(run) ?? []).flatMap(({ offset }) => (offset !== null && offset > from ? offset : []))

test('returns all trades of the engine in order, whichever of the trades the gateway has in memory', async () => {
  const random = seededRandom('older trades')
  for (const share of [0, 0.3, 0.97, 1]) {
    const { hold, readAll } = open()
    for (const { number } of RUNS) {
      for (const offset of offsetsOf(number, 0)) if (random.next() < share) hold(number, offset)
    }
    for (const { number } of RUNS) {
      for (const from of [0, 255, 256, 299, 300, 511, 650]) {
        assert.deepEqual(await readAll(number, from), offsetsOf(number, from), `${share} ${from}`)
      }
    }
  }
})

test('requests no trades from the engine when the gateway has all requested trades in memory', async () => {
  const { state, hold, readAll } = open()
  for (const offset of offsetsOf(5, 0)) hold(5, offset)
  assert.deepEqual(await readAll(5, 400), offsetsOf(5, 400))
  // A read may request trades only if the newest trade alone is in memory.
  assert.ok(state.requestCount <= 1)
})

test('returns the trades in the gateway’s memory when the engine does not answer within seconds', async () => {
  const { state, hold, readAll } = open()
  for (const offset of offsetsOf(4, 600)) hold(4, offset)
  state.answers = false
  assert.deepEqual(await readAll(4, 0), offsetsOf(4, 600))
  assert.equal(state.requestCount, 10)
})
