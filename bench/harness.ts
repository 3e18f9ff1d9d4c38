// Shared code of all benches: description, timing, results and temporary folders. Times are HDR histograms of
// nanoseconds, reported as percentiles. Every bench ends with a check of the final state.

import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Histogram } from 'hdr-histogram-js'
import { type Clock, systemClock } from '../engine/clock.ts'
import { silentLog } from '../engine/process/log.ts'
import { Metrics } from '../engine/process/metrics.ts'
import type { Storage } from '../storage/contract/storage.ts'
import { openLmdbStorage } from '../storage/lmdb/lmdb.ts'
import { record } from './latency-recorder.ts'

export { nanosText, newTimes, record } from './latency-recorder.ts'

export interface Bench {
  /** Name of the file without `.bench.ts`. */
  readonly name: string
  readonly question: string
  /** Costs or delays that the figures do not include. */
  readonly excludes: string
  run(setting: BenchSetting): Promise<BenchResult>
}

export interface BenchSetting {
  /** True under test: the bench runs for seconds to show that it works. Its figures are then meaningless. */
  readonly isSmall: boolean
  /** Duration of each timed load in seconds. Null: the bench's default. */
  readonly seconds: number | null
  /** Number of markets of both venues together, for benches that measure size. Null: the bench's default. */
  readonly markets: number | null
  readonly logLine: (line: string) => void
}

export interface BenchResult {
  readonly rows: readonly Row[]
  readonly state: EndState
}

/** The verified final state of a run, short enough that people can compare two runs. */
export interface EndState {
  readonly hash: string
  /** The compared items, with counts. If there is a difference, the bench throws. */
  readonly checked: string
  /** Whether the same seed always gives the same hash. Benches with live processes cannot guarantee this. */
  readonly isRepeatable: boolean
}

/** A row of the results: a distribution of times, or a figure that may have a target. */
export type Row =
  | { readonly kind: 'times'; readonly what: string; readonly times: Histogram }
  | {
      readonly kind: 'figure'
      readonly what: string
      readonly value: string
      readonly aimed?: Aimed
    }

export interface Aimed {
  readonly figure: number
  readonly aim: { readonly atLeast: number } | { readonly atMost: number }
  readonly isMet: boolean
}

export const timesRow = (what: string, times: Histogram): Row => ({ kind: 'times', what, times })
export const figureRow = (what: string, value: string): Row => ({ kind: 'figure', what, value })

/** `unit` follows the figure in the text. NaN misses every target. */
export function aimedRow(what: string, figure: number, aim: Aimed['aim'], unit = 'times'): Row {
  const isMet = 'atLeast' in aim ? figure >= aim.atLeast : figure <= aim.atMost
  const wanted = 'atLeast' in aim ? `at least ${aim.atLeast}` : `at most ${aim.atMost}`
  const value = `${figureText(figure)} ${unit}; aim ${wanted}: ${isMet ? 'met' : 'not met'}`
  return { kind: 'figure', what, value, aimed: { figure, aim, isMet } }
}

export const figureText = (figure: number): string => figure.toFixed(figure < 10 ? 2 : 1)

/** The median of `slow` divided by the median of `fast`. */
export function ratioRow(what: string, slow: Histogram, fast: Histogram): Row {
  const ratio = slow.getValueAtPercentile(50) / Math.max(fast.getValueAtPercentile(50), 1)
  return figureRow(what, `${figureText(ratio)} times`)
}

/** Share of the operations that run first without being recorded, so that the code is compiled. */
const WARM_UP_SHARE = 0.2

/** One of the timed alternatives. It performs `count` operations, starting with number `from`. */
export interface Contestant {
  readonly times: Histogram
  readonly batch: (from: number, count: number) => unknown
  /** Runs before each batch. It is not timed. */
  readonly beforeBatch?: (from: number, count: number) => void
}

/**
 * Runs the contestants over the same operations in alternating batches, so that background load affects all of them
 * equally. Each contestant is first in rotation, because the first one has cold processor caches. Records the time per
 * operation of each batch.
 */
export function timeInRotation(
  contestants: readonly Contestant[],
  size: {
    readonly operationCount: number
    readonly batchCount: number
    readonly warmUpCount?: number
  },
): void {
  const { operationCount, batchCount } = size
  const warmUpCount = size.warmUpCount ?? operationCount * WARM_UP_SHARE
  for (let from = 0; from < operationCount; from += batchCount) {
    const count = Math.min(batchCount, operationCount - from)
    const first = (from / batchCount) % contestants.length
    for (let tick = 0; tick < contestants.length; tick += 1) {
      const contestant = contestants[(first + tick) % contestants.length]
      if (contestant === undefined) continue
      const { times, batch, beforeBatch } = contestant
      beforeBatch?.(from, count)
      const startedMs = systemClock.monotonicMs()
      batch(from, count)
      const elapsedMs = systemClock.monotonicMs() - startedMs
      if (from >= warmUpCount) record(times, elapsedMs / count)
    }
  }
}

export async function inFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'twinbook-bench-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export function openStorage(dataDir: string, clock: Clock = systemClock): Promise<Storage> {
  return openLmdbStorage({ dataDir, clock, log: silentLog, metrics: new Metrics() })
}

export function withLmdb<Result>(work: (storage: Storage) => Promise<Result>): Promise<Result> {
  return inFolder(async (dataDir) => {
    const storage = await openStorage(dataDir)
    try {
      return await work(storage)
    } finally {
      await storage.close()
    }
  })
}

/** The first 16 hex digits of the SHA-256 of texts, by which two final states are compared. */
export function hashOf(texts: Iterable<string>): string {
  const hash = createHash('sha256')
  for (const text of texts) hash.update(text).update('\n')
  return hash.digest('hex').slice(0, 16)
}

/** Throws if a final state is wrong, because the figures of a wrong run are not results. */
export function check(isRight: boolean, what: string): void {
  if (!isRight) throw new Error(`the bench produced a wrong state: ${what}`)
}

/** The second collection returns memory to the system that the first one freed. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect !== 'function') throw new Error('the garbage cannot be collected')
  collect()
  collect()
}
