// Cost of storing and reading trades of the simulated world. Timed: `has` and `put`, as a market actor does for each
// trade; the wait from the last put of a thousand until they are durable; the newest 100 of a market and of a venue,
// and the oldest 500 of a market, after commit. MemoryStorage, the reference implementation, does the same. Ranges are
// also read from a bare LMDB with one trade per MessagePack row, the lmdb-js default.
// Then a stream of trades is stored in many event-loop ticks until the last is durable: ours; a bare LMDB that receives
// our exact rows (the limit); one that receives each of our packed rows as a separate row; and LevelDB through
// `classic-level`. Each continues while its disk writes, like a feed; the bare ones commit the rows of a thousand
// trades at a time.
// Excluded: actors and in-memory histories. The folder is under the system's temporary folder, so the disk is this
// machine's; everything read is in the page cache.

import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { systemClock } from '../engine/clock.ts'
import { VENUE_KEYS, type VenueKey } from '../engine/ids.ts'
import { bookSnapshotLevels } from '../engine/limits.ts'
import type { MarketNumber } from '../engine/market/market.ts'
import { seededRandom } from '../engine/random.ts'
import {
  complement,
  notionalMicros,
  priceMicros,
  sizeMicros,
  TIME_ZERO,
  timeMs,
} from '../engine/units.ts'
import type { SimMarket, SimTrade } from '../engine/venues/simulator/model.ts'
import type { Storage, StoredTrade } from '../storage/contract/storage.ts'
import { openMemoryStorage } from '../test/support/reference/memory.ts'
import {
  aimedRow,
  type Bench,
  check,
  figureRow,
  hashOf,
  inFolder,
  newTimes,
  type Row,
  ratioRow,
  record,
  timeInRotation,
  timesRow,
  withLmdb,
} from './harness.ts'
import { median } from './latency-recorder.ts'
import { listingOf, simLoad } from './sim-load.ts'
import {
  BareLmdb,
  BareTrades,
  Level,
  type RowStore,
  recordedRows,
  rowLine,
  type TradeInput,
  unpackedRows,
  type WrittenRow,
} from './storage/peers.ts'

const SEED = 4
const PUT_BATCH = 10
const COMMIT_AFTER = 1_000
/** Trades per event-loop tick. */
const TICK_TRADES = 100
/** Trades of one round of the stream. */
const ROUND_TRADES = 7 * COMMIT_AFTER
const WARM_UP_STORAGES = 3
/** Target: minimum share of the bare LMDB's write rate. */
const BARE_SHARE_MIN = 0.7
/** Target: minimum share of its range read rate. */
const BARE_READS_MIN = 0.5
/** Maximum bytes of a trade on disk, including its indexes. */
const TRADE_BYTES_MAX = 200
/** Maximum bytes of a book snapshot with all stored levels. */
const SNAPSHOT_BYTES_MAX = 300
const SNAPSHOT_ROUNDS = 100
const SNAPSHOT_EVERY_MS = 10_000
const SNAPSHOT_START_MS = 1_795_176_000_000
const END_OF_TIME = timeMs(Number.MAX_SAFE_INTEGER)

export const bench: Bench = {
  name: 'storage',
  question:
    'How long do putting a trade, committing a thousand, and reading ranges take, and how many are stored and flushed a second?',
  excludes: 'actors, rings, a cold page cache',
  async run({ isSmall }) {
    // Releases its frames, since a large heap would slow every commit by garbage collection.
    const { markets, trades } = simLoad({
      seed: SEED,
      marketsPerVenue: isSmall ? 20 : 100,
      frameCount: isSmall ? 4_000 : 300_000,
    })
    const retained = await withLmdb(async (lmdb) => {
      const memory = openMemoryStorage()
      const numbers = putMarkets(lmdb, markets)
      await lmdb.committed()
      const emptyBytes = lmdb.sizeBytes()
      for (const [id, number] of putMarkets(memory, markets))
        check(numbers.get(id) === number, 'both number markets alike')
      await lmdb.committed()
      const inputs = inputsOf(trades, numbers)
      const rows = [
        ...(await timePuts(lmdb, memory, inputs)),
        aimedRow(
          'pages a trade',
          (lmdb.sizeBytes() - emptyBytes) / inputs.length,
          { atMost: TRADE_BYTES_MAX },
          'bytes',
        ),
        ...(await inFolder((folder) =>
          timeReads(lmdb, memory, { folder, numbers: [...numbers.values()], isSmall }),
        )),
        await snapshotRow(lmdb, [...numbers.values()], isSmall),
      ]
      return { rows, inputs, numbers, lines: compareAll(lmdb, memory, numbers) }
    })
    const { inputs, numbers, lines } = retained
    const flushes = await inFolder((folder) => timeFlushes(folder, markets, inputs, lines))
    const checked = `${inputs.length} trades of ${numbers.size} markets read alike from LMDB and from memory, and ${flushes.rowCount} rows alike from bare LMDB and LevelDB`
    const rows = [...retained.rows, ...flushes.rows]
    return { rows, state: { hash: hashOf(lines), checked, isRepeatable: true } }
  },
}

