// What every bench shares: how it is described, how time is taken, how a result is written down, and a
// folder that goes when it is over. Time goes into HDR histograms in nanoseconds and comes out as
// percentiles; there are no means here. A benched part is small and silent under test and large on
// request, and ends by checking the state that it produced.

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
  /** Under test: enough to see that it works, within seconds. The numbers then mean nothing. */
  readonly isSmall: boolean
  /** How long each load lasts where the bench has one that lasts; null: as long as the bench thinks right. */
  readonly seconds: number | null
  /** How many markets a venue at most, where a bench asks what grows with them; null: as many as the bench thinks right. */
  readonly markets: number | null
  /** Takes a line about what is going on; a test ignores it. */
  readonly say: (line: string) => void
}

export interface BenchResult {
  readonly rows: readonly Row[]
  readonly state: EndState
}

/** What the run left behind, checked, and short enough to compare two runs by eye. */
export interface EndState {
  readonly hash: string
  /** What was compared with what, with counts; the bench throws when something differs. */
  readonly checked: string
  /** Whether the same seed gives the same hash again; live processes cannot promise that. */
  readonly isRepeatable: boolean
}

/** A distribution of times, or a single figure, which may have been aimed at. */
export type Row =
  | { readonly kind: 'times'; readonly what: string; readonly times: Histogram }
  | {
      readonly kind: 'figure'
      readonly what: string
      readonly value: string
      readonly aimed?: Aimed
    }

/** A figure as a number beside its bound. */
export interface Aimed {
  readonly figure: number
  readonly aim: { readonly atLeast: number } | { readonly atMost: number }
  readonly isMet: boolean
}

export const timesRow = (what: string, times: Histogram): Row => ({ kind: 'times', what, times })
export const figureRow = (what: string, value: string): Row => ({ kind: 'figure', what, value })

/** The row of a figure with its aim; `unit` stands behind the figure. A figure that is no number meets nothing. */
export function aimedRow(what: string, figure: number, aim: Aimed['aim'], unit = 'times'): Row {
  const isMet = 'atLeast' in aim ? figure >= aim.atLeast : figure <= aim.atMost
  const wanted = 'atLeast' in aim ? `at least ${aim.atLeast}` : `at most ${aim.atMost}`
  const value = `${figureText(figure)} ${unit}; aim ${wanted}: ${isMet ? 'met' : 'not met'}`
  return { kind: 'figure', what, value, aimed: { figure, aim, isMet } }
}

/** A ratio or another small figure, to as many digits as mean something. */
export const figureText = (figure: number): string => figure.toFixed(figure < 10 ? 2 : 1)

/** How many times the median of `slow` is the median of `fast`. */
export function ratioRow(what: string, slow: Histogram, fast: Histogram): Row {
  const ratio = slow.getValueAtPercentile(50) / Math.max(fast.getValueAtPercentile(50), 1)
  return figureRow(what, `${figureText(ratio)} times`)
}

/** This share of the operations runs before anything is recorded, for the compiler. */
const WARM_UP_SHARE = 0.2

/** One of the things timed: does `count` operations, beginning with the `from`-th. */
export interface Contestant {
  readonly times: Histogram
  readonly batch: (from: number, count: number) => void
  /** Runs before each batch, off the clock. */
  readonly beforeBatch?: (from: number, count: number) => void
  /** Runs after each batch, off the clock. */
  readonly afterBatch?: () => void
}

/**
 * Runs the contestants over the same operations, a batch of one after a batch of another, so that
 * whatever else the machine does falls on all alike. Each comes first in its turn: the first finds
 * the operations out of the processor's caches. Records each batch's time per operation.
 */
export function timeInRotation(
  contestants: readonly Contestant[],
  size: {
    readonly operationCount: number
    readonly batchCount: number
    /** Operations at the beginning that are not recorded. */
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
      const { times, batch, beforeBatch, afterBatch } = contestant
      beforeBatch?.(from, count)
      const startedMs = systemClock.monotonicMs()
      batch(from, count)
      const elapsedMs = systemClock.monotonicMs() - startedMs
      if (from >= warmUpCount) record(times, elapsedMs / count)
      afterBatch?.()
    }
  }
}

/** Runs `work` in a new folder under the system's temporary one, which is removed in the end. */
export async function inFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'twinbook-bench-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The database of a folder. */
export function openStorage(dataDir: string, clock: Clock = systemClock): Promise<Storage> {
  return openLmdbStorage({ dataDir, clock, log: silentLog, metrics: new Metrics() })
}

/** The same in a new folder, open while `work` runs. */
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

/** SHA-256 over texts, the first 16 hex digits: enough to see that two end states are the same. */
export function hashOf(texts: Iterable<string>): string {
  const hash = createHash('sha256')
  for (const text of texts) hash.update(text).update('\n')
  return hash.digest('hex').slice(0, 16)
}

/** Throws when an end state is not what it should be: a fast wrong answer is not a result. */
export function check(isRight: boolean, what: string): void {
  if (!isRight) throw new Error(`the bench produced a wrong state: ${what}`)
}

/** Twice, since the first frees what the second can give back. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect !== 'function') throw new Error('the garbage cannot be collected')
  collect()
  collect()
}
