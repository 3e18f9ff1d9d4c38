// `npm run eval:matching -- --pairs FILE [--out FILE] [--folds 5]`: scores labelled pairs (JSON lines, gzip
// too) through the same code as the service and prints how often it is right; with --folds the model is
// trained anew for each fold on the others, by the second venue's event. `--series FILE` says instead which classes
// of rule differences between families of markets are recognised.

import { writeFileSync } from 'node:fs'
import { WEIGHTS } from '../matching/compare/weights.ts'
import { crossScore, foldOf, judge, type Scored, scoreAll } from '../matching/offline/evaluation.ts'
import type { LabelledPair } from '../matching/offline/labelled-pair.ts'
import { pairReport } from '../matching/offline/report.ts'
import { seriesReport } from '../matching/offline/series-rules.ts'
import { type Arguments, openProgress, UsageError } from '../process/command-line.ts'
import { PAIRED_VENUES } from '../venues/venues.ts'
import { runCommand } from './asking.ts'
import { labelledPairsOf, rowsOf } from './dump-lines.ts'

const WORST_SHOWN = 20
const COMMAND = {
  name: 'npm run eval:matching',
  about:
    'Scores labelled pairs through the same code as the service and says how often it is right.',
  usage: ['--pairs FILE [--out FILE] [--folds N] [--worst N]', '--series FILE'],
  words: {},
  wordCounts: [0, 0],
  options: {
    pairs: { takes: 'FILE', means: 'labelled pairs as JSON lines, plain or gzip' },
    out: { takes: 'FILE', means: 'writes each pair with its score, a JSON line each' },
    folds: { takes: 'N', means: 'trains anew for each of N folds on the others, at least 2' },
    worst: { takes: 'N', means: `how many of the worst pairs are shown (${WORST_SHOWN})` },
    series: { takes: 'FILE', means: 'says which differences of rules are recognised instead' },
  },
  examples: ['--pairs pairs.jsonl.gz', '--pairs pairs.jsonl --folds 5 --out scored.jsonl'],
  notes: ['Exit codes: 0 done, 1 after a failure, 2 for a bad request.'],
} as const
type Option = keyof typeof COMMAND.options

async function main(given: Arguments<Option>): Promise<void> {
  const [series, file, out] = [given.text('series'), given.text('pairs'), given.text('out')]
  if (series !== null) {
    process.stdout.write(`${seriesReport(await rowsOf(series), PAIRED_VENUES).join('\n')}\n`)
    return
  }
  if (file === null) throw new UsageError('--pairs FILE or --series FILE is missing')
  const folds = given.number('folds', { above: 1, max: Number.POSITIVE_INFINITY, isWhole: true })
  const worst = given.number('worst', { above: 0, max: Number.POSITIVE_INFINITY, isWhole: true })
  const progress = openProgress()
  progress.show(`reading ${file}`, true)
  const pairs = await labelledPairsOf(file)
  progress.show(`judging ${pairs.length} pairs`, true)
  const scored = score(pairs, folds)
  progress.end()
  process.stdout.write(`${pairReport(scored, worst ?? WORST_SHOWN).join('\n')}\n`)
  if (out !== null) writeFileSync(out, scored.map(lineOf).join(''))
}

function score(pairs: readonly LabelledPair[], folds: number | null): readonly Scored[] {
  const judged = judge(pairs)
  if (folds === null) return scoreAll(judged, WEIGHTS)
  return crossScore(judged, (pair) => foldOf(pair, folds))
}

function lineOf({ pair, result, baseline }: Scored): string {
  const { a, b, label, grain } = pair
  const keys = { grain, label, a: a.handle || a.title, b: b.handle || b.title }
  return `${JSON.stringify({ ...keys, ...result, baseline: Math.round(baseline * 1_000) / 10 })}\n`
}

await runCommand(COMMAND, main)