type Markets = readonly SimMarket[]

function putMarkets(storage: Storage, markets: Markets): ReadonlyMap<string, MarketNumber> {
  const numbers = new Map<string, MarketNumber>()
  for (const market of markets) {
    numbers.set(market.listing.nativeId, storage.markets.put(listingOf(market)))
  }
  return numbers
}

function inputsOf(
  trades: readonly SimTrade[],
  numbers: ReadonlyMap<string, MarketNumber>,
): readonly TradeInput[] {
  const inputs: TradeInput[] = []
  for (const trade of trades) {
    const market = numbers.get(trade.market.listing.nativeId)
    if (market === undefined) continue
    const isFirst = trade.outcomeIndex === 0
    // Venue b reports neither wallets nor transactions.
    const isNamed = trade.market.listing.venue === 'a'
    const stored = {
      nativeId: flat(nativeIdOf(trade, inputs.length)),
      timeMs: trade.atMs,
      price: isFirst ? trade.price : complement(trade.price),
      size: trade.size,
      side: trade.side,
      outcomeIndex: trade.outcomeIndex,
      usd: notionalMicros(trade),
      maker: isNamed ? flat(trade.makers[0]?.wallet.address ?? null) : null,
      taker: isNamed ? flat(trade.taker.address) : null,
      txHash: isNamed ? flat(trade.txHash) : null,
      isBlock: false,
      receivedAtMs: timeMs(trade.atMs + 3),
      run: 1,
      offset: inputs.length + 1,
      seq: inputs.length + 1,
    }
    inputs.push({ market: { number: market, venue: trade.market.listing.venue }, trade: stored })
  }
  return inputs
}

/** The connector's id: venue a has no ids, so those of its trades repeat their fields and a count. */
function nativeIdOf(trade: SimTrade, n: number): string {
  const { market, outcomeIndex, txHash, taker, side, size, price } = trade
  if (market.listing.venue === 'b') return trade.id
  const token = createHash('sha256').update(`${market.listing.nativeId} ${outcomeIndex}`)
  const digits = BigInt(`0x${token.digest('hex')}`).toString()
  return `${txHash}-${digits}-${taker.address}-${side}-${size}-${price}-${n}`
}

/** A flat string, like the text of a parsed frame; the world builds its strings lazily by concatenation. */
function flat<Text extends string | null>(text: Text): Text {
  return text === null ? text : JSON.parse(JSON.stringify(text))
}

/** As a market actor does for each trade. */
function putNew(storage: Storage, inputs: readonly TradeInput[]): void {
  for (const { market, trade } of inputs) {
    if (!storage.trades.has(market.number, trade.nativeId)) storage.trades.put(market, trade)
  }
}

