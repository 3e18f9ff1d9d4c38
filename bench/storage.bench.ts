// Times `has` and `put` as a market actor calls them for each trade, range reads, and streams of trades until the last
// trade is durable. Our storage is compared with a bare LMDB that receives our rows (the limit), a bare LMDB without
// packed rows, and LevelDB through `classic-level`. The folder is in the system's temporary folder.

import { systemClock } from '../engine/clock.ts'
import { VENUE_KEYS } from '../engine/ids.ts'
import { bookSnapshotLevels } from '../engine/limits.ts'
import type { MarketNumber } from '../engine/market/market.ts'
import { seededRandom } from '../engine/random.ts'
import { priceMicros, sizeMicros, TIME_ZERO, timeMs } from '../engine/units.ts'
import type { Storage, StoredTrade } from '../storage/contract/storage.ts'
import {
  aimedRow,
  type Bench,
  check,
  hashOf,
  inFolder,
  newTimes,
  type Row,
  record,
  timeInRotation,
  timesRow,
  withLmdb,
} from './harness.ts'
import { simLoad } from './sim-load.ts'
import { BareTrades } from './storage/bare-trades.ts'
import { inputsOf, putMarkets, putNew, type TradeInput } from './storage/inputs.ts'
import { timeFlushes } from './storage/streams.ts'

const SEED = 4
const PUT_BATCH = 10
const COMMIT_AFTER = 1_000
/** Target: minimum share of the bare LMDB's rate of range reads. */
const BARE_READS_MIN = 0.5
/** Target: maximum bytes of a trade on disk, including its indexes. */
const TRADE_BYTES_MAX = 200
/** Target: maximum bytes of a book snapshot with all stored levels. */
const SNAPSHOT_BYTES_MAX = 300
const SNAPSHOT_ROUNDS = 100
const SNAPSHOT_EVERY_MS = 10_000
const SNAPSHOT_START_MS = 1_795_176_000_000
const EVER = {
  ...{ fromMs: TIME_ZERO, toMs: timeMs(Number.MAX_SAFE_INTEGER), after: null },
  ...{ limit: 1_000_000, order: 'asc' as const },
}

export const bench: Bench = {
  name: 'storage',
  question:
    'How long does it take to put a trade, commit a thousand and read ranges, and how many trades are flushed a second?',
  excludes: 'actors, ring buffers, a cold page cache',
  async run({ isSmall }) {
    // The frames are dropped, because a larger heap would slow every commit by garbage collection.
    const { markets, trades } = simLoad({
      seed: SEED,
      marketsPerVenue: isSmall ? 20 : 100,
      frameCount: isSmall ? 4_000 : 300_000,
    })
    const stored = await withLmdb(async (lmdb) => {
      const numbers = putMarkets(lmdb, markets)
      await lmdb.committed()
      const emptyBytes = lmdb.sizeBytes()
      const inputs = inputsOf(trades, numbers)
      const ofMarkets = [...numbers.values()]
      const rows = await timePuts(lmdb, inputs)
      const bytes = (lmdb.sizeBytes() - emptyBytes) / inputs.length
      rows.push(aimedRow('pages a trade', bytes, { atMost: TRADE_BYTES_MAX }, 'bytes'))
      rows.push(...(await inFolder((folder) => timeReads(lmdb, ofMarkets, folder, isSmall))))
      rows.push(await snapshotRow(lmdb, ofMarkets, isSmall))
      return { rows, inputs, lines: checkedLines(lmdb, ofMarkets, inputs) }
    })
    const { inputs, lines } = stored
    const flushes = await inFolder((folder) =>
      timeFlushes(folder, markets, inputs, (lmdb, numbers) => {
        check(allLines(lmdb, numbers).join() === lines.join(), 'the flushed trades differ')
      }),
    )
    const checked = `${inputs.length} trades of ${markets.length} markets read from LMDB as they were put, and ${flushes.rowCount} rows alike from bare LMDB and LevelDB`
    const rows = [...stored.rows, ...flushes.rows]
    return { rows, state: { hash: hashOf(lines), checked, isRepeatable: true } }
  },
}

async function timePuts(lmdb: Storage, inputs: readonly TradeInput[]): Promise<Row[]> {
  const [times, commitTimes] = [newTimes(), newTimes()]
  for (let from = 0; from < inputs.length; from += COMMIT_AFTER) {
    const operationCount = Math.min(COMMIT_AFTER, inputs.length - from)
    const batch = (start: number, count: number) =>
      putNew(lmdb, inputs.slice(from + start, from + start + count))
    const warmUpCount = from === 0 ? operationCount / 2 : 0
    timeInRotation([{ times, batch }], { operationCount, batchCount: PUT_BATCH, warmUpCount })
    const startedMs = systemClock.monotonicMs()
    await lmdb.committed()
    record(commitTimes, systemClock.monotonicMs() - startedMs)
  }
  return [
    timesRow('has and put of a trade: LMDB', times),
    timesRow(`commit of up to ${COMMIT_AFTER} trades, from the last put`, commitTimes),
  ]
}

