// Runs benches in sequence. Formats results as Markdown and as one JSON document. A failed bench reports its error, and
// the other benches still run.

import { execFileSync } from 'node:child_process'
import { cpus, loadavg, release, totalmem } from 'node:os'
import { systemClock } from '../../engine/clock.ts'
import {
  type Aimed,
  type Bench,
  type BenchResult,
  type BenchSetting,
  figureText,
  nanosText,
} from '../harness.ts'

interface Conditions {
  readonly machine: string
  readonly cores: number
  readonly memoryGib: number
  readonly system: string
  readonly node: string
  readonly commit: string
  /** ISO 8601, UTC. */
  readonly date: string
  readonly loadAverage: number
  readonly remarks: readonly string[]
}

export type Outcome = {
  readonly bench: Pick<Bench, 'name' | 'question' | 'excludes'>
  readonly tookMs: number
} & (
  | { readonly kind: 'done'; readonly result: BenchResult }
  | { readonly kind: 'failed'; readonly why: string }
)

export function conditionsNow(remarks: readonly string[]): Conditions {
  const [first] = cpus()
  const [loadAverage = 0] = loadavg()
  return {
    machine: first?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGib: Math.round((10 * totalmem()) / 2 ** 30) / 10,
    system: `${process.platform} ${release()} ${process.arch}`,
    node: process.version,
    commit: commit(),
    date: new Date(systemClock.nowMs()).toISOString(),
    loadAverage,
    remarks,
  }
}