async function timePuts(
  lmdb: Storage,
  memory: Storage,
  inputs: readonly TradeInput[],
): Promise<readonly Row[]> {
  const lmdbTimes = newTimes()
  const memoryTimes = newTimes()
  const commitTimes = newTimes()
  const putInto = (storage: Storage, from: number) => (start: number, count: number) =>
    putNew(storage, inputs.slice(from + start, from + start + count))
  for (let from = 0; from < inputs.length; from += COMMIT_AFTER) {
    const operationCount = Math.min(COMMIT_AFTER, inputs.length - from)
    timeInRotation(
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

/** Streams of trades, ours and the others alternately; the first round is not counted. */
async function timeFlushes(
  folder: string,
  markets: Markets,
  inputs: readonly TradeInput[],
  lines: readonly string[],
): Promise<{ rows: readonly Row[]; rowCount: number }> {
  const position = (name: string) => {
    mkdirSync(join(folder, name))
    return join(folder, name)
  }
  const commits = await recordedRows(position('recorded'), inputs, COMMIT_AFTER)
  const unpacked = unpackedRows(commits)
  const [bare, single] = [new BareLmdb(position('bare')), new BareLmdb(position('single'))]
  const level = new Level(position('level'))
  try {
    // Streams into other storages first, as warm-up: one stream is too short for the compiler.
    const warmUpCount = inputs.length > ROUND_TRADES ? WARM_UP_STORAGES : 0
    for (let count = 0; count < warmUpCount; count += 1) {
      await withLmdb(async (lmdb) => {
        putMarkets(lmdb, markets)
        await ourStream(lmdb, inputs)
      })
    }
    const measured = await withLmdb(async (lmdb) => {
      const numbers = putMarkets(lmdb, markets)
      await lmdb.committed()
      const streams = {
        ours: (from: number, to: number) => ourStream(lmdb, inputs.slice(from, to)),
        bare: rowStream(bare, commits),
        single: rowStream(single, unpacked),
        level: rowStream(level, commits),
      }
      const rates = await raceStreams(inputs.length, streams)
      check(allLines(lmdb, numbers).join('\n') === lines.join('\n'), 'the flushed trades differ')
      return rates
    })
    const written = writtenLines(commits)
    for (const [name, store, lines] of [
      ['bare LMDB', bare, written] as const,
      ['bare LMDB with a row each', single, writtenLines(unpacked)] as const,
      ['LevelDB', level, written] as const,
    ]) {
      check((await store.lines()).join('\n') === lines.join('\n'), `the rows of ${name} differ`)
    }
    return { rows: measured, rowCount: written.length }
  } finally {
    await Promise.all([bare.close(), single.close(), level.close()])
  }
}

/** Stores the trades of a range; resolves when the last of them is durable. */
type Stream = (from: number, to: number) => Promise<unknown>

async function ourStream(lmdb: Storage, inputs: readonly TradeInput[]): Promise<void> {
  for (let from = 0; from < inputs.length; from += TICK_TRADES) {
    putNew(lmdb, inputs.slice(from, from + TICK_TRADES))
    await nextTurn()
  }
  await lmdb.committed()
}

function rowStream(store: RowStore, commits: readonly (readonly WrittenRow[])[]): Stream {
  return async (from, to) => {
    const writing: Promise<void>[] = []
    for (const rows of commits.slice(from / COMMIT_AFTER, Math.ceil(to / COMMIT_AFTER))) {
      writing.push(store.write(rows))
      await nextTurn()
    }
    await Promise.all(writing)
  }
}

const STREAMS = ['ours', 'bare', 'single', 'level'] as const
type StreamName = (typeof STREAMS)[number]

/** Cost of one round per trade: nanoseconds of wall time, microseconds of processor time. */
interface Round {
  readonly nanos: number
  readonly micros: number
}

async function raceStreams(
  inputCount: number,
  streams: Readonly<Record<StreamName, Stream>>,
): Promise<readonly Row[]> {
  const rounds: Record<StreamName, Round[]> = { ours: [], bare: [], single: [], level: [] }
  for (let from = 0, round = 0; from < inputCount; from += ROUND_TRADES, round += 1) {
    const to = Math.min(from + ROUND_TRADES, inputCount)
    for (let step = 0; step < STREAMS.length; step += 1) {
      // The order of the streams is rotated.
      const name = STREAMS[(round + step) % STREAMS.length] ?? 'ours'
      const startedMs = systemClock.monotonicMs()
      const before = process.cpuUsage()
      await streams[name](from, to)
      const { user, system } = process.cpuUsage(before)
      const nanos = ((systemClock.monotonicMs() - startedMs) * 1e6) / (to - from)
      const isCounted = round > 0 || inputCount <= ROUND_TRADES
      if (isCounted) rounds[name].push({ nanos, micros: (user + system) / (to - from) })
    }
  }
  const shareOf = (name: StreamName) =>
    median(rounds.ours.map(({ nanos }, round) => (rounds[name][round]?.nanos ?? 0) / nanos))
  const perSecond = (name: StreamName) =>
    Math.round(1e9 / median(rounds[name].map(({ nanos }) => nanos)))
  const used = (name: StreamName) =>
    `${median(rounds[name].map(({ micros }) => micros)).toFixed(1)} µs`
  return [
    figureRow(
      'trades stored and flushed a second, medians',
      `ours ${perSecond('ours')}, bare LMDB ${perSecond('bare')}, with a row each ${perSecond('single')}, classic-level ${perSecond('level')}`,
    ),
    figureRow(
      'processor a trade, with the threads that write',
      `ours ${used('ours')}, bare LMDB ${used('bare')}, with a row each ${used('single')}, classic-level ${used('level')}`,
    ),
    aimedRow('rate of ours / bare LMDB', shareOf('bare'), { atLeast: BARE_SHARE_MIN }),
    aimedRow('rate of ours / bare LMDB with a row each', shareOf('single'), {
      atLeast: BARE_SHARE_MIN,
    }),
    figureRow('rate of ours / classic-level', `${shareOf('level').toFixed(2)} times`),
  ]
}

/** The final rows, since later commits put some rows again. */
function writtenLines(commits: readonly (readonly WrittenRow[])[]): readonly string[] {
  const last = new Map<string, string>()
  for (const rows of commits) {
    for (const row of rows) last.set(`${row.table} ${row.key.toString('hex')}`, rowLine(row))
  }
  return [...last.values()].sort()
}

async function timeReads(
  lmdb: Storage,
  memory: Storage,
  options: {
    readonly folder: string
    readonly numbers: readonly MarketNumber[]
    readonly isSmall: boolean
  },
): Promise<readonly Row[]> {
  const { folder, numbers, isSmall } = options
  const bare = new BareTrades(folder)
  for (const venue of VENUE_KEYS) {
    const all = { venue, fromMs: TIME_ZERO, toMs: END_OF_TIME, after: null, limit: 1_000_000 }
    await bare.put(venue, lmdb.trades.rangeOfVenue({ ...all, order: 'asc' }))
  }
  const rows: Row[] = []
  const operationCount = isSmall ? 40 : 4_000
  for (const [what, order, limit, isOfVenue] of [
    ['newest 100 of a market', 'desc', 100, false],
    ['oldest 500 of a market', 'asc', 500, false],
    ['newest 100 of a venue', 'desc', 100, true],
  ] as const) {
    const times = { lmdb: newTimes(), bare: newTimes(), memory: newTimes() }
    const counts = { lmdb: 0, bare: 0, memory: 0 }
    const contestant = (
      name: keyof typeof times,
      ofVenue: (venue: VenueKey) => readonly unknown[],
      ofMarket: (market: MarketNumber) => readonly unknown[],
    ) => ({
      times: times[name],
      batch: (from: number, count: number) => {
        for (let index = from; index < from + count; index += 1) {
          const market = numbers[index % numbers.length] ?? 0
          const read = isOfVenue ? ofVenue(index % 2 === 0 ? 'a' : 'b') : ofMarket(market)
          counts[name] += read.length
        }
      },
    })
    const range = { fromMs: TIME_ZERO, toMs: END_OF_TIME, after: null, order, limit }
    const bareQuery = { isReverse: order === 'desc', limit }
    const contestantOf = (name: 'lmdb' | 'memory', { trades }: Storage) =>
      contestant(
        name,
        (venue) => trades.rangeOfVenue({ ...range, venue }),
        (market) => trades.range({ ...range, market }),
      )
    timeInRotation(
      [
        contestantOf('lmdb', lmdb),
        contestantOf('memory', memory),
        contestant(
          'bare',
          (venue) => bare.ofVenue(venue, bareQuery),
          (market) => bare.ofMarket(market, bareQuery),
        ),
      ],
      { operationCount, batchCount: 1 },
    )
    const isAlike = counts.lmdb === counts.memory && counts.lmdb === counts.bare
    check(isAlike, `${what}: all have as many rows`)
    const medians = [times.bare, times.lmdb].map((one) => one.getValueAtPercentile(50))
    const [bareNanos = 0, ourNanos = 1] = medians
    rows.push(timesRow(`range, ${what}: LMDB`, times.lmdb))
    rows.push(timesRow(`range, ${what}: bare LMDB, MessagePack`, times.bare))
    rows.push(timesRow(`range, ${what}: memory`, times.memory))
    rows.push(ratioRow(`range, ${what}: LMDB / memory`, times.lmdb, times.memory))
    const aim = { atLeast: BARE_READS_MIN }
    rows.push(aimedRow(`range, ${what}: rate of ours / bare`, bareNanos / ourNanos, aim))
  }
  await bare.close()
  return rows
}

/** Pages of snapshots of full books, for this many markets every ten seconds. */
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

/** Every trade of every market and venue from both storages; throws if they differ. */
function compareAll(
  lmdb: Storage,
  memory: Storage,
  numbers: ReadonlyMap<string, MarketNumber>,
): readonly string[] {
  const lines = allLines(lmdb, numbers)
  check(lines.join('\n') === allLines(memory, numbers).join('\n'), 'the trades differ')
  check(lmdb.trades.count() === lines.length, 'the count of all trades is right')
  for (const venue of VENUE_KEYS) {
    const range = { venue, fromMs: TIME_ZERO, toMs: END_OF_TIME, after: null, limit: 1_000_000 }
    const [retained, reference] = [lmdb, memory].map((storage) =>
      storage.trades
        .rangeOfVenue({ ...range, order: 'asc' })
        .map((row) => `${row.market} ${row.venueOrdinal} ${textOf(row.trade)}`),
    )
    check(retained?.join('\n') === reference?.join('\n'), `venue ${venue}: the trades differ`)
  }
  return lines
}

function allLines(storage: Storage, numbers: ReadonlyMap<string, MarketNumber>): string[] {
  return [...numbers.values()].flatMap((market) => {
    const range = { market, fromMs: TIME_ZERO, toMs: END_OF_TIME, after: null, limit: 1_000_000 }
    return storage.trades.range({ ...range, order: 'asc' }).map((row) => textOf(row))
  })
}

/** A trade with its fields in one order. */
function textOf(row: StoredTrade): string {
  return JSON.stringify(Object.entries(row).sort(([one], [other]) => (one < other ? -1 : 1)))
}
