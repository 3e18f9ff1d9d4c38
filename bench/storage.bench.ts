// What does storing and reading trades cost? The trades are the simulated world's. Timed: `has` and
// `put`, as a market's actor does for each trade; the wait from the last put of a thousand until they
// are on the platter; the newest 100 of a market and of a venue, and the oldest 500 of a market, after
// commit.
// MemoryStorage, the naive twin, does the same beside it.
// Excluded: actors and rings. The folder is a new one under the system's temporary folder, so that the
// disk is this machine's, and everything read is in the page cache.

import { systemClock } from '../engine/clock.ts'
import { VENUE_KEYS } from '../engine/ids.ts'
import type { MarketNumber } from '../engine/market.ts'
import { complement, notionalMicros, TIME_ZERO, timeMs } from '../engine/units.ts'
import type { SimTrade } from '../engine/venues/simulator/model.ts'
import { openMemoryStorage } from '../storage/memory.ts'
import type { Storage, StoredTrade, TradedMarket } from '../storage/storage.ts'
import {
  type Bench,
  check,
  hashOf,
  newTimes,
  type Row,
  ratioRow,
  record,
  timeInTurns,
  timesRow,
  withLmdb,
} from './harness.ts'
import { listingOf, simLoad } from './sim-load.ts'

const SEED = 4
const PUT_BATCH = 10
const COMMIT_AFTER = 1_000
const END_OF_TIME = timeMs(Number.MAX_SAFE_INTEGER)

export const bench: Bench = {
  name: 'storage',
  question: 'How long do putting a trade, committing a thousand, and reading ranges take?',
  excludes: 'actors, rings, a cold page cache',
  async run({ isSmall }) {
    const load = simLoad({
      seed: SEED,
      marketsPerVenue: isSmall ? 20 : 100,
      frameCount: isSmall ? 4_000 : 150_000,
    })
    return withLmdb(async (lmdb) => {
      const memory = openMemoryStorage()
      const numbers = new Map<string, MarketNumber>()
      for (const market of load.markets) {
        const number = lmdb.markets.put(listingOf(market))
        check(memory.markets.put(listingOf(market)) === number, 'both number markets alike')
        numbers.set(market.listing.nativeId, number)
      }
      await lmdb.committed()
      const inputs = inputsOf(load.trades, numbers)
      const rows = [
        ...(await timePuts(lmdb, memory, inputs)),
        ...timeReads(lmdb, memory, { numbers: [...numbers.values()], isSmall }),
      ]
      const lines = compareAll(lmdb, memory, numbers)
      const checked = `${inputs.length} trades of ${numbers.size} markets read alike from LMDB and from memory`
      return { rows, state: { hash: hashOf(lines), checked, isRepeatable: true } }
    })
  },
}

interface Input {
  readonly market: TradedMarket
  readonly trade: Omit<StoredTrade, 'ordinal'>
}

function inputsOf(
  trades: readonly SimTrade[],
  numbers: ReadonlyMap<string, MarketNumber>,
): readonly Input[] {
  const inputs: Input[] = []
  for (const trade of trades) {
    const market = numbers.get(trade.market.listing.nativeId)
    if (market === undefined) continue
    const isFirst = trade.outcomeIndex === 0
    const stored = {
      nativeId: trade.id,
      timeMs: trade.atMs,
      price: isFirst ? trade.price : complement(trade.price),
      size: trade.size,
      side: trade.side,
      outcomeIndex: trade.outcomeIndex,
      usd: notionalMicros(trade),
      maker: trade.makers[0]?.wallet.address ?? null,
      taker: trade.taker.address,
      txHash: trade.txHash,
      receivedAtMs: timeMs(trade.atMs + 3),
      run: 1,
      offset: inputs.length + 1,
      seq: inputs.length + 1,
    }
    inputs.push({ market: { number: market, venue: trade.market.listing.venue }, trade: stored })
  }
  return inputs
}

