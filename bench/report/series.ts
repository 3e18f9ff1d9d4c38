// Runs benches in sequence. If one fails, it is reported and the others still run.

import { systemClock } from '../../engine/clock.ts'
import type { Bench, BenchSetting } from '../harness.ts'
import type { Outcome } from './report.ts'

/** The result of each bench, in order. `onOutcome` receives each at once, `say` receives progress lines. */
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
  const logLine = (line: string) => setting.say(`${bench.name}: ${line}`)
  const startedMs = systemClock.monotonicMs()
  const took = () => systemClock.monotonicMs() - startedMs
  logLine('begins')
  try {
    const result = await bench.run({ ...setting, say: logLine })
    logLine(`ended after ${(took() / 1_000).toFixed(1)} s`)
    return { bench, kind: 'done', result, tookMs: took() }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    logLine(`FAILED: ${why}`)
    return { bench, kind: 'failed', why, tookMs: took() }
  }
}