async function timeReads(
  { trades }: Storage,
  numbers: readonly MarketNumber[],
  folder: string,
  isSmall: boolean,
): Promise<readonly Row[]> {
  const bare = new BareTrades(folder)
  for (const venue of VENUE_KEYS) await bare.put(venue, trades.rangeOfVenue({ ...EVER, venue }))
  const rows: Row[] = []
  for (const [what, order, limit, isOfVenue] of [
    ['newest 100 of a market', 'desc', 100, false],
    ['oldest 500 of a market', 'asc', 500, false],
    ['newest 100 of a venue', 'desc', 100, true],
  ] as const) {
    const range = { ...EVER, order, limit }
    const query = { isReverse: order === 'desc', limit }
    const venueOf = (index: number) => (index % 2 === 0 ? 'a' : 'b')
    const reader = (read: (market: MarketNumber, index: number) => readonly unknown[]) => {
      const side = { times: newTimes(), readCount: 0 }
      const batch = (index: number) => {
        side.readCount += read(numbers[index % numbers.length] ?? 0, index).length
      }
      return Object.assign(side, { batch })
    }
    const ours = reader((market, index) =>
      isOfVenue
        ? trades.rangeOfVenue({ ...range, venue: venueOf(index) })
        : trades.range({ ...range, market }),
    )
    const theirs = reader((market, index) =>
      isOfVenue ? bare.ofVenue(venueOf(index), query) : bare.ofMarket(market, query),
    )
    timeInRotation([ours, theirs], { operationCount: isSmall ? 40 : 4_000, batchCount: 1 })
    check(ours.readCount === theirs.readCount, `${what}: both have as many rows`)
    const [bareNanos, ourNanos] = [theirs, ours].map(({ times }) => times.getValueAtPercentile(50))
    rows.push(timesRow(`range, ${what}: LMDB`, ours.times))
    rows.push(timesRow(`range, ${what}: bare LMDB, MessagePack`, theirs.times))
    const share = (bareNanos ?? 0) / (ourNanos ?? 1)
    const aim = { atLeast: BARE_READS_MIN }
    rows.push(aimedRow(`range, ${what}: rate of ours / bare`, share, aim))
  }
  await bare.close()
  return rows
}

/** Disk space of snapshots of full books, for this many markets every ten seconds. */
async function snapshotRow(
  lmdb: Storage,
  numbers: readonly MarketNumber[],
  isSmall: boolean,
): Promise<Row> {
  const random = seededRandom('bench snapshots')
  const emptyBytes = lmdb.sizeBytes()
  const side = (sign: 1 | -1) =>
    Array.from({ length: bookSnapshotLevels }, (_, level) => ({
      price: priceMicros(500_000 + sign * (level + 1 + random.below(2)) * 10_000),
      size: sizeMicros((1 + random.below(30_000)) * 10_000),
    }))
  const rounds = isSmall ? 1 : SNAPSHOT_ROUNDS
  for (let round = 0; round < rounds; round += 1) {
    for (const market of numbers) {
      const at = timeMs(SNAPSHOT_START_MS + round * SNAPSHOT_EVERY_MS)
      const depth = sizeMicros(random.below(1_000_000) * 10_000)
      lmdb.snapshots.put(market, {
        ...{ timeMs: at, bids: side(-1), asks: side(1) },
        ...{ bidDepth: depth, askDepth: depth },
      })
    }
    await lmdb.committed()
  }
  const bytes = (lmdb.sizeBytes() - emptyBytes) / (rounds * numbers.length)
  return aimedRow(
    'pages a snapshot of forty levels',
    bytes,
    { atMost: SNAPSHOT_BYTES_MAX },
    'bytes',
  )
}

function allLines({ trades }: Storage, numbers: readonly MarketNumber[]): string[] {
  return numbers.flatMap((market) =>
    trades.range({ ...EVER, market }).map((row) => `${market} ${textOf(row)}`),
  )
}

/**
 * Every trade of every market as a line. Throws unless the trades of each market and each venue are in order of time.
 */
function checkedLines(
  lmdb: Storage,
  numbers: readonly MarketNumber[],
  inputs: readonly TradeInput[],
): readonly string[] {
  const { trades } = lmdb
  const due = (isOf: (input: TradeInput) => boolean) =>
    inputs
      .filter(isOf)
      .sort((one, other) => one.trade.timeMs - other.trade.timeMs)
      .map(({ market, trade }) => `${market.number} ${textOf(trade)}`)
      .join('\n')
  for (const number of numbers) {
    const rows = trades.range({ ...EVER, market: number })
    const found = rows.map((row) => `${number} ${textOf(row)}`).join('\n')
    check(found === due(({ market }) => market.number === number), `${number}: the trades differ`)
  }
  for (const venue of VENUE_KEYS) {
    const rows = trades.rangeOfVenue({ ...EVER, venue })
    const found = rows.map(({ market, trade }) => `${market} ${textOf(trade)}`).join('\n')
    check(found === due(({ market }) => market.venue === venue), `${venue}: the trades differ`)
  }
  check(trades.count() === inputs.length, 'the count of all trades is right')
  return allLines(lmdb, numbers)
}

function textOf(row: TradeInput['trade'] & Partial<StoredTrade>): string {
  const fields = Object.entries(row).filter(([name]) => name !== 'ordinal')
  return JSON.stringify(fields.sort(([one], [other]) => (one < other ? -1 : 1)))
}