function commit(): string {
  const git = (...terms: string[]) =>
    execFileSync('git', terms, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  try {
    const changedCount = git('status', '--porcelain').split('\n').filter(Boolean).length
    const dirt = changedCount === 0 ? '' : ` with ${changedCount} files changed since`
    return `${git('rev-parse', '--short', 'HEAD')}${dirt}`
  } catch {
    return 'unknown (no git here)'
  }
}

export function conditionsText(conditions: Conditions): string {
  const { machine, cores, memoryGib, system, node, date, loadAverage, remarks } = conditions
  const lines = [
    `machine: ${cores} × ${machine}, ${memoryGib} GiB, ${system}`,
    `node: ${node}`,
    `commit: ${conditions.commit}`,
    `date: ${date}`,
    `conditions: load average ${loadAverage.toFixed(2)} at the start; ${remarks.join('; ')}`,
  ]
  return lines.map((line) => `- ${line}\n`).join('')
}

const PERCENTILES = [50, 90, 99, 99.9] as const

/** A bench's result as Markdown that is also readable on a terminal. */
export function outcomeText({ bench, tookMs, ...came }: Outcome): string {
  const lines = [
    `## ${bench.name}`,
    '',
    `Question: ${bench.question}`,
    `Excluded: ${bench.excludes}`,
    '',
  ]
  if (came.kind === 'failed') lines.push(`Failed, so that there is no number: ${came.why}`, '')
  else lines.push(...resultLines(came.result), `- took ${Math.round(tookMs / 1_000)} s`, '')
  return lines.join('\n')
}

function resultLines({ rows, state }: BenchResult): string[] {
  const lines: string[] = []
  const timed = rows.filter((row) => row.kind === 'times')
  if (timed.length > 0) {
    lines.push(`| times | count | ${PERCENTILES.map((rank) => `p${rank}`).join(' | ')} | max |`)
    lines.push(`|---|${'---:|'.repeat(PERCENTILES.length + 2)}`)
    for (const { what, times } of timed) {
      const cells = PERCENTILES.map((rank) => nanosText(times.getValueAtPercentile(rank)))
      const shown = [what, times.totalCount, ...cells, nanosText(times.maxValue)]
      lines.push(`| ${shown.join(' | ')} |`)
    }
    lines.push('')
  }
  for (const row of rows) if (row.kind === 'figure') lines.push(`- ${row.what}: ${row.value}`)
  const { checked, hash, isRepeatable } = state
  lines.push(`- end state: ${checked}; hash ${hash}${isRepeatable ? '' : ' (differs by run)'}`)
  return lines
}

interface AimedFigure extends Aimed {
  readonly bench: string
  readonly what: string
}

function aimsOf(outcomes: readonly Outcome[]): AimedFigure[] {
  return outcomes.flatMap((outcome) => {
    const rows = outcome.kind === 'done' ? outcome.result.rows : []
    return rows.flatMap((row) => {
      if (row.kind !== 'figure' || row.aimed === undefined) return []
      return [{ bench: outcome.bench.name, what: row.what, ...row.aimed }]
    })
  })
}

/** A table of all targets. Empty if there are none. */
export function aimsText(outcomes: readonly Outcome[]): string {
  const aims = aimsOf(outcomes)
  if (aims.length === 0) return ''
  const rows = aims.map(({ bench, what, figure, aim, isMet }) => {
    const wanted = 'atLeast' in aim ? `at least ${aim.atLeast}` : `at most ${aim.atMost}`
    return `| ${bench} | ${what} | ${figureText(figure)} | ${wanted} | ${isMet ? 'yes' : '**no**'} |`
  })
  const head = [
    '## Aims',
    '',
    '| bench | figure | measured | aim | met |',
    '|---|---|---:|---|---|',
  ]
  return [...head, ...rows, ''].join('\n')
}

export function resultsText(conditions: Conditions, outcomes: readonly Outcome[]): string {
  const title = `# Results of \`npm run bench\`\n\n${conditionsText(conditions)}`
  return [title, aimsText(outcomes), ...outcomes.map(outcomeText)].filter(Boolean).join('\n')
}

/** A complete run as one JSON document. Times are in nanoseconds. */
export function resultsJson(conditions: Conditions, outcomes: readonly Outcome[]): string {
  const benches = outcomes.map(({ bench, tookMs, ...came }) => {
    const requested = { name: bench.name, question: bench.question, excludes: bench.excludes }
    const about = { ...requested, took_ms: Math.round(tookMs) }
    if (came.kind === 'failed') return { ...about, failed: came.why }
    const { hash, checked, isRepeatable } = came.result.state
    const state = { hash, checked, is_repeatable: isRepeatable }
    return { ...about, ...rowsJson(came.result), state }
  })
  const { memoryGib, loadAverage, ...rest } = conditions
  const head = { ...rest, memory_gib: memoryGib, load_average: loadAverage }
  const aims = aimsOf(outcomes).map(({ bench, what, ...aimed }) => {
    return { bench, what, ...aimedJson(aimed) }
  })
  return JSON.stringify({ ...head, aims, benches }, null, 2)
}

function rowsJson({ rows }: BenchResult) {
  const times = rows.flatMap((row) => {
    if (row.kind !== 'times') return []
    const at = (rank: number) => row.times.getValueAtPercentile(rank)
    const ranks = { p50_ns: at(50), p90_ns: at(90), p99_ns: at(99), p99_9_ns: at(99.9) }
    return [{ what: row.what, count: row.times.totalCount, ...ranks, max_ns: row.times.maxValue }]
  })
  const figures = rows.flatMap((row) => {
    if (row.kind !== 'figure') return []
    const { what, value, aimed } = row
    return [{ what, value, ...(aimed === undefined ? {} : aimedJson(aimed)) }]
  })
  return { times, figures }
}

function aimedJson({ figure, aim, isMet }: Aimed) {
  const bound = 'atLeast' in aim ? { at_least: aim.atLeast } : { at_most: aim.atMost }
  return { figure, ...bound, met: isMet }
}

/**
 * Runs the benches in order and returns their results. `onOutcome` receives each result at once. `logLine` receives
 * progress lines.
 */
export async function runSeries(
  benches: readonly Bench[],
  setting: BenchSetting,
  onOutcome: (outcome: Outcome) => void,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  for (const bench of benches) {
    const outcome = await runOne(bench, setting)
    outcomes.push(outcome)
    onOutcome(outcome)
  }
  return outcomes
}

async function runOne(bench: Bench, setting: BenchSetting): Promise<Outcome> {
  const logLine = (line: string) => setting.logLine(`${bench.name}: ${line}`)
  const startedMs = systemClock.monotonicMs()
  const took = () => systemClock.monotonicMs() - startedMs
  logLine('begins')
  try {
    const result = await bench.run({ ...setting, logLine })
    logLine(`ended after ${(took() / 1_000).toFixed(1)} s`)
    return { bench, kind: 'done', result, tookMs: took() }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    logLine(`FAILED: ${why}`)
    return { bench, kind: 'failed', why, tookMs: took() }
  }
}
