// What every bench shares: how it is described, how time is taken, how a result is written down, and a
// folder that goes when it is over. Time goes into HDR histograms in nanoseconds and comes out as
// percentiles; there are no means here. A benched part is small and silent under test and large on
// request, and ends by checking the state that it produced. Not for: load (sim-load.ts) or processes (live-service.ts).
// Upholds BENCH2 to BENCH4.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, release, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { build, type Histogram } from 'hdr-histogram-js'
import { systemClock } from '../engine/clock.ts'
import { silentLog } from '../engine/log.ts'
import { Metrics } from '../engine/metrics.ts'
import { HOUR_MS } from '../engine/units.ts'
import { openLmdbStorage } from '../storage/lmdb.ts'
import type { Storage } from '../storage/storage.ts'

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
  /** Takes a line about what is going on; under test nobody reads it. */
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

/** A distribution of times, or a single figure. */
export type Row =
  | { readonly kind: 'times'; readonly what: string; readonly times: Histogram }
  | { readonly kind: 'figure'; readonly what: string; readonly value: string }

export const timesRow = (what: string, times: Histogram): Row => ({ kind: 'times', what, times })
export const figureRow = (what: string, value: string): Row => ({ kind: 'figure', what, value })

/** How many times the median of `slow` is the median of `fast`. */
export function ratioRow(what: string, slow: Histogram, fast: Histogram): Row {
  const ratio = slow.getValueAtPercentile(50) / Math.max(fast.getValueAtPercentile(50), 1)
  return figureRow(what, `${ratio.toFixed(ratio < 10 ? 2 : 1)} times`)
}

const NANOS_PER_MS = 1_000_000
/** An hour: nothing measured here takes longer. */
const NANOS_MAX = HOUR_MS * NANOS_PER_MS
/** This share of the operations runs before anything is recorded, for the compiler. */
const WARM_UP_SHARE = 0.2

/** An empty histogram of nanoseconds, to three significant digits. */
export function newTimes(): Histogram {
  return build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: NANOS_MAX,
    numberOfSignificantValueDigits: 3,
  })
}

/** Records a duration; one below zero, which two clocks can show, counts as zero. */
export function record(times: Histogram, durationMs: number): void {
  times.recordValue(Math.min(Math.max(Math.round(durationMs * NANOS_PER_MS), 0), NANOS_MAX))
}

/** One of the things timed: does `count` operations, beginning with the `from`-th. */
export interface Contestant {
  readonly times: Histogram
  readonly batch: (from: number, count: number) => void
  /** Runs after each batch, off the clock. */
  readonly afterBatch?: () => void
}

/**
 * Runs the contestants over the same operations, a batch of one after a batch of another, so that
 * whatever else the machine does falls on all alike. Records each batch's time per operation.
 */
export function timeInTurns(
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
    for (const { times, batch, afterBatch } of contestants) {
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

/** The same with a database in the folder, open while `work` runs. */
export function withLmdb<Result>(work: (storage: Storage) => Promise<Result>): Promise<Result> {
  return inFolder(async (dataDir) => {
    const parts = { dataDir, clock: systemClock, log: silentLog, metrics: new Metrics() }
    const storage = await openLmdbStorage(parts)
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

/** The machine, Node, the commit and how busy the machine was, as lines. */
export function conditions(): readonly string[] {
  const [first] = cpus()
  const [busyOneMinute = 0] = loadavg()
  return [
    `machine: ${cpus().length} × ${first?.model.trim() ?? 'unknown'}, ${(totalmem() / 2 ** 30).toFixed(1)} GiB, ${process.platform} ${release()} ${process.arch}`,
    `node: ${process.version}`,
    `commit: ${commit()}`,
    `conditions: ${new Date(systemClock.nowMs()).toISOString()}, load average ${busyOneMinute.toFixed(2)} at the start, shared machine`,
  ]
}

function commit(): string {
  const git = (...words: string[]) => execFileSync('git', words, { encoding: 'utf8' }).trim()
  try {
    const changedCount = git('status', '--porcelain').split('\n').filter(Boolean).length
    const dirt = changedCount === 0 ? '' : ` with ${changedCount} files changed since`
    return `${git('rev-parse', '--short', 'HEAD')}${dirt}`
  } catch {
    return 'unknown (no git here)'
  }
}

const PERCENTILES = [50, 90, 99, 99.9] as const

/** A bench's result as Markdown, which is readable on a terminal too. */
export function report(bench: Bench, result: BenchResult): string {
  const { hash, checked, isRepeatable } = result.state
  const lines = [
    `## ${bench.name}`,
    '',
    `Question: ${bench.question}`,
    `Excluded: ${bench.excludes}`,
    '',
  ]
  const timed = result.rows.filter((row) => row.kind === 'times')
  if (timed.length > 0) {
    lines.push(`| times | count | ${PERCENTILES.map((rank) => `p${rank}`).join(' | ')} | max |`)
    lines.push(`|---|${'---:|'.repeat(PERCENTILES.length + 2)}`)
    for (const { what, times } of timed) {
      const cells = PERCENTILES.map((rank) => nanosText(times.getValueAtPercentile(rank)))
      lines.push(
        `| ${what} | ${times.totalCount} | ${cells.join(' | ')} | ${nanosText(times.maxValue)} |`,
      )
    }
    lines.push('')
  }
  for (const row of result.rows)
    if (row.kind === 'figure') lines.push(`- ${row.what}: ${row.value}`)
  lines.push(`- end state: ${checked}; hash ${hash}${isRepeatable ? '' : ' (differs by run)'}`, '')
  return lines.join('\n')
}

/** Nanoseconds in the unit that suits them. */
export function nanosText(nanos: number): string {
  if (nanos < 1_000) return `${nanos} ns`
  if (nanos < NANOS_PER_MS) return `${digits(nanos / 1_000)} µs`
  if (nanos < 10_000 * NANOS_PER_MS) return `${digits(nanos / NANOS_PER_MS)} ms`
  return `${digits(nanos / (1_000 * NANOS_PER_MS))} s`
}

function digits(value: number): string {
  return value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)
}
