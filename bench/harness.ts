// Shared by all benches: their description, timing, results, and temporary folders. Times are HDR histograms of
// nanoseconds, reported as percentiles; there are no means. A bench is small and silent under test and larger
// otherwise, and ends with a check of the resulting state.

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

/** One bench; each `.bench.ts` file exports one. */
export interface Bench {
  /** The file's name without `.bench.ts`. */
  readonly name: string
  readonly question: string
  /** What the numbers leave out. */
  readonly excludes: string
  run(setting: BenchSetting): Promise<BenchResult>
}

export interface BenchSetting {
  /** Under test: just enough to show that it works, within seconds. The numbers are then meaningless. */
  readonly isSmall: boolean
  /** Duration of each timed load, in seconds; null: the bench's default. */
  readonly seconds: number | null
  /** Maximum number of markets per venue, for benches that measure growth; null: the bench's default. */
  readonly markets: number | null
  /** Receives progress lines; a test ignores them. */
  readonly say: (line: string) => void
}

export interface BenchResult {
  readonly rows: readonly Row[]
  readonly state: EndState
}

/** The verified final state of a run, short enough to compare two runs by eye. */
export interface EndState {
  readonly hash: string
  /** What was compared, with counts; the bench throws on a difference. */
  readonly checked: string
  /** Whether the same seed always gives the same hash; live processes cannot guarantee that. */
  readonly isRepeatable: boolean
}

/** A distribution of times, or a single figure, which may have a target. */
export type Row =
  | { readonly kind: 'times'; readonly what: string; readonly times: Histogram }
  | {
      readonly kind: 'figure'
      readonly what: string
      readonly value: string
      readonly aimed?: Aimed
    }

/** A figure with its bound. */
export interface Aimed {
  readonly figure: number
  readonly aim: { readonly atLeast: number } | { readonly atMost: number }
  readonly isMet: boolean
}

export const timesRow = (what: string, times: Histogram): Row => ({ kind: 'times', what, times })
export const figureRow = (what: string, value: string): Row => ({ kind: 'figure', what, value })

/** A row with a figure and its target; `unit` follows the figure. NaN misses every target. */
export function aimedRow(what: string, figure: number, aim: Aimed['aim'], unit = 'times'): Row {
  const isMet = 'atLeast' in aim ? figure >= aim.atLeast : figure <= aim.atMost
  const wanted = 'atLeast' in aim ? `at least ${aim.atLeast}` : `at most ${aim.atMost}`
  const value = `${figureText(figure)} ${unit}; aim ${wanted}: ${isMet ? 'met' : 'not met'}`
  return { kind: 'figure', what, value, aimed: { figure, aim, isMet } }
}

/** A ratio or another small figure, with a suitable number of digits. */
export const figureText = (figure: number): string => figure.toFixed(figure < 10 ? 2 : 1)

/** The median of `slow` divided by the median of `fast`. */
export function ratioRow(what: string, slow: Histogram, fast: Histogram): Row {
  const ratio = slow.getValueAtPercentile(50) / Math.max(fast.getValueAtPercentile(50), 1)
  return figureRow(what, `${figureText(ratio)} times`)
}

/** Share of the operations that runs unrecorded first, for the compiler. */
const WARM_UP_SHARE = 0.2

/** A timed alternative: performs `count` operations, starting with the `from`-th. */
export interface Contestant {
  readonly times: Histogram
  readonly batch: (from: number, count: number) => unknown
  /** Runs before each batch and is not timed. */
  readonly beforeBatch?: (from: number, count: number) => void
}

/**
 * Runs the contestants over the same operations in alternating batches, so that background load affects all equally.
 * Each is first in turn, because the first has cold processor caches. Records each batch's time per operation.
 */
export function timeInRotation(
  contestants: readonly Contestant[],
  size: {
    readonly operationCount: number
    readonly batchCount: number
    /** Number of initial operations that are not recorded. */
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

/** Runs `work` in a new temporary folder, which is removed afterwards. */
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

/** Runs `work` with a database in a new temporary folder. */
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

/** SHA-256 of texts, the first 16 hex digits: enough to compare two final states. */
export function hashOf(texts: Iterable<string>): string {
  const hash = createHash('sha256')
  for (const text of texts) hash.update(text).update('\n')
  return hash.digest('hex').slice(0, 16)
}

/** Throws if a final state is wrong: a fast wrong answer is not a result. */
export function check(isRight: boolean, what: string): void {
  if (!isRight) throw new Error(`the bench produced a wrong state: ${what}`)
}

/** Runs twice, since the first collection frees what the second can return to the system. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect !== 'function') throw new Error('the garbage cannot be collected')
  collect()
  collect()
}
