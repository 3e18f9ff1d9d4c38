// Writes streams of trades into our storage and the others, until the last trade is durable.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTick } from 'node:timers/promises'
import { systemClock } from '../../engine/clock.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import type { SimMarket } from '../../engine/venues/simulator/model.ts'
import type { Storage } from '../../storage/contract/storage.ts'
import { aimedRow, check, figureRow, type Row, withLmdb } from '../harness.ts'
import { median } from '../latency-recorder.ts'
import { putMarkets, putNew, type TradeInput } from './inputs.ts'
import {
  BareLmdb,
  Level,
  type RowStore,
  recordedRows,
  rowLine,
  unpackedRows,
  type WrittenRow,
} from './peers.ts'

const COMMIT_AFTER = 1_000
const TICK_TRADES = 100
const ROUND_TRADES = 7 * COMMIT_AFTER
const WARM_UP_STORAGES = 3
/** Target: minimum share of the bare LMDB's write rate. */
const BARE_SHARE_MIN = 0.7

/** Writes streams into our storage and the others alternately. The first round is not counted. */
export async function timeFlushes(
  folder: string,
  markets: readonly SimMarket[],
  inputs: readonly TradeInput[],
  checkTrades: (lmdb: Storage, numbers: readonly MarketNumber[]) => void,
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
    // Warm-up with streams into other storages, because one stream is too short for all code to be compiled.
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
      checkTrades(lmdb, [...numbers.values()])
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

type Stream = (from: number, to: number) => Promise<unknown>

async function ourStream(lmdb: Storage, inputs: readonly TradeInput[]): Promise<void> {
  for (let from = 0; from < inputs.length; from += TICK_TRADES) {
    putNew(lmdb, inputs.slice(from, from + TICK_TRADES))
    await nextTick()
  }
  await lmdb.committed()
}

function rowStream(store: RowStore, commits: readonly (readonly WrittenRow[])[]): Stream {
  return async (from, to) => {
    const writing: Promise<void>[] = []
    for (const rows of commits.slice(from / COMMIT_AFTER, Math.ceil(to / COMMIT_AFTER))) {
      writing.push(store.write(rows))
      await nextTick()
    }
    await Promise.all(writing)
  }
}

const STREAMS = ['ours', 'bare', 'single', 'level'] as const
type StreamName = (typeof STREAMS)[number]

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

/** The last version of each row, because later commits write some rows again. */
function writtenLines(commits: readonly (readonly WrittenRow[])[]): readonly string[] {
  const last = new Map<string, string>()
  for (const rows of commits) {
    for (const row of rows) last.set(`${row.table} ${row.key.toString('hex')}`, rowLine(row))
  }
  return [...last.values()].sort()
}