async function timePuts(
  lmdb: Storage,
  memory: Storage,
  inputs: readonly Input[],
): Promise<readonly Row[]> {
  const lmdbTimes = newTimes()
  const memoryTimes = newTimes()
  const commitTimes = newTimes()
  const putInto = (storage: Storage, from: number) => (start: number, count: number) => {
    for (let index = from + start; index < from + start + count; index += 1) {
      const input = inputs[index]
      if (input === undefined) continue
      const { market, trade } = input
      if (!storage.trades.has(market.number, trade.nativeId)) storage.trades.put(market, trade)
    }
  }
  for (let from = 0; from < inputs.length; from += COMMIT_AFTER) {
    const operationCount = Math.min(COMMIT_AFTER, inputs.length - from)
    timeInTurns(
      [
        { times: lmdbTimes, batch: putInto(lmdb, from) },
        { times: memoryTimes, batch: putInto(memory, from) },
      ],
      { operationCount, batchCount: PUT_BATCH, warmUpCount: from === 0 ? operationCount / 2 : 0 },
    )
    const startedMs = systemClock.monotonicMs()
    await lmdb.committed()
    record(commitTimes, systemClock.monotonicMs() - startedMs)
  }
  return [
    timesRow('has and put of a trade: LMDB', lmdbTimes),
    timesRow('has and put of a trade: memory', memoryTimes),
    ratioRow('has and put: LMDB / memory', lmdbTimes, memoryTimes),
    timesRow(`commit of up to ${COMMIT_AFTER} trades, from the last put`, commitTimes),
  ]
}

function timeReads(
  lmdb: Storage,
  memory: Storage,
  { numbers, isSmall }: { numbers: readonly MarketNumber[]; isSmall: boolean },
): readonly Row[] {
  const rows: Row[] = []
  const operationCount = isSmall ? 40 : 4_000
  for (const [what, order, limit, isOfVenue] of [
    ['newest 100 of a market', 'desc', 100, false],
    ['oldest 500 of a market', 'asc', 500, false],
    ['newest 100 of a venue', 'desc', 100, true],
  ] as const) {
    const lmdbTimes = newTimes()
    const memoryTimes = newTimes()
    let balance = 0
    const readFrom = (storage: Storage, sign: 1 | -1) => (from: number, count: number) => {
      for (let index = from; index < from + count; index += 1) {
        const range = { fromMs: TIME_ZERO, toMs: END_OF_TIME, after: null, order, limit }
        const market = numbers[index % numbers.length] ?? 0
        const rows = isOfVenue
          ? storage.trades.rangeOfVenue({ ...range, venue: index % 2 === 0 ? 'a' : 'b' })
          : storage.trades.range({ ...range, market })
        balance += sign * rows.length
      }
    }
    timeInTurns(
      [
        { times: lmdbTimes, batch: readFrom(lmdb, 1) },
        { times: memoryTimes, batch: readFrom(memory, -1) },
      ],
      { operationCount, batchCount: 1 },
    )
    check(balance === 0, `${what}: both have as many rows`)
    rows.push(timesRow(`range, ${what}: LMDB`, lmdbTimes))
    rows.push(timesRow(`range, ${what}: memory`, memoryTimes))
    rows.push(ratioRow(`range, ${what}: LMDB / memory`, lmdbTimes, memoryTimes))
  }
  return rows
}

/** Every trade of every market and venue, from both; throws where they differ. */
function compareAll(
  lmdb: Storage,
  memory: Storage,
  numbers: ReadonlyMap<string, MarketNumber>,
): readonly string[] {
  const lines: string[] = []
  for (const market of numbers.values()) {
    const range = { market, fromMs: TIME_ZERO, toMs: END_OF_TIME, after: null, limit: 1_000_000 }
    const kept = lmdb.trades.range({ ...range, order: 'asc' }).map((row) => textOf(row))
    const twin = memory.trades.range({ ...range, order: 'asc' }).map((row) => textOf(row))
    check(kept.join('\n') === twin.join('\n'), `market ${market}: the trades differ`)
    lines.push(...kept)
  }
  check(lmdb.trades.count() === lines.length, 'the count of all trades is right')
  for (const venue of VENUE_KEYS) {
    const range = { venue, fromMs: TIME_ZERO, toMs: END_OF_TIME, after: null, limit: 1_000_000 }
    const [kept, twin] = [lmdb, memory].map((storage) =>
      storage.trades
        .rangeOfVenue({ ...range, order: 'asc' })
        .map((row) => `${row.market} ${row.venueOrdinal} ${textOf(row.trade)}`),
    )
    check(kept?.join('\n') === twin?.join('\n'), `venue ${venue}: the trades differ`)
  }
  return lines
}

/** A trade with its fields in one order. */
function textOf(row: StoredTrade): string {
  return JSON.stringify(Object.entries(row).sort(([one], [other]) => (one < other ? -1 : 1)))
}
